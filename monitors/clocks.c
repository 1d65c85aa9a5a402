/* clocks.c - instants that cannot be: in the future, without a zone, or none at all. Two clocks may differ a little; what
 * lies further ahead hides how old things are until it is past. */
#include "monitors/judge.h"

static void judge_instant(struct tarn_judging *j, const char *subject, int64_t at)
{
    const struct tarn_limit *limit = NULL;
    enum tarn_severity severity = tarn_judge_over(tarn_settings_of(j->settings, "clock_skew"), at - j->now_ms, &limit);

    if (at < 0 || severity == TARN_SEV_OK)
        return;
    tarn_judge_report(j, "clock_skew",
                      &(struct tarn_report){ .severity = severity,
                                             .subject = subject,
                                             .observed = tarn_judge_number((at - j->now_ms) / TARN_SECOND_MS),
                                             .expected = tarn_judge_number(limit->value / TARN_SECOND_MS) });
}

/* The newest committed entry; an older one that is ahead of it is out of order, which is told as that. What an entry tells
 * counts, its file's time only where it tells none. */
static void judge_log(struct tarn_judging *j)
{
    const struct tarn_log_facts *log = &j->facts->log;
    const struct tarn_log_entry *newest = NULL;

    for (size_t i = 0; i < log->count; i++)
        newest = log->entries[i].committed ? &log->entries[i] : newest;
    if (newest && !newest->absent)
        judge_instant(j, tarn_log_id(log, newest), newest->timestamp >= 0 ? newest->timestamp : newest->mtime_ms);
}

/* A catalog whose clock jumped ahead and came back goes on with the instant of its newest commit: what it wrote is dated
 * alike, and only the cause is told. */
static bool judge_catalog(struct tarn_judging *j)
{
    const struct tarn_facts *f = j->facts;

    if (!f->managed || f->life.last_commit <= j->now_ms + TARN_SKEW_MS)
        return false;
    judge_instant(j, "catalog", f->life.last_commit);
    return true;
}

static void judge_forms(struct tarn_judging *j)
{
    const struct tarn_log_facts *log = &j->facts->log;

    tarn_judge_suspects(j, "implausible_timestamp", &log->undated, TARN_SEV_OK);
    if (log->naive > 0)
        tarn_judge_report(j, "naive_timestamp",
                          &(struct tarn_report){ .subject = TARN_LOG_SUBJECT,
                                                 .observed = tarn_judge_number(log->naive),
                                                 .expected = "0",
                                                 .unit = "entries" });
}

void tarn_judge_clocks(struct tarn_judging *j)
{
    const struct tarn_facts *f = j->facts;

    if (f->state != TARN_FACTS_READ)
        return;
    if (f->newest_data_path)
        judge_instant(j, f->newest_data_path, f->newest_data_ms);
    if (f->format != TARN_FORMAT_MANIFEST)
        return;
    if (!judge_catalog(j)) {
        judge_instant(j, "manifest.json", f->manifest == TARN_DOC_READ ? f->last_updated : -1);
        judge_log(j);
    }
    judge_forms(j);
}
