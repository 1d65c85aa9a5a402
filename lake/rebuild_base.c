/* rebuild_base.c - what a table had when Tarn took it over. No document of that
 * moment is left: its files are those of a later snapshot that no commit between
 * added, and those that commits between removed. An entry that removes one tells all
 * of it; of older servers' entries the log from before Tarn does, or storage. */
#include "lake/rebuild_run.h"
#include "formats/fileset.h"
#include <stdio.h>

enum {
    BORN = TARN_FILE_ADDED,      /* a commit since then added it, and it is live */
    TOLD = TARN_FILE_DECIDED,    /* it was there, and is written */
    WANTED = TARN_FILE_REMOVED   /* it was there, and what it was is not known yet */
};

struct base {
    struct tarn_rebuilding *b;
    int64_t version;
    struct tarn_fileset files;
    int64_t schema_version; /* the adoption's, of files that no document of Tarn's tells of; 0: there was no schema */
    size_t wanted;
};

static void base_done(struct base *base) { tarn_fileset_done(&base->files); }

static tarn_code write_file(struct base *base, struct tarn_fileset_entry *entry, const struct tarn_file *told,
                            struct tarn_err *err)
{
    struct tarn_file file = *told;

    entry->flags |= TOLD;
    base->wanted -= (entry->flags & WANTED) != 0;
    entry->flags &= (unsigned)~WANTED & TARN_FILE_FLAGS;
    return tarn_held_add(&base->b->replay, base->version, true, true, &file, err);
}

static tarn_code stat_file(struct base *base, struct tarn_fileset_entry *entry, struct tarn_file *file,
                           struct tarn_err *err)
{
    struct tarn_object object = { 0 };
    TARN_ERR(fault);
    tarn_code code = file->size < 0 ? tarn_place_stat(base->b->place, file->path, &object, &fault) : TARN_OK;

    if (file->size < 0)
        file->size = code == TARN_OK ? object.size : 0;
    if (code != TARN_OK && code != TARN_NOT_FOUND)
        return tarn_err_move(err, &fault);
    return write_file(base, entry, file, err);
}

/* --- the commits since then --- */

static tarn_code meet_remove(struct base *base, struct tarn_fileset_entry *entry,
                             const struct tarn_file *file, struct tarn_err *err)
{
    if (entry->flags & BORN) {
        entry->flags &= (unsigned)~BORN & TARN_FILE_FLAGS;
        return TARN_OK;
    }
    if (entry->flags & (TOLD | WANTED))
        return TARN_OK;
    if (file->size >= 0)
        return write_file(base, entry, file, err);
    entry->flags |= WANTED;
    base->wanted++;
    return TARN_OK;
}

static tarn_code meet_op(void *ctx, const struct tarn_entry_op *op, struct tarn_err *err)
{
    struct base *base = ctx;
    tarn_code code = tarn_data_path_check(op->file.path, "path", err);
    struct tarn_fileset_entry *entry = code == TARN_OK ? tarn_fileset_put(&base->files, op->file.path) : NULL;

    if (!entry)
        return code == TARN_OK ? tarn_fail_oom(err) : code;
    if (!op->is_add)
        return meet_remove(base, entry, &op->file, err);
    entry->flags |= BORN;
    return TARN_OK;
}

/* Removes that told nothing, once more, for their names. */
static tarn_code meet_unknown(void *ctx, const struct tarn_entry_op *op, struct tarn_err *err)
{
    struct base *base = ctx;
    struct tarn_fileset_entry *entry = tarn_fileset_find(&base->files, op->file.path);
    struct tarn_file file = { .path = op->file.path, .size = -1, .records = -1, .removed_version = -1,
                              .schema_version = base->schema_version };

    if (op->is_add || !entry || !(entry->flags & WANTED))
        return TARN_OK;
    return stat_file(base, entry, &file, err);
}

/* The log from before: whoever added it last told what it was. */
static tarn_code meet_old(void *ctx, const struct tarn_entry_op *op, struct tarn_err *err)
{
    struct base *base = ctx;
    struct tarn_fileset_entry *entry = tarn_fileset_find(&base->files, op->file.path);
    struct tarn_file file = op->file;

    if (!op->is_add || !entry || !(entry->flags & WANTED))
        return TARN_OK;
    if (file.schema_version == 0)
        file.schema_version = base->schema_version;
    return stat_file(base, entry, &file, err);
}

static tarn_code entry_read(const char *path, tarn_code code, struct tarn_err *fault, struct tarn_err *err)
{
    if (code == TARN_INVALID || code == TARN_NOT_FOUND)
        return tarn_fail(err, TARN_STORAGE_AHEAD, "%s cannot be read: %s", path, fault->detail);
    return code == TARN_OK ? TARN_OK : tarn_err_move(err, fault);
}

static void entry_path(const char *id, char out[TARN_TXN_ID_MAX + 32])
{
    snprintf(out, TARN_TXN_ID_MAX + 32, TARN_DIR_LOG "/%s.json", id);
}

/* One of Tarn's: a path that it removes and adds is another file after it, so that both count. */
static tarn_code read_own(const struct base *base, const char *id, tarn_entry_op_fn *fn, void *ctx,
                          struct tarn_err *err)
{
    __attribute__((cleanup(tarn_entry_head_done))) struct tarn_entry_head head = { .timestamp = -1 };
    char path[TARN_TXN_ID_MAX + 32];
    TARN_ERR(fault);

    entry_path(id, path);
    return entry_read(path, tarn_entry_read_at(base->b->place, path, &head, NULL, fn, ctx, &fault), &fault,
                      err);
}

