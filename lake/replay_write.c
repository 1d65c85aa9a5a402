/* replay_write.c - what is held goes into the store: commits with their
 * operations, and what was read of a version that is not whole yet, by one
 * transaction. It may run twice, so that it changes nothing but what it writes. */
#include "lake/batch.h"
#include "lake/event.h"
#include "lake/lease.h"
#include "lake/replay.h"
#include "lake/rollback.h"
#include <string.h>

/* --- inside the transaction --- */

/* Where the table has come to. */
struct state {
    int64_t version, committed_at, file_count, total_bytes;
};

struct write {
    struct tarn_replay *replay;
    const struct tarn_held_part *part;
    struct state state;   /* out */
    struct tarn_commit_row written; /* out: of the open version */
    int64_t left_version; /* out: a rollback whose batches are not all marked, 0: none */
    int64_t left_to, left_at;
};

static tarn_code write_op(struct tarn_tx *tx, const struct tarn_replay *r, const struct tarn_held_op *op,
                          int64_t version, struct tarn_commit_row *counts, struct tarn_err *err)
{
    int64_t size = op->file.size;
    TARN_ERR(fault);
    tarn_code code = op->is_add ? tx->ops->files.add(tx, r->table->id, version, &op->file, &fault)
                                : tx->ops->files.remove(tx, r->table->id, version, op->path, &size, &fault);

    if (code == TARN_FILE_CONFLICT && op->is_lax)
        return TARN_OK;
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    int64_t *bytes = op->is_add ? &counts->bytes_added : &counts->bytes_removed;
    *(op->is_add ? &counts->files_added : &counts->files_removed) += 1;
    if (__builtin_add_overflow(*bytes, size, bytes))
        return tarn_fail(err, TARN_FILE_CONFLICT, "the sizes of the files have no sum");
    return TARN_OK;
}

static tarn_code write_ops(struct tarn_tx *tx, const struct tarn_replay *r, size_t from, size_t count,
                           int64_t version, struct tarn_commit_row *counts, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    for (size_t i = from; i < from + count && code == TARN_OK; i++)
        code = write_op(tx, r, &r->held->ops[i], version, counts, err);
    return code;
}

static tarn_code write_batches(struct tarn_tx *tx, const struct tarn_replay *r,
                               const struct tarn_held_commit *commit, const struct tarn_commit_row *row,
                               int64_t before, struct tarn_err *err)
{
    const struct tarn_batch_told told = { .status = TARN_BATCH_IS_COMPLETED,
                                          .start_time = -1,
                                          .end_time = -1,
                                          .num_records = -1,
                                          .size = -1,
                                          .version = row->version,
                                          .is_retaken = true };
    struct tarn_table table = *r->table; /* borrows */
    const json_t *id;
    size_t i;
    tarn_code code = TARN_OK;

    table.version = before;
    json_array_foreach (commit->batches, i, id)
        if (code == TARN_OK && tarn_batch_id_check(json_string_value(id), "batch_ids", NULL) == TARN_OK)
            code = tarn_batch_tell(tx, &table, json_string_value(id), &told, row->committed_at, NULL, err);
    return code;
}

static tarn_code write_rollback(struct tarn_tx *tx, struct write *w, const struct tarn_commit_row *row,
                                struct tarn_err *err)
{
    int64_t table_id = w->replay->table->id;
    bool left = false;

    if (!row->is_rollback)
        return TARN_OK;
    tarn_code code = tx->ops->commits.insert_rollback(tx, table_id, row->version, row->rollback_to, err);
    if (code == TARN_OK)
        code = tarn_rollback_batches(tx, table_id, row->version, row->rollback_to, row->committed_at, &left,
                                     err);
    if (left) {
        w->left_version = row->version;
        w->left_to = row->rollback_to;
        w->left_at = row->committed_at;
    }
    return code;
}

/* The table's own row, where it has one. */
static tarn_code move_table(struct tarn_tx *tx, const struct tarn_replay *r, const struct state *before,
                            const struct tarn_commit_row *row, struct tarn_err *err)
{
    TARN_AUTO(table) struct tarn_table *table = NULL;

    if (r->is_new)
        return TARN_OK;
    if (row->version == before->version + 1)
        return tx->ops->tables.commit(tx, r->table->id, before->version, row, err);
    tarn_code code = tx->ops->tables.get_by_id(tx, r->table->id, &table, err);
    if (code != TARN_OK)
        return code;
    free(table->latest_transaction);
    table->latest_transaction = strdup(row->transaction);
    if (!table->latest_transaction)
        return tarn_fail_oom(err);
    table->version = row->version;
    table->committed_at = row->committed_at;
    table->file_count = row->file_count;
    table->total_bytes = row->total_bytes;
    return tx->ops->tables.update(tx, table, err);
}

