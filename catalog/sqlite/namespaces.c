/* namespaces.c - namespaces by themselves: what their tables inherit. Rows come into
 * being with a table too (tables.c), then without settings. One that is deleted while
 * dropped tables still stand under its name is only hidden, since those rows name it. */
#include "catalog/sqlite/internal.h"

#define COLUMNS "name, created_at, properties, owner, monitors, enforcement, verify, history_retention_ms"

enum { S_GET, S_LIST, S_INSERT, S_UPDATE, S_IS_USED, S_HIDE, S_DELETE };
/* clang-format off */
const char *const tarn_sqlite_namespaces_sql[] = {
    [S_GET] = "SELECT " COLUMNS " FROM namespaces WHERE name = ?1 AND hidden = 0",
    [S_LIST] = "SELECT " COLUMNS " FROM namespaces WHERE name > ?1 AND hidden = 0 ORDER BY name LIMIT ?2",
    [S_INSERT] =
        "INSERT INTO namespaces (" COLUMNS ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) "
        "ON CONFLICT (name) DO UPDATE SET created_at = ?2, properties = ?3, owner = ?4, monitors = ?5, "
        "enforcement = ?6, verify = ?7, history_retention_ms = ?8, hidden = 0 WHERE hidden = 1",
    [S_UPDATE] =
        "UPDATE namespaces SET properties = ?3, owner = ?4, monitors = ?5, enforcement = ?6, verify = ?7, "
        "history_retention_ms = ?8 WHERE name = ?1 AND ?2 IS NOT NULL AND hidden = 0",
    /* Inside lies what begins with the name and a dot; the slash is the character after it. */
    [S_IS_USED] =
        "SELECT EXISTS (SELECT 1 FROM tables t JOIN namespaces n ON n.id = t.namespace_id "
        "WHERE n.name = ?1 AND t.dropped_at IS NULL) OR "
        "EXISTS (SELECT 1 FROM views v JOIN namespaces n ON n.id = v.namespace_id WHERE n.name = ?1) OR "
        "EXISTS (SELECT 1 FROM namespaces WHERE name > ?1 || '.' AND name < ?1 || '/' AND hidden = 0)",
    [S_HIDE] =
        "UPDATE namespaces SET hidden = 1, properties = '{}', owner = NULL, monitors = '{}', enforcement = NULL, "
        "verify = NULL, history_retention_ms = NULL WHERE name = ?1 AND hidden = 0",
    [S_DELETE] =
        "DELETE FROM namespaces WHERE name = ?1 AND hidden = 1 AND "
        "NOT EXISTS (SELECT 1 FROM tables WHERE namespace_id = namespaces.id AND dropped_at IS NOT NULL)",
    NULL
};
/* clang-format on */

static sqlite3_stmt *stmt(struct tarn_tx *tx, int which)
{
    return stmt_of(tx, TARN_SQLITE_NAMESPACES, which);
}

static tarn_code not_found(const char *name, struct tarn_err *err)
{
    return tarn_fail(err, TARN_NAMESPACE_NOT_FOUND, "the namespace '%s' does not exist", name);
}

static tarn_code visit(sqlite3_stmt *st, tarn_namespace_fn *fn, void *ctx, struct tarn_err *err)
{
    struct tarn_namespace row = { .name = column_text(st, 0),
                                  .created_at = column_i64(st, 1),
                                  .properties = column_text(st, 2),
                                  .owner = column_text(st, 3),
                                  .monitors = column_text(st, 4),
                                  .history_retention_ms = column_opt(st, 7) };
    tarn_code code = tarn_sqlite_depth(st, 5, &row.enforcement, &row.enforcement_given, &row.verify,
                                       &row.verify_given, err);
    return code == TARN_OK ? fn(ctx, &row, err) : code;
}

static tarn_code get(struct tarn_tx *tx, const char *name, tarn_namespace_fn *fn, void *ctx,
                     struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_GET);
    bind_text(st, 1, name);
    bool found = false;
    tarn_code code = tarn_sqlite_next(tx, st, &found, err);
    if (code != TARN_OK)
        return code;
    return found ? visit(st, fn, ctx, err) : not_found(name, err);
}

static tarn_code list(struct tarn_tx *tx, const char *after, int64_t limit, tarn_namespace_fn *fn, void *ctx,
                      struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_LIST);
    bind_text(st, 1, after);
    bind_i64(st, 2, limit);
    tarn_code code = TARN_OK;
    while (tarn_sqlite_each(tx, st, &code, err))
        code = visit(st, fn, ctx, err);
    return code;
}

/* Any table under the name may show something else now. */
static tarn_code write_row(struct tarn_tx *tx, int which, const struct tarn_namespace *row,
                           struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, which);
    tarn_changes_note_all(tx->store);
    bind_text(st, 1, row->name);
    bind_i64(st, 2, row->created_at);
    bind_text(st, 3, row->properties);
    bind_text(st, 4, row->owner);
    bind_text(st, 5, row->monitors);
    bind_text(st, 6, row->enforcement_given ? tarn_enforcement_text(row->enforcement) : NULL);
    bind_text(st, 7, row->verify_given ? tarn_verify_text(row->verify) : NULL);
    bind_opt(st, 8, row->history_retention_ms);
    return tarn_sqlite_run(tx, st, err);
}

static tarn_code insert(struct tarn_tx *tx, const struct tarn_namespace *row, struct tarn_err *err)
{
    tarn_code code = write_row(tx, S_INSERT, row, err);
    if (code == TARN_OK && tarn_sqlite_changed(tx) == 0)
        return tarn_fail(err, TARN_NAMESPACE_EXISTS, "the namespace '%s' exists", row->name);
    return code;
}

static tarn_code update(struct tarn_tx *tx, const struct tarn_namespace *row, struct tarn_err *err)
{
    tarn_code code = write_row(tx, S_UPDATE, row, err);
    return code == TARN_OK && tarn_sqlite_changed(tx) == 0 ? not_found(row->name, err) : code;
}

static tarn_code is_used(struct tarn_tx *tx, const char *name, bool *out, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_IS_USED);
    bind_text(st, 1, name);
    bool found = false;
    tarn_code code = tarn_sqlite_next(tx, st, &found, err);
    *out = code == TARN_OK && found && column_i64(st, 0) != 0;
    return code;
}

static tarn_code by_name(struct tarn_tx *tx, int which, const char *name, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, which);
    bind_text(st, 1, name);
    return tarn_sqlite_run(tx, st, err);
}

static tarn_code drop(struct tarn_tx *tx, const char *name, struct tarn_err *err)
{
    bool used = false;
    tarn_code code = is_used(tx, name, &used, err);
    if (code == TARN_OK && used)
        return tarn_fail(err, TARN_NAMESPACE_NOT_EMPTY, "the namespace '%s' still has tables or namespaces", name);
    if (code == TARN_OK)
        code = by_name(tx, S_HIDE, name, err);
    if (code == TARN_OK && tarn_sqlite_changed(tx) == 0)
        return not_found(name, err);
    tarn_changes_note_all(tx->store);
    return code == TARN_OK ? by_name(tx, S_DELETE, name, err) : code;
}

void tarn_sqlite_namespaces_ops(struct tarn_store_ops *ops)
{
    ops->namespaces.get = get;
    ops->namespaces.list = list;
    ops->namespaces.insert = insert;
    ops->namespaces.update = update;
    ops->namespaces.remove = drop;
}
