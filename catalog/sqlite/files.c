/* files.c - the files of the snapshots. A row lives from the version that added it to the version that
 * removed it, so every version that is still kept can be told exactly, whatever was committed since. */
#include "catalog/sqlite/internal.h"

#define COLUMNS                                                                                              \
    "f.path, f.size, f.records, f.schema_version, f.partition_values, f.column_stats, f.added_version, "     \
    "f.removed_version"

enum {
    S_ADD,
    S_REMOVE,
    S_GET,
    S_PAGE,
    S_PAGE_OLD,
    S_CHANGED_SINCE,
    S_REMOVED_BY,
    S_ADDED_BY,
    S_REMOVED_PAGE
};
/* clang-format off */
const char *const tarn_sqlite_files_sql[] = {
    [S_ADD] =
        "INSERT INTO files (table_id, added_version, path, size, records, schema_version, "
        "partition_values, column_stats) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    [S_REMOVE] =
        "UPDATE files SET removed_version = ?2 "
        "WHERE table_id = ?1 AND path = ?3 AND removed_version IS NULL RETURNING size",
    [S_GET] =
        "SELECT " COLUMNS " FROM files f "
        "WHERE f.table_id = ?1 AND f.path = ?2 AND f.removed_version IS NULL",
    /* What lives since then, by the index of live paths, merged with what was removed after it. Only the
     * second part is sorted: it is what was removed since `version`. */
    [S_PAGE] =
        "SELECT " COLUMNS " FROM files f INDEXED BY files_live "
        "WHERE f.table_id = ?1 AND f.removed_version IS NULL AND f.path > ?3 AND f.added_version <= ?2 "
        "UNION ALL SELECT " COLUMNS " FROM files f INDEXED BY files_removed "
        "WHERE f.table_id = ?1 AND f.removed_version > ?2 AND f.path > ?3 AND f.added_version <= ?2 "
        "ORDER BY 1 LIMIT ?4",
    [S_PAGE_OLD] =
        "SELECT " COLUMNS " FROM files f "
        "WHERE f.table_id = ?1 AND (f.added_version, f.path) > (?3, ?4) AND f.added_version <= ?2 "
        "ORDER BY f.added_version, f.path LIMIT ?5",
    [S_CHANGED_SINCE] =
        "SELECT (SELECT count(*) FROM (SELECT 1 FROM files INDEXED BY files_removed "
        "WHERE table_id = ?1 AND removed_version > ?2 LIMIT ?3)) "
        "+ (SELECT count(*) FROM (SELECT 1 FROM files WHERE table_id = ?1 AND added_version > ?2 LIMIT ?3))",
    [S_REMOVED_BY] =
        "SELECT " COLUMNS " FROM files f INDEXED BY files_removed "
        "WHERE f.table_id = ?1 AND f.removed_version = ?2 ORDER BY f.path",
    [S_ADDED_BY] =
        "SELECT " COLUMNS " FROM files f WHERE f.table_id = ?1 AND f.added_version = ?2 ORDER BY f.path",
    [S_REMOVED_PAGE] =
        "SELECT " COLUMNS " FROM files f INDEXED BY files_removed "
        "WHERE f.table_id = ?1 AND (f.removed_version, f.added_version, f.path) > (?2, ?3, ?4) "
        "AND f.removed_version <= ?5 ORDER BY f.removed_version, f.added_version, f.path LIMIT ?6",
    NULL
};
/* clang-format on */

static sqlite3_stmt *stmt(struct tarn_tx *tx, int which) { return stmt_of(tx, TARN_SQLITE_FILES, which); }

static tarn_code with_path(tarn_code code, const char *path, struct tarn_err *err)
{
    if (code == TARN_FILE_CONFLICT && err)
        (void)tarn_err_add(err, "path", json_string(path));
    return code;
}

static tarn_code add(struct tarn_tx *tx, int64_t table_id, int64_t version, const struct tarn_file *file,
                     struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_ADD);
    bind_i64(st, 1, table_id);
    bind_i64(st, 2, version);
    bind_text(st, 3, file->path);
    bind_i64(st, 4, file->size);
    bind_opt(st, 5, file->records);
    bind_opt(st, 6, file->schema_version > 0 ? file->schema_version : -1);
    bind_text(st, 7, file->partition_values);
    bind_text(st, 8, file->column_stats);
    return with_path(tarn_sqlite_run(tx, st, err), file->path, err);
}

static tarn_code remove_live(struct tarn_tx *tx, int64_t table_id, int64_t version, const char *path,
                             int64_t *size, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_REMOVE);
    bind_i64(st, 1, table_id);
    bind_i64(st, 2, version);
    bind_text(st, 3, path);
    bool row = false;
    tarn_code code = tarn_sqlite_next(tx, st, &row, err);
    if (code != TARN_OK)
        return code;
    if (!row)
        return with_path(tarn_fail(err, TARN_FILE_CONFLICT, "the file is not in the table"), path, err);
    int64_t was = column_i64(st, 0);
    code = tarn_sqlite_run(tx, st, err);
    if (code == TARN_OK)
        *size = was;
    return code;
}

