/* rhythm.c - the learned interval. Of the gaps between the runs of four weeks, those that began at the same hour of the week
 * tell how long the next one may be. Three things keep silence from being taken for a fault while little is known: the
 * longest gap counts as long as there is less than a week, hours of a kind that was never seen (the first
 * night, the first weekend) do not count as silence, and what was silent at the same time before may be silent again. */
#include "monitors/rhythm.h"
#include "base/own.h"
#include "monitors/judge.h"
#include <stdlib.h>
#include <string.h>

enum {
    GAPS = TARN_LIFE_MAX - 1,
    RECENT = 5,       /* gaps that make a new regime */
    SAME_HOUR = 4,    /* gaps that make an hour of the week known */
    SPANS = 3,        /* the history must be so many predicted gaps long */
    WEEK_HOURS = 168,
    SLOTS = 48,       /* halves of an hour in a day */
    HORIZON_DAYS = 60
};
#define WEEK_MS (7 * TARN_DAY_MS)
#define SLOT_MS (30 * TARN_MINUTE_MS)

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Nearest rank, of sorted values. */
static int64_t quantile(const int64_t *sorted, size_t count, size_t percent)
{
    size_t rank = (count * percent + 99) / 100;
    return sorted[rank > 0 ? rank - 1 : 0];
}

static void insert(int64_t *sorted, size_t count, int64_t value)
{
    size_t at = count;

    while (at > 0 && sorted[at - 1] > value)
        at--;
    memmove(sorted + at + 1, sorted + at, (count - at) * sizeof *sorted);
    sorted[at] = value;
}

/* Where the last gaps, five at least, are all longer than nearly all before them, or all shorter; 0: nowhere. */
static size_t regime_start(const int64_t *gaps, size_t count)
{
    int64_t least[GAPS] = { 0 }, most[GAPS] = { 0 }, older[GAPS] = { 0 };

    if (count < TARN_RHYTHM_SAMPLES + RECENT)
        return 0;
    for (size_t i = count; i-- > 0;) {
        least[i] = i + 1 < count && least[i + 1] < gaps[i] ? least[i + 1] : gaps[i];
        most[i] = i + 1 < count && most[i + 1] > gaps[i] ? most[i + 1] : gaps[i];
    }
    for (size_t i = 0; i + RECENT <= count; i++) {
        if (i >= TARN_RHYTHM_SAMPLES && (least[i] > quantile(older, i, 99) || most[i] < quantile(older, i, 5)))
            return i;
        insert(older, i, gaps[i]);
    }
    return 0;
}

/* An incident, or for the larger part a maintenance window. */
static bool is_untaught(const struct tarn_rhythm_ask *ask, int64_t from, int64_t to)
{
    const struct tarn_life *life = ask->life;

    if (ask->maintenance && 2 * tarn_maintenance_overlap(ask->maintenance, ask->zone, from, to) > to - from)
        return true;
    for (size_t i = 0; i < life->untaught_count; i++)
        if (life->untaught[i].from < to && life->untaught[i].to > from)
            return true;
    return false;
}

static int hour_of_week(const struct tarn_zone *zone, int64_t at)
{
    struct tarn_local local = tarn_zone_local(zone, at);
    return local.weekday * 24 + (int)(local.of_day_ms / TARN_HOUR_MS);
}

static bool is_near(int hour, int other)
{
    int distance = (hour - other + WEEK_HOURS) % WEEK_HOURS;
    return distance <= 1 || distance == WEEK_HOURS - 1;
}

struct lesson {
    int64_t gaps[GAPS], same[GAPS]; /* all that teach; those that began at this hour of the week */
    size_t count, same_count;
    int64_t from, last;             /* of the history that teaches */
};

