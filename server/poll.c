/* poll.c - one thread wakes all who wait. The writer only raises a flag, and not even
 * that while nobody waits. Rounds keep a distance, so that a thousand clients and ten
 * thousand commits a second do not make a look of each client for each commit. */
#include "server/poll.h"
#include "base/time.h"
#include "server/flow.h"
#include <stdlib.h>
#include <time.h>

#define ROUND_PAUSE_MS 20 /* between two rounds, and a millisecond more for every */
#define WOKEN_A_MS     4  /* tasks that the last one woke */

struct tarn_polls {
    struct tarn_store *store;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    size_t max;
    struct tarn_task **waiting; /* owned array of `max`; guarded by lock */
    atomic_size_t count;        /* of it; written under lock */
    bool has_news, ended;       /* guarded by lock */
    int64_t not_before_ms;      /* monotonic: the next round for news; the thread's */
};

/* The writer's thread, after the clock of events rose: whoever parks later sees that clock himself. */
static void note_news(void *ctx)
{
    struct tarn_polls *polls = ctx;
    if (atomic_load(&polls->count) == 0)
        return;
    pthread_mutex_lock(&polls->lock);
    polls->has_news = true;
    pthread_cond_signal(&polls->wake);
    pthread_mutex_unlock(&polls->lock);
}

static void go_on(struct tarn_task *task, enum tarn_step step)
{
    task->step = step;
    tarn_flow_launch(task);
}

static bool has_news_for(const struct tarn_polls *polls, const struct tarn_task *task)
{
    return tarn_store_events_clock(polls->store) != task->events_seen;
}

/* --- coming --- */

enum outcome { PARKED, LOOKS_AGAIN, IS_ANSWERED, IS_REFUSED };

static enum outcome try_park(struct tarn_polls *polls, struct tarn_task *task)
{
    size_t count = atomic_load(&polls->count);
    if (polls->ended || tarn_monotonic_ms() >= task->waits_until_ms)
        return IS_ANSWERED;
    if (count == polls->max)
        return IS_REFUSED;
    polls->waiting[count] = task;
    atomic_store(&polls->count, count + 1);
    if (has_news_for(polls, task)) { /* asked after the count rose: else note_news would have to have seen it */
        atomic_store(&polls->count, count);
        return LOOKS_AGAIN;
    }
    pthread_cond_signal(&polls->wake); /* it may be the one whose time ends first */
    return PARKED;
}

void tarn_polls_park(struct tarn_polls *polls, struct tarn_task *task)
{
    if (task->waits_until_ms == 0)
        task->waits_until_ms = tarn_monotonic_ms() + task->reply.wait_ms;
    pthread_mutex_lock(&polls->lock);
    enum outcome outcome = try_park(polls, task);
    pthread_mutex_unlock(&polls->lock);
    if (outcome == PARKED)
        return; /* another thread may have it by now */
    if (outcome == IS_REFUSED)
        task->code = tarn_fail(&task->err, TARN_OVERLOADED, "%zu requests wait for events already", polls->max);
    go_on(task, outcome == LOOKS_AGAIN ? TARN_STEP_WORK : TARN_STEP_ANSWER);
}

/* --- going --- */

/* Under the lock: moves those that go on to `out`, each with its next step. */
static size_t take(struct tarn_polls *polls, bool news, struct tarn_task **out)
{
    int64_t now_ms = tarn_monotonic_ms();
    size_t count = atomic_load(&polls->count), kept = 0, taken = 0;
    for (size_t i = 0; i < count; i++) {
        struct tarn_task *task = polls->waiting[i];
        bool over = polls->ended || now_ms >= task->waits_until_ms;
        bool looks = !over && news && has_news_for(polls, task);
        if (over || looks) {
            task->step = over ? TARN_STEP_ANSWER : TARN_STEP_WORK;
            out[taken++] = task;
        } else {
            polls->waiting[kept++] = task;
        }
    }
    atomic_store(&polls->count, kept);
    return taken;
}

