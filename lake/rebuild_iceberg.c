/* rebuild_iceberg.c - one Iceberg table from its newest metadata file: that is its present, and its past are the files that the
 * metadata-log names, as far as they are there, a version each. As rebuild_table.c: the table's own row comes last. */
#include "base/time.h"
#include "formats/fileset.h"
#include "lake/event.h"
#include "lake/iceberg.h"
#include "lake/iceberg_history.h"
#include "lake/lease.h"
#include "lake/rebuild.h"
#include "lake/register.h"
#include <stdio.h>
#include <string.h>

enum { FILES_A_LINE = 1000 };

struct rebuilding {
    struct tarn_rebuild *rebuild;
    const struct tarn_rebuild_candidate *c;
    char dotted[TARN_DOTTED_MAX];
    char **files;               /* owned, each too: newest first */
    size_t count, cap;
    struct tarn_fileset seen;
    struct tarn_table *table;   /* owned: the row to come, under a reserved id */
    struct tarn_iceberg_meta *meta; /* owned: the document at hand, at last the newest */
    int64_t base_snapshot;      /* what was current before it; TARN_ICEBERG_NONE */
    int64_t shift;              /* of versions to the numbers of the files */
    int64_t made;
    bool has_begun;
    struct tarn_buf metadata, refs;
};

static void rebuilding_done(struct rebuilding *b)
{
    for (size_t i = 0; i < b->count; i++)
        free(b->files[i]);
    free(b->files);
    tarn_fileset_done(&b->seen);
    tarn_table_free(b->table);
    tarn_iceberg_free(b->meta);
    tarn_buf_done(&b->metadata);
    tarn_buf_done(&b->refs);
}

/* --- the files --- */

static tarn_code push(struct rebuilding *b, const char *file, struct tarn_err *err)
{
    if (b->count == b->cap) {
        size_t cap = b->cap ? 2 * b->cap : 64;
        char **more = reallocarray(b->files, cap, sizeof *more);
        if (!more)
            return tarn_fail_oom(err);
        b->files = more;
        b->cap = cap;
    }
    char *copy = strdup(file);
    if (!copy)
        return tarn_fail_oom(err);
    b->files[b->count++] = copy;
    return TARN_OK;
}

/* *out NULL: no document of this table, or none that can be read. */
static tarn_code read_file(const struct rebuilding *b, const char *file, struct tarn_iceberg_meta **out, struct tarn_err *err)
{
    TARN_AUTO(iceberg) struct tarn_iceberg_meta *meta = NULL;
    TARN_ERR(fault);
    tarn_code code = tarn_iceberg_file_parse(b->rebuild->lake, file, &meta, &fault);

    if (code == TARN_STORAGE_UNAVAILABLE || code == TARN_INTERNAL)
        return tarn_err_move(err, &fault);
    if (code == TARN_OK && meta->uuid && strcmp(meta->uuid, b->c->uuid) == 0)
        *out = tarn_take(&meta);
    return TARN_OK;
}

/* What a log names and is still there; one that was cut names the younger ones alone, and the oldest of those names more. */
static tarn_code take_log(struct rebuilding *b, const struct tarn_iceberg_meta *meta, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    for (size_t i = meta->metadata_log.count; i > 0 && code == TARN_OK; i--) {
        const char *file = meta->metadata_log.items[i - 1].file;
        struct tarn_fileset_entry *met = tarn_fileset_put(&b->seen, file);
        TARN_ERR(gone);
        if (!met)
            return tarn_fail_oom(err);
        bool is_new = !(met->flags & TARN_FILE_SEEN);
        met->flags = TARN_FILE_SEEN;
        if (is_new && tarn_iceberg_file_stat(b->rebuild->lake, file, &gone) == TARN_OK)
            code = push(b, file, err);
    }
    return code;
}

static tarn_code find_files(struct rebuilding *b, struct tarn_err *err)
{
    tarn_code code = push(b, b->c->metadata, err);

    for (size_t at = 0; at < b->count && code == TARN_OK; at = b->count - 1) {
        TARN_AUTO(iceberg) struct tarn_iceberg_meta *meta = NULL;
        size_t before = b->count;
        code = tarn_lake_goes_on(b->rebuild->lake, err);
        if (code == TARN_OK)
            code = read_file(b, b->files[at], &meta, err);
        if (code == TARN_OK && meta)
            code = take_log(b, meta, err);
        if (b->count == before)
            break;
    }
    return code;
}

