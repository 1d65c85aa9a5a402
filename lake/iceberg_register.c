/* iceberg_register.c - a table that already has a metadata file comes under this catalog: the file is read and judged, the
 * pointer set, nothing written. With `overwrite` it takes the place of what the name points at. */
#include "base/time.h"
#include "lake/event.h"
#include "lake/iceberg.h"
#include "lake/iceberg_place.h"
#include "lake/register.h"
#include <string.h>

static tarn_code free_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct tarn_iceberg_register_use *use = ctx;
    TARN_ERR(fault);
    tarn_code code = tarn_name_free(tx, use->ident.namespace_, use->ident.name, &fault);

    return code == TARN_OK || (code == TARN_TABLE_EXISTS && use->overwrite) ? TARN_OK : tarn_err_move(err, &fault);
}

static tarn_code read_file(struct tarn_lake *lake, struct tarn_iceberg_register_use *use, struct tarn_err *err)
{
    struct tarn_iceberg_work *work = &use->work;
    tarn_code code = tarn_iceberg_file_parse(lake, use->metadata_location, &work->meta, err);

    if (code == TARN_OK)
        code = tarn_iceberg_check_offered(work->meta, err);
    code = tarn_iceberg_judged(code, err);
    if (code == TARN_OK)
        code = tarn_iceberg_allowed(lake, work->meta->location, &use->who, err);
    if (code == TARN_OK)
        code = tarn_iceberg_check_paths(lake, work->meta, NULL, &use->who, 0, NULL, err);
    if (code == TARN_OK)
        code = tarn_iceberg_write_forms(work->meta, &work->metadata, &work->refs, err);
    return code;
}

static tarn_code check(struct tarn_lake *lake, void *state, struct tarn_err *err)
{
    struct tarn_iceberg_register_use *use = state;
    struct tarn_iceberg_work *work = &use->work;

    tarn_iceberg_work_done(work);
    *work = (struct tarn_iceberg_work){ .ident = use->ident, .creates = true, .now_ms = use->now_ms ? use->now_ms : tarn_now_ms() };
    tarn_code code = tarn_store_read(lake->store, free_tx, use, err);
    if (code == TARN_OK)
        code = tarn_iceberg_allowed(lake, use->metadata_location, &use->who, err);
    if (code == TARN_OK)
        code = read_file(lake, use, err);
    if (code == TARN_OK && !(work->metadata_location = strdup(use->metadata_location)))
        code = tarn_fail_oom(err);
    return code;
}

/* The same row goes on, with another document. */
static tarn_code overwrite(struct tarn_tx *tx, struct tarn_iceberg_register_use *use, struct tarn_table *table,
                           struct tarn_err *err)
{
    struct tarn_iceberg_work *work = &use->work;

    work->creates = false;
    free(work->base_file);
    work->base_file = strdup(table->metadata_location);
    tarn_table_free(work->table);
    work->table = table;
    work->base_snapshot = TARN_ICEBERG_NONE;
    return work->base_file ? tarn_iceberg_land(tx, use->lake, work, err) : tarn_fail_oom(err);
}

static tarn_code change(struct tarn_tx *tx, void *state, struct tarn_err *err)
{
    struct tarn_iceberg_register_use *use = state;
    struct tarn_table *table = NULL;
    TARN_ERR(fault);
    tarn_code code = tarn_iceberg_find(tx, &use->ident, &table, &fault);

    if (code == TARN_OK && use->overwrite)
        return overwrite(tx, use, table, err);
    tarn_table_free(table);
    if (code != TARN_OK && code != TARN_TABLE_NOT_FOUND)
        return tarn_err_move(err, &fault);
    code = tarn_name_free(tx, use->ident.namespace_, use->ident.name, err);
    use->work.creates = true;
    return code == TARN_OK ? tarn_iceberg_land(tx, use->lake, &use->work, err) : code;
}

static void done(void *state) { tarn_iceberg_work_done(&((struct tarn_iceberg_register_use *)state)->work); }

const struct tarn_use tarn_iceberg_register = {
    .name = "iceberg register",
    .size = sizeof(struct tarn_iceberg_register_use),
    .check = check,
    .change = change,
    .done = done,
};
