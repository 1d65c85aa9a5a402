/* batches.c - checkpoints of staged batches: found by id, listed by id, and those whose document under
 * processed/ is behind. They stay as long as the table: a batch must not be applied twice however late it
 * comes back. */
#include "catalog/sqlite/internal.h"
#include <stddef.h>

#define COLUMNS                                                                                              \
    "b.batch_id, b.status, b.start_time, b.end_time, b.num_records, b.size, b.version, b.updated_at, "       \
    "b.shown_from, b.revision, b.published, b.foreign_doc, c.\"transaction\", c.committed_at "
#define WITH_COMMIT " LEFT JOIN commits c ON c.table_id = b.table_id AND c.version = b.version "

enum {
    S_GET,
    S_KEEP_PAST,
    S_PUT,
    S_PAST,
    S_PAGE,
    S_PAGE_OF_STATUS,
    S_ROLL_BACK,
    S_COUNT_AGAIN,
    S_KEEP_OTHERS,
    S_COUNT_PAST,
    S_PENDING,
    S_PENDING_TABLE,
    S_SHOWN
};
/* Batches of which a version above ?2 up to ?3 is a past one that does not show in their rows; ?6 rows at
 * most. */
#define OF_THE_PAST                                                                                          \
    "SELECT p.batch_id FROM batches_past p INDEXED BY batches_past_version "                                 \
    "JOIN batches o ON o.table_id = p.table_id AND o.batch_id = p.batch_id "                                 \
    "WHERE p.table_id = ?1 AND p.version > ?2 AND p.version <= ?3 AND o.status <> 'completed' LIMIT ?6"

/* clang-format off */
const char *const tarn_sqlite_batches_sql[] = {
    [S_GET] = "SELECT " COLUMNS "FROM batches b" WITH_COMMIT "WHERE b.table_id = ?1 AND b.batch_id = ?2",
    [S_KEEP_PAST] =
        "INSERT INTO batches_past (table_id, batch_id, version) SELECT table_id, batch_id, version "
        "FROM batches WHERE table_id = ?1 AND batch_id = ?2 AND version IS NOT NULL AND version IS NOT ?3 "
        "ON CONFLICT DO NOTHING",
    [S_PAST] =
        "SELECT max(version) FROM batches_past WHERE table_id = ?1 AND batch_id = ?2 AND version < ?3",
    [S_PUT] =
        "INSERT INTO batches (batch_id, status, start_time, end_time, num_records, size, version, "
        "updated_at, shown_from, table_id, revision, published, foreign_doc) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 1, 0, 0) "
        "ON CONFLICT (table_id, batch_id) DO UPDATE SET status = ?2, start_time = ?3, end_time = ?4, "
        "num_records = ?5, size = ?6, version = ?7, updated_at = ?8, shown_from = ?9, "
        "revision = revision + 1",
    [S_PAGE] =
        "SELECT " COLUMNS "FROM batches b" WITH_COMMIT
        "WHERE b.table_id = ?1 AND b.batch_id > ?2 AND b.batch_id >= ?3 AND b.batch_id < ?4 "
        "ORDER BY b.batch_id LIMIT ?5",
    [S_PAGE_OF_STATUS] =
        "SELECT " COLUMNS "FROM batches b INDEXED BY batches_status" WITH_COMMIT
        "WHERE b.table_id = ?1 AND b.status = ?6 "
        "AND b.batch_id > ?2 AND b.batch_id >= ?3 AND b.batch_id < ?4 "
        "ORDER BY b.batch_id LIMIT ?5",
    [S_ROLL_BACK] =
        "UPDATE batches SET status = 'rolled_back', updated_at = ?4, shown_from = ?5, revision = revision + 1 "
        "WHERE table_id = ?1 AND batch_id IN (SELECT batch_id FROM batches INDEXED BY batches_version "
        "WHERE table_id = ?1 AND version > ?2 AND version <= ?3 AND status = 'completed' LIMIT ?6)",
    [S_COUNT_AGAIN] =
        "UPDATE batches SET status = 'completed', updated_at = ?4, shown_from = ?5, revision = revision + 1 "
        "WHERE table_id = ?1 AND batch_id IN (SELECT batch_id FROM batches INDEXED BY batches_version "
        "WHERE table_id = ?1 AND version > ?2 AND version <= ?3 AND status = 'rolled_back' LIMIT ?6)",
    [S_KEEP_OTHERS] =
        "INSERT INTO batches_past (table_id, batch_id, version) SELECT b.table_id, b.batch_id, b.version "
        "FROM batches b WHERE b.table_id = ?1 AND b.version IS NOT NULL AND b.batch_id IN (" OF_THE_PAST ") "
        "ON CONFLICT DO NOTHING",
    [S_COUNT_PAST] =
        "UPDATE batches SET status = 'completed', updated_at = ?4, shown_from = ?5, revision = revision + 1, "
        "version = (SELECT max(q.version) FROM batches_past q WHERE q.table_id = ?1 "
        "AND q.batch_id = batches.batch_id AND q.version > ?2 AND q.version <= ?3) "
        "WHERE table_id = ?1 AND batch_id IN (" OF_THE_PAST ")",
    [S_PENDING] =
        "SELECT " COLUMNS "FROM batches b INDEXED BY batches_pending" WITH_COMMIT
        "WHERE b.table_id = ?1 AND b.published < b.revision AND b.batch_id > ?2 AND b.shown_from <= ?3 "
        "ORDER BY b.batch_id LIMIT ?4",
    [S_PENDING_TABLE] =
        "SELECT table_id FROM batches INDEXED BY batches_pending "
        "WHERE published < revision AND table_id > ?1 ORDER BY table_id LIMIT 1",
    [S_SHOWN] =
        "UPDATE batches SET published = ?3, foreign_doc = ?4 "
        "WHERE table_id = ?1 AND batch_id = ?2 AND published < ?3",
    NULL
};
/* clang-format on */

