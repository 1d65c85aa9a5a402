/* facts_files.c - what lies in the table's folder, held against what is listed. The listing streams; only suspects
 * keep their names. */
#include "formats/manifest/gather.h"
#include "base/text.h"
#include <stdio.h>
#include <string.h>

enum {
    FOOTERS_PROBE = 200,  /* newest files whose footer is read */
    FOOTERS_SWEEP = 5000,
    FOLDERS_MAX = 100000, /* at the top of one table */
    STATS_MAX = 1000      /* missing files looked for once more */
};

struct folders { char **names; size_t count, cap; };

static void folders_done(struct folders *f)
{
    for (size_t i = 0; i < f->count; i++)
        free(f->names[i]);
    free(f->names);
}

static tarn_code keep_folder(struct folders *f, const char *name, struct tarn_err *err)
{
    if (f->count == FOLDERS_MAX)
        return tarn_fail(err, TARN_STORAGE_UNAVAILABLE, "more than %d folders in one table", FOLDERS_MAX);
    if (f->count == f->cap) {
        size_t cap = f->cap ? 2 * f->cap : 32;
        char **more = realloc(f->names, cap * sizeof *more);
        if (!more)
            return tarn_fail_oom(err);
        f->names = more;
        f->cap = cap;
    }
    f->names[f->count] = strdup(name);
    return f->names[f->count++] ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code note_leftover(struct tarn_gather *g, const struct tarn_object *object, struct tarn_err *err)
{
    struct tarn_facts *facts = g->facts;

    if (object->mtime_ms > g->options->now_ms - g->options->leftover_grace_ms)
        return TARN_OK;
    facts->leftovers.bytes += object->size;
    return tarn_suspects_add(&facts->leftovers, object->path, NULL, object->size, -1, object->mtime_ms, err);
}

/* Beside data files, or where a key=value folder says that data belongs. */
static bool lies_among_data(const struct tarn_gather *g, const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[4096];

    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 0, path);
    return strchr(folder, '=') || tarn_fileset_find(&g->folders, folder);
}

static tarn_code note_stray(struct tarn_gather *g, const struct tarn_object *object, unsigned flags, struct tarn_err *err)
{
    const char *format = tarn_stray_format(object->path);
    bool is_young = object->mtime_ms > g->options->now_ms - g->options->unexpected_grace_ms;
    char note[64];

    if (!format || is_young || flags & (TARN_FILE_KEPT | TARN_FILE_REMOVED) || !lies_among_data(g, object->path))
        return TARN_OK;
    snprintf(note, sizeof note, "%s, among the data", format);
    return tarn_suspects_add(&g->facts->unexpected, object->path, note, -1, -1, object->mtime_ms, err);
}

static tarn_code note_other(struct tarn_gather *g, const struct tarn_object *object, unsigned flags, struct tarn_err *err)
{
    return tarn_is_leftover(object->path) ? note_leftover(g, object, err) : note_stray(g, object, flags, err);
}

static tarn_code note_unlisted(struct tarn_gather *g, const struct tarn_object *object, unsigned flags,
                               struct tarn_err *err)
{
    struct tarn_facts *facts = g->facts;

    if (flags & TARN_FILE_KEPT)
        return TARN_OK; /* time travel still needs it */
    if (flags & TARN_FILE_REMOVED) {
        facts->reclaimable_files++;
        facts->reclaimable_bytes += object->size;
        return TARN_OK;
    }
    /* Of a time that the part of the log that was read does not cover, an absent word means nothing. */
    bool is_told = g->options->catalog || facts->manifest == TARN_DOC_READ;
    if (flags & TARN_FILE_ADDED || object->mtime_ms < g->unread_before_ms || !is_told)
        return TARN_OK;
    if (object->size == 0) /* begun, never written: there is nothing that readers miss */
        return note_leftover(g, object, err);
    if (object->mtime_ms > g->options->now_ms - g->options->unregistered_grace_ms) {
        facts->unregistered_young++;
        return TARN_OK;
    }
    facts->unregistered.bytes += object->size;
    return tarn_suspects_add(&facts->unregistered, object->path, NULL, -1, -1, object->mtime_ms, err);
}

static tarn_code note_listed(struct tarn_gather *g, const struct tarn_object *object, struct tarn_fileset_entry *file,
                             struct tarn_err *err)
{
    file->flags = (file->flags | TARN_FILE_SEEN) & TARN_FILE_FLAGS;
    bool is_told = file->size != TARN_FILE_NO_SIZE;
    int64_t listed = is_told ? (int64_t)file->size : object->size;
    tarn_code code = TARN_OK;

    if (object->mtime_ms > g->facts->newest_listed_ms && object->mtime_ms <= g->options->now_ms + TARN_SKEW_MS)
        g->facts->newest_listed_ms = object->mtime_ms;
    if (!is_told)
        g->facts->total_bytes += object->size;
    if (listed != object->size)
        code = tarn_suspects_add(&g->facts->sizes, object->path, NULL, object->size, listed, object->mtime_ms, err);
    if (code == TARN_OK && !tarn_other_format(object->path))
        code = tarn_picks_offer(&g->picks, object->path, object->size, object->mtime_ms, (unsigned)file->behind, err);
    return code;
}

