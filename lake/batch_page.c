/* batch_page.c - see batch_page.h: what the publisher writes
 * and what a repair holds against storage is the same text. */
#include "lake/batch_page.h"
#include <string.h>

enum { DOC_MAX_BYTES = 65536 };

void tarn_batch_page_done(struct tarn_batch_page *page) { tarn_buf_done(&page->text); }

void tarn_batch_page_clear(struct tarn_batch_page *page)
{
    tarn_buf_clear(&page->text);
    page->count = 0;
}

tarn_code tarn_batch_page_add(struct tarn_batch_page *page, const struct tarn_publish_run *run,
                              const struct tarn_batch *batch, struct tarn_err *err)
{
    struct tarn_batch_page_doc *doc = &page->docs[page->count++];
    struct tarn_jsonw w = tarn_jsonw_to(&page->text);

    *doc = (struct tarn_batch_page_doc){ .revision = batch->revision, .start = page->text.len, .foreign = batch->foreign };
    snprintf(doc->id, sizeof doc->id, "%s", batch->batch_id);
    tarn_batch_doc_path(batch->batch_id, doc->path);
    tarn_batch_doc_write(&w, run->table, run->lake->catalog_id, batch);
    doc->len = page->text.len - doc->start;
    return tarn_buf_check(&page->text, err);
}

tarn_code tarn_batch_page_look(const struct tarn_batch_page *page, const struct tarn_batch_page_doc *doc,
                               struct tarn_place *place, struct tarn_buf *there,
                               enum tarn_publish_found *found, struct tarn_err *err)
{
    TARN_ERR(fault);
    tarn_code code = tarn_place_read_all(place, doc->path, DOC_MAX_BYTES, there, NULL, &fault);

    if (code != TARN_OK && code != TARN_NOT_FOUND && code != TARN_PAYLOAD_TOO_LARGE)
        return tarn_err_move(err, &fault);
    if (code == TARN_PAYLOAD_TOO_LARGE)
        tarn_buf_clear(there);
    bool is_same = code == TARN_OK && there->len == doc->len &&
                   memcmp(there->data, tarn_batch_page_text(page, doc), doc->len) == 0;
    *found = code == TARN_NOT_FOUND ? TARN_FOUND_NOTHING : is_same ? TARN_FOUND_SAME : TARN_FOUND_OTHER;
    return TARN_OK;
}
