/* commit_batches.c - a commit that applies staged batches completes them in its own transaction, so that a
 * batch is applied exactly once whatever crashes when: a second commit of it is the first one again or a
 * refusal. */
#include "base/json.h"
#include "lake/batch.h"
#include "lake/commit.h"
#include <stdio.h>
#include <string.h>

/* --- the request --- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static tarn_code check_twice(const struct tarn_commit_use *use, struct tarn_err *err)
{
    TARN_AUTO(mem) const char **sorted = calloc(use->batch_count, sizeof *sorted);

    if (!sorted)
        return tarn_fail_oom(err);
    memcpy(sorted, use->batches, use->batch_count * sizeof *sorted);
    qsort(sorted, use->batch_count, sizeof *sorted, by_text);
    for (size_t i = 1; i < use->batch_count; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            return tarn_fail_field(err, "batch_ids", "'%s' is named twice", sorted[i]);
    return TARN_OK;
}

static tarn_code read_list(const json_t *list, struct tarn_commit_use *use, struct tarn_err *err)
{
    size_t i;
    json_t *id;

    use->lists_batches = true;
    use->batches = calloc(json_array_size(list), sizeof *use->batches);
    if (!use->batches)
        return tarn_fail_oom(err);
    json_array_foreach (list, i, id) {
        tarn_code code = json_is_string(id) ? tarn_batch_id_check(json_string_value(id), "", err)
                                            : tarn_fail_field(err, "", "must be a string");
        if (code != TARN_OK)
            return tarn_err_prefix(err, "batch_ids[%zu]", i);
        use->batches[use->batch_count++] = json_string_value(id);
    }
    use->batch_ids = tarn_json_text(list);
    return use->batch_ids ? check_twice(use, err) : tarn_fail_oom(err);
}

static tarn_code read_one(const char *id, struct tarn_commit_use *use, struct tarn_err *err)
{
    json_auto_t *list = json_pack("[s]", id);

    use->batches = calloc(1, sizeof *use->batches);
    use->batch_ids = list ? tarn_json_text(list) : NULL;
    if (!use->batches || !use->batch_ids)
        return tarn_fail_oom(err);
    use->batches[use->batch_count++] = id;
    return TARN_OK;
}

tarn_code tarn_commit_read_batches(const char *one, const json_t *list, struct tarn_commit_use *use,
                                   struct tarn_err *err)
{
    if (one && list)
        return tarn_fail_field(err, "batch_id", "cannot stand beside batch_ids");
    if (list)
        return read_list(list, use, err);
    if (!one)
        return TARN_OK;
    tarn_code code = tarn_batch_id_check(one, "batch_id", err);
    if (code != TARN_OK)
        return code;
    return read_one(one, use, err);
}

/* The fault of batch i stands at the body's own member. */
static tarn_code at_member(const struct tarn_commit_use *use, size_t i, tarn_code code, struct tarn_err *err)
{
    if (err && use->lists_batches && strcmp(err->field, "batch_id") == 0)
        snprintf(err->field, sizeof err->field, "batch_ids[%zu]", i);
    return code;
}

/* --- is it the same commit again? --- */

/* The ids among the commit's that are completed: what a worker may drop. */
static json_t *completed_of(struct tarn_tx *tx, const struct tarn_commit_use *use,
                            const struct tarn_table *table)
{
    json_t *ids = json_array();

    for (size_t i = 0; i < use->batch_count; i++) {
        __attribute__((cleanup(tarn_batch_done))) struct tarn_batch batch = { 0 };
        TARN_ERR(ignored);
        if (tarn_batch_get(tx, table, use->batches[i], &batch, &ignored) == TARN_OK &&
            batch.status == TARN_BATCH_IS_COMPLETED)
            (void)json_array_append_new(ids, json_string(use->batches[i]));
    }
    return ids;
}

/* *row gets the commit that applied the batch; its transaction stays NULL when there is none, or none any
 * more. */
static tarn_code applied_by(struct tarn_tx *tx, int64_t table_id, const struct tarn_batch *batch,
                            struct tarn_commit_row *row, struct tarn_err *err)
{
    TARN_ERR(fault);

    if (batch->version < 0)
        return TARN_OK;
    tarn_code code = tx->ops->commits.get(tx, table_id, batch->version, row, &fault);
    return code == TARN_OK || code == TARN_VERSION_NOT_FOUND ? TARN_OK : tarn_err_move(err, &fault);
}

static tarn_code judge_completed(struct tarn_tx *tx, struct tarn_commit_use *use,
                                 const struct tarn_table *table, const struct tarn_batch *batch,
                                 struct tarn_err *err)
{
    __attribute__((cleanup(tarn_commit_row_done))) struct tarn_commit_row row = { 0 };
    tarn_code code = applied_by(tx, table->id, batch, &row, err);

    if (code != TARN_OK)
        return code;
    if (row.transaction && strcmp(row.body_hash, use->body_hash) == 0)
        return tarn_commit_answer_again(tx, use, table, &row, err);
    (void)tarn_batch_completed(batch, err);
    return tarn_err_add(err, "completed", completed_of(tx, use, table));
}

tarn_code tarn_commit_replay_batches(struct tarn_tx *tx, struct tarn_commit_use *use,
                                     const struct tarn_table *table, struct tarn_err *err)
{
    for (size_t i = 0; i < use->batch_count && !use->replayed; i++) {
        __attribute__((cleanup(tarn_batch_done))) struct tarn_batch batch = { 0 };
        TARN_ERR(fault);
        tarn_code code = tarn_batch_get(tx, table, use->batches[i], &batch, &fault);
        if (code == TARN_NOT_FOUND)
            continue;
        if (code != TARN_OK)
            return tarn_err_move(err, &fault);
        if (batch.status == TARN_BATCH_IS_COMPLETED)
            code = judge_completed(tx, use, table, &batch, err);
        if (code != TARN_OK)
            return at_member(use, i, code, err);
    }
    return TARN_OK;
}

/* --- the rows --- */

tarn_code tarn_commit_apply_batches(struct tarn_tx *tx, const struct tarn_commit_use *use,
                                    const struct tarn_table *table, const struct tarn_commit_row *row,
                                    struct tarn_err *err)
{
    const struct tarn_batch_told told = { .status = TARN_BATCH_IS_COMPLETED,
                                          .start_time = -1,
                                          .end_time = -1,
                                          .num_records = -1,
                                          .size = -1,
                                          .version = row->version };

    for (size_t i = 0; i < use->batch_count; i++) {
        tarn_code code = tarn_batch_tell(tx, table, use->batches[i], &told, row->committed_at, NULL, err);
        if (code != TARN_OK)
            return at_member(use, i, code, err);
    }
    return TARN_OK;
}
