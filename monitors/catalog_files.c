/* catalog_files.c - the catalog's files for the gathering of facts: what is live, and what commits have removed. Chains of
 * short reads, so that no scan pins the database's log. */
#include "monitors/catalog_facts.h"
#include <string.h>

enum { PAGE = 2000 };
static const uint32_t NO_TEXT = UINT32_MAX;

/* Rows of one page, kept until the transaction is over: what the visitor does takes long. */
struct page {
    struct tarn_catalog_facts *facts;
    char after[TARN_PATH_MAX + 1];
    struct tarn_file_cursor cursor, reached; /* of a walk over removed rows */
    struct tarn_buf texts;                   /* NUL-terminated, one after the other */
    struct { int64_t size, records, schema_version, removed_version; uint32_t path_at, keys_at, stats_at; } rows[PAGE];
    size_t count;
};

static void page_freep(struct page **page)
{
    if (*page)
        tarn_buf_done(&(*page)->texts);
    free(*page);
}

static struct page *page_new(struct tarn_catalog_facts *facts, struct tarn_err *err)
{
    struct page *page = calloc(1, sizeof *page);

    if (!page)
        (void)tarn_fail_oom(err);
    else
        page->facts = facts;
    return page;
}

static uint32_t keep_text(struct page *page, const char *text)
{
    uint32_t at = (uint32_t)page->texts.len;

    if (!text)
        return NO_TEXT;
    tarn_buf_add(&page->texts, text, strlen(text) + 1);
    return at;
}

static tarn_code keep(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct page *page = ctx;

    if (page->count == PAGE)
        return TARN_OK;
    page->rows[page->count].size = file->size;
    page->rows[page->count].schema_version = file->schema_version;
    page->rows[page->count].removed_version = file->removed_version;
    page->rows[page->count].path_at = keep_text(page, file->path);
    page->rows[page->count].records = file->records;
    page->rows[page->count].keys_at = keep_text(page, file->partition_values);
    page->rows[page->count].stats_at = keep_text(page, file->column_stats);
    page->count++;
    return tarn_buf_check(&page->texts, err);
}

static void start(struct page *page)
{
    page->count = 0;
    tarn_buf_clear(&page->texts);
}

static const char *text_at(const struct page *page, uint32_t at) { return at == NO_TEXT ? NULL : page->texts.data + at; }

static const char *path_of(const struct page *page, size_t i) { return page->texts.data + page->rows[i].path_at; }

static tarn_code give_row(const struct page *page, size_t i, tarn_file_fn *fn, void *fn_ctx, struct tarn_err *err)
{
    const struct tarn_file file = { .path = path_of(page, i),
                                    .size = page->rows[i].size,
                                    .records = page->rows[i].records,
                                    .schema_version = page->rows[i].schema_version,
                                    .partition_values = text_at(page, page->rows[i].keys_at),
                                    .column_stats = text_at(page, page->rows[i].stats_at),
                                    .removed_version = page->rows[i].removed_version };
    return fn(fn_ctx, &file, err);
}

static tarn_code give(const struct page *page, tarn_file_fn *fn, void *fn_ctx, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < page->count && code == TARN_OK; i++)
        code = give_row(page, i, fn, fn_ctx, err);
    return code;
}

static void move_on(struct page *page)
{
    if (page->count > 0)
        snprintf(page->after, sizeof page->after, "%s", path_of(page, page->count - 1));
}

/* --- live: the snapshot of the newest version, since a data file counts from its commit on, published or not --- */

static tarn_code files_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct page *page = ctx;
    const struct tarn_table *table = page->facts->table;

    start(page);
    return tx->ops->files.page(tx, table->id, table->version, page->after, PAGE, keep, page, err);
}

tarn_code tarn_catalog_files(void *ctx, tarn_file_fn *fn, void *fn_ctx, struct tarn_err *err)
{
    struct tarn_catalog_facts *facts = ctx;
    __attribute__((cleanup(page_freep))) struct page *page = page_new(facts, err);
    tarn_code code = page ? TARN_OK : TARN_INTERNAL;

    while (code == TARN_OK) {
        code = tarn_store_read(facts->lake->store, files_tx, page, err);
        if (code == TARN_OK)
            code = give(page, fn, fn_ctx, err);
        if (code != TARN_OK || page->count < PAGE)
            break;
        move_on(page);
    }
    return code;
}

/* --- of one folder: a range of paths, with a jump over each folder below it --- */

enum { SMALL_PAGE = 128 };

static tarn_code range_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct page *page = ctx;
    const struct tarn_table *table = page->facts->table;

    start(page);
    return tx->ops->files.page(tx, table->id, table->version, page->after, SMALL_PAGE, keep, page, err);
}

