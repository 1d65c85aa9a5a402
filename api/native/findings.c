/* findings.c - GET /api/table/{table}/findings: the open ones, worst first, then the closed ones, newest first. */
#include "api/native/native.h"
#include "base/json.h"
#include <string.h>

enum { CLOSED_MAX = 5000 };

struct found {
    struct tarn_ident ident;
    bool wants_open, wants_closed;
    struct tarn_findings open, closed;
};

static void found_done(struct found *found)
{
    tarn_findings_done(&found->open);
    tarn_findings_done(&found->closed);
}

static tarn_code find_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct found *found = ctx;
    TARN_AUTO(table) struct tarn_table *table = NULL;

    found_done(found);
    tarn_code code = tx->ops->tables.get(tx, found->ident.namespace_, found->ident.name, &table, err);
    if (code == TARN_OK && found->wants_open)
        code = tx->ops->monitors.findings(tx, table->id, &found->open, err);
    if (code == TARN_OK && found->wants_closed)
        code = tx->ops->monitors.closed(tx, table->id, CLOSED_MAX, &found->closed, err);
    return code;
}

static void write_finding(struct tarn_jsonw *w, const struct tarn_finding *finding)
{
    tarn_jsonw_object(w);
    tarn_jsonw_kstr(w, "id", finding->id);
    tarn_jsonw_kstr(w, "code", finding->code);
    tarn_jsonw_kstr(w, "severity", tarn_severity_text(finding->severity));
    tarn_jsonw_kstr(w, "subject", finding->subject);
    tarn_jsonw_kstr(w, "message", finding->message);
    tarn_jsonw_kraw(w, "observed", finding->observed);
    tarn_jsonw_kraw(w, "expected", finding->expected);
    tarn_jsonw_kstr(w, "unit", finding->unit);
    tarn_jsonw_ktime(w, "since", finding->since);
    tarn_jsonw_kstr(w, "cure", finding->cure);
    tarn_jsonw_kraw(w, "evidence", finding->evidence);
    tarn_jsonw_kstr(w, "state", finding->closed_at < 0 ? "open" : "closed");
    tarn_jsonw_ktime(w, "opened_at", finding->opened_at);
    tarn_jsonw_ktime(w, "last_bad_at", finding->last_bad_at);
    tarn_jsonw_ktime(w, "closed_at", finding->closed_at);
    tarn_jsonw_kbool(w, "baseline", finding->baseline);
    tarn_jsonw_object_end(w);
}

/* One page of one list, after the finding that the token names. */
struct page_writer {
    struct tarn_jsonw w;
    int64_t left;          /* -1: all */
    const char *after;     /* id, NULL: from the start or passed already */
    const char *last;      /* id of the last one written */
    bool more;
};

static void write_list(struct page_writer *p, const struct tarn_findings *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct tarn_finding *finding = &list->items[i];
        if (finding->opened_at < 0 && finding->closed_at < 0)
            continue; /* a suspect */
        if (p->after) {
            p->after = strcmp(p->after, finding->id) == 0 ? NULL : p->after;
            continue;
        }
        if (p->left == 0) {
            p->more = true;
            return;
        }
        p->left -= p->left > 0;
        p->last = finding->id;
        write_finding(&p->w, finding);
    }
}

static tarn_code write_page(const struct found *found, const struct tarn_page *page, struct tarn_reply *reply,
                            struct tarn_err *err)
{
    struct page_writer p = { tarn_jsonw_to(&reply->body), page->size > 0 ? page->size : -1, page->token, NULL, false };

    tarn_jsonw_object(&p.w);
    tarn_jsonw_key(&p.w, "findings");
    tarn_jsonw_array(&p.w);
    write_list(&p, &found->open);
    write_list(&p, &found->closed);
    tarn_jsonw_array_end(&p.w);
    TARN_AUTO(mem) char *token = p.more && p.last ? tarn_page_token(p.last) : NULL;
    tarn_jsonw_kstr(&p.w, "next_page_token", token);
    tarn_jsonw_object_end(&p.w);
    reply->status = 200;
    return tarn_buf_check(&reply->body, err);
}

tarn_code tarn_native_findings_list(const struct tarn_request *req, struct tarn_reply *reply, struct tarn_err *err)
{
    __attribute__((cleanup(found_done))) struct found found = { .wants_open = true, .wants_closed = true };
    __attribute__((cleanup(tarn_page_done))) struct tarn_page page = { 0 };
    const char *state = tarn_query(req, "state");

    if (state && strcmp(state, "open") != 0 && strcmp(state, "closed") != 0)
        return tarn_fail_field(err, "state", "must be open or closed");
    found.wants_open = !state || strcmp(state, "open") == 0;
    found.wants_closed = !state || strcmp(state, "closed") == 0;
    tarn_code code = tarn_request_ident(req, &found.ident, err);
    if (code == TARN_OK)
        code = tarn_request_page(req, &page, err);
    if (code == TARN_OK)
        code = tarn_store_read(req->app->lake->store, find_tx, &found, err);
    return code == TARN_OK ? write_page(&found, &page, reply, err) : code;
}
