/* coverage.c - what manifest and catalog tell of the data files: partitions that fit, statistics by which readers skip. */
#include "monitors/judge.h"
#include <inttypes.h>
#include <stdio.h>

/* The share counts where somebody set one; else it is an info as soon as a file has none. */
static void judge_stats(struct tarn_judging *j)
{
    const struct tarn_suspects *list = &j->facts->no_column_stats;
    const struct tarn_limit *limit = NULL;
    char message[128], above[TARN_TIME_TEXT + 8] = "";

    if (list->total == 0)
        return;
    double share = (double)list->total / (double)j->facts->stats_files;
    enum tarn_severity severity = tarn_judge_over(tarn_settings_of(j->settings, "missing_column_stats"),
                                                  (int64_t)(share * (double)TARN_SHARE_WHOLE), &limit);
    if (severity != TARN_SEV_OK)
        snprintf(above, sizeof above, " > %s", limit->text);
    snprintf(message, sizeof message, "missing_column_stats%s: %" PRId64 " of %" PRId64 " files", above, list->total,
             j->facts->stats_files);
    tarn_judge_report(j, "missing_column_stats",
                      &(struct tarn_report){ .severity = severity,
                                             .subject = "*",
                                             .message = message,
                                             .observed = tarn_judge_number(list->total),
                                             .expected = "0",
                                             .evidence = tarn_judge_examples(list) });
}

void tarn_judge_coverage(struct tarn_judging *j)
{
    const struct tarn_facts *facts = j->facts;

    if (facts->state != TARN_FACTS_READ)
        return;
    tarn_judge_suspects(j, "partition_drift", &facts->partition_drift, TARN_SEV_OK);
    tarn_judge_suspects(j, "missing_partition_values", &facts->no_partition_values, TARN_SEV_OK);
    judge_stats(j);
}
