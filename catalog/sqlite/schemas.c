/* schemas.c - the versions of a table's schema. */
#include "catalog/sqlite/internal.h"
#include <stddef.h>

enum { S_INSERT, S_GET, S_LIST, S_CLEAR };
/* clang-format off */
const char *const tarn_sqlite_schemas_sql[] = {
    [S_INSERT] =
        "INSERT INTO schemas (table_id, version, schema, renames, created_at) VALUES (?1, ?2, ?3, ?4, ?5)",
    [S_GET] = "SELECT version, schema, renames, created_at FROM schemas WHERE table_id = ?1 AND version = ?2",
    [S_LIST] =
        "SELECT version, schema, renames, created_at FROM schemas WHERE table_id = ?1 ORDER BY version",
    [S_CLEAR] = "DELETE FROM schemas WHERE table_id = ?1",
    NULL
};
/* clang-format on */

static sqlite3_stmt *stmt(struct tarn_tx *tx, int which) { return stmt_of(tx, TARN_SQLITE_SCHEMAS, which); }

static tarn_code insert(struct tarn_tx *tx, int64_t table_id, const struct tarn_schema_row *row,
                        struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_INSERT);
    bind_i64(st, 1, table_id);
    bind_i64(st, 2, row->version);
    bind_text(st, 3, row->schema);
    bind_text(st, 4, row->renames);
    bind_i64(st, 5, row->created_at);
    return tarn_sqlite_run(tx, st, err);
}

/* Borrowed from the statement. */
static struct tarn_schema_row read_row(sqlite3_stmt *st)
{
    return (struct tarn_schema_row){ .version = column_i64(st, 0),
                                     .schema = column_text(st, 1),
                                     .renames = column_text(st, 2),
                                     .created_at = column_i64(st, 3) };
}

static tarn_code get(struct tarn_tx *tx, int64_t table_id, int64_t version, struct tarn_schema_row *out,
                     struct tarn_err *err)
{
    static const size_t k_texts[] = { offsetof(struct tarn_schema_row, schema),
                                      offsetof(struct tarn_schema_row, renames) };
    AUTO_STMT *st = stmt(tx, S_GET);
    bind_i64(st, 1, table_id);
    bind_i64(st, 2, version);
    bool found = false;
    tarn_code code = tarn_sqlite_next(tx, st, &found, err);
    if (code != TARN_OK)
        return code;
    if (!found)
        return tarn_fail(err, TARN_SCHEMA_VERSION_NOT_FOUND, "the table has no schema version %lld",
                         (long long)version);
    struct tarn_schema_row row = read_row(st);
    code = tarn_sqlite_own(&row, k_texts, TARN_COUNT(k_texts), err);
    if (code == TARN_OK)
        *out = row;
    return code;
}

static tarn_code list(struct tarn_tx *tx, int64_t table_id, tarn_schema_fn *fn, void *ctx,
                      struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_LIST);
    bind_i64(st, 1, table_id);
    tarn_code code = TARN_OK;
    while (tarn_sqlite_each(tx, st, &code, err)) {
        struct tarn_schema_row row = read_row(st);
        code = fn(ctx, &row, err);
    }
    return code;
}

static tarn_code clear(struct tarn_tx *tx, int64_t table_id, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_CLEAR);
    bind_i64(st, 1, table_id);
    return tarn_sqlite_run(tx, st, err);
}

void tarn_sqlite_schemas_ops(struct tarn_store_ops *ops)
{
    ops->schemas.insert = insert;
    ops->schemas.get = get;
    ops->schemas.list = list;
    ops->schemas.clear = clear;
}
