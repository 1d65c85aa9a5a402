/* commits.c - the history: one row a version, found by version and by transaction id; and the
 * idempotency keys, which lead to the version that the first answer told. */
#include "catalog/sqlite/internal.h"
#include <stddef.h>

#define COLUMNS                                                                                              \
    "version, \"transaction\", committed_at, schema_version, metadata, data_change, files_added, "           \
    "files_removed, "                                                                                        \
    "bytes_added, bytes_removed, file_count, total_bytes, body_hash, batch_ids, group_id"
#define READ_COLUMNS                                                                                         \
    COLUMNS ", (SELECT to_version FROM rollbacks r WHERE r.table_id = commits.table_id "                     \
            "AND r.version = commits.version)"

enum {
    S_INSERT,
    S_GET,
    S_BY_TRANSACTION,
    S_LIST,
    S_INSTANTS,
    S_KEY_GET,
    S_KEY_PUT,
    S_KEYS_EXPIRE,
    S_ROLLBACK_INSERT,
    S_ROLLBACK_AT
};
/* clang-format off */
const char *const tarn_sqlite_commits_sql[] = {
    [S_INSERT] =
        "INSERT INTO commits (" COLUMNS ", table_id) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
    [S_GET] = "SELECT " READ_COLUMNS " FROM commits WHERE table_id = ?1 AND version = ?2",
    [S_BY_TRANSACTION] = "SELECT " READ_COLUMNS " FROM commits WHERE table_id = ?1 AND \"transaction\" = ?2",
    [S_LIST] =
        "SELECT " READ_COLUMNS " FROM commits WHERE table_id = ?1 AND version < ?2 "
        "AND version >= coalesce((SELECT log_from FROM tables WHERE id = ?1), 0) "
        "ORDER BY version DESC LIMIT ?3",
    [S_INSTANTS] =
        "SELECT version, committed_at, data_change FROM commits WHERE table_id = ?1 AND version < ?2 "
        "AND version >= coalesce((SELECT log_from FROM tables WHERE id = ?1), 0) "
        "ORDER BY version DESC LIMIT ?3",
    [S_KEY_GET] =
        "SELECT version, body_hash FROM idempotency "
        "WHERE principal = ?1 AND method = ?2 AND path = ?3 AND table_uuid = ?4 AND key = ?5",
    [S_KEY_PUT] =
        "INSERT INTO idempotency (principal, method, path, table_uuid, key, version, body_hash, "
        "created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) "
        "ON CONFLICT (principal, method, path, table_uuid, key) DO UPDATE "
        "SET version = ?6, body_hash = ?7, created_at = ?8",
    [S_KEYS_EXPIRE] =
        "DELETE FROM idempotency WHERE (principal, method, path, table_uuid, key) IN "
        "(SELECT principal, method, path, table_uuid, key FROM idempotency WHERE created_at < ?1 "
        "ORDER BY created_at LIMIT ?2)",
    [S_ROLLBACK_INSERT] = "INSERT INTO rollbacks (table_id, version, to_version) VALUES (?1, ?2, ?3)",
    [S_ROLLBACK_AT] =
        "SELECT version, to_version FROM rollbacks WHERE table_id = ?1 AND version <= ?2 "
        "ORDER BY version DESC LIMIT 1",
    NULL
};
/* clang-format on */

static sqlite3_stmt *stmt(struct tarn_tx *tx, int which) { return stmt_of(tx, TARN_SQLITE_COMMITS, which); }

static tarn_code insert(struct tarn_tx *tx, int64_t table_id, const struct tarn_commit_row *row,
                        struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_INSERT);
    bind_i64(st, 1, row->version);
    bind_text(st, 2, row->transaction);
    bind_i64(st, 3, row->committed_at);
    bind_i64(st, 4, row->schema_version);
    bind_text(st, 5, row->metadata);
    bind_i64(st, 6, row->data_change);
    bind_i64(st, 7, row->files_added);
    bind_i64(st, 8, row->files_removed);
    bind_i64(st, 9, row->bytes_added);
    bind_i64(st, 10, row->bytes_removed);
    bind_i64(st, 11, row->file_count);
    bind_i64(st, 12, row->total_bytes);
    bind_text(st, 13, row->body_hash);
    bind_text(st, 14, row->batch_ids);
    bind_text(st, 15, row->group[0] ? row->group : NULL);
    bind_i64(st, 16, table_id);
    return tarn_sqlite_run(tx, st, err);
}

/* Borrowed from the statement. */
static struct tarn_commit_row read_row(sqlite3_stmt *st)
{
    struct tarn_commit_row row = {
        .version = column_i64(st, 0),
        .transaction = column_text(st, 1),
        .committed_at = column_i64(st, 2),
        .schema_version = column_i64(st, 3),
        .metadata = column_text(st, 4),
        .data_change = column_i64(st, 5) != 0,
        .files_added = column_i64(st, 6),
        .files_removed = column_i64(st, 7),
        .bytes_added = column_i64(st, 8),
        .bytes_removed = column_i64(st, 9),
        .file_count = column_i64(st, 10),
        .total_bytes = column_i64(st, 11),
        .batch_ids = column_text(st, 13),
        .is_rollback = column_opt(st, 15) >= 0,
        .rollback_to = column_opt(st, 15),
    };
    column_fixed(st, 12, row.body_hash, sizeof row.body_hash);
    column_fixed(st, 14, row.group, sizeof row.group);
    return row;
}

