/* lineage.c - see lineage.h. From the present back: what lies between a rollback and the version
 * that it restored is left out, the rest counts. Rollbacks are few, and only a replay asks. */
#include "lake/lineage.h"
#include <stdlib.h>

tarn_code tarn_undone_by(struct tarn_tx *tx, int64_t table_id, int64_t at, int64_t version, int64_t *by,
                         struct tarn_err *err)
{
    int64_t rollback = 0, restored = 0;

    *by = 0;
    for (;;) {
        tarn_code code = tx->ops->commits.rollback_at(tx, table_id, at, &rollback, &restored, err);
        if (code != TARN_OK || rollback <= version)
            return code; /* no rollback between: it counts; a rollback itself counts too */
        if (version > restored) {
            *by = rollback;
            return TARN_OK;
        }
        at = restored;
    }
}

/* The versions that count as the table stands at `at`, newest first. */
static tarn_code each_run(struct tarn_tx *tx, int64_t table_id, int64_t at, tarn_lineage_fn *fn, void *ctx,
                          struct tarn_err *err)
{
    int64_t rollback = 0, restored = 0;

    for (;;) {
        tarn_code code = tx->ops->commits.rollback_at(tx, table_id, at, &rollback, &restored, err);
        if (code == TARN_OK)
            code = fn(ctx, rollback > 0 ? rollback - 1 : 0, at, err);
        if (code != TARN_OK || rollback == 0)
            return code;
        at = restored;
    }
}

/* --- the difference of two --- */

struct run {
    int64_t from, to;
};
struct runs {
    struct run *items; /* owned */
    size_t count, cap;
};

static void runs_done(struct runs *runs) { free(runs->items); }

static tarn_code keep_run(void *ctx, int64_t from, int64_t to, struct tarn_err *err)
{
    struct runs *runs = ctx;

    if (runs->count == runs->cap) {
        size_t cap = runs->cap ? 2 * runs->cap : 16;
        struct run *more = realloc(runs->items, cap * sizeof *more);
        if (!more)
            return tarn_fail_oom(err);
        runs->items = more;
        runs->cap = cap;
    }
    runs->items[runs->count++] = (struct run){ from, to };
    return TARN_OK;
}

/* What of `run` is in none of `others` (newest first). */
static tarn_code tell_rest(struct run run, const struct runs *others, tarn_lineage_fn *fn, void *ctx,
                           struct tarn_err *err)
{
    for (size_t i = 0; i < others->count && run.to > run.from; i++) {
        const struct run *other = &others->items[i];
        if (other->from >= run.to)
            continue;
        int64_t from = other->to > run.from ? other->to : run.from;
        tarn_code code = from < run.to ? fn(ctx, from, run.to, err) : TARN_OK;
        if (code != TARN_OK)
            return code;
        run.to = other->from > run.from ? other->from : run.from;
    }
    return run.to > run.from ? fn(ctx, run.from, run.to, err) : TARN_OK;
}

tarn_code tarn_lineage_only(struct tarn_tx *tx, int64_t table_id, int64_t at, int64_t other,
                            tarn_lineage_fn *fn, void *ctx, struct tarn_err *err)
{
    __attribute__((cleanup(runs_done))) struct runs ours = { 0 }, theirs = { 0 };
    tarn_code code = each_run(tx, table_id, at, keep_run, &ours, err);

    if (code == TARN_OK)
        code = each_run(tx, table_id, other, keep_run, &theirs, err);
    for (size_t i = 0; code == TARN_OK && i < ours.count; i++)
        code = tell_rest(ours.items[i], &theirs, fn, ctx, err);
    return code;
}

tarn_code tarn_undone_check(struct tarn_tx *tx, const struct tarn_table *table, int64_t version,
                            struct tarn_err *err)
{
    __attribute__((cleanup(tarn_commit_row_done))) struct tarn_commit_row row = { 0 };
    int64_t by = 0;
    TARN_ERR(none);
    tarn_code code = tarn_undone_by(tx, table->id, table->version, version, &by, err);

    if (code != TARN_OK || by == 0)
        return code;
    code = tx->ops->commits.get(tx, table->id, by, &row, &none);
    if (code != TARN_OK && code != TARN_VERSION_NOT_FOUND)
        return tarn_err_move(err, &none);
    tarn_fail_code_field(err, TARN_TRANSACTION_ROLLED_BACK, "transaction_id",
                         "version %lld, which the transaction made, was rolled back by version %lld",
                         (long long)version, (long long)by);
    return tarn_err_add(err, "rolled_back_by", row.transaction ? json_string(row.transaction) : json_null());
}
