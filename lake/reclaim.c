/* reclaim.c - see reclaim.h. The set of known paths is made by pages of the catalog; then the listing is
 * pulled, some objects a call, and each suspect is looked up once more before it is told, since commits go
 * on. */
#include "lake/reclaim.h"
#include "formats/fileset.h"
#include "formats/manifest/manifest.h"
#include "lake/commit.h"
#include "lake/look.h"
#include <stdio.h>
#include <string.h>

enum {
    ROWS_A_READ = 2000,
    OBJECTS_A_CALL = 2000,
    FOLDERS_MAX = 100000 /* at the top of one table */
};

struct suspect {
    size_t path_at; /* in `paths` */
    int64_t size, removed_version, removed_at;
    bool is_orphan, is_needed;
};

struct tarn_reclaim {
    struct tarn_lake *lake;   /* borrowed */
    struct tarn_table *table; /* owned: as it was at the start */
    struct tarn_place *place; /* owned */
    int64_t now_ms;
    enum { READ_FILES, READ_RETIRED, LIST_TOP, LIST_FOLDERS, THE_END } step;
    /* LISTED: some kept version has it. REMOVED: none; its `size` is the version that removed it, or with
     * DECIDED the instant. */
    struct tarn_fileset known;
    int64_t after_version; /* of the reads */
    char after[TARN_PATH_MAX + 1];
    struct tarn_lister *lister; /* owned: the listing at hand, NULL: none */
    char **folders;             /* owned: still to be listed */
    size_t folder_count, folder_cap;
    struct suspect suspects[OBJECTS_A_CALL];
    size_t count;
    struct tarn_buf paths; /* of the suspects */
    int64_t rows;          /* of the read at hand */
};

void tarn_reclaim_free(struct tarn_reclaim *r)
{
    if (!r)
        return;
    tarn_lister_free(r->lister);
    tarn_place_free(r->place);
    tarn_table_free(r->table);
    tarn_fileset_done(&r->known);
    for (size_t i = 0; i < r->folder_count; i++)
        free(r->folders[i]);
    free(r->folders);
    tarn_buf_done(&r->paths);
    free(r);
}

/* --- the start --- */

struct table_ctx {
    int64_t id;
    struct tarn_table *table;
};

static tarn_code table_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct table_ctx *c = ctx;

    tarn_table_free(tarn_take(&c->table));
    return tx->ops->tables.get_by_id(tx, c->id, &c->table, err);
}

static tarn_code read_table(struct tarn_reclaim *r, int64_t id, struct tarn_err *err)
{
    struct table_ctx c = { .id = id };
    tarn_code code = tarn_store_read(r->lake->store, table_tx, &c, err);

    tarn_table_free(r->table);
    r->table = c.table;
    return code;
}

/* Of a database that was restored from a backup the listing would show lost commits as orphans. */
static tarn_code look_first(struct tarn_reclaim *r, int64_t id, struct tarn_err *err)
{
    tarn_code code = read_table(r, id, err);

    if (code == TARN_OK)
        code = tarn_managed_check(r->table, err);
    if (code != TARN_OK || tarn_looked_has(r->lake->looked, id))
        return code;
    code = tarn_look(r->lake, r->table, err);
    return code == TARN_OK ? read_table(r, id, err) : code;
}

tarn_code tarn_reclaim_new(struct tarn_lake *lake, int64_t table_id, int64_t now_ms,
                           struct tarn_reclaim **out, struct tarn_err *err)
{
    TARN_AUTO(reclaim) struct tarn_reclaim *r = calloc(1, sizeof *r);

    if (!r)
        return tarn_fail_oom(err);
    r->lake = lake;
    r->now_ms = now_ms;
    r->after_version = -1;
    tarn_code code = look_first(r, table_id, err);
    if (code == TARN_OK)
        code = tarn_managed_check(r->table, err);
    if (code == TARN_OK)
        code = tarn_block_check(r->table, err);
    if (code == TARN_OK)
        code = tarn_place_open(lake->storage, r->table->location, false, &r->place, err);
    if (code == TARN_NOT_FOUND)
        return tarn_fail(err, TARN_STORAGE_UNAVAILABLE, "the table's folder %s is not there",
                         r->table->location);
    if (code == TARN_OK)
        *out = tarn_take(&r);
    return code;
}

/* --- what the catalog knows --- */

