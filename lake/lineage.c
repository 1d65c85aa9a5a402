/* lineage.c - see lineage.h. From the present back: what lies between a rollback and the version that it restored is
 * left out, the rest counts. Rollbacks are few, and only a replay asks. */
#include "lake/lineage.h"

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

tarn_code tarn_lineage_each(struct tarn_tx *tx, int64_t table_id, int64_t at, tarn_lineage_fn *fn, void *ctx,
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
