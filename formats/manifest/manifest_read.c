/* manifest_read.c - manifest.json in: the head's members come in any order around `files`, whose entries go
 * to the visitor one by one. A million files need the memory of the largest one. */
#include "formats/manifest/manifest.h"
#include "formats/manifest/doc.h"

struct manifest_read {
    struct tarn_manifest_head head;
    struct tarn_doc_instant last_updated, created_at;
    struct tarn_buf partition_keys;
    struct tarn_doc_file entry;
    struct tarn_file view; /* borrows from entry */
    tarn_file_fn *fn;
    void *ctx;
};

static void manifest_read_done(struct manifest_read *m)
{
    tarn_manifest_head_done(&m->head);
    free(m->last_updated.text);
    free(m->created_at.text);
    tarn_buf_done(&m->partition_keys);
    tarn_doc_file_done(&m->entry);
}

void tarn_manifest_head_done(struct tarn_manifest_head *head)
{
    free(head->last_updated_text);
    free(head->table);
    free(head->catalog);
    free(head->table_uuid);
    free(head->transaction);
    free(head->partition_keys);
    *head = (struct tarn_manifest_head){ .version = -1, .last_updated = -1, .schema_version = -1, .created_at = -1 };
}

static tarn_code read_file(struct tarn_jsonr *r, const struct tarn_jsonr_event *first, void *ctx,
                           struct tarn_err *err)
{
    struct manifest_read *m = ctx;
    return tarn_doc_file_read(r, first, &m->entry, &m->view, err);
}

static tarn_code deliver_file(void *ctx, struct tarn_err *err)
{
    struct manifest_read *m = ctx;
    return m->fn ? m->fn(m->ctx, &m->view, err) : TARN_OK;
}

/* Its target is the whole reader: offset 0. */
static tarn_code read_files(struct tarn_jsonr *r, const struct tarn_jsonr_event *first, const char *key,
                            void *target, struct tarn_err *err)
{
    return tarn_doc_array(r, first, key, read_file, deliver_file, target, err);
}

enum { MANIFEST_FILES };
static const struct tarn_doc_member k_manifest[] = {
    [MANIFEST_FILES] = { "files", read_files, 0 },
    { "version", tarn_doc_count, offsetof(struct manifest_read, head.version) },
    { "last_updated", tarn_doc_instant, offsetof(struct manifest_read, last_updated) },
    { "table", tarn_doc_str, offsetof(struct manifest_read, head.table) },
    { "catalog", tarn_doc_str, offsetof(struct manifest_read, head.catalog) },
    { "table_uuid", tarn_doc_str, offsetof(struct manifest_read, head.table_uuid) },
    { "transaction", tarn_doc_str, offsetof(struct manifest_read, head.transaction) },
    { "schema_version", tarn_doc_count, offsetof(struct manifest_read, head.schema_version) },
    { "created_at", tarn_doc_lax_instant, offsetof(struct manifest_read, created_at) },
    { "partition_keys", tarn_doc_lax_texts, offsetof(struct manifest_read, partition_keys) },
    { "first_version", tarn_doc_lax_count, offsetof(struct manifest_read, head.first_version) },
    { NULL, NULL, 0 },
};

static void hand_over(struct manifest_read *m, struct tarn_manifest_head *head)
{
    m->head.last_updated = m->last_updated.ms;
    m->head.last_updated_form = m->last_updated.form;
    m->head.last_updated_bad = m->last_updated.text && m->last_updated.ms < 0;
    m->head.last_updated_text = tarn_take(&m->last_updated.text);
    m->head.created_at = m->created_at.ms;
    if (m->partition_keys.len > 0)
        m->head.partition_keys = tarn_buf_take(&m->partition_keys);
    *head = m->head;
    m->head = (struct tarn_manifest_head){ 0 };
}

tarn_code tarn_manifest_read(tarn_source_fn *source, void *from, struct tarn_manifest_head *head,
                             tarn_file_fn *fn, void *ctx, struct tarn_err *err)
{
    __attribute__((cleanup(manifest_read_done))) struct manifest_read m = {
        .head = { .version = -1, .schema_version = -1 },
        .last_updated = { .ms = -1 },
        .created_at = { .ms = -1 },
        .fn = fn,
        .ctx = ctx,
    };
    TARN_AUTO(jsonr) struct tarn_jsonr *r = tarn_jsonr_new(source, from, 0);
    if (!r)
        return tarn_fail_oom(err);
    uint32_t seen = 0;
    tarn_code code = tarn_doc_read(r, "a manifest", k_manifest, &m, &seen, err);
    if (code != TARN_OK)
        return code;
    if (!(seen & (1u << MANIFEST_FILES)))
        return tarn_fail_field(err, "files", "this is not a manifest: it lists no files");
    hand_over(&m, head);
    return TARN_OK;
}

tarn_code tarn_manifest_read_at(struct tarn_place *place, struct tarn_manifest_head *head,
                                struct tarn_object *object, tarn_file_fn *fn, void *ctx, struct tarn_err *err)
{
    TARN_AUTO(reader) struct tarn_reader *reader = NULL;
    tarn_code code = tarn_place_reader(place, TARN_DOC_MANIFEST, &reader, object, err);
    if (code != TARN_OK)
        return code;
    return tarn_manifest_read(tarn_reader_fill, reader, head, fn, ctx, err);
}
