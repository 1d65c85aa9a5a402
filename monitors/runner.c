/* runner.c - when tables are scanned. One thread asks the store what is due, hands at most `threads` scans to a pool and
 * sleeps until the next one is due, a scan ends, or somebody nudges it. What is due is in the store alone, so a
 * restart forgets nothing. */
#include "monitors/monitors.h"
#include "base/log.h"
#include "base/pool.h"
#include "base/time.h"
#include <errno.h>
#include <pthread.h>
#include <time.h>

enum {
    THREADS_MAX = 64,
    IDLE_MS = 60 * 1000, /* asks at least that often */
    PAUSE_MS = 1000      /* after a scan that could not be stored: its table stays due */
};

struct tarn_runner {
    struct tarn_lake *lake;
    const struct tarn_monitor_defaults *defaults;
    struct tarn_pool *pool;
    unsigned threads;
    pthread_t thread;
    pthread_mutex_t lock;  /* guards what follows */
    pthread_cond_t change;
    bool stopping, nudged;
    int64_t paused_until;  /* monotonic ms */
    int64_t running[THREADS_MAX]; /* table ids, 0: free */
    unsigned running_count;
    int64_t ended;         /* scans since the start */
};

struct job { struct tarn_runner *runner; int64_t table_id; unsigned slot; };

static void job_over(struct job *job, bool failed)
{
    struct tarn_runner *r = job->runner;

    pthread_mutex_lock(&r->lock);
    r->running[job->slot] = 0;
    r->running_count--;
    r->ended++;
    if (failed)
        r->paused_until = tarn_monotonic_ms() + PAUSE_MS;
    r->nudged = true;
    pthread_cond_signal(&r->change);
    pthread_mutex_unlock(&r->lock);
    free(job);
}

static void run_job(void *ctx)
{
    struct job *job = ctx;
    struct tarn_scan_use use = { .table_id = job->table_id, .defaults = job->runner->defaults };
    TARN_ERR(err);

    tarn_code code = tarn_use_run(job->runner->lake, &tarn_scan, &use, &err);
    bool failed = code != TARN_OK && code != TARN_TABLE_NOT_FOUND; /* dropped meanwhile: nothing to tell */
    if (failed && !atomic_load(&job->runner->lake->stopping))
        tarn_log_err(TARN_LOG_WARN, "scan failed", &err);
    tarn_scan.done(&use);
    job_over(job, failed);
}

struct due { int64_t ids[2 * THREADS_MAX]; int64_t limit, count, next_due; };

static tarn_code due_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct due *due = ctx;
    return tx->ops->monitors.due(tx, tarn_now_ms(), due->limit, due->ids, &due->count, &due->next_due, err);
}

static bool is_running(const struct tarn_runner *r, int64_t table_id)
{
    for (unsigned i = 0; i < r->threads; i++)
        if (r->running[i] == table_id)
            return true;
    return false;
}

/* With the lock held. */
static void start_job(struct tarn_runner *r, int64_t table_id)
{
    struct job *job = malloc(sizeof *job);
    unsigned slot = 0;
    TARN_ERR(err);

    if (!job)
        return;
    while (r->running[slot] != 0)
        slot++;
    *job = (struct job){ r, table_id, slot };
    if (tarn_pool_submit(r->pool, run_job, job, &err) != TARN_OK) {
        free(job);
        return;
    }
    r->running[slot] = table_id;
    r->running_count++;
}

/* Starts what is due; ms to wait for the next. */
static int64_t start_due(struct tarn_runner *r)
{
    struct due due = { .next_due = INT64_MAX };
    TARN_ERR(err);

    pthread_mutex_lock(&r->lock);
    due.limit = r->threads + r->running_count;
    bool is_full = r->running_count == r->threads;
    int64_t pause_ms = r->paused_until - tarn_monotonic_ms();
    pthread_mutex_unlock(&r->lock);
    if (is_full || pause_ms > 0)
        return is_full ? IDLE_MS : pause_ms;
    if (tarn_store_read(r->lake->store, due_tx, &due, &err) != TARN_OK) {
        tarn_log_err(TARN_LOG_WARN, "scans: what is due", &err);
        return PAUSE_MS;
    }

    pthread_mutex_lock(&r->lock);
    for (int64_t i = 0; i < due.count && r->running_count < r->threads; i++)
        if (!is_running(r, due.ids[i]))
            start_job(r, due.ids[i]);
    pthread_mutex_unlock(&r->lock);
    int64_t wait_ms = due.next_due == INT64_MAX ? IDLE_MS : due.next_due - tarn_now_ms();
    return wait_ms < 0 ? 0 : wait_ms > IDLE_MS ? IDLE_MS : wait_ms;
}

static struct timespec deadline_in(int64_t ms)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += (time_t)(ms / 1000);
    at.tv_nsec += (long)(ms % 1000) * 1000000L;
    if (at.tv_nsec >= 1000000000L) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000L;
    }
    return at;
}

static void *runner_main(void *ctx)
{
    struct tarn_runner *r = ctx;
    bool stopping = false;

    while (!stopping) {
        struct timespec until = deadline_in(start_due(r));
        int rc = 0;
        pthread_mutex_lock(&r->lock);
        while (!r->stopping && !r->nudged && rc != ETIMEDOUT)
            rc = pthread_cond_timedwait(&r->change, &r->lock, &until);
        r->nudged = false;
        stopping = r->stopping;
        pthread_mutex_unlock(&r->lock);
    }
    return NULL;
}

static void runner_free(struct tarn_runner *r)
{
    if (!r)
        return;
    tarn_pool_free(r->pool);
    pthread_cond_destroy(&r->change);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

tarn_code tarn_runner_start(struct tarn_lake *lake, const struct tarn_monitor_defaults *defaults, unsigned threads,
                            struct tarn_runner **out, struct tarn_err *err)
{
    struct tarn_runner *r = calloc(1, sizeof *r);
    pthread_condattr_t attr;

    if (!r)
        return tarn_fail_oom(err);
    r->lake = lake;
    r->defaults = defaults;
    r->threads = threads < 1 ? 1 : threads > THREADS_MAX ? THREADS_MAX : threads;
    pthread_mutex_init(&r->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&r->change, &attr);
    pthread_condattr_destroy(&attr);
    tarn_code code = tarn_pool_new("scan", r->threads, TARN_POOL_GIVES_WAY, r->threads, &r->pool, err);
    if (code == TARN_OK && pthread_create(&r->thread, NULL, runner_main, r) != 0)
        code = tarn_fail(err, TARN_INTERNAL, "the thread that starts scans cannot start");
    if (code != TARN_OK) {
        runner_free(r);
        return code;
    }
    *out = r;
    return TARN_OK;
}

void tarn_runner_nudge(struct tarn_runner *r)
{
    if (!r)
        return;
    pthread_mutex_lock(&r->lock);
    r->nudged = true;
    pthread_cond_signal(&r->change);
    pthread_mutex_unlock(&r->lock);
}

void tarn_runner_meters_read(struct tarn_runner *r, int64_t *running, int64_t *ended)
{
    pthread_mutex_lock(&r->lock);
    *running = r->running_count;
    *ended = r->ended;
    pthread_mutex_unlock(&r->lock);
}

void tarn_runner_stop(struct tarn_runner *r)
{
    if (!r)
        return;
    pthread_mutex_lock(&r->lock);
    r->stopping = true;
    pthread_cond_signal(&r->change);
    pthread_mutex_unlock(&r->lock);
    pthread_join(r->thread, NULL);
    runner_free(r);
}
