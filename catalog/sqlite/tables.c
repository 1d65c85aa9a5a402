/* tables.c - one table's row: made, found, changed, and its version moved by compare-and-swap. */
#include "catalog/sqlite/internal.h"

enum {
    S_NAMESPACE,
    S_INSERT,
    S_TIE,
    S_SCAN,
    S_GET,
    S_GET_BY_ID,
    S_GET_DROPPED,
    S_GET_DROPPED_UUID,
    S_UPDATE,
    S_PARK,
    S_COMMIT,
    S_STAGE,
    S_STAGED,
    S_VIEW
};
/* clang-format off */
const char *const tarn_sqlite_tables_sql[] = {
    [S_NAMESPACE] =
        "INSERT INTO namespaces (name, created_at) VALUES (?1, ?2) "
        "ON CONFLICT (name) DO UPDATE SET hidden = 0 WHERE hidden = 1",
    [S_INSERT] =
        "INSERT INTO tables (id, uuid, namespace_id, name, format, mode, location, metadata_location, "
        "version, published_version, oldest_version, latest_transaction, schema_version, published_schema, "
        "file_count, total_bytes, partition_keys, properties, owner, monitors, enforcement, verify, publish, "
        "protected, block, created_at, committed_at, revision, dropped_at, first_version, staging, "
        "log_from, block_document) "
        "VALUES (?1, ?2, (SELECT id FROM namespaces WHERE name = ?3), ?4, ?5, ?6, ?7, ?8, "
        "?9, ?10, ?11, ?12, ?13, 0, "
        "?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, "
        "?23, ?24, ?25, ?26, 1, ?27, ?28, 0, ?28, ?29)",
    [S_TIE] = "DELETE FROM loose_ids WHERE id = ?1",
    [S_SCAN] =
        "INSERT INTO scans (table_id, scanned, parked, checked_version, next_probe_at, next_sweep_at, "
        "failures, details, verdict, judged, verdict_since) "
        "VALUES (?1, 0, ?2, 0, 0, 0, 0, '{}', 'unknown', 0, ?3)",
    [S_GET] =
        "SELECT " TARN_SQLITE_TABLE_COLUMNS TARN_SQLITE_TABLE_FROM
        "WHERE n.name = ?1 AND t.name = ?2 AND t.dropped_at IS NULL",
    [S_GET_BY_ID] = "SELECT " TARN_SQLITE_TABLE_COLUMNS TARN_SQLITE_TABLE_FROM "WHERE t.id = ?1",
    [S_GET_DROPPED] =
        "SELECT " TARN_SQLITE_TABLE_COLUMNS TARN_SQLITE_TABLE_FROM
        "WHERE n.name = ?1 AND t.name = ?2 AND t.dropped_at IS NOT NULL "
        "ORDER BY t.dropped_at DESC, t.id DESC LIMIT 1",
    [S_GET_DROPPED_UUID] =
        "SELECT " TARN_SQLITE_TABLE_COLUMNS TARN_SQLITE_TABLE_FROM
        "WHERE n.name = ?1 AND t.name = ?2 AND t.dropped_at IS NOT NULL AND t.uuid = ?3",
    [S_UPDATE] =
        "UPDATE tables SET namespace_id = (SELECT id FROM namespaces WHERE name = ?3), name = ?4, "
        "format = ?5, mode = ?6, location = ?7, metadata_location = ?8, version = ?9, "
        "published_version = ?10, oldest_version = ?11, latest_transaction = ?12, schema_version = ?13, "
        "file_count = ?14, total_bytes = ?15, partition_keys = ?16, properties = ?17, owner = ?18, "
        "monitors = ?19, enforcement = ?20, verify = ?21, publish = ?22, protected = ?23, block = ?24, "
        "created_at = ?25, committed_at = ?26, dropped_at = ?27, first_version = ?28, block_document = ?29, "
        "revision = revision + 1 "
        "WHERE id = ?1 AND uuid = ?2",
    [S_PARK] = "UPDATE scans SET parked = ?2 WHERE table_id = ?1 AND parked <> ?2",
    [S_COMMIT] =
        "UPDATE tables SET version = version + 1, latest_transaction = ?3, committed_at = ?4, "
        "file_count = ?5, total_bytes = ?6, revision = revision + 1 "
        "WHERE id = ?1 AND version = ?2 AND staging = 0 AND dropped_at IS NULL",
    [S_STAGE] = "UPDATE tables SET staging = ?2 WHERE id = ?1",
    [S_STAGED] = "SELECT id FROM tables INDEXED BY tables_staging WHERE staging > 0 AND id > ?1 ORDER BY id LIMIT ?2",
    [S_VIEW] =
        "SELECT EXISTS (SELECT 1 FROM views v JOIN namespaces n ON n.id = v.namespace_id "
        "WHERE n.name = ?1 AND v.name = ?2)",
    NULL
};
/* clang-format on */

