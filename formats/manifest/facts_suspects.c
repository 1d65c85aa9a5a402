/* facts_suspects.c - which folders have to be read by name, and what all folders together say. */
#include "formats/manifest/gather.h"
#include "formats/small_files.h"
#include <stdio.h>
#include <string.h>

/* The nearest folder above a path that lies there. The top always does. */
static struct tarn_folder *nearest_above(struct tarn_folders *folders, const char *path)
{
    char above[4096];

    snprintf(above, sizeof above, "%s", path);
    for (size_t len = tarn_folder_len(above);; len = tarn_folder_len(above)) {
        above[len] = '\0';
        struct tarn_folder *folder = tarn_folders_find(folders, above, len);
        if (len == 0 || (folder && folder->flags & TARN_FOLDER_FOUND))
            return folder;
    }
}

/* Below one that could not be read nothing is known. */
static bool is_hidden(struct tarn_folders *folders, struct tarn_folder *folder)
{
    const char *path = tarn_folder_path(folders, folder);

    if (folder->flags & TARN_FOLDER_UNREAD)
        return true;
    if (!path[0])
        return false;
    struct tarn_folder *above = nearest_above(folders, path);
    if (!above || !(above->flags & TARN_FOLDER_LOOKED))
        return !(folder->flags & TARN_FOLDER_FOUND); /* is it not there? nobody looked */
    return is_hidden(folders, above);
}

/* What a look by name told holds on while the folder was not read again. */
static bool is_told(const struct tarn_folder *folder)
{
    return folder->told.is_known && !(folder->flags & TARN_FOLDER_LISTED) &&
           tarn_tally_same(&folder->told.lying, &folder->lying) && tarn_tally_same(&folder->told.listed, &folder->listed);
}

/* Every file there is listed, every listed file is there, and the picks know the newest of them. */
static bool is_plain(const struct tarn_folder *folder)
{
    return folder->flags & TARN_FOLDER_OFFERED && tarn_tally_fits(&folder->lying, &folder->listed);
}

static bool is_suspect(struct tarn_gather *g, struct tarn_folder *folder)
{
    struct tarn_folders *folders = &g->recall->folders;
    bool is_there = folder->flags & TARN_FOLDER_FOUND;

    if (!is_there)
        return folder->listed.count > 0 && !is_hidden(folders, folder);
    if (!(folder->flags & TARN_FOLDER_LOOKED) || (g->facts->unread.total > 0 && is_hidden(folders, folder)))
        return false;
    if (folder->flags & TARN_FOLDER_ODD || folder->newest_ms > g->options->now_ms + TARN_SKEW_MS)
        return true;
    return !is_plain(folder) && !is_told(folder);
}

static size_t mark_suspects(struct tarn_gather *g)
{
    struct tarn_folders *folders = &g->recall->folders;
    size_t count = 0;

    for (size_t i = 0; i < folders->count; i++) {
        bool suspect = is_suspect(g, &folders->items[i]);
        folders->items[i].flags &= ~(unsigned)TARN_FOLDER_SUSPECT;
        folders->items[i].flags |= suspect ? TARN_FOLDER_SUSPECT : 0u;
        count += suspect;
    }
    return count;
}

/* Of all that made the tellings of looks by name: the log's words, and how far back the catalog knows what was removed. */
static uint64_t key_of_tellings(const struct tarn_gather *g)
{
    const struct tarn_facts_catalog *catalog = g->options->catalog;
    uint64_t words = 0;

    for (size_t i = 0; i < g->files.cap; i++) {
        const struct tarn_fileset_entry *entry = &g->files.slots[i];
        const uint64_t word[] = { entry->hi, entry->lo, entry->flags & (TARN_FILE_ADDED | TARN_FILE_REMOVED) };
        words += entry->used ? tarn_hash128(word, sizeof word).lo : 0;
    }
    const int64_t parts[] = { (int64_t)words, g->unread_before_ms, (int64_t)g->facts->manifest,
                              catalog ? catalog->table->oldest_version : -1,
                              catalog ? (int64_t)catalog->table->block : -1 };
    return tarn_hash128(parts, sizeof parts).lo;
}

static void check_tellings(struct tarn_gather *g)
{
    struct tarn_folders *folders = &g->recall->folders;
    uint64_t key = key_of_tellings(g);

    for (size_t i = 0; i < folders->count && key != g->recall->told_key; i++)
        folders->items[i].told.is_known = false;
    g->recall->told_key = key;
}

