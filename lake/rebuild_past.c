/* rebuild_past.c - what is not the table's present: the log from before Tarn, and files that commits
 * removed whose entries are gone. Such a file must never be taken for one that nobody registered. */
#include "lake/rebuild_run.h"
#include "formats/fileset.h"
#include "lake/adopt.h"
#include <stdio.h>
#include <string.h>

enum {
    ROWS = 2000,
    OWN_LOOKED = 100 /* of the oldest commits, for one with a number */
};

/* --- the log from before --- */

static _Thread_local const struct tarn_traces *sorted; /* qsort takes no context */

static int by_number(const void *a, const void *b)
{
    size_t ignored;
    int64_t x = -1, y = -1;

    (void)tarn_txn_id_number(tarn_trace_id(sorted, a), &ignored, &x);
    (void)tarn_txn_id_number(tarn_trace_id(sorted, b), &ignored, &y);
    return (x > y) - (x < y);
}

static int by_time(const void *a, const void *b)
{
    const struct tarn_trace *x = a, *y = b;

    if (x->mtime_ms != y->mtime_ms)
        return x->mtime_ms < y->mtime_ms ? -1 : 1;
    return by_number(a, b);
}

/* Do all ids share one prefix before a number? */
static bool are_numbered(const struct tarn_traces *t)
{
    size_t prefix = 0, len = 0;
    int64_t number;

    for (size_t i = 0; i < t->others.count; i++) {
        const char *id = tarn_trace_id(t, &t->others.items[i]);
        if (!tarn_txn_id_number(id, &len, &number))
            return false;
        if (i == 0)
            prefix = len;
        if (len != prefix || strncmp(id, tarn_trace_id(t, &t->others.items[0]), len) != 0)
            return false;
    }
    return true;
}

static tarn_code take_entry(struct tarn_rebuilding *b, struct tarn_stage *stage,
                            const struct tarn_trace *trace, int64_t *position, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_entry_head_done))) struct tarn_entry_head head = { .timestamp = -1 };
    const char *transaction = tarn_trace_id(&b->traces, trace);
    char path[TARN_TXN_ID_MAX + 32];
    TARN_ERR(fault);

    snprintf(path, sizeof path, TARN_DIR_LOG "/%s.json", transaction);
    tarn_code code = tarn_entry_read_at(b->place, path, &head, NULL, NULL, NULL, &fault);
    if (code == TARN_INVALID || code == TARN_NOT_FOUND)
        return TARN_OK;
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    return tarn_stage_entry(stage, ++*position, transaction, &head, trace->mtime_ms, err);
}

/* Tarn gives a commit a number above all that lie there, and takes each of them: a lower one was there before.
 * Not that of every commit is Tarn's: some got their ids from clients. */
static bool is_below_own(const struct tarn_traces *t, const struct tarn_trace *trace)
{
    int64_t number = 0, own = 0;

    for (size_t i = 0; i < t->entries.count && i < OWN_LOOKED; i++)
        if (tarn_txn_id_pair(tarn_trace_id(t, trace), tarn_trace_id(t, &t->entries.items[i]), &number, &own))
            return number < own;
    return false;
}

/* Younger than the table: somebody wrote it beside Tarn. A copied folder is young all over, so numbers go first. */
bool tarn_rebuild_is_past(const struct tarn_rebuilding *b, const struct tarn_trace *trace)
{
    return b->table->first_version > 0 &&
           (trace->mtime_ms <= b->table->created_at || is_below_own(&b->traces, trace));
}

void tarn_rebuild_sort(struct tarn_rebuilding *b)
{
    struct tarn_trace_list *others = &b->traces.others;

    sorted = &b->traces;
    if (others->count > 1)
        qsort(others->items, others->count, sizeof *others->items,
              are_numbered(&b->traces) ? by_number : by_time);
    b->strays_from = others->count;
}