static sqlite3_stmt *stmt(struct tarn_tx *tx, int which) { return stmt_of(tx, TARN_SQLITE_TABLES, which); }

tarn_code tarn_sqlite_table_not_found(const char *namespace_, const char *name, struct tarn_err *err)
{
    char dotted[TARN_DOTTED_MAX];
    tarn_ident_format(namespace_, name, dotted);
    return tarn_fail(err, TARN_TABLE_NOT_FOUND, "the table '%s' does not exist", dotted);
}

static void bind_table(sqlite3_stmt *st, const struct tarn_table *t)
{
    bind_i64(st, 1, t->id);
    bind_text(st, 2, t->uuid);
    bind_text(st, 3, t->namespace_);
    bind_text(st, 4, t->name);
    bind_text(st, 5, tarn_format_text(t->format));
    bind_text(st, 6, tarn_mode_text(t->mode));
    bind_text(st, 7, t->location);
    bind_text(st, 8, t->metadata_location);
    bind_i64(st, 9, t->version);
    bind_i64(st, 10, t->published_version);
    bind_i64(st, 11, t->oldest_version);
    bind_text(st, 12, t->latest_transaction);
    bind_i64(st, 13, t->schema_version);
    bind_i64(st, 14, t->file_count);
    bind_i64(st, 15, t->total_bytes);
    bind_text(st, 16, t->partition_keys);
    bind_text(st, 17, t->properties);
    bind_text(st, 18, t->owner);
    bind_text(st, 19, t->monitors);
    bind_text(st, 20, t->enforcement_given ? tarn_enforcement_text(t->enforcement) : NULL);
    bind_text(st, 21, t->verify_given ? tarn_verify_text(t->verify) : NULL);
    bind_i64(st, 22, t->publish);
    bind_i64(st, 23, t->protected_);
    bind_text(st, 24, tarn_block_text(t->block));
    bind_i64(st, 25, t->created_at);
    bind_i64(st, 26, t->committed_at);
    bind_opt(st, 27, t->dropped_at);
    bind_i64(st, 28, t->first_version);
    bind_text(st, 29, t->block == TARN_BLOCK_FOREIGN_WRITE ? t->block_document : NULL);
}

/* That of a dropped table is there, and may stay hidden. */
static tarn_code ensure_namespace(struct tarn_tx *tx, const struct tarn_table *table, struct tarn_err *err)
{
    if (table->dropped_at >= 0)
        return TARN_OK;
    AUTO_STMT *st = stmt(tx, S_NAMESPACE);
    bind_text(st, 1, table->namespace_);
    bind_i64(st, 2, table->created_at);
    return tarn_sqlite_run(tx, st, err);
}

static tarn_code write_row(struct tarn_tx *tx, int which, const struct tarn_table *table,
                           struct tarn_err *err)
{
    tarn_changes_note(tx->store, table->id);
    AUTO_STMT *st = stmt(tx, which);
    bind_table(st, table);
    return tarn_sqlite_run(tx, st, err);
}

/* The id is a table's now, no longer a loose one. */
static tarn_code tie(struct tarn_tx *tx, int64_t id, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_TIE);
    bind_i64(st, 1, id);
    return tarn_sqlite_run(tx, st, err);
}

/* The first scan is due at once. */
static tarn_code make_due(struct tarn_tx *tx, const struct tarn_table *table, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_SCAN);
    bind_i64(st, 1, table->id);
    bind_i64(st, 2, table->dropped_at >= 0);
    bind_i64(st, 3, table->created_at);
    return tarn_sqlite_run(tx, st, err);
}

/* Tables and views share their names; the index of each keeps only its own apart. */
static tarn_code refuse_view(struct tarn_tx *tx, const struct tarn_table *table, struct tarn_err *err)
{
    if (table->dropped_at >= 0)
        return TARN_OK;
    AUTO_STMT *st = stmt(tx, S_VIEW);
    bind_text(st, 1, table->namespace_);
    bind_text(st, 2, table->name);
    bool found = false;
    tarn_code code = tarn_sqlite_next(tx, st, &found, err);
    if (code != TARN_OK || column_i64(st, 0) == 0)
        return code;
    char dotted[TARN_DOTTED_MAX];
    tarn_ident_format(table->namespace_, table->name, dotted);
    return tarn_fail_code_field(err, TARN_VIEW_EXISTS, "name", "a view has the name '%s'", dotted);
}

static tarn_code insert(struct tarn_tx *tx, const struct tarn_table *table, struct tarn_err *err)
{
    tarn_code code = refuse_view(tx, table, err);
    if (code == TARN_OK)
        code = ensure_namespace(tx, table, err);
    if (code == TARN_OK)
        code = write_row(tx, S_INSERT, table, err);
    if (code == TARN_OK)
        code = tie(tx, table->id, err);
    if (code == TARN_OK)
        code = make_due(tx, table, err);
    return code;
}

