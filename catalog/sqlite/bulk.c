/* bulk.c - the steps of a large commit: each takes the next rows in the order of an index
 * and says where it came to, so that the writer is free between two of them. A row's own
 * version says whose it is, so what a crash left behind is found again without any list. */
#include "catalog/sqlite/internal.h"

#define AFTER_KEY     "table_id = ?1 AND (added_version, path) > (?2, ?3) "
#define AFTER_REMOVAL "table_id = ?1 AND (removed_version, added_version, path) > (?2, ?3, ?4) "

enum { S_KEY_END, S_REMOVE, S_REMOVAL_END, S_BRING_BACK, S_UNDO_ADDS, S_UNDO_REMOVES };
/* clang-format off */
const char *const tarn_sqlite_bulk_sql[] = {
    /* The last row of a step, or none when fewer are left. */
    [S_KEY_END] =
        "SELECT added_version, path FROM files WHERE " AFTER_KEY
        "AND added_version < ?4 ORDER BY added_version, path LIMIT 1 OFFSET ?5",
    [S_REMOVE] =
        "UPDATE files SET removed_version = ?6 WHERE " AFTER_KEY
        "AND (added_version, path) <= (?4, ?5) AND removed_version IS NULL RETURNING size",
    [S_REMOVAL_END] =
        "SELECT removed_version, added_version, path FROM files INDEXED BY files_removed WHERE " AFTER_REMOVAL
        "AND removed_version < ?5 ORDER BY removed_version, added_version, path LIMIT 1 OFFSET ?6",
    [S_BRING_BACK] =
        "INSERT INTO files (table_id, added_version, path, size, records, schema_version, partition_values, "
        "column_stats) SELECT table_id, ?8, path, size, records, schema_version, partition_values, column_stats "
        "FROM files INDEXED BY files_removed WHERE " AFTER_REMOVAL
        "AND (removed_version, added_version, path) <= (?5, ?6, ?7) AND removed_version < ?8 "
        "AND added_version <= ?9 RETURNING size",
    [S_UNDO_ADDS] =
        "DELETE FROM files WHERE table_id = ?1 AND added_version = ?2 AND path IN "
        "(SELECT path FROM files WHERE table_id = ?1 AND added_version = ?2 LIMIT ?3)",
    /* Joined: a list of pairs would be looked up by its first half only. */
    [S_UNDO_REMOVES] =
        "UPDATE files SET removed_version = NULL FROM (SELECT added_version AS was_added, path AS was_path "
        "FROM files INDEXED BY files_removed WHERE table_id = ?1 AND removed_version = ?2 LIMIT ?3) "
        "WHERE table_id = ?1 AND added_version = was_added AND path = was_path",
    NULL
};
/* clang-format on */

static sqlite3_stmt *stmt(struct tarn_tx *tx, int which) { return stmt_of(tx, TARN_SQLITE_BULK, which); }

/* Runs a statement that returns the size of each row it wrote. */
static tarn_code sum_up(struct tarn_tx *tx, sqlite3_stmt *st, struct tarn_file_totals *totals,
                        struct tarn_err *err)
{
    struct tarn_file_totals sum = { 0 };
    tarn_code code = TARN_OK;
    for (; tarn_sqlite_each(tx, st, &code, err); sum.files++)
        if (__builtin_add_overflow(sum.bytes, column_i64(st, 0), &sum.bytes))
            return tarn_fail(err, TARN_INTERNAL, "the sum of sizes is out of range");
    if (code == TARN_OK)
        *totals = sum;
    return code;
}

static tarn_code key_end(struct tarn_tx *tx, int64_t table_id, int64_t version,
                         const struct tarn_file_cursor *after, int64_t limit, struct tarn_file_cursor *at,
                         struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_KEY_END);
    bool row = false;
    bind_i64(st, 1, table_id);
    bind_i64(st, 2, after->added_version);
    bind_text(st, 3, after->path);
    bind_i64(st, 4, version);
    bind_i64(st, 5, limit - 1);
    tarn_code code = tarn_sqlite_next(tx, st, &row, err);
    if (code != TARN_OK)
        return code;
    *at = (struct tarn_file_cursor){ .added_version = row ? column_i64(st, 0) : version, .end = !row };
    column_fixed(st, 1, at->path, row ? sizeof at->path : 1);
    return TARN_OK;
}