static tarn_code move_state(struct state *state, struct tarn_commit_row *row, struct tarn_err *err)
{
    if (row->committed_at < state->committed_at)
        row->committed_at = state->committed_at;
    row->file_count = state->file_count + row->files_added - row->files_removed;
    if (__builtin_add_overflow(state->total_bytes - row->bytes_removed, row->bytes_added, &row->total_bytes))
        return tarn_fail(err, TARN_FILE_CONFLICT, "the table's size would be out of range");
    *state = (struct state){ row->version, row->committed_at, row->file_count, row->total_bytes };
    return TARN_OK;
}

static tarn_code write_commit(struct tarn_tx *tx, struct write *w, const struct tarn_held_commit *commit,
                              size_t op, struct tarn_err *err)
{
    struct tarn_replay *r = w->replay;
    struct tarn_commit_row row = commit->row; /* borrows */
    const struct state before = w->state;
    tarn_code code = write_ops(tx, r, op, commit->ops, row.version, &row, err);

    if (code == TARN_OK)
        code = move_state(&w->state, &row, err);
    if (code == TARN_OK && r->staged)
        code = tx->ops->tables.stage(tx, r->table->id, 0, err);
    if (code != TARN_OK || commit->no_row)
        return code;
    code = tx->ops->commits.insert(tx, r->table->id, &row, err);
    if (code == TARN_OK)
        code = move_table(tx, r, &before, &row, err);
    if (code == TARN_OK)
        code = write_batches(tx, r, commit, &row, before.version, err);
    if (code == TARN_OK)
        code = write_rollback(tx, w, &row, err);
    return code == TARN_OK && !r->is_new ? tarn_event_committed(tx, r->table, &row, err) : code;
}

/* The rows of a version that is not whole yet. */
static tarn_code write_open(struct tarn_tx *tx, struct write *w, size_t op, struct tarn_err *err)
{
    struct tarn_replay *r = w->replay;
    tarn_code code = TARN_OK;

    w->written = r->held->written;
    if (!r->is_new && !r->staged)
        code = tx->ops->tables.stage(tx, r->table->id, r->held->open_version, err);
    return code == TARN_OK ? write_ops(tx, r, op, r->held->open_ops, r->held->open_version, &w->written, err)
                           : code;
}

static tarn_code write_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct write *w = ctx;
    const struct tarn_table *t = w->replay->table;
    const struct tarn_held *held = w->replay->held;
    size_t op = w->part->op;
    tarn_code code = TARN_OK;

    w->state = (struct state){ t->version, t->committed_at, t->file_count, t->total_bytes };
    w->left_version = 0;
    for (size_t i = w->part->from; i < w->part->to && code == TARN_OK; i++) {
        code = write_commit(tx, w, &held->commits[i], op, err);
        op += held->commits[i].ops;
    }
    return code == TARN_OK && w->part->open ? write_open(tx, w, op, err) : code;
}

/* --- around it --- */

static tarn_code left_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct write *w = ctx;
    bool left = false;
    tarn_code code =
        tarn_rollback_batches(tx, w->replay->table->id, w->left_version, w->left_to, w->left_at, &left, err);

    if (code == TARN_OK && !left)
        w->left_version = 0;
    return code;
}

static tarn_code take_latest(struct tarn_replay *r, const struct write *w, struct tarn_err *err)
{
    const struct tarn_held_commit *last =
        w->part->to > w->part->from ? &r->held->commits[w->part->to - 1] : NULL;
    char *latest = last && last->row.transaction ? strdup(last->row.transaction) : NULL;

    if (last && last->row.transaction && !latest)
        return tarn_fail_oom(err);
    if (latest) {
        free(r->table->latest_transaction);
        r->table->latest_transaction = latest;
    }
    r->table->version = w->state.version;
    r->table->committed_at = w->state.committed_at;
    r->table->file_count = w->state.file_count;
    r->table->total_bytes = w->state.total_bytes;
    return TARN_OK;
}

tarn_code tarn_held_write(struct tarn_replay *r, const struct tarn_held_part *part, struct tarn_err *err)
{
    struct write w = { .replay = r, .part = part };
    bool was_staged = r->staged;
    tarn_code code = tarn_lake_goes_on(r->lake, err);

    if (code == TARN_OK)
        code = tarn_store_write(r->lake->store, write_tx, &w, err);
    while (code == TARN_OK && w.left_version > 0)
        code = tarn_store_write(r->lake->store, left_tx, &w, err);
    if (code == TARN_OK)
        code = take_latest(r, &w, err);
    if (code != TARN_OK)
        return code;
    r->made += (int64_t)(part->to - part->from);
    if (part->open)
        r->held->written = w.written;
    r->staged = part->open ? !r->is_new : was_staged && part->to == part->from;
    return TARN_OK;
}
