/* reports.c - what engines report of their scans and commits. */
#include "catalog/sqlite/internal.h"

enum { S_ADD, S_LIST, S_EXPIRE, S_TRIM };
/* clang-format off */
const char *const tarn_sqlite_reports_sql[] = {
    [S_ADD] = "INSERT INTO reports (table_id, at, kind, snapshot, report) VALUES (?1, ?2, ?3, ?4, ?5)",
    [S_LIST] = "SELECT at, kind, snapshot, report FROM reports WHERE table_id = ?1 ORDER BY at DESC, id DESC LIMIT ?2",
    [S_EXPIRE] =
        "DELETE FROM reports WHERE id IN (SELECT id FROM reports WHERE at < ?1 ORDER BY id LIMIT ?2)",
    [S_TRIM] =
        "DELETE FROM reports WHERE id IN "
        "(SELECT id FROM reports WHERE table_id = ?1 ORDER BY at DESC, id DESC LIMIT 1000 OFFSET ?2)",
    NULL
};
/* clang-format on */

static sqlite3_stmt *stmt(struct tarn_tx *tx, int which) { return stmt_of(tx, TARN_SQLITE_REPORTS, which); }

static tarn_code add(struct tarn_tx *tx, int64_t table_id, const struct tarn_report_row *row,
                     struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_ADD);
    bind_i64(st, 1, table_id);
    bind_i64(st, 2, row->at);
    bind_text(st, 3, row->kind);
    bind_opt(st, 4, row->snapshot);
    bind_text(st, 5, row->report);
    return tarn_sqlite_run(tx, st, err);
}

static tarn_code list(struct tarn_tx *tx, int64_t table_id, int64_t limit, tarn_report_row_fn *fn, void *ctx,
                      struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_LIST);
    bind_i64(st, 1, table_id);
    bind_i64(st, 2, limit);
    tarn_code code = TARN_OK;
    while (tarn_sqlite_each(tx, st, &code, err)) {
        const struct tarn_report_row row = { column_i64(st, 0), column_text(st, 1), column_opt(st, 2),
                                             column_text(st, 3) };
        code = fn(ctx, &row, err);
    }
    return code;
}

static tarn_code expire(struct tarn_tx *tx, int64_t before, int64_t limit, bool *left, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_EXPIRE);
    return tarn_sqlite_expire(tx, st, before, limit, left, err);
}

static tarn_code trim(struct tarn_tx *tx, int64_t table_id, int64_t keep, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_TRIM);
    bind_i64(st, 1, table_id);
    bind_i64(st, 2, keep);
    return tarn_sqlite_run(tx, st, err);
}

void tarn_sqlite_reports_ops(struct tarn_store_ops *ops)
{
    ops->reports.add = add;
    ops->reports.list = list;
    ops->reports.expire = expire;
    ops->reports.trim = trim;
}