/* --- its versions --- */

/* A create without a snapshot is version 0 and each commit counts one, as the files' numbers do. Of a table whose first file is gone
 * the numbers tell the versions. */
static int64_t version_of(struct rebuilding *b, const char *file)
{
    int64_t number = tarn_iceberg_file_number(file), next = b->table->version + 1;

    number = number < 0 || number >= TARN_ICEBERG_NUMBER_END ? 0 : number;
    if (b->has_begun)
        return number + b->shift > next ? number + b->shift : next;
    if (number == 0 && b->meta->current_snapshot_id != TARN_ICEBERG_NONE)
        b->shift = 1;
    return number + b->shift;
}

/* Of the oldest file nothing tells what was before, but the log of snapshots when the current one became so. */
static int64_t base_of(const struct rebuilding *b)
{
    const struct tarn_iceberg_meta *meta = b->meta;
    size_t count = meta->snapshot_log.count;
    bool moved = count > 0 && meta->snapshot_log.items[count - 1].timestamp_ms == meta->last_updated_ms;

    return b->table->version <= 1 || moved ? TARN_ICEBERG_NONE : meta->current_snapshot_id;
}

static tarn_code commit_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct rebuilding *b = ctx;
    char transaction[TARN_TXN_ID_MAX + 1];
    struct tarn_commit_row row = { .transaction = transaction };
    tarn_code code = tarn_iceberg_commit_row(tx, b->table, b->meta, b->base_snapshot, &row, err);

    return code == TARN_OK ? tx->ops->commits.insert(tx, b->table->id, &row, err) : code;
}

static void begin(struct rebuilding *b)
{
    struct tarn_table *t = b->table;
    const struct tarn_iceberg_meta *meta = b->meta;

    /* The oldest entry tells of the table's earliest file, also when that is gone. */
    t->created_at = meta->metadata_log.count > 0 ? meta->metadata_log.items[0].timestamp_ms : meta->last_updated_ms;
    t->oldest_version = t->version > 1 ? t->version : 0;
    b->base_snapshot = base_of(b);
    b->has_begun = true;
}

static void tell_gap(struct rebuilding *b, int64_t version)
{
    int64_t from = b->table->version + 1;

    if (b->has_begun && version > from)
        tarn_rebuild_tell(b->rebuild, b->c->location, b->dotted, "versions %lld to %lld are lost: their metadata files are missing",
                          (long long)from, (long long)version - 1);
}

/* The document becomes the row, and a commit; of the first one there may have been none. */
static tarn_code take_document(struct rebuilding *b, const char *file, struct tarn_err *err)
{
    struct tarn_table *t = b->table;
    int64_t version = version_of(b, file);

    tell_gap(b, version);
    t->version = t->published_version = version;
    if (!b->has_begun)
        begin(b);
    if (t->committed_at < b->meta->last_updated_ms)
        t->committed_at = b->meta->last_updated_ms;
    tarn_code code = tarn_iceberg_row(t, b->meta, file, err);
    if (code != TARN_OK || t->version == 0)
        return code;
    b->made++;
    return tarn_store_write(b->rebuild->lake->store, commit_tx, b, err);
}

static void tell_progress(const struct rebuilding *b, size_t at)
{
    const struct tarn_rebuild_line line = { .kind = TARN_REBUILD_PROGRESS, .location = b->c->location, .table = b->dotted,
                                            .version = b->table->version };

    if (at > 0 && at % FILES_A_LINE == 0)
        b->rebuild->tell(b->rebuild->ctx, &line);
}

