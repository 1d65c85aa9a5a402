/* purges.c - tables and views that were dropped with their files: what is still to be done. */
#include "catalog/sqlite/internal.h"
#include <stddef.h>

enum { S_ADD, S_DUE, S_POSTPONE, S_REMOVE };
/* clang-format off */
const char *const tarn_sqlite_purges_sql[] = {
    [S_ADD] =
        "INSERT INTO purges (name, location, metadata_location, metadata, created_at, due_at, failures) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0)",
    [S_DUE] =
        "SELECT id, name, location, metadata_location, metadata, created_at, due_at, failures FROM purges "
        "WHERE due_at <= ?1 ORDER BY due_at LIMIT 1",
    [S_POSTPONE] = "UPDATE purges SET due_at = ?2, failures = failures + 1 WHERE id = ?1",
    [S_REMOVE] = "DELETE FROM purges WHERE id = ?1",
    NULL
};
/* clang-format on */

static sqlite3_stmt *stmt(struct tarn_tx *tx, int which) { return stmt_of(tx, TARN_SQLITE_PURGES, which); }

static tarn_code add(struct tarn_tx *tx, const struct tarn_purge *purge, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_ADD);
    bind_text(st, 1, purge->name);
    bind_text(st, 2, purge->location);
    bind_text(st, 3, purge->metadata_location);
    bind_text(st, 4, purge->metadata);
    bind_i64(st, 5, purge->created_at);
    bind_i64(st, 6, purge->due_at);
    return tarn_sqlite_run(tx, st, err);
}

static tarn_code due(struct tarn_tx *tx, int64_t now_ms, struct tarn_purge *out, struct tarn_err *err)
{
    static const size_t k_texts[] = { offsetof(struct tarn_purge, name),
                                      offsetof(struct tarn_purge, location),
                                      offsetof(struct tarn_purge, metadata_location),
                                      offsetof(struct tarn_purge, metadata) };
    AUTO_STMT *st = stmt(tx, S_DUE);
    bind_i64(st, 1, now_ms);
    bool found = false;
    tarn_code code = tarn_sqlite_next(tx, st, &found, err);
    if (code != TARN_OK)
        return code;
    if (!found)
        return tarn_fail(err, TARN_NOT_FOUND, "nothing is to be purged");
    struct tarn_purge row = { .id = column_i64(st, 0),
                              .name = column_text(st, 1),
                              .location = column_text(st, 2),
                              .metadata_location = column_text(st, 3),
                              .metadata = column_text(st, 4),
                              .created_at = column_i64(st, 5),
                              .due_at = column_i64(st, 6),
                              .failures = column_i64(st, 7) };
    code = tarn_sqlite_own(&row, k_texts, TARN_COUNT(k_texts), err);
    if (code == TARN_OK)
        *out = row;
    return code;
}

static tarn_code postpone(struct tarn_tx *tx, int64_t id, int64_t due_at, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_POSTPONE);
    bind_i64(st, 1, id);
    bind_i64(st, 2, due_at);
    return tarn_sqlite_run(tx, st, err);
}

static tarn_code drop(struct tarn_tx *tx, int64_t id, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_REMOVE);
    bind_i64(st, 1, id);
    return tarn_sqlite_run(tx, st, err);
}

void tarn_sqlite_purges_ops(struct tarn_store_ops *ops)
{
    ops->purges.add = add;
    ops->purges.due = due;
    ops->purges.postpone = postpone;
    ops->purges.remove = drop;
}
