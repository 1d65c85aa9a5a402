/* merged_store.c - what a scan made of the findings goes into the store, and who should hear of it does: one event when a
 * finding opens, one when it closes, none while it only goes on. */
#include "monitors/judge.h"
#include "lake/event.h"
#include <string.h>

enum { REOPEN_MS = 10 * 60 * 1000 };

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool is_of_root(const struct tarn_finding *finding)
{
    return strcmp(finding->code, "storage_unreachable") == 0 && strcmp(finding->subject, "table") != 0;
}

/* One that looked wrong again within ten minutes after it closed comes back as itself, and so does one that a group told
 * of meanwhile (it closed after the group's past began). */
static tarn_code reopen(struct tarn_tx *tx, struct tarn_finding *finding, struct tarn_err *err)
{
    TARN_AUTO_DONE(finding) struct tarn_finding closed = { 0 };
    TARN_ERR(fault);

    tarn_code code = tx->ops->monitors.reopenable(tx, finding->table_id, finding->code, finding->subject,
                                                  finding->since - REOPEN_MS, &closed, &fault);
    if (code == TARN_NOT_FOUND)
        return TARN_OK;
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    code = tx->ops->monitors.delete_finding(tx, finding->id, err);
    memcpy(finding->id, closed.id, sizeof finding->id);
    finding->since = closed.since;
    finding->baseline = closed.baseline;
    if (same_text(closed.closed_reason, "grouped")) { /* it never was well */
        finding->ack = closed.ack;
        closed.ack.by = closed.ack.comment = NULL;
    }
    if (finding->severity != closed.severity || !same_text(finding->observed, closed.observed) || finding->accept.reason)
        return code;
    finding->accept = closed.accept;
    closed.accept.reason = closed.accept.by = NULL;
    return code;
}

/* What an event tells of a finding; `root` where the fault is the root's. */
static json_t *event_of(const struct tarn_finding *finding)
{
    json_t *event = json_pack("{s:s, s:s, s:s, s:s, s:s}", "finding", finding->id, "code", finding->code, "severity",
                              tarn_severity_text(finding->severity), "subject", finding->subject, "message",
                              finding->message);

    if (event && is_of_root(finding) && json_object_set_new(event, "root", json_string(finding->subject)) != 0) {
        json_decref(event);
        return NULL;
    }
    return event;
}

/* Suspects that never opened, and what nobody was told of, are nobody's news. */
static tarn_code tell_closed(struct tarn_tx *tx, const struct tarn_table *table, const struct tarn_finding *finding,
                             int64_t now_ms, struct tarn_err *err)
{
    if (finding->told_at <= 0)
        return TARN_OK;
    json_t *event = event_of(finding);
    if (event)
        (void)json_object_set_new(event, "reason", json_string(finding->closed_reason));
    return tarn_event_add(tx, TARN_EVENT_FINDING_CLOSED, table, now_ms, event, err);
}

/* A root that is lost is one incident: the first table that met it tells, the others say that it did. */
static tarn_code leave_to_root(struct tarn_tx *tx, struct tarn_finding *finding, bool *told, struct tarn_err *err)
{
    *told = false;
    tarn_code code = is_of_root(finding)
                         ? tx->ops->monitors.root_told(tx, finding->subject, finding->table_id, told, err) : TARN_OK;
    if (code != TARN_OK || !*told)
        return code;
    finding->suppressed_by = strdup(TARN_SUPPRESSED_BY_ROOT);
    return finding->suppressed_by ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code tell_opened(struct tarn_tx *tx, const struct tarn_table *table, struct tarn_finding *finding,
                             int64_t now_ms, struct tarn_err *err)
{
    bool told = false;

    if (!finding->is_news || finding->accept.reason) /* one that came back may have been accepted before */
        return TARN_OK;
    tarn_code code = leave_to_root(tx, finding, &told, err);
    if (code != TARN_OK || told)
        return code;
    finding->told_at = now_ms;
    json_t *event = event_of(finding);
    if (event)
        (void)json_object_set_new(event, "baseline", json_boolean(finding->baseline));
    return tarn_event_add(tx, TARN_EVENT_FINDING_OPENED, table, now_ms, event, err);
}

static tarn_code store_closed(struct tarn_tx *tx, const struct tarn_table *table, struct tarn_finding *finding,
                              int64_t now_ms, struct tarn_err *err)
{
    tarn_code code = tx->ops->monitors.put_finding(tx, finding, err);

    return code == TARN_OK ? tell_closed(tx, table, finding, now_ms, err) : code;
}

static tarn_code store_live(struct tarn_tx *tx, const struct tarn_table *table, struct tarn_finding *finding,
                            int64_t now_ms, struct tarn_err *err)
{
    tarn_code code = finding->opened_at == now_ms ? reopen(tx, finding, err) : TARN_OK;

    if (code == TARN_OK)
        code = tell_opened(tx, table, finding, now_ms, err);
    return code == TARN_OK ? tx->ops->monitors.put_finding(tx, finding, err) : code;
}

tarn_code tarn_merged_store(struct tarn_tx *tx, const struct tarn_table *table, struct tarn_merged *merged,
                            int64_t now_ms, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < merged->forgotten_count && code == TARN_OK; i++)
        code = tx->ops->monitors.delete_finding(tx, merged->forgotten[i], err);
    for (size_t i = 0; i < merged->closed.count && code == TARN_OK; i++)
        code = store_closed(tx, table, &merged->closed.items[i], now_ms, err);
    for (size_t i = 0; i < merged->live.count && code == TARN_OK; i++)
        code = store_live(tx, table, &merged->live.items[i], now_ms, err);
    return code;
}
