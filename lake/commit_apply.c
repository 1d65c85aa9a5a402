/* commit_apply.c - what one commit writes, on the writer's thread: its files, unless they are in
 * place, the commit itself, and last the compare-and-swap of the table. A refusal undoes it all. */
#include "base/time.h"
#include "lake/commit.h"
#include "lake/event.h"
#include <string.h>

/* Writes the files, or takes over those that are in place. */
static tarn_code place_files(struct tarn_tx *tx, struct tarn_commit_use *use, const struct tarn_table *table,
                             struct tarn_commit_row *row, struct tarn_err *err)
{
    if (use->lease.held) {
        row->files_added = use->lease.files_added;
        row->files_removed = use->lease.files_removed;
        row->bytes_added = use->lease.bytes_added;
        row->bytes_removed = use->lease.bytes_removed;
        return tx->ops->tables.stage(tx, table->id, 0, err);
    }
    tarn_code code = tarn_commit_files(tx, use, table, false, 0, use->op_count, row, err);
    return code == TARN_OK ? tarn_commit_files(tx, use, table, true, 0, use->op_count, row, err) : code;
}

tarn_code tarn_commit_apply(struct tarn_tx *tx, struct tarn_commit_use *use, const struct tarn_table *table,
                            struct tarn_err *err)
{
    int64_t now = use->now_ms ? use->now_ms : tarn_now_ms();
    struct tarn_commit_row row = { .version = table->version + 1,
                                   .transaction = use->transaction,
                                   .committed_at = now > table->committed_at ? now : table->committed_at,
                                   .schema_version = table->schema_version,
                                   .metadata = use->metadata,
                                   .data_change = use->data_change,
                                   .batch_ids = use->batch_ids };
    tarn_code code = place_files(tx, use, table, &row, err);

    if (code != TARN_OK)
        return code;
    row.file_count = table->file_count + row.files_added - row.files_removed;
    if (__builtin_add_overflow(table->total_bytes - row.bytes_removed, row.bytes_added, &row.total_bytes))
        return tarn_fail_field(err, "operations", "the table's size would be out of range");
    memcpy(row.body_hash, use->body_hash, sizeof row.body_hash);
    snprintf(row.group, sizeof row.group, "%s", use->group ? use->group : "");
    code = tarn_commit_insert(tx, use, table, &row, err);
    if (code == TARN_OK)
        code = tx->ops->tables.commit(tx, table->id, table->version, &row, err);
    if (code == TARN_OK)
        code = tarn_commit_apply_batches(tx, use, table, &row, err);
    if (code == TARN_OK)
        code = tarn_commit_keep_key(tx, use, table, row.version, now, err);
    if (code == TARN_OK)
        code = tarn_event_committed(tx, table, &row, err);
    if (code == TARN_OK)
        use->row = row;
    return code;
}
