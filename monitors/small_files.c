/* small_files.c - partitions of many small files: an info above a hundred, more where thresholds say so. A folder in use may
 * hold more (formats/small_files.h). */
#include "monitors/judge.h"
#include <inttypes.h>
#include <stdio.h>

enum { LEAST = 100 };

int64_t tarn_small_files_least(const struct tarn_settings *settings)
{
    const struct tarn_kind_settings *own = tarn_settings_of(settings, "small_files");
    const struct tarn_limit *k_limits[] = { &own->warning, &own->error };
    int64_t least = LEAST;

    for (size_t i = 0; i < TARN_COUNT(k_limits); i++)
        if (k_limits[i]->is_set && k_limits[i]->value < least)
            least = k_limits[i]->value;
    return least > 0 ? least : 1;
}

static enum tarn_severity severity_of(const struct tarn_judging *j, int64_t files, int64_t *above)
{
    const struct tarn_limit *limit = NULL;
    enum tarn_severity severity = tarn_judge_over(tarn_settings_of(j->settings, "small_files"), files, &limit);

    *above = limit ? limit->value : LEAST;
    return severity;
}

static void judge_folder(struct tarn_judging *j, const struct tarn_suspect *folder)
{
    int64_t times = folder->expected, above = 0;
    enum tarn_severity severity = severity_of(j, folder->observed / times, &above);
    char message[600];

    if (severity == TARN_SEV_OK && folder->observed / times <= LEAST)
        return;
    snprintf(message, sizeof message, "small_files: %.300s: %" PRId64 " files of %.100s", folder->subject, folder->observed,
             folder->note);
    tarn_judge_report(j, "small_files",
                      &(struct tarn_report){ .severity = severity,
                                             .subject = folder->subject,
                                             .message = message,
                                             .observed = tarn_judge_number(folder->observed),
                                             .expected = tarn_judge_number(above * times) });
}

void tarn_judge_small_files(struct tarn_judging *j)
{
    const struct tarn_facts *facts = j->facts;
    int64_t above = 0;

    if (facts->state != TARN_FACTS_READ)
        return;
    if (facts->small_files.total > TARN_EXAMPLES_MAX) {
        tarn_judge_suspects(j, "small_files", &facts->small_files, severity_of(j, facts->small_files_most, &above));
        return;
    }
    for (size_t i = 0; i < facts->small_files.count; i++)
        judge_folder(j, &facts->small_files.items[i]);
}