static bool is_in_suspect(struct tarn_gather *g, const char *path)
{
    const struct tarn_folder *folder = tarn_folders_find(&g->recall->folders, path, tarn_folder_len(path));

    return folder && folder->flags & TARN_FOLDER_SUSPECT;
}

/* They are offered again when they are met by name. */
static tarn_code drop_picks(struct tarn_gather *g, struct tarn_err *err)
{
    struct tarn_picks old = g->picks;
    tarn_code code = TARN_OK;

    g->picks = (struct tarn_picks){ .max = old.max, .passed = old.passed };
    old.passed = (struct tarn_pick){ 0 };
    for (size_t i = 0; i < old.count && code == TARN_OK; i++)
        if (!is_in_suspect(g, old.heap[i].path))
            code = tarn_picks_take(&g->picks, &old.heap[i], err);
    tarn_picks_done(&old);
    return code;
}

/* Its entry among the names; *out NULL: it lies in no suspect. */
static tarn_code entry_of(struct tarn_gather *g, const char *path, struct tarn_fileset_entry **out, struct tarn_err *err)
{
    tarn_code code = tarn_gather_goes_on(g, err);

    *out = NULL;
    if (code != TARN_OK || !is_in_suspect(g, path))
        return code;
    *out = tarn_fileset_put(&g->files, path);
    return *out ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code note_listed(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct tarn_fileset_entry *entry;
    tarn_code code = entry_of(ctx, file->path, &entry, err);

    if (code != TARN_OK || !entry)
        return code;
    bool is_again = entry->flags & TARN_FILE_LISTED && entry->size != TARN_FILE_NO_SIZE;
    entry->flags |= TARN_FILE_LISTED;
    if (file->size >= 0 && !is_again)
        entry->size = file->size < (int64_t)TARN_FILE_MAX_SIZE ? (uint64_t)file->size & TARN_FILE_NO_SIZE : TARN_FILE_MAX_SIZE;
    return TARN_OK;
}

static tarn_code note_removed(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct tarn_fileset_entry *entry;
    tarn_code code = entry_of(ctx, file->path, &entry, err);

    if (code == TARN_OK && entry)
        entry->flags |= TARN_FILE_REMOVED | (file->removed_version >= 0 ? TARN_FILE_KEPT : 0);
    return code;
}

static tarn_code look_by_name(struct tarn_gather *g, struct tarn_err *err)
{
    const struct tarn_facts_catalog *catalog = g->options->catalog;
    struct tarn_folders *folders = &g->recall->folders;
    bool is_listed = catalog || g->facts->manifest == TARN_DOC_READ;

    tarn_code code = drop_picks(g, err);
    if (code == TARN_OK && is_listed)
        code = tarn_gather_listed_there(g, note_listed, g, err);
    if (code == TARN_OK && catalog)
        code = catalog->removed(catalog->ctx, note_removed, g, err);
    for (size_t i = 0; i < folders->count && code == TARN_OK; i++)
        if (folders->items[i].flags & TARN_FOLDER_SUSPECT && folders->items[i].flags & TARN_FOLDER_FOUND)
            code = tarn_gather_names(g, &folders->items[i], err);
    if (code == TARN_OK && is_listed)
        code = tarn_gather_listed_there(g, tarn_gather_missing, g, err);
    return code;
}

/* --- all together --- */

static void add_known(struct tarn_gather *g, struct tarn_folder *folder)
{
    struct tarn_facts *facts = g->facts;
    bool is_plain_now = is_plain(folder);
    int64_t newest_ms = is_plain_now ? folder->newest_ms : folder->told.newest_listed_ms;

    g->picks.offered += folder->listed.count;
    if (newest_ms > facts->newest_listed_ms)
        facts->newest_listed_ms = newest_ms;
    if (!is_plain_now) {
        facts->reclaimable_files += folder->told.reclaimable_files;
        facts->reclaimable_bytes += folder->told.reclaimable_bytes;
    } else if (folder->listed.unsized > 0) {
        facts->total_bytes += folder->lying.bytes; /* as long as they are, since nobody says it */
    }
}

/* Of suspects everything was counted by name. Of folders that a probe did not visit and that differ nothing is known. */
static void add_folder(struct tarn_gather *g, struct tarn_folder *folder)
{
    bool is_suspect_now = folder->flags & TARN_FOLDER_SUSPECT, is_known = is_plain(folder) || folder->told.is_known;

    if (folder->flags & TARN_FOLDER_UNREAD || !is_known)
        folder->watch = 1 + TARN_GOOD_LOOKS;
    else if (folder->watch > 0 && folder->flags & TARN_FOLDER_LOOKED)
        folder->watch--;
    if (is_suspect_now)
        return;
    if (is_known)
        add_known(g, folder);
    else
        g->facts->files_known = false;
}

static bool newer(const struct tarn_folders *folders, const struct tarn_folder *a, const struct tarn_folder *b)
{
    if (!b || a->newest_ms != b->newest_ms)
        return !b || a->newest_ms > b->newest_ms;
    return strcmp(tarn_folder_path(folders, a), tarn_folder_path(folders, b)) < 0;
}

static tarn_code set_newest(struct tarn_gather *g, const struct tarn_folder *folder, struct tarn_err *err)
{
    const struct tarn_folders *folders = &g->recall->folders;
    const char *path = tarn_folder_path(folders, folder), *name = tarn_folder_newest(folders, folder);
    char *text = NULL;

    if (asprintf(&text, "%s%s%s", path, path[0] ? "/" : "", name ? name : "") < 0)
        return tarn_fail_oom(err);
    free(g->facts->newest_data_path);
    g->facts->newest_data_path = text;
    g->facts->newest_data_ms = folder->newest_ms;
    return TARN_OK;
}

static tarn_code note_looked(struct tarn_gather *g, struct tarn_folder *folder, bool *is_whole, struct tarn_err *err)
{
    const unsigned there = TARN_FOLDER_FOUND | TARN_FOLDER_UNREAD, looked = TARN_FOLDER_LOOKED | TARN_FOLDER_SUSPECT;
    bool is_looked = folder->flags & looked && !(folder->flags & TARN_FOLDER_UNREAD);
    bool is_unlooked = folder->flags & there && !is_looked;
    bool is_noted = g->facts->looked == TARN_LOOKED_ONLY ? is_looked : is_unlooked;

    *is_whole &= !is_unlooked;
    if (!is_noted)
        return TARN_OK;
    return tarn_fileset_put(&g->facts->looked_set, tarn_folder_path(&g->recall->folders, folder)) ? TARN_OK
                                                                                                  : tarn_fail_oom(err);
}

static tarn_code sum_up(struct tarn_gather *g, struct tarn_err *err)
{
    struct tarn_folders *folders = &g->recall->folders;
    const struct tarn_folder *newest = NULL;
    tarn_code code = TARN_OK;
    bool is_whole = true;

    g->facts->looked = g->is_full || g->options->sweep ? TARN_LOOKED_BUT : TARN_LOOKED_ONLY;
    g->facts->files_known = true;
    for (size_t i = 0; i < folders->count && code == TARN_OK; i++) {
        struct tarn_folder *folder = &folders->items[i];
        bool is_there = folder->flags & TARN_FOLDER_FOUND && folder->flags & TARN_FOLDER_READ;
        if (is_there)
            add_folder(g, folder);
        if (is_there && folder->newest_ms != INT64_MIN && newer(folders, folder, newest))
            newest = folder;
        code = note_looked(g, folder, &is_whole, err);
    }
    if (code == TARN_OK && newest)
        code = set_newest(g, newest, err);
    if (code == TARN_OK && is_whole)
        g->facts->saw |= TARN_SAW_LISTING;
    return code;
}

tarn_code tarn_gather_unread(struct tarn_gather *g, struct tarn_folder *folder, const char *why, struct tarn_err *err)
{
    bool is_told_already = folder->flags & TARN_FOLDER_UNREAD;

    folder->flags |= TARN_FOLDER_UNREAD;
    folder->flags &= ~(unsigned)TARN_FOLDER_SETTLED;
    folder->told.is_known = false;
    if (is_told_already)
        return TARN_OK;
    return tarn_suspects_add(&g->facts->unread, tarn_folder_path(&g->recall->folders, folder), why, -1, -1, -1, err);
}

tarn_code tarn_gather_files(struct tarn_gather *g, struct tarn_err *err)
{
    if (g->is_unknown)
        return TARN_OK;
    check_tellings(g);
    tarn_code code = mark_suspects(g) > 0 ? look_by_name(g, err) : TARN_OK;
    if (code == TARN_OK)
        code = sum_up(g, err);
    return code == TARN_OK ? tarn_small_files_gather(&g->recall->folders, true, g->options, g->facts, err) : code;
}
