/* iceberg_history.c - see iceberg_history.h. */
#include "lake/iceberg_history.h"
#include <inttypes.h>
#include <stdio.h>

/* Writers leave out a number that is 0 (the reference sets none): what is not told was not added. */
static int64_t summary_number(const json_t *summary, const char *key)
{
    const char *text = json_string_value(json_object_get(summary, key));
    long long value = text ? strtoll(text, NULL, 10) : 0;

    return value < 0 ? 0 : value;
}

/* The id of the snapshot that became current; a commit that made none is known by its version. */
static tarn_code name_transaction(struct tarn_tx *tx, int64_t table_id, int64_t version, int64_t snapshot, char *out,
                                  struct tarn_err *err)
{
    struct tarn_commit_row known = { 0 };
    char id[24];
    TARN_ERR(fault);

    snprintf(out, TARN_TXN_ID_MAX + 1, "metadata-%" PRId64, version);
    if (snapshot == TARN_ICEBERG_NONE)
        return TARN_OK;
    snprintf(id, sizeof id, "%" PRId64, snapshot);
    tarn_code code = tx->ops->commits.by_transaction(tx, table_id, id, &known, &fault);
    tarn_commit_row_done(&known);
    if (code == TARN_TRANSACTION_NOT_FOUND)
        snprintf(out, TARN_TXN_ID_MAX + 1, "%s", id);
    return code == TARN_OK || code == TARN_TRANSACTION_NOT_FOUND ? TARN_OK : tarn_err_move(err, &fault);
}

tarn_code tarn_iceberg_commit_row(struct tarn_tx *tx, const struct tarn_table *table, const struct tarn_iceberg_meta *meta,
                                  int64_t base_snapshot, struct tarn_commit_row *row, struct tarn_err *err)
{
    const struct tarn_iceberg_snapshot *snapshot = tarn_iceberg_snapshot_of(meta, meta->current_snapshot_id);
    bool moved = snapshot && snapshot->id != base_snapshot;
    json_auto_t *tree = moved ? tarn_iceberg_snapshot_tree(snapshot) : NULL;
    const json_t *summary = json_object_get(tree, "summary");

    row->version = table->version;
    row->committed_at = table->committed_at;
    row->schema_version = table->schema_version;
    row->file_count = table->file_count;
    row->total_bytes = table->total_bytes;
    row->data_change = moved && !snapshot->is_replace;
    row->files_added = summary_number(summary, "added-data-files");
    row->files_removed = summary_number(summary, "deleted-data-files");
    row->bytes_added = summary_number(summary, "added-files-size");
    row->bytes_removed = summary_number(summary, "removed-files-size");
    return name_transaction(tx, table->id, table->version, moved ? snapshot->id : TARN_ICEBERG_NONE, row->transaction, err);
}
