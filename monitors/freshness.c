/* freshness.c - is the newest data as new as it should be? What is set for the table beats what its contract promises, and
 * that beats what its own past lets expect. A table that never had data is not late: only a deadline may say so. */
#include "monitors/freshness.h"
#include <stdio.h>
#include <string.h>

enum { WEEK = 7 };

static int64_t seconds(int64_t ms) { return ms / TARN_SECOND_MS; }

/* --- deadlines --- */

struct due { int64_t at, from; }; /* data of `from` or later must be there at `at` */

static bool is_day_of(const struct tarn_deadline *deadline, int64_t days)
{
    int weekday = (int)(((days + 3) % WEEK + WEEK) % WEEK);
    return deadline->days == 0 || deadline->days & 1U << weekday;
}

static struct due due_on(const struct tarn_deadline *deadline, const struct tarn_zone *zone, int64_t days)
{
    int64_t at = tarn_zone_instant(zone, days, deadline->at_ms, true);
    int64_t from = deadline->window_ms >= 0 ? at - deadline->window_ms : tarn_zone_instant(zone, days, 0, false);

    return (struct due){ at, from };
}

/* The newest deadline that is over, and the next one that the last run does not meet yet. A table that never had data
 * misses, and awaits, only what it lived to see. */
struct dues { struct due missed, next; bool has_missed, has_next; };

static struct dues dues_of(const struct tarn_deadline *deadline, const struct tarn_zone *zone, int64_t met, int64_t now_ms)
{
    int64_t today = tarn_zone_local(zone, now_ms).days;
    struct dues out = { .has_missed = false };

    for (int64_t days = today - WEEK; days <= today + WEEK; days++) {
        if (!is_day_of(deadline, days))
            continue;
        struct due due = due_on(deadline, zone, days);
        if (due.at < now_ms) {
            out.missed = due;
            out.has_missed = true;
        } else if (!out.has_next && met < due.from) {
            out.next = due;
            out.has_next = true;
        }
    }
    out.has_missed = out.has_missed && met < out.missed.from;
    return out;
}

/* --- promises: what is set, or what a contract says --- */

struct ask {
    const struct tarn_facts *facts;
    const struct tarn_settings *settings;
    int64_t now_ms, grace_ms;
};

static void nearest(int64_t *limit_ms, int64_t other_ms)
{
    if (*limit_ms < 0 || other_ms < *limit_ms)
        *limit_ms = other_ms;
}

static void judge_limit(const struct ask *ask, const struct tarn_limit *limit, enum tarn_severity severity, const char *by,
                        struct tarn_freshness *f)
{
    if (limit->is_set)
        nearest(severity == TARN_SEV_ERROR ? &f->error_ms : &f->warning_ms, limit->value);
    if (!limit->is_set || f->last_run < 0)
        return;
    int64_t due_at = f->last_run + limit->value;
    if (f->due_at < 0 || (due_at < f->due_at && f->late == TARN_SEV_OK))
        f->due_at = due_at;
    if (f->late != TARN_SEV_OK || f->age_ms <= limit->value + ask->grace_ms)
        return;
    f->late = severity;
    f->allowed_ms = limit->value;
    f->due_at = due_at;
    snprintf(f->message, sizeof f->message, "freshness > %s%s", limit->text, by);
}

/* What must be there from this instant on is met. */
static int64_t met_until(const struct tarn_facts *facts, const struct tarn_freshness *f)
{
    if (f->last_run >= 0)
        return f->last_run;
    return facts->born_at >= 0 ? facts->born_at - 1 : INT64_MAX;
}

static void judge_deadline(const struct ask *ask, const struct tarn_deadline *deadline, const char *source, const char *by,
                           struct tarn_freshness *f)
{
    bool has_own = deadline->zone_name[0] != '\0';
    const struct tarn_zone *zone = has_own ? deadline->zone : ask->settings->zone;
    const char *zone_name = has_own ? deadline->zone_name : ask->settings->zone_name;

    if (!deadline->is_set)
        return;
    struct dues dues = dues_of(deadline, zone, met_until(ask->facts, f), ask->now_ms - ask->grace_ms);
    bool is_late = dues.has_missed && f->late < TARN_SEV_ERROR;
    if (f->last_run >= 0 && (dues.has_missed || dues.has_next))
        nearest(&f->error_ms, (dues.has_missed ? dues.missed.at : dues.next.at) - f->last_run);
    bool is_next = !is_late && f->late == TARN_SEV_OK && dues.has_next && (f->due_at < 0 || dues.next.at < f->due_at);

    if (is_late || is_next) {
        f->due_at = is_late ? dues.missed.at : dues.next.at;
        f->source = source;
    }
    if (!is_late)
        return;
    f->late = TARN_SEV_ERROR;
    f->allowed_ms = f->last_run >= 0 ? dues.missed.at - f->last_run : -1;
    snprintf(f->message, sizeof f->message, "freshness: no data for the deadline %s %s%s", deadline->text,
             zone_name[0] ? zone_name : "UTC", by);
}

