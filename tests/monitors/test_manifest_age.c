/* The age of the manifest, over facts written down by hand. */
#include "tests/monitors/judged.h"
#include "base/own.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define SET(what) "{\"manifest_age\":{" what "}}"

static const struct { int64_t age_ms, newest_before_ms; const char *monitors, *expected; } k_rows[] = {
    { 83000, 45 * MINUTE, NULL, "manifest_age manifest.json warning" },
    { 60000, 45 * MINUTE, NULL, "" }, /* strictly greater */
    { 60001, 45 * MINUTE, NULL, "manifest_age manifest.json warning" },
    { -10000, 45 * MINUTE, NULL, "" },
    { 295000, 25000, NULL, "" }, /* the newest file itself is younger than the grace time */
    { 83000, 45 * MINUTE, SET("\"warning\":\"2m\""), "" },
    { 83000, 45 * MINUTE, SET("\"error\":\"80s\""), "manifest_age manifest.json error" },
    { 83000, 45 * MINUTE, SET("\"warning\":30,\"error\":90"), "manifest_age manifest.json warning" },
    { 83000, 45 * MINUTE, SET("\"severity\":\"off\""), "" },
    { 83000, 45 * MINUTE, SET("\"severity\":\"info\""), "manifest_age manifest.json info" },
    { 83000, 45 * MINUTE, SET("\"grace\":\"1h\""), "" },
};

Test(manifest_age, opens_over_the_threshold_when_the_newest_file_has_settled)
{
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct tarn_facts facts = plain_facts();
        facts.newest_data_ms = NOW - k_rows[i].newest_before_ms;
        facts.newest_data_path = (char *)(uintptr_t) "p";
        facts.last_updated = facts.newest_data_ms - k_rows[i].age_ms;
        cr_expect(eq(str, (char *)judged(tarn_judge_manifest_age, &facts, k_rows[i].monitors), (char *)k_rows[i].expected), "row %zu",
                  i);
    }
}

Test(manifest_age, the_message_names_the_threshold_as_it_was_configured)
{
    static const struct { const char *monitors, *message; } k_set[] = {
        { NULL, "manifest_age > 1m" },
        { SET("\"warning\":\"60s\""), "manifest_age > 60s" },
        { SET("\"warning\":75"), "manifest_age > 1m15s" },
    };
    for (size_t i = 0; i < TARN_COUNT(k_set); i++) {
        struct tarn_facts facts = plain_facts();
        struct tarn_settings settings;
        struct tarn_judging judging = { .facts = &facts, .settings = &settings, .now_ms = NOW };
        facts.newest_data_ms = NOW - 45 * MINUTE;
        facts.last_updated = facts.newest_data_ms - 83000;
        tarn_settings_resolve(NULL, k_set[i].monitors, &settings);
        tarn_judge_manifest_age(&judging);
        cr_assert(eq(sz, judging.out.count, 1));
        cr_expect(eq(str, judging.out.items[0].message, (char *)k_set[i].message));
        cr_expect(eq(str, judging.out.items[0].observed, "83"));
        tarn_judging_done(&judging);
    }
}

Test(manifest_age, a_commit_on_its_way_to_storage_is_no_stale_manifest)
{
    struct tarn_facts facts = plain_facts();

    facts.managed = true;
    facts.behind_since = NOW - 5000;
    facts.newest_data_ms = NOW - 45 * MINUTE;
    facts.last_updated = facts.newest_data_ms - 83000;
    cr_expect(eq(str, (char *)judged(tarn_judge_manifest_age, &facts, NULL), ""));
}
