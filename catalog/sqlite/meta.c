/* meta.c - small facts about the database itself, by key. */
#include "base/hash.h"
#include "catalog/sqlite/internal.h"
#include <string.h>

enum { S_GET, S_SET, S_START };
/* clang-format off */
const char *const tarn_sqlite_meta_sql[] = {
    [S_GET] = "SELECT value FROM meta WHERE key = ?1",
    [S_SET] = "INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2",
    [S_START] = "INSERT INTO meta (key, value) VALUES ('catalog_id', ?1) ON CONFLICT (key) DO NOTHING",
    NULL
};
/* clang-format on */

static tarn_code get(struct tarn_tx *tx, const char *key, char **out, struct tarn_err *err)
{
    AUTO_STMT *st = stmt_of(tx, TARN_SQLITE_META, S_GET);
    bind_text(st, 1, key);
    bool row = false;
    tarn_code code = tarn_sqlite_next(tx, st, &row, err);
    if (code != TARN_OK)
        return code;
    if (!row)
        return tarn_fail(err, TARN_NOT_FOUND, "the database has no '%s'", key);
    char *value = strdup(column_text(st, 0));
    if (!value)
        return tarn_fail_oom(err);
    *out = value;
    return TARN_OK;
}

static tarn_code set(struct tarn_tx *tx, const char *key, const char *value, struct tarn_err *err)
{
    AUTO_STMT *st = stmt_of(tx, TARN_SQLITE_META, S_SET);
    bind_text(st, 1, key);
    bind_text(st, 2, value);
    return tarn_sqlite_run(tx, st, err);
}

tarn_code tarn_sqlite_meta_start(struct tarn_sqlite_conn *conn, struct tarn_err *err)
{
    char id[TARN_UUID_TEXT];
    tarn_code code = tarn_uuid(id, err);
    if (code != TARN_OK)
        return code;
    AUTO_STMT *st = stmt_of(&conn->tx, TARN_SQLITE_META, S_START);
    bind_text(st, 1, id);
    return tarn_sqlite_run(&conn->tx, st, err);
}

void tarn_sqlite_meta_ops(struct tarn_store_ops *ops)
{
    ops->meta.get = get;
    ops->meta.set = set;
}