static tarn_code note_file(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct tarn_reclaim *r = ctx;
    struct tarn_fileset_entry *entry = tarn_fileset_put(&r->known, file->path);
    bool is_removed = file->removed_version >= 0 && file->removed_version <= r->table->oldest_version;

    if (!entry)
        return tarn_fail_oom(err);
    r->rows++;
    r->after_version = file->added_version;
    snprintf(r->after, sizeof r->after, "%s", file->path);
    if (!is_removed)
        entry->flags |= TARN_FILE_LISTED;
    else if (!(entry->flags & TARN_FILE_REMOVED) || entry->size < (uint64_t)file->removed_version)
        entry->size = (uint64_t)file->removed_version & TARN_FILE_NO_SIZE;
    if (is_removed)
        entry->flags |= TARN_FILE_REMOVED;
    return TARN_OK;
}

/* Rows that a large commit is writing are among them: what it adds is no orphan. */
static tarn_code files_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_reclaim *r = ctx;
    char after[TARN_PATH_MAX + 1];

    r->rows = 0;
    memcpy(after, r->after, sizeof after);
    return tx->ops->files.page_old(tx, r->table->id, INT64_MAX, r->after_version, after, ROWS_A_READ,
                                   note_file, r, err);
}

static tarn_code note_retired(void *ctx, const struct tarn_retired_file *file, struct tarn_err *err)
{
    struct tarn_reclaim *r = ctx;
    struct tarn_fileset_entry *entry = tarn_fileset_put(&r->known, file->path);

    if (!entry)
        return tarn_fail_oom(err);
    r->rows++;
    snprintf(r->after, sizeof r->after, "%s", file->path);
    if (entry->flags & TARN_FILE_REMOVED)
        return TARN_OK; /* and again since */
    entry->flags |= TARN_FILE_REMOVED | TARN_FILE_DECIDED;
    entry->size = file->removed_at < 0 ? TARN_FILE_NO_SIZE : (uint64_t)file->removed_at & TARN_FILE_NO_SIZE;
    return TARN_OK;
}

static tarn_code retired_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_reclaim *r = ctx;
    char after[TARN_PATH_MAX + 1];

    r->rows = 0;
    memcpy(after, r->after, sizeof after);
    return tx->ops->retired.page(tx, r->table->id, after, ROWS_A_READ, note_retired, r, err);
}

static tarn_code read_known(struct tarn_reclaim *r, struct tarn_err *err)
{
    tarn_code code = tarn_store_read(r->lake->store, r->step == READ_FILES ? files_tx : retired_tx, r, err);

    if (code != TARN_OK || r->rows == ROWS_A_READ)
        return code;
    r->step++;
    r->after[0] = '\0';
    return TARN_OK;
}

/* --- what lies there --- */

static tarn_code keep_folder(struct tarn_reclaim *r, const char *name, struct tarn_err *err)
{
    if (!tarn_holds_data(name))
        return TARN_OK;
    if (r->folder_count == FOLDERS_MAX)
        return tarn_fail(err, TARN_STORAGE_UNAVAILABLE, "more than %d folders in one table", FOLDERS_MAX);
    if (r->folder_count == r->folder_cap) {
        size_t cap = r->folder_cap ? 2 * r->folder_cap : 32;
        char **more = realloc(r->folders, cap * sizeof *more);
        if (!more)
            return tarn_fail_oom(err);
        r->folders = more;
        r->folder_cap = cap;
    }
    r->folders[r->folder_count] = strdup(name);
    return r->folders[r->folder_count++] ? TARN_OK : tarn_fail_oom(err);
}

static void suspect_object(struct tarn_reclaim *r, const struct tarn_object *object)
{
    const struct tarn_fileset_entry *entry = tarn_fileset_find(&r->known, object->path);
    struct suspect suspect = { .path_at = r->paths.len,
                               .size = object->size,
                               .removed_version = -1,
                               .removed_at = -1,
                               .is_orphan = !entry };
    bool is_data = tarn_is_data_file(object->path);

    if (object->is_symlink || (!is_data && !tarn_is_leftover(object->path)) ||
        (entry && entry->flags & TARN_FILE_LISTED) ||
        (!entry && object->mtime_ms > r->now_ms - TARN_ORPHAN_AGE_MS))
        return;
    if (entry && entry->size != TARN_FILE_NO_SIZE)
        *(entry->flags & TARN_FILE_DECIDED ? &suspect.removed_at : &suspect.removed_version) =
            (int64_t)entry->size;
    tarn_buf_add(&r->paths, object->path, strlen(object->path) + 1);
    r->suspects[r->count++] = suspect;
}