static tarn_code note_newest(struct tarn_facts *facts, const struct tarn_object *object, struct tarn_err *err)
{
    if (object->mtime_ms <= facts->newest_data_ms)
        return TARN_OK;
    char *path = strdup(object->path);
    if (!path)
        return tarn_fail_oom(err);
    free(facts->newest_data_path);
    facts->newest_data_path = path;
    facts->newest_data_ms = object->mtime_ms;
    return TARN_OK;
}

static tarn_code note_link(struct tarn_gather *g, const struct tarn_object *object, struct tarn_err *err)
{
    if (!tarn_fileset_put(&g->links, object->path))
        return tarn_fail_oom(err);
    return tarn_suspects_add(&g->facts->symlinks, object->path, NULL, -1, -1, object->mtime_ms, err);
}

/* Is the path a link, or behind one? What is not followed is not known to be missing. */
static bool is_behind_link(const struct tarn_gather *g, const char *path)
{
    char part[4096];

    for (const char *end = strchr(path, '/'); g->links.count > 0 && end; end = strchr(end + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(end - path), path);
        if (tarn_fileset_find(&g->links, part))
            return true;
    }
    return tarn_fileset_find(&g->links, path) != NULL;
}

static tarn_code note_object(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    struct tarn_gather *g = ctx;
    tarn_code code = tarn_gather_goes_on(g, err);

    if (code != TARN_OK)
        return code;
    if (object->is_symlink)
        return note_link(g, object, err);
    struct tarn_fileset_entry *file = tarn_fileset_find(&g->files, object->path);
    bool is_listed = file && file->flags & TARN_FILE_LISTED, is_data = tarn_is_data_file(object->path);
    if (!is_listed && !is_data)
        return note_other(g, object, file ? (unsigned)file->flags : 0, err);
    if (is_listed ? !tarn_other_format(object->path) : object->size > 0)
        code = note_newest(g->facts, object, err);
    if (code != TARN_OK)
        return code;
    if (is_listed)
        return note_listed(g, object, file, err);
    return note_unlisted(g, object, file ? (unsigned)file->flags : 0, err);
}

struct top { struct tarn_gather *g; struct folders folders; };

static void top_done(struct top *top) { folders_done(&top->folders); }

static tarn_code note_top(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    struct top *top = ctx;

    if (!object->is_folder)
        return note_object(top->g, object, err);
    return tarn_holds_data(object->path) ? keep_folder(&top->folders, object->path, err) : TARN_OK;
}

static tarn_code list_all(struct tarn_gather *g, struct tarn_err *err)
{
    __attribute__((cleanup(top_done))) struct top top = { .g = g };
    tarn_code code = tarn_place_list(g->place, "", false, note_top, &top, err);

    for (size_t i = 0; i < top.folders.count && code == TARN_OK; i++)
        code = tarn_place_list(g->place, top.folders.names[i], true, note_object, g, err);
    return code;
}

struct missing_walk { struct tarn_gather *g; int64_t looked; };

/* A file listed but not seen is looked for by name: it may have come while the folder was listed. */
static tarn_code note_missing(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct missing_walk *walk = ctx;
    struct tarn_gather *g = walk->g;
    struct tarn_fileset_entry *entry = tarn_fileset_find(&g->files, file->path);

    if (!entry || !(entry->flags & TARN_FILE_LISTED) || entry->flags & TARN_FILE_SEEN)
        return TARN_OK;
    entry->flags = (entry->flags | TARN_FILE_SEEN) & TARN_FILE_FLAGS; /* told once */
    if (is_behind_link(g, file->path))
        return TARN_OK;
    struct tarn_object object = { 0 };
    TARN_ERR(fault);
    tarn_code code = walk->looked++ < STATS_MAX ? tarn_place_stat(g->place, file->path, &object, &fault) : TARN_NOT_FOUND;
    if (code != TARN_OK && code != TARN_NOT_FOUND && code != TARN_INVALID)
        return tarn_err_move(err, &fault);
    if (code == TARN_OK) {
        object.path = file->path;
        return note_listed(g, &object, entry, err);
    }
    return tarn_suspects_add(&g->facts->missing, file->path, NULL, -1, file->size, -1, err);
}

static tarn_code note_removed(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct tarn_gather *g = ctx;
    tarn_code code = tarn_gather_goes_on(g, err);

    if (code != TARN_OK)
        return code;
    struct tarn_fileset_entry *entry = tarn_fileset_put(&g->files, file->path);

    if (!entry)
        return tarn_fail_oom(err);
    entry->flags = (entry->flags | TARN_FILE_REMOVED | (file->removed_version >= 0 ? TARN_FILE_KEPT : 0)) & TARN_FILE_FLAGS;
    return TARN_OK;
}

tarn_code tarn_gather_files(struct tarn_gather *g, struct tarn_err *err)
{
    const struct tarn_facts_catalog *catalog = g->options->catalog;
    struct missing_walk walk = { .g = g };

    tarn_picks_done(&g->picks);
    g->picks.max = g->options->sweep ? FOOTERS_SWEEP : FOOTERS_PROBE;
    tarn_code code = catalog ? catalog->removed(catalog->ctx, note_removed, g, err) : TARN_OK;
    if (code == TARN_OK)
        code = list_all(g, err);
    if (code == TARN_OK && tarn_fileset_count(&g->files, TARN_FILE_LISTED, TARN_FILE_SEEN) > 0)
        code = tarn_gather_listed(g, note_missing, &walk, err);
    if (code == TARN_OK)
        g->facts->saw |= TARN_SAW_LISTING;
    return code;
}
