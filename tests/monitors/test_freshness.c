/* The age of data against what is set, promised or learned, over facts written down by hand. */
#include "tests/monitors/judged.h"
#include "base/own.h"
#include "monitors/freshness.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

static int64_t at(const char *text)
{
    int64_t ms = 0;

    cr_assert(eq(int, tarn_time_parse(text, &ms, NULL, NULL), TARN_OK), "%s", text);
    return ms;
}

/* "severity message" of the finding at `now`, "" when there is none. `last` NULL: never any data. */
static const char *judged_at(const char *now, const char *last, const char *monitors, struct tarn_facts *facts)
{
    static char out[256];
    struct tarn_settings settings;
    struct tarn_judging judging = { .facts = facts, .settings = &settings, .now_ms = at(now) };

    facts->life.last_data = last ? at(last) : -1;
    tarn_settings_resolve(NULL, monitors, &settings);
    tarn_judge_freshness(&judging);
    out[0] = '\0';
    if (judging.out.count > 0)
        snprintf(out, sizeof out, "%s %s", tarn_severity_text(judging.out.items[0].severity), judging.out.items[0].message);
    tarn_judging_done(&judging);
    return out;
}

struct row { const char *now, *last, *monitors, *expected; };

static void expect_all(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct tarn_facts facts = plain_facts();
        cr_expect(eq(str, (char *)(uintptr_t)judged_at(rows[i].now, rows[i].last, rows[i].monitors, &facts),
                     (char *)(uintptr_t)rows[i].expected),
                  "row %zu", i);
    }
}
#define FRESH(what) "{\"freshness\":{" what "}}"

Test(freshness, a_set_threshold_is_strictly_greater_and_the_errors_comes_first)
{
    static const struct row k_rows[] = {
        { "2026-06-02T11:00:00Z", "2026-06-02T10:00:00Z", FRESH("\"warning\":\"1h\",\"error\":\"2h\""), "" },
        { "2026-06-02T11:00:01Z", "2026-06-02T10:00:00Z", FRESH("\"warning\":\"1h\",\"error\":\"2h\""), "warning freshness > 1h" },
        { "2026-06-02T12:00:01Z", "2026-06-02T10:00:00Z", FRESH("\"warning\":\"1h\",\"error\":\"2h\""), "error freshness > 2h" },
        { "2026-06-02T12:00:01Z", "2026-06-02T10:00:00Z", FRESH("\"error\":7200"), "error freshness > 2h" },
        { "2026-06-02T12:00:01Z", "2026-06-02T10:00:00Z", FRESH("\"error\":\"2h\",\"severity\":\"info\""), "info freshness > 2h" },
        { "2026-06-02T12:00:01Z", "2026-06-02T10:00:00Z", FRESH("\"error\":\"2h\",\"severity\":\"off\""), "" },
        { "2026-06-02T12:20:00Z", "2026-06-02T10:00:00Z", FRESH("\"error\":\"2h\",\"grace\":\"30m\""), "" },
        { "2026-06-02T12:30:01Z", "2026-06-02T10:00:00Z", FRESH("\"error\":\"2h\",\"grace\":\"30m\""), "error freshness > 2h" },
        { "2026-06-02T12:00:01Z", NULL, FRESH("\"error\":\"2h\""), "" }, /* it never had data */
        { "2026-06-02T09:00:00Z", "2026-06-02T10:00:00Z", FRESH("\"error\":\"2h\""), "" }, /* dated in the future */
    };
    expect_all(k_rows, TARN_COUNT(k_rows));
}

/* S05: a load at 02:10, give or take 20 minutes; a look at 01:55 finds data that is 23 hours and 50 minutes old. */
Test(freshness, a_look_before_the_daily_load_is_no_error)
{
    static const struct row k_rows[] = {
        { "2026-06-03T01:55:00Z", "2026-06-02T02:05:00Z", FRESH("\"error\":\"24h\",\"grace\":\"30m\""), "" },
        { "2026-06-03T02:25:00Z", "2026-06-02T02:05:00Z", FRESH("\"error\":\"24h\",\"grace\":\"30m\""), "" },
        { "2026-06-03T02:36:00Z", "2026-06-02T02:05:00Z", FRESH("\"error\":\"24h\",\"grace\":\"30m\""), "error freshness > 24h" },
        { "2026-06-03T02:36:00Z", "2026-06-03T02:30:00Z", FRESH("\"error\":\"24h\",\"grace\":\"30m\""), "" },
    };
    expect_all(k_rows, TARN_COUNT(k_rows));
}

