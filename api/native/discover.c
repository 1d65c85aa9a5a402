/* discover.c - POST /api/discover: the tables below a folder,
 * as JSON or, a line each while the walk goes on, NDJSON. */
#include "api/native/native.h"
#include "base/json.h"
#include "lake/discovery.h"
#include <stdlib.h>
#include <string.h>

struct discover {
    struct tarn_discovery *discovery; /* owned */
    struct tarn_principal who;
    struct tarn_jsonw w;
    bool lines, begun;
};

static void discover_free(void *state)
{
    struct discover *d = state;

    tarn_discovery_free(d->discovery);
    free(d);
}

static void discover_freep(struct discover **d)
{
    if (*d)
        discover_free(*d);
}

static bool may_use(const void *who, const char *location) { return tarn_principal_may_use(who, location); }

static bool may_see(const void *who, const char *namespace_, const char *name)
{
    return tarn_principal_sees(who, namespace_, name);
}

static void write_item(void *ctx, const struct tarn_discovered *item)
{
    struct discover *d = ctx;

    d->w.comma = d->w.comma && !d->lines;
    tarn_jsonw_object(&d->w);
    tarn_jsonw_kstr(&d->w, "location", item->location);
    tarn_jsonw_kstr(&d->w, "format", tarn_format_text(item->format));
    tarn_jsonw_kstr(&d->w, "state", tarn_discovered_text(item->state));
    tarn_jsonw_kstr(&d->w, "table", item->table);
    tarn_jsonw_kstr(&d->w, "name", item->name);
    tarn_jsonw_object_end(&d->w);
    tarn_buf_addc(d->w.out, '\n');
}

static void begin(struct discover *d)
{
    d->begun = true;
    if (d->lines)
        return;
    tarn_jsonw_object(&d->w);
    tarn_jsonw_kstr(&d->w, "location", tarn_discovery_location(d->discovery));
    tarn_jsonw_key(&d->w, "tables");
    tarn_jsonw_array(&d->w);
}

/* What the walk did not see is told, in either form: the last line of NDJSON is no table. */
static void finish(struct discover *d)
{
    const struct tarn_walked *walked = tarn_discovery_walked(d->discovery);
    const struct tarn_suspects *unreadable = &walked->unreadable;

    if (!d->lines)
        tarn_jsonw_array_end(&d->w);
    d->w.comma = !d->lines;
    if (d->lines)
        tarn_jsonw_object(&d->w);
    tarn_jsonw_kbool(&d->w, "complete", !walked->is_cut && unreadable->total == 0);
    tarn_jsonw_ki64(&d->w, "folders", walked->folders);
    tarn_jsonw_ki64(&d->w, "symlinks", walked->links);
    tarn_jsonw_ki64(&d->w, "unreadable_folders", unreadable->total);
    tarn_jsonw_key(&d->w, "unreadable");
    tarn_jsonw_array(&d->w);
    for (size_t i = 0; i < unreadable->count; i++) {
        tarn_jsonw_object(&d->w);
        tarn_jsonw_kstr(&d->w, "path", unreadable->items[i].subject);
        tarn_jsonw_kstr(&d->w, "reason", unreadable->items[i].note);
        tarn_jsonw_object_end(&d->w);
    }
    tarn_jsonw_array_end(&d->w);
    tarn_jsonw_object_end(&d->w);
}

static tarn_code produce(void *state, struct tarn_buf *out, bool *is_end, struct tarn_err *err)
{
    struct discover *d = state;
    bool end = false;

    d->w.out = out;
    if (!d->begun)
        begin(d);
    tarn_code code = tarn_discovery_next(d->discovery, write_item, d, &end, err);
    if (code == TARN_OK && end)
        finish(d);
    if (code == TARN_OK)
        code = tarn_buf_check(out, err);
    if (code == TARN_OK)
        *is_end = end;
    return code;
}

tarn_code tarn_native_discover(const struct tarn_request *req, struct tarn_reply *reply, struct tarn_err *err)
{
    __attribute__((cleanup(discover_freep))) struct discover *d = calloc(1, sizeof *d);
    const char *location = NULL, *accept = tarn_request_header(req, "Accept");
    const struct tarn_field fields[] = { TARN_STR("location", &location, 1, 4096), TARN_FIELDS_END };

    if (!d)
        return tarn_fail_oom(err);
    d->who = req->who;
    tarn_code code = tarn_json_read(req->json, fields, err);
    const struct tarn_discovery_ask ask = { location, may_use, may_see, &d->who, req->now_ms };
    if (code == TARN_OK)
        code = tarn_discovery_new(req->app->lake, &ask, &d->discovery, err);
    if (code != TARN_OK)
        return code;
    d->w = tarn_jsonw_to(NULL);
    d->lines = accept && strstr(accept, "application/x-ndjson");
    if (d->lines)
        reply->content_type = "application/x-ndjson";
    reply->status = 200;
    reply->stream = (struct tarn_stream){ produce, discover_free, tarn_take(&d) };
    return TARN_OK;
}
