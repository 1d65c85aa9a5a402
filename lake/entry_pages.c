/* entry_pages.c - see entry_pages.h. */
#include "lake/entry_pages.h"
#include "formats/manifest/manifest.h"
#include <stdio.h>

struct page {
    struct tarn_jsonw *w;
    struct tarn_entry_cursor *to;
    int64_t rows;
};

void tarn_entry_begin(struct tarn_entry_cursor *cursor, int64_t table_id, int64_t version,
                      int64_t first_version)
{
    *cursor = (struct tarn_entry_cursor){ .table_id = table_id,
                                          .version = version,
                                          .first_version = first_version,
                                          .at = { .removed_version = version } };
}

static tarn_code write_removed(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct page *p = ctx;

    (void)err;
    tarn_entry_write_op(p->w, file, false, p->to->first_version);
    return TARN_OK;
}

static tarn_code removes(struct tarn_tx *tx, const struct tarn_entry_cursor *from, int64_t limit,
                         struct page *p, struct tarn_err *err)
{
    tarn_code code = tx->ops->files.removed_page(tx, from->table_id, from->version, INT64_MAX, &from->at,
                                                 limit, write_removed, p, &p->to->at, err);

    if (code == TARN_OK && p->to->at.end) {
        p->to->adds = true;
        p->to->at = (struct tarn_file_cursor){ 0 };
    }
    return code;
}

static tarn_code write_added(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct page *p = ctx;

    (void)err;
    tarn_entry_write_op(p->w, file, true, p->to->first_version);
    snprintf(p->to->at.path, sizeof p->to->at.path, "%s", file->path);
    p->rows++;
    return TARN_OK;
}

static tarn_code adds(struct tarn_tx *tx, const struct tarn_entry_cursor *from, int64_t limit, struct page *p,
                      struct tarn_err *err)
{
    tarn_code code = tx->ops->files.page_old(tx, from->table_id, from->version, from->version, from->at.path,
                                             limit, write_added, p, err);

    p->to->end = p->rows < limit;
    return code;
}

tarn_code tarn_entry_page(struct tarn_tx *tx, const struct tarn_entry_cursor *from, int64_t limit,
                          struct tarn_jsonw *w, struct tarn_entry_cursor *to, struct tarn_err *err)
{
    struct page p = { w, to, 0 };

    *to = *from;
    return from->adds ? adds(tx, from, limit, &p, err) : removes(tx, from, limit, &p, err);
}