static tarn_code take_files(struct rebuilding *b, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    for (size_t i = b->count; i > 0 && code == TARN_OK; i--) {
        struct tarn_iceberg_meta *meta = NULL;
        tell_progress(b, i - 1);
        code = tarn_lake_goes_on(b->rebuild->lake, err);
        if (code == TARN_OK)
            code = read_file(b, b->files[i - 1], &meta, err);
        if (code != TARN_OK || !meta)
            continue;
        b->base_snapshot = b->meta ? b->meta->current_snapshot_id : TARN_ICEBERG_NONE;
        tarn_iceberg_free(b->meta);
        b->meta = meta;
        code = take_document(b, b->files[i - 1], err);
    }
    if (code == TARN_OK && !(b->table->metadata_location && strcmp(b->table->metadata_location, b->c->metadata) == 0))
        return tarn_fail(err, TARN_INVALID, "%s cannot be read any more", b->c->metadata);
    return code == TARN_OK ? tarn_iceberg_write_forms(b->meta, &b->metadata, &b->refs, err) : code;
}

/* --- the row --- */

static tarn_code reserve_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return tx->ops->tables.reserve_id(tx, &((struct rebuilding *)ctx)->table->id, err);
}

static tarn_code new_row(struct rebuilding *b, struct tarn_err *err)
{
    tarn_code code = tarn_iceberg_blank_row(&b->c->ident, &b->table, err);

    if (code != TARN_OK)
        return code;
    snprintf(b->table->uuid, sizeof b->table->uuid, "%s", b->c->uuid);
    return tarn_store_write(b->rebuild->lake->store, reserve_tx, b, err);
}

static tarn_code insert_row(struct tarn_tx *tx, const struct rebuilding *b, struct tarn_err *err)
{
    const struct tarn_table *t = b->table;
    TARN_AUTO(table) struct tarn_table *owner = NULL;
    tarn_code code = tarn_location_owner(tx, b->rebuild->lake, t->location, true, 0, tarn_now_ms(), &owner, err);

    if (code == TARN_OK && owner)
        return tarn_location_taken(owner, t->location, err);
    if (code == TARN_OK)
        code = tx->ops->tables.insert(tx, t, err);
    if (code == TARN_OK && t->oldest_version > 0) /* the history begins there */
        code = tx->ops->history.forget(tx, t->id, 0, t->oldest_version, err);
    return code;
}

static tarn_code end_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct rebuilding *b = ctx;
    const struct tarn_table *t = b->table;
    int64_t now = b->rebuild->now_ms ? b->rebuild->now_ms : tarn_now_ms();
    tarn_code code = insert_row(tx, b, err);

    if (code == TARN_OK)
        code = tx->ops->iceberg.put(tx, t->id, b->metadata.data, b->refs.len > 0 ? b->refs.data : NULL, err);
    return code == TARN_OK ? tarn_event_add(tx, TARN_EVENT_RECOVERED, t, now,
                                            json_pack("{s:s, s:I, s:I}", "uuid", t->uuid, "from_version", (json_int_t)0,
                                                      "version", (json_int_t)t->version),
                                            err)
                           : code;
}

static void tell_done(const struct rebuilding *b)
{
    const struct tarn_table *t = b->table;
    const struct tarn_rebuild_line line = { .kind = TARN_REBUILT,
                                            .location = t->location,
                                            .table = b->dotted,
                                            .format = TARN_FORMAT_ICEBERG,
                                            .uuid = t->uuid,
                                            .version = t->version,
                                            .oldest_version = t->oldest_version,
                                            .files = t->file_count,
                                            .commits = b->made,
                                            .schemas = (int64_t)b->meta->schemas.count };

    b->rebuild->tables++;
    b->rebuild->tell(b->rebuild->ctx, &line);
}

tarn_code tarn_rebuild_iceberg(struct tarn_rebuild *rebuild, const struct tarn_rebuild_candidate *candidate, struct tarn_err *err)
{
    __attribute__((cleanup(rebuilding_done))) struct rebuilding b = { .rebuild = rebuild, .c = candidate };

    tarn_ident_format(candidate->ident.namespace_, candidate->ident.name, b.dotted);
    tarn_code code = new_row(&b, err);
    if (code == TARN_OK)
        code = find_files(&b, err);
    if (code == TARN_OK)
        code = take_files(&b, err);
    if (code == TARN_OK)
        code = tarn_store_write(rebuild->lake->store, end_tx, &b, err);
    if (code == TARN_OK)
        tell_done(&b);
    return code;
}
