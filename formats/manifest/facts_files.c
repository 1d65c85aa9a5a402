/* facts_files.c - what lies in the table's folders, held against what is listed. Where the sums of a folder agree there is
 * nothing to say; the others are suspect and read once more, by name, after everything that explains what lies there. */
#include "formats/manifest/gather.h"
#include <stdio.h>
#include <string.h>

/* One suspect folder while it is read by name. */
struct names {
    struct tarn_gather *g;
    struct tarn_folder *folder;
    struct tarn_tally lying;
    struct tarn_folder_state state;
    int64_t newest_ms;
    struct tarn_buf newest;     /* path of that file */
    struct tarn_told told;
    bool is_unsettled;          /* holds something that only a further look can tell of */
};

static void names_done(struct names *n) { tarn_buf_done(&n->newest); }

static tarn_code note_leftover(struct names *n, const struct tarn_object *object, struct tarn_err *err)
{
    struct tarn_facts *facts = n->g->facts;

    n->is_unsettled = true;
    if (object->mtime_ms >= n->g->options->now_ms - n->g->options->leftover_grace_ms)
        return TARN_OK;
    facts->leftovers.bytes += object->size;
    return tarn_suspects_add(&facts->leftovers, object->path, NULL, object->size, -1, object->mtime_ms, err);
}

/* Beside data files, or where a key=value folder says that data belongs. */
static bool lies_among_data(const struct names *n)
{
    return strchr(tarn_folder_path(&n->g->recall->folders, n->folder), '=') || n->folder->listed.count > 0;
}

static tarn_code note_stray(struct names *n, const struct tarn_object *object, unsigned flags, struct tarn_err *err)
{
    const char *format = tarn_stray_format(object->path);
    bool is_young = object->mtime_ms >= n->g->options->now_ms - n->g->options->unexpected_grace_ms;
    char note[64];

    n->is_unsettled |= format != NULL;
    if (!format || is_young || flags & (TARN_FILE_KEPT | TARN_FILE_REMOVED) || !lies_among_data(n))
        return TARN_OK;
    snprintf(note, sizeof note, "%s, among the data", format);
    return tarn_suspects_add(&n->g->facts->unexpected, object->path, note, -1, -1, object->mtime_ms, err);
}

static tarn_code note_other(struct names *n, const struct tarn_object *object, unsigned flags, struct tarn_err *err)
{
    return tarn_is_leftover(object->path) ? note_leftover(n, object, err) : note_stray(n, object, flags, err);
}

static tarn_code note_unlisted(struct names *n, const struct tarn_object *object, unsigned flags, struct tarn_err *err)
{
    struct tarn_gather *g = n->g;
    struct tarn_facts *facts = g->facts;

    if (flags & TARN_FILE_KEPT)
        return TARN_OK; /* time travel still needs it */
    if (flags & TARN_FILE_REMOVED) {
        n->told.reclaimable_files++;
        n->told.reclaimable_bytes += object->size;
        return TARN_OK;
    }
    /* Of a time that the part of the log that was read does not cover, an absent word means nothing. */
    bool is_told = g->options->catalog || facts->manifest == TARN_DOC_READ;
    if (flags & TARN_FILE_ADDED || object->mtime_ms < g->unread_before_ms || !is_told)
        return TARN_OK;
    if (object->size == 0) /* begun, never written: there is nothing that readers miss */
        return note_leftover(n, object, err);
    n->is_unsettled = true;
    if (object->mtime_ms >= g->options->now_ms - g->options->unregistered_grace_ms)
        return TARN_OK;
    facts->unregistered.bytes += object->size;
    if (object->mtime_ms < g->options->now_ms - TARN_ORPHAN_MS) {
        facts->orphan_files++;
        facts->orphan_bytes += object->size;
    }
    return tarn_gather_doubt(g, &facts->unregistered, object->path, NULL, -1, -1, object->mtime_ms, err);
}

