/* repair_iceberg.c - the plan republish of an Iceberg table: where its metadata file is gone, the document that the catalog keeps is
 * written again under the same name. Manifest lists come from engines alone: one that is gone is told and left out. */
#include "lake/iceberg.h"
#include "lake/repair_run.h"
#include <string.h>

struct kept {
    struct tarn_repair_run *run;
    bool refs_only;       /* the snapshots that a branch or tag names */
    struct tarn_buf text;
};

static tarn_code keep(void *ctx, const char *text, size_t len, struct tarn_err *err)
{
    struct kept *kept = ctx;

    tarn_buf_clear(&kept->text);
    tarn_buf_add(&kept->text, text, len);
    return tarn_buf_check(&kept->text, err);
}

static tarn_code read_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct kept *kept = ctx;
    const struct tarn_table *seen = kept->run->table;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    tarn_code code = tx->ops->tables.get_by_id(tx, seen->id, &table, err);

    if (code == TARN_OK && strcmp(table->metadata_location, seen->metadata_location) != 0)
        return tarn_fail(err, TARN_RECHECK, "the table changed since the look began");
    return code == TARN_OK ? tx->ops->iceberg.get(tx, seen->id, kept->refs_only, keep, kept, err) : code;
}

static tarn_code is_there(struct tarn_repair_run *run, const char *file, bool *out, struct tarn_err *err)
{
    TARN_ERR(fault);
    tarn_code code = tarn_iceberg_file_stat(run->lake, file, &fault);

    *out = code == TARN_OK;
    return code == TARN_OK || code == TARN_NOT_FOUND ? TARN_OK : tarn_err_move(err, &fault);
}

/* --- the metadata file --- */

static tarn_code write_file(struct tarn_repair_run *run, struct tarn_err *err)
{
    struct kept kept = { .run = run };
    bool has_come = false;
    TARN_ERR(fault);
    tarn_code code = tarn_store_read(run->lake->store, read_tx, &kept, &fault);

    if (code == TARN_OK)
        code = tarn_iceberg_file_write(run->lake, run->table->metadata_location, &kept.text, &fault);
    tarn_buf_done(&kept.text);
    if (code != TARN_OK && code != TARN_RECHECK && is_there(run, run->table->metadata_location, &has_come, err) == TARN_OK && has_come)
        return TARN_OK; /* somebody brought it back */
    return code == TARN_OK ? TARN_OK : tarn_err_move(err, &fault);
}

static tarn_code mend_file(struct tarn_repair_run *run, struct tarn_err *err)
{
    const char *file = run->table->metadata_location;
    bool there = false;
    tarn_code code = is_there(run, file, &there, err);

    if (code != TARN_OK || there)
        return code;
    code = tarn_iceberg_file_check_root(run->lake, file, err);
    if (code == TARN_OK)
        code = tarn_repair_tell_write(run->use, file, err);
    return code == TARN_OK && run->use->runs ? write_file(run, err) : code;
}

/* --- manifest lists --- */

static tarn_code tell_lists(struct tarn_repair_run *run, const struct tarn_iceberg_meta *meta, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < meta->snapshots.count && code == TARN_OK; i++) {
        const char *list = meta->snapshots.items[i].manifest_list;
        bool is_missed = false;
        code = list ? tarn_iceberg_file_is_missed(run->lake, list, &is_missed, err) : TARN_OK;
        if (code == TARN_OK && is_missed)
            code = tarn_repair_leave_out(run->use, list, "not_kept",
                                         "the catalog keeps no manifest lists: bring it back, or roll back in an engine", err);
    }
    return code;
}

static tarn_code look_for_lists(struct tarn_repair_run *run, struct tarn_err *err)
{
    struct kept kept = { .run = run, .refs_only = true };
    struct tarn_iceberg_meta *meta = NULL;
    tarn_code code = tarn_store_read(run->lake->store, read_tx, &kept, err);

    if (code == TARN_OK)
        code = tarn_iceberg_parse(kept.text.data, kept.text.len, &meta, err);
    if (code == TARN_OK)
        code = tell_lists(run, meta, err);
    tarn_iceberg_free(meta);
    tarn_buf_done(&kept.text);
    return code;
}

tarn_code tarn_repair_iceberg(struct tarn_repair_run *run, struct tarn_err *err)
{
    tarn_code code = mend_file(run, err);

    return code == TARN_OK ? look_for_lists(run, err) : code;
}