#define NINE "\"deadline\":{\"at\":\"09:00\",\"timezone\":\"Europe/Berlin\"}"
#define MISSED "error freshness: no data for the deadline 09:00 Europe/Berlin"

/* S06: on 29 March 2026 the clocks go forward: nine o'clock in Berlin is 07:00 UTC, eight hours after midnight. */
Test(freshness, a_deadline_is_a_wall_clock_on_the_day_of_23_hours_too)
{
    static const struct row k_rows[] = {
        { "2026-03-29T06:59:00Z", "2026-03-28T07:30:00Z", FRESH(NINE), "" },
        { "2026-03-29T07:00:00Z", "2026-03-28T07:30:00Z", FRESH(NINE), "" },
        { "2026-03-29T07:00:01Z", "2026-03-28T07:30:00Z", FRESH(NINE), MISSED },
        { "2026-03-29T07:30:00Z", "2026-03-29T06:30:00Z", FRESH(NINE), "" }, /* data at 08:30 local */
        { "2026-03-29T07:30:00Z", "2026-03-28T23:00:00Z", FRESH(NINE), "" }, /* at midnight */
        { "2026-03-29T07:30:00Z", "2026-03-28T22:59:59Z", FRESH(NINE), MISSED },
        { "2026-10-25T08:00:00Z", "2026-10-24T07:30:00Z", FRESH(NINE), "" }, /* the day of 25 hours */
        { "2026-10-25T08:00:01Z", "2026-10-24T07:30:00Z", FRESH(NINE), MISSED },
        { "2026-10-25T08:00:01Z", "2026-10-24T22:00:00Z", FRESH(NINE), "" },
    };
    expect_all(k_rows, TARN_COUNT(k_rows));
}

#define WEEKDAYS "\"deadline\":{\"at\":\"09:00\",\"days\":[\"mon\",\"tue\",\"wed\",\"thu\",\"fri\"]}"
#define EVENING "\"deadline\":{\"at\":\"06:00\",\"window\":\"12h\"}"

Test(freshness, a_deadline_holds_on_its_days_and_data_that_comes_late_meets_it)
{
    static const struct row k_rows[] = {
        { "2026-06-06T12:00:00Z", "2026-06-05T08:00:00Z", FRESH(WEEKDAYS), "" }, /* Saturday */
        { "2026-06-08T08:59:00Z", "2026-06-05T08:00:00Z", FRESH(WEEKDAYS), "" }, /* Monday */
        { "2026-06-08T09:01:00Z", "2026-06-05T08:00:00Z", FRESH(WEEKDAYS), "error freshness: no data for the deadline 09:00 UTC" },
        { "2026-06-07T12:00:00Z", "2026-06-04T08:00:00Z", FRESH(WEEKDAYS), "error freshness: no data for the deadline 09:00 UTC" },
        { "2026-06-08T11:00:00Z", "2026-06-08T10:30:00Z", FRESH(WEEKDAYS), "" },
        { "2026-06-08T09:01:00Z", "2026-06-07T18:00:00Z", FRESH("\"deadline\":{\"at\":\"06:00\"}"), "error freshness: no data for the deadline 06:00 UTC" },
        { "2026-06-08T09:01:00Z", "2026-06-07T18:00:00Z", FRESH(EVENING), "" },
        { "2026-06-08T09:01:00Z", "2026-06-07T17:59:59Z", FRESH(EVENING), "error freshness: no data for the deadline 06:00 UTC" },
        { "2026-06-08T09:01:00Z", NULL, FRESH(EVENING), "" },
        { "2026-06-08T07:10:00Z", "2026-06-07T10:00:00Z", "{\"timezone\":\"Europe/Berlin\",\"freshness\":{\"deadline\":{\"at\":\"09:00\"}}}", MISSED },
        /* A deadline beside thresholds: the worse of the two. */
        { "2026-06-08T09:01:00Z", "2026-06-07T18:00:00Z", FRESH("\"warning\":\"1h\",\"deadline\":{\"at\":\"06:00\"}"), "error freshness: no data for the deadline 06:00 UTC" },
        { "2026-06-08T09:01:00Z", "2026-06-08T05:00:00Z", FRESH("\"warning\":\"1h\",\"deadline\":{\"at\":\"06:00\"}"), "warning freshness > 1h" },
    };
    expect_all(k_rows, TARN_COUNT(k_rows));
}

