/* Time zones against the C library's own reading of the same database, in a process of its own, and against dates that
 * can be looked up. */
#include "base/zone.h"
#include "base/own.h"
#include "base/zone_rule.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <time.h>

static const struct tarn_zone *zone(const char *name)
{
    const struct tarn_zone *out = NULL;
    TARN_ERR(err);

    cr_assert(eq(int, tarn_zone_get(name, &out, &err), TARN_OK), "%s", err.detail);
    return out;
}

static int64_t at(const char *text)
{
    int64_t ms = 0;

    cr_assert(eq(int, tarn_time_parse(text, &ms, NULL, NULL), TARN_OK), "%s", text);
    return ms;
}

static int64_t day(int year, int month, int of_month) { return tarn_days_from_date(year, month, of_month); }

/* From 1901 to 2099: changes that are listed, and those that follow from the rule. */
Test(zone, every_offset_is_the_c_librarys)
{
    static const char *const k_names[] = { "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu",
                                           "Europe/Dublin", "Africa/Casablanca", "America/Sao_Paulo", "Pacific/Apia",
                                           "Asia/Tokyo", "America/St_Johns", "Etc/GMT+5", "Africa/Monrovia", "UTC",
                                           "Antarctica/Troll", "America/Nuuk", "Asia/Gaza" };
    for (size_t i = 0; i < TARN_COUNT(k_names); i++) {
        const struct tarn_zone *z = zone(k_names[i]);
        setenv("TZ", k_names[i], 1);
        tzset();
        for (int64_t s = -2177452800; s < 4102444800; s += 4 * 3600 * 3 + 1777) {
            time_t t = (time_t)s;
            struct tm tm;
            localtime_r(&t, &tm);
            cr_assert(eq(i64, tarn_zone_offset_ms(z, s * 1000), (int64_t)tm.tm_gmtoff * 1000), "%s at %lld", k_names[i],
                      (long long)s);
        }
    }
}

Test(zone, nine_in_berlin_is_nine_on_the_day_of_23_hours)
{
    const struct tarn_zone *berlin = zone("Europe/Berlin");

    cr_expect(eq(i64, tarn_zone_instant(berlin, day(2026, 3, 28), 9 * TARN_HOUR_MS, false), at("2026-03-28T08:00:00Z")));
    cr_expect(eq(i64, tarn_zone_instant(berlin, day(2026, 3, 29), 9 * TARN_HOUR_MS, false), at("2026-03-29T07:00:00Z")));
    cr_expect(eq(i64, tarn_zone_instant(berlin, day(2026, 3, 29), 0, false), at("2026-03-28T23:00:00Z")));
    cr_expect(eq(i64, tarn_zone_instant(berlin, day(2026, 10, 25), 9 * TARN_HOUR_MS, false), at("2026-10-25T08:00:00Z")));
}

Test(zone, an_hour_that_comes_twice_has_two_instants_and_one_that_never_comes_is_moved)
{
    const struct tarn_zone *berlin = zone("Europe/Berlin");
    const int64_t half_past_two = 2 * TARN_HOUR_MS + 30 * TARN_MINUTE_MS;

    cr_expect(eq(i64, tarn_zone_instant(berlin, day(2026, 10, 25), half_past_two, false), at("2026-10-25T00:30:00Z")));
    cr_expect(eq(i64, tarn_zone_instant(berlin, day(2026, 10, 25), half_past_two, true), at("2026-10-25T01:30:00Z")));
    cr_expect(eq(i64, tarn_zone_instant(berlin, day(2026, 3, 29), half_past_two, false), at("2026-03-29T01:30:00Z")));
    cr_expect(eq(i64, tarn_zone_instant(berlin, day(2026, 3, 29), half_past_two, true), at("2026-03-29T01:30:00Z")));
}

Test(zone, the_day_of_the_week_is_the_wall_clocks)
{
    struct tarn_local local = tarn_zone_local(zone("Asia/Tokyo"), at("2026-11-29T15:00:00Z"));

    cr_expect(eq(int, local.weekday, 0)); /* Monday, 30 November 2026, 00:00 */
    cr_expect(eq(i64, local.days, day(2026, 11, 30)));
    cr_expect(eq(i64, local.of_day_ms, 0));
    local = tarn_zone_local(NULL, at("2026-11-29T15:00:00Z"));
    cr_expect(eq(int, local.weekday, 6));
    cr_expect(eq(i64, local.of_day_ms, 15 * TARN_HOUR_MS));
}

Test(zone, what_is_no_zone_is_refused)
{
    static const char *const k_none[] = { "",         "Europe/Atlantis", "../../../etc/passwd", "/usr/share/zoneinfo/UTC", "Europe",
                                          "tzdata.zi", "Europe//Berlin", "right/Europe/Berlin", "europe/berlin", "CEST;x",
                                          "zone.tab",  "Europe/Berlin/", "+1:00", "+15:00", "01:00", "+01:60", "+01:00x", "+0100" };
    for (size_t i = 0; i < TARN_COUNT(k_none); i++) {
        const struct tarn_zone *out = NULL;
        TARN_ERR(err);
        cr_expect(eq(int, tarn_zone_get(k_none[i], &out, &err), TARN_INVALID), "%s", k_none[i]);
    }
}

Test(zone, an_offset_is_a_zone)
{
    static const struct { const char *name; int minutes; } k_rows[] = { { "+00:00", 0 }, { "-08:00", -480 },
                                                                        { "+05:30", 330 }, { "-14:00", -840 } };

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++)
        cr_expect(eq(i64, tarn_zone_offset_ms(zone(k_rows[i].name), at("2026-06-01T00:00:00Z")),
                     k_rows[i].minutes * TARN_MINUTE_MS), "%s", k_rows[i].name);
}

Test(zone, rules_are_read_as_posix_writes_them)
{
    static const struct { const char *text; bool is_rule; } k_rules[] = {
        { "UTC0", true }, { "CET-1CEST,M3.5.0,M10.5.0/3", true }, { "<+0330>-3:30", true }, { "IST-1GMT0,M10.5.0,M3.5.0/1", true },
        { "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", true }, { "AAA3BBB,J60,J300/5", true }, { "AAA3BBB,59,299", true },
        { "CET", false }, { "CET-1CEST", false }, { "CET-1CEST,M13.5.0,M10.5.0", false }, { "CET-1CEST,M3.6.0,M10.5.0", false },
        { "CET-1CEST,M3.5.0", false }, { "CET-1x", false }, { "<+03-3", false }, { "C-1", false }, { "AAA3BBB,J0,J5", false },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rules); i++) {
        struct tarn_zone_rule rule;
        cr_expect(eq(int, tarn_zone_rule_parse(k_rules[i].text, &rule), k_rules[i].is_rule), "%s", k_rules[i].text);
    }
    struct tarn_zone_rule rule;
    cr_assert(tarn_zone_rule_parse("AAA3BBB,J60,J300/5", &rule)); /* 1 March, also in leap years */
    cr_expect(eq(int, tarn_zone_rule_offset(&rule, at("2028-03-01T04:59:59Z") / 1000), -3 * 3600));
    cr_expect(eq(int, tarn_zone_rule_offset(&rule, at("2028-03-01T05:00:00Z") / 1000), -2 * 3600));
}