static bool has_promise(const struct tarn_limit *warning, const struct tarn_limit *error, const struct tarn_deadline *deadline)
{
    return warning->is_set || error->is_set || deadline->is_set;
}

/* --- the past --- */

struct tarn_rhythm tarn_freshness_rhythm(const struct tarn_facts *facts, const struct tarn_settings *settings)
{
    const struct tarn_rhythm_ask ask = { .life = &facts->life,
                                         .zone = settings->zone,
                                         .maintenance = &settings->maintenance,
                                         .interval_ms = settings->interval_ms };
    bool was_alive = facts->born_at >= 0 && tarn_life_last(&facts->life) >= facts->born_at - TARN_LIFE_MS;

    return was_alive ? tarn_rhythm_of(&ask) : (struct tarn_rhythm){ .is_learning = true, .late_at = -1 };
}

static void judge_rhythm(const struct ask *ask, struct tarn_freshness *f)
{
    struct tarn_rhythm rhythm = tarn_freshness_rhythm(ask->facts, ask->settings);
    char text[TARN_TIME_TEXT];

    f->source = "learning";
    if (rhythm.is_learning)
        return;
    f->source = "learned";
    f->due_at = rhythm.late_at;
    f->allowed_ms = f->warning_ms = rhythm.late_at - f->last_run;
    if (ask->now_ms <= rhythm.late_at + ask->grace_ms)
        return;
    f->late = TARN_SEV_WARNING;
    snprintf(f->message, sizeof f->message, "freshness > %s (learned)", tarn_duration_format(f->allowed_ms, text));
}

/* A severity that is set stands for both thresholds, and `off` for none. */
static void apply_severity(const struct tarn_kind_settings *kind, struct tarn_freshness *f)
{
    int64_t first_ms = f->error_ms;

    if (!kind->is_off && !kind->has_severity)
        return;
    if (f->warning_ms >= 0)
        nearest(&first_ms, f->warning_ms);
    f->warning_ms = !kind->is_off && kind->severity == TARN_SEV_WARNING ? first_ms : -1;
    f->error_ms = !kind->is_off && kind->severity == TARN_SEV_ERROR ? first_ms : -1;
}

struct tarn_freshness tarn_freshness_of(const struct tarn_facts *facts, const struct tarn_settings *settings, int64_t now_ms)
{
    const struct tarn_kind_settings *kind = tarn_settings_of(settings, "freshness");
    const struct tarn_promise *contract = &settings->freshness.contract;
    const struct ask ask = { facts, settings, now_ms, kind->grace_ms };
    struct tarn_freshness f = { .last_run = tarn_life_last(&facts->life), .due_at = -1, .allowed_ms = -1,
                                .warning_ms = -1, .error_ms = -1 };

    f.age_ms = f.last_run >= 0 ? now_ms - f.last_run : -1;
    if (has_promise(&kind->warning, &kind->error, &settings->freshness.deadline)) {
        f.source = kind->warning.is_set || kind->error.is_set ? "config" : "deadline";
        judge_limit(&ask, &kind->error, TARN_SEV_ERROR, "", &f);
        judge_limit(&ask, &kind->warning, TARN_SEV_WARNING, "", &f);
        judge_deadline(&ask, &settings->freshness.deadline, "deadline", "", &f);
    } else if (has_promise(&contract->warning, &contract->error, &contract->deadline)) {
        f.source = "contract";
        judge_limit(&ask, &contract->error, TARN_SEV_ERROR, " (contract)", &f);
        judge_limit(&ask, &contract->warning, TARN_SEV_WARNING, " (contract)", &f);
        judge_deadline(&ask, &contract->deadline, "contract", " (contract)", &f);
    } else {
        judge_rhythm(&ask, &f);
    }
    apply_severity(kind, &f);
    return f;
}

/* The newest commits cannot be read, and would be in time. */
static bool is_maybe_fresh(const struct tarn_judging *j, const struct tarn_freshness *f)
{
    int64_t maybe = j->facts->life_maybe;

    return maybe >= 0 && (f->allowed_ms < 0 || j->now_ms - maybe <= f->allowed_ms);
}

void tarn_judge_freshness(struct tarn_judging *j)
{
    if (j->facts->state != TARN_FACTS_READ)
        return;
    struct tarn_freshness f = tarn_freshness_of(j->facts, j->settings, j->now_ms);
    if (f.late == TARN_SEV_OK || is_maybe_fresh(j, &f))
        return;
    bool is_known = f.last_run >= 0;
    tarn_judge_report(j, "freshness",
                      &(struct tarn_report){ .severity = f.late,
                                             .ceiling = strcmp(f.source, "learned") == 0 ? TARN_SEV_WARNING : TARN_SEV_OK,
                                             .subject = "table",
                                             .message = f.message,
                                             .observed = is_known ? tarn_judge_number(seconds(f.age_ms)) : NULL,
                                             .expected = is_known ? tarn_judge_number(seconds(f.allowed_ms)) : NULL });
}
