/* batch.c - how the checkpoint of a batch changes: a row a status, what it was against what is told. */
#include "lake/batch.h"
#include "base/json.h"
#include "base/text.h"
#include "base/time.h"
#include "lake/event.h"
#include "lake/lineage.h"
#include "lake/publish.h"
#include <string.h>

#define STAGED_SUFFIX ".parquet"

tarn_code tarn_batch_completed(const struct tarn_batch *batch, struct tarn_err *err)
{
    tarn_fail_code_field(err, TARN_BATCH_COMPLETED, "batch_id", "the batch '%s' is completed%s",
                         batch->batch_id, batch->version < 0 ? " without a commit" : "");
    (void)tarn_err_add(err, "batch_id", json_string(batch->batch_id));
    (void)tarn_err_add(err, "version", batch->version < 0 ? json_null() : json_integer(batch->version));
    (void)tarn_err_add(err, "transaction", tarn_json_str_or_null(batch->transaction));
    return tarn_err_add(err, "committed_at", tarn_json_time(batch->committed_at));
}

/* --- may it? --- */

static tarn_code judge_old(const struct tarn_batch *old, const struct tarn_batch_told *told,
                           struct tarn_err *err)
{
    if (old->status == TARN_BATCH_IS_COMPLETED && told->status != TARN_BATCH_IS_COMPLETED)
        return tarn_batch_completed(old, err);
    if (old->size < 0 || told->size < 0 || old->size == told->size)
        return TARN_OK;
    tarn_fail_code_field(err, TARN_BATCH_MISMATCH, "size",
                         "the batch '%s' is known with %lld bytes, not %lld", old->batch_id,
                         (long long)old->size, (long long)told->size);
    return tarn_err_add(err, "size", json_integer(old->size));
}

/* "a" and "a.parquet" would share one document. */
static tarn_code judge_new(struct tarn_tx *tx, int64_t table_id, const char *batch_id, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_batch_done))) struct tarn_batch twin = { 0 };
    char id[TARN_BATCH_ID_MAX + sizeof STAGED_SUFFIX];
    size_t len = strlen(batch_id);
    TARN_ERR(fault);

    snprintf(id, sizeof id, "%s" STAGED_SUFFIX, batch_id);
    if (tarn_ends_with(batch_id, STAGED_SUFFIX))
        id[len - strlen(STAGED_SUFFIX)] = '\0';
    tarn_code code = tx->ops->batches.get(tx, table_id, id, &twin, &fault);
    if (code == TARN_NOT_FOUND)
        return TARN_OK;
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    return tarn_fail_code_field(err, TARN_BATCH_MISMATCH, "batch_id",
                                "the batch '%s' has the same document under processed/", id);
}

/* --- what it becomes --- */

static int64_t either(int64_t told, int64_t old) { return told >= 0 ? told : old; }

static bool is_over(enum tarn_batch_status status)
{
    return status == TARN_BATCH_IS_COMPLETED || status == TARN_BATCH_IS_FAILED;
}

/* Of an earlier attempt that came to nothing only what the staged file is stays true. */
static bool begins_again(const struct tarn_batch *old, const struct tarn_batch_told *told)
{
    if (old->status == TARN_BATCH_IS_ROLLED_BACK)
        return true;
    return old->status == TARN_BATCH_IS_FAILED && told->status == TARN_BATCH_IS_RUNNING;
}

static struct tarn_batch merged(const struct tarn_batch *old, const struct tarn_batch_told *told,
                                int64_t now_ms)
{
    struct tarn_batch row = *old;

    if (begins_again(old, told))
        row.start_time = row.end_time = row.version = -1;
    row.status = told->status;
    row.start_time = either(told->start_time, either(row.start_time, now_ms));
    row.end_time = told->end_time;
    if (row.end_time < 0 && is_over(told->status))
        row.end_time = old->status == told->status ? either(old->end_time, now_ms) : now_ms;
    row.num_records = either(told->num_records, row.num_records);
    row.size = either(told->size, row.size);
    row.version = either(told->version, row.version);
    row.shown_from = row.version >= 0 ? row.version : 0;
    return row;
}

static bool is_same(const struct tarn_batch *a, const struct tarn_batch *b)
{
    return a->status == b->status && a->start_time == b->start_time && a->end_time == b->end_time &&
           a->num_records == b->num_records && a->size == b->size && a->version == b->version;
}

static json_t *event_of(const struct tarn_batch *row)
{
    return json_pack("{s:s, s:s, s:o}", "batch_id", row->batch_id, "status",
                     tarn_batch_status_text(row->status), "version",
                     row->version < 0 ? json_null() : json_integer(row->version));
}

static tarn_code write_batch(struct tarn_tx *tx, const struct tarn_table *table, const struct tarn_batch *old,
                             bool is_new, const struct tarn_batch_told *told, int64_t now_ms,
                             struct tarn_err *err)
{
    struct tarn_batch row = merged(old, told, now_ms);
    tarn_code code = TARN_OK;

    if (!told->is_retaken)
        code = is_new ? judge_new(tx, table->id, old->batch_id, err) : judge_old(old, told, err);

    if (code != TARN_OK || (!is_new && is_same(old, &row)))
        return code;
    row.updated_at = now_ms;
    code = tx->ops->batches.put(tx, table->id, &row, err);
    if (told->is_retaken)
        return code;
    return code == TARN_OK ? tarn_event_add(tx, TARN_EVENT_BATCH_UPDATED, table, now_ms, event_of(&row), err)
                           : code;
}

