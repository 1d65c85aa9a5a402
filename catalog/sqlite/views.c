/* views.c - views of the Iceberg face. */
#include "catalog/sqlite/internal.h"
#include <stddef.h>

#define COLUMNS "v.id, v.uuid, n.name, v.name, v.location, v.metadata_location, v.revision, v.created_at, v.changed_at"
#define FROM " FROM views v JOIN namespaces n ON n.id = v.namespace_id "

enum { S_NAMESPACE, S_GET, S_TAKEN, S_INSERT, S_UPDATE, S_REMOVE, S_LIST };
/* clang-format off */
const char *const tarn_sqlite_views_sql[] = {
    [S_NAMESPACE] =
        "INSERT INTO namespaces (name, created_at) VALUES (?1, ?2) "
        "ON CONFLICT (name) DO UPDATE SET hidden = 0 WHERE hidden = 1",
    [S_GET] = "SELECT " COLUMNS ", v.metadata" FROM "WHERE n.name = ?1 AND v.name = ?2",
    [S_TAKEN] = "SELECT EXISTS (SELECT 1" FROM "WHERE n.name = ?1 AND v.name = ?2)",
    [S_INSERT] =
        "INSERT INTO views (uuid, namespace_id, name, location, metadata_location, metadata, revision, created_at, "
        "changed_at) VALUES (?2, (SELECT id FROM namespaces WHERE name = ?3), ?4, ?5, ?6, ?7, 1, ?9, ?10) "
        "ON CONFLICT (namespace_id, name) DO NOTHING",
    [S_UPDATE] =
        "UPDATE OR IGNORE views SET namespace_id = (SELECT id FROM namespaces WHERE name = ?3), name = ?4, location = ?5, "
        "metadata_location = ?6, metadata = ?7, revision = revision + 1, changed_at = ?10 "
        "WHERE id = ?1 AND uuid = ?2 AND revision = ?8",
    [S_REMOVE] = "DELETE FROM views WHERE id = ?1",
    [S_LIST] = "SELECT " COLUMNS FROM "WHERE n.name = ?1 AND v.name > ?2 ORDER BY v.name LIMIT ?3",
    NULL
};
/* clang-format on */

static sqlite3_stmt *stmt(struct tarn_tx *tx, int which) { return stmt_of(tx, TARN_SQLITE_VIEWS, which); }

static struct tarn_view read_row(sqlite3_stmt *st)
{
    struct tarn_view row = { .id = column_i64(st, 0),
                             .namespace_ = column_text(st, 2),
                             .name = column_text(st, 3),
                             .location = column_text(st, 4),
                             .metadata_location = column_text(st, 5),
                             .revision = column_i64(st, 6),
                             .created_at = column_i64(st, 7),
                             .changed_at = column_i64(st, 8) };
    column_fixed(st, 1, row.uuid, sizeof row.uuid);
    return row;
}

static tarn_code own(const struct tarn_view *row, struct tarn_view **out, struct tarn_err *err)
{
    static const size_t k_texts[] = { offsetof(struct tarn_view, namespace_),
                                      offsetof(struct tarn_view, name), offsetof(struct tarn_view, location),
                                      offsetof(struct tarn_view, metadata_location),
                                      offsetof(struct tarn_view, metadata) };
    struct tarn_view *view = malloc(sizeof *view);
    if (!view)
        return tarn_fail_oom(err);
    *view = *row;
    tarn_code code = tarn_sqlite_own(view, k_texts, TARN_COUNT(k_texts), err);
    if (code != TARN_OK) {
        free(view);
        return code;
    }
    *out = view;
    return TARN_OK;
}

static tarn_code get(struct tarn_tx *tx, const char *namespace_, const char *name, struct tarn_view **out,
                     struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_GET);
    bind_text(st, 1, namespace_);
    bind_text(st, 2, name);
    bool found = false;
    tarn_code code = tarn_sqlite_next(tx, st, &found, err);
    if (code != TARN_OK)
        return code;
    if (!found) {
        char dotted[TARN_DOTTED_MAX];
        tarn_ident_format(namespace_, name, dotted);
        return tarn_fail(err, TARN_VIEW_NOT_FOUND, "the view '%s' does not exist", dotted);
    }
    struct tarn_view row = read_row(st);
    row.metadata = column_text(st, 9);
    return own(&row, out, err);
}

