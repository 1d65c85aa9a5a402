/* finding_write.c - a finding as every answer shows it. */
#include "monitors/judge.h"

bool tarn_finding_is_open(const struct tarn_finding *finding)
{
    return finding->opened_at >= 0 && finding->closed_at < 0;
}

bool tarn_finding_is_shown(const struct tarn_finding *finding)
{
    return finding->opened_at >= 0 ||
           (finding->closed_at < 0 && finding->suppressed_by && finding->bad_looks >= TARN_LOOKS);
}

bool tarn_finding_is_acknowledged(const struct tarn_finding *finding, int64_t now_ms)
{
    return finding->ack.by && finding->closed_at < 0 && (finding->ack.until < 0 || now_ms < finding->ack.until);
}

static void write_ack(struct tarn_jsonw *w, const struct tarn_finding *finding, int64_t now_ms)
{
    tarn_jsonw_key(w, "acknowledged");
    if (!tarn_finding_is_acknowledged(finding, now_ms)) {
        tarn_jsonw_null(w);
        return;
    }
    tarn_jsonw_object(w);
    tarn_jsonw_kstr(w, "by", finding->ack.by);
    tarn_jsonw_kstr(w, "comment", finding->ack.comment);
    tarn_jsonw_ktime(w, "at", finding->ack.at);
    tarn_jsonw_ktime(w, "until", finding->ack.until);
    tarn_jsonw_object_end(w);
}

static void write_acceptance(struct tarn_jsonw *w, const struct tarn_finding *finding)
{
    tarn_jsonw_key(w, "accepted");
    if (!finding->accept.reason) {
        tarn_jsonw_null(w);
        return;
    }
    tarn_jsonw_object(w);
    tarn_jsonw_kstr(w, "by", finding->accept.by);
    tarn_jsonw_kstr(w, "reason", finding->accept.reason);
    tarn_jsonw_ktime(w, "at", finding->accept.at);
    tarn_jsonw_object_end(w);
}

static const char *state_of(const struct tarn_finding *finding)
{
    return finding->closed_at >= 0 ? "closed" : finding->opened_at >= 0 ? "open" : "suppressed";
}

static void write_past(struct tarn_jsonw *w, const struct tarn_finding *finding)
{
    tarn_jsonw_kraw(w, "evidence", finding->evidence);
    tarn_jsonw_kstr(w, "state", state_of(finding));
    tarn_jsonw_ktime(w, "opened_at", finding->opened_at);
    tarn_jsonw_ktime(w, "last_bad_at", finding->last_bad_at);
    tarn_jsonw_ktime(w, "closed_at", finding->closed_at);
    tarn_jsonw_kstr(w, "closed_reason", finding->closed_reason);
    tarn_jsonw_kbool(w, "baseline", finding->baseline);
}

void tarn_finding_write(struct tarn_jsonw *w, const struct tarn_finding *finding, bool in_full, int64_t now_ms)
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
    write_ack(w, finding, now_ms);
    write_acceptance(w, finding);
    tarn_jsonw_kstr(w, "suppressed_by", finding->suppressed_by);
    if (in_full)
        write_past(w, finding);
    tarn_jsonw_object_end(w);
}
