/* status.c - GET /api/table/{table}/status: what dashboards ask for all day.
 * Two indexed reads and one buffer; nothing is scanned; an answer is kept until
 * the table is touched. Always 200 for a known table, whatever its health. */
#include "api/answers.h"
#include "api/native/native.h"
#include "lake/inherit.h"
#include "monitors/monitors.h"

struct seen {
    struct tarn_ident ident;
    struct tarn_table *table;
    struct tarn_scan_row scan;
    bool scanned;
    struct tarn_findings findings;
    const struct tarn_monitor_defaults *defaults;
    int64_t now_ms, until_ms; /* until then the findings' marks hold */
};

static void seen_done(struct seen *seen)
{
    tarn_table_free(seen->table);
    tarn_scan_row_done(&seen->scan);
    tarn_findings_done(&seen->findings);
    seen->table = NULL;
}

static tarn_code look_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct seen *seen = ctx;

    seen_done(seen);
    tarn_code code = tx->ops->monitors.look(tx, seen->ident.namespace_, seen->ident.name, &seen->table,
                                            &seen->scan, &seen->scanned, err);
    if (code == TARN_OK)
        code = tarn_inherit_all(tx, seen->table, err);
    if (code != TARN_OK || !seen->scanned)
        return code;
    code = tx->ops->monitors.findings(tx, seen->table->id, &seen->findings, err);
    if (code != TARN_OK)
        return code;
    return tarn_findings_mark(tx, seen->table, seen->defaults, seen->now_ms, &seen->findings, &seen->until_ms,
                              err);
}

tarn_code tarn_native_status_get(const struct tarn_request *req, struct tarn_reply *reply,
                                 struct tarn_err *err)
{
    __attribute__((cleanup(seen_done))) struct seen seen = { .table = NULL };
    struct tarn_app *app = req->app;

    seen.defaults = app->monitors;
    seen.now_ms = req->now_ms;
    seen.until_ms = INT64_MAX;
    tarn_code code = tarn_request_ident(req, &seen.ident, err);
    if (code != TARN_OK)
        return code;
    reply->status = 200;
    if (tarn_answers_find(app->answers, TARN_ANSWER_STATUS, &seen.ident, req->now_ms, &reply->body, NULL))
        return TARN_OK;
    uint64_t clock = tarn_store_clock(app->lake->store);
    code = tarn_store_read(app->lake->store, look_tx, &seen, err);
    if (code != TARN_OK)
        return code;
    const struct tarn_scan_row *scan = seen.scanned ? &seen.scan : NULL;
    tarn_status_write(&reply->body, seen.table, scan, &seen.findings, app->monitors, req->now_ms);
    int64_t until_ms = tarn_status_holds_until(seen.table, scan, &seen.findings, app->monitors, req->now_ms);
    tarn_answers_keep(app->answers, TARN_ANSWER_STATUS, &seen.ident, seen.table->id, clock,
                      until_ms < seen.until_ms ? until_ms : seen.until_ms, &reply->body, NULL);
    return tarn_buf_check(&reply->body, err);
}