static void take_lesson(const struct tarn_rhythm_ask *ask, struct lesson *out)
{
    const struct tarn_life *life = ask->life;
    size_t count = life->count > 0 ? life->count - 1 : 0;
    int64_t raw[GAPS];

    for (size_t i = 0; i < count; i++)
        raw[i] = life->at[i + 1] - life->at[i];
    size_t start = regime_start(raw, count);
    out->count = out->same_count = 0;
    out->from = count > 0 ? life->at[start] : 0;
    out->last = count > 0 ? life->at[count] : 0;
    int hour = hour_of_week(ask->zone, out->last);
    for (size_t i = start; i < count; i++) {
        /* In a new regime the gaps that began as an incident are what is usual now. */
        if (start == 0 && is_untaught(ask, life->at[i], life->at[i + 1]))
            continue;
        out->gaps[out->count++] = raw[i];
        if (is_near(hour, hour_of_week(ask->zone, life->at[i])))
            out->same[out->same_count++] = raw[i];
    }
    qsort(out->gaps, out->count, sizeof *out->gaps, by_size);
    qsort(out->same, out->same_count, sizeof *out->same, by_size);
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* How long the gap that is running may be. */
static int64_t predict(const struct tarn_life *life, const struct lesson *lesson, int64_t interval_ms)
{
    bool is_mature = lesson->last - lesson->from >= WEEK_MS || life->glimpse_count > 0;
    int64_t usual = quantile(lesson->gaps, lesson->count, 95);

    if (!is_mature)
        usual = lesson->gaps[lesson->count - 1];
    else if (lesson->same_count >= SAME_HOUR)
        usual = quantile(lesson->same, lesson->same_count, 95);
    return larger(larger(usual + usual / 2, 2 * quantile(lesson->gaps, lesson->count, 50)), 2 * interval_ms);
}

/* --- what was silent at the same time before --- */

/* Weekdays, Saturdays, Sundays. */
static int kind_of_day(int weekday) { return weekday < 5 ? 0 : weekday - 4; }

static int64_t moved(const struct tarn_zone *zone, int64_t at, int64_t days)
{
    struct tarn_local local = tarn_zone_local(zone, at);
    return tarn_zone_instant(zone, local.days + days, local.of_day_ms, false);
}

/* The first run after `from`, -1: none, or the history begins later. */
static int64_t first_after(const struct tarn_life *life, int64_t from)
{
    for (size_t i = 0; i < life->glimpse_count; i++)
        if (life->glimpses[i].from == from)
            return life->glimpses[i].next;
    if (life->count == 0 || life->at[0] > from)
        return -1;
    for (size_t i = 0; i < life->count; i++)
        if (life->at[i] > from)
            return life->at[i];
    return -1;
}

/* When the next run would come if these days went like those `days` before; -1: not known. */
static int64_t as_before(const struct tarn_rhythm_ask *ask, int64_t from, int64_t days)
{
    int64_t past = moved(ask->zone, from, -days), next = first_after(ask->life, past);

    if (next < 0 || is_untaught(ask, past, next))
        return -1;
    return moved(ask->zone, next, days);
}

static const int64_t k_weeks[] = { 7, 14, 21 }, k_days[] = { 1, 2, 3, 4, 5, 6 };

/* Where a pause would have begun that is like this one. */
static int64_t pause_from(const struct lesson *lesson, int64_t predicted_ms) { return lesson->last + predicted_ms / 2; }

/* The latest of the weeks before, or the latest but one of the days before that were of the same kind. */
static int64_t habit(const struct tarn_rhythm_ask *ask, const struct lesson *lesson, int64_t predicted_ms)
{
    int64_t from = pause_from(lesson, predicted_ms), latest = -1, second = -1, weeks = -1;
    int kind = kind_of_day(tarn_zone_local(ask->zone, lesson->last).weekday);
    size_t votes = 0;

    for (size_t i = 0; i < TARN_COUNT(k_weeks); i++)
        weeks = larger(weeks, as_before(ask, from, k_weeks[i]));
    for (size_t i = 0; i < TARN_COUNT(k_days); i++) {
        int64_t vote = as_before(ask, from, k_days[i]);
        int weekday = tarn_zone_local(ask->zone, moved(ask->zone, lesson->last, -k_days[i])).weekday;
        if (vote < 0 || kind_of_day(weekday) != kind)
            continue;
        votes++;
        second = vote > latest ? latest : larger(second, vote);
        latest = larger(latest, vote);
    }
    return larger(weeks, votes > 1 ? second : latest);
}

/* --- hours of a kind that was never seen --- */

struct seen { bool slots[3][SLOTS]; bool all; };

static void see(const struct tarn_zone *zone, int64_t at, struct seen *seen)
{
    struct tarn_local local = tarn_zone_local(zone, at);
    int slot = (int)(local.of_day_ms / SLOT_MS);

    for (int i = slot > 0 ? slot - 1 : 0; i <= slot + 1 && i < SLOTS; i++)
        seen->slots[kind_of_day(local.weekday)][i] = true;
}

static void see_all(const struct tarn_rhythm_ask *ask, struct seen *seen)
{
    int64_t first = ask->life->at[0], last = ask->life->at[ask->life->count - 1];

    for (size_t i = 0; i < ask->life->glimpse_count; i++)
        first = ask->life->glimpses[i].next < first ? ask->life->glimpses[i].next : first;
    *seen = (struct seen){ .all = last - first >= WEEK_MS - TARN_DAY_MS };
    for (int64_t at = first; at < last && !seen->all; at += SLOT_MS)
        see(ask->zone, at, seen);
    see(ask->zone, last, seen);
}

/* When so much of the time since the last run lay in hours of a known kind. */
static int64_t elapsed_at(const struct tarn_rhythm_ask *ask, int64_t last, int64_t allowed_ms)
{
    int64_t at = last, end = last + HORIZON_DAYS * TARN_DAY_MS;
    struct seen seen;

    see_all(ask, &seen);
    if (seen.all)
        return last + allowed_ms;
    while (allowed_ms > 0 && at < end) {
        struct tarn_local local = tarn_zone_local(ask->zone, at);
        int64_t step = SLOT_MS - local.of_day_ms % SLOT_MS;
        bool counts = seen.slots[kind_of_day(local.weekday)][local.of_day_ms / SLOT_MS];
        if (counts && step > allowed_ms)
            step = allowed_ms;
        allowed_ms -= counts ? step : 0;
        at += step;
    }
    return at;
}

size_t tarn_rhythm_asks(const struct tarn_rhythm_ask *ask, int64_t from[TARN_GLIMPSES_MAX])
{
    struct lesson lesson;
    size_t count = 0;

    take_lesson(ask, &lesson);
    if (lesson.count < TARN_RHYTHM_SAMPLES || !ask->life->was_cut)
        return 0;
    /* A table that is looked back at counts as known, so that the usual gap is predicted and not the longest. */
    const struct tarn_life known = { .glimpse_count = 1 };
    int64_t pause = pause_from(&lesson, predict(&known, &lesson, ask->interval_ms));
    for (size_t i = 0; i < TARN_COUNT(k_weeks); i++)
        from[count++] = moved(ask->zone, pause, -k_weeks[i]);
    for (size_t i = 0; i < TARN_COUNT(k_days); i++)
        from[count++] = moved(ask->zone, pause, -k_days[i]);
    return count;
}

struct tarn_rhythm tarn_rhythm_of(const struct tarn_rhythm_ask *ask)
{
    const struct tarn_rhythm learning = { .is_learning = true, .late_at = -1 };
    struct lesson lesson;

    take_lesson(ask, &lesson);
    if (lesson.count < TARN_RHYTHM_SAMPLES)
        return learning;
    struct tarn_rhythm out = { .typical_ms = quantile(lesson.gaps, lesson.count, 50),
                               .predicted_ms = predict(ask->life, &lesson, ask->interval_ms) };
    if (lesson.last - lesson.from < SPANS * out.predicted_ms)
        return learning;
    int64_t allowed_ms = out.predicted_ms, next = habit(ask, &lesson, out.predicted_ms);
    int64_t pause_ms = next - lesson.last;
    /* A usual pause; the longer, the less exact its end. What is hardly longer than predicted is a run that came a little
     * before where the pause would have begun, and the next one after it. */
    if (next >= 0 && 2 * pause_ms > 3 * out.predicted_ms)
        allowed_ms = pause_ms + larger(out.typical_ms, pause_ms / 8);
    out.late_at = elapsed_at(ask, lesson.last, allowed_ms);
    return out;
}
