/* verdict.c - from findings to one word. */
#include "monitors/judge.h"

bool tarn_code_is_unjudged(const char *code)
{
    const struct tarn_kind *kind = tarn_kind_find(code);

    return kind && kind->is_unjudged;
}

enum tarn_severity tarn_verdict_of(const struct tarn_findings *findings)
{
    enum tarn_severity worst = TARN_SEV_OK;

    for (size_t i = 0; i < findings->count; i++) {
        const struct tarn_finding *finding = &findings->items[i];
        if (finding->opened_at < 0 || finding->closed_at >= 0)
            continue;
        if (tarn_code_is_unjudged(finding->code))
            return TARN_SEV_UNKNOWN;
        if (finding->accept.reason) /* but what keeps a table from being judged does so, accepted or not */
            continue;
        if (finding->severity >= TARN_SEV_WARNING && finding->severity > worst)
            worst = finding->severity;
    }
    return worst;
}

void tarn_scan_row_judge(struct tarn_scan_row *row, const struct tarn_findings *live, int64_t now_ms)
{
    enum tarn_severity verdict = row->checked_at < 0 ? TARN_SEV_UNKNOWN : tarn_verdict_of(live);

    if (verdict != row->verdict)
        row->verdict_since = now_ms;
    row->verdict = verdict;
    row->judged = verdict != TARN_SEV_UNKNOWN;
}

bool tarn_scan_is_stale(const struct tarn_scan_row *scan, int64_t interval_ms, int64_t now_ms)
{
    return scan && scan->checked_at >= 0 && now_ms - scan->checked_at > TARN_STALE_INTERVALS * interval_ms;
}

int64_t tarn_scan_patience_ms(int64_t interval_ms)
{
    int64_t limit = 10 * interval_ms;

    return limit < 15 * TARN_MINUTE_MS ? 15 * TARN_MINUTE_MS : limit;
}

bool tarn_scan_is_lost(const struct tarn_scan_row *scan, int64_t interval_ms, int64_t now_ms)
{
    return !scan || scan->checked_at < 0 || now_ms - scan->checked_at > tarn_scan_patience_ms(interval_ms);
}

const char *tarn_status_text(enum tarn_severity severity, enum tarn_policy policy, int *status_code)
{
    static const char *const k_words[] = { "healthy", "degraded", "unhealthy", "unknown" };
    int code = 0;

    if (severity == TARN_SEV_WARNING && policy == TARN_POLICY_STRICT)
        code = 1;
    else if (severity == TARN_SEV_ERROR)
        code = 2;
    else if (severity == TARN_SEV_UNKNOWN)
        code = 3;
    if (status_code)
        *status_code = code;
    return k_words[code];
}
