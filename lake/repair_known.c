/* repair_known.c - what the catalog knows of files and transactions, as sets, and what
 * lies in the table's folder. Chains of short reads: no repair pins the database's log. */
#include "base/text.h"
#include "formats/manifest/manifest.h"
#include "lake/lease.h"
#include "lake/repair_run.h"
#include <stdio.h>
#include <string.h>

enum { PAGE_ROWS = 2000 };

/* --- files --- */

struct rows {
    struct tarn_repair_run *run;
    struct tarn_fileset *set;
    int64_t after_version;
    char after[TARN_PATH_MAX + 1];
    int64_t count; /* of the page at hand */
};

/* A row that was removed leaves a live one of its path as it is. */
static tarn_code note_row(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct rows *r = ctx;
    bool is_live = file->removed_version < 0 || file->removed_version > r->run->table->version;
    struct tarn_fileset_entry *entry = tarn_fileset_put(r->set, file->path);

    if (!entry)
        return tarn_fail_oom(err);
    r->count++;
    r->after_version = file->added_version;
    snprintf(r->after, sizeof r->after, "%s", file->path);
    if (is_live)
        entry->size = (uint64_t)file->size & TARN_FILE_NO_SIZE;
    entry->flags = (entry->flags | (is_live ? TARN_FILE_LISTED : TARN_FILE_REMOVED)) & TARN_FILE_FLAGS;
    return TARN_OK;
}

/* What a large commit is writing says nothing: it may come to be, or be undone. */
static tarn_code rows_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct rows *r = ctx;
    char after[TARN_PATH_MAX + 1];

    r->count = 0;
    memcpy(after, r->after, sizeof after);
    return tx->ops->files.page_old(tx, r->run->table->id, r->run->table->version, r->after_version, after,
                                   PAGE_ROWS, note_row, r, err);
}

static tarn_code note_retired(void *ctx, const struct tarn_retired_file *file, struct tarn_err *err)
{
    struct rows *r = ctx;
    struct tarn_fileset_entry *entry = tarn_fileset_put(r->set, file->path);

    if (!entry)
        return tarn_fail_oom(err);
    r->count++;
    snprintf(r->after, sizeof r->after, "%s", file->path);
    entry->flags = (entry->flags | TARN_FILE_REMOVED) & TARN_FILE_FLAGS;
    return TARN_OK;
}

static tarn_code retired_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct rows *r = ctx;
    char after[TARN_PATH_MAX + 1];

    r->count = 0;
    memcpy(after, r->after, sizeof after);
    return tx->ops->retired.page(tx, r->run->table->id, after, PAGE_ROWS, note_retired, r, err);
}

static tarn_code read_pages(struct rows *r, tarn_tx_fn *fn, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    r->after[0] = '\0';
    do {
        code = tarn_lake_goes_on(r->run->lake, err);
        if (code == TARN_OK)
            code = tarn_store_read(r->run->lake->store, fn, r, err);
    } while (code == TARN_OK && r->count == PAGE_ROWS);
    return code;
}

/* --- transactions --- */

struct ids {
    struct tarn_repair_run *run;
    struct tarn_fileset *set;
    bool adopted;
    int64_t below, count, total;
};

static tarn_code note_id(void *ctx, const struct tarn_commit_row *row, struct tarn_err *err)
{
    struct ids *ids = ctx;
    struct tarn_fileset_entry *entry = tarn_fileset_put(ids->set, row->transaction);

    if (!entry)
        return tarn_fail_oom(err);
    entry->flags = (entry->flags | (ids->adopted ? TARN_FILE_ADDED : TARN_FILE_LISTED)) & TARN_FILE_FLAGS;
    ids->below = ids->adopted ? -row->version : row->version;
    ids->count++;
    ids->total++;
    return TARN_OK;
}

static tarn_code ids_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct ids *ids = ctx;
    int64_t table_id = ids->run->table->id;

    ids->count = 0;
    return ids->adopted
               ? tx->ops->commits.list_adopted(tx, table_id, ids->below, PAGE_ROWS, note_id, ids, err)
               : tx->ops->commits.list(tx, table_id, ids->below, PAGE_ROWS, note_id, ids, err);
}

tarn_code tarn_repair_known_ids(struct tarn_repair_run *run, struct tarn_fileset *out, int64_t *adopted,
                                struct tarn_err *err)
{
    struct ids ids = { .run = run, .set = out };
    tarn_code code = TARN_OK;