/* The version among those that ever applied the batch which counts now; -1: none does. */
static tarn_code find_counting(struct tarn_tx *tx, const struct tarn_table *table,
                               const struct tarn_batch *batch, int64_t *counting, struct tarn_err *err)
{
    int64_t version = batch->version, below = INT64_MAX, by = 1;
    tarn_code code = TARN_OK;

    for (*counting = -1; code == TARN_OK; below = version) {
        if (version >= 0)
            code = tarn_undone_by(tx, table->id, table->version, version, &by, err);
        if (code == TARN_OK && version >= 0 && by == 0) {
            *counting = version;
            return TARN_OK;
        }
        if (code == TARN_OK)
            code = tx->ops->batches.past(tx, table->id, batch->batch_id, below, &version, err);
        if (version < 0)
            break;
    }
    return code;
}

/* It is completed by this version, whatever its row says. */
static tarn_code completed_by(struct tarn_tx *tx, const struct tarn_table *table, int64_t version,
                              struct tarn_batch *batch, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_commit_row_done))) struct tarn_commit_row row = { 0 };
    TARN_ERR(fault);

    batch->status = TARN_BATCH_IS_COMPLETED;
    if (version == batch->version)
        return TARN_OK;
    tarn_code code = tx->ops->commits.get(tx, table->id, version, &row, &fault);
    if (code != TARN_OK && code != TARN_VERSION_NOT_FOUND)
        return tarn_err_move(err, &fault);
    free(batch->transaction);
    batch->transaction = tarn_take(&row.transaction);
    batch->committed_at = batch->transaction ? row.committed_at : -1;
    batch->version = version;
    return TARN_OK;
}

tarn_code tarn_batch_get(struct tarn_tx *tx, const struct tarn_table *table, const char *batch_id,
                         struct tarn_batch *out, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_batch_done))) struct tarn_batch batch = { 0 };
    int64_t counting = -1;
    tarn_code code = tx->ops->batches.get(tx, table->id, batch_id, &batch, err);

    if (code == TARN_OK)
        code = find_counting(tx, table, &batch, &counting, err);
    if (code == TARN_OK && counting >= 0)
        code = completed_by(tx, table, counting, &batch, err);
    if (code != TARN_OK)
        return code;
    if (counting < 0 && batch.version >= 0 && batch.status == TARN_BATCH_IS_COMPLETED)
        batch.status = TARN_BATCH_IS_ROLLED_BACK;
    *out = batch;
    batch = (struct tarn_batch){ 0 };
    return TARN_OK;
}

static tarn_code find(struct tarn_tx *tx, const struct tarn_table *table, const char *batch_id,
                      struct tarn_batch *out, bool *is_new, struct tarn_err *err)
{
    TARN_ERR(fault);
    tarn_code code = tarn_batch_get(tx, table, batch_id, out, &fault);

    *is_new = code == TARN_NOT_FOUND;
    if (code != TARN_NOT_FOUND)
        return code == TARN_OK ? TARN_OK : tarn_err_move(err, &fault);
    *out = (struct tarn_batch){ .status = TARN_BATCH_IS_RUNNING,
                                .start_time = -1,
                                .end_time = -1,
                                .num_records = -1,
                                .size = -1,
                                .version = -1 };
    out->batch_id = strdup(batch_id);
    return out->batch_id ? TARN_OK : tarn_fail_oom(err);
}

tarn_code tarn_batch_tell(struct tarn_tx *tx, const struct tarn_table *table, const char *batch_id,
                          const struct tarn_batch_told *told, int64_t now_ms, struct tarn_batch_written *out,
                          struct tarn_err *err)
{
    __attribute__((cleanup(tarn_batch_done))) struct tarn_batch old = { 0 };
    bool is_new = false;
    tarn_code code = find(tx, table, batch_id, &old, &is_new, err);

    if (code == TARN_OK)
        code = write_batch(tx, table, &old, is_new, told, now_ms, err);
    if (code != TARN_OK || !out)
        return code;
    out->is_new = is_new;
    return tx->ops->batches.get(tx, table->id, batch_id, &out->batch, err);
}

/* --- the use case --- */

static tarn_code change(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_batch_use *use = ctx;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    struct tarn_batch_written written = { 0 };
    int64_t now = use->now_ms ? use->now_ms : tarn_now_ms();

    tarn_batch_done(&use->batch);
    tarn_code code = tx->ops->tables.get(tx, use->ident.namespace_, use->ident.name, &table, err);
    if (code == TARN_OK)
        code = tarn_batch_tell(tx, table, use->batch_id, &use->told, now, &written, err);
    if (code != TARN_OK)
        return code;
    use->batch = written.batch;
    use->is_new = written.is_new;
    use->table_id = table->id;
    use->is_pending = table->publish && table->mode == TARN_MANAGED && table->block == TARN_BLOCK_NONE &&
                      written.batch.published < written.batch.revision;
    return TARN_OK;
}

static bool needs_after(const void *state) { return ((const struct tarn_batch_use *)state)->is_pending; }

/* Nobody waits for a checkpoint's document: the checkpoint is the row. */
static tarn_code after(struct tarn_lake *lake, void *state, struct tarn_err *err)
{
    (void)err;
    if (lake->publisher)
        tarn_publisher_nudge(lake->publisher, ((struct tarn_batch_use *)state)->table_id);
    return TARN_OK;
}

static void done(void *state) { tarn_batch_done(&((struct tarn_batch_use *)state)->batch); }

const struct tarn_use tarn_batch_use = {
    .name = "batch",
    .size = sizeof(struct tarn_batch_use),
    .change = change,
    .needs_after = needs_after,
    .after = after,
    .done = done,
};
