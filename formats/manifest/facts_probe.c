/* facts_probe.c - a probe of a large managed table that was committed to since the last sweep: the catalog is not read as a whole,
 * but only what it lists in the folders that the probe compares. What it tells of each file is left to the sweep. */
#include "formats/manifest/gather.h"
#include <string.h>

static tarn_code add_listed(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    (void)err;
    tarn_tally_add(ctx, tarn_hash128(file->path, strlen(file->path)), file->size);
    return TARN_OK;
}

/* The newest, and those in which something is not as it was listed. */
static bool needs_listing(const struct tarn_folder *folder)
{
    bool is_looked = folder->flags & TARN_FOLDER_LOOKED;

    return is_looked && (folder->flags & TARN_FOLDER_NEWEST || !tarn_tally_fits(&folder->lying, &folder->listed));
}

static tarn_code list_some(struct tarn_gather *g, struct tarn_err *err)
{
    const struct tarn_facts_catalog *catalog = g->options->catalog;
    struct tarn_folders *folders = &g->recall->folders;
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < folders->count && code == TARN_OK; i++) {
        struct tarn_folder *folder = &folders->items[i];
        if (!needs_listing(folder))
            continue;
        folder->listed = (struct tarn_tally){ 0 };
        code = catalog->files_in(catalog->ctx, tarn_folder_path(folders, folder), add_listed, &folder->listed, err);
    }
    return code;
}

static bool may_be_brief(const struct tarn_gather *g)
{
    const struct tarn_facts_catalog *catalog = g->options->catalog;

    return catalog && catalog->table->block == TARN_BLOCK_NONE && !g->options->sweep && !g->is_full && !g->is_unknown &&
           g->recall->is_listed && !g->recall->has_odd_paths;
}

tarn_code tarn_gather_probe(struct tarn_gather *g, bool *done, struct tarn_err *err)
{
    const struct tarn_facts_catalog *catalog = g->options->catalog;
    const struct tarn_memo *memo = &g->recall->memo;
    struct tarn_facts *facts = g->facts;
    bool is_ours = true;

    *done = false;
    if (!may_be_brief(g))
        return TARN_OK;
    tarn_code code = facts->publication_off ? TARN_OK : tarn_gather_own_manifest(g, &is_ours, err);
    if (code != TARN_OK || !is_ours)
        return code;
    *done = true;
    code = tarn_gather_log(g, err);
    if (code == TARN_OK)
        code = list_some(g, err);
    facts->file_count = catalog->table->file_count;
    facts->total_bytes = catalog->table->total_bytes;
    bool is_known = memo->partition_keys && memo->facts.partition_keys;
    const char *own = catalog->table->partition_keys, *keys = is_known ? memo->facts.partition_keys : own;
    json_decref(g->partition_keys);
    g->partition_keys = json_loads(is_known ? memo->partition_keys : own, 0, NULL);
    free(facts->partition_keys);
    facts->partition_keys = strdup(keys);
    return code == TARN_OK && !facts->partition_keys ? tarn_fail_oom(err) : code;
}