/* The one row of a bound statement as the caller's own; *found false and *out untouched when there is none.
 */
static tarn_code read_one(struct tarn_tx *tx, sqlite3_stmt *st, bool *found, struct tarn_table **out,
                          struct tarn_err *err)
{
    struct tarn_table row;
    tarn_code code = tarn_sqlite_next(tx, st, found, err);
    if (code == TARN_OK && *found)
        code = tarn_sqlite_table_row(st, &row, err);
    if (code == TARN_OK && *found)
        code = tarn_sqlite_table_own(&row, out, err);
    return code;
}

static tarn_code get(struct tarn_tx *tx, const char *namespace_, const char *name, struct tarn_table **out,
                     struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_GET);
    bind_text(st, 1, namespace_);
    bind_text(st, 2, name);
    bool found = false;
    tarn_code code = read_one(tx, st, &found, out, err);
    return code == TARN_OK && !found ? tarn_sqlite_table_not_found(namespace_, name, err) : code;
}

static tarn_code get_by_id(struct tarn_tx *tx, int64_t id, struct tarn_table **out, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_GET_BY_ID);
    bind_i64(st, 1, id);
    bool found = false;
    tarn_code code = read_one(tx, st, &found, out, err);
    return code == TARN_OK && !found ? tarn_fail(err, TARN_TABLE_NOT_FOUND, "the table no longer exists")
                                     : code;
}

static tarn_code get_dropped(struct tarn_tx *tx, const char *namespace_, const char *name, const char *uuid,
                             struct tarn_table **out, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, uuid ? S_GET_DROPPED_UUID : S_GET_DROPPED);
    bind_text(st, 1, namespace_);
    bind_text(st, 2, name);
    if (uuid)
        bind_text(st, 3, uuid);
    bool found = false;
    tarn_code code = read_one(tx, st, &found, out, err);
    return code == TARN_OK && !found ? tarn_sqlite_table_not_found(namespace_, name, err) : code;
}

/* Nothing of a dropped table is due. */
static tarn_code park(struct tarn_tx *tx, const struct tarn_table *table, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_PARK);
    bind_i64(st, 1, table->id);
    bind_i64(st, 2, table->dropped_at >= 0);
    return tarn_sqlite_run(tx, st, err);
}

static tarn_code update(struct tarn_tx *tx, const struct tarn_table *table, struct tarn_err *err)
{
    tarn_code code = refuse_view(tx, table, err);
    if (code == TARN_OK)
        code = ensure_namespace(tx, table, err);
    if (code == TARN_OK)
        code = write_row(tx, S_UPDATE, table, err);
    if (code != TARN_OK)
        return code;
    if (tarn_sqlite_changed(tx) == 0)
        return tarn_sqlite_table_not_found(table->namespace_, table->name, err);
    return park(tx, table, err);
}

static tarn_code commit(struct tarn_tx *tx, int64_t id, int64_t expected, const struct tarn_commit_row *next,
                        struct tarn_err *err)
{
    tarn_changes_note(tx->store, id);
    AUTO_STMT *st = stmt(tx, S_COMMIT);
    bind_i64(st, 1, id);
    bind_i64(st, 2, expected);
    bind_text(st, 3, next->transaction);
    bind_i64(st, 4, next->committed_at);
    bind_i64(st, 5, next->file_count);
    bind_i64(st, 6, next->total_bytes);
    tarn_code code = tarn_sqlite_run(tx, st, err);
    if (code == TARN_OK && tarn_sqlite_changed(tx) == 0)
        return tarn_fail(err, TARN_VERSION_CONFLICT, "the table is not at version %lld", (long long)expected);
    tx->store->commits_pending += code == TARN_OK;
    return code;
}

static tarn_code stage(struct tarn_tx *tx, int64_t id, int64_t version, struct tarn_err *err)
{
    tarn_changes_note(tx->store, id);
    AUTO_STMT *st = stmt(tx, S_STAGE);
    bind_i64(st, 1, id);
    bind_i64(st, 2, version);
    return tarn_sqlite_run(tx, st, err);
}

static tarn_code staged(struct tarn_tx *tx, int64_t after_id, int64_t limit, int64_t *ids, int64_t *count,
                        struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_STAGED);
    bind_i64(st, 1, after_id);
    bind_i64(st, 2, limit);
    return tarn_sqlite_ids(tx, st, ids, count, err);
}

void tarn_sqlite_tables_ops(struct tarn_store_ops *ops)
{
    ops->tables.insert = insert;
    ops->tables.get = get;
    ops->tables.get_by_id = get_by_id;
    ops->tables.get_dropped = get_dropped;
    ops->tables.update = update;
    ops->tables.commit = commit;
    ops->tables.stage = stage;
    ops->tables.staged = staged;
}