static sqlite3_stmt *stmt(struct tarn_tx *tx, int which) { return stmt_of(tx, TARN_SQLITE_BATCHES, which); }

/* Borrowed from the statement. */
static tarn_code read_row(sqlite3_stmt *st, struct tarn_batch *out, struct tarn_err *err)
{
    struct tarn_batch row = {
        .batch_id = column_text(st, 0),
        .start_time = column_opt(st, 2),
        .end_time = column_opt(st, 3),
        .num_records = column_opt(st, 4),
        .size = column_opt(st, 5),
        .version = column_opt(st, 6),
        .updated_at = column_i64(st, 7),
        .shown_from = column_i64(st, 8),
        .revision = column_i64(st, 9),
        .published = column_i64(st, 10),
        .foreign = column_i64(st, 11) != 0,
        .transaction = column_text(st, 12),
        .committed_at = column_opt(st, 13),
    };
    if (!tarn_batch_status_parse(column_text(st, 1), &row.status))
        return tarn_fail(err, TARN_INTERNAL, "a batch in the database has an unknown status");
    *out = row;
    return TARN_OK;
}

static tarn_code get(struct tarn_tx *tx, int64_t table_id, const char *batch_id, struct tarn_batch *out,
                     struct tarn_err *err)
{
    static const size_t k_texts[] = { offsetof(struct tarn_batch, batch_id),
                                      offsetof(struct tarn_batch, transaction) };
    AUTO_STMT *st = stmt(tx, S_GET);
    bind_i64(st, 1, table_id);
    bind_text(st, 2, batch_id);
    bool found = false;
    tarn_code code = tarn_sqlite_next(tx, st, &found, err);
    if (code == TARN_OK && !found)
        return tarn_fail(err, TARN_NOT_FOUND, "the table has no batch '%s'", batch_id);
    struct tarn_batch row;
    if (code == TARN_OK)
        code = read_row(st, &row, err);
    if (code == TARN_OK)
        code = tarn_sqlite_own(&row, k_texts, TARN_COUNT(k_texts), err);
    if (code == TARN_OK)
        *out = row;
    return code;
}

static tarn_code keep_past(struct tarn_tx *tx, int64_t table_id, const struct tarn_batch *batch,
                           struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_KEEP_PAST);
    bind_i64(st, 1, table_id);
    bind_text(st, 2, batch->batch_id);
    bind_opt(st, 3, batch->version);
    return tarn_sqlite_run(tx, st, err);
}

static tarn_code past(struct tarn_tx *tx, int64_t table_id, const char *batch_id, int64_t below,
                      int64_t *version, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_PAST);
    bind_i64(st, 1, table_id);
    bind_text(st, 2, batch_id);
    bind_i64(st, 3, below);
    bool found = false;
    tarn_code code = tarn_sqlite_next(tx, st, &found, err);
    if (code == TARN_OK)
        *version = found ? column_opt(st, 0) : -1;
    return code;
}

static tarn_code put(struct tarn_tx *tx, int64_t table_id, const struct tarn_batch *batch,
                     struct tarn_err *err)
{
    tarn_code code = keep_past(tx, table_id, batch, err);
    if (code != TARN_OK)
        return code;
    AUTO_STMT *st = stmt(tx, S_PUT);
    bind_text(st, 1, batch->batch_id);
    bind_text(st, 2, tarn_batch_status_text(batch->status));
    bind_opt(st, 3, batch->start_time);
    bind_opt(st, 4, batch->end_time);
    bind_opt(st, 5, batch->num_records);
    bind_opt(st, 6, batch->size);
    bind_opt(st, 7, batch->version);
    bind_i64(st, 8, batch->updated_at);
    bind_i64(st, 9, batch->shown_from);
    bind_i64(st, 10, table_id);
    return tarn_sqlite_run(tx, st, err);
}