Test(freshness, a_table_that_waits_for_its_first_data_misses_only_what_it_lived_to_see)
{
    struct tarn_facts facts = plain_facts();

    facts.born_at = at("2026-06-08T05:00:00Z");
    cr_expect(eq(str, (char *)(uintptr_t)judged_at("2026-06-08T09:01:00Z", NULL, FRESH(WEEKDAYS), &facts), ""));
    cr_expect(eq(str, (char *)(uintptr_t)judged_at("2026-06-09T09:01:00Z", NULL, FRESH(WEEKDAYS), &facts),
                 "error freshness: no data for the deadline 09:00 UTC"));
}

/* The status says when data is due, of a table that has none yet too. */
Test(freshness, a_table_that_waits_for_its_first_data_is_told_the_next_deadline_of_its_life)
{
    static const struct { const char *now, *born, *monitors, *due; } k_rows[] = {
        { "2026-06-09T08:00:00Z", "2026-06-08T05:00:00Z", FRESH(WEEKDAYS), "2026-06-09T09:00:00Z" },
        { "2026-06-08T08:00:00Z", "2026-06-08T05:00:00Z", FRESH(WEEKDAYS), "2026-06-09T09:00:00Z" }, /* today's began before it */
        { "2026-06-12T12:00:00Z", "2026-06-12T10:00:00Z", FRESH(WEEKDAYS), "2026-06-15T09:00:00Z" }, /* a Friday */
        { "2026-06-09T12:00:00Z", "2026-06-08T05:00:00Z", FRESH(WEEKDAYS), "2026-06-09T09:00:00Z" }, /* missed */
        { "2026-06-09T12:00:00Z", NULL, FRESH(WEEKDAYS), NULL }, /* nobody watches it */
        { "2026-06-09T12:00:00Z", "2026-06-08T05:00:00Z", FRESH("\"warning\":\"1h\""), NULL },
    };

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct tarn_facts facts = plain_facts();
        struct tarn_settings settings;
        facts.life.last_data = -1;
        facts.born_at = k_rows[i].born ? at(k_rows[i].born) : -1;
        tarn_settings_resolve(NULL, k_rows[i].monitors, &settings);
        struct tarn_freshness f = tarn_freshness_of(&facts, &settings, at(k_rows[i].now));
        cr_expect(eq(i64, f.due_at, k_rows[i].due ? at(k_rows[i].due) : -1), "row %zu", i);
    }
}

Test(freshness, what_is_set_beats_a_contract_and_a_contract_beats_what_is_learned)
{
    static const struct row k_rows[] = {
        { "2026-06-02T15:30:00Z", "2026-06-02T10:00:00Z", FRESH("\"contract\":{\"warning\":\"4h\",\"error\":\"5h\"}"), "error freshness > 5h (contract)" },
        { "2026-06-02T14:30:00Z", "2026-06-02T10:00:00Z", FRESH("\"contract\":{\"warning\":\"4h\",\"error\":\"5h\"}"), "warning freshness > 4h (contract)" },
        { "2026-06-02T14:30:00Z", "2026-06-02T10:00:00Z", FRESH("\"warning\":\"1d\",\"contract\":{\"warning\":\"4h\",\"error\":\"5h\"}"), "" },
        { "2026-06-02T14:30:00Z", "2026-06-01T10:00:00Z", FRESH("\"contract\":{\"deadline\":{\"at\":\"09:00\"}}"), "error freshness: no data for the deadline 09:00 UTC (contract)" },
    };
    expect_all(k_rows, TARN_COUNT(k_rows));
}

static void hourly(struct tarn_facts *facts, const char *from, const char *to)
{
    for (int64_t t = at(from); t < at(to); t += TARN_HOUR_MS)
        tarn_life_add(&facts->life, t);
    tarn_life_end(&facts->life, at(to));
    facts->born_at = at(from);
}

