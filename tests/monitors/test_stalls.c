/* A table that is fed and does not move, over facts written down by hand. NOW is 2026-01-01T01:00:00Z, a Thursday. */
#include "tests/monitors/judged.h"
#include "base/own.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define HOUR (60 * MINUTE)

/* A streaming table: a commit a minute for four hours, the last one so long ago. */
static struct tarn_facts streamed(int64_t last_before_ms)
{
    struct tarn_facts facts = plain_facts();
    int64_t last = NOW - last_before_ms;

    for (int64_t t = last - 4 * HOUR; t <= last; t += MINUTE)
        tarn_life_add(&facts.life, t);
    tarn_life_end(&facts.life, NOW);
    facts.life.last_data = facts.life.last_commit = last;
    facts.born_at = last - 4 * HOUR;
    return facts;
}

static const struct { int64_t last_before_ms; int64_t staged, oldest_before_ms; const char *monitors, *expected; } k_stops[] = {
    { 16 * MINUTE, 3, 16 * MINUTE, NULL, "commits_stopped table warning" }, /* fifteen commits take fourteen minutes */
    { 13 * MINUTE, 3, 13 * MINUTE, NULL, "" },
    { 16 * MINUTE, 3, 5 * MINUTE, NULL, "" }, /* what waits came just now */
    { 5 * HOUR, 0, -1, NULL, "" },            /* idle */
    { 5 * HOUR, -1, -1, NULL, "" },           /* without staging */
    { 16 * MINUTE, 3, 16 * MINUTE, "{\"staging_backlog\":{\"warning\":\"1h\"}}", "" }, /* merges that may take long */
    { 16 * MINUTE, 3, 16 * MINUTE, "{\"commits_stopped\":{\"severity\":\"error\"}}", "commits_stopped table error" },
};

Test(stalls, batches_that_wait_while_nothing_is_committed_for_a_whole_window_are_a_stop)
{
    for (size_t i = 0; i < TARN_COUNT(k_stops); i++) {
        struct tarn_facts facts = streamed(k_stops[i].last_before_ms);
        facts.staging_files = k_stops[i].staged;
        facts.staging_oldest_ms = k_stops[i].oldest_before_ms < 0 ? -1 : NOW - k_stops[i].oldest_before_ms;
        cr_expect(eq(str, (char *)(uintptr_t)judged(tarn_judge_stalls, &facts, k_stops[i].monitors),
                     (char *)(uintptr_t)k_stops[i].expected),
                  "row %zu", i);
    }
}

/* S17: commits every minute that only rewrite, for six hours. */
static const struct { int64_t last_before_ms, commit_before_ms, commits; const char *expected; } k_idle[] = {
    { 6 * HOUR, 0, 360, "commits_without_data table warning" },
    { 2 * HOUR + MINUTE, 0, 121, "commits_without_data table warning" },
    { 2 * HOUR, 0, 120, "" },
    { 6 * HOUR, 5 * HOUR, 60, "" }, /* they have ended: nothing moves, and freshness says so */
    { 6 * HOUR, 0, 4, "" },         /* a nightly compaction */
};

Test(stalls, commits_that_bring_no_data_for_hours_are_a_stall)
{
    for (size_t i = 0; i < TARN_COUNT(k_idle); i++) {
        struct tarn_facts facts = streamed(k_idle[i].last_before_ms);
        facts.life.last_commit = NOW - k_idle[i].commit_before_ms;
        facts.life.idle_commits = k_idle[i].commits;
        cr_expect(eq(str, (char *)(uintptr_t)judged(tarn_judge_stalls, &facts, NULL), (char *)(uintptr_t)k_idle[i].expected),
                  "row %zu", i);
    }
}

Test(stalls, a_table_whose_habits_are_not_known_does_not_stall)
{
    struct tarn_facts facts = plain_facts();

    facts.staging_files = 3;
    facts.staging_oldest_ms = NOW - 5 * HOUR;
    facts.life.last_commit = facts.life.last_data = NOW - 5 * HOUR;
    cr_expect(eq(str, (char *)(uintptr_t)judged(tarn_judge_stalls, &facts, NULL), ""));
}
