/* batch_page.h - inside lake/: a page of the checkpoints of
 * staged batches as they are to stand under processed/. */
#ifndef TARN_LAKE_BATCH_PAGE_H
#define TARN_LAKE_BATCH_PAGE_H
#include "formats/manifest/manifest.h"
#include "lake/publish_run.h"

enum { TARN_BATCH_PAGE = 64 };

struct tarn_batch_page {
    struct tarn_buf text; /* owned: one document behind the other */
    struct tarn_batch_page_doc {
        char id[TARN_BATCH_ID_MAX + 1], path[TARN_BATCH_DOC_PATH];
        int64_t revision;
        size_t start, len; /* in `text` */
        bool foreign;
    } docs[TARN_BATCH_PAGE];
    size_t count;
};
void tarn_batch_page_done(struct tarn_batch_page *page);
void tarn_batch_page_clear(struct tarn_batch_page *page);
TARN_MUST tarn_code tarn_batch_page_add(struct tarn_batch_page *page, const struct tarn_publish_run *run,
                                        const struct tarn_batch *batch, struct tarn_err *err);
/* What lies at the document's path; TARN_FOUND_OTHER: its
 * text in *there, empty when it is too large to be one. */
TARN_MUST tarn_code tarn_batch_page_look(const struct tarn_batch_page *page,
                                         const struct tarn_batch_page_doc *doc, struct tarn_place *place,
                                         struct tarn_buf *there, enum tarn_publish_found *found,
                                         struct tarn_err *err);
static inline const char *tarn_batch_page_text(const struct tarn_batch_page *page,
                                               const struct tarn_batch_page_doc *doc)
{
    return page->text.data + doc->start;
}
#endif
