/* publish_huge.c - the log entry of a commit that is too
 * large for memory: streamed to storage page by page. */
#include "formats/manifest/manifest.h"
#include "lake/entry_pages.h"
#include "lake/publish_run.h"
#include "lake/source.h"
#include <stdio.h>
#include <string.h>

enum { PAGE_ROWS = 5000 };

struct page {
    struct tarn_sink *sink;
    struct tarn_jsonw begin; /* the writer's state before the page: a transaction may run twice */
    struct tarn_entry_cursor from, to;
};

static tarn_code page_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct page *p = ctx;
    tarn_buf_clear(&p->sink->buf);
    p->sink->w = p->begin;
    return tarn_entry_page(tx, &p->from, PAGE_ROWS, &p->sink->w, &p->to, err);
}

static tarn_code write_pages(struct tarn_sink *sink, struct tarn_publish_run *run, int64_t version,
                             struct tarn_err *err)
{
    struct page p = { .sink = sink };
    tarn_entry_begin(&p.from, run->table_id, version, run->table->first_version);
    while (!p.from.end) {
        tarn_code code = tarn_sink_flush(sink, err);
        if (code != TARN_OK)
            return code;
        p.begin = sink->w;
        code = tarn_publish_read(run, page_tx, &p, err);
        if (code != TARN_OK)
            return code;
        p.from = p.to;
    }
    return TARN_OK;
}

/* TARN_FOREIGN_WRITE unless the object there has these bytes. */
static tarn_code check_digest(struct tarn_publish_run *run, const char *path, const char *digest,
                              struct tarn_err *err)
{
    TARN_AUTO(hashed) struct tarn_hashed *source = NULL;
    char there[TARN_SHA256_HEX];
    tarn_code code = tarn_hashed_open(run->place, path, &source, NULL, err);
    if (code == TARN_OK)
        code = tarn_hashed_end(source, there, err);
    if (code == TARN_OK && strcmp(there, digest) != 0)
        return tarn_publish_foreign_entry(run, path, err);
    return code;
}

tarn_code tarn_publish_huge(struct tarn_publish_run *run, const struct tarn_commit_row *row,
                            enum tarn_put put, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_sink_done))) struct tarn_sink sink = { 0 };
    char path[TARN_PATH_MAX];
    TARN_ERR(fault);
    snprintf(path, sizeof path, TARN_DIR_LOG "/%.*s.json", TARN_TXN_ID_MAX, row->transaction);
    tarn_code code = tarn_sink_open(&sink, run->place, path, err);
    if (code != TARN_OK)
        return code;
    tarn_entry_write_head(&sink.w, run->table, run->lake->catalog_id, row);
    code = write_pages(&sink, run, row->version, err);
    if (code != TARN_OK)
        return code;
    tarn_entry_write_end(&sink.w, row);
    code = tarn_sink_end(&sink, err);
    if (code != TARN_OK)
        return code;
    code = tarn_writer_commit(sink.writer, put, NULL, &fault);
    if (code == TARN_PRECONDITION_FAILED)
        return check_digest(run, path, sink.digest, err);
    return code == TARN_OK ? TARN_OK : tarn_err_move(err, &fault);
}