/* A listed file that lies there. */
static tarn_code note_there(struct tarn_gather *g, const struct tarn_object *object, struct tarn_fileset_entry *file,
                            struct tarn_err *err)
{
    bool is_told = file->size != TARN_FILE_NO_SIZE;
    int64_t listed = is_told ? (int64_t)file->size : object->size;
    tarn_code code = TARN_OK;

    file->flags |= TARN_FILE_SEEN;
    if (object->mtime_ms > g->facts->newest_listed_ms && object->mtime_ms <= g->options->now_ms + TARN_SKEW_MS)
        g->facts->newest_listed_ms = object->mtime_ms;
    if (!is_told)
        g->facts->total_bytes += object->size;
    if (listed != object->size)
        code = tarn_gather_doubt(g, &g->facts->sizes, object->path, NULL, object->size, listed, object->mtime_ms, err);
    if (code == TARN_OK && !tarn_other_format(object->path))
        code = tarn_picks_offer(&g->picks, object->path, object->size, object->mtime_ms, TARN_BEHIND_UNKNOWN, err);
    return code;
}

static tarn_code note_newest(struct names *n, const struct tarn_object *object, struct tarn_err *err)
{
    if (object->mtime_ms < n->newest_ms ||
        (object->mtime_ms == n->newest_ms && strcmp(object->path, n->newest.data) >= 0))
        return TARN_OK;
    n->newest_ms = object->mtime_ms;
    tarn_buf_clear(&n->newest);
    tarn_buf_adds(&n->newest, object->path);
    return tarn_buf_check(&n->newest, err);
}

static tarn_code note_link(struct names *n, const struct tarn_object *object, struct tarn_err *err)
{
    n->is_unsettled = true;
    if (!tarn_fileset_put(&n->g->links, object->path))
        return tarn_fail_oom(err);
    return tarn_suspects_add(&n->g->facts->symlinks, object->path, NULL, -1, -1, object->mtime_ms, err);
}

static tarn_code note_file(struct names *n, const struct tarn_object *object, struct tarn_err *err)
{
    struct tarn_hash128 hash = tarn_hash128(object->path, strlen(object->path));
    struct tarn_fileset_entry *file = tarn_fileset_find_hash(&n->g->files, hash);
    bool is_listed = file && file->flags & TARN_FILE_LISTED, is_data = tarn_is_data_file(object->path);
    tarn_code code = TARN_OK;

    if (is_data)
        tarn_tally_add(&n->lying, hash, object->size);
    if (!is_listed && !is_data)
        return note_other(n, object, file ? (unsigned)file->flags : 0, err);
    if (is_listed ? !tarn_other_format(object->path) : object->size > 0)
        code = note_newest(n, object, err);
    if (code != TARN_OK)
        return code;
    if (!is_listed)
        return note_unlisted(n, object, file ? (unsigned)file->flags : 0, err);
    if (object->mtime_ms > n->told.newest_listed_ms)
        n->told.newest_listed_ms = object->mtime_ms;
    n->is_unsettled |= !is_data || (file->size != TARN_FILE_NO_SIZE && (int64_t)file->size != object->size);
    return note_there(n->g, object, file, err);
}

static tarn_code note_object(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    struct names *n = ctx;
    tarn_code code = tarn_gather_goes_on(n->g, err);

    if (code != TARN_OK || object->is_folder)
        return code;
    return object->is_symlink ? note_link(n, object, err) : note_file(n, object, err);
}

static bool note_state(void *ctx, const struct tarn_folder_state *state)
{
    struct names *n = ctx;

    n->state = *state;
    return true;
}

