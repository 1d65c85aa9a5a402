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

/* --- a probe against a sweep at the same moment --- */

static inline bool has_report(const struct tarn_findings *list, const char *code, const char *subject)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].code, code) == 0 && (!subject || strcmp(list->items[i].subject, subject) == 0))
            return true;
    return false;
}

static inline struct tarn_judging judged_now(const struct tarn_facts *facts, struct tarn_settings *settings, int64_t now_ms)
{
    struct tarn_judging judging = { .facts = facts, .settings = settings, .now_ms = now_ms };
    TARN_ERR(err);

    tarn_settings_resolve(NULL, NULL, settings);
    cr_assert(eq(int, tarn_judge_all(&judging, &err), TARN_OK));
    return judging;
}

/* What the probe reports the sweep reports too (but for manifest_age, which a young file that only the sweep met may hold back),
 * and what the sweep reports of a file in a folder that the probe looked at the
 * probe does. Where one groups, single subjects are not compared. "" when it is so, else what is not. */
static inline const char *probe_contradicts(const struct tarn_facts *probe, const struct tarn_facts *sweep, int64_t now_ms)
{
    static char out[512];
    struct tarn_settings settings;
    struct tarn_judging p = judged_now(probe, &settings, now_ms), s = judged_now(sweep, &settings, now_ms);

    out[0] = '\0';
    for (size_t i = 0; i < p.out.count; i++) {
        const struct tarn_finding *f = &p.out.items[i];
        bool is_compared = strcmp(f->code, "manifest_age") != 0 && strcmp(f->subject, "*") != 0;
        if (is_compared && !has_report(&s.out, f->code, f->subject) && !has_report(&s.out, f->code, "*"))
            snprintf(out, sizeof out, "only the probe: %s %s", f->code, f->subject);
    }
    for (size_t i = 0; i < s.out.count; i++) {
        const struct tarn_finding *f = &s.out.items[i];
        bool is_of_file = strcmp(f->code, "missing_data_file") == 0 || strcmp(f->code, "unregistered_data_file") == 0 ||
                          strcmp(f->code, "size_mismatch") == 0;
        if (is_of_file && strcmp(f->subject, "*") != 0 && tarn_facts_looked_at(probe, f->subject) &&
            !has_report(&p.out, f->code, f->subject))
            snprintf(out, sizeof out, "only the sweep: %s %s", f->code, f->subject);
    }
    tarn_judging_done(&p);
    tarn_judging_done(&s);
    return out;
}
#endif