    for (int pass = 0; pass < 2 && code == TARN_OK; pass++) {
        ids.adopted = pass == 1;
        ids.below = INT64_MAX;
        ids.total = 0;
        do
            code = tarn_store_read(run->lake->store, ids_tx, &ids, err);
        while (code == TARN_OK && ids.count == PAGE_ROWS);
    }
    *adopted = ids.total;
    return code;
}

/* --- the log from before Tarn: what it names is told, whatever became of it --- */

struct old_log {
    struct tarn_repair_run *run;
    struct tarn_fileset *files, *ids;
    struct tarn_buf names; /* of entries that are none of Tarn's commits */
};

static void old_log_done(struct old_log *log) { tarn_buf_done(&log->names); }

static tarn_code note_entry(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    struct old_log *log = ctx;
    const char *name = object->path + strlen(TARN_DIR_LOG "/");
    char id[TARN_TXN_ID_MAX + 1];
    size_t len = strlen(name);

    if (object->is_folder || object->is_symlink || !tarn_ends_with(name, ".json") ||
        tarn_ends_with(name, TARN_CHECKPOINT_SUFFIX) || len - strlen(".json") > TARN_TXN_ID_MAX)
        return TARN_OK;
    snprintf(id, sizeof id, "%.*s", (int)(len - strlen(".json")), name);
    const struct tarn_fileset_entry *known = tarn_fileset_find(log->ids, id);
    if (!known || !(known->flags & TARN_FILE_LISTED))
        tarn_buf_add(&log->names, object->path, strlen(object->path) + 1);
    return tarn_buf_check(&log->names, err);
}

static tarn_code note_op(void *ctx, const struct tarn_entry_op *op, struct tarn_err *err)
{
    struct old_log *log = ctx;
    struct tarn_fileset_entry *entry = tarn_fileset_put(log->files, op->file.path);

    if (!entry)
        return tarn_fail_oom(err);
    entry->flags = (entry->flags | TARN_FILE_REMOVED) & TARN_FILE_FLAGS;
    return TARN_OK;
}

/* Is this one of the history that was adopted: by its name, or by the id inside? */
static tarn_code is_adopted(const struct old_log *log, const char *path, bool *out, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_entry_head_done))) struct tarn_entry_head head = { .version = -1 };
    char id[TARN_TXN_ID_MAX + 1];
    TARN_ERR(fault);

    snprintf(id, sizeof id, "%.*s", (int)(strlen(path) - strlen(TARN_DIR_LOG "/.json")), path + strlen(TARN_DIR_LOG "/"));
    *out = tarn_fileset_find(log->ids, id) != NULL;
    if (*out)
        return TARN_OK;
    tarn_code code = tarn_entry_read_at(log->run->place, path, &head, NULL, NULL, NULL, &fault);
    *out = code == TARN_OK && head.id && tarn_fileset_find(log->ids, head.id) != NULL;
    return code == TARN_OK || code == TARN_INVALID || code == TARN_NOT_FOUND ? TARN_OK
                                                                             : tarn_err_move(err, &fault);
}

static tarn_code read_old_entry(struct old_log *log, const char *path, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_entry_head_done))) struct tarn_entry_head head = { .version = -1 };
    bool counts = false;
    TARN_ERR(fault);
    tarn_code code = is_adopted(log, path, &counts, err);

    if (code != TARN_OK || !counts)
        return code;
    code = tarn_entry_read_at(log->run->place, path, &head, NULL, note_op, log, &fault);
    return code == TARN_OK || code == TARN_INVALID || code == TARN_NOT_FOUND ? TARN_OK
                                                                             : tarn_err_move(err, &fault);
}

static tarn_code read_old_log(struct tarn_repair_run *run, struct tarn_fileset *files, struct tarn_err *err)
{
    TARN_AUTO_DONE(fileset) struct tarn_fileset ids = { 0 };
    __attribute__((cleanup(old_log_done))) struct old_log log = { .run = run, .files = files, .ids = &ids };
    int64_t adopted = 0;

    tarn_code code = tarn_repair_known_ids(run, &ids, &adopted, err);
    if (code == TARN_OK && adopted > 0)
        code = tarn_place_list(run->place, TARN_DIR_LOG, false, note_entry, &log, err);
    for (size_t at = 0; at < log.names.len && code == TARN_OK; at += strlen(log.names.data + at) + 1) {
        code = tarn_lake_goes_on(run->lake, err);
        if (code == TARN_OK)
            code = read_old_entry(&log, log.names.data + at, err);
    }
    return code;
}

