/* retired.c - files that no kept version has any more: of each the path remains, until it is known to be gone
 * from storage. Without it a file that a commit removed long ago would look like one that nobody registered.
 */
#include "catalog/sqlite/internal.h"
#include <string.h>

enum { S_REMOVED, S_KEEP, S_DROP, S_PAGE, S_GONE, S_ADD };
/* clang-format off */
const char *const tarn_sqlite_retired_sql[] = {
    /* The oldest removals first. */
    [S_REMOVED] =
        "SELECT f.added_version, f.path FROM files f INDEXED BY files_removed "
        "WHERE f.table_id = ?1 AND f.removed_version <= ?2 AND f.removed_version IS NOT NULL "
        "ORDER BY f.removed_version, f.added_version, f.path LIMIT ?3",
    [S_KEEP] =
        "INSERT INTO retired_files (table_id, path, size, removed_at) "
        "SELECT f.table_id, f.path, f.size, c.committed_at FROM files f "
        "LEFT JOIN commits c ON c.table_id = f.table_id AND c.version = f.removed_version "
        "WHERE f.table_id = ?1 AND f.added_version = ?2 AND f.path = ?3 "
        "ON CONFLICT (table_id, path) DO UPDATE SET size = excluded.size, removed_at = excluded.removed_at",
    [S_DROP] = "DELETE FROM files WHERE table_id = ?1 AND added_version = ?2 AND path = ?3",
    [S_PAGE] =
        "SELECT path, size, removed_at FROM retired_files WHERE table_id = ?1 AND path > ?2 ORDER BY path LIMIT ?3",
    [S_GONE] = "DELETE FROM retired_files WHERE table_id = ?1 AND path = ?2",
    [S_ADD] =
        "INSERT INTO retired_files (table_id, path, size, removed_at) VALUES (?1, ?2, ?3, ?4) "
        "ON CONFLICT (table_id, path) DO NOTHING",
    NULL
};
/* clang-format on */

static sqlite3_stmt *stmt(struct tarn_tx *tx, int which) { return stmt_of(tx, TARN_SQLITE_RETIRED, which); }

/* Keys of rows, kept while the rows are changed: each path behind its number. */
struct keys {
    struct tarn_buf bytes; /* owned */
    int64_t count;
};

static void keys_done(struct keys *keys) { tarn_buf_done(&keys->bytes); }

static tarn_code find_keys(struct tarn_tx *tx, int64_t table_id, int64_t version, int64_t limit,
                           struct keys *out, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_REMOVED);
    bind_i64(st, 1, table_id);
    bind_i64(st, 2, version);
    bind_i64(st, 3, limit);
    tarn_code code = TARN_OK;
    for (; tarn_sqlite_each(tx, st, &code, err); out->count++) {
        int64_t added_version = column_i64(st, 0);
        const char *path = column_text(st, 1);
        tarn_buf_add(&out->bytes, &added_version, sizeof added_version);
        tarn_buf_add(&out->bytes, path, strlen(path) + 1);
    }
    return code == TARN_OK ? tarn_buf_check(&out->bytes, err) : code;
}

static tarn_code by_key(struct tarn_tx *tx, int which, int64_t table_id, int64_t added_version,
                        const char *path, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, which);
    bind_i64(st, 1, table_id);
    bind_i64(st, 2, added_version);
    bind_text(st, 3, path);
    return tarn_sqlite_run(tx, st, err);
}

static tarn_code retire(struct tarn_tx *tx, int64_t table_id, int64_t version, int64_t limit, bool *left,
                        struct tarn_err *err)
{
    __attribute__((cleanup(keys_done))) struct keys keys = { 0 };
    tarn_code code = find_keys(tx, table_id, version, limit, &keys, err);
    const char *at = keys.bytes.data;

    for (int64_t i = 0; i < keys.count && code == TARN_OK; i++) {
        int64_t added_version;
        memcpy(&added_version, at, sizeof added_version);
        at += sizeof added_version;
        code = by_key(tx, S_KEEP, table_id, added_version, at, err);
        if (code == TARN_OK)
            code = by_key(tx, S_DROP, table_id, added_version, at, err);
        at += strlen(at) + 1;
    }
    if (code == TARN_OK)
        *left = keys.count == limit;
    return code;
}

static tarn_code page(struct tarn_tx *tx, int64_t table_id, const char *after, int64_t limit,
                      tarn_retired_fn *fn, void *ctx, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_PAGE);
    bind_i64(st, 1, table_id);
    bind_text(st, 2, after);
    bind_i64(st, 3, limit);
    tarn_code code = TARN_OK;
    while (tarn_sqlite_each(tx, st, &code, err)) {
        const struct tarn_retired_file file = { .path = column_text(st, 0),
                                                .size = column_i64(st, 1),
                                                .removed_at = column_opt(st, 2) };
        code = fn(ctx, &file, err);
    }
    return code;
}

static tarn_code gone(struct tarn_tx *tx, int64_t table_id, const char *path, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_GONE);
    bind_i64(st, 1, table_id);
    bind_text(st, 2, path);
    return tarn_sqlite_run(tx, st, err);
}

static tarn_code add(struct tarn_tx *tx, int64_t table_id, const struct tarn_retired_file *file,
                     struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_ADD);
    bind_i64(st, 1, table_id);
    bind_text(st, 2, file->path);
    bind_i64(st, 3, file->size);
    bind_opt(st, 4, file->removed_at);
    return tarn_sqlite_run(tx, st, err);
}

void tarn_sqlite_retired_ops(struct tarn_store_ops *ops)
{
    ops->retired.retire = retire;
    ops->retired.add = add;
    ops->retired.page = page;
    ops->retired.gone = gone;
}
