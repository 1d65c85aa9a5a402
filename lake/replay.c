/* replay.c - documents in: a log entry is one version, a snapshot another. Both stream: a document
 * of a million files needs the memory of the buffer, a snapshot 24 bytes a file beside it. */
#include "lake/replay.h"
#include "formats/fileset.h"
#include <stdio.h>
#include <string.h>

enum { PAGE_ROWS = 1000 };
#define SNAPSHOT_AUTHOR "{\"author\":\"tarn\",\"description\":\"recovered from a snapshot: the log entry is lost\"}"

tarn_code tarn_replay_begin(struct tarn_replay *r, struct tarn_err *err)
{
    r->held = calloc(1, sizeof *r->held);
    r->made = 0;
    r->staged = false;
    return r->held ? TARN_OK : tarn_fail_oom(err);
}

void tarn_replay_done(struct tarn_replay *r)
{
    tarn_held_free(r->held);
    r->held = NULL;
}

tarn_code tarn_replay_end(struct tarn_replay *r, struct tarn_err *err) { return tarn_held_flush(r, err); }

/* --- what both need --- */

/* Documents of Tarn's own tell the size; others may not. */
static tarn_code settle_size(struct tarn_replay *r, struct tarn_file *file, struct tarn_err *err)
{
    struct tarn_object object = { 0 };
    TARN_ERR(fault);

    if (file->size >= 0)
        return TARN_OK;
    tarn_code code = tarn_place_stat(r->place, file->path, &object, &fault);
    file->size = code == TARN_OK ? object.size : 0;
    return code == TARN_OK || code == TARN_NOT_FOUND ? TARN_OK : tarn_err_move(err, &fault);
}

/* Entries from before they told it: the newest schema of that time. */
static int64_t schema_of(const struct tarn_replay *r, int64_t told, int64_t at_ms)
{
    int64_t version = 0;

    if (told >= 0 || !r->schemas)
        return told >= 0 ? told : 0;
    for (size_t i = 0; i < r->schemas->count; i++)
        if (r->schemas->rows[i].created_at <= at_ms)
            version = r->schemas->rows[i].version;
    return version;
}

static void take_head(const struct tarn_replay *r, const struct tarn_entry_head *head,
                      struct tarn_commit_row *row)
{
    row->committed_at = head->timestamp >= 0 ? head->timestamp : row->committed_at;
    row->schema_version = schema_of(r, head->schema_version, row->committed_at);
    row->metadata = head->metadata;
    row->data_change = head->data_change;
    row->batch_ids = head->batch_ids;
    row->is_rollback = head->rollback_to >= 0 && head->rollback_to < row->version;
    row->rollback_to = head->rollback_to;
    if (head->body_sha256 && strlen(head->body_sha256) < sizeof row->body_hash)
        snprintf(row->body_hash, sizeof row->body_hash, "%s", head->body_sha256);
    if (head->group && strlen(head->group) < sizeof row->group)
        snprintf(row->group, sizeof row->group, "%s", head->group);
}

static tarn_code unreadable(const char *path, const struct tarn_err *fault, struct tarn_err *err)
{
    return tarn_fail(err, TARN_STORAGE_AHEAD, "%s cannot be read: %s%s%s", path, fault->field,
                     fault->field[0] ? ": " : "", fault->detail);
}

/* --- a log entry --- */

struct entry {
    struct tarn_replay *replay;
    int64_t version;
};

static tarn_code take_op(void *ctx, const struct tarn_entry_op *op, struct tarn_err *err)
{
    const struct entry *e = ctx;
    struct tarn_file file = op->file;
    tarn_code code = tarn_data_path_check(file.path, "path", err);

    if (code == TARN_OK && op->is_add)
        code = settle_size(e->replay, &file, err);
    return code == TARN_OK ? tarn_held_add(e->replay, e->version, op->is_add, false, &file, err) : code;
}

tarn_code tarn_replay_entry(struct tarn_replay *r, const char *id, int64_t version, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_entry_head_done))) struct tarn_entry_head head = { .timestamp = -1 };
    struct entry e = { r, version };
    char path[TARN_TXN_ID_MAX + 32], transaction[TARN_TXN_ID_MAX + 1];
    TARN_ERR(fault);

    snprintf(path, sizeof path, TARN_DIR_LOG "/%s.json", id);
    snprintf(transaction, sizeof transaction, "%s", id);
    tarn_code code = tarn_entry_read_at(r->place, path, &head, NULL, take_op, &e, &fault);
    if (code == TARN_INVALID || code == TARN_NOT_FOUND)
        return unreadable(path, &fault, err);
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    struct tarn_commit_row row = { .version = version,
                                   .transaction = transaction,
                                   .committed_at = r->table->committed_at };
    take_head(r, &head, &row);
    return tarn_held_close(r, &row, false, err);
}

/* --- a snapshot --- */

struct snapshot {
    struct tarn_replay *replay;
    const struct tarn_replay_snapshot *ask;
    struct tarn_fileset files; /* of the document, with their sizes */
    bool counts;               /* the first pass: into the set */
    char after[TARN_PATH_MAX + 1];
    int64_t rows;
    struct tarn_buf gone;      /* paths of a page that the document has not, NUL-terminated */
};

static void snapshot_done(struct snapshot *s)
{
    tarn_fileset_done(&s->files);
    tarn_buf_done(&s->gone);
}

