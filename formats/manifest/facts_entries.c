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

    tarn_fileset_clear(&g->files);
    tarn_fileset_clear(&g->folders);
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
    tarn_code code = g->coverage ? tarn_coverage_end(g->coverage, g->facts, &keys, err) : TARN_OK;

    if (code != TARN_OK)
        return code;
    if (g->coverage) {
        json_decref(g->partition_keys);
        g->partition_keys = keys;
    }
    if (g->options->catalog || g->facts->manifest == TARN_DOC_READ)
        g->facts->saw |= TARN_SAW_ENTRIES;
    return TARN_OK;
}

/* Where data lies, so that what lies beside it can be told. Neighbours are mostly told one after the other. */
static tarn_code note_folder(struct tarn_gather *g, const char *path, struct tarn_err *err)
{
    const char *slash = strrchr(path, '/');
    size_t len = slash ? (size_t)(slash - path) : 0;
    struct tarn_buf *last = &g->last_folder;

    if (g->folders.count > 0 && last->len == len && (len == 0 || memcmp(last->data, path, len) == 0))
        return TARN_OK;
    tarn_buf_clear(last);
    tarn_buf_add(last, path, len);
    tarn_buf_adds(last, "");
    tarn_code code = tarn_buf_check(last, err);
    if (code != TARN_OK)
        return code;
    return tarn_fileset_put(&g->folders, len > 0 ? last->data : "") ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code note_twice(struct tarn_gather *g, struct tarn_fileset_entry *entry, const struct tarn_file *file,
                            const char *path, struct tarn_err *err)
{
    bool is_told = entry->flags & TARN_FILE_DOUBLE, is_same = strcmp(file->path, path) == 0;
    char note[600];

    entry->flags |= TARN_FILE_DOUBLE;
    snprintf(note, sizeof note, "also written as %.500s", file->path);
    return is_told ? TARN_OK : tarn_suspects_add(&g->facts->duplicates, path, is_same ? NULL : note, 2, 1, -1, err);
}

static tarn_code note_first(struct tarn_gather *g, struct tarn_fileset_entry *entry, const struct tarn_file *file,
                            const struct tarn_listed_path *as, struct tarn_err *err)
{
    const char *format = tarn_other_format(as->path);
    char note[64];
    tarn_code code = TARN_OK;

    entry->flags |= TARN_FILE_LISTED | (as->is_outside ? TARN_FILE_SEEN : 0); /* never looked for */
    entry->behind = tarn_schema_past_behind(tarn_gather_past(g), file->schema_version) & TARN_BEHIND_MAX;
    if (file->size >= 0)
        entry->size = (uint64_t)file->size & TARN_FILE_NO_SIZE;
    if (as->fault)
        code = tarn_suspects_add(&g->facts->invalid_paths, file->path, as->fault, -1, -1, -1, err);
    snprintf(note, sizeof note, "%s, listed as data of the table", format ? format : "");
    if (code == TARN_OK && format)
        code = tarn_suspects_add(&g->facts->unexpected, as->path, note, -1, -1, -1, err);
    if (code == TARN_OK && file->size == TARN_SIZE_NEGATIVE)
        code = tarn_suspects_add(&g->facts->sizes, as->path, "the listed size is negative", -1, -1, -1, err);
    return code == TARN_OK && !as->fault ? note_folder(g, as->path, err) : code;
}

tarn_code tarn_gather_entry(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct tarn_gather *g = ctx;
    struct tarn_facts *facts = g->facts;
    struct tarn_listed_path as;
    tarn_code code = tarn_gather_goes_on(g, err);

    if (code == TARN_OK)
        code = tarn_listed_path_read(file->path, tarn_place_location(g->place), &g->room, &as, err);
    if (code != TARN_OK)
        return code;
    struct tarn_fileset_entry *entry = tarn_fileset_put(&g->files, as.path);
    if (!entry)
        return tarn_fail_oom(err);
    if (entry->flags & TARN_FILE_LISTED)
        return note_twice(g, entry, file, as.path, err);
    code = note_first(g, entry, file, &as, err);
    if (code != TARN_OK)
        return code;
    facts->file_count++;
    if (file->size > 0 && facts->total_bytes <= INT64_MAX - file->size)
        facts->total_bytes += file->size;
    if (!g->coverage)
        g->coverage = tarn_coverage_new(g->partition_keys, tarn_gather_past(g));
    struct tarn_file known = *file;
    known.path = as.path;
    return g->coverage ? tarn_coverage_note(g->coverage, &known, err) : tarn_fail_oom(err);
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
