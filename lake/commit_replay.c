/* commit_replay.c - a client that lost the answer asks again: the same
 * transaction id, batch or Idempotency-Key with the same body gets the first
 * answer, with another body a refusal. Judged before anything else. */
#include "lake/commit.h"
#include "lake/lineage.h"
#include <string.h>

static tarn_code refuse(const struct tarn_commit_row *row, const char *field, const char *what,
                        struct tarn_err *err)
{
    tarn_fail_code_field(err, TARN_TRANSACTION_EXISTS, field,
                         "%s was used for version %lld with another body", what, (long long)row->version);
    (void)tarn_err_add(err, "transaction", json_string(row->transaction));
    return tarn_err_add(err, "version", json_integer(row->version));
}

tarn_code tarn_commit_answer_again(struct tarn_tx *tx, struct tarn_commit_use *use,
                                   const struct tarn_table *table, const struct tarn_commit_row *row,
                                   struct tarn_err *err)
{
    tarn_code code = tarn_undone_check(tx, table, row->version, err);

    if (code != TARN_OK)
        return code;
    snprintf(use->transaction, sizeof use->transaction, "%s", row->transaction);
    use->row = *row;
    use->row.transaction = use->transaction;
    use->row.metadata = NULL;
    use->row.batch_ids = NULL;
    use->table_id = table->id;
    use->replayed = true;
    use->publishes = false;
    use->published = table->published_version >= row->version;
    return TARN_OK;
}

static struct tarn_key key_of(const struct tarn_commit_use *use, const struct tarn_table *table)
{
    return (struct tarn_key){ .principal = use->principal,
                              .method = use->method,
                              .path = use->path,
                              .table_uuid = table->uuid,
                              .key = use->key };
}

static const char *hash_of(const struct tarn_commit_use *use)
{
    return use->key_hash ? use->key_hash : use->body_hash;
}

tarn_code tarn_commit_keep_key(struct tarn_tx *tx, const struct tarn_commit_use *use,
                               const struct tarn_table *table, int64_t version, int64_t now_ms,
                               struct tarn_err *err)
{
    const struct tarn_key key = key_of(use, table);

    return use->key ? tx->ops->commits.key_put(tx, &key, version, hash_of(use), now_ms, err) : TARN_OK;
}

static tarn_code by_key(struct tarn_tx *tx, struct tarn_commit_use *use, const struct tarn_table *table,
                        struct tarn_err *err)
{
    __attribute__((cleanup(tarn_commit_row_done))) struct tarn_commit_row row = { 0 };
    char hash[TARN_SHA256_HEX];
    const struct tarn_key key = key_of(use, table);
    int64_t version = 0;
    TARN_ERR(unknown);
    tarn_code code = tx->ops->commits.key_get(tx, &key, &version, hash, &unknown);

    if (code == TARN_NOT_FOUND)
        return TARN_OK;
    if (code != TARN_OK)
        return tarn_err_move(err, &unknown);
    code = tx->ops->commits.get(tx, table->id, version, &row, err);
    if (code != TARN_OK)
        return code;
    if (strcmp(hash, hash_of(use)) != 0)
        return refuse(&row, "Idempotency-Key", "the key", err);
    return tarn_commit_answer_again(tx, use, table, &row, err);
}

/* No commit, and yet an entry of that id lies on storage: it could never be published. */
static tarn_code by_taken(struct tarn_tx *tx, const struct tarn_commit_use *use,
                          const struct tarn_table *table, struct tarn_err *err)
{
    bool taken = false;
    tarn_code code = tx->ops->commits.id_taken(tx, table->id, use->transaction, &taken, err);

    if (code != TARN_OK || !taken)
        return code;
    tarn_fail_code_field(err, TARN_TRANSACTION_EXISTS, "transaction_id",
                         "a log entry of that id, which is no commit of this table, lies on storage: take another id");
    return tarn_err_add(err, "transaction", json_string(use->transaction));
}

static tarn_code by_adopted(struct tarn_tx *tx, struct tarn_commit_use *use, const struct tarn_table *table,
                            struct tarn_err *err)
{
    __attribute__((cleanup(tarn_commit_row_done))) struct tarn_commit_row row = { 0 };
    TARN_ERR(unknown);
    tarn_code code = tx->ops->commits.adopted_by_transaction(tx, table->id, use->transaction, &row, &unknown);

    if (code == TARN_TRANSACTION_NOT_FOUND)
        return by_taken(tx, use, table, err);
    if (code != TARN_OK)
        return tarn_err_move(err, &unknown);
    tarn_fail_code_field(err, TARN_TRANSACTION_EXISTS, "transaction_id",
                         "the transaction is part of the history that was adopted");
    return tarn_err_add(err, "transaction", json_string(use->transaction));
}

static tarn_code by_transaction(struct tarn_tx *tx, struct tarn_commit_use *use,
                                const struct tarn_table *table, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_commit_row_done))) struct tarn_commit_row row = { 0 };
    TARN_ERR(unknown);
    tarn_code code = tx->ops->commits.by_transaction(tx, table->id, use->transaction, &row, &unknown);

    if (code == TARN_TRANSACTION_NOT_FOUND)
        return by_adopted(tx, use, table, err);
    if (code != TARN_OK)
        return tarn_err_move(err, &unknown);
    if (strcmp(row.body_hash, use->body_hash) != 0)
        return refuse(&row, "transaction_id", "the transaction id", err);
    return tarn_commit_answer_again(tx, use, table, &row, err);
}

tarn_code tarn_commit_find_replay(struct tarn_tx *tx, struct tarn_commit_use *use,
                                  const struct tarn_table *table, struct tarn_err *err)
{
    use->replayed = false;
    if (use->key) {
        tarn_code code = by_key(tx, use, table, err);
        if (code != TARN_OK || use->replayed)
            return code;
    }
    if (use->has_transaction) {
        tarn_code code = by_transaction(tx, use, table, err);
        if (code != TARN_OK || use->replayed)
            return code;
    }
    return tarn_commit_replay_batches(tx, use, table, err);
}