static tarn_code read_one(struct tarn_tx *tx, sqlite3_stmt *st, bool *found, struct tarn_commit_row *out,
                          struct tarn_err *err)
{
    static const size_t k_texts[] = { offsetof(struct tarn_commit_row, transaction),
                                      offsetof(struct tarn_commit_row, metadata),
                                      offsetof(struct tarn_commit_row, batch_ids) };
    tarn_code code = tarn_sqlite_next(tx, st, found, err);
    if (code != TARN_OK || !*found)
        return code;
    struct tarn_commit_row row = read_row(st);
    code = tarn_sqlite_own(&row, k_texts, TARN_COUNT(k_texts), err);
    if (code == TARN_OK)
        *out = row;
    return code;
}

static tarn_code get(struct tarn_tx *tx, int64_t table_id, int64_t version, struct tarn_commit_row *out,
                     struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_GET);
    bind_i64(st, 1, table_id);
    bind_i64(st, 2, version);
    bool found = false;
    tarn_code code = read_one(tx, st, &found, out, err);
    if (code == TARN_OK && !found)
        return tarn_fail(err, TARN_VERSION_NOT_FOUND, "the table has no version %lld", (long long)version);
    return code;
}

static tarn_code by_transaction(struct tarn_tx *tx, int64_t table_id, const char *transaction,
                                struct tarn_commit_row *out, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_BY_TRANSACTION);
    bind_i64(st, 1, table_id);
    bind_text(st, 2, transaction);
    bool found = false;
    tarn_code code = read_one(tx, st, &found, out, err);
    if (code == TARN_OK && !found)
        return tarn_fail(err, TARN_TRANSACTION_NOT_FOUND, "the table has no transaction '%s'", transaction);
    return code;
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
        struct tarn_commit_row row = read_row(st);
        code = fn(ctx, &row, err);
    }
    return code;
}

static tarn_code instants(struct tarn_tx *tx, int64_t table_id, int64_t below, int64_t limit,
                          tarn_commit_fn *fn, void *ctx, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_INSTANTS);
    bind_i64(st, 1, table_id);
    bind_i64(st, 2, below);
    bind_i64(st, 3, limit);
    tarn_code code = TARN_OK;
    while (tarn_sqlite_each(tx, st, &code, err)) {
        const struct tarn_commit_row row = { .version = column_i64(st, 0),
                                             .committed_at = column_i64(st, 1),
                                             .data_change = column_i64(st, 2) != 0 };
        code = fn(ctx, &row, err);
    }
    return code;
}

static void bind_key(sqlite3_stmt *st, const struct tarn_key *key)
{
    bind_text(st, 1, key->principal);
    bind_text(st, 2, key->method);
    bind_text(st, 3, key->path);
    bind_text(st, 4, key->table_uuid);
    bind_text(st, 5, key->key);
}

static tarn_code key_get(struct tarn_tx *tx, const struct tarn_key *key, int64_t *version, char hash[65],
                         struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_KEY_GET);
    bind_key(st, key);
    bool found = false;
    tarn_code code = tarn_sqlite_next(tx, st, &found, err);
    if (code != TARN_OK)
        return code;
    if (!found)
        return tarn_fail(err, TARN_NOT_FOUND, "the key was not used yet");
    *version = column_i64(st, 0);
    column_fixed(st, 1, hash, 65);
    return TARN_OK;
}

static tarn_code key_put(struct tarn_tx *tx, const struct tarn_key *key, int64_t version, const char *hash,
                         int64_t now_ms, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_KEY_PUT);
    bind_key(st, key);
    bind_i64(st, 6, version);
    bind_text(st, 7, hash);
    bind_i64(st, 8, now_ms);
    return tarn_sqlite_run(tx, st, err);
}

static tarn_code keys_expire(struct tarn_tx *tx, int64_t before, int64_t limit, bool *left,
                             struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_KEYS_EXPIRE);
    return tarn_sqlite_expire(tx, st, before, limit, left, err);
}

static tarn_code insert_rollback(struct tarn_tx *tx, int64_t table_id, int64_t version, int64_t to_version,
                                 struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_ROLLBACK_INSERT);
    bind_i64(st, 1, table_id);
    bind_i64(st, 2, version);
    bind_i64(st, 3, to_version);
    return tarn_sqlite_run(tx, st, err);
}

static tarn_code rollback_at(struct tarn_tx *tx, int64_t table_id, int64_t version, int64_t *found,
                             int64_t *to_version, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_ROLLBACK_AT);
    bool row = false;
    bind_i64(st, 1, table_id);
    bind_i64(st, 2, version);
    tarn_code code = tarn_sqlite_next(tx, st, &row, err);
    if (code != TARN_OK)
        return code;
    *found = row ? column_i64(st, 0) : 0;
    *to_version = row ? column_i64(st, 1) : 0;
    return TARN_OK;
}

void tarn_sqlite_commits_ops(struct tarn_store_ops *ops)
{
    ops->commits.insert = insert;
    ops->commits.get = get;
    ops->commits.by_transaction = by_transaction;
    ops->commits.list = list;
    ops->commits.instants = instants;
    ops->commits.insert_rollback = insert_rollback;
    ops->commits.rollback_at = rollback_at;
    ops->commits.key_get = key_get;
    ops->commits.key_put = key_put;
    ops->commits.keys_expire = keys_expire;
}