/* One from before: what it leaves. */
static tarn_code read_old(const struct base *base, const char *id, tarn_entry_op_fn *fn, void *ctx,
                          struct tarn_err *err)
{
    char path[TARN_TXN_ID_MAX + 32];
    TARN_ERR(fault);

    entry_path(id, path);
    return entry_read(path, tarn_entry_read_last(base->b->place, path, fn, ctx, &fault), &fault, err);
}

static tarn_code each_commit(struct base *base, int64_t until, tarn_entry_op_fn *fn, struct tarn_err *err)
{
    const struct tarn_traces *t = &base->b->traces;
    tarn_code code = TARN_OK;

    for (int64_t version = base->version + 1; version <= until && code == TARN_OK; version++)
        code = read_own(base, tarn_trace_id(t, tarn_traces_entry(t, version)), fn, base, err);
    return code;
}

/* Newest first, as far as they can be read. */
static tarn_code each_old(struct base *base, struct tarn_err *err)
{
    const struct tarn_traces *t = &base->b->traces;
    tarn_code code = TARN_OK;

    for (size_t i = t->others.count; i > 0 && base->wanted > 0 && code == TARN_OK; i--) {
        code = read_old(base, tarn_trace_id(t, &t->others.items[i - 1]), meet_old, base, err);
        if (code == TARN_STORAGE_AHEAD)
            code = TARN_OK;
    }
    return code;
}

/* --- what was never committed --- */

struct stray { struct base *base; int64_t adds, lacking, undone; };

static tarn_code weigh_op(void *ctx, const struct tarn_entry_op *op, struct tarn_err *err)
{
    struct stray *s = ctx;
    const struct tarn_fileset_entry *entry = tarn_fileset_find(&s->base->files, op->file.path);
    bool was_there = entry && entry->flags & TOLD;

    (void)err;
    s->adds += op->is_add;
    s->lacking += op->is_add && !was_there;
    s->undone += !op->is_add && was_there;
    return TARN_OK;
}

static tarn_code judge_stray(struct base *base, const struct tarn_trace *trace, bool *out,
                             struct tarn_err *err)
{
    struct stray s = { .base = base };
    TARN_ERR(fault);

    *out = true;
    if (!tarn_rebuild_is_past(base->b, trace))
        return TARN_OK;
    tarn_code code = read_old(base, tarn_trace_id(&base->b->traces, trace), weigh_op, &s, &fault);
    *out = code == TARN_STORAGE_AHEAD || s.lacking > 0 || (s.adds == 0 && s.undone > 0);
    return code == TARN_OK || code == TARN_STORAGE_AHEAD ? TARN_OK : tarn_err_move(err, &fault);
}

/* Above the pointer of then may lie entries that nobody had committed. No document tells
 * where it stood: the newest ones are such as long as what they did was not to be seen. */
static tarn_code find_strays(struct base *base, struct tarn_err *err)
{
    struct tarn_rebuilding *b = base->b;
    bool is_stray = true;
    tarn_code code = TARN_OK;

    while (b->strays_from > 0 && is_stray && code == TARN_OK) {
        code = judge_stray(base, &b->traces.others.items[b->strays_from - 1], &is_stray, err);
        b->strays_from -= code == TARN_OK && is_stray;
    }
    return code;
}

/* --- the snapshot --- */

static tarn_code meet_file(void *ctx, const struct tarn_file *listed, struct tarn_err *err)
{
    struct base *base = ctx;
    struct tarn_file file = *listed;
    tarn_code code = tarn_data_path_check(file.path, "path", err);
    struct tarn_fileset_entry *entry = code == TARN_OK ? tarn_fileset_put(&base->files, file.path) : NULL;

    if (!entry)
        return code == TARN_OK ? tarn_fail_oom(err) : code;
    return entry->flags & (BORN | TOLD) ? TARN_OK : stat_file(base, entry, &file, err);
}

static tarn_code read_snapshot(struct base *base, const char *path, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_manifest_head_done))) struct tarn_manifest_head head = { .version = -1 };
    TARN_AUTO(reader) struct tarn_reader *reader = NULL;
    tarn_code code = tarn_place_reader(base->b->place, path, &reader, NULL, err);

    return code == TARN_OK ? tarn_manifest_read(tarn_reader_fill, reader, &head, meet_file, base, err) : code;
}

/* The newest schema when the table was taken over. */
static int64_t schema_at(const struct tarn_rebuilding *b)
{
    int64_t version = 0;

    for (size_t i = 0; i < b->schemas.count; i++)
        if (b->schemas.rows[i].created_at <= b->table->created_at)
            version = b->schemas.rows[i].version;
    return version;
}

tarn_code tarn_rebuild_base(struct tarn_rebuilding *b, const char *path, int64_t until, struct tarn_err *err)
{
    __attribute__((cleanup(base_done))) struct base base = { .b = b, .version = b->table->first_version };
    struct tarn_commit_row row = { .version = base.version };

    base.schema_version = schema_at(b);
    tarn_code code = each_commit(&base, until, meet_op, err);
    if (code == TARN_OK)
        code = read_snapshot(&base, path, err);
    if (code == TARN_OK && base.wanted > 0)
        code = each_old(&base, err);
    if (code == TARN_OK && base.wanted > 0)
        code = each_commit(&base, until, meet_unknown, err);
    if (code == TARN_OK)
        code = find_strays(&base, err);
    return code == TARN_OK ? tarn_held_close(&b->replay, &row, true, err) : code;
}
