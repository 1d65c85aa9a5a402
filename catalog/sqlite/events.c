/* events.c - the feed of what happened: appended by every change in its own
 * transaction, read in order, and cut off at the old end. Its numbers come
 * from the database, so that their order is that of the transactions. */
#include "catalog/sqlite/internal.h"

enum { S_ADD, S_LIST, S_FIRST, S_NEWEST, S_EXPIRE };
/* clang-format off */
const char *const tarn_sqlite_events_sql[] = {
    [S_ADD] = "INSERT INTO events (type, table_id, namespace, name, at, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    [S_LIST] =
        "SELECT sequence, type, table_id, namespace, name, at, data FROM events "
        "WHERE sequence > ?1 ORDER BY sequence LIMIT ?2",
    [S_FIRST] = "SELECT sequence FROM events ORDER BY sequence LIMIT 1",
    [S_NEWEST] = "SELECT seq FROM sqlite_sequence WHERE name = 'events'",
    /* Always the oldest: what is kept has no hole, also when the clock was set back between two of them. */
    [S_EXPIRE] =
        "DELETE FROM events WHERE sequence < coalesce("
        "(SELECT min(sequence) FROM (SELECT sequence, at FROM events ORDER BY sequence LIMIT ?2) WHERE at >= ?1), "
        "(SELECT max(sequence) + 1 FROM (SELECT sequence FROM events ORDER BY sequence LIMIT ?2)))",
    NULL
};
/* clang-format on */

static sqlite3_stmt *stmt(struct tarn_tx *tx, int which) { return stmt_of(tx, TARN_SQLITE_EVENTS, which); }

static tarn_code add(struct tarn_tx *tx, const struct tarn_event *event, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_ADD);
    tarn_events_note(tx->store);
    bind_text(st, 1, event->type);
    bind_i64(st, 2, event->table_id);
    bind_text(st, 3, event->namespace_);
    bind_text(st, 4, event->name);
    bind_i64(st, 5, event->at);
    bind_text(st, 6, event->data);
    return tarn_sqlite_run(tx, st, err);
}

static tarn_code list(struct tarn_tx *tx, int64_t after, int64_t limit, tarn_event_fn *fn, void *ctx,
                      struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_LIST);
    bind_i64(st, 1, after);
    bind_i64(st, 2, limit);
    tarn_code code = TARN_OK;
    while (tarn_sqlite_each(tx, st, &code, err)) {
        const struct tarn_event event = { .sequence = column_i64(st, 0),
                                          .type = column_text(st, 1),
                                          .table_id = column_i64(st, 2),
                                          .namespace_ = column_text(st, 3),
                                          .name = column_text(st, 4),
                                          .at = column_i64(st, 5),
                                          .data = column_text(st, 6) };
        code = fn(ctx, &event, err);
    }
    return code;
}

/* The one number of a statement, 0 without a row. */
static tarn_code number_of(struct tarn_tx *tx, int which, bool *found, int64_t *out, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, which);
    tarn_code code = tarn_sqlite_next(tx, st, found, err);
    *out = code == TARN_OK && *found ? column_i64(st, 0) : 0;
    return code;
}

static tarn_code bounds(struct tarn_tx *tx, int64_t *first_after, int64_t *newest, struct tarn_err *err)
{
    int64_t oldest = 0, last = 0;
    bool has_oldest = false, has_any = false;
    tarn_code code = number_of(tx, S_FIRST, &has_oldest, &oldest, err);
    if (code == TARN_OK)
        code = number_of(tx, S_NEWEST, &has_any, &last, err);
    if (code != TARN_OK)
        return code;
    *first_after = has_oldest ? oldest - 1 : last;
    *newest = last;
    return TARN_OK;
}

static tarn_code expire(struct tarn_tx *tx, int64_t before, int64_t limit, bool *left, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_EXPIRE);
    return tarn_sqlite_expire(tx, st, before, limit, left, err);
}

void tarn_sqlite_events_ops(struct tarn_store_ops *ops)
{
    ops->events.add = add;
    ops->events.list = list;
    ops->events.bounds = bounds;
    ops->events.expire = expire;
}