tarn_code tarn_rebuild_entries(struct tarn_rebuilding *b, struct tarn_err *err)
{
    const struct tarn_trace_list *others = &b->traces.others;
    TARN_AUTO(stage) struct tarn_stage *stage = NULL;
    int64_t position = 0, id = 0;
    tarn_code code = tarn_stage_into(b->rebuild->lake, b->table->id, &stage, err);

    for (size_t i = 0; i < others->count && code == TARN_OK; i++)
        code = i < b->strays_from && tarn_rebuild_is_past(b, &others->items[i])
                   ? take_entry(b, stage, &others->items[i], &position, err)
                   : tarn_stage_id(stage, tarn_trace_id(&b->traces, &others->items[i]), err);
    for (size_t i = 0; i < b->traces.bad.count && code == TARN_OK; i++)
        code = tarn_stage_id(stage, tarn_trace_id(&b->traces, &b->traces.bad.items[i]), err);
    return code == TARN_OK ? tarn_stage_end(stage, &id, err) : code;
}

/* --- files that no kept version has --- */

struct retired {
    struct tarn_rebuilding *b;
    struct tarn_fileset known; /* every path that a kept version has */
    int64_t before_ms;
    /* paging over the rows */
    int64_t after_version, rows;
    char after[TARN_PATH_MAX + 1];
    /* what waits to be written */
    struct tarn_buf paths; /* NUL-terminated */
    int64_t sizes[ROWS];
    size_t count;
};

static void retired_freep(struct retired **r)
{
    if (*r) {
        tarn_fileset_done(&(*r)->known);
        tarn_buf_done(&(*r)->paths);
    }
    free(*r);
}

static tarn_code note_row(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct retired *r = ctx;

    r->rows++;
    r->after_version = file->added_version;
    snprintf(r->after, sizeof r->after, "%s", file->path);
    return tarn_fileset_put(&r->known, file->path) ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code page_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct retired *r = ctx;
    char after[TARN_PATH_MAX + 1];

    memcpy(after, r->after, sizeof after);
    r->rows = 0;
    return tx->ops->files.page_old(tx, r->b->table->id, INT64_MAX - 1, r->after_version, after, ROWS,
                                   note_row, r, err);
}

static tarn_code write_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct retired *r = ctx;
    const char *path = r->paths.data;
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < r->count && code == TARN_OK; i++, path += strlen(path) + 1) {
        const struct tarn_retired_file file = { .path = path, .size = r->sizes[i], .removed_at = -1 };
        code = tx->ops->retired.add(tx, r->b->table->id, &file, err);
    }
    return code;
}

static tarn_code flush(struct retired *r, struct tarn_err *err)
{
    tarn_code code = r->count > 0 ? tarn_store_write(r->b->rebuild->lake->store, write_tx, r, err) : TARN_OK;

    r->count = 0;
    tarn_buf_clear(&r->paths);
    return code;
}

static tarn_code meet_object(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    struct retired *r = ctx;

    if (object->is_symlink || object->mtime_ms >= r->before_ms || !tarn_is_data_file(object->path) ||
        tarn_data_path_check(object->path, "path", NULL) != TARN_OK ||
        tarn_fileset_find(&r->known, object->path))
        return TARN_OK;
    tarn_buf_add(&r->paths, object->path, strlen(object->path) + 1);
    r->sizes[r->count++] = object->size;
    tarn_code code = tarn_buf_check(&r->paths, err);
    return code == TARN_OK && r->count == ROWS ? flush(r, err) : code;
}

/* A file that is older than the oldest version kept, and in none of them, was removed before it. */
tarn_code tarn_rebuild_retired(struct tarn_rebuilding *b, struct tarn_err *err)
{
    __attribute__((cleanup(retired_freep))) struct retired *r = calloc(1, sizeof *r);
    const struct tarn_trace_list *checkpoints = &b->traces.checkpoints;

    if (!r)
        return tarn_fail_oom(err);
    *r = (struct retired){ .b = b, .before_ms = INT64_MIN, .after_version = -1, .rows = ROWS };
    for (size_t i = 0; i < checkpoints->count; i++)
        if (checkpoints->items[i].version == b->table->oldest_version)
            r->before_ms = checkpoints->items[i].timestamp;
    tarn_code code = TARN_OK;
    while (code == TARN_OK && r->rows == ROWS)
        code = tarn_store_read(b->rebuild->lake->store, page_tx, r, err);
    if (code == TARN_OK)
        code = tarn_place_list(b->place, "", true, meet_object, r, err);
    return code == TARN_OK ? flush(r, err) : code;
}
