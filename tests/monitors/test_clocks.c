/* Instants that cannot be, over facts written down by hand. */
#include "tests/monitors/judged.h"
#include "base/own.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define HOUR (60 * MINUTE)

/* S16: a storage whose clock is 45 seconds ahead is no fault, one that is two hours ahead is. */
static const struct { int64_t data_ms, manifest_ms, entry_ms, commit_ms; bool managed; const char *monitors, *expected; } k_rows[] = {
    { 0, 0, 0, 0, false, NULL, "" },
    { 45000, 45000, 45000, 0, false, NULL, "" },
    { 60000, 60000, 60000, 0, false, NULL, "" },
    { 60001, 0, 0, 0, false, NULL, "clock_skew p warning" },
    { 2 * HOUR, 0, 0, 0, false, NULL, "clock_skew p warning" },
    { 0, 2 * HOUR, 0, 0, false, NULL, "clock_skew manifest.json warning" },
    { 0, 0, 2 * HOUR, 0, false, NULL, "clock_skew txn-2 warning" },
    { 0, 0, 2 * HOUR, 0, false, "{\"clock_skew\":{\"error\":\"1h\"}}", "clock_skew txn-2 error" },
    { 2 * HOUR, 2 * HOUR, 0, 0, false, NULL, "clock_skew manifest.json warning; clock_skew p warning" },
    { 0, 2 * HOUR, 2 * HOUR, 2 * HOUR, true, NULL, "clock_skew catalog warning" }, /* what it wrote is dated alike */
    { 0, 0, 0, 45000, true, NULL, "" },
    { 0, 0, 0, -2 * HOUR, true, NULL, "" },
};

Test(clocks, what_lies_further_ahead_than_two_clocks_may_differ_is_told)
{
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct tarn_facts facts = plain_facts();
        char names[] = "txn-1\0txn-2";
        struct tarn_log_entry entries[] = {
            { .number = 1, .timestamp = NOW - HOUR, .mtime_ms = NOW + 9 * HOUR, .committed = true },
            { .number = 2, .timestamp = NOW + k_rows[i].entry_ms, .mtime_ms = NOW, .id_at = 6, .committed = true },
        };
        facts.log.entries = entries;
        facts.log.count = 2;
        facts.log.names = (struct tarn_buf){ .data = names, .len = sizeof names };
        facts.newest_data_ms = NOW + k_rows[i].data_ms;
        facts.newest_data_path = (char *)(uintptr_t) "p";
        facts.last_updated = NOW + k_rows[i].manifest_ms;
        facts.managed = k_rows[i].managed;
        facts.life.last_commit = NOW + k_rows[i].commit_ms;
        cr_expect(eq(str, (char *)(uintptr_t)judged(tarn_judge_clocks, &facts, k_rows[i].monitors),
                     (char *)(uintptr_t)k_rows[i].expected),
                  "row %zu", i);
    }
}

/* S07: half past two on 25 October 2026 comes twice in Berlin; without a zone it is one instant of UTC. */
Test(clocks, an_entry_without_a_zone_is_flagged_and_one_without_an_instant_is_a_warning)
{
    struct tarn_facts facts = plain_facts();

    facts.log.naive = 3;
    cr_expect(eq(str, (char *)(uintptr_t)judged(tarn_judge_clocks, &facts, NULL), "naive_timestamp _transactions info"));
    cr_assert(eq(int, tarn_suspects_add(&facts.log.undated, "txn-7", NULL, -1, -1, NOW, NULL), TARN_OK));
    cr_expect(eq(str, (char *)(uintptr_t)judged(tarn_judge_clocks, &facts, NULL),
                 "implausible_timestamp txn-7 warning; naive_timestamp _transactions info"));
    tarn_suspects_done(&facts.log.undated);
}
