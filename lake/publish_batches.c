/* publish_batches.c - the checkpoints of staged batches under processed/, after the pointer: whoever sees one
 * may rely on its commit. A document is Tarn's when it carries this catalog's and this table's id; somebody
 * else's is left alone, and the batch stays unpublished. */
#include "base/json.h"
#include "formats/manifest/manifest.h"
#include "lake/publish_run.h"
#include <string.h>

enum { PAGE_BATCHES = 64, DOC_MAX_BYTES = 65536 };

struct doc {
    char id[TARN_BATCH_ID_MAX + 1], path[TARN_BATCH_DOC_PATH];
    int64_t revision;
    size_t start, len; /* in the page's text */
    bool foreign;
};

struct page {
    struct tarn_publish_run *run;
    char after[TARN_BATCH_ID_MAX + 1];
    struct tarn_buf text;
    struct doc docs[PAGE_BATCHES];
    size_t count;
};

static void page_freep(struct page **page)
{
    if (*page)
        tarn_buf_done(&(*page)->text);
    free(*page);
}

/* --- what is to be written --- */

static tarn_code render(void *ctx, const struct tarn_batch *batch, struct tarn_err *err)
{
    struct page *p = ctx;
    struct doc *doc = &p->docs[p->count++];
    struct tarn_jsonw w = tarn_jsonw_to(&p->text);

    *doc = (struct doc){ .revision = batch->revision, .start = p->text.len };
    snprintf(doc->id, sizeof doc->id, "%s", batch->batch_id);
    tarn_batch_doc_path(batch->batch_id, doc->path);
    tarn_batch_doc_write(&w, p->run->table, p->run->lake->catalog_id, batch);
    doc->len = p->text.len - doc->start;
    return tarn_buf_check(&p->text, err);
}

static tarn_code page_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct page *p = ctx;

    tarn_buf_clear(&p->text);
    p->count = 0;
    return tx->ops->batches.pending(tx, p->run->table_id, p->run->table->version, p->after, PAGE_BATCHES,
                                    render, p, err);
}

/* --- onto storage --- */

static bool is_ours(const struct tarn_publish_run *run, const struct doc *doc, const struct tarn_buf *there)
{
    json_auto_t *root = NULL;

    if (tarn_json_parse(there->data ? there->data : "", there->len, NULL, &root, NULL) != TARN_OK)
        return false;
    const struct {
        const char *key, *value;
    } k_marks[] = { { "catalog", run->lake->catalog_id },
                    { "table_uuid", run->table->uuid },
                    { "batch_id", doc->id } };
    for (size_t i = 0; i < TARN_COUNT(k_marks); i++) {
        const char *value = json_string_value(json_object_get(root, k_marks[i].key));
        if (!value || strcmp(value, k_marks[i].value) != 0)
            return false;
    }
    return true;
}

/* Over what lies there already. */
static tarn_code replace(struct page *p, struct doc *doc, struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf there = { 0 };
    const char *text = p->text.data + doc->start;
    TARN_ERR(fault);
    tarn_code code = tarn_place_read_all(p->run->place, doc->path, DOC_MAX_BYTES, &there, NULL, &fault);

    if (code != TARN_OK && code != TARN_NOT_FOUND && code != TARN_PAYLOAD_TOO_LARGE)
        return tarn_err_move(err, &fault);
    if (code == TARN_OK && there.len == doc->len && memcmp(there.data, text, doc->len) == 0)
        return TARN_OK;
    if (code != TARN_NOT_FOUND && (code == TARN_PAYLOAD_TOO_LARGE || !is_ours(p->run, doc, &there))) {
        doc->foreign = true;
        p->run->foreign_batches++;
        memcpy(p->run->foreign_batch, doc->id, sizeof doc->id);
        return TARN_OK;
    }
    return tarn_place_put(p->run->place, doc->path, text, doc->len, TARN_PUT_REPLACE, NULL, err);
}

static size_t folder_len(const struct doc *doc) { return (size_t)(strrchr(doc->path, '/') - doc->path); }

/* How many documents from `from` on lie in one folder. */
static size_t neighbours(const struct page *p, size_t from)
{
    size_t len = folder_len(&p->docs[from]), count = 1;

    while (from + count < p->count && folder_len(&p->docs[from + count]) == len &&
           strncmp(p->docs[from].path, p->docs[from + count].path, len) == 0)
        count++;
    return count;
}

/* One folder's: new ones side by side, then the others. */
static tarn_code put_folder(struct page *p, size_t from, size_t count, struct tarn_err *err)
{
    struct tarn_new_object objects[PAGE_BATCHES];
    char folder[TARN_BATCH_DOC_PATH];
    size_t len = folder_len(&p->docs[from]);

    snprintf(folder, sizeof folder, "%.*s", (int)len, p->docs[from].path);
    for (size_t i = 0; i < count; i++) {
        const struct doc *doc = &p->docs[from + i];
        objects[i] =
            (struct tarn_new_object){ doc->path + len + 1, p->text.data + doc->start, doc->len, false };
    }
    tarn_code code = tarn_place_create_all(p->run->place, folder, objects, count, err);
    for (size_t i = 0; code == TARN_OK && i < count; i++)
        if (objects[i].exists)
            code = replace(p, &p->docs[from + i], err);
    return code;
}

static tarn_code put_page(struct page *p, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    for (size_t from = 0; code == TARN_OK && from < p->count;) {
        size_t count = neighbours(p, from);
        code = put_folder(p, from, count, err);
        from += count;
    }
    return code;
}

/* --- the note --- */

static tarn_code shown_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct page *p = ctx;
    tarn_code code = TARN_OK;

    for (size_t i = 0; code == TARN_OK && i < p->count; i++)
        code = tx->ops->batches.shown(tx, p->run->table_id, p->docs[i].id, p->docs[i].revision,
                                      p->docs[i].foreign, err);
    return code;
}

static tarn_code publish_page(struct page *p, struct tarn_err *err)
{
    struct tarn_publish_run *run = p->run;

    tarn_code code = tarn_publish_read(run, page_tx, p, err);
    if (code == TARN_OK)
        code = put_page(p, err);
    if (code == TARN_OK && p->count > 0)
        code = tarn_store_write(run->lake->store, shown_tx, p, err);
    if (code == TARN_OK && p->count > 0)
        memcpy(p->after, p->docs[p->count - 1].id, sizeof p->after);
    return code;
}

tarn_code tarn_publish_batches(struct tarn_publish_run *run, struct tarn_err *err)
{
    if (!run->wants_batches)
        return TARN_OK;
    __attribute__((cleanup(page_freep))) struct page *p = calloc(1, sizeof *p);
    if (!p)
        return tarn_fail_oom(err);
    p->run = run;
    do {
        if (publish_page(p, &run->side) != TARN_OK)
            return TARN_OK;
    } while (p->count == PAGE_BATCHES);
    return TARN_OK;
}
