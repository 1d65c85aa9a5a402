/* manifest_age.c - the newest data file's modification time minus the manifest's last_updated. The number is reported
 * as it is; a finding opens only when the newest file itself is older than the grace time, since after a quiet night the
 * first file makes the age jump to hours although its commit follows two seconds later. */
#include "monitors/judge.h"
#include <stdio.h>

void tarn_judge_manifest_age(struct tarn_judging *j)
{
    const struct tarn_facts *facts = j->facts;
    const struct tarn_kind_settings *settings = tarn_settings_of(j->settings, "manifest_age");
    const struct tarn_limit *limit = NULL;
    char message[64];

    if (facts->state != TARN_FACTS_READ || facts->format != TARN_FORMAT_MANIFEST)
        return;
    if (facts->newest_data_ms < 0 || facts->last_updated < 0 || facts->manifest != TARN_DOC_READ)
        return;
    if (facts->behind_since >= 0)
        return; /* committed and on its way: publication_behind watches that */
    int64_t age_ms = facts->newest_data_ms - facts->last_updated;
    enum tarn_severity severity = tarn_judge_over(settings, age_ms, &limit);
    if (severity == TARN_SEV_OK || j->now_ms - facts->newest_data_ms <= settings->grace_ms)
        return;
    snprintf(message, sizeof message, "manifest_age > %s", limit->text);
    tarn_judge_report(j, "manifest_age",
                      &(struct tarn_report){ .severity = severity,
                                             .subject = "manifest.json",
                                             .message = message,
                                             .observed = tarn_judge_number(age_ms / TARN_SECOND_MS),
                                             .expected = tarn_judge_number(limit->value / TARN_SECOND_MS) });
}
