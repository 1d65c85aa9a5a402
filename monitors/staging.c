/* staging.c - microbatches on their way into the table: waiting, stuck, or finished without a trace. An idle table with
 * empty staging is fine. */
#include "monitors/judge.h"
#include <inttypes.h>
#include <stdio.h>

static void judge_backlog(struct tarn_judging *j)
{
    const struct tarn_facts *facts = j->facts;
    const struct tarn_limit *limit = NULL;
    char message[96];

    if (facts->staging_files <= 0)
        return;
    int64_t waits_ms = j->now_ms - facts->staging_oldest_ms;
    enum tarn_severity severity = tarn_judge_over(tarn_settings_of(j->settings, "staging_backlog"), waits_ms, &limit);
    if (severity == TARN_SEV_OK)
        return;
    snprintf(message, sizeof message, "staging_backlog > %s: %" PRId64 " batches", limit->text, facts->staging_files);
    tarn_judge_report(j, "staging_backlog",
                      &(struct tarn_report){ .severity = severity,
                                             .subject = "*",
                                             .message = message,
                                             .observed = tarn_judge_number(waits_ms / TARN_SECOND_MS),
                                             .expected = tarn_judge_number(limit->value / TARN_SECOND_MS) });
}

static void judge_running(struct tarn_judging *j)
{
    const struct tarn_suspects *list = &j->facts->running;
    const struct tarn_kind_settings *settings = tarn_settings_of(j->settings, "merge_stuck");

    for (size_t i = 0; i < list->count; i++) {
        const struct tarn_limit *limit = NULL;
        int64_t runs_ms = j->now_ms - list->items[i].mtime_ms;
        enum tarn_severity severity = tarn_judge_over(settings, runs_ms, &limit);
        if (severity == TARN_SEV_OK)
            continue;
        tarn_judge_report(j, "merge_stuck",
                          &(struct tarn_report){ .severity = severity,
                                                 .subject = list->items[i].subject,
                                                 .observed = tarn_judge_number(runs_ms / TARN_SECOND_MS),
                                                 .expected = tarn_judge_number(limit->value / TARN_SECOND_MS) });
    }
}

void tarn_judge_staging(struct tarn_judging *j)
{
    if (j->facts->state != TARN_FACTS_READ)
        return;
    judge_backlog(j);
    judge_running(j);
    tarn_judge_suspects(j, "processed_without_result", &j->facts->unlinked, TARN_SEV_OK);
}
