/* judged.h - one judge over facts written down by hand; what it reports, as text. */
#ifndef TARN_TESTS_MONITORS_JUDGED_H
#define TARN_TESTS_MONITORS_JUDGED_H
#include "monitors/judge.h"
#include <stdio.h>
#include <string.h>

#define NOW INT64_C(1767229200000) /* 2026-01-01T01:00:00Z */
#define MINUTE INT64_C(60000)

/* "code subject severity" of each report, in the order of the document, separated by "; ". */
static inline const char *judged(tarn_judge_fn *judge, const struct tarn_facts *facts, const char *monitors)
{
    static char out[4096];
    struct tarn_settings settings;
    struct tarn_judging judging = { .facts = facts, .settings = &settings, .now_ms = NOW };
    size_t len = 0;

    tarn_settings_resolve(NULL, monitors, &settings);
    judge(&judging);
    if (judging.out.count > 1)
        qsort(judging.out.items, judging.out.count, sizeof *judging.out.items, tarn_finding_order);
    out[0] = '\0';
    for (size_t i = 0; i < judging.out.count; i++)
        len += (size_t)snprintf(out + len, sizeof out - len, "%s%s %s %s", i ? "; " : "", judging.out.items[i].code,
                                judging.out.items[i].subject, tarn_severity_text(judging.out.items[i].severity));
    tarn_judging_done(&judging);
    return out;
}

static inline struct tarn_facts plain_facts(void)
{
    struct tarn_facts facts;

    tarn_facts_init(&facts);
    facts.state = TARN_FACTS_READ;
    facts.format = TARN_FORMAT_MANIFEST;
    facts.pointer = facts.manifest = facts.schema = TARN_DOC_READ;
    facts.gathered_at = NOW;
    return facts;
}
#endif
