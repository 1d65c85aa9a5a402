/* The learned interval, over histories written down by hand. Expected instants are arithmetic on them. */
#include "monitors/rhythm.h"
#include "base/own.h"
#include "monitors/judge.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

static struct tarn_life life;

static int64_t at(const char *text)
{
    int64_t ms = 0;

    cr_assert(eq(int, tarn_time_parse(text, &ms, NULL, NULL), TARN_OK), "%s", text);
    return ms;
}

static struct tarn_rhythm learned(const char *zone_name)
{
    const struct tarn_zone *zone = NULL;
    int64_t last = life.count > 0 ? life.at[life.count - 1] : 0;

    for (size_t i = 0; i < life.count; i++)
        last = life.at[i] > last ? life.at[i] : last;
    tarn_life_end(&life, last);
    cr_assert(eq(int, tarn_zone_get(zone_name, &zone, NULL), TARN_OK));
    return tarn_rhythm_of(&(struct tarn_rhythm_ask){ .life = &life, .zone = zone, .interval_ms = TARN_MINUTE_MS });
}

static void start(void) { tarn_life_init(&life); }

static void every(int64_t step_ms, int64_t from, int64_t to)
{
    for (int64_t t = from; t < to; t += step_ms)
        tarn_life_add(&life, t);
}

/* Monday to Friday, on the hour, from one hour up to another. */
static void working_days(const char *first_monday, int weeks, int from_hour, int to_hour, int64_t step_ms)
{
    for (int day = 0; day < 7 * weeks; day++)
        if (day % 7 < 5)
            every(step_ms, at(first_monday) + day * TARN_DAY_MS + from_hour * TARN_HOUR_MS,
                  at(first_monday) + day * TARN_DAY_MS + to_hour * TARN_HOUR_MS);
}

#define expect_late(rhythm, text)                                                                            \
    do {                                                                                                     \
        char got_[TARN_TIME_TEXT];                                                                           \
        struct tarn_rhythm r_ = (rhythm);                                                                    \
        cr_assert(not(r_.is_learning));                                                                      \
        cr_expect(eq(str, (char *)(uintptr_t)tarn_time_format(r_.late_at, got_), (char *)(uintptr_t)(text)));  \
    } while (0)

Test(rhythm, twenty_commits_a_minute_apart_make_two_minutes_late)
{
    start();
    every(TARN_MINUTE_MS, at("2026-06-02T10:00:00Z"), at("2026-06-02T10:20:00Z"));
    expect_late(learned("UTC"), "2026-06-02T10:21:00Z"); /* 10:19 and 120 s */
}

Test(rhythm, also_when_the_silence_falls_into_the_next_hour)
{
    start();
    every(TARN_MINUTE_MS, at("2026-06-02T10:40:30Z"), at("2026-06-02T11:00:00Z"));
    expect_late(learned("UTC"), "2026-06-02T11:01:30Z");
}

Test(rhythm, fewer_than_eight_gaps_teach_nothing)
{
    start();
    every(TARN_MINUTE_MS, at("2026-06-02T10:00:00Z"), at("2026-06-02T10:08:00Z"));
    cr_expect(eq(sz, life.count, 8));
    cr_expect(learned("UTC").is_learning);
    start();
    every(TARN_MINUTE_MS, at("2026-06-02T10:00:00Z"), at("2026-06-02T10:09:00Z"));
    cr_expect(not(learned("UTC").is_learning));
    start();
    cr_expect(learned("UTC").is_learning);
}

/* A backfill is no rhythm. */
Test(rhythm, a_burst_teaches_nothing)
{
    start();
    every(100, at("2026-06-02T10:00:00Z"), at("2026-06-02T10:00:05Z"));
    cr_expect(learned("UTC").is_learning);
}

Test(rhythm, an_hourly_table_is_late_after_two_hours)
{
    start();
    every(TARN_HOUR_MS, at("2026-06-01T00:00:00Z"), at("2026-06-16T10:30:00Z"));
    expect_late(learned("UTC"), "2026-06-16T12:00:00Z");
}