Test(freshness, what_is_learned_is_never_above_a_warning)
{
    struct tarn_facts facts = plain_facts();

    hourly(&facts, "2026-06-01T00:00:00Z", "2026-06-16T10:30:00Z");
    const char *const last = "2026-06-16T10:00:00Z";
    cr_expect(eq(str, (char *)(uintptr_t)judged_at("2026-06-16T12:00:00Z", last, NULL, &facts), ""));
    cr_expect(eq(str, (char *)(uintptr_t)judged_at("2026-06-16T12:00:01Z", last, NULL, &facts), "warning freshness > 2h (learned)"));
    cr_expect(eq(str, (char *)(uintptr_t)judged_at("2026-06-20T12:00:01Z", last, FRESH("\"severity\":\"error\""), &facts),
                 "warning freshness > 2h (learned)"));
    cr_expect(eq(str, (char *)(uintptr_t)judged_at("2026-09-20T12:00:01Z", last, NULL, &facts), "warning freshness > 2h (learned)"),
              "it does not forget");
    facts.born_at = at("2026-09-20T12:00:00Z");
    cr_expect(eq(str, (char *)(uintptr_t)judged_at("2026-09-20T12:00:01Z", last, NULL, &facts), ""),
              "what was dead for months before it was registered is no news");
    facts.born_at = -1;
    cr_expect(eq(str, (char *)(uintptr_t)judged_at("2026-06-16T12:00:01Z", last, NULL, &facts), ""),
              "nobody watches a folder that is not registered");
}

Test(freshness, an_empty_batch_is_proof_of_life)
{
    struct tarn_facts facts = plain_facts();

    facts.life.last_empty = at("2026-06-02T11:30:00Z");
    cr_expect(eq(str, (char *)(uintptr_t)judged_at("2026-06-02T12:00:00Z", "2026-06-02T08:00:00Z", FRESH("\"error\":\"1h\""), &facts), ""));
    cr_expect(eq(str, (char *)(uintptr_t)judged_at("2026-06-02T12:31:00Z", "2026-06-02T08:00:00Z", FRESH("\"error\":\"1h\""), &facts),
                 "error freshness > 1h"));
}

/* --- what the status tells --- */

static const struct { const char *now, *last, *monitors, *details; } k_told[] = {
    { "2026-06-02T11:00:00Z", "2026-06-02T10:00:00Z", FRESH("\"warning\":\"2h\",\"error\":\"3h\""),
      "{\"age_seconds\":3600,\"threshold_seconds\":7200,\"threshold_source\":\"config\","
      "\"warning_after_seconds\":7200,\"error_after_seconds\":10800,"
      "\"next_expected\":\"2026-06-02T12:00:00Z\",\"last_run\":\"2026-06-02T10:00:00Z\"}" },
    { "2026-06-02T14:00:00Z", "2026-06-02T10:00:00Z", FRESH("\"warning\":\"2h\",\"error\":\"3h\""),
      "{\"age_seconds\":14400,\"threshold_seconds\":10800,\"threshold_source\":\"config\","
      "\"warning_after_seconds\":7200,\"error_after_seconds\":10800,"
      "\"next_expected\":\"2026-06-02T13:00:00Z\",\"last_run\":\"2026-06-02T10:00:00Z\"}" },
    { "2026-06-02T08:00:00Z", "2026-06-01T10:00:00Z", FRESH("\"deadline\":{\"at\":\"09:00\"}"),
      "{\"age_seconds\":79200,\"threshold_seconds\":82800,\"threshold_source\":\"deadline\","
      "\"warning_after_seconds\":null,\"error_after_seconds\":82800,"
      "\"next_expected\":\"2026-06-02T09:00:00Z\",\"last_run\":\"2026-06-01T10:00:00Z\"}" },
    { "2026-06-02T08:00:00Z", "2026-06-02T07:00:00Z", FRESH("\"deadline\":{\"at\":\"09:00\"}"),
      "{\"age_seconds\":3600,\"threshold_seconds\":93600,\"threshold_source\":\"deadline\","
      "\"warning_after_seconds\":null,\"error_after_seconds\":93600,"
      "\"next_expected\":\"2026-06-03T09:00:00Z\",\"last_run\":\"2026-06-02T07:00:00Z\"}" },
    { "2026-06-02T08:00:00Z", "2026-06-02T07:00:00Z", FRESH("\"contract\":{\"error\":\"5h\"}"),
      "{\"age_seconds\":3600,\"threshold_seconds\":18000,\"threshold_source\":\"contract\","
      "\"warning_after_seconds\":null,\"error_after_seconds\":18000,"
      "\"next_expected\":\"2026-06-02T12:00:00Z\",\"last_run\":\"2026-06-02T07:00:00Z\"}" },
    { "2026-06-02T08:00:00Z", "2026-06-02T07:00:00Z", NULL,
      "{\"age_seconds\":3600,\"threshold_seconds\":null,\"threshold_source\":\"learning\","
      "\"warning_after_seconds\":null,\"error_after_seconds\":null,"
      "\"next_expected\":null,\"last_run\":\"2026-06-02T07:00:00Z\"}" },
    { "2026-06-02T08:00:00Z", NULL, FRESH("\"warning\":\"1h\""),
      "{\"age_seconds\":null,\"threshold_seconds\":null,\"threshold_source\":\"config\","
      "\"warning_after_seconds\":3600,\"error_after_seconds\":null,"
      "\"next_expected\":null,\"last_run\":null}" },
    { "2026-06-02T08:00:00Z", "2026-06-02T08:00:30Z", NULL, /* signed: another clock */
      "{\"age_seconds\":-30,\"threshold_seconds\":null,\"threshold_source\":\"learning\","
      "\"warning_after_seconds\":null,\"error_after_seconds\":null,"
      "\"next_expected\":null,\"last_run\":\"2026-06-02T08:00:30Z\"}" },
};