tarn_code tarn_repair_known_files(struct tarn_repair_run *run, struct tarn_fileset *out, struct tarn_err *err)
{
    struct rows r = { .run = run, .set = out, .after_version = -1 };
    tarn_code code = read_pages(&r, rows_tx, err);

    if (code == TARN_OK)
        code = read_pages(&r, retired_tx, err);
    return code == TARN_OK ? read_old_log(run, out, err) : code;
}

/* --- those of a snapshot, with all that is known of them --- */

/* A row whose texts lie in the page's own buffer. */
struct live_row { struct tarn_file file; size_t path_at, values_at, stats_at; };
struct live {
    struct tarn_repair_run *run;
    int64_t version;
    char after[TARN_PATH_MAX + 1];
    struct tarn_buf texts; /* NUL-terminated, one after the other */
    struct live_row rows[PAGE_ROWS];
    size_t count;
};

static void live_freep(struct live **live)
{
    if (*live)
        tarn_buf_done(&(*live)->texts);
    free(*live);
}

static size_t keep(struct live *live, const char *text)
{
    size_t at = live->texts.len;

    if (text)
        tarn_buf_add(&live->texts, text, strlen(text) + 1);
    return text ? at : SIZE_MAX;
}

static tarn_code keep_row(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct live *live = ctx;

    live->rows[live->count++] = (struct live_row){ .file = *file,
                                                   .path_at = keep(live, file->path),
                                                   .values_at = keep(live, file->partition_values),
                                                   .stats_at = keep(live, file->column_stats) };
    return tarn_buf_check(&live->texts, err);
}

static tarn_code live_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct live *live = ctx;

    live->count = 0;
    tarn_buf_clear(&live->texts);
    return tx->ops->files.page(tx, live->run->table->id, live->version, live->after, PAGE_ROWS, keep_row,
                               live, err);
}

static const char *text_at(const struct live *live, size_t at)
{
    return at == SIZE_MAX ? NULL : live->texts.data + at;
}

static tarn_code give(struct live *live, tarn_file_fn *fn, void *ctx, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < live->count && code == TARN_OK; i++) {
        struct tarn_file file = live->rows[i].file;
        file.path = text_at(live, live->rows[i].path_at);
        file.partition_values = text_at(live, live->rows[i].values_at);
        file.column_stats = text_at(live, live->rows[i].stats_at);
        code = fn(ctx, &file, err);
    }
    if (live->count > 0)
        snprintf(live->after, sizeof live->after, "%s", text_at(live, live->rows[live->count - 1].path_at));
    return code;
}

tarn_code tarn_repair_files_at(struct tarn_repair_run *run, int64_t version, tarn_file_fn *fn, void *ctx,
                               struct tarn_err *err)
{
    __attribute__((cleanup(live_freep))) struct live *live = calloc(1, sizeof *live);
    tarn_code code = TARN_OK;

    if (!live)
        return tarn_fail_oom(err);
    live->run = run;
    live->version = version;
    do {
        code = tarn_lake_goes_on(run->lake, err);
        if (code == TARN_OK)
            code = tarn_store_read(run->lake->store, live_tx, live, err);
        if (code == TARN_OK)
            code = give(live, fn, ctx, err);
    } while (code == TARN_OK && live->count == PAGE_ROWS);
    return code;
}

/* --- what lies there --- */

struct listing {
    struct tarn_repair_run *run;
    tarn_object_fn *fn;
    void *ctx;
    struct tarn_buf folders; /* at the top; NUL-terminated, one after the other */
};

static void listing_done(struct listing *listing) { tarn_buf_done(&listing->folders); }

static tarn_code visit(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    struct listing *listing = ctx;
    tarn_code code = tarn_lake_goes_on(listing->run->lake, err);

    if (code != TARN_OK || object->is_symlink)
        return code;
    if (!object->is_folder)
        return tarn_is_data_file(object->path) ? listing->fn(listing->ctx, object, err) : TARN_OK;
    if (tarn_holds_data(object->path))
        tarn_buf_add(&listing->folders, object->path, strlen(object->path) + 1);
    return tarn_buf_check(&listing->folders, err);
}

tarn_code tarn_repair_list_files(struct tarn_repair_run *run, tarn_object_fn *fn, void *ctx,
                                 struct tarn_err *err)
{
    __attribute__((cleanup(listing_done))) struct listing listing = { .run = run, .fn = fn, .ctx = ctx };
    tarn_code code = tarn_place_list(run->place, "", false, visit, &listing, err);

    for (size_t at = 0; code == TARN_OK && at < listing.folders.len;
         at += strlen(listing.folders.data + at) + 1)
        code = tarn_place_list(run->place, listing.folders.data + at, true, visit, &listing, err);
    return code;
}
