/* told.h - all that a scan tells, as text, so that two of them can be compared. */
#ifndef TARN_TESTS_MONITORS_TOLD_H
#define TARN_TESTS_MONITORS_TOLD_H
#include "monitors/judge.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

/* Reports with their numbers, the details, and what was looked at. Which examples are told depends on the order of a folder, so
 * they are left out. Owned. */
static inline char *told_by(const struct tarn_facts *facts, int64_t now_ms)
{
    struct tarn_settings settings;
    struct tarn_judging judging = { .facts = facts, .settings = &settings, .now_ms = now_ms };
    struct tarn_buf out = { 0 };
    TARN_ERR(err);

    tarn_settings_resolve(NULL, NULL, &settings);
    cr_assert(eq(int, tarn_judge_all(&judging, &err), TARN_OK));
    for (size_t i = 0; i < judging.out.count; i++) {
        const struct tarn_finding *f = &judging.out.items[i];
        json_auto_t *evidence = f->evidence ? json_loads(f->evidence, 0, NULL) : NULL;
        tarn_buf_addf(&out, "%s|%s|%d|%s|%s|%lld\n", f->code, f->subject, (int)f->severity, f->observed ? f->observed : "-",
                      f->expected ? f->expected : "-", (long long)json_integer_value(json_object_get(evidence, "count")));
    }
    char *text = tarn_details_text(facts, &settings, &judging.out, now_ms);
    json_auto_t *details = json_loads(text, 0, NULL);
    json_object_del(details, "examples");
    char *sorted = json_dumps(details, JSON_SORT_KEYS | JSON_COMPACT);
    tarn_buf_addf(&out, "%s\nsaw %x newest %s %lld %lld bytes %lld files %lld\n", sorted, facts->saw,
                  facts->newest_data_path ? facts->newest_data_path : "-", (long long)facts->newest_data_ms,
                  (long long)facts->newest_listed_ms, (long long)facts->total_bytes, (long long)facts->file_count);
    free(text);
    free(sorted);
    tarn_judging_done(&judging);
    return tarn_buf_take(&out);
}
#endif
