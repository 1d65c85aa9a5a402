/* staging.c - microbatches on their way into the table: waiting, stuck, or finished without a trace. An idle table with
 * empty staging is fine. */
#include "monitors/judge.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

static void report_running(struct tarn_judging *j, const char *subject, const char *message, int64_t runs_ms)
{
    const struct tarn_limit *limit = NULL;
    enum tarn_severity severity = tarn_judge_over(tarn_settings_of(j->settings, "merge_stuck"), runs_ms, &limit);

    if (severity == TARN_SEV_OK)
        return;
    tarn_judge_report(j, "merge_stuck",
                      &(struct tarn_report){ .severity = severity,
                                             .subject = subject,
                                             .message = message,
                                             .observed = tarn_judge_number(runs_ms / TARN_SECOND_MS),
                                             .expected = tarn_judge_number(limit->value / TARN_SECOND_MS) });
}

/* Of more than are known by name the one that runs longest speaks for all. */
static void judge_running(struct tarn_judging *j)
{
    const struct tarn_suspects *list = &j->facts->running;
    char message[128], text[TARN_TIME_TEXT];

    for (size_t i = 0; i < list->count && list->total <= TARN_EXAMPLES_MAX; i++)
        report_running(j, list->items[i].subject, NULL, j->now_ms - list->items[i].mtime_ms);
    if (list->total <= TARN_EXAMPLES_MAX)
        return;
    snprintf(message, sizeof message, "merge_stuck: %" PRId64 " batches are marked as running, one for %s", list->total,
             tarn_duration_format(j->now_ms - list->oldest_ms, text));
    report_running(j, "*", message, j->now_ms - list->oldest_ms);
}

/* The evidence names both commits. */
static void judge_duplicates(struct tarn_judging *j)
{
    const struct tarn_suspects *list = &j->facts->duplicate_batches;

    if (list->total > TARN_EXAMPLES_MAX) {
        tarn_judge_suspects(j, "duplicate_batch", list, TARN_SEV_OK);
        return;
    }
    for (size_t i = 0; i < list->count; i++) {
        const struct tarn_suspect *item = &list->items[i];
        size_t first = strcspn(item->note, ",");
        char message[1400];
        snprintf(message, sizeof message, "duplicate_batch: %.900s in %.300s", item->subject, item->note);
        tarn_judge_report(j, "duplicate_batch",
                          &(struct tarn_report){ .subject = item->subject,
                                                 .message = message,
                                                 .observed = tarn_judge_number(item->observed),
                                                 .expected = "1",
                                                 .evidence = json_pack("{s:[s%,s]}", "transactions", item->note, first,
                                                                       item->note + first + 2) });
    }
}

void tarn_judge_staging(struct tarn_judging *j)
{
    if (j->facts->state != TARN_FACTS_READ)
        return;
    judge_backlog(j);
    judge_running(j);
    tarn_judge_suspects(j, "processed_without_result", &j->facts->unlinked,
                        j->facts->linked_batches > 0 ? TARN_SEV_WARNING : TARN_SEV_OK);
    judge_duplicates(j);
}
