/* requests.c - answers of the Iceberg face by their Idempotency-Key. */
#include "catalog/sqlite/internal.h"
#include <string.h>

enum { S_GET, S_PUT, S_EXPIRE };
/* clang-format off */
const char *const tarn_sqlite_requests_sql[] = {
    [S_GET] = "SELECT fingerprint, status, body FROM requests WHERE principal = ?1 AND key = ?2",
    [S_PUT] =
        "INSERT INTO requests (principal, key, fingerprint, status, body, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6) "
        "ON CONFLICT (principal, key) DO NOTHING",
    [S_EXPIRE] =
        "DELETE FROM requests WHERE (principal, key) IN "
        "(SELECT principal, key FROM requests WHERE created_at < ?1 ORDER BY created_at LIMIT ?2)",
    NULL
};
/* clang-format on */

static sqlite3_stmt *stmt(struct tarn_tx *tx, int which) { return stmt_of(tx, TARN_SQLITE_REQUESTS, which); }

static tarn_code get(struct tarn_tx *tx, const char *principal, const char *key, struct tarn_answered *out,
                     struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_GET);
    bind_text(st, 1, principal);
    bind_text(st, 2, key);
    bool found = false;
    tarn_code code = tarn_sqlite_next(tx, st, &found, err);
    if (code != TARN_OK)
        return code;
    if (!found)
        return tarn_fail(err, TARN_NOT_FOUND, "nothing was answered under this key");
    struct tarn_answered row = { .status = column_i64(st, 1), .body = strdup(column_text(st, 2)) };
    column_fixed(st, 0, row.fingerprint, sizeof row.fingerprint);
    if (!row.body)
        return tarn_fail_oom(err);
    *out = row;
    return TARN_OK;
}

static tarn_code put(struct tarn_tx *tx, const char *principal, const char *key,
                     const struct tarn_answered *row, int64_t now_ms, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_PUT);
    bind_text(st, 1, principal);
    bind_text(st, 2, key);
    bind_text(st, 3, row->fingerprint);
    bind_i64(st, 4, row->status);
    bind_text(st, 5, row->body ? row->body : "");
    bind_i64(st, 6, now_ms);
    return tarn_sqlite_run(tx, st, err);
}

static tarn_code expire(struct tarn_tx *tx, int64_t before, int64_t limit, bool *left, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_EXPIRE);
    return tarn_sqlite_expire(tx, st, before, limit, left, err);
}

void tarn_sqlite_requests_ops(struct tarn_store_ops *ops)
{
    ops->requests.get = get;
    ops->requests.put = put;
    ops->requests.expire = expire;
}