/* The files of the page that lie in the folder, up to the first that lies below a folder in it: the next page begins behind
 * all of that one. *over: nothing of the folder follows. */
static tarn_code give_range(struct page *page, const char *prefix, bool *over, tarn_file_fn *fn, void *fn_ctx,
                            struct tarn_err *err)
{
    size_t skip = strlen(prefix);
    tarn_code code = TARN_OK;

    *over = page->count < SMALL_PAGE;
    for (size_t i = 0; i < page->count && code == TARN_OK; i++) {
        const char *path = path_of(page, i), *slash = strchr(path + skip, '/');
        if (strncmp(path, prefix, skip) != 0) {
            *over = true;
            return TARN_OK;
        }
        if (slash) {
            snprintf(page->after, sizeof page->after, "%.*s\xff", (int)(slash - path) + 1, path);
            *over = false;
            return TARN_OK;
        }
        code = give_row(page, i, fn, fn_ctx, err);
    }
    move_on(page);
    return code;
}

tarn_code tarn_catalog_files_in(void *ctx, const char *folder, tarn_file_fn *fn, void *fn_ctx, struct tarn_err *err)
{
    struct tarn_catalog_facts *facts = ctx;
    __attribute__((cleanup(page_freep))) struct page *page = page_new(facts, err);
    tarn_code code = page ? TARN_OK : TARN_INTERNAL;
    char prefix[TARN_PATH_MAX + 1];
    bool over = false;

    snprintf(prefix, sizeof prefix, "%s%s", folder, folder[0] ? "/" : "");
    if (page)
        memcpy(page->after, prefix, sizeof prefix);
    while (code == TARN_OK && !over) {
        code = tarn_store_read(facts->lake->store, range_tx, page, err);
        if (code == TARN_OK)
            code = give_range(page, prefix, &over, fn, fn_ctx, err);
    }
    return code;
}

static tarn_code file_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct page *page = ctx;
    TARN_ERR(fault);

    start(page);
    tarn_code code = tx->ops->files.get(tx, page->facts->table->id, page->after, keep, page, &fault);
    return code == TARN_NOT_FOUND || code == TARN_OK ? TARN_OK : tarn_err_move(err, &fault);
}

tarn_code tarn_catalog_file(void *ctx, const char *path, tarn_file_fn *fn, void *fn_ctx, struct tarn_err *err)
{
    struct tarn_catalog_facts *facts = ctx;
    __attribute__((cleanup(page_freep))) struct page *page = page_new(facts, err);
    tarn_code code = page ? TARN_OK : TARN_INTERNAL;

    if (page)
        snprintf(page->after, sizeof page->after, "%s", path);
    if (code == TARN_OK)
        code = tarn_store_read(facts->lake->store, file_tx, page, err);
    return code == TARN_OK ? give(page, fn, fn_ctx, err) : code;
}

/* --- removed: by kept versions, and by those whose history has expired --- */

static tarn_code removed_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct page *page = ctx;
    const struct tarn_table *table = page->facts->table;

    start(page);
    return tx->ops->files.removed_page(tx, table->id, table->version, table->version, &page->cursor, PAGE, keep,
                                       page, &page->reached, err);
}

static tarn_code keep_retired(void *ctx, const struct tarn_retired_file *file, struct tarn_err *err)
{
    const struct tarn_file row = { .path = file->path, .size = file->size, .records = -1, .removed_version = -1 };

    return keep(ctx, &row, err);
}

static tarn_code retired_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct page *page = ctx;

    start(page);
    return tx->ops->retired.page(tx, page->facts->table->id, page->after, PAGE, keep_retired, page, err);
}

static tarn_code give_retired(struct page *page, tarn_file_fn *fn, void *fn_ctx, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    do {
        code = tarn_store_read(page->facts->lake->store, retired_tx, page, err);
        if (code == TARN_OK)
            code = give(page, fn, fn_ctx, err);
        if (code == TARN_OK)
            move_on(page);
    } while (code == TARN_OK && page->count == PAGE);
    return code;
}

tarn_code tarn_catalog_removed(void *ctx, tarn_file_fn *fn, void *fn_ctx, struct tarn_err *err)
{
    struct tarn_catalog_facts *facts = ctx;
    __attribute__((cleanup(page_freep))) struct page *page = page_new(facts, err);
    tarn_code code = page ? TARN_OK : TARN_INTERNAL;

    while (code == TARN_OK && !page->cursor.end) {
        code = tarn_store_read(facts->lake->store, removed_tx, page, err);
        if (code == TARN_OK)
            code = give(page, fn, fn_ctx, err);
        page->cursor = page->reached;
    }
    return code == TARN_OK ? give_retired(page, fn, fn_ctx, err) : code;
}
