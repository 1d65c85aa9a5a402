/* acknowledge.c - what people say of an open finding: "known, somebody is at it" (acknowledged: it counts on) and "this
 * is how it is" (accepted: it counts no more until it changes); and taking either back. */
#include "base/text.h"
#include "monitors/judge.h"

static tarn_code say(struct tarn_finding *finding, const struct tarn_finding_use *u, struct tarn_err *err)
{
    bool ok = true;

    switch (u->what) {
    case TARN_SAY_ACKNOWLEDGED:
    case TARN_SAY_NOT_ACKNOWLEDGED:
        ok = tarn_text_set(&finding->ack.by, u->by) && tarn_text_set(&finding->ack.comment, u->text);
        finding->ack.at = u->now_ms;
        finding->ack.until = u->until;
        break;
    case TARN_SAY_ACCEPTED:
    case TARN_SAY_NOT_ACCEPTED:
        ok = tarn_text_set(&finding->accept.by, u->by) && tarn_text_set(&finding->accept.reason, u->text);
        finding->accept.at = u->now_ms;
        break;
    }
    return ok ? TARN_OK : tarn_fail_oom(err);
}

/* An accepted finding counts no more: the table's verdict follows at once, not with the next scan. */
static tarn_code judge_again(struct tarn_tx *tx, int64_t table_id, int64_t now_ms, struct tarn_err *err)
{
    TARN_AUTO_DONE(findings) struct tarn_findings live = { 0 };
    __attribute__((cleanup(tarn_scan_row_done))) struct tarn_scan_row row = { 0 };
    TARN_ERR(fault);

    tarn_code code = tx->ops->monitors.get(tx, table_id, &row, &fault);
    if (code == TARN_NOT_FOUND)
        return TARN_OK;
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    code = tx->ops->monitors.findings(tx, table_id, &live, err);
    if (code != TARN_OK)
        return code;
    tarn_scan_row_judge(&row, &live, now_ms);
    return tx->ops->monitors.put(tx, &row, err);
}

static tarn_code change(struct tarn_tx *tx, void *use, struct tarn_err *err)
{
    struct tarn_finding_use *u = use;
    TARN_AUTO(table) struct tarn_table *table = NULL;

    tarn_finding_done(&u->finding);
    tarn_code code = tx->ops->tables.get(tx, u->ident.namespace_, u->ident.name, &table, err);
    if (code == TARN_OK)
        code = tx->ops->monitors.get_finding(tx, table->id, u->id, &u->finding, err);
    if (code != TARN_OK)
        return code;
    if (!tarn_finding_is_shown(&u->finding))
        return tarn_fail(err, TARN_NOT_FOUND, "there is no such finding");
    if (u->finding.closed_at >= 0)
        return tarn_fail(err, TARN_INVALID, "the finding is closed: nothing is left to acknowledge or accept");
    code = say(&u->finding, u, err);
    if (code == TARN_OK)
        code = tx->ops->monitors.put_finding(tx, &u->finding, err);
    return code == TARN_OK ? judge_again(tx, table->id, u->now_ms, err) : code;
}

static void done(void *use) { tarn_finding_done(&((struct tarn_finding_use *)use)->finding); }

const struct tarn_use tarn_finding_say = {
    .name = "finding",
    .size = sizeof(struct tarn_finding_use),
    .change = change,
    .done = done,
};
