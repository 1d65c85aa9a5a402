/* replay_held.c - the buffer between documents and store: operations and
 * commits are copied into it, and written when it is full (replay_write.c). */
#include "base/text.h"
#include "lake/replay.h"
#include <string.h>

enum { ROWS_A_TX = 5000, ROWS_A_COMMIT = 4, ROWS_A_BATCH = 3 };

static void op_done(struct tarn_held_op *op)
{
    free(op->path);
    free(op->values);
    free(op->stats);
}

static void commit_done(struct tarn_held_commit *commit)
{
    tarn_commit_row_done(&commit->row);
    json_decref(commit->batches);
}

static void clear(struct tarn_held *held)
{
    for (size_t i = 0; i < held->op_count; i++)
        op_done(&held->ops[i]);
    for (size_t i = 0; i < held->commit_count; i++)
        commit_done(&held->commits[i]);
    held->op_count = held->commit_count = held->open_ops = 0;
    held->rows = 0;
}

void tarn_held_free(struct tarn_held *held)
{
    if (held)
        clear(held);
    free(held);
}

/* --- writing --- */

static tarn_code misfit(const struct tarn_held_commit *commit, struct tarn_err *fault, struct tarn_err *err)
{
    tarn_fail(err, TARN_STORAGE_AHEAD, "version %lld (%s) does not follow from the one before: %s",
              (long long)commit->row.version, commit->row.transaction, fault->detail);
    return tarn_err_add(err, "path", json_incref(json_object_get(fault->more, "path")));
}

/* One by one, up to the one at fault. */
static tarn_code write_singly(struct tarn_replay *r, struct tarn_err *err)
{
    struct tarn_held_part part = { 0 };
    TARN_ERR(fault);
    tarn_code code = TARN_OK;

    while (code == TARN_OK && part.to < r->held->commit_count) {
        part.from = part.to++;
        code = tarn_held_write(r, &part, &fault);
        if (code == TARN_FILE_CONFLICT)
            return misfit(&r->held->commits[part.from], &fault, err);
        part.op += r->held->commits[part.from].ops;
    }
    return code == TARN_OK ? TARN_OK : tarn_err_move(err, &fault);
}

static tarn_code write_held(struct tarn_replay *r, bool open, struct tarn_err *err)
{
    const struct tarn_held_part part = { .to = r->held->commit_count, .open = open };
    TARN_ERR(fault);
    tarn_code code = tarn_held_write(r, &part, &fault);

    if (code == TARN_FILE_CONFLICT && part.to > 0)
        return write_singly(r, err);
    if (code == TARN_FILE_CONFLICT)
        return tarn_fail(err, TARN_STORAGE_AHEAD, "version %lld does not follow from the one before: %s",
                         (long long)r->held->open_version, fault.detail);
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    clear(r->held);
    return TARN_OK;
}

/* The open operations move to the front. */
static void drop_commits(struct tarn_held *held)
{
    size_t written = held->op_count - held->open_ops;

    for (size_t i = 0; i < written; i++)
        op_done(&held->ops[i]);
    memmove(held->ops, held->ops + written, held->open_ops * sizeof *held->ops);
    for (size_t i = 0; i < held->commit_count; i++)
        commit_done(&held->commits[i]);
    held->op_count = held->open_ops;
    held->commit_count = 0;
    held->rows = (int64_t)held->op_count;
}

/* What is whole, then, when that made no room, a part of the open version. */
static tarn_code make_room(struct tarn_replay *r, struct tarn_err *err)
{
    struct tarn_held *held = r->held;
    size_t open_ops = held->open_ops;
    tarn_code code = TARN_OK;

    if (held->commit_count > 0) {
        held->open_ops = 0;
        const struct tarn_held_part part = { .to = held->commit_count };
        TARN_ERR(fault);
        code = tarn_held_write(r, &part, &fault);
        if (code == TARN_FILE_CONFLICT)
            return write_singly(r, err);
        if (code != TARN_OK)
            return tarn_err_move(err, &fault);
        held->open_ops = open_ops;
        drop_commits(held);
    }
    return code == TARN_OK && held->op_count == TARN_HELD_OPS ? write_held(r, true, err) : code;
}

/* --- filling it --- */

tarn_code tarn_held_add(struct tarn_replay *r, int64_t version, bool is_add, bool is_lax,
                        const struct tarn_file *file, struct tarn_err *err)
{
    struct tarn_held *held = r->held;
    bool failed = false;
    tarn_code code = TARN_OK;

    held->open_version = version;
    if (held->op_count == TARN_HELD_OPS)
        code = make_room(r, err);
    if (code != TARN_OK)
        return code;
    struct tarn_held_op *op = &held->ops[held->op_count++];
    *op = (struct tarn_held_op){ .is_add = is_add, .is_lax = is_lax, .file = *file };
    op->file.path = op->path = tarn_text_copy(file->path, &failed);
    op->file.partition_values = op->values = tarn_text_copy(file->partition_values, &failed);
    op->file.column_stats = op->stats = tarn_text_copy(file->column_stats, &failed);
    held->open_ops++;
    held->rows++;
    return failed ? tarn_fail_oom(err) : TARN_OK;
}

static tarn_code copy_row(const struct tarn_commit_row *row, const struct tarn_commit_row *counts,
                          struct tarn_held_commit *out, struct tarn_err *err)
{
    bool failed = false;

    out->row = *row;
    out->row.transaction = tarn_text_copy(row->transaction, &failed);
    out->row.metadata = tarn_text_copy(row->metadata, &failed);
    out->row.batch_ids = tarn_text_copy(row->batch_ids, &failed);
    out->row.files_added = counts->files_added;
    out->row.files_removed = counts->files_removed;
    out->row.bytes_added = counts->bytes_added;
    out->row.bytes_removed = counts->bytes_removed;
    out->batches = row->batch_ids ? json_loads(row->batch_ids, 0, NULL) : NULL;
    return failed ? tarn_fail_oom(err) : TARN_OK;
}

tarn_code tarn_held_close(struct tarn_replay *r, const struct tarn_commit_row *row, bool no_row,
                          struct tarn_err *err)
{
    struct tarn_held *held = r->held;
    struct tarn_held_commit *commit = &held->commits[held->commit_count++];

    *commit = (struct tarn_held_commit){ .ops = held->open_ops, .no_row = no_row };
    tarn_code code = copy_row(row, &held->written, commit, err);
    held->open_ops = 0;
    held->written = (struct tarn_commit_row){ 0 };
    held->rows += ROWS_A_COMMIT + ROWS_A_BATCH * (int64_t)json_array_size(commit->batches);
    if (code == TARN_OK && (r->staged || held->commit_count == TARN_HELD_COMMITS || held->rows >= ROWS_A_TX))
        code = tarn_held_flush(r, err);
    return code;
}

tarn_code tarn_held_flush(struct tarn_replay *r, struct tarn_err *err)
{
    return r->held->commit_count > 0 ? write_held(r, false, err) : TARN_OK;
}
