/* commit_id.c - the id of a commit that names none: the next number, above every one that the
 * log is known to hold, also where an entry is no commit of this table. An entry is created,
 * never overwritten: a commit under an id that is taken on storage could never be published. */
#include "lake/commit.h"
#include <inttypes.h>
#include <string.h>

#define FIRST_ID    "txn-"
#define ID_ATTEMPTS 1000 /* numbers tried when the next one is taken */
static const int64_t NUMBER_MAX = INT64_C(999999999999999999); /* 18 digits: what counts as a number */

/* An id as the numbered ones are written: what stands before the number, the number, its digits at least. */
struct numbered {
    char prefix[TARN_TXN_ID_MAX + 1];
    int64_t number;
    int width;
};

/* The last one before the first to try: `latest`, else one that is made of the version before. */
static void start_from(const char *latest, int64_t version, struct numbered *out)
{
    size_t prefix_len = 0;
    int64_t number = 0;

    if (latest && tarn_txn_id_number(latest, &prefix_len, &number) && prefix_len < TARN_TXN_ID_MAX - 19) {
        *out = (struct numbered){ .number = number, .width = (int)(strlen(latest) - prefix_len) };
        memcpy(out->prefix, latest, prefix_len);
        return;
    }
    *out = (struct numbered){ .prefix = FIRST_ID, .number = version - 1 };
}

static void next_id(struct numbered *at, char out[TARN_TXN_ID_MAX + 1])
{
    at->number++;
    snprintf(out, TARN_TXN_ID_MAX + 1, "%.*s%0*" PRId64, TARN_TXN_ID_MAX - 19, at->prefix, at->width,
             at->number);
}

static tarn_code is_free(struct tarn_tx *tx, const struct tarn_table *table, const char *id, bool *free_,
                         struct tarn_err *err)
{
    __attribute__((cleanup(tarn_commit_row_done))) struct tarn_commit_row row = { 0 };
    bool taken = false;
    TARN_ERR(fault);
    tarn_code code = tx->ops->commits.adopted_by_transaction(tx, table->id, id, &row, &fault);

    if (code != TARN_OK && code != TARN_TRANSACTION_NOT_FOUND)
        return tarn_err_move(err, &fault);
    *free_ = code == TARN_TRANSACTION_NOT_FOUND;
    code = *free_ ? tx->ops->commits.id_taken(tx, table->id, id, &taken, err) : TARN_OK;
    *free_ &= !taken;
    return code;
}

static tarn_code insert_next(struct tarn_tx *tx, struct tarn_commit_use *use, const struct tarn_table *table,
                             struct tarn_commit_row *row, struct tarn_err *err)
{
    struct numbered at;
    int64_t highest = -1;

    start_from(table->latest_transaction, row->version, &at);
    tarn_code code = tx->ops->commits.highest_taken(tx, table->id, at.prefix, &highest, err);
    if (highest > at.number && highest < NUMBER_MAX)
        at.number = highest;
    for (int i = 0; code == TARN_OK && i < ID_ATTEMPTS; i++) {
        bool free_ = false;
        TARN_ERR(fault);
        next_id(&at, use->transaction);
        code = is_free(tx, table, use->transaction, &free_, err);
        if (code != TARN_OK || !free_)
            continue;
        code = tx->ops->commits.insert(tx, table->id, row, &fault);
        if (code != TARN_TRANSACTION_EXISTS)
            return code == TARN_OK ? TARN_OK : tarn_err_move(err, &fault);
        code = TARN_OK;
    }
    if (code != TARN_OK)
        return code;
    return tarn_fail_code_field(err, TARN_TRANSACTION_EXISTS, "transaction_id",
                                "the next %d numbers are taken: name the transaction", ID_ATTEMPTS);
}

tarn_code tarn_commit_insert(struct tarn_tx *tx, struct tarn_commit_use *use, const struct tarn_table *table,
                             struct tarn_commit_row *row, struct tarn_err *err)
{
    if (use->has_transaction)
        return tx->ops->commits.insert(tx, table->id, row, err);
    return insert_next(tx, use, table, row, err);
}
