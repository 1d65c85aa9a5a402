/* publish_batches.c - the checkpoints of staged batches under processed/, after the pointer: whoever sees one
 * may rely on its commit. A document is Tarn's when it carries this catalog's and this table's id; somebody
 * else's is left alone, and the batch stays unpublished. */
#include "base/json.h"
#include "lake/batch_page.h"
#include <string.h>

struct page {
    struct tarn_publish_run *run;
    char after[TARN_BATCH_ID_MAX + 1];
    struct tarn_batch_page page;
};

static void page_freep(struct page **page)
{
    if (*page)
        tarn_batch_page_done(&(*page)->page);
    free(*page);
}

/* --- what is to be written --- */

static tarn_code render(void *ctx, const struct tarn_batch *batch, struct tarn_err *err)
{
    struct page *p = ctx;
    tarn_code code = tarn_batch_page_add(&p->page, p->run, batch, err);

    p->page.docs[p->page.count - 1].foreign = false; /* until it is seen */
    return code;
}

static tarn_code page_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct page *p = ctx;

    tarn_batch_page_clear(&p->page);
    return tx->ops->batches.pending(tx, p->run->table_id, p->run->table->version, p->after, TARN_BATCH_PAGE,
                                    render, p, err);
}

/* --- onto storage --- */

static bool is_ours(const struct tarn_publish_run *run, const struct tarn_batch_page_doc *doc,
                    const struct tarn_buf *there)
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
static tarn_code replace(struct page *p, struct tarn_batch_page_doc *doc, struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf there = { 0 };
    enum tarn_publish_found found;
    tarn_code code = tarn_batch_page_look(&p->page, doc, p->run->place, &there, &found, err);

    if (code != TARN_OK || found == TARN_FOUND_SAME)
        return code;
    if (found == TARN_FOUND_OTHER && !is_ours(p->run, doc, &there)) {
        doc->foreign = true;
        p->run->foreign_batches++;
        memcpy(p->run->foreign_batch, doc->id, sizeof doc->id);
        return TARN_OK;
    }
    return tarn_place_put(p->run->place, doc->path, tarn_batch_page_text(&p->page, doc), doc->len,
                          TARN_PUT_REPLACE, NULL, err);
}

static size_t folder_len(const struct tarn_batch_page_doc *doc)
{
    return (size_t)(strrchr(doc->path, '/') - doc->path);
}

/* How many documents from `from` on lie in one folder. */
static size_t neighbours(const struct page *p, size_t from)
{
    size_t len = folder_len(&p->page.docs[from]), count = 1;

    while (from + count < p->page.count && folder_len(&p->page.docs[from + count]) == len &&
           strncmp(p->page.docs[from].path, p->page.docs[from + count].path, len) == 0)
        count++;
    return count;
}

/* One folder's: new ones side by side, then the others. */
static tarn_code put_folder(struct page *p, size_t from, size_t count, struct tarn_err *err)
{
    struct tarn_new_object objects[TARN_BATCH_PAGE];
    char folder[TARN_BATCH_DOC_PATH];
    size_t len = folder_len(&p->page.docs[from]);

    snprintf(folder, sizeof folder, "%.*s", (int)len, p->page.docs[from].path);
    for (size_t i = 0; i < count; i++) {
        const struct tarn_batch_page_doc *doc = &p->page.docs[from + i];
        objects[i] = (struct tarn_new_object){ doc->path + len + 1, tarn_batch_page_text(&p->page, doc),
                                               doc->len, false };
    }
    tarn_code code = tarn_place_create_all(p->run->place, folder, objects, count, err);
    for (size_t i = 0; code == TARN_OK && i < count; i++)
        if (objects[i].exists)
            code = replace(p, &p->page.docs[from + i], err);
    return code;
}

static tarn_code put_page(struct page *p, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    for (size_t from = 0; code == TARN_OK && from < p->page.count;) {
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

    for (size_t i = 0; code == TARN_OK && i < p->page.count; i++)
        code = tx->ops->batches.shown(tx, p->run->table_id, p->page.docs[i].id, p->page.docs[i].revision,
                                      p->page.docs[i].foreign, err);
    return code;
}

static tarn_code publish_page(struct page *p, struct tarn_err *err)
{
    struct tarn_publish_run *run = p->run;

    tarn_code code = tarn_publish_read(run, page_tx, p, err);
    if (code == TARN_OK)
        code = put_page(p, err);
    if (code == TARN_OK && p->page.count > 0)
        code = tarn_store_write(run->lake->store, shown_tx, p, err);
    if (code == TARN_OK && p->page.count > 0)
        memcpy(p->after, p->page.docs[p->page.count - 1].id, sizeof p->after);
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
    } while (p->page.count == TARN_BATCH_PAGE);
    return TARN_OK;
}
