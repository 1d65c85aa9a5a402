/* publish_sink.c - long documents: a page is read in one short transaction into the buffer and written
 * outside of it, so that neither the memory nor the database's log grows with the table. */
#include "lake/publish_run.h"
#include <string.h>

enum { PAGE_FILES = 5000 };

tarn_code tarn_sink_open(struct tarn_sink *sink, struct tarn_place *place, const char *path,
                         struct tarn_err *err)
{
    sink->w = tarn_jsonw_to(&sink->buf);
    sink->sha256 = tarn_sha256_new();
    if (!sink->sha256)
        return tarn_fail_oom(err);
    return place ? tarn_place_writer(place, path, &sink->writer, err) : TARN_OK;
}

tarn_code tarn_sink_flush(struct tarn_sink *sink, struct tarn_err *err)
{
    tarn_code code = tarn_buf_check(&sink->buf, err);
    if (code != TARN_OK || sink->buf.len == 0)
        return code;
    tarn_sha256_add(sink->sha256, sink->buf.data, sink->buf.len);
    sink->bytes += (int64_t)sink->buf.len;
    if (sink->writer)
        code = tarn_writer_add(sink->writer, sink->buf.data, sink->buf.len, err);
    if (code == TARN_OK && sink->copy)
        code = tarn_writer_add(sink->copy, sink->buf.data, sink->buf.len, err);
    tarn_buf_clear(&sink->buf);
    return code;
}

tarn_code tarn_sink_end(struct tarn_sink *sink, struct tarn_err *err)
{
    tarn_code code = tarn_sink_flush(sink, err);
    if (code == TARN_OK)
        tarn_sha256_end(tarn_take(&sink->sha256), sink->digest);
    return code;
}

void tarn_sink_done(struct tarn_sink *sink)
{
    char ignored[TARN_SHA256_HEX];
    if (sink->sha256)
        tarn_sha256_end(tarn_take(&sink->sha256), ignored);
    tarn_writer_free(tarn_take(&sink->writer));
    tarn_writer_free(tarn_take(&sink->copy));
    tarn_buf_done(&sink->buf);
}

struct page {
    struct tarn_sink *sink;
    struct tarn_jsonw begin; /* the writer's state before the page: a transaction may run twice */
    int64_t table_id, version;
    tarn_sink_file_fn *fn;
    char after[TARN_PATH_MAX + 1], last[TARN_PATH_MAX + 1];
    int64_t count;
};

static tarn_code take_file(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct page *p = ctx;
    size_t len = strlen(file->path);
    if (len >= sizeof p->last)
        return tarn_fail(err, TARN_INTERNAL, "a file's path is longer than any may be");
    p->fn(p->sink, file, p->version);
    memcpy(p->last, file->path, len + 1);
    p->count++;
    return TARN_OK;
}

static tarn_code page_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct page *p = ctx;
    tarn_buf_clear(&p->sink->buf);
    p->sink->w = p->begin;
    p->count = 0;
    return tx->ops->files.page(tx, p->table_id, p->version, p->after, PAGE_FILES, take_file, p, err);
}

tarn_code tarn_sink_snapshot(struct tarn_sink *sink, struct tarn_publish_run *run, int64_t version,
                             tarn_sink_file_fn *fn, struct tarn_err *err)
{
    struct page p = { .sink = sink, .table_id = run->table_id, .version = version, .fn = fn };
    do {
        tarn_code code = tarn_sink_flush(sink, err);
        if (code != TARN_OK)
            return code;
        p.begin = sink->w;
        code = tarn_publish_read(run, page_tx, &p, err);
        if (code != TARN_OK)
            return code;
        memcpy(p.after, p.last, sizeof p.after);
    } while (p.count == PAGE_FILES);
    return TARN_OK;
}