/* What the look by name says of the folder takes the place of the sums of the walk. */
static tarn_code note_read(struct names *n, struct tarn_err *err)
{
    struct tarn_folder *folder = n->folder;
    bool is_same = folder->state.id == n->state.id && folder->state.changed_ns == n->state.changed_ns;
    const char *slash = n->newest_ms == INT64_MIN ? NULL : strrchr(n->newest.data, '/');
    const char *name = n->newest_ms == INT64_MIN ? NULL : slash ? slash + 1 : n->newest.data;

    n->g->facts->folders_read++;
    if (!is_same) /* what the walk took for settled has changed since */
        folder->flags &= ~(unsigned)TARN_FOLDER_SETTLED;
    folder->flags &= ~(unsigned)TARN_FOLDER_OFFERED;
    folder->flags |= tarn_tally_fits(&n->lying, &folder->listed) ? TARN_FOLDER_OFFERED : 0u;
    folder->state = n->state;
    folder->lying = n->lying;
    folder->told = n->told;
    folder->told.is_known = !n->is_unsettled;
    folder->told.lying = n->lying;
    folder->told.listed = folder->listed;
    n->g->facts->reclaimable_files += n->told.reclaimable_files;
    n->g->facts->reclaimable_bytes += n->told.reclaimable_bytes;
    return tarn_folder_set_newest(&n->g->recall->folders, folder, n->newest_ms, name, err);
}

tarn_code tarn_gather_names(struct tarn_gather *g, struct tarn_folder *folder, struct tarn_err *err)
{
    __attribute__((cleanup(names_done))) struct names n = { .g = g, .folder = folder, .newest_ms = INT64_MIN,
                                                           .told = { .newest_listed_ms = INT64_MIN } };
    const char *path = tarn_folder_path(&g->recall->folders, folder);
    TARN_ERR(fault);

    tarn_code code = tarn_place_folder(g->place, path, note_state, note_object, &n, &fault);
    if (code == TARN_OK)
        return note_read(&n, err);
    if ((code != TARN_NOT_FOUND && code != TARN_STORAGE_UNAVAILABLE) || !path[0])
        return tarn_err_move(err, &fault);
    return tarn_gather_unread(g, folder, code == TARN_NOT_FOUND ? "it went away while it was read" : fault.detail, err);
}

/* --- what is listed and was not met --- */

/* Is the path a link, or behind one? What is not followed is not known to be missing. */
static bool is_behind_link(const struct tarn_gather *g, const char *path)
{
    for (const char *end = strchr(path, '/'); g->links.count > 0 && end; end = strchr(end + 1, '/'))
        if (tarn_fileset_find_hash(&g->links, tarn_hash128(path, (size_t)(end - path))))
            return true;
    return tarn_fileset_find(&g->links, path) != NULL;
}

/* It is looked for by name: it may have come while the folder was read, or have a name that no listing of data has. */
static tarn_code look_for(struct tarn_gather *g, const struct tarn_file *file, struct tarn_folder *folder,
                          struct tarn_fileset_entry *entry, struct tarn_err *err)
{
    struct tarn_object object = { 0 };
    TARN_ERR(fault);
    tarn_code code = tarn_place_stat(g->place, file->path, &object, &fault);

    folder->told.is_known = false;
    if (code == TARN_STORAGE_UNAVAILABLE)
        return tarn_gather_unread(g, folder, fault.detail, err);
    if (code == TARN_NOT_FOUND || code == TARN_INVALID)
        return tarn_gather_doubt(g, &g->facts->missing, file->path, NULL, -1, file->size, -1, err);
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    object.path = file->path;
    return note_there(g, &object, entry, err);
}

tarn_code tarn_gather_missing(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct tarn_gather *g = ctx;
    struct tarn_fileset_entry *entry = tarn_fileset_find(&g->files, file->path);
    tarn_code code = tarn_gather_goes_on(g, err);

    if (code != TARN_OK || !entry || !(entry->flags & TARN_FILE_LISTED) || entry->flags & TARN_FILE_SEEN)
        return code;
    struct tarn_folder *folder = tarn_folders_find(&g->recall->folders, file->path, tarn_folder_len(file->path));
    bool is_judged = folder && folder->flags & TARN_FOLDER_SUSPECT && !(folder->flags & TARN_FOLDER_UNREAD);
    if (!is_judged)
        return TARN_OK;
    entry->flags |= TARN_FILE_SEEN; /* told once */
    return is_behind_link(g, file->path) ? TARN_OK : look_for(g, file, folder, entry, err);
}
