/* silences.c - what nobody wants to hear of for a while: few rows, asked for by the end of their time. */
#include "catalog/sqlite/internal.h"

#define COLUMNS "id, matchers, tables, starts_at, ends_at, created_by, comment, created_at"

enum { S_INSERT, S_GET, S_LIST, S_FROM, S_DELETE, S_EXPIRE };
/* clang-format off */
const char *const tarn_sqlite_silences_sql[] = {
    [S_INSERT] = "INSERT INTO silences (" COLUMNS ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    [S_GET] = "SELECT " COLUMNS " FROM silences WHERE id = ?1",
    [S_LIST] =
        "SELECT " COLUMNS " FROM silences WHERE created_at <= ?1 AND (created_at < ?1 OR id > ?2) "
        "ORDER BY created_at DESC, id LIMIT ?3",
    [S_FROM] = "SELECT " COLUMNS " FROM silences WHERE ends_at > ?1 ORDER BY ends_at, id",
    [S_DELETE] = "DELETE FROM silences WHERE id = ?1",
    [S_EXPIRE] =
        "DELETE FROM silences WHERE id IN (SELECT id FROM silences WHERE ends_at < ?1 ORDER BY ends_at LIMIT ?2)",
    NULL
};
/* clang-format on */

static sqlite3_stmt *stmt(struct tarn_tx *tx, int which) { return stmt_of(tx, TARN_SQLITE_SILENCES, which); }

static struct tarn_silence row_of(sqlite3_stmt *st)
{
    struct tarn_silence row = { .matchers = column_text(st, 1),
                                .tables = column_text(st, 2),
                                .starts_at = column_i64(st, 3),
                                .ends_at = column_i64(st, 4),
                                .created_by = column_text(st, 5),
                                .comment = column_text(st, 6),
                                .created_at = column_i64(st, 7) };
    column_fixed(st, 0, row.id, sizeof row.id);
    return row;
}

static tarn_code own(struct tarn_silence *row, struct tarn_err *err)
{
    static const size_t k_texts[] = { offsetof(struct tarn_silence, matchers),
                                      offsetof(struct tarn_silence, tables),
                                      offsetof(struct tarn_silence, created_by),
                                      offsetof(struct tarn_silence, comment) };
    return tarn_sqlite_own(row, k_texts, TARN_COUNT(k_texts), err);
}

static tarn_code insert(struct tarn_tx *tx, const struct tarn_silence *row, struct tarn_err *err)
{
    tarn_changes_note_all(tx->store);
    AUTO_STMT *st = stmt(tx, S_INSERT);
    bind_text(st, 1, row->id);
    bind_text(st, 2, row->matchers);
    bind_text(st, 3, row->tables);
    bind_i64(st, 4, row->starts_at);
    bind_i64(st, 5, row->ends_at);
    bind_text(st, 6, row->created_by);
    bind_text(st, 7, row->comment);
    bind_i64(st, 8, row->created_at);
    return tarn_sqlite_run(tx, st, err);
}

static tarn_code get(struct tarn_tx *tx, const char *id, struct tarn_silence *out, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_GET);
    bind_text(st, 1, id);
    bool found = false;
    tarn_code code = tarn_sqlite_next(tx, st, &found, err);
    if (code == TARN_OK && !found)
        return tarn_fail(err, TARN_NOT_FOUND, "there is no such silence");
    if (code != TARN_OK)
        return code;
    struct tarn_silence row = row_of(st);
    code = own(&row, err);
    if (code == TARN_OK)
        *out = row;
    return code;
}

static tarn_code list(struct tarn_tx *tx, int64_t at, const char *after_id, int64_t limit,
                      tarn_silence_fn *fn, void *ctx, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_LIST);
    bind_i64(st, 1, at);
    bind_text(st, 2, after_id);
    bind_i64(st, 3, limit);
    tarn_code code = TARN_OK;
    while (tarn_sqlite_each(tx, st, &code, err)) {
        struct tarn_silence row = row_of(st);
        code = fn(ctx, &row, err);
    }
    return code;
}

static tarn_code add(struct tarn_silences *list, sqlite3_stmt *st, struct tarn_err *err)
{
    struct tarn_silence row = row_of(st);
    struct tarn_silence *more = list->items;
    if (list->count % 16 == 0)
        more = realloc(list->items, (list->count + 16) * sizeof *more);
    if (!more)
        return tarn_fail_oom(err);
    list->items = more;
    tarn_code code = own(&row, err);
    if (code == TARN_OK)
        list->items[list->count++] = row;
    return code;
}

static tarn_code from(struct tarn_tx *tx, int64_t now_ms, struct tarn_silences *out, struct tarn_err *err)
{
    TARN_AUTO_DONE(silences) struct tarn_silences found_ones = { 0 };
    AUTO_STMT *st = stmt(tx, S_FROM);
    bind_i64(st, 1, now_ms);
    tarn_code code = TARN_OK;
    while (tarn_sqlite_each(tx, st, &code, err))
        code = add(&found_ones, st, err);
    if (code != TARN_OK)
        return code;
    *out = found_ones;
    found_ones = (struct tarn_silences){ 0 };
    return TARN_OK;
}

static tarn_code drop(struct tarn_tx *tx, const char *id, struct tarn_err *err)
{
    tarn_changes_note_all(tx->store);
    AUTO_STMT *st = stmt(tx, S_DELETE);
    bind_text(st, 1, id);
    tarn_code code = tarn_sqlite_run(tx, st, err);
    if (code == TARN_OK && tarn_sqlite_changed(tx) == 0)
        return tarn_fail(err, TARN_NOT_FOUND, "there is no such silence");
    return code;
}

static tarn_code expire(struct tarn_tx *tx, int64_t before, int64_t limit, bool *left, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_EXPIRE);
    return tarn_sqlite_expire(tx, st, before, limit, left, err);
}

void tarn_sqlite_silences_ops(struct tarn_store_ops *ops)
{
    ops->silences.insert = insert;
    ops->silences.get = get;
    ops->silences.list = list;
    ops->silences.from = from;
    ops->silences.remove = drop;
    ops->silences.expire = expire;
}
