/* lists.c - pages of tables in the order of their names. A page is read namespace by namespace, each in the
 * order of its index, so that no page costs more than its own rows, however far down the list it lies. */
#include "catalog/sqlite/internal.h"
#include <string.h>

enum { S_NAMESPACE, S_NEXT_NAMESPACE, S_LIVE, S_DROPPED };
/* clang-format off */
const char *const tarn_sqlite_lists_sql[] = {
    [S_NAMESPACE] = "SELECT id, name FROM namespaces WHERE name = ?1",
    [S_NEXT_NAMESPACE] = "SELECT id, name FROM namespaces WHERE name > ?1 ORDER BY name LIMIT 1",
    [S_LIVE] = "SELECT " TARN_SQLITE_TABLE_COLUMNS TARN_SQLITE_TABLE_FROM TARN_SQLITE_WALK_LIVE,
    [S_DROPPED] = "SELECT " TARN_SQLITE_TABLE_COLUMNS TARN_SQLITE_TABLE_FROM TARN_SQLITE_WALK_DROPPED,
    NULL
};
/* clang-format on */

struct walk {
    struct tarn_tx *tx;
    const struct tarn_table_filter *filter;
    sqlite3_stmt *stmt; /* live or dropped */
    tarn_sqlite_row_fn *fn;
    void *ctx;
    int64_t left; /* rows still wanted */
};

struct place { /* of a namespace, by name */
    bool found;
    int64_t id;
    char name[TARN_NAMESPACE_MAX + 1];
};

static tarn_code find_namespace(struct tarn_tx *tx, int which, const char *name, struct place *out,
                                struct tarn_err *err)
{
    AUTO_STMT *st = stmt_of(tx, TARN_SQLITE_LISTS, which);
    struct place place = { .found = false };
    bind_text(st, 1, name);
    tarn_code code = tarn_sqlite_next(tx, st, &place.found, err);
    if (code == TARN_OK && place.found) {
        place.id = column_i64(st, 0);
        column_fixed(st, 1, place.name, sizeof place.name);
    }
    if (code == TARN_OK)
        *out = place; /* only now: `name` may be the text in *out */
    return code;
}

static tarn_code walk_namespace(struct walk *w, int64_t namespace_id, const char *after_name,
                                struct tarn_err *err)
{
    const struct tarn_table_filter *f = w->filter;
    const char *prefix = f->prefix ? f->prefix : "";
    char above[TARN_NAME_MAX + 2]; /* 0xff is above every byte of UTF-8 */
    (void)snprintf(above, sizeof above, "%s\xff", prefix);

    AUTO_STMT *st = w->stmt;
    bind_i64(st, 1, namespace_id);
    bind_text(st, 2, strcmp(after_name, prefix) > 0 ? after_name : prefix);
    bind_text(st, 3, after_name);
    if (f->dropped)
        bind_i64(st, 4, f->after_id);
    bind_text(st, 5, above);
    bind_text(st, 6, f->format < 0 ? NULL : tarn_format_text((enum tarn_format)f->format));
    bind_text(st, 7, f->mode < 0 ? NULL : tarn_mode_text((enum tarn_mode)f->mode));
    bind_i64(st, 8, w->left);
    tarn_code code = TARN_OK;
    for (; tarn_sqlite_each(w->tx, st, &code, err); w->left--)
        code = w->fn(w->tx, st, w->ctx, err);
    return code;
}

static tarn_code walk_one(struct walk *w, struct tarn_err *err)
{
    const struct tarn_table_filter *f = w->filter;
    int order = f->after_namespace ? strcmp(f->after_namespace, f->namespace_) : -1;
    if (order > 0)
        return TARN_OK;
    struct place place;
    tarn_code code = find_namespace(w->tx, S_NAMESPACE, f->namespace_, &place, err);
    if (code != TARN_OK || !place.found)
        return code;
    return walk_namespace(w, place.id, order == 0 && f->after_name ? f->after_name : "", err);
}

static tarn_code walk_all(struct walk *w, struct tarn_err *err)
{
    const struct tarn_table_filter *f = w->filter;
    struct place place = { .found = false };
    tarn_code code = TARN_OK;
    if (f->after_namespace)
        code = find_namespace(w->tx, S_NAMESPACE, f->after_namespace, &place, err);
    if (code == TARN_OK && place.found)
        code = walk_namespace(w, place.id, f->after_name ? f->after_name : "", err);

    const char *before = f->after_namespace ? f->after_namespace : "";
    while (code == TARN_OK && w->left > 0) {
        code = find_namespace(w->tx, S_NEXT_NAMESPACE, before, &place, err);
        if (code != TARN_OK || !place.found)
            return code;
        before = place.name;
        code = walk_namespace(w, place.id, "", err);
    }
    return code;
}

tarn_code tarn_sqlite_walk(struct tarn_tx *tx, const struct tarn_table_filter *filter, sqlite3_stmt *live,
                           sqlite3_stmt *dropped, tarn_sqlite_row_fn *fn, void *ctx, struct tarn_err *err)
{
    struct walk w = { tx, filter, filter->dropped ? dropped : live, fn, ctx, filter->limit };
    if (filter->limit <= 0 || (filter->prefix && strlen(filter->prefix) > TARN_NAME_MAX))
        return TARN_OK;
    return filter->namespace_ ? walk_one(&w, err) : walk_all(&w, err);
}

struct visit {
    tarn_table_fn *fn;
    void *ctx;
};

static tarn_code visit_row(struct tarn_tx *tx, sqlite3_stmt *st, void *ctx, struct tarn_err *err)
{
    (void)tx;
    struct visit *visit = ctx;
    struct tarn_table row;
    tarn_code code = tarn_sqlite_table_row(st, &row, err);
    return code == TARN_OK ? visit->fn(visit->ctx, &row, err) : code;
}

static tarn_code list(struct tarn_tx *tx, const struct tarn_table_filter *filter, tarn_table_fn *fn,
                      void *ctx, struct tarn_err *err)
{
    struct visit visit = { fn, ctx };
    sqlite3_stmt *live = stmt_of(tx, TARN_SQLITE_LISTS, S_LIVE),
                 *dropped = stmt_of(tx, TARN_SQLITE_LISTS, S_DROPPED);
    return tarn_sqlite_walk(tx, filter, live, dropped, visit_row, &visit, err);
}

void tarn_sqlite_lists_ops(struct tarn_store_ops *ops) { ops->tables.list = list; }
