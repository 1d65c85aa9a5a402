/* entry_read.c - one log entry in. An operation of a type that is not known makes the entry unreadable:
 * whoever skips it cannot know which files are left. */
#include "formats/manifest/manifest.h"
#include "formats/manifest/doc.h"
#include <string.h>

struct entry_read {
    struct tarn_entry_head head;
    struct tarn_doc_instant timestamp;
    struct tarn_buf metadata, batch_ids;
    struct tarn_doc_file file;
    struct tarn_entry_op op; /* borrows from file */
    tarn_entry_op_fn *fn;
    void *ctx;
};

static void entry_read_done(struct entry_read *e)
{
    tarn_entry_head_done(&e->head);
    free(e->timestamp.text);
    tarn_buf_done(&e->metadata);
    tarn_buf_done(&e->batch_ids);
    tarn_doc_file_done(&e->file);
}

void tarn_entry_head_done(struct tarn_entry_head *head)
{
    free(head->id);
    free(head->metadata);
    free(head->catalog);
    free(head->table_uuid);
    free(head->group);
    free(head->body_sha256);
    free(head->batch_ids);
    *head = (struct tarn_entry_head){ .timestamp = -1, .version = -1, .schema_version = -1, .rollback_to = -1 };
}

static tarn_code read_op(struct tarn_jsonr *r, const struct tarn_jsonr_event *first, void *ctx,
                         struct tarn_err *err)
{
    struct entry_read *e = ctx;
    tarn_code code = tarn_doc_file_read(r, first, &e->file, &e->op.file, err);
    if (code != TARN_OK)
        return code;
    const char *type = e->file.type.len > 0 ? e->file.type.data : "";
    e->op.is_add = strcmp(type, "add_file") == 0;
    if (!e->op.is_add && strcmp(type, "remove_file") != 0)
        return tarn_fail_field(err, "type", "must be add_file or remove_file");
    return TARN_OK;
}

static tarn_code count_op(struct entry_read *e, struct tarn_err *err)
{
    struct tarn_entry_head *head = &e->head;
    if (!e->op.is_add) {
        head->removes++;
        return TARN_OK;
    }
    head->adds++;
    if (e->op.file.size > 0 && __builtin_add_overflow(head->bytes_added, e->op.file.size, &head->bytes_added))
        return tarn_fail(err, TARN_INVALID, "the sizes of the added files have no sum");
    return TARN_OK;
}

static tarn_code deliver_op(void *ctx, struct tarn_err *err)
{
    struct entry_read *e = ctx;
    tarn_code code = count_op(e, err);
    return code == TARN_OK && e->fn ? e->fn(e->ctx, &e->op, err) : code;
}

/* Its target is the whole reader: offset 0. */
static tarn_code read_ops(struct tarn_jsonr *r, const struct tarn_jsonr_event *first, const char *key,
                          void *target, struct tarn_err *err)
{
    return tarn_doc_array(r, first, key, read_op, deliver_op, target, err);
}

enum { ENTRY_OPERATIONS, ENTRY_METADATA, ENTRY_BATCHES };
static const struct tarn_doc_member k_entry[] = {
    [ENTRY_OPERATIONS] = { "operations", read_ops, 0 },
    [ENTRY_METADATA] = { "commitMetadata", tarn_doc_lax_object, offsetof(struct entry_read, metadata) },
    [ENTRY_BATCHES] = { "batch_ids", tarn_doc_lax_texts, offsetof(struct entry_read, batch_ids) },
    { "id", tarn_doc_str, offsetof(struct entry_read, head.id) },
    { "timestamp", tarn_doc_instant, offsetof(struct entry_read, timestamp) },
    { "dataChange", tarn_doc_bool, offsetof(struct entry_read, head.data_change) },
    { "version", tarn_doc_count, offsetof(struct entry_read, head.version) },
    { "catalog", tarn_doc_str, offsetof(struct entry_read, head.catalog) },
    { "table_uuid", tarn_doc_str, offsetof(struct entry_read, head.table_uuid) },
    { "group", tarn_doc_str, offsetof(struct entry_read, head.group) },
    { "schema_version", tarn_doc_lax_count, offsetof(struct entry_read, head.schema_version) },
    { "rollback_to", tarn_doc_lax_count, offsetof(struct entry_read, head.rollback_to) },
    { "body_sha256", tarn_doc_lax_str, offsetof(struct entry_read, head.body_sha256) },
    { NULL, NULL, 0 },
};

static void hand_over(struct entry_read *e, uint32_t seen, struct tarn_entry_head *head)
{
    e->head.timestamp = e->timestamp.ms;
    e->head.timestamp_form = e->timestamp.form;
    e->head.timestamp_bad = e->timestamp.text && e->timestamp.ms < 0;
    if (seen & (1u << ENTRY_METADATA) && e->metadata.len > 0)
        e->head.metadata = tarn_buf_take(&e->metadata);
    if (e->batch_ids.len > 0)
        e->head.batch_ids = tarn_buf_take(&e->batch_ids);
    *head = e->head;
    e->head = (struct tarn_entry_head){ 0 };
}

tarn_code tarn_entry_read(tarn_source_fn *source, void *from, struct tarn_entry_head *head,
                          tarn_entry_op_fn *fn, void *ctx, struct tarn_err *err)
{
    __attribute__((cleanup(entry_read_done))) struct entry_read e = {
        .head = { .version = -1, .schema_version = -1, .rollback_to = -1, .data_change = true },
        .timestamp = { .ms = -1 },
        .fn = fn,
        .ctx = ctx,
    };
    TARN_AUTO(jsonr) struct tarn_jsonr *r = tarn_jsonr_new(source, from, 0);
    if (!r)
        return tarn_fail_oom(err);
    uint32_t seen = 0;
    tarn_code code = tarn_doc_read(r, "a log entry", k_entry, &e, &seen, err);
    if (code != TARN_OK)
        return code;
    if (!(seen & (1u << ENTRY_OPERATIONS)))
        return tarn_fail_field(err, "operations", "this is not a log entry: it has no operations");
    hand_over(&e, seen, head);
    return TARN_OK;
}

tarn_code tarn_entry_read_at(struct tarn_place *place, const char *path, struct tarn_entry_head *head,
                             struct tarn_object *object, tarn_entry_op_fn *fn, void *ctx,
                             struct tarn_err *err)
{
    TARN_AUTO(reader) struct tarn_reader *reader = NULL;
    tarn_code code = tarn_place_reader(place, path, &reader, object, err);
    if (code != TARN_OK)
        return code;
    return tarn_entry_read(tarn_reader_fill, reader, head, fn, ctx, err);
}
