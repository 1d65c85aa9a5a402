/* repair_mend_batches.c - the checkpoints of staged batches under processed/. Those that are still to be shown are the
 * publisher's; of the others each document must hold what the catalog says. */
#include "formats/manifest/manifest.h"
#include "lake/lease.h"
#include "lake/repair_mend.h"
#include <stdio.h>
#include <string.h>

enum { PAGE_BATCHES = 64, DOC_MAX_BYTES = 1 << 20 };

struct doc {
    char id[TARN_BATCH_ID_MAX + 1], path[TARN_BATCH_DOC_PATH];
    int64_t revision;
    size_t start, len; /* in the page's text */
    bool foreign;
};
struct page {
    struct tarn_mend *m;
    char after[TARN_BATCH_ID_MAX + 1], last[TARN_BATCH_ID_MAX + 1];
    struct tarn_buf text;
    struct doc docs[PAGE_BATCHES];
    size_t count, rows;
};

static void page_freep(struct page **page)
{
    if (*page)
        tarn_buf_done(&(*page)->text);
    free(*page);
}

static tarn_code render(void *ctx, const struct tarn_batch *batch, struct tarn_err *err)
{
    struct page *p = ctx;
    const struct tarn_publish_run *run = &p->m->run;
    struct tarn_jsonw w = tarn_jsonw_to(&p->text);

    p->rows++;
    snprintf(p->last, sizeof p->last, "%s", batch->batch_id);
    bool is_shown = batch->shown_from <= run->table->published_version && batch->published == batch->revision;
    if (!is_shown && !batch->foreign)
        return TARN_OK;
    struct doc *doc = &p->docs[p->count++];
    *doc = (struct doc){ .revision = batch->revision, .start = p->text.len, .foreign = batch->foreign };
    snprintf(doc->id, sizeof doc->id, "%s", batch->batch_id);
    tarn_batch_doc_path(batch->batch_id, doc->path);
    tarn_batch_doc_write(&w, run->table, run->lake->catalog_id, batch);
    doc->len = p->text.len - doc->start;
    return tarn_buf_check(&p->text, err);
}

static tarn_code page_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct page *p = ctx;
    const struct tarn_batch_filter filter = { .status = -1, .after = p->after[0] ? p->after : NULL, .limit = PAGE_BATCHES };

    tarn_buf_clear(&p->text);
    p->count = p->rows = 0;
    return tx->ops->batches.page(tx, p->m->run.table_id, &filter, render, p, err);
}

struct shown { int64_t table_id; const struct doc *doc; };

static tarn_code shown_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct shown *s = ctx;
    return tx->ops->batches.shown(tx, s->table_id, s->doc->id, s->doc->revision, false, err);
}

static tarn_code mend_one(struct page *p, const struct doc *doc, struct tarn_err *err)
{
    struct tarn_mend *m = p->m;
    TARN_AUTO_DONE(buf) struct tarn_buf there = { 0 };
    struct shown shown = { m->run.table_id, doc };
    const char *text = p->text.data + doc->start;
    TARN_ERR(fault);
    tarn_code code = tarn_place_read_all(m->run.place, doc->path, DOC_MAX_BYTES, &there, NULL, &fault);

    if (code != TARN_OK && code != TARN_NOT_FOUND && code != TARN_PAYLOAD_TOO_LARGE)
        return tarn_err_move(err, &fault);
    if (code == TARN_OK && there.len == doc->len && memcmp(there.data, text, doc->len) == 0)
        return TARN_OK;
    code = code == TARN_NOT_FOUND ? TARN_OK : tarn_mend_aside(m, doc->path, NULL, NULL, err);
    if (code == TARN_OK)
        code = tarn_mend_put(m, doc->path, text, doc->len, err);
    return code == TARN_OK && m->applies && doc->foreign ? tarn_store_write(m->run.lake->store, shown_tx, &shown, err) : code;
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
        for (size_t i = 0; code == TARN_OK && i < p->count; i++)
            code = mend_one(p, &p->docs[i], err);
        memcpy(p->after, p->last, sizeof p->after);
    } while (code == TARN_OK && p->rows == PAGE_BATCHES);
    return code;
}