/* Monday 1 June 2026. The last load of a Friday is the one at 23:00. */
Test(rhythm, the_saturday_of_a_table_that_is_loaded_on_weekdays_is_silent)
{
    for (int weeks = 1; weeks <= 4; weeks++) {
        start();
        working_days("2026-06-01T00:00:00Z", weeks, 0, 24, TARN_HOUR_MS);
        struct tarn_rhythm r = learned("UTC");
        cr_assert(not(r.is_learning));
        int64_t monday = at("2026-06-01T00:00:00Z") + 7 * weeks * TARN_DAY_MS;
        cr_expect(ge(i64, r.late_at, monday), "after %d weeks", weeks);
        cr_expect(le(i64, r.late_at, monday + 26 * TARN_HOUR_MS), "after %d weeks", weeks);
    }
}

Test(rhythm, the_evening_of_a_table_that_is_loaded_in_working_hours_is_silent)
{
    static const int64_t k_steps[] = { TARN_MINUTE_MS, 5 * TARN_MINUTE_MS, 10 * TARN_MINUTE_MS, 30 * TARN_MINUTE_MS, TARN_HOUR_MS };

    for (size_t i = 0; i < TARN_COUNT(k_steps); i++) {
        for (int day = 1; day <= 21; day++) { /* on each day of three weeks after its last load, but the very first */
            if (day % 7 >= 5)
                continue;
            start();
            for (int d = 0; d <= day; d++)
                if (d % 7 < 5)
                    every(k_steps[i], at("2026-06-01T09:00:00Z") + d * TARN_DAY_MS, at("2026-06-01T17:00:00Z") + d * TARN_DAY_MS);
            int64_t evening = at("2026-06-01T18:00:00Z") + day * TARN_DAY_MS;
            struct tarn_rhythm r = learned("UTC");
            bool is_friday = day % 7 == 4;
            int64_t next = evening + (is_friday ? 3 : 1) * TARN_DAY_MS - 9 * TARN_HOUR_MS;
            cr_expect(r.is_learning || r.late_at >= next, "step %lld, day %d", (long long)k_steps[i], day);
        }
    }
}

Test(rhythm, a_table_that_stops_in_its_working_hours_is_late_soon_once_its_week_is_known)
{
    start();
    working_days("2026-06-01T00:00:00Z", 3, 9, 17, 10 * TARN_MINUTE_MS);
    every(10 * TARN_MINUTE_MS, at("2026-06-22T09:00:00Z"), at("2026-06-22T12:00:00Z"));
    expect_late(learned("UTC"), "2026-06-22T12:10:00Z"); /* 11:50 and 20 minutes */
}

Test(rhythm, the_night_is_the_one_of_the_tables_zone)
{
    /* 09:00 to 17:00 in Berlin; between the weeks the clocks go forward (29 March 2026). */
    start();
    for (int day = 0; day < 7; day++)
        if (day % 7 < 5)
            every(10 * TARN_MINUTE_MS, at("2026-03-23T08:00:00Z") + day * TARN_DAY_MS, at("2026-03-23T16:00:00Z") + day * TARN_DAY_MS);
    for (int day = 7; day < 9; day++)
        every(10 * TARN_MINUTE_MS, at("2026-03-23T07:00:00Z") + day * TARN_DAY_MS, at("2026-03-23T15:00:00Z") + day * TARN_DAY_MS);
    struct tarn_rhythm r = learned("Europe/Berlin"); /* Tuesday, 31 March, after work */
    cr_expect(not(r.is_learning));
    cr_expect(ge(i64, r.late_at, at("2026-04-01T07:00:00Z")));
    cr_expect(le(i64, r.late_at, at("2026-04-01T09:30:00Z")));
}

