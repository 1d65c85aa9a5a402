/* reclaimable.c - GET .../reclaimable: files on storage that nobody needs any more, as JSON or NDJSON. */
#include "api/native/native.h"
#include "lake/reclaim.h"
#include <stdlib.h>
#include <string.h>

struct reclaimable {
    struct tarn_reclaim *reclaim; /* owned */
    struct tarn_jsonw w;
    bool lines, begun;
};

static void reclaimable_free(void *state)
{
    struct reclaimable *r = state;

    tarn_reclaim_free(r->reclaim);
    free(r);
}

static void write_item(void *ctx, const struct tarn_reclaimable *item)
{
    struct reclaimable *r = ctx;

    r->w.comma = r->w.comma && !r->lines;
    tarn_jsonw_object(&r->w);
    tarn_jsonw_kstr(&r->w, "path", item->path);
    tarn_jsonw_ki64(&r->w, "size", item->size);
    tarn_jsonw_ktime(&r->w, "removed_at", item->removed_at);
    tarn_jsonw_kstr(&r->w, "reason", item->is_orphan ? "orphan" : "removed");
    tarn_jsonw_object_end(&r->w);
    tarn_buf_addc(r->w.out, '\n');
}

static void begin(struct reclaimable *r)
{
    r->begun = true;
    if (r->lines)
        return;
    tarn_jsonw_object(&r->w);
    tarn_jsonw_key(&r->w, "files");
    tarn_jsonw_array(&r->w);
}

static void finish(struct reclaimable *r)
{
    if (r->lines)
        return;
    tarn_jsonw_array_end(&r->w);
    tarn_jsonw_kstr(&r->w, "next_page_token", NULL);
    tarn_jsonw_object_end(&r->w);
}

static tarn_code produce(void *state, struct tarn_buf *out, bool *is_end, struct tarn_err *err)
{
    struct reclaimable *r = state;
    bool end = false;

    r->w.out = out;
    if (!r->begun)
        begin(r);
    tarn_code code = tarn_reclaim_next(r->reclaim, write_item, r, &end, err);
    if (code == TARN_OK && end)
        finish(r);
    if (code == TARN_OK)
        code = tarn_buf_check(out, err);
    if (code == TARN_OK)
        *is_end = end;
    return code;
}

tarn_code tarn_native_reclaimable_list(const struct tarn_request *req, struct tarn_reply *reply,
                                       struct tarn_err *err)
{
    __attribute__((cleanup(tarn_table_seen_done))) struct tarn_table_seen seen = { 0 };
    TARN_AUTO(reclaim) struct tarn_reclaim *reclaim = NULL;
    const char *accept = tarn_request_header(req, "Accept");
    tarn_code code = tarn_native_table_find(req, &seen, err);

    if (code == TARN_OK)
        code = tarn_reclaim_new(req->app->lake, seen.table->id, req->now_ms, &reclaim, err);
    if (code != TARN_OK)
        return code;
    struct reclaimable *r = calloc(1, sizeof *r);
    if (!r)
        return tarn_fail_oom(err);
    r->reclaim = tarn_take(&reclaim);
    r->w = tarn_jsonw_to(NULL);
    r->lines = accept && strstr(accept, "application/x-ndjson");
    if (r->lines)
        reply->content_type = "application/x-ndjson";
    reply->status = 200;
    reply->stream = (struct tarn_stream){ produce, reclaimable_free, r };
    return TARN_OK;
}