static tarn_code take_file(void *ctx, const struct tarn_file *listed, struct tarn_err *err)
{
    struct snapshot *s = ctx;
    struct tarn_file file = *listed;
    tarn_code code = tarn_data_path_check(file.path, "path", err);

    if (code == TARN_OK)
        code = settle_size(s->replay, &file, err);
    if (code != TARN_OK)
        return code;
    if (!s->counts)
        return tarn_held_add(s->replay, s->ask->version, true, true, &file, err);
    struct tarn_fileset_entry *entry = tarn_fileset_put(&s->files, file.path);
    if (!entry)
        return tarn_fail_oom(err);
    entry->size = (uint64_t)file.size & TARN_FILE_NO_SIZE;
    return TARN_OK;
}

static tarn_code read_document(struct snapshot *s, struct tarn_manifest_head *head, struct tarn_err *err)
{
    TARN_AUTO(reader) struct tarn_reader *reader = NULL;
    TARN_ERR(fault);
    tarn_code code = tarn_place_reader(s->replay->place, s->ask->path, &reader, NULL, &fault);

    tarn_manifest_head_done(head);
    if (code == TARN_OK)
        code = tarn_manifest_read(tarn_reader_fill, reader, head, take_file, s, &fault);
    if (code == TARN_INVALID || code == TARN_NOT_FOUND)
        return unreadable(s->ask->path, &fault, err);
    return code == TARN_OK ? TARN_OK : tarn_err_move(err, &fault);
}

static tarn_code note_row(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct snapshot *s = ctx;
    const struct tarn_fileset_entry *listed = tarn_fileset_find(&s->files, file->path);

    s->rows++;
    snprintf(s->after, sizeof s->after, "%s", file->path);
    if (!listed || listed->size != (uint64_t)file->size)
        tarn_buf_add(&s->gone, file->path, strlen(file->path) + 1);
    return tarn_buf_check(&s->gone, err);
}

static tarn_code page_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct snapshot *s = ctx;
    char after[TARN_PATH_MAX + 1];

    memcpy(after, s->after, sizeof after);
    tarn_buf_clear(&s->gone);
    s->rows = 0;
    return tx->ops->files.page(tx, s->replay->table->id, INT64_MAX - 1, after, PAGE_ROWS, note_row, s, err);
}

/* What the document has not, or has with another size, goes first. */
static tarn_code remove_others(struct snapshot *s, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    s->rows = PAGE_ROWS;
    while (code == TARN_OK && s->rows == PAGE_ROWS) {
        code = tarn_store_read(s->replay->lake->store, page_tx, s, err);
        for (size_t at = 0; code == TARN_OK && at < s->gone.len; at += strlen(s->gone.data + at) + 1) {
            const struct tarn_file file = { .path = s->gone.data + at };
            code = tarn_held_add(s->replay, s->ask->version, false, true, &file, err);
        }
    }
    return code;
}

/* What the entry says of the commit, when there is one. */
static tarn_code describe(struct tarn_replay *r, const char *entry, struct tarn_entry_head *head,
                          struct tarn_commit_row *row, struct tarn_err *err)
{
    char path[TARN_TXN_ID_MAX + 32];
    TARN_ERR(fault);

    if (!entry)
        return TARN_OK;
    snprintf(path, sizeof path, TARN_DIR_LOG "/%s.json", entry);
    tarn_code code = tarn_entry_read_at(r->place, path, head, NULL, NULL, NULL, &fault);
    if (code == TARN_OK)
        take_head(r, head, row);
    return code == TARN_OK || code == TARN_INVALID || code == TARN_NOT_FOUND ? TARN_OK
                                                                             : tarn_err_move(err, &fault);
}

static tarn_code close_snapshot(struct snapshot *s, const struct tarn_manifest_head *document,
                                struct tarn_err *err)
{
    __attribute__((cleanup(tarn_entry_head_done))) struct tarn_entry_head head = { .timestamp = -1 };
    struct tarn_replay *r = s->replay;
    char metadata[] = SNAPSHOT_AUTHOR, id[TARN_TXN_ID_MAX + 1];
    struct tarn_commit_row row = { .version = s->ask->version,
                                   .transaction = id,
                                   .committed_at = document->last_updated >= 0 ? document->last_updated
                                                                               : r->table->committed_at,
                                   .metadata = metadata,
                                   .data_change = true };

    snprintf(id, sizeof id, "recovered-%lld", (long long)row.version);
    if (document->transaction && tarn_txn_id_check(document->transaction, "transaction", NULL) == TARN_OK)
        snprintf(id, sizeof id, "%s", document->transaction);
    row.schema_version = schema_of(r, document->schema_version, row.committed_at);
    tarn_code code = describe(r, s->ask->entry, &head, &row, err);
    if (s->ask->entry)
        snprintf(id, sizeof id, "%s", s->ask->entry);
    return code == TARN_OK ? tarn_held_close(r, &row, !s->ask->in_history, err) : code;
}

tarn_code tarn_replay_snapshot(struct tarn_replay *r, const struct tarn_replay_snapshot *ask,
                               struct tarn_err *err)
{
    __attribute__((cleanup(snapshot_done))) struct snapshot s = { .replay = r, .ask = ask, .counts = true };
    __attribute__((cleanup(tarn_manifest_head_done))) struct tarn_manifest_head head = { .last_updated = -1 };
    bool compares = !r->is_new || r->made > 0 || r->held->commit_count > 0;
    tarn_code code = tarn_held_flush(r, err);

    if (code == TARN_OK && compares)
        code = read_document(&s, &head, err);
    if (code == TARN_OK && compares)
        code = remove_others(&s, err);
    s.counts = false;
    if (code == TARN_OK)
        code = read_document(&s, &head, err);
    return code == TARN_OK ? close_snapshot(&s, &head, err) : code;
}