Test(rhythm, a_daily_load_of_fifty_commits_is_one_run)
{
    start();
    for (int day = 0; day < 9; day++)
        every(TARN_SECOND_MS, at("2026-06-01T02:10:00Z") + day * TARN_DAY_MS + day % 3 * 5 * TARN_MINUTE_MS,
              at("2026-06-01T02:10:50Z") + day * TARN_DAY_MS + day % 3 * 5 * TARN_MINUTE_MS);
    struct tarn_rhythm r = learned("UTC");
    cr_expect(r.is_learning || r.late_at >= at("2026-06-10T02:20:50Z"));
}

Test(rhythm, an_incident_does_not_become_usual)
{
    start();
    every(TARN_HOUR_MS, at("2026-06-01T00:00:00Z"), at("2026-06-16T10:30:00Z"));
    for (size_t i = 0; i < life.count; i++) /* each Tuesday and Monday from 8 to 20 o'clock nothing came */
        if (life.at[i] > at("2026-06-08T07:00:00Z") && life.at[i] < at("2026-06-08T20:00:00Z"))
            life.at[i] = at("2026-06-08T07:00:00Z") + 1;
    struct tarn_rhythm taught = learned("UTC");
    life.untaught[0] = (struct tarn_span){ at("2026-06-08T09:00:00Z"), at("2026-06-08T20:00:00Z") };
    life.untaught_count = 1;
    struct tarn_rhythm untaught = learned("UTC");
    cr_expect(eq(i64, untaught.late_at, at("2026-06-16T12:00:00Z")));
    cr_expect(ge(i64, taught.late_at, untaught.late_at));

    /* The same as a maintenance window of Mondays: for the larger part the gap lies in it. */
    struct tarn_maintenance window = { .windows = { { .days = 1, .from_ms = 8 * TARN_HOUR_MS, .to_ms = 20 * TARN_HOUR_MS } }, .count = 1 };
    life.untaught_count = 0;
    struct tarn_rhythm in_window = tarn_rhythm_of(
        &(struct tarn_rhythm_ask){ .life = &life, .maintenance = &window, .interval_ms = TARN_MINUTE_MS });
    cr_expect(eq(i64, in_window.late_at, untaught.late_at));
}

Test(rhythm, a_table_that_goes_from_hours_to_days_is_learned_anew)
{
    start();
    every(TARN_HOUR_MS, at("2026-06-01T00:00:00Z"), at("2026-06-08T00:30:00Z"));
    every(TARN_DAY_MS, at("2026-06-09T00:00:00Z"), at("2026-06-14T00:30:00Z"));
    cr_expect(learned("UTC").is_learning); /* six gaps of a day */
    every(TARN_DAY_MS, at("2026-06-15T00:00:00Z"), at("2026-06-20T00:30:00Z"));
    expect_late(learned("UTC"), "2026-06-22T00:00:00Z");
}

Test(rhythm, a_table_of_many_commits_is_known_by_what_was_looked_up)
{
    start();
    every(10 * TARN_SECOND_MS, at("2026-06-16T15:37:00Z"), at("2026-06-16T17:00:00Z"));
    struct tarn_rhythm unknown = learned("UTC");
    cr_expect(unknown.is_learning || unknown.late_at < at("2026-06-16T18:00:00Z")); /* nobody knows of its evenings */
    life.was_cut = true;
    int64_t from[TARN_GLIMPSES_MAX];
    size_t wanted = tarn_rhythm_asks(&(struct tarn_rhythm_ask){ .life = &life, .interval_ms = TARN_MINUTE_MS }, from);
    cr_assert(eq(sz, wanted, TARN_GLIMPSES_MAX));
    for (size_t i = 0; i < wanted; i++) { /* each day from 9 to 17 o'clock */
        int64_t day = from[i] / TARN_DAY_MS;
        cr_expect(eq(i64, from[i] % TARN_DAY_MS, 17 * TARN_HOUR_MS + 50 * TARN_SECOND_MS));
        life.glimpses[life.glimpse_count++] = (struct tarn_glimpse){ from[i], (day + 1) * TARN_DAY_MS + 9 * TARN_HOUR_MS };
    }
    expect_late(learned("UTC"), "2026-06-17T11:00:01.250Z"); /* 9:00 and an eighth of the pause since 16:59:50 */
}