static int64_t first_end(const struct tarn_polls *polls)
{
    int64_t first_ms = INT64_MAX;
    for (size_t i = 0, count = atomic_load(&polls->count); i < count; i++)
        if (polls->waiting[i]->waits_until_ms < first_ms)
            first_ms = polls->waiting[i]->waits_until_ms;
    return first_ms;
}

/* Under the lock: until a round has something to do. */
static void wait_for_round(struct tarn_polls *polls)
{
    while (!polls->ended) {
        int64_t at_ms = first_end(polls);
        if (polls->has_news && polls->not_before_ms < at_ms)
            at_ms = polls->not_before_ms;
        if (tarn_monotonic_ms() >= at_ms)
            return;
        if (at_ms == INT64_MAX) {
            pthread_cond_wait(&polls->wake, &polls->lock);
            continue;
        }
        struct timespec until = { .tv_sec = at_ms / 1000, .tv_nsec = at_ms % 1000 * 1000000 };
        (void)pthread_cond_timedwait(&polls->wake, &polls->lock, &until);
    }
}

static void *polls_main(void *arg)
{
    struct tarn_polls *polls = arg;
    struct tarn_task *taken[TARN_POLLS_MAX];
    bool ended = false;
    while (!ended) {
        pthread_mutex_lock(&polls->lock);
        wait_for_round(polls);
        ended = polls->ended;
        bool news = polls->has_news && tarn_monotonic_ms() >= polls->not_before_ms;
        polls->has_news = polls->has_news && !news;
        size_t count = take(polls, news, taken);
        pthread_mutex_unlock(&polls->lock);
        if (news)
            polls->not_before_ms = tarn_monotonic_ms() + ROUND_PAUSE_MS + (int64_t)count / WOKEN_A_MS;
        for (size_t i = 0; i < count; i++)
            tarn_flow_launch(taken[i]);
    }
    return NULL;
}

/* --- life --- */

tarn_code tarn_polls_start(struct tarn_store *store, size_t max, struct tarn_polls **out,
                           struct tarn_err *err)
{
    struct tarn_polls *polls = calloc(1, sizeof *polls);
    pthread_condattr_t attr;
    if (!polls)
        return tarn_fail_oom(err);
    polls->store = store;
    polls->max = max < TARN_POLLS_MAX ? max : TARN_POLLS_MAX;
    pthread_mutex_init(&polls->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&polls->wake, &attr);
    pthread_condattr_destroy(&attr);
    polls->waiting = calloc(polls->max + 1, sizeof(struct tarn_task *));
    tarn_code code = polls->waiting ? TARN_OK : tarn_fail_oom(err);
    if (code == TARN_OK && pthread_create(&polls->thread, NULL, polls_main, polls) != 0)
        code = tarn_fail(err, TARN_INTERNAL, "the thread that wakes who waits for events cannot start");
    if (code != TARN_OK) {
        polls->ended = true;
        tarn_polls_free(polls);
        return code;
    }
    pthread_setname_np(polls->thread, "tarn-polls");
    tarn_store_on_events(store, note_news, polls);
    *out = polls;
    return TARN_OK;
}

void tarn_polls_end(struct tarn_polls *polls)
{
    pthread_mutex_lock(&polls->lock);
    bool first = !polls->ended;
    polls->ended = true;
    pthread_cond_signal(&polls->wake);
    pthread_mutex_unlock(&polls->lock);
    if (!first)
        return;
    pthread_join(polls->thread, NULL);
    tarn_store_on_events(polls->store, NULL, NULL);
}

void tarn_polls_free(struct tarn_polls *polls)
{
    if (!polls)
        return;
    pthread_cond_destroy(&polls->wake);
    pthread_mutex_destroy(&polls->lock);
    free(polls->waiting);
    free(polls);
}

size_t tarn_polls_count(struct tarn_polls *polls) { return atomic_load(&polls->count); }