static tarn_code visit(struct tarn_tx *tx, sqlite3_stmt *st, tarn_batch_fn *fn, void *ctx,
                       struct tarn_err *err)
{
    tarn_code code = TARN_OK;
    while (tarn_sqlite_each(tx, st, &code, err)) {
        struct tarn_batch row;
        code = read_row(st, &row, err);
        if (code == TARN_OK)
            code = fn(ctx, &row, err);
    }
    return code;
}

static tarn_code page(struct tarn_tx *tx, int64_t table_id, const struct tarn_batch_filter *filter,
                      tarn_batch_fn *fn, void *ctx, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, filter->status < 0 ? S_PAGE : S_PAGE_OF_STATUS);
    const char *prefix = filter->prefix ? filter->prefix : "";
    char above[TARN_BATCH_ID_MAX + 2]; /* 0xff is above every byte of UTF-8 */
    (void)snprintf(above, sizeof above, "%s\xff", prefix);
    bind_i64(st, 1, table_id);
    bind_text(st, 2, filter->after ? filter->after : "");
    bind_text(st, 3, prefix);
    bind_text(st, 4, above);
    bind_i64(st, 5, filter->limit);
    if (filter->status >= 0)
        bind_text(st, 6, tarn_batch_status_text((enum tarn_batch_status)filter->status));
    return visit(tx, st, fn, ctx, err);
}

static tarn_code mark(struct tarn_tx *tx, int which, int64_t table_id, int64_t from, int64_t to, int64_t by,
                      int64_t now_ms, int64_t limit, bool *left, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, which);
    bind_i64(st, 1, table_id);
    bind_i64(st, 2, from);
    bind_i64(st, 3, to);
    bind_i64(st, 4, now_ms);
    bind_i64(st, 5, by);
    bind_i64(st, 6, limit);
    tarn_code code = tarn_sqlite_run(tx, st, err);
    if (code == TARN_OK)
        *left = tarn_sqlite_changed(tx) == limit;
    return code;
}

static tarn_code roll_back(struct tarn_tx *tx, int64_t table_id, int64_t from, int64_t to, int64_t by,
                           int64_t now_ms, int64_t limit, bool *left, struct tarn_err *err)
{
    return mark(tx, S_ROLL_BACK, table_id, from, to, by, now_ms, limit, left, err);
}

static tarn_code count_again(struct tarn_tx *tx, int64_t table_id, int64_t from, int64_t to, int64_t by,
                             int64_t now_ms, int64_t limit, bool *left, struct tarn_err *err)
{
    bool others = false;
    tarn_code code = mark(tx, S_COUNT_AGAIN, table_id, from, to, by, now_ms, limit, left, err);
    if (code == TARN_OK)
        code = mark(tx, S_KEEP_OTHERS, table_id, from, to, by, now_ms, limit, &others, err);
    if (code == TARN_OK)
        code = mark(tx, S_COUNT_PAST, table_id, from, to, by, now_ms, limit, &others, err);
    *left |= others;
    return code;
}

static tarn_code pending(struct tarn_tx *tx, int64_t table_id, int64_t version, const char *after,
                         int64_t limit, tarn_batch_fn *fn, void *ctx, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_PENDING);
    bind_i64(st, 1, table_id);
    bind_text(st, 2, after);
    bind_i64(st, 3, version);
    bind_i64(st, 4, limit);
    return visit(tx, st, fn, ctx, err);
}

/* One step a table: a table may have many batches pending. */
static tarn_code next_pending(struct tarn_tx *tx, int64_t after_id, int64_t *id, bool *found,
                              struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_PENDING_TABLE);
    bind_i64(st, 1, after_id);
    tarn_code code = tarn_sqlite_next(tx, st, found, err);
    if (code == TARN_OK && *found)
        *id = column_i64(st, 0);
    return code;
}

static tarn_code pending_tables(struct tarn_tx *tx, int64_t after_id, int64_t limit, int64_t *ids,
                                int64_t *count, struct tarn_err *err)
{
    bool found = true;
    int64_t n = 0;
    while (n < limit) {
        tarn_code code = next_pending(tx, n > 0 ? ids[n - 1] : after_id, &ids[n], &found, err);
        if (code != TARN_OK)
            return code;
        if (!found)
            break;
        n++;
    }
    *count = n;
    return TARN_OK;
}

static tarn_code shown(struct tarn_tx *tx, int64_t table_id, const char *batch_id, int64_t revision,
                       bool foreign, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_SHOWN);
    bind_i64(st, 1, table_id);
    bind_text(st, 2, batch_id);
    bind_i64(st, 3, revision);
    bind_i64(st, 4, foreign);
    return tarn_sqlite_run(tx, st, err);
}

void tarn_sqlite_batches_ops(struct tarn_store_ops *ops)
{
    ops->batches.get = get;
    ops->batches.put = put;
    ops->batches.past = past;
    ops->batches.page = page;
    ops->batches.roll_back = roll_back;
    ops->batches.count_again = count_again;
    ops->batches.pending = pending;
    ops->batches.pending_tables = pending_tables;
    ops->batches.shown = shown;
}
