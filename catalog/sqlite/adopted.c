/* adopted.c - the history from before Tarn: log entries that lay on storage when it took the table
 * over. They have a position instead of a version. */
#include "catalog/sqlite/internal.h"
#include <string.h>

#define COLUMNS                                                                                              \
    "position, \"transaction\", committed_at, metadata, data_change, files_added, files_removed, "           \
    "bytes_added"

enum { S_INSERT, S_LIST, S_BY_TRANSACTION };
/* clang-format off */
const char *const tarn_sqlite_adopted_sql[] = {
    [S_INSERT] =
        "INSERT INTO adopted_entries (" COLUMNS ", table_id) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    [S_LIST] =
        "SELECT " COLUMNS " FROM adopted_entries WHERE table_id = ?1 AND position < ?2 "
        "ORDER BY position DESC LIMIT ?3",
    [S_BY_TRANSACTION] =
        "SELECT " COLUMNS " FROM adopted_entries WHERE table_id = ?1 AND \"transaction\" = ?2",
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
    for (;;) {
        bool found = false;
        tarn_code code = tarn_sqlite_next(tx, st, &found, err);
        if (code != TARN_OK || !found)
            return code;
        struct tarn_commit_row row = read_row(st, -column_i64(st, 0));
        code = fn(ctx, &row, err);
        if (code != TARN_OK)
            return code;
    }
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

void tarn_sqlite_adopted_ops(struct tarn_store_ops *ops)
{
    ops->commits.insert_adopted = insert;
    ops->commits.list_adopted = list;
    ops->commits.adopted_by_transaction = by_transaction;
}
