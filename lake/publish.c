/* publish.c - the publisher: two threads that publish, so that one long manifest does not hold up the other
 * tables, and one that ends waits on time, whatever storage does. */
#include "lake/publish.h"
#include "base/log.h"
#include "base/time.h"
#include "lake/publish_job.h"
#include "lake/publish_waits.h"
#include <pthread.h>
#include <stdatomic.h>

enum {
    WORKERS = 2,
    SWEEP_ID = 0, /* the job that looks for tables which are behind; no table has this id */
    SWEEP_PAGE = 1000,
    SWEEP_MS = 60 * 1000
};
static const struct tarn_publisher_options k_defaults = { .wait_ms = 2000, .backlog_max = 1000 };

struct tarn_publisher {
    struct tarn_lake *lake; /* borrowed */
    struct tarn_publisher_options options;
    pthread_mutex_t lock; /* of all below but `hurry` */
    pthread_cond_t work, waiting;
    struct tarn_publish_queue queue;
    struct tarn_publish_waits waits;
    bool draining, waits_end;
    int64_t drain_until_ms;
    unsigned running, working; /* jobs in hand, workers alive */
    atomic_bool hurry;         /* the drain is over: leave long documents */
    int64_t published, failed; /* runs */
    pthread_t workers[WORKERS], waiter;
    unsigned worker_count;
    bool has_waiter;
};

/* --- the sweep --- */

struct sweep {
    bool of_batches;
    int64_t after, count;
    int64_t ids[SWEEP_PAGE];
};

static tarn_code sweep_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct sweep *s = ctx;
    if (s->of_batches)
        return tx->ops->batches.pending_tables(tx, s->after, SWEEP_PAGE, s->ids, &s->count, err);
    return tx->ops->publications.pending(tx, s->after, SWEEP_PAGE, s->ids, &s->count, err);
}

static void sweep_one(struct tarn_publisher *p, bool of_batches)
{
    TARN_ERR(fault);
    struct sweep s = { .of_batches = of_batches };
    do {
        if (tarn_store_read(p->lake->store, sweep_tx, &s, &fault) != TARN_OK) {
            tarn_log_err(TARN_LOG_WARN, "publication_sweep_failed", &fault);
            return;
        }
        for (int64_t i = 0; i < s.count; i++)
            tarn_publisher_nudge(p, s.ids[i]);
        if (s.count > 0)
            s.after = s.ids[s.count - 1];
    } while (s.count == SWEEP_PAGE);
}

/* Whatever is behind and not known to be: from before the start, or a nudge that found no memory. */
static void sweep(struct tarn_publisher *p)
{
    sweep_one(p, false);
    sweep_one(p, true);
}

/* --- threads --- */

/* Waits on `cond` until `until_ms` (INT64_MAX: for ever) at most; with the lock held. */
static void wait_on(struct tarn_publisher *p, pthread_cond_t *cond, int64_t until_ms)
{
    if (until_ms == INT64_MAX) {
        pthread_cond_wait(cond, &p->lock);
        return;
    }
    const struct timespec until = { until_ms / 1000, until_ms % 1000 * 1000000 };
    pthread_cond_timedwait(cond, &p->lock, &until);
}

/* The next job, NULL when the drain is over; with the lock held. */
static struct tarn_publish_job *next_job(struct tarn_publisher *p)
{
    for (;;) {
        int64_t now = tarn_monotonic_ms();
        if (p->draining && now >= p->drain_until_ms)
            return NULL;
        struct tarn_publish_job *job = tarn_publish_queue_take(&p->queue, now, p->draining);
        if (job)
            return job;
        if (p->draining && p->running == 0)
            return NULL;
        wait_on(p, &p->work, p->draining ? p->drain_until_ms : tarn_publish_queue_next(&p->queue));
    }
}

static bool is_cancelled(void *ctx) { return atomic_load(&((struct tarn_publisher *)ctx)->hurry); }

