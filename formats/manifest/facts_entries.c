/* facts_entries.c - the files that the manifest lists, or the catalog's snapshot: one by one, under the paths that a
 * listing gives them. */
#include "formats/manifest/gather.h"
#include <stdio.h>
#include <string.h>

/* The table's own keys when it has some; else they are what most of its files say. */
void tarn_gather_entries_begin(struct tarn_gather *g)
{
    const struct tarn_facts_catalog *catalog = g->options->catalog;
    const char *given = catalog ? catalog->table->partition_keys : g->options->partition_keys;

    g->partition_keys = given ? json_loads(given, 0, NULL) : NULL;
}

void tarn_gather_entries_forget(struct tarn_gather *g)
{
    struct tarn_facts *facts = g->facts;

    tarn_folders_done(&g->listed);
    g->has_odd_paths = false;
    tarn_fileset_unflag(&g->files, TARN_FILE_LISTED);
    tarn_fileset_clear(&g->doubles);
    tarn_pathset_done(&g->met);
    tarn_suspects_done(&facts->duplicates);
    tarn_suspects_done(&facts->invalid_paths);
    tarn_suspects_done(&facts->unexpected);
    tarn_suspects_done(&facts->sizes);
    tarn_coverage_free(tarn_take(&g->coverage));
    facts->file_count = facts->total_bytes = 0;
}

tarn_code tarn_gather_entries_end(struct tarn_gather *g, struct tarn_err *err)
{
    json_t *keys = NULL;
    json_auto_t *told = g->coverage ? NULL : json_incref(g->partition_keys);
    tarn_code code = g->coverage ? tarn_coverage_end(g->coverage, g->facts, &keys, &told, err) : TARN_OK;

    if (code != TARN_OK)
        return code;
    if (g->coverage) {
        json_decref(g->partition_keys);
        g->partition_keys = keys;
    }
    g->facts->partition_keys = told ? json_dumps(told, JSON_COMPACT) : strdup("[]");
    if (!g->facts->partition_keys)
        return tarn_fail_oom(err);
    if (g->options->catalog || g->facts->manifest == TARN_DOC_READ)
        g->facts->saw |= TARN_SAW_ENTRIES;
    return TARN_OK;
}

static tarn_code note_twice(struct tarn_gather *g, const struct tarn_file *file, const char *path, struct tarn_err *err)
{
    struct tarn_fileset_entry *entry = tarn_fileset_put(&g->doubles, path);
    char note[600];

    if (!entry)
        return tarn_fail_oom(err);
    bool is_told = entry->flags & TARN_FILE_DOUBLE, is_same = strcmp(file->path, path) == 0;
    entry->flags |= TARN_FILE_DOUBLE;
    snprintf(note, sizeof note, "also written as %.500s", file->path);
    return is_told ? TARN_OK : tarn_suspects_add(&g->facts->duplicates, path, is_same ? NULL : note, 2, 1, -1, err);
}

static tarn_code judge_path(struct tarn_gather *g, const struct tarn_file *file, const struct tarn_listed_path *as,
                            struct tarn_err *err)
{
    const char *format = tarn_other_format(as->path);
    char note[64];
    tarn_code code = TARN_OK;

    if (as->fault)
        code = tarn_suspects_add(&g->facts->invalid_paths, file->path, as->fault, -1, -1, -1, err);
    snprintf(note, sizeof note, "%s, listed as data of the table", format ? format : "");
    if (code == TARN_OK && format)
        code = tarn_suspects_add(&g->facts->unexpected, as->path, note, -1, -1, -1, err);
    if (code == TARN_OK && file->size == TARN_SIZE_NEGATIVE)
        code = tarn_suspects_add(&g->facts->sizes, as->path, "the listed size is negative", -1, -1, -1, err);
    return code;
}

/* What leads out of the table is listed, but belongs to no folder: it is never looked for. */
static tarn_code note_place(struct tarn_gather *g, const struct tarn_file *file, const struct tarn_listed_path *as,
                            struct tarn_hash128 hash, struct tarn_err *err)
{
    struct tarn_fileset_entry *named = tarn_fileset_find_hash(&g->files, hash);

