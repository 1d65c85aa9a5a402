/* iceberg_row.c - what an Iceberg table is in the catalog: its row, its place among the names. */
#include "base/json.h"
#include "base/text.h"
#include "lake/iceberg.h"
#include <inttypes.h>
#include <string.h>

tarn_code tarn_iceberg_blank_row(const struct tarn_ident *ident, struct tarn_table **out, struct tarn_err *err)
{
    TARN_AUTO(table) struct tarn_table *table = calloc(1, sizeof *table);

    if (!table)
        return tarn_fail_oom(err);
    table->namespace_ = strdup(ident->namespace_);
    table->name = strdup(ident->name);
    table->monitors = strdup("{}");
    if (!table->namespace_ || !table->name || !table->monitors)
        return tarn_fail_oom(err);
    table->dropped_at = -1;
    table->revision = 1;
    *out = tarn_take(&table);
    return TARN_OK;
}

tarn_code tarn_iceberg_row(struct tarn_table *table, const struct tarn_iceberg_meta *meta, const char *file,
                           struct tarn_err *err)
{
    struct tarn_iceberg_summary summary;
    char snapshot[24], *keys = NULL;

    tarn_iceberg_summarise(meta, &summary);
    table->format = TARN_FORMAT_ICEBERG;
    table->mode = TARN_MANAGED;
    table->schema_version = summary.schema_id;
    table->file_count = summary.files;
    table->total_bytes = summary.bytes;
    tarn_code code = tarn_iceberg_locate(meta->location, &keys, err);
    if (code == TARN_OK)
        code = tarn_text_own(&table->location, keys, err);
    keys = NULL;
    if (code == TARN_OK)
        code = tarn_iceberg_partition_keys(meta, &keys, err);
    if (code == TARN_OK)
        code = tarn_text_own(&table->partition_keys, keys, err);
    if (code == TARN_OK)
        code = tarn_text_own(&table->properties, tarn_json_text(meta->properties), err);
    if (code == TARN_OK)
        code = tarn_text_own(&table->metadata_location, strdup(file), err);
    snprintf(snapshot, sizeof snapshot, "%" PRId64, summary.snapshot_id);
    free(table->latest_transaction);
    table->latest_transaction = NULL;
    if (code == TARN_OK && summary.snapshot_id != TARN_ICEBERG_NONE)
        code = tarn_text_own(&table->latest_transaction, strdup(snapshot), err);
    return code;
}

tarn_code tarn_iceberg_judged(tarn_code code, struct tarn_err *err)
{
    if (code == TARN_INVALID)
        (void)tarn_err_add(err, "exception", json_string("IllegalArgumentException"));
    return code;
}

tarn_code tarn_name_free(struct tarn_tx *tx, const char *namespace_, const char *name, struct tarn_err *err)
{
    TARN_AUTO(table) struct tarn_table *table = NULL;
    char dotted[TARN_DOTTED_MAX];
    bool is_view = false;
    TARN_ERR(fault);
    tarn_code code = tx->ops->tables.get(tx, namespace_, name, &table, &fault);

    tarn_ident_format(namespace_, name, dotted);
    if (code == TARN_OK)
        return tarn_fail_code_field(err, TARN_TABLE_EXISTS, "name", "table '%s' exists", dotted);
    if (code != TARN_TABLE_NOT_FOUND)
        return tarn_err_move(err, &fault);
    code = tx->ops->views.taken(tx, namespace_, name, &is_view, err);
    if (code == TARN_OK && is_view)
        return tarn_fail_code_field(err, TARN_VIEW_EXISTS, "name", "a view has the name '%s'", dotted);
    return code;
}

tarn_code tarn_iceberg_find(struct tarn_tx *tx, const struct tarn_ident *ident, struct tarn_table **out,
                            struct tarn_err *err)
{
    TARN_AUTO(table) struct tarn_table *table = NULL;
    char dotted[TARN_DOTTED_MAX];
    TARN_ERR(fault);
    tarn_code code = tx->ops->tables.get(tx, ident->namespace_, ident->name, &table, &fault);

    tarn_ident_format(ident->namespace_, ident->name, dotted);
    if (code == TARN_TABLE_NOT_FOUND)
        return tarn_fail(err, code, "Table does not exist: %s", dotted);
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    if (table->format != TARN_FORMAT_ICEBERG || table->mode != TARN_MANAGED)
        return tarn_fail(err, TARN_TABLE_NOT_FOUND, "Table does not exist: %s (it is no Iceberg table)", dotted);
    *out = tarn_take(&table);
    return TARN_OK;
}
