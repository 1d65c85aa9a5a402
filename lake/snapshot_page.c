/* snapshot_page.c - the files of one snapshot in short reads. A page by path passes over everything that was
 * added or removed since the version: fine for the newest one, which is asked for most, and while that is
 * little. */
#include "lake/snapshot.h"
#include <string.h>

enum { NEAR_CHANGES = 2000 }; /* files added or removed since, up to which a page by path is cheap */

static tarn_code is_near(struct tarn_tx *tx, const struct tarn_snapshot_cursor *cursor, bool *near,
                         struct tarn_err *err)
{
    int64_t changes = 0;
    tarn_code code =
        tx->ops->files.changed_since(tx, cursor->table_id, cursor->version, NEAR_CHANGES + 1, &changes, err);

    *near = changes <= NEAR_CHANGES;
    return code;
}

/* From here on by key. */
static void leave_paths(struct tarn_snapshot_cursor *cursor)
{
    cursor->by_key = true;
    memcpy(cursor->told_to, cursor->after, sizeof cursor->told_to);
    cursor->after_version = -1;
    cursor->after[0] = '\0';
}

tarn_code tarn_snapshot_begin(struct tarn_tx *tx, int64_t table_id, int64_t version,
                              struct tarn_snapshot_cursor *out, struct tarn_err *err)
{
    struct tarn_snapshot_cursor cursor = { .table_id = table_id, .version = version, .after_version = -1 };
    bool near = false;
    tarn_code code = is_near(tx, &cursor, &near, err);

    if (code != TARN_OK)
        return code;
    cursor.by_key = !near;
    *out = cursor;
    return TARN_OK;
}

struct pass {
    struct tarn_snapshot_cursor *cursor;
    tarn_snapshot_file_fn *fn;
    void *ctx;
    int64_t passed;
    bool is_full;
};

static bool is_told(const struct tarn_snapshot_cursor *cursor, const struct tarn_file *file)
{
    bool is_gone = file->removed_version >= 0 && file->removed_version <= cursor->version;

    return cursor->by_key && (is_gone || strcmp(file->path, cursor->told_to) <= 0);
}

static tarn_code pass_file(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct pass *pass = ctx;
    size_t len = strlen(file->path);

    if (len > TARN_PATH_MAX)
        return tarn_fail(err, TARN_INTERNAL, "a file's path is longer than any may be");
    pass->is_full = pass->is_full || (!is_told(pass->cursor, file) && !pass->fn(pass->ctx, file));
    if (pass->is_full)
        return TARN_OK;
    memcpy(pass->cursor->after, file->path, len + 1);
    pass->cursor->after_version = file->added_version;
    pass->passed++;
    return TARN_OK;
}

/* Rows of versions that are no longer kept may be gone. */
static tarn_code judge_kept(struct tarn_tx *tx, const struct tarn_snapshot_cursor *cursor,
                            struct tarn_err *err)
{
    TARN_AUTO(table) struct tarn_table *table = NULL;
    tarn_code code = tx->ops->tables.get_by_id(tx, cursor->table_id, &table, err);

    return code == TARN_OK ? tarn_snapshot_kept(table, cursor->version, err) : code;
}

tarn_code tarn_snapshot_page(struct tarn_tx *tx, struct tarn_snapshot_cursor *cursor, int64_t limit,
                             tarn_snapshot_file_fn *fn, void *ctx, int64_t *passed, struct tarn_err *err)
{
    struct pass pass = { .cursor = cursor, .fn = fn, .ctx = ctx };
    char after[TARN_PATH_MAX + 1];
    bool near = true;
    tarn_code code = judge_kept(tx, cursor, err);

    if (code == TARN_OK && !cursor->by_key && !cursor->is_fixed)
        code = is_near(tx, cursor, &near, err);
    if (code != TARN_OK)
        return code;
    if (!near)
        leave_paths(cursor);
    memcpy(after, cursor->after, sizeof after); /* the cursor moves while the page is read */
    if (cursor->by_key)
        code = tx->ops->files.page_old(tx, cursor->table_id, cursor->version, cursor->after_version, after,
                                       limit, pass_file, &pass, err);
    else
        code =
            tx->ops->files.page(tx, cursor->table_id, cursor->version, after, limit, pass_file, &pass, err);
    *passed = pass.passed;
    return code;
}
