/* catalog_batches.c - the catalog's checkpoints of staged batches for the gathering of facts: what lies in processed/ only
 * follows them. A chain of short reads. */
#include "monitors/catalog_facts.h"
#include <string.h>

enum { PAGE = 1000 };

struct page {
    struct tarn_catalog_facts *facts;
    char after[TARN_BATCH_ID_MAX + 1];
    struct tarn_buf ids; /* NUL-terminated, one after the other */
    struct { uint32_t id_at; enum tarn_batch_status status; int64_t start_time, end_time, updated_at, num_records, version; } rows[PAGE];
    size_t count;
};

static void page_freep(struct page **page)
{
    if (*page)
        tarn_buf_done(&(*page)->ids);
    free(*page);
}

static tarn_code keep(void *ctx, const struct tarn_batch *batch, struct tarn_err *err)
{
    struct page *page = ctx;

    if (page->count == PAGE)
        return TARN_OK;
    page->rows[page->count].id_at = (uint32_t)page->ids.len;
    page->rows[page->count].status = batch->status;
    page->rows[page->count].start_time = batch->start_time;
    page->rows[page->count].end_time = batch->end_time;
    page->rows[page->count].updated_at = batch->updated_at;
    page->rows[page->count].num_records = batch->num_records;
    page->rows[page->count].version = batch->version;
    tarn_buf_add(&page->ids, batch->batch_id, strlen(batch->batch_id) + 1);
    page->count++;
    return tarn_buf_check(&page->ids, err);
}

static tarn_code page_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct page *page = ctx;
    const struct tarn_batch_filter filter = { .status = -1, .after = page->after[0] ? page->after : NULL, .limit = PAGE };

    page->count = 0;
    tarn_buf_clear(&page->ids);
    return tx->ops->batches.page(tx, page->facts->table->id, &filter, keep, page, err);
}

static tarn_code give(struct page *page, tarn_batch_fn *fn, void *fn_ctx, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < page->count && code == TARN_OK; i++) {
        const struct tarn_batch batch = { .batch_id = page->ids.data + page->rows[i].id_at,
                                          .status = page->rows[i].status,
                                          .start_time = page->rows[i].start_time,
                                          .end_time = page->rows[i].end_time,
                                          .updated_at = page->rows[i].updated_at,
                                          .num_records = page->rows[i].num_records,
                                          .version = page->rows[i].version };
        code = fn(fn_ctx, &batch, err);
        if (i + 1 == page->count)
            snprintf(page->after, sizeof page->after, "%s", batch.batch_id);
    }
    return code;
}

tarn_code tarn_catalog_batches(void *ctx, tarn_batch_fn *fn, void *fn_ctx, struct tarn_err *err)
{
    struct tarn_catalog_facts *facts = ctx;
    __attribute__((cleanup(page_freep))) struct page *page = calloc(1, sizeof *page);
    tarn_code code = page ? TARN_OK : tarn_fail_oom(err);

    if (code == TARN_OK)
        page->facts = facts;
    do {
        if (code == TARN_OK)
            code = tarn_store_read(facts->lake->store, page_tx, page, err);
        if (code == TARN_OK)
            code = give(page, fn, fn_ctx, err);
    } while (code == TARN_OK && page->count == PAGE);
    return code;
}
