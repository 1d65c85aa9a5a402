/* stalls.c - a table that is fed and does not move: batches wait and nothing is committed, or commits come and bring no
 * data. An idle table whose staging is empty is fine. */
#include "monitors/freshness.h"
#include <inttypes.h>
#include <stdio.h>

enum {
    WINDOW = 15, /* newest runs whose span is the window */
    IDLE = 5     /* commits without data that are no accident */
};

/* How long the newest runs took: a pause that is longer than all of them together is a stop. */
static int64_t window_of(const struct tarn_life *life)
{
    size_t from = life->count > WINDOW ? life->count - WINDOW : 0;
    return life->at[life->count - 1] - life->at[from];
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static void judge_stop(struct tarn_judging *j, const struct tarn_rhythm *rhythm)
{
    const struct tarn_facts *f = j->facts;
    int64_t newest = larger(larger(f->life.last_commit, tarn_life_last(&f->life)), f->life_maybe);
    const struct tarn_limit *backlog = &tarn_settings_of(j->settings, "staging_backlog")->warning;
    char message[160], text[TARN_TIME_TEXT];

    if (f->staging_files <= 0 || f->staging_oldest_ms < 0 || j->now_ms <= rhythm->late_at)
        return;
    int64_t window_ms = larger(window_of(&f->life), backlog->is_set ? backlog->value : 0);
    int64_t silent_ms = j->now_ms - newest, waits_ms = j->now_ms - f->staging_oldest_ms;
    if (silent_ms <= window_ms || waits_ms <= window_ms)
        return;
    snprintf(message, sizeof message, "commits_stopped: %" PRId64 " batches wait, no commit for %s", f->staging_files,
             tarn_duration_format(silent_ms, text));
    tarn_judge_report(j, "commits_stopped",
                      &(struct tarn_report){ .subject = "table",
                                             .message = message,
                                             .observed = tarn_judge_number(silent_ms / TARN_SECOND_MS),
                                             .expected = tarn_judge_number(window_ms / TARN_SECOND_MS) });
}

static void judge_idle(struct tarn_judging *j, const struct tarn_rhythm *rhythm)
{
    const struct tarn_life *life = &j->facts->life;
    int64_t last = tarn_life_last(life), idle_ms = life->last_commit - last;
    const struct tarn_limit *limit = NULL;
    char message[160], text[TARN_TIME_TEXT];

    enum tarn_severity severity = tarn_judge_over(tarn_settings_of(j->settings, "commits_without_data"), idle_ms, &limit);
    if (life->idle_commits < IDLE || life->last_commit <= rhythm->late_at || severity == TARN_SEV_OK)
        return;
    snprintf(message, sizeof message, "commits_without_data > %s: %" PRId64 " commits in %s brought no data", limit->text,
             life->idle_commits, tarn_duration_format(idle_ms, text));
    tarn_judge_report(j, "commits_without_data",
                      &(struct tarn_report){ .severity = severity,
                                             .subject = "table",
                                             .message = message,
                                             .observed = tarn_judge_number(idle_ms / TARN_SECOND_MS),
                                             .expected = tarn_judge_number(limit->value / TARN_SECOND_MS) });
}

void tarn_judge_stalls(struct tarn_judging *j)
{
    if (j->facts->state != TARN_FACTS_READ || j->facts->life.count <= TARN_RHYTHM_SAMPLES)
        return;
    struct tarn_rhythm rhythm = tarn_freshness_rhythm(j->facts, j->settings);
    if (rhythm.is_learning)
        return; /* what it used to do is not known */
    judge_stop(j, &rhythm);
    if (j->facts->life_maybe < 0) /* else one that cannot be read may have brought some */
        judge_idle(j, &rhythm);
}
