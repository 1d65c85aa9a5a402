/* snapshot.c - see snapshot.h. */
#include "api/native/snapshot.h"
#include "base/time.h"

static tarn_code read_instant(const char *text, struct tarn_snapshot_ask *out, struct tarn_err *err)
{
    TARN_ERR(bad);

    if (tarn_time_parse(text, &out->as_of, NULL, &bad) != TARN_OK)
        return tarn_fail_field(err, "as_of",
                               "must be an instant such as 2024-02-01T14:30:00Z (a plus is %%2B)");
    return TARN_OK;
}

tarn_code tarn_native_snapshot_ask(const struct tarn_request *req, struct tarn_snapshot_ask *out,
                                   struct tarn_err *err)
{
    const char *version = tarn_query(req, "version"), *transaction = tarn_query(req, "transaction");
    const char *as_of = tarn_query(req, "as_of");
    struct tarn_snapshot_ask ask = { .by = TARN_ASK_NEWEST };
    tarn_code code = TARN_OK;

    if ((version != NULL) + (transaction != NULL) + (as_of != NULL) > 1)
        return tarn_fail_field(err, as_of ? "as_of" : "transaction",
                               "one of version, transaction and as_of says which snapshot");
    if (version) {
        ask.by = TARN_ASK_VERSION;
        code = tarn_query_i64(req, "version", 0, INT64_MAX - 1, &ask.version, err);
    } else if (transaction) {
        ask.by = TARN_ASK_TRANSACTION;
        ask.transaction = transaction;
        code = tarn_txn_id_check(transaction, "transaction", err);
    } else if (as_of) {
        ask.by = TARN_ASK_AS_OF;
        code = read_instant(as_of, &ask, err);
    }
    if (code == TARN_OK)
        *out = ask;
    return code;
}

struct find_ctx {
    const struct tarn_table *table;
    const struct tarn_snapshot_ask *ask;
    struct tarn_snapshot *out;
    struct tarn_snapshot_cursor *cursor;
};

static tarn_code find_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct find_ctx *c = ctx;
    tarn_code code = tarn_snapshot_find(tx, c->table, c->ask, c->out, err);

    if (code != TARN_OK || !c->cursor)
        return code;
    return tarn_snapshot_begin(tx, c->table->id, c->out->version, c->cursor, err);
}

tarn_code tarn_native_snapshot_find(const struct tarn_request *req, const struct tarn_table *table,
                                    const struct tarn_snapshot_ask *ask, struct tarn_snapshot *out,
                                    struct tarn_snapshot_cursor *cursor, struct tarn_err *err)
{
    struct find_ctx c = { table, ask, out, cursor };

    return tarn_store_read(req->app->lake->store, find_tx, &c, err);
}
