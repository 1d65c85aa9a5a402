/* iceberg_register.c - a table that already has a metadata file comes under this catalog: the file is read and judged, the
 * pointer set, nothing written. With `overwrite` it takes the place of what the name points at; an observed table whose place is
 * the document's is taken over without, since nothing is lost by it. */
#include "base/time.h"
#include "lake/event.h"
#include "lake/iceberg.h"
#include "lake/iceberg_place.h"
#include "lake/register.h"
#include <string.h>

static bool is_iceberg(const struct tarn_table *table, enum tarn_mode mode)
{
    return table->format == TARN_FORMAT_ICEBERG && table->mode == mode;
}

/* Whether an observed table is the document's own is known when that was read. */
static tarn_code free_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct tarn_iceberg_register_use *use = ctx;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    TARN_ERR(none);

    if (tx->ops->tables.get(tx, use->ident.namespace_, use->ident.name, &table, &none) == TARN_OK &&
        (is_iceberg(table, TARN_OBSERVED) || (is_iceberg(table, TARN_MANAGED) && use->overwrite)))
        return TARN_OK;
    return tarn_name_free(tx, use->ident.namespace_, use->ident.name, err);
}

static tarn_code read_file(struct tarn_lake *lake, struct tarn_iceberg_register_use *use, struct tarn_err *err)
{
    struct tarn_iceberg_work *work = &use->work;
    tarn_code code = tarn_iceberg_file_parse(lake, use->metadata_location, &work->meta, err);

    if (code == TARN_OK && !use->is_own)
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

static tarn_code same_place(const char *location, const char *canonical, bool *out, struct tarn_err *err)
{
    TARN_AUTO(mem) char *own = NULL;
    tarn_code code = tarn_iceberg_locate(location, &own, err);

    *out = code == TARN_OK && strcmp(own, canonical) == 0;
    return code;
}

/* Is it the table that is observed: by its folder, or by the very file that it points at? */
static tarn_code is_observed(const struct tarn_iceberg_register_use *use, const struct tarn_table *table, bool *out, struct tarn_err *err)
{
    TARN_AUTO(mem) char *file = NULL;
    tarn_code code = same_place(use->work.meta->location, table->location, out, err);

    if (code != TARN_OK || *out || !table->metadata_location)
        return code;
    code = tarn_iceberg_locate(table->metadata_location, &file, err);
    return code == TARN_OK ? same_place(use->metadata_location, file, out, err) : code;
}

static tarn_code create(struct tarn_tx *tx, struct tarn_iceberg_register_use *use, struct tarn_err *err)
{
    tarn_code code = tarn_name_free(tx, use->ident.namespace_, use->ident.name, err);

    use->work.creates = true;
    return code == TARN_OK ? tarn_iceberg_land(tx, use->lake, &use->work, err) : code;
}

static tarn_code change(struct tarn_tx *tx, void *state, struct tarn_err *err)
{
    struct tarn_iceberg_register_use *use = state;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    bool takes = use->overwrite;
    TARN_ERR(fault);
    tarn_code code = tx->ops->tables.get(tx, use->ident.namespace_, use->ident.name, &table, &fault);

    if (code != TARN_OK)
        return code == TARN_TABLE_NOT_FOUND ? create(tx, use, err) : tarn_err_move(err, &fault);
    if (is_iceberg(table, TARN_MANAGED) && takes)
        return overwrite(tx, use, tarn_take(&table), err);
    if (is_iceberg(table, TARN_OBSERVED) && !takes)
        TARN_TRY(is_observed(use, table, &takes, err));
    if (is_iceberg(table, TARN_OBSERVED) && takes)
        return tarn_iceberg_take_over(tx, use->lake, &use->work, tarn_take(&table), err);
    return tarn_name_free(tx, use->ident.namespace_, use->ident.name, err);
}

static void done(void *state) { tarn_iceberg_work_done(&((struct tarn_iceberg_register_use *)state)->work); }

const struct tarn_use tarn_iceberg_register = {
    .name = "iceberg register",
    .size = sizeof(struct tarn_iceberg_register_use),
    .check = check,
    .change = change,
    .done = done,
};
