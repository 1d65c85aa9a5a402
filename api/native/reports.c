/* reports.c - GET /api/table/{table}/reports: what engines told of their scans and commits, newest first. */
#include "api/native/native.h"
#include "lake/iceberg_report.h"

struct reports { struct tarn_ident ident; int64_t limit; struct tarn_reply *reply; struct tarn_jsonw w; };

static tarn_code show(void *ctx, const struct tarn_report_row *row, struct tarn_err *err)
{
    struct tarn_jsonw *w = &((struct reports *)ctx)->w;
    char snapshot[24];

    (void)err;
    snprintf(snapshot, sizeof snapshot, "%lld", (long long)row->snapshot);
    tarn_jsonw_object(w);
    tarn_jsonw_ktime(w, "at", row->at);
    tarn_jsonw_kstr(w, "kind", row->kind);
    tarn_jsonw_kstr(w, "snapshot", row->snapshot < 0 ? NULL : snapshot);
    tarn_jsonw_kraw(w, "facts", row->report);
    tarn_jsonw_object_end(w);
    return TARN_OK;
}

static tarn_code list_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct reports *r = ctx;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    tarn_code code = tx->ops->tables.get(tx, r->ident.namespace_, r->ident.name, &table, err);

    if (code != TARN_OK)
        return code;
    tarn_buf_clear(&r->reply->body);
    r->w = tarn_jsonw_to(&r->reply->body);
    tarn_jsonw_object(&r->w);
    tarn_jsonw_key(&r->w, "reports");
    tarn_jsonw_array(&r->w);
    code = tx->ops->reports.list(tx, table->id, r->limit, show, r, err);
    tarn_jsonw_array_end(&r->w);
    tarn_jsonw_kstr(&r->w, "next_page_token", NULL);
    tarn_jsonw_object_end(&r->w);
    return code == TARN_OK ? tarn_buf_check(&r->reply->body, err) : code;
}

tarn_code tarn_native_reports_list(const struct tarn_request *req, struct tarn_reply *reply,
                                   struct tarn_err *err)
{
    struct reports r = { .limit = TARN_REPORTS_MAX, .reply = reply };
    tarn_code code = tarn_request_ident(req, &r.ident, err);

    if (code == TARN_OK)
        code = tarn_query_i64(req, "limit", 1, TARN_REPORTS_MAX, &r.limit, err);
    reply->status = 200;
    return code == TARN_OK ? tarn_store_read(req->app->lake->store, list_tx, &r, err) : code;
}
