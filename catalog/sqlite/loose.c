/* loose.c - ids that own rows but are no table: those taken for a table to come, under which its files
 * are staged, and those of dropped tables whose time is over. A table goes in two steps: its row
 * becomes a loose id (so nobody can restore a half of it), then the rows go, some at a time. */
#include "catalog/sqlite/internal.h"

enum {
    S_RESERVE,
    S_LAST,
    S_EXPIRED,
    S_LOOSEN,
    S_DROP_TABLE,
    S_NEXT_LOOSE,
    S_DROP_LOOSE,
    S_FILES,
    S_RETIRED,
    S_COMMITS,
    S_ADOPTED,
    S_TAKEN,
    S_SCHEMAS,
    S_BATCHES,
    S_BATCHES_PAST,
    S_ROLLBACKS,
    S_CHECKPOINTS,
    S_FINDINGS,
    S_SAMPLES,
    S_PUBLICATION,
    S_SCAN,
    S_ICEBERG,
    S_REPORTS,
    S_BY_UUID,
    S_TAKE_UUID
};
/* clang-format off */
const char *const tarn_sqlite_loose_sql[] = {
    [S_RESERVE] = "INSERT INTO loose_ids DEFAULT VALUES",
    [S_LAST] = "SELECT coalesce(max(id), 0) FROM loose_ids",
    [S_EXPIRED] =
        "SELECT id FROM tables WHERE dropped_at < ?1 AND dropped_at IS NOT NULL "
        "ORDER BY dropped_at LIMIT 1",
    [S_LOOSEN] = "INSERT INTO loose_ids (id, purged) VALUES (?1, 1)",
    [S_DROP_TABLE] = "DELETE FROM tables WHERE id = ?1",
    [S_NEXT_LOOSE] = "SELECT id FROM loose_ids WHERE purged = 1 OR id <= ?1 LIMIT 1",
    [S_DROP_LOOSE] = "DELETE FROM loose_ids WHERE id = ?1",
    /* Each takes the id and how many rows at most. */
    [S_FILES] =
        "DELETE FROM files WHERE table_id = ?1 AND (added_version, path) <= "
        "(SELECT added_version, path FROM "
        "(SELECT added_version, path FROM files WHERE table_id = ?1 ORDER BY added_version, path LIMIT ?2) "
        "ORDER BY added_version DESC, path DESC LIMIT 1)",
    [S_RETIRED] =
        "DELETE FROM retired_files WHERE table_id = ?1 AND path IN "
        "(SELECT path FROM retired_files WHERE table_id = ?1 LIMIT ?2)",
    [S_COMMITS] =
        "DELETE FROM commits WHERE table_id = ?1 AND version IN "
        "(SELECT version FROM commits WHERE table_id = ?1 LIMIT ?2)",
    [S_ADOPTED] =
        "DELETE FROM adopted_entries WHERE table_id = ?1 AND position IN "
        "(SELECT position FROM adopted_entries WHERE table_id = ?1 LIMIT ?2)",
    [S_TAKEN] =
        "DELETE FROM taken_ids WHERE table_id = ?1 AND \"transaction\" IN "
        "(SELECT \"transaction\" FROM taken_ids WHERE table_id = ?1 LIMIT ?2)",
    [S_SCHEMAS] =
        "DELETE FROM schemas WHERE table_id = ?1 AND version IN "
        "(SELECT version FROM schemas WHERE table_id = ?1 LIMIT ?2)",
    [S_BATCHES] =
        "DELETE FROM batches WHERE table_id = ?1 AND batch_id IN "
        "(SELECT batch_id FROM batches WHERE table_id = ?1 LIMIT ?2)",
    [S_BATCHES_PAST] =
        "DELETE FROM batches_past WHERE table_id = ?1 AND (batch_id, version) IN "
        "(SELECT batch_id, version FROM batches_past WHERE table_id = ?1 LIMIT ?2)",
    [S_ROLLBACKS] =
        "DELETE FROM rollbacks WHERE table_id = ?1 AND version IN "
        "(SELECT version FROM rollbacks WHERE table_id = ?1 LIMIT ?2)",
    [S_CHECKPOINTS] =
        "DELETE FROM checkpoints WHERE table_id = ?1 AND version IN "
        "(SELECT version FROM checkpoints WHERE table_id = ?1 LIMIT ?2)",
    [S_FINDINGS] =
        "DELETE FROM findings WHERE table_id = ?1 AND id IN "
        "(SELECT id FROM findings WHERE table_id = ?1 LIMIT ?2)",
    [S_SAMPLES] =
        "DELETE FROM samples WHERE table_id = ?1 AND at IN "
        "(SELECT at FROM samples WHERE table_id = ?1 LIMIT ?2)",
    [S_PUBLICATION] = "DELETE FROM publications WHERE table_id = ?1 AND ?2 > 0",
    [S_SCAN] = "DELETE FROM scans WHERE table_id = ?1 AND ?2 > 0",
    [S_ICEBERG] = "DELETE FROM iceberg_tables WHERE table_id = ?1 AND ?2 > 0",
    [S_REPORTS] =
        "DELETE FROM reports WHERE id IN (SELECT id FROM reports WHERE table_id = ?1 LIMIT ?2)",
    [S_BY_UUID] = "SELECT id, dropped_at FROM tables WHERE uuid = ?1",
    [S_TAKE_UUID] = "UPDATE tables SET uuid = ?2 WHERE id = ?1",
    NULL
};
/* clang-format on */

static sqlite3_stmt *stmt(struct tarn_tx *tx, int which) { return stmt_of(tx, TARN_SQLITE_LOOSE, which); }