static tarn_code taken(struct tarn_tx *tx, const char *namespace_, const char *name, bool *out,
                       struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_TAKEN);
    bind_text(st, 1, namespace_);
    bind_text(st, 2, name);
    bool found = false;
    tarn_code code = tarn_sqlite_next(tx, st, &found, err);
    *out = code == TARN_OK && found && column_i64(st, 0) != 0;
    return code;
}

static tarn_code ensure_namespace(struct tarn_tx *tx, const struct tarn_view *view, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_NAMESPACE);
    bind_text(st, 1, view->namespace_);
    bind_i64(st, 2, view->created_at);
    return tarn_sqlite_run(tx, st, err);
}

static tarn_code write_row(struct tarn_tx *tx, int which, const struct tarn_view *view, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, which);
    bind_i64(st, 1, view->id);
    bind_text(st, 2, view->uuid);
    bind_text(st, 3, view->namespace_);
    bind_text(st, 4, view->name);
    bind_text(st, 5, view->location);
    bind_text(st, 6, view->metadata_location);
    bind_text(st, 7, view->metadata);
    bind_i64(st, 8, view->revision);
    bind_i64(st, 9, view->created_at);
    bind_i64(st, 10, view->changed_at);
    return tarn_sqlite_run(tx, st, err);
}

static tarn_code exists(const struct tarn_view *view, struct tarn_err *err)
{
    char dotted[TARN_DOTTED_MAX];
    tarn_ident_format(view->namespace_, view->name, dotted);
    return tarn_fail(err, TARN_VIEW_EXISTS, "the view '%s' exists", dotted);
}

static tarn_code insert(struct tarn_tx *tx, const struct tarn_view *view, struct tarn_err *err)
{
    tarn_code code = ensure_namespace(tx, view, err);
    if (code == TARN_OK)
        code = write_row(tx, S_INSERT, view, err);
    return code == TARN_OK && tarn_sqlite_changed(tx) == 0 ? exists(view, err) : code;
}

static tarn_code id_of(struct tarn_tx *tx, const struct tarn_view *view, int64_t *id, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_GET);
    bind_text(st, 1, view->namespace_);
    bind_text(st, 2, view->name);
    bool found = false;
    tarn_code code = tarn_sqlite_next(tx, st, &found, err);
    *id = code == TARN_OK && found ? column_i64(st, 0) : 0;
    return code;
}

static tarn_code update(struct tarn_tx *tx, const struct tarn_view *view, struct tarn_err *err)
{
    int64_t holder = 0;
    tarn_code code = ensure_namespace(tx, view, err);
    if (code == TARN_OK)
        code = id_of(tx, view, &holder, err);
    if (code == TARN_OK && holder != 0 && holder != view->id)
        return exists(view, err);
    if (code == TARN_OK)
        code = write_row(tx, S_UPDATE, view, err);
    if (code == TARN_OK && tarn_sqlite_changed(tx) == 0)
        return tarn_fail(err, TARN_VERSION_CONFLICT, "the view changed meanwhile");
    return code;
}

static tarn_code drop(struct tarn_tx *tx, int64_t id, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_REMOVE);
    bind_i64(st, 1, id);
    return tarn_sqlite_run(tx, st, err);
}

static tarn_code list(struct tarn_tx *tx, const char *namespace_, const char *after, int64_t limit,
                      tarn_view_fn *fn, void *ctx, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_LIST);
    bind_text(st, 1, namespace_);
    bind_text(st, 2, after);
    bind_i64(st, 3, limit);
    tarn_code code = TARN_OK;
    while (tarn_sqlite_each(tx, st, &code, err)) {
        struct tarn_view row = read_row(st);
        code = fn(ctx, &row, err);
    }
    return code;
}

void tarn_sqlite_views_ops(struct tarn_store_ops *ops)
{
    ops->views.get = get;
    ops->views.taken = taken;
    ops->views.insert = insert;
    ops->views.update = update;
    ops->views.remove = drop;
    ops->views.list = list;
}
