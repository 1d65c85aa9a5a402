/* repair_mend_batches.c - the checkpoints of staged batches under processed/. Those that are still
 * to be shown are the publisher's; of the others each document must hold what the catalog says. */
#include "lake/batch_page.h"
#include "lake/lease.h"
#include "lake/repair_mend.h"
#include <stdio.h>
#include <string.h>

struct page {
    struct tarn_mend *m;
    char after[TARN_BATCH_ID_MAX + 1], last[TARN_BATCH_ID_MAX + 1];
    struct tarn_batch_page page;
    size_t rows;
};

static void page_freep(struct page **page)
{
    if (*page)
        tarn_batch_page_done(&(*page)->page);
    free(*page);
}

static tarn_code render(void *ctx, const struct tarn_batch *batch, struct tarn_err *err)
{
    struct page *p = ctx;
    const struct tarn_publish_run *run = &p->m->run;

    p->rows++;
    snprintf(p->last, sizeof p->last, "%s", batch->batch_id);
    bool is_shown = batch->shown_from <= run->table->published_version && batch->published == batch->revision;
    return is_shown || batch->foreign ? tarn_batch_page_add(&p->page, run, batch, err) : TARN_OK;
}

static tarn_code page_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct page *p = ctx;
    const struct tarn_batch_filter filter = { .status = -1,
                                              .after = p->after[0] ? p->after : NULL,
                                              .limit = TARN_BATCH_PAGE };

    tarn_batch_page_clear(&p->page);
    p->rows = 0;
    return tx->ops->batches.page(tx, p->m->run.table_id, &filter, render, p, err);
}

struct shown { int64_t table_id; const struct tarn_batch_page_doc *doc; };

static tarn_code shown_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct shown *s = ctx;
    return tx->ops->batches.shown(tx, s->table_id, s->doc->id, s->doc->revision, false, err);
}

static tarn_code mend_one(struct page *p, const struct tarn_batch_page_doc *doc, struct tarn_err *err)
{
    struct tarn_mend *m = p->m;
    TARN_AUTO_DONE(buf) struct tarn_buf there = { 0 };
    struct shown shown = { m->run.table_id, doc };
    enum tarn_publish_found found;
    tarn_code code = tarn_batch_page_look(&p->page, doc, m->run.place, &there, &found, err);

    if (code != TARN_OK || found == TARN_FOUND_SAME)
        return code;
    if (found == TARN_FOUND_OTHER)
        code = tarn_mend_aside(m, doc->path, NULL, NULL, err);
    if (code == TARN_OK)
        code = tarn_mend_put(m, doc->path, tarn_batch_page_text(&p->page, doc), doc->len, err);
    return code == TARN_OK && m->applies && doc->foreign
               ? tarn_store_write(m->run.lake->store, shown_tx, &shown, err)
               : code;
}

tarn_code tarn_mend_batches(struct tarn_mend *m, struct tarn_err *err)
{
    __attribute__((cleanup(page_freep))) struct page *p = calloc(1, sizeof *p);
    tarn_code code = TARN_OK;

    if (!p)
        return tarn_fail_oom(err);
    p->m = m;
    do {
        code = tarn_lake_goes_on(m->r->lake, err);
        if (code == TARN_OK)
            code = tarn_store_read(m->run.lake->store, page_tx, p, err);
        for (size_t i = 0; code == TARN_OK && i < p->page.count; i++)
            code = mend_one(p, &p->page.docs[i], err);
        memcpy(p->after, p->last, sizeof p->after);
    } while (code == TARN_OK && p->rows == TARN_BATCH_PAGE);
    return code;
}
