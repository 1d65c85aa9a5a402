/* samples.c - what scans saw over time: runs of scans that saw the same, by table and instant. */
#include "catalog/sqlite/internal.h"
#include <string.h>

#define HOUR "3600000"

enum { S_NEWEST, S_INSERT, S_EXTEND, S_LIST, S_NEXT_TABLE, S_EXPIRE, S_THIN };
/* clang-format off */
const char *const tarn_sqlite_samples_sql[] = {
    [S_NEWEST] = "SELECT at, until, numbers FROM samples WHERE table_id = ?1 ORDER BY at DESC LIMIT 1",
    [S_INSERT] = "INSERT INTO samples (table_id, at, until, numbers) VALUES (?1, ?2, ?2, ?3)",
    [S_EXTEND] = "UPDATE samples SET until = ?3 WHERE table_id = ?1 AND at = ?2",
    /* From the run that holds at ?2 on. */
    [S_LIST] =
        "SELECT at, until, numbers FROM samples WHERE table_id = ?1 AND at <= ?3 AND at >= "
        "coalesce((SELECT max(at) FROM samples WHERE table_id = ?1 AND at <= ?2), ?2) ORDER BY at LIMIT ?4",
    [S_NEXT_TABLE] = "SELECT min(table_id) FROM scans WHERE table_id > ?1",
    [S_EXPIRE] =
        "DELETE FROM samples WHERE table_id = ?1 AND at IN (SELECT at FROM samples WHERE table_id = ?1 AND at < ?2 AND "
        "until < ?2 ORDER BY at LIMIT ?3)",
    /* Of the runs that lie within one hour the last one stays. */
    [S_THIN] =
        "DELETE FROM samples WHERE table_id = ?1 AND at IN (SELECT s.at FROM samples s WHERE s.table_id = ?1 AND "
        "s.at >= ?4 AND s.at < ?2 AND s.until < ?2 AND s.at / " HOUR " = s.until / " HOUR " AND EXISTS (SELECT 1 FROM "
        "samples n WHERE n.table_id = ?1 AND n.at > s.at AND n.at < (s.at / " HOUR " + 1) * " HOUR ") LIMIT ?3)",
    NULL
};
/* clang-format on */

static sqlite3_stmt *stmt(struct tarn_tx *tx, int which) { return stmt_of(tx, TARN_SQLITE_SAMPLES, which); }

struct newest {
    int64_t at, until; /* -1: there is none */
    bool is_same;
};

static tarn_code find_newest(struct tarn_tx *tx, int64_t table_id, const char *numbers, struct newest *out,
                             struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_NEWEST);
    bind_i64(st, 1, table_id);
    bool found = false;
    tarn_code code = tarn_sqlite_next(tx, st, &found, err);
    *out = (struct newest){ -1, -1, false };
    if (code == TARN_OK && found)
        *out = (struct newest){ column_i64(st, 0), column_i64(st, 1), strcmp(column_text(st, 2), numbers) == 0 };
    return code;
}

static tarn_code put(struct tarn_tx *tx, int64_t table_id, int64_t at, const char *numbers,
                     struct tarn_err *err)
{
    struct newest newest;
    tarn_code code = find_newest(tx, table_id, numbers, &newest, err);
    if (code != TARN_OK || newest.until >= at) /* the clock went back: that time is told already */
        return code;
    AUTO_STMT *st = stmt(tx, newest.is_same ? S_EXTEND : S_INSERT);
    bind_i64(st, 1, table_id);
    bind_i64(st, 2, newest.is_same ? newest.at : at);
    if (newest.is_same)
        bind_i64(st, 3, at);
    else
        bind_text(st, 3, numbers);
    return tarn_sqlite_run(tx, st, err);
}

static tarn_code list(struct tarn_tx *tx, int64_t table_id, int64_t from, int64_t to, int64_t limit,
                      tarn_sample_fn *fn, void *ctx, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_LIST);
    bind_i64(st, 1, table_id);
    bind_i64(st, 2, from);
    bind_i64(st, 3, to);
    bind_i64(st, 4, limit);
    tarn_code code = TARN_OK;
    while (tarn_sqlite_each(tx, st, &code, err)) {
        const struct tarn_sample row = { column_i64(st, 0), column_i64(st, 1), column_text(st, 2) };
        code = fn(ctx, &row, err);
    }
    return code;
}

static tarn_code delete_some(struct tarn_tx *tx, int which, const struct tarn_thinning *t, int64_t before,
                             int64_t *budget, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, which);
    bind_i64(st, 1, t->table_id);
    bind_i64(st, 2, before);
    bind_i64(st, 3, *budget);
    if (which == S_THIN)
        bind_i64(st, 4, t->hourly_from);
    tarn_code code = tarn_sqlite_run(tx, st, err);
    if (code == TARN_OK)
        *budget -= tarn_sqlite_changed(tx);
    return code;
}

static tarn_code next_table(struct tarn_tx *tx, struct tarn_thinning *t, bool *found, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_NEXT_TABLE);
    bind_i64(st, 1, t->table_id);
    tarn_code code = tarn_sqlite_next(tx, st, found, err);
    if (code != TARN_OK || !*found)
        return code;
    *found = sqlite3_column_type(st, 0) != SQLITE_NULL;
    if (*found)
        t->table_id = column_i64(st, 0);
    return TARN_OK;
}

/* A table that takes the whole budget is gone on with by the next call. */
static tarn_code thin(struct tarn_tx *tx, struct tarn_thinning *t, int64_t limit, bool *left,
                      struct tarn_err *err)
{
    int64_t budget = limit;
    bool found = t->table_id != 0;
    tarn_code code = found ? TARN_OK : next_table(tx, t, &found, err);
    for (int tables = 0; code == TARN_OK && found && budget > 0 && tables < 1000; tables++) {
        code = delete_some(tx, S_EXPIRE, t, t->expired_before, &budget, err);
        if (code == TARN_OK && budget > 0)
            code = delete_some(tx, S_THIN, t, t->hourly_before, &budget, err);
        if (code == TARN_OK && budget > 0)
            code = next_table(tx, t, &found, err);
    }
    if (code == TARN_OK)
        *left = found;
    return code;
}

void tarn_sqlite_samples_ops(struct tarn_store_ops *ops)
{
    ops->samples.put = put;
    ops->samples.list = list;
    ops->samples.thin = thin;
}