/* Each row of a bound statement to fn; *count (may be NULL) how many. */
static tarn_code walk(struct tarn_tx *tx, sqlite3_stmt *st, tarn_file_fn *fn, void *ctx, int64_t *count,
                      struct tarn_err *err)
{
    tarn_code code = TARN_OK;
    while (tarn_sqlite_each(tx, st, &code, err)) {
        int64_t schema_version = column_opt(st, 3);
        struct tarn_file file = {
            .path = column_text(st, 0),
            .size = column_i64(st, 1),
            .records = column_opt(st, 2),
            .schema_version = schema_version < 0 ? 0 : schema_version,
            .partition_values = column_text(st, 4),
            .column_stats = column_text(st, 5),
            .added_version = column_i64(st, 6),
            .removed_version = column_opt(st, 7),
        };
        code = fn(ctx, &file, err);
        if (code == TARN_OK && count)
            (*count)++;
    }
    return code;
}

static tarn_code get(struct tarn_tx *tx, int64_t table_id, const char *path, tarn_file_fn *fn, void *ctx,
                     struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_GET);
    bind_i64(st, 1, table_id);
    bind_text(st, 2, path);
    int64_t count = 0;
    tarn_code code = walk(tx, st, fn, ctx, &count, err);
    return code == TARN_OK && count == 0 ? tarn_fail(err, TARN_NOT_FOUND, "the file is not in the table")
                                         : code;
}

static tarn_code page(struct tarn_tx *tx, int64_t table_id, int64_t version, const char *after, int64_t limit,
                      tarn_file_fn *fn, void *ctx, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_PAGE);
    bind_i64(st, 1, table_id);
    bind_i64(st, 2, version);
    bind_text(st, 3, after);
    bind_i64(st, 4, limit);
    return walk(tx, st, fn, ctx, NULL, err);
}

static tarn_code page_old(struct tarn_tx *tx, int64_t table_id, int64_t version, int64_t after_version,
                          const char *after, int64_t limit, tarn_file_fn *fn, void *ctx, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_PAGE_OLD);
    bind_i64(st, 1, table_id);
    bind_i64(st, 2, version);
    bind_i64(st, 3, after_version);
    bind_text(st, 4, after);
    bind_i64(st, 5, limit);
    return walk(tx, st, fn, ctx, NULL, err);
}

static tarn_code changed_since(struct tarn_tx *tx, int64_t table_id, int64_t version, int64_t limit,
                               int64_t *count, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_CHANGED_SINCE);
    bool row = false;
    bind_i64(st, 1, table_id);
    bind_i64(st, 2, version);
    bind_i64(st, 3, limit);
    tarn_code code = tarn_sqlite_next(tx, st, &row, err);
    if (code == TARN_OK && row)
        *count = column_i64(st, 0);
    return code;
}

static tarn_code walk_version(struct tarn_tx *tx, int which, int64_t table_id, int64_t version,
                              tarn_file_fn *fn, void *ctx, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, which);
    bind_i64(st, 1, table_id);
    bind_i64(st, 2, version);
    return walk(tx, st, fn, ctx, NULL, err);
}

static tarn_code of_version(struct tarn_tx *tx, int64_t table_id, int64_t version, tarn_file_fn *fn,
                            void *ctx, struct tarn_err *err)
{
    tarn_code code = walk_version(tx, S_REMOVED_BY, table_id, version, fn, ctx, err);
    return code == TARN_OK ? walk_version(tx, S_ADDED_BY, table_id, version, fn, ctx, err) : code;
}

struct removed_page {
    int64_t added_to, limit;
    tarn_file_fn *fn;
    void *ctx;
    struct tarn_file_cursor *at;
};

static tarn_code give_removed(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct removed_page *p = ctx;
    p->at->removed_version = file->removed_version;
    p->at->added_version = file->added_version;
    snprintf(p->at->path, sizeof p->at->path, "%s", file->path);
    return file->added_version <= p->added_to ? p->fn(p->ctx, file, err) : TARN_OK;
}

static tarn_code removed_page(struct tarn_tx *tx, int64_t table_id, int64_t to, int64_t added_to,
                              const struct tarn_file_cursor *after, int64_t limit, tarn_file_fn *fn,
                              void *ctx, struct tarn_file_cursor *at, struct tarn_err *err)
{
    AUTO_STMT *st = stmt(tx, S_REMOVED_PAGE);
    struct removed_page page = { added_to, limit, fn, ctx, at };
    int64_t count = 0;
    bind_i64(st, 1, table_id);
    bind_i64(st, 2, after->removed_version);
    bind_i64(st, 3, after->added_version);
    bind_text(st, 4, after->path);
    bind_i64(st, 5, to);
    bind_i64(st, 6, limit);
    tarn_code code = walk(tx, st, give_removed, &page, &count, err);
    at->end = count < limit;
    return code;
}

void tarn_sqlite_files_ops(struct tarn_store_ops *ops)
{
    ops->files.add = add;
    ops->files.remove = remove_live;
    ops->files.get = get;
    ops->files.page = page;
    ops->files.page_old = page_old;
    ops->files.changed_since = changed_since;
    ops->files.of_version = of_version;
    ops->files.removed_page = removed_page;
}
