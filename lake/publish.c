/* publish.c - the publisher: two threads that publish, so that one long manifest does not hold up the other
 * tables, and one that ends waits on time, whatever storage does. A fault is tried again after a growing
 * pause. A table whose manifest is long gets its log entries at once and its manifest less often. */
#include "lake/publish.h"
#include "base/log.h"
#include "base/time.h"
#include "formats/manifest/manifest.h"
#include "lake/publish_queue.h"
#include "lake/publish_run.h"
#include "lake/publish_waits.h"
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum {
    WORKERS = 2,
    SWEEP_ID = 0, /* the job that looks for tables which are behind; no table has this id */
    SWEEP_PAGE = 1000,
    SWEEP_MS = 60 * 1000,
    RETRY_FIRST_MS = 100,
    LEFTOVER_MS = 60 * 60 * 1000,
    PAUSE_MAX_MS = 30 * 1000,
    PAUSE_FREE_BYTES = 1000 * 1000, /* a manifest below this is written at once */
    PAUSE_BYTES_A_MS = 3333         /* 1 MB: 0.3 s, 100 MB: 30 s */
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

/* --- one job --- */

static int64_t pause_of(int64_t manifest_bytes)
{
    if (manifest_bytes < PAUSE_FREE_BYTES)
        return 0;
    int64_t ms = manifest_bytes / PAUSE_BYTES_A_MS;
    return ms < PAUSE_MAX_MS ? ms : PAUSE_MAX_MS;
}

static int64_t retry_after(unsigned failures)
{
    int64_t ms = failures < 10 ? (int64_t)RETRY_FIRST_MS << (failures - 1) : PAUSE_MAX_MS;
    return ms < PAUSE_MAX_MS ? ms : PAUSE_MAX_MS;
}

static bool is_cancelled(void *ctx) { return atomic_load(&((struct tarn_publisher *)ctx)->hurry); }

static void log_fault(const struct tarn_publish_job *job, const struct tarn_err *err)
{
    if (err->code == TARN_FOREIGN_WRITE)
        tarn_log_err(TARN_LOG_ERROR, "foreign_write", err);
    else if (job->failures == 1 || job->failures % 20 == 0)
        tarn_log_err(TARN_LOG_WARN, "publication_failed", err);
}

/* Checkpoints and lists of files that could not be written are tried again without holding up commits. */
static void judge_side(struct tarn_publish_job *job, const struct tarn_publish_run *run, int64_t *due_ms)
{
    if (run->foreign_batches > 0)
        tarn_log(TARN_LOG_WARN, "foreign_checkpoint", "location", run->table->location, "batch",
                 run->foreign_batch, NULL);
    bool failed = run->side.code != TARN_OK && !is_cancelled(run->ctx);
    job->side_failures = failed ? job->side_failures + 1 : 0;
    if (!failed)
        return;
    if (job->side_failures == 1 || job->side_failures % 20 == 0)
        tarn_log_err(TARN_LOG_WARN, "side_documents_not_written", &run->side);
    *due_ms = tarn_monotonic_ms() + retry_after(job->side_failures);
}

/* Once a table and process, after the work: what a crash left behind is in nobody's way. */
static void tidy(struct tarn_publish_job *job, const struct tarn_publish_run *run)
{
    static const char *const k_folders[] = { "", TARN_DIR_LOG };
    if (job->tidied || !run->place)
        return;
    job->tidied = true;
    for (size_t i = 0; i < TARN_COUNT(k_folders); i++)
        tarn_place_tidy(run->place, k_folders[i], LEFTOVER_MS);
}

/* Publishes; *due_ms gets when to come again, -1: not before a nudge. Without the lock: the job is in our
 * hands. */
static void publish(struct tarn_publish_job *job, bool impatient, struct tarn_publish_run *run,
                    int64_t *due_ms)
{
    TARN_ERR(fault);
    int64_t manifest_due = job->manifest_ms + pause_of(job->manifest_bytes);
    bool pausing = !impatient && job->manifest_bytes > 0 && tarn_monotonic_ms() < manifest_due;
    run->entries_done = job->entries_done;
    memcpy(run->cache_key, job->cache_key, sizeof run->cache_key);
    run->last_step = TARN_STEP_RECORD;
    run->pausing = pausing;
    tarn_code code = tarn_publish_run(run, &fault);
    job->entries_done = run->entries_done;
    memcpy(job->cache_key, run->cache_key, sizeof job->cache_key);
    if (run->manifest_bytes > 0) {
        job->manifest_bytes = run->manifest_bytes;
        job->manifest_ms = tarn_monotonic_ms();
    }
    bool recovered = code == TARN_OK && job->failures > 0;
    job->failures =
        code == TARN_OK || code == TARN_RECHECK || code == TARN_FOREIGN_WRITE ? 0 : job->failures + 1;
    if (code != TARN_OK && code != TARN_RECHECK && !is_cancelled(run->ctx))
        log_fault(job, &fault);
    if (recovered)
        tarn_log(TARN_LOG_INFO, "publication_resumed", "location", run->table ? run->table->location : NULL,
                 NULL);

    tidy(job, run);
    *due_ms = -1;
    if (code == TARN_RECHECK)
        *due_ms = tarn_monotonic_ms();
    else if (job->failures > 0)
        *due_ms = tarn_monotonic_ms() + retry_after(job->failures);
    else if (pausing && run->wants_version)
        *due_ms = manifest_due;
    else
        judge_side(job, run, due_ms);
}

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
        publish(job, impatient, &run, &due_ms);
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