Test(freshness, the_thresholds_that_are_told_are_those_that_count)
{
    static const struct { const char *monitors; int64_t warning_ms, error_ms; } k_rows[] = {
        { FRESH("\"warning\":\"2h\",\"error\":\"3h\""), 7200000, 10800000 },
        { FRESH("\"warning\":\"2h\",\"error\":\"3h\",\"severity\":\"off\""), -1, -1 },
        { FRESH("\"warning\":\"2h\",\"error\":\"3h\",\"severity\":\"info\""), -1, -1 },
        { FRESH("\"warning\":\"2h\",\"error\":\"3h\",\"severity\":\"warning\""), 7200000, -1 },
        { FRESH("\"error\":\"3h\",\"severity\":\"warning\""), 10800000, -1 },
        { FRESH("\"warning\":\"2h\",\"severity\":\"error\""), -1, 7200000 },
        { FRESH("\"error\":\"30h\",\"deadline\":{\"at\":\"09:00\"}"), -1, 93600000 }, /* 07:00 to 09:00 of the next day */
        { FRESH("\"error\":\"3h\",\"deadline\":{\"at\":\"09:00\"}"), -1, 10800000 },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct tarn_facts facts = plain_facts();
        struct tarn_settings settings;
        facts.life.last_data = at("2026-06-02T07:00:00Z");
        tarn_settings_resolve(NULL, k_rows[i].monitors, &settings);
        struct tarn_freshness f = tarn_freshness_of(&facts, &settings, at("2026-06-02T08:00:00Z"));
        cr_expect(eq(i64, f.warning_ms, k_rows[i].warning_ms), "row %zu", i);
        cr_expect(eq(i64, f.error_ms, k_rows[i].error_ms), "row %zu", i);
    }
}

Test(freshness, the_details_tell_age_threshold_and_whence)
{
    for (size_t i = 0; i < TARN_COUNT(k_told); i++) {
        struct tarn_facts facts = plain_facts();
        struct tarn_findings none = { 0 };
        struct tarn_settings settings;
        facts.life.last_data = k_told[i].last ? at(k_told[i].last) : -1;
        tarn_settings_resolve(NULL, k_told[i].monitors, &settings);
        TARN_AUTO(mem) char *text = tarn_details_text(&facts, &settings, &none, at(k_told[i].now));
        json_auto_t *details = json_loads(text, 0, NULL);
        json_auto_t *expected = json_loads(k_told[i].details, 0, NULL);
        cr_expect(json_equal(json_object_get(details, "freshness"), expected), "row %zu: %s", i, text);
    }
}
