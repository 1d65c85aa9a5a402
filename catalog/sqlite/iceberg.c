/* iceberg.c - metadata documents of Iceberg tables, beside their rows. They may be tens of megabytes: they are given as they
 * lie in the statement, never copied on the way. */
#include "catalog/sqlite/internal.h"

enum { S_GET, S_GET_REFS, S_PUT };
/* clang-format off */
const char *const tarn_sqlite_iceberg_sql[] = {
    [S_GET] = "SELECT metadata FROM iceberg_tables WHERE table_id = ?1",
    [S_GET_REFS] = "SELECT coalesce(refs, metadata) FROM iceberg_tables WHERE table_id = ?1",
    [S_PUT] =
        "INSERT INTO iceberg_tables (table_id, metadata, refs) VALUES (?1, ?2, ?3) "
        "ON CONFLICT (table_id) DO UPDATE SET metadata = ?2, refs = ?3",
    NULL
};
/* clang-format on */

static sqlite3_stmt *stmt(struct tarn_tx *tx, int which) { return stmt_of(tx, TARN_SQLITE_ICEBERG, which); }

static tarn_code get(struct tarn_tx *tx, int64_t table_id, bool refs, tarn_text_fn *fn, void *ctx, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, refs ? S_GET_REFS : S_GET);
    bind_i64(st, 1, table_id);
    bool found = false;
    tarn_code code = tarn_sqlite_next(tx, st, &found, err);
    if (code != TARN_OK)
        return code;
    if (!found)
        return tarn_fail(err, TARN_TABLE_NOT_FOUND, "the table has no Iceberg metadata");
    const char *text = column_text(st, 0);
    return text ? fn(ctx, text, (size_t)sqlite3_column_bytes(st, 0), err) : tarn_fail_oom(err);
}

static tarn_code put(struct tarn_tx *tx, int64_t table_id, const char *metadata, const char *refs, struct tarn_err *err)
{
    tarn_changes_note(tx->store, table_id);
    AUTO_STMT *st = stmt(tx, S_PUT);
    bind_i64(st, 1, table_id);
    bind_text(st, 2, metadata);
    bind_text(st, 3, refs);
    return tarn_sqlite_run(tx, st, err);
}

void tarn_sqlite_iceberg_ops(struct tarn_store_ops *ops)
{
    ops->iceberg.get = get;
    ops->iceberg.put = put;
}