    if (named)
        named->flags |= TARN_FILE_LISTED;
    if (as->is_outside)
        return TARN_OK;
    struct tarn_folder *folder = tarn_folders_put(&g->listed, as->path, tarn_folder_len(as->path));
    if (!folder)
        return tarn_fail_oom(err);
    g->has_odd_paths |= strcmp(as->path, file->path) != 0;
    tarn_tally_add(&folder->listed, hash, file->size);
    return TARN_OK;
}

static tarn_code note_first(struct tarn_gather *g, const struct tarn_file *file, const struct tarn_listed_path *as,
                            struct tarn_hash128 hash, struct tarn_err *err)
{
    struct tarn_facts *facts = g->facts;
    struct tarn_file known = *file;
    tarn_code code = note_place(g, file, as, hash, err);

    if (code == TARN_OK)
        code = judge_path(g, file, as, err);
    if (code != TARN_OK)
        return code;
    facts->file_count++;
    if (file->size > 0 && facts->total_bytes <= INT64_MAX - file->size)
        facts->total_bytes += file->size;
    if (!g->coverage)
        g->coverage = tarn_coverage_new(g->partition_keys, tarn_gather_past(g));
    known.path = as->path;
    return g->coverage ? tarn_coverage_note(g->coverage, &known, err) : tarn_fail_oom(err);
}

tarn_code tarn_gather_entry(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct tarn_gather *g = ctx;
    struct tarn_listed_path as;
    bool met = false;
    tarn_code code = tarn_gather_goes_on(g, err);

    if (code == TARN_OK)
        code = tarn_listed_path_read(file->path, tarn_place_location(g->place), &g->room, &as, err);
    if (code != TARN_OK)
        return code;
    struct tarn_hash128 hash = tarn_hash128(as.path, strlen(as.path));
    if (g->is_document) /* a catalog has each path once */
        code = tarn_pathset_add(&g->met, hash, &met, err);
    if (code != TARN_OK)
        return code;
    return met ? note_twice(g, file, as.path, err) : note_first(g, file, &as, hash, err);
}

/* --- once more, for names --- */

struct again { struct tarn_gather *g; tarn_file_fn *fn; void *ctx; };

static tarn_code give_known(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct again *again = ctx;
    struct tarn_listed_path as;
    struct tarn_file known = *file;
    tarn_code code = tarn_listed_path_read(file->path, tarn_place_location(again->g->place), &again->g->room, &as, err);

    known.path = as.path;
    return code == TARN_OK ? again->fn(again->ctx, &known, err) : code;
}

tarn_code tarn_gather_listed(struct tarn_gather *g, tarn_file_fn *fn, void *ctx, struct tarn_err *err)
{
    const struct tarn_facts_catalog *catalog = g->options->catalog;
    struct again again = { g, fn, ctx };

    if (catalog)
        return catalog->files(catalog->ctx, give_known, &again, err);
    __attribute__((cleanup(tarn_manifest_head_done))) struct tarn_manifest_head head = { 0 };
    return tarn_manifest_read_at(g->place, &head, NULL, give_known, &again, err);
}

tarn_code tarn_gather_listed_there(struct tarn_gather *g, tarn_file_fn *fn, void *ctx, struct tarn_err *err)
{
    enum { RANGES_MAX = 256 }; /* folders; above, one pass over all is quicker */
    const struct tarn_facts_catalog *catalog = g->options->catalog;
    const struct tarn_folders *folders = &g->recall->folders;
    struct again again = { g, fn, ctx };
    tarn_code code = TARN_OK;
    size_t suspects = 0;

    for (size_t i = 0; i < folders->count; i++)
        suspects += (folders->items[i].flags & TARN_FOLDER_SUSPECT) != 0;
    if (!catalog || g->recall->has_odd_paths || suspects > RANGES_MAX)
        return tarn_gather_listed(g, fn, ctx, err);
    for (size_t i = 0; i < folders->count && code == TARN_OK; i++)
        if (folders->items[i].flags & TARN_FOLDER_SUSPECT)
            code = catalog->files_in(catalog->ctx, tarn_folder_path(folders, &folders->items[i]), give_known, &again, err);
    return code;
}

tarn_code tarn_gather_listed_file(struct tarn_gather *g, const char *path, tarn_file_fn *fn, void *ctx,
                                  struct tarn_err *err)
{
    const struct tarn_facts_catalog *catalog = g->options->catalog;
    struct again again = { g, fn, ctx };

    return catalog->file(catalog->ctx, path, give_known, &again, err);
}