static void run_job(struct tarn_publisher *p, struct tarn_publish_job *job)
{
    __attribute__((cleanup(tarn_publish_run_done))) struct tarn_publish_run run = {
        .lake = p->lake, .table_id = job->table_id, .cancelled = is_cancelled, .ctx = p, .published = -1
    };
    struct tarn_publish_wait *told = NULL;
    int64_t due_ms = -1;
    bool impatient = p->draining;
    p->running++;
    pthread_mutex_unlock(&p->lock);
    if (job->table_id == SWEEP_ID) {
        sweep(p);
        due_ms = impatient ? -1 : tarn_monotonic_ms() + SWEEP_MS;
    } else {
        tarn_publish_job_run(job, impatient, &run, &due_ms); /* without the lock: it is in our hands */
    }
    pthread_mutex_lock(&p->lock);
    p->published += run.published >= 0 && job->failures == 0;
    p->failed += job->failures > 0;
    told = tarn_publish_waits_of(&p->waits, job->table_id, run.published, run.is_off);
    tarn_publish_queue_finish(&p->queue, job, tarn_monotonic_ms(), due_ms);
    p->running--;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    tarn_publish_waits_tell(told);
    pthread_mutex_lock(&p->lock);
}

static void *worker_main(void *arg)
{
    struct tarn_publisher *p = arg;
    pthread_mutex_lock(&p->lock);
    for (struct tarn_publish_job *job = next_job(p); job; job = next_job(p))
        run_job(p, job);
    p->working--;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void *waiter_main(void *arg)
{
    struct tarn_publisher *p = arg;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        struct tarn_publish_wait *over =
            tarn_publish_waits_over(&p->waits, p->waits_end ? INT64_MAX : tarn_monotonic_ms());
        if (over) {
            pthread_mutex_unlock(&p->lock);
            tarn_publish_waits_tell(over);
            pthread_mutex_lock(&p->lock);
            continue;
        }
        if (p->waits_end)
            break;
        wait_on(p, &p->waiting, p->waits.first ? p->waits.first->deadline_ms : INT64_MAX);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* --- life --- */

static bool init_locks(struct tarn_publisher *p)
{
    pthread_condattr_t attr;
    if (pthread_condattr_init(&attr) != 0)
        return false;
    bool ok = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0 &&
              pthread_mutex_init(&p->lock, NULL) == 0 && pthread_cond_init(&p->work, &attr) == 0 &&
              pthread_cond_init(&p->waiting, &attr) == 0;
    pthread_condattr_destroy(&attr);
    return ok;
}

static bool start_threads(struct tarn_publisher *p)
{
    p->has_waiter = pthread_create(&p->waiter, NULL, waiter_main, p) == 0;
    if (!p->has_waiter)
        return false;
    pthread_setname_np(p->waiter, "publish-wait");
    p->working = WORKERS;
    for (; p->worker_count < WORKERS; p->worker_count++) {
        if (pthread_create(&p->workers[p->worker_count], NULL, worker_main, p) != 0) {
            pthread_mutex_lock(&p->lock);
            p->working -= WORKERS - p->worker_count;
            pthread_mutex_unlock(&p->lock);
            return false;
        }
        pthread_setname_np(p->workers[p->worker_count], "publish");
    }
    return true;
}

tarn_code tarn_publisher_start(struct tarn_lake *lake, const struct tarn_publisher_options *options,
                               struct tarn_publisher **out, struct tarn_err *err)
{
    struct tarn_publisher *p = calloc(1, sizeof *p);
    if (!p || !init_locks(p)) {
        free(p);
        return tarn_fail_oom(err);
    }
    p->lake = lake;
    p->options = options ? *options : k_defaults;
    if (!tarn_publish_queue_nudge(&p->queue, SWEEP_ID, 0) || !start_threads(p)) {
        tarn_publisher_stop(p, 0);
        return tarn_fail(err, TARN_INTERNAL, "the publisher's threads do not start");
    }
    lake->publisher = p;
    *out = p;
    return TARN_OK;
}

/* Ends the workers when the queue is empty or the time is over; a call that storage holds is waited for. */
static void drain(struct tarn_publisher *p, int64_t deadline_ms)
{
    pthread_mutex_lock(&p->lock);
    p->draining = true;
    p->drain_until_ms = tarn_monotonic_ms() + deadline_ms;
    pthread_cond_broadcast(&p->work);
    while (p->working > 0 && tarn_monotonic_ms() < p->drain_until_ms)
        wait_on(p, &p->work, p->drain_until_ms);
    pthread_mutex_unlock(&p->lock);
}

void tarn_publisher_stop(struct tarn_publisher *publisher, int64_t deadline_ms)
{
    struct tarn_publisher *p = publisher;
    if (!p)
        return;
    drain(p, deadline_ms);
    atomic_store(&p->hurry, true);
    for (unsigned i = 0; i < p->worker_count; i++)
        pthread_join(p->workers[i], NULL);
    pthread_mutex_lock(&p->lock);
    p->waits_end = true;
    pthread_cond_broadcast(&p->waiting);
    pthread_mutex_unlock(&p->lock);
    if (p->has_waiter)
        pthread_join(p->waiter, NULL);
    if (p->lake->publisher == p)
        p->lake->publisher = NULL;
    tarn_publish_queue_done(&p->queue);
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->waiting);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

/* --- what others call --- */

/* With the lock held. Without memory nothing happens: the next sweep finds the table. */
static void nudge(struct tarn_publisher *p, int64_t table_id)
{
    if (!tarn_publish_queue_nudge(&p->queue, table_id, tarn_monotonic_ms()))
        return;
    if (p->draining) /* whoever stops waits here too */
        pthread_cond_broadcast(&p->work);
    else
        pthread_cond_signal(&p->work);
}

void tarn_publisher_nudge(struct tarn_publisher *publisher, int64_t table_id)
{
    pthread_mutex_lock(&publisher->lock);
    nudge(publisher, table_id);
    pthread_mutex_unlock(&publisher->lock);
}

void tarn_publisher_wait(struct tarn_publisher *publisher, int64_t table_id, int64_t version,
                         void (*fn)(void *ctx, bool done), void *ctx)
{
    struct tarn_publish_wait *wait = malloc(sizeof *wait);
    if (!wait) {
        tarn_publisher_nudge(publisher, table_id);
        fn(ctx, false);
        return;
    }
    *wait = (struct tarn_publish_wait){ .table_id = table_id,
                                        .version = version,
                                        .fn = fn,
                                        .ctx = ctx,
                                        .deadline_ms = tarn_monotonic_ms() + publisher->options.wait_ms };
    pthread_mutex_lock(&publisher->lock);
    bool first = publisher->waits.first == NULL;
    tarn_publish_waits_add(&publisher->waits, wait);
    if (first || publisher->waits_end)
        pthread_cond_signal(&publisher->waiting);
    nudge(publisher, table_id);
    pthread_mutex_unlock(&publisher->lock);
}

bool tarn_publisher_overloaded(const struct tarn_publisher *publisher, const struct tarn_table *table)
{
    int64_t shown =
        table->published_version > table->oldest_version ? table->published_version : table->oldest_version;
    return table->version - shown > publisher->options.backlog_max;
}

/* The job of the sweep waits or runs from the start on. */
void tarn_publisher_meters_read(struct tarn_publisher *publisher, struct tarn_publisher_meters *out)
{
    pthread_mutex_lock(&publisher->lock);
    int64_t jobs = (int64_t)publisher->queue.waiting + publisher->running;
    *out = (struct tarn_publisher_meters){ jobs > 0 ? jobs - 1 : 0, publisher->published, publisher->failed };
    pthread_mutex_unlock(&publisher->lock);
}
