/* adopted.c - what others left in the log: the history from before Tarn, entries that have a position instead
 * of a version; and the ids of entries that are no history at all, which no commit may take. */
#include "catalog/sqlite/internal.h"
#include <string.h>

#define COLUMNS                                                                                              \
    "position, \"transaction\", committed_at, metadata, data_change, files_added, files_removed, "           \
    "bytes_added"

enum { S_INSERT, S_LIST, S_BY_TRANSACTION, S_TAKE, S_TAKEN, S_HIGHEST };
/* clang-format off */
const char *const tarn_sqlite_adopted_sql[] = {
    [S_INSERT] =
        "INSERT INTO adopted_entries (" COLUMNS ", table_id) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    [S_LIST] =
        "SELECT " COLUMNS " FROM adopted_entries WHERE table_id = ?1 AND position < ?2 "
        "ORDER BY position DESC LIMIT ?3",
    [S_BY_TRANSACTION] =
        "SELECT " COLUMNS " FROM adopted_entries WHERE table_id = ?1 AND \"transaction\" = ?2",
    [S_TAKE] =
        "INSERT INTO taken_ids (table_id, \"transaction\", prefix, number) VALUES (?1, ?2, ?3, ?4) "
        "ON CONFLICT (table_id, \"transaction\") DO NOTHING",
    [S_TAKEN] = "SELECT 1 FROM taken_ids WHERE table_id = ?1 AND \"transaction\" = ?2",
    [S_HIGHEST] =
        "SELECT number FROM taken_ids WHERE table_id = ?1 AND prefix = ?2 AND number IS NOT NULL "
        "ORDER BY number DESC LIMIT 1",
    NULL
};
/* clang-format on */

static sqlite3_stmt *stmt(struct tarn_tx *tx, int which) { return stmt_of(tx, TARN_SQLITE_ADOPTED, which); }

static tarn_code insert(struct tarn_tx *tx, int64_t table_id, int64_t position,
                        const struct tarn_commit_row *row, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_INSERT);
    bind_i64(st, 1, position);
    bind_text(st, 2, row->transaction);
    bind_i64(st, 3, row->committed_at);
    bind_text(st, 4, row->metadata);
    bind_i64(st, 5, row->data_change);
    bind_i64(st, 6, row->files_added);
    bind_i64(st, 7, row->files_removed);
    bind_i64(st, 8, row->bytes_added);
    bind_i64(st, 9, table_id);
    return tarn_sqlite_run(tx, st, err);
}

/* Borrowed from the statement; what such an entry does not tell is -1. */
static struct tarn_commit_row read_row(sqlite3_stmt *st, int64_t version)
{
    return (struct tarn_commit_row){
        .version = version,
        .transaction = column_text(st, 1),
        .committed_at = column_i64(st, 2),
        .schema_version = 0,
        .metadata = column_text(st, 3),
        .data_change = column_i64(st, 4) != 0,
        .files_added = column_i64(st, 5),
        .files_removed = column_i64(st, 6),
        .bytes_added = column_i64(st, 7),
        .bytes_removed = -1,
        .file_count = -1,
        .total_bytes = -1,
    };
}

static tarn_code list(struct tarn_tx *tx, int64_t table_id, int64_t below, int64_t limit, tarn_commit_fn *fn,
                      void *ctx, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_LIST);
    bind_i64(st, 1, table_id);
    bind_i64(st, 2, below);
    bind_i64(st, 3, limit);
    tarn_code code = TARN_OK;
    while (tarn_sqlite_each(tx, st, &code, err)) {
        struct tarn_commit_row row = read_row(st, -column_i64(st, 0));
        code = fn(ctx, &row, err);
    }
    return code;
}

static tarn_code by_transaction(struct tarn_tx *tx, int64_t table_id, const char *transaction,
                                struct tarn_commit_row *out, struct tarn_err *err)
{
    static const size_t k_texts[] = { offsetof(struct tarn_commit_row, transaction),
                                      offsetof(struct tarn_commit_row, metadata) };
    AUTO_STMT *st = stmt(tx, S_BY_TRANSACTION);
    bind_i64(st, 1, table_id);
    bind_text(st, 2, transaction);
    bool found = false;
    tarn_code code = tarn_sqlite_next(tx, st, &found, err);
    if (code != TARN_OK)
        return code;
    if (!found)
        return tarn_fail(err, TARN_TRANSACTION_NOT_FOUND, "the table has no transaction '%s'", transaction);
    struct tarn_commit_row row = read_row(st, -1);
    code = tarn_sqlite_own(&row, k_texts, TARN_COUNT(k_texts), err);
    if (code == TARN_OK)
        *out = row;
    return code;
}

static tarn_code take_id(struct tarn_tx *tx, int64_t table_id, const char *id, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_TAKE);
    size_t prefix_len = strlen(id);
    int64_t number = -1;
    (void)tarn_txn_id_number(id, &prefix_len, &number);
    bind_i64(st, 1, table_id);
    bind_text(st, 2, id);
    (void)sqlite3_bind_text(st, 3, id, (int)prefix_len, SQLITE_STATIC);
    bind_opt(st, 4, number);
    return tarn_sqlite_run(tx, st, err);
}

static tarn_code id_taken(struct tarn_tx *tx, int64_t table_id, const char *id, bool *taken,
                          struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_TAKEN);
    bind_i64(st, 1, table_id);
    bind_text(st, 2, id);
    return tarn_sqlite_next(tx, st, taken, err);
}

static tarn_code highest_taken(struct tarn_tx *tx, int64_t table_id, const char *prefix, int64_t *number,
                               struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_HIGHEST);
    bind_i64(st, 1, table_id);
    bind_text(st, 2, prefix);
    bool found = false;
    tarn_code code = tarn_sqlite_next(tx, st, &found, err);
    if (code == TARN_OK)
        *number = found ? column_i64(st, 0) : -1;
    return code;
}

void tarn_sqlite_adopted_ops(struct tarn_store_ops *ops)
{
    ops->commits.insert_adopted = insert;
    ops->commits.list_adopted = list;
    ops->commits.adopted_by_transaction = by_transaction;
    ops->commits.take_id = take_id;
    ops->commits.id_taken = id_taken;
    ops->commits.highest_taken = highest_taken;
}