static tarn_code take_object(struct tarn_reclaim *r, const struct tarn_object *object, struct tarn_err *err)
{
    if (object->is_folder)
        return keep_folder(r, object->path, err);
    suspect_object(r, object);
    return tarn_buf_check(&r->paths, err);
}

/* The next listing: of the top, then of each folder that may hold data. */
static tarn_code open_listing(struct tarn_reclaim *r, struct tarn_err *err)
{
    if (r->step == LIST_TOP)
        return tarn_place_lister(r->place, "", false, &r->lister, err);
    if (r->folder_count == 0) {
        r->step = THE_END;
        return TARN_OK;
    }
    TARN_AUTO(mem) char *folder = r->folders[--r->folder_count];
    return tarn_place_lister(r->place, folder, true, &r->lister, err);
}

static tarn_code list_some(struct tarn_reclaim *r, struct tarn_err *err)
{
    tarn_code code = r->lister ? TARN_OK : open_listing(r, err);

    for (int i = 0; i < OBJECTS_A_CALL && code == TARN_OK && r->lister; i++) {
        struct tarn_object object = { 0 };
        bool found = false;
        code = tarn_lister_next(r->lister, &object, &found, err);
        if (code == TARN_OK && found)
            code = take_object(r, &object, err);
        if (code != TARN_OK || found)
            continue;
        tarn_lister_free(tarn_take(&r->lister));
        r->step = LIST_FOLDERS;
    }
    return code;
}

/* --- the last word --- */

static tarn_code note_live(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    (void)file;
    (void)err;
    *(bool *)ctx = true;
    return TARN_OK;
}

static tarn_code date_removal(struct tarn_tx *tx, struct tarn_reclaim *r, struct suspect *suspect,
                              struct tarn_err *err)
{
    __attribute__((cleanup(tarn_commit_row_done))) struct tarn_commit_row row = { 0 };
    TARN_ERR(none);

    if (suspect->removed_version < 0)
        return TARN_OK;
    tarn_code code = tx->ops->commits.get(tx, r->table->id, suspect->removed_version, &row, &none);
    if (code == TARN_OK)
        suspect->removed_at = row.committed_at;
    return code == TARN_OK || code == TARN_VERSION_NOT_FOUND ? TARN_OK : tarn_err_move(err, &none);
}

/* A commit may have added it (again) since the catalog was read. */
static tarn_code judge_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_reclaim *r = ctx;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    tarn_code code = tx->ops->tables.get_by_id(tx, r->table->id, &table, err);

    if (code == TARN_OK && table->dropped_at >= 0)
        return tarn_fail(err, TARN_TABLE_NOT_FOUND, "the table was dropped meanwhile");
    if (code == TARN_OK)
        code = tarn_block_check(table, err);
    for (size_t i = 0; i < r->count && code == TARN_OK; i++) {
        struct suspect *suspect = &r->suspects[i];
        TARN_ERR(none);
        suspect->is_needed = false;
        code = tx->ops->files.get(tx, table->id, r->paths.data + suspect->path_at, note_live,
                                  &suspect->is_needed, &none);
        if (code != TARN_OK && code != TARN_NOT_FOUND)
            return tarn_err_move(err, &none);
        code = date_removal(tx, r, suspect, err);
    }
    return code;
}

static tarn_code tell(struct tarn_reclaim *r, tarn_reclaimable_fn *fn, void *ctx, struct tarn_err *err)
{
    tarn_code code = r->count > 0 ? tarn_store_read(r->lake->store, judge_tx, r, err) : TARN_OK;

    for (size_t i = 0; i < r->count && code == TARN_OK; i++) {
        const struct suspect *s = &r->suspects[i];
        const struct tarn_reclaimable item = { r->paths.data + s->path_at, s->size, s->is_orphan,
                                               s->removed_at };
        if (!s->is_needed)
            fn(ctx, &item);
    }
    r->count = 0;
    tarn_buf_clear(&r->paths);
    return code;
}

tarn_code tarn_reclaim_next(struct tarn_reclaim *r, tarn_reclaimable_fn *fn, void *ctx, bool *end,
                            struct tarn_err *err)
{
    bool reads = r->step == READ_FILES || r->step == READ_RETIRED;
    tarn_code code = reads ? read_known(r, err) : list_some(r, err);

    if (code == TARN_OK)
        code = tell(r, fn, ctx, err);
    *end = r->step == THE_END;
    return code;
}