static tarn_code reserve_id(struct tarn_tx *tx, int64_t *id, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_RESERVE);
    tarn_code code = tarn_sqlite_run(tx, st, err);
    if (code == TARN_OK)
        *id = sqlite3_last_insert_rowid(tarn_sqlite_conn_of(tx)->db);
    return code;
}

/* One id out of a statement with one parameter; *found false: none. */
static tarn_code find_id(struct tarn_tx *tx, int which, int64_t parameter, bool *found, int64_t *id,
                         struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, which);
    bind_i64(st, 1, parameter);
    tarn_code code = tarn_sqlite_next(tx, st, found, err);
    if (code == TARN_OK && *found)
        *id = column_i64(st, 0);
    return code;
}

static tarn_code with_id(struct tarn_tx *tx, int which, int64_t id, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, which);
    bind_i64(st, 1, id);
    return tarn_sqlite_run(tx, st, err);
}

/* The rows of one loose id, at most *budget, which is lowered; the id itself when nothing is left of it. */
static tarn_code clear(struct tarn_tx *tx, int64_t id, int64_t *budget, struct tarn_err *err)
{
    static const int k_steps[] = {
        S_FILES,     S_RETIRED,     S_COMMITS, S_ADOPTED,  S_TAKEN,       S_SCHEMAS,
        S_ROLLBACKS, S_CHECKPOINTS, S_BATCHES, S_BATCHES_PAST, S_FINDINGS, S_SAMPLES,
        S_PUBLICATION, S_SCAN, S_ICEBERG, S_REPORTS
    };
    for (size_t i = 0; i < TARN_COUNT(k_steps) && *budget > 0; i++) {
        AUTO_STMT *st = stmt(tx, k_steps[i]);
        bind_i64(st, 1, id);
        bind_i64(st, 2, *budget);
        tarn_code code = tarn_sqlite_run(tx, st, err);
        if (code != TARN_OK)
            return code;
        *budget -= tarn_sqlite_changed(tx);
    }
    return *budget > 0 ? with_id(tx, S_DROP_LOOSE, id, err) : TARN_OK;
}

static tarn_code sweep(struct tarn_tx *tx, int64_t limit, bool *left, struct tarn_err *err)
{
    int64_t before = tarn_sqlite_store_of(tx->store)->loose_before, id = 0;
    bool found = false;
    tarn_code code = find_id(tx, S_NEXT_LOOSE, before, &found, &id, err);
    for (int64_t budget = limit; code == TARN_OK && found && budget > 0; budget--) {
        code = clear(tx, id, &budget, err);
        if (code == TARN_OK)
            code = find_id(tx, S_NEXT_LOOSE, before, &found, &id, err);
    }
    if (code == TARN_OK)
        *left = found;
    return code;
}

static tarn_code by_uuid(struct tarn_tx *tx, const char *uuid, bool *found, int64_t *id, bool *dropped,
                         struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_BY_UUID);
    bind_text(st, 1, uuid);
    tarn_code code = tarn_sqlite_next(tx, st, found, err);
    if (code == TARN_OK && *found) {
        *id = column_i64(st, 0);
        *dropped = column_opt(st, 1) >= 0;
    }
    return code;
}

static tarn_code give_way(struct tarn_tx *tx, const char *uuid, struct tarn_err *err)
{
    bool found = false, dropped = false;
    int64_t id = 0;
    tarn_code code = by_uuid(tx, uuid, &found, &id, &dropped, err);
    if (code != TARN_OK || !found)
        return code;
    if (!dropped)
        return tarn_fail(err, TARN_UUID_TAKEN, "another table has the uuid %.40s", uuid);
    code = with_id(tx, S_LOOSEN, id, err);
    return code == TARN_OK ? with_id(tx, S_DROP_TABLE, id, err) : code;
}

static tarn_code take_uuid(struct tarn_tx *tx, int64_t id, const char *uuid, struct tarn_err *err)
{
    tarn_code code = give_way(tx, uuid, err);
    if (code != TARN_OK)
        return code;
    AUTO_STMT *st = stmt(tx, S_TAKE_UUID);
    bind_i64(st, 1, id);
    bind_text(st, 2, uuid);
    return tarn_sqlite_run(tx, st, err);
}

static tarn_code purge(struct tarn_tx *tx, int64_t before, int64_t limit, bool *left, struct tarn_err *err)
{
    int64_t id = 0, loosened = 0;
    bool found = false, rest = false;
    tarn_code code = find_id(tx, S_EXPIRED, before, &found, &id, err);
    while (code == TARN_OK && found && loosened < limit) {
        code = with_id(tx, S_LOOSEN, id, err);
        if (code == TARN_OK)
            code = with_id(tx, S_DROP_TABLE, id, err);
        if (code == TARN_OK)
            code = find_id(tx, S_EXPIRED, before, &found, &id, err);
        loosened++;
    }
    if (code == TARN_OK)
        code = sweep(tx, limit, &rest, err);
    if (code == TARN_OK)
        *left = found || rest;
    return code;
}

tarn_code tarn_sqlite_loose_start(struct tarn_sqlite_conn *conn, int64_t *loose_before, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(&conn->tx, S_LAST);
    bool row = false;
    tarn_code code = tarn_sqlite_next(&conn->tx, st, &row, err);
    if (code == TARN_OK && row)
        *loose_before = column_i64(st, 0);
    return code;
}

void tarn_sqlite_loose_ops(struct tarn_store_ops *ops)
{
    ops->tables.reserve_id = reserve_id;
    ops->tables.purge = purge;
    ops->tables.give_way = give_way;
    ops->tables.take_uuid = take_uuid;
    ops->files.sweep = sweep;
}