static tarn_code remove_step(struct tarn_tx *tx, int64_t table_id, int64_t version,
                             const struct tarn_file_cursor *after, int64_t limit, struct tarn_file_cursor *at,
                             struct tarn_file_totals *totals, struct tarn_err *err)
{
    tarn_code code = key_end(tx, table_id, version, after, limit, at, err);
    if (code != TARN_OK)
        return code;
    AUTO_STMT *st = stmt(tx, S_REMOVE);
    bind_i64(st, 1, table_id);
    bind_i64(st, 2, after->added_version);
    bind_text(st, 3, after->path);
    bind_i64(st, 4, at->added_version);
    bind_text(st, 5, at->path);
    bind_i64(st, 6, version);
    return sum_up(tx, st, totals, err);
}

static void bind_removal(sqlite3_stmt *st, int at, const struct tarn_file_cursor *cursor)
{
    bind_i64(st, at, cursor->removed_version);
    bind_i64(st, at + 1, cursor->added_version);
    bind_text(st, at + 2, cursor->path);
}

static tarn_code removal_end(struct tarn_tx *tx, int64_t table_id, int64_t version,
                             const struct tarn_file_cursor *after, int64_t limit, struct tarn_file_cursor *at,
                             struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_REMOVAL_END);
    bool row = false;
    bind_i64(st, 1, table_id);
    bind_removal(st, 2, after);
    bind_i64(st, 5, version);
    bind_i64(st, 6, limit - 1);
    tarn_code code = tarn_sqlite_next(tx, st, &row, err);
    if (code != TARN_OK)
        return code;
    *at = (struct tarn_file_cursor){ .removed_version = row ? column_i64(st, 0) : version,
                                     .added_version = row ? column_i64(st, 1) : 0,
                                     .end = !row };
    column_fixed(st, 2, at->path, row ? sizeof at->path : 1);
    return TARN_OK;
}

static tarn_code bring_back(struct tarn_tx *tx, int64_t table_id, int64_t version, int64_t to,
                            const struct tarn_file_cursor *after, int64_t limit, struct tarn_file_cursor *at,
                            struct tarn_file_totals *totals, struct tarn_err *err)
{
    tarn_code code = removal_end(tx, table_id, version, after, limit, at, err);
    if (code != TARN_OK)
        return code;
    AUTO_STMT *st = stmt(tx, S_BRING_BACK);
    bind_i64(st, 1, table_id);
    bind_removal(st, 2, after);
    bind_removal(st, 5, at);
    bind_i64(st, 8, version);
    bind_i64(st, 9, to);
    return sum_up(tx, st, totals, err);
}

static tarn_code undo_step(struct tarn_tx *tx, int which, int64_t table_id, int64_t version, int64_t limit,
                           int64_t *count, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, which);
    bind_i64(st, 1, table_id);
    bind_i64(st, 2, version);
    bind_i64(st, 3, limit);
    tarn_code code = tarn_sqlite_run(tx, st, err);
    if (code == TARN_OK)
        *count = tarn_sqlite_changed(tx);
    return code;
}

/* Adds first: a path that was replaced is live once. */
static tarn_code undo(struct tarn_tx *tx, int64_t table_id, int64_t version, int64_t limit, bool *left,
                      struct tarn_err *err)
{
    int64_t adds = 0, removes = 0;
    tarn_code code = undo_step(tx, S_UNDO_ADDS, table_id, version, limit, &adds, err);
    if (code == TARN_OK && adds < limit)
        code = undo_step(tx, S_UNDO_REMOVES, table_id, version, limit - adds, &removes, err);
    if (code == TARN_OK)
        *left = adds + removes == limit;
    return code;
}

void tarn_sqlite_bulk_ops(struct tarn_store_ops *ops)
{
    ops->bulk.remove = remove_step;
    ops->bulk.bring_back = bring_back;
    ops->bulk.undo = undo;
}
