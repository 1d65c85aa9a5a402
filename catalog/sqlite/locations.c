/* locations.c - who owns a place: is there a table whose location equals this one, lies around it or
 * inside it? Around: one look for each of its ancestors. Inside: one range of the index. */
#include "catalog/sqlite/internal.h"
#include <string.h>

#define CONDITIONS                                                                                           \
    "t.id <> ?2 AND (t.dropped_at IS NULL OR t.dropped_at > ?3) AND (?4 = 0 OR t.mode = 'managed') LIMIT 1"
enum { S_AT, S_INSIDE };
/* clang-format off */
const char *const tarn_sqlite_locations_sql[] = {
    [S_AT] =
        "SELECT " TARN_SQLITE_TABLE_COLUMNS TARN_SQLITE_TABLE_FROM "WHERE t.location = ?1 AND " CONDITIONS,
    [S_INSIDE] =
        "SELECT " TARN_SQLITE_TABLE_COLUMNS TARN_SQLITE_TABLE_FROM
        "WHERE t.location > ?1 AND t.location < ?5 AND " CONDITIONS,
    NULL
};
/* clang-format on */

struct query {
    struct tarn_tx *tx;
    int64_t except_id, dropped_since;
    bool managed_only;
};

/* `above` bounds the range of S_INSIDE; NULL asks S_AT. */
static tarn_code look(const struct query *q, const char *location, const char *above, struct tarn_table **out,
                      struct tarn_err *err)
{
    AUTO_STMT *st = stmt_of(q->tx, TARN_SQLITE_LOCATIONS, above ? S_INSIDE : S_AT);
    bind_text(st, 1, location);
    bind_i64(st, 2, q->except_id);
    bind_i64(st, 3, q->dropped_since);
    bind_i64(st, 4, q->managed_only);
    if (above)
        bind_text(st, 5, above);
    bool row = false;
    tarn_code code = tarn_sqlite_next(q->tx, st, &row, err);
    struct tarn_table table;
    if (code == TARN_OK && row)
        code = tarn_sqlite_table_row(st, &table, err);
    return code == TARN_OK && row ? tarn_sqlite_table_own(&table, out, err) : code;
}

/* The location itself and each folder above it. `text` is cut shorter and shorter. */
static tarn_code look_around(const struct query *q, char *text, struct tarn_table **out, struct tarn_err *err)
{
    tarn_code code = look(q, text, NULL, out, err);
    for (char *slash = strrchr(text, '/'); code == TARN_OK && !*out && slash; slash = strrchr(text, '/')) {
        bool top = slash == text;
        slash[top ? 1 : 0] = '\0';
        code = look(q, text, NULL, out, err);
        if (top)
            break;
    }
    return code;
}

/* Everything between "<location>/" and "<location>0", the character after the slash. */
static tarn_code look_inside(const struct query *q, const char *location, struct tarn_table **out,
                             struct tarn_err *err)
{
    size_t len = strlen(location);
    bool slashed = len > 0 && location[len - 1] == '/';
    TARN_AUTO_DONE(buf) struct tarn_buf from = { 0 }, to = { 0 };
    tarn_buf_addf(&from, "%s%s", location, slashed ? "" : "/");
    tarn_buf_add(&to, location, slashed ? len - 1 : len);
    tarn_buf_addc(&to, '0');
    tarn_code code = tarn_buf_check(&from, err);
    if (code == TARN_OK)
        code = tarn_buf_check(&to, err);
    return code == TARN_OK ? look(q, from.data, to.data, out, err) : code;
}

static tarn_code at_location(struct tarn_tx *tx, const char *location, int64_t dropped_since,
                             int64_t except_id, bool managed_only, struct tarn_table **out,
                             struct tarn_err *err)
{
    struct query q = { tx, except_id, dropped_since, managed_only };
    __attribute__((cleanup(tarn_mem_freep))) char *text = strdup(location);
    if (!text)
        return tarn_fail_oom(err);
    TARN_AUTO(table) struct tarn_table *found = NULL;
    tarn_code code = look_around(&q, text, &found, err);
    if (code == TARN_OK && !found)
        code = look_inside(&q, location, &found, err);
    if (code == TARN_OK)
        *out = tarn_take(&found);
    return code;
}

void tarn_sqlite_locations_ops(struct tarn_store_ops *ops) { ops->tables.at_location = at_location; }
