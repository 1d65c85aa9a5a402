/* history.c - the end of old history: checkpoints of the log, and the commits before them. */
#include "catalog/sqlite/internal.h"

enum {
    S_ADD_CHECKPOINT,
    S_CHECKPOINT_AT,
    S_CHECKPOINTS,
    S_DROP_CHECKPOINT,
    S_COMMITS,
    S_FORGET,
    S_STRIP,
    S_MOVE
};
/* clang-format off */
const char *const tarn_sqlite_history_sql[] = {
    [S_ADD_CHECKPOINT] =
        "INSERT INTO checkpoints (table_id, version, \"transaction\") VALUES (?1, ?2, ?3) "
        "ON CONFLICT (table_id, version) DO NOTHING",
    [S_CHECKPOINT_AT] =
        "SELECT version FROM checkpoints WHERE table_id = ?1 AND version <= ?2 ORDER BY version DESC LIMIT 1",
    [S_CHECKPOINTS] =
        "SELECT version, \"transaction\" FROM checkpoints WHERE table_id = ?1 AND version < ?2 "
        "ORDER BY version LIMIT ?3",
    [S_DROP_CHECKPOINT] = "DELETE FROM checkpoints WHERE table_id = ?1 AND version = ?2",
    [S_COMMITS] =
        "SELECT version, \"transaction\" FROM commits WHERE table_id = ?1 AND version >= ?2 AND version < ?3 "
        "ORDER BY version LIMIT ?4",
    /* Without a hash no replay is possible. A rollback is named to those who replay what it undid. */
    [S_FORGET] =
        "DELETE FROM commits WHERE table_id = ?1 AND version >= ?2 AND version < ?3 AND body_hash = '' "
        "AND version NOT IN (SELECT version FROM rollbacks WHERE table_id = ?1 AND version >= ?2 AND version < ?3)",
    [S_STRIP] =
        "UPDATE commits SET metadata = NULL, batch_ids = NULL "
        "WHERE table_id = ?1 AND version >= ?2 AND version < ?3",
    [S_MOVE] = "UPDATE tables SET log_from = ?2 WHERE id = ?1",
    NULL
};
/* clang-format on */

static sqlite3_stmt *stmt(struct tarn_tx *tx, int which) { return stmt_of(tx, TARN_SQLITE_HISTORY, which); }

static tarn_code add_checkpoint(struct tarn_tx *tx, int64_t table_id, int64_t version,
                                const char *transaction, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_ADD_CHECKPOINT);
    bind_i64(st, 1, table_id);
    bind_i64(st, 2, version);
    bind_text(st, 3, transaction);
    return tarn_sqlite_run(tx, st, err);
}

static tarn_code checkpoint_at(struct tarn_tx *tx, int64_t table_id, int64_t version, int64_t *found,
                               struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_CHECKPOINT_AT);
    bool row = false;
    bind_i64(st, 1, table_id);
    bind_i64(st, 2, version);
    tarn_code code = tarn_sqlite_next(tx, st, &row, err);
    if (code == TARN_OK)
        *found = row ? column_i64(st, 0) : 0;
    return code;
}

/* Rows of version and transaction to fn. */
static tarn_code walk(struct tarn_tx *tx, sqlite3_stmt *st, tarn_commit_fn *fn, void *ctx,
                      struct tarn_err *err)
{
    tarn_code code = TARN_OK;
    while (tarn_sqlite_each(tx, st, &code, err)) {
        struct tarn_commit_row row = { .version = column_i64(st, 0), .transaction = column_text(st, 1) };
        code = fn(ctx, &row, err);
    }
    return code;
}

static tarn_code checkpoints(struct tarn_tx *tx, int64_t table_id, int64_t below, int64_t limit,
                             tarn_commit_fn *fn, void *ctx, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_CHECKPOINTS);
    bind_i64(st, 1, table_id);
    bind_i64(st, 2, below);
    bind_i64(st, 3, limit);
    return walk(tx, st, fn, ctx, err);
}

static tarn_code drop_checkpoint(struct tarn_tx *tx, int64_t table_id, int64_t version, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_DROP_CHECKPOINT);
    bind_i64(st, 1, table_id);
    bind_i64(st, 2, version);
    return tarn_sqlite_run(tx, st, err);
}

static tarn_code commits(struct tarn_tx *tx, int64_t table_id, int64_t from, int64_t below, int64_t limit,
                         tarn_commit_fn *fn, void *ctx, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_COMMITS);
    bind_i64(st, 1, table_id);
    bind_i64(st, 2, from);
    bind_i64(st, 3, below);
    bind_i64(st, 4, limit);
    return walk(tx, st, fn, ctx, err);
}

static tarn_code forget_range(struct tarn_tx *tx, int which, int64_t table_id, int64_t from, int64_t below,
                              struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, which);
    bind_i64(st, 1, table_id);
    bind_i64(st, 2, from);
    bind_i64(st, 3, below);
    return tarn_sqlite_run(tx, st, err);
}

static tarn_code forget(struct tarn_tx *tx, int64_t table_id, int64_t from, int64_t below,
                        struct tarn_err *err)
{
    tarn_code code = forget_range(tx, S_FORGET, table_id, from, below, err);
    if (code == TARN_OK)
        code = forget_range(tx, S_STRIP, table_id, from, below, err);
    if (code != TARN_OK)
        return code;
    AUTO_STMT *st = stmt(tx, S_MOVE);
    bind_i64(st, 1, table_id);
    bind_i64(st, 2, below);
    return tarn_sqlite_run(tx, st, err);
}

void tarn_sqlite_history_ops(struct tarn_store_ops *ops)
{
    ops->history.add_checkpoint = add_checkpoint;
    ops->history.checkpoint_at = checkpoint_at;
    ops->history.checkpoints = checkpoints;
    ops->history.drop_checkpoint = drop_checkpoint;
    ops->history.commits = commits;
    ops->history.forget = forget;
}
