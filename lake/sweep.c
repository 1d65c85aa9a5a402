/* sweep.c - in chunks, each its own transaction, so that commits pass between. */
#include "lake/sweep.h"
#include "base/log.h"
#include "base/time.h"
#include "lake/expire.h"
#include "lake/lease.h"
#include "lake/look.h"
#include "lake/purge.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CHUNK_ROWS    5000
#define PAUSE_SECONDS 3600

struct sweep {
    struct tarn_lake *lake;
    int64_t now_ms;
    bool left;
    struct tarn_thinning thinning, thinned; /* where the next chunk begins, and where the one at hand came to */
    bool (*is_over)(void *ctx); /* asked between chunks */
    void *ctx;
};

/* The store sweeps ids from before the start only: a registration that stages rows now is safe. */
static tarn_code staged_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct sweep *s = ctx;

    s->left = false;
    return tx->ops->files.sweep(tx, CHUNK_ROWS, &s->left, err);
}

static tarn_code dropped_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct sweep *s = ctx;

    s->left = false;
    return tx->ops->tables.purge(tx, s->now_ms - s->lake->dropped_retention_ms, CHUNK_ROWS, &s->left, err);
}

static tarn_code keys_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct sweep *s = ctx;

    s->left = false;
    return tx->ops->commits.keys_expire(tx, s->now_ms - TARN_KEY_RETENTION_MS, CHUNK_ROWS, &s->left, err);
}

static tarn_code events_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct sweep *s = ctx;

    s->left = false;
    return tx->ops->events.expire(tx, s->now_ms - s->lake->events_retention_ms, CHUNK_ROWS, &s->left, err);
}

static tarn_code findings_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct sweep *s = ctx;

    s->left = false;
    return tx->ops->monitors.expire_findings(tx, s->now_ms - s->lake->findings_retention_ms, CHUNK_ROWS,
                                             &s->left, err);
}

static tarn_code silences_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct sweep *s = ctx;

    s->left = false;
    return tx->ops->silences.expire(tx, s->now_ms - s->lake->findings_retention_ms, CHUNK_ROWS, &s->left,
                                    err);
}

/* How far back the samples of a table may still be closer
 * than one an hour: nothing is read twice for that. */
#define META_THINNED "samples.thinned_before"

static tarn_code thinned_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct sweep *s = ctx;
    TARN_AUTO(mem) char *text = NULL;
    TARN_ERR(unset);

    tarn_code code = tx->ops->meta.get(tx, META_THINNED, &text, &unset);
    s->thinning =
        (struct tarn_thinning){ .expired_before = s->now_ms - s->lake->samples_retention_ms,
                                .hourly_before = (s->now_ms - TARN_DAY_MS) / TARN_HOUR_MS * TARN_HOUR_MS };
    if (code == TARN_OK)
        s->thinning.hourly_from = strtoll(text, NULL, 10);
    return code == TARN_OK || code == TARN_NOT_FOUND ? TARN_OK : tarn_err_move(err, &unset);
}

static tarn_code thin_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct sweep *s = ctx;
    char text[32];

    s->left = false;
    s->thinned = s->thinning; /* the transaction may run again */
    tarn_code code = tx->ops->samples.thin(tx, &s->thinned, CHUNK_ROWS, &s->left, err);
    if (code != TARN_OK || s->left)
        return code;
    (void)snprintf(text, sizeof text, "%lld", (long long)s->thinning.hourly_before);
    return tx->ops->meta.set(tx, META_THINNED, text, err);
}

static tarn_code thin_samples(struct sweep *s, struct tarn_err *err)
{
    tarn_code code = tarn_store_read(s->lake->store, thinned_tx, s, err);

    for (s->left = true; s->left && code == TARN_OK && !(s->is_over && s->is_over(s->ctx));
         s->thinning = s->thinned)
        code = tarn_store_write(s->lake->store, thin_tx, s, err);
    return code;
}

static tarn_code requests_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct sweep *s = ctx;

    s->left = false;
    return tx->ops->requests.expire(tx, s->now_ms - TARN_KEY_RETENTION_MS, CHUNK_ROWS, &s->left, err);
}

static tarn_code reports_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct sweep *s = ctx;

    s->left = false;
    return tx->ops->reports.expire(tx, s->now_ms - s->lake->samples_retention_ms, CHUNK_ROWS, &s->left, err);
}

static tarn_code sweep_all(struct sweep *s, struct tarn_err *err)
{
    static tarn_tx_fn *const k_rounds[] = { staged_tx,   dropped_tx,  keys_tx,     events_tx,
                                            findings_tx, silences_tx, requests_tx, reports_tx };
    tarn_code code = tarn_leases_sweep(s->lake, err);

    for (size_t i = 0; i < TARN_COUNT(k_rounds) && code == TARN_OK; i++) {
        s->left = true;
        while (s->left && code == TARN_OK && !(s->is_over && s->is_over(s->ctx)))
            code = tarn_store_write(s->lake->store, k_rounds[i], s, err);
    }
    if (code == TARN_OK)
        code = thin_samples(s, err);
    if (code == TARN_OK)
        code = tarn_purges_run(s->lake, s->now_ms, s->is_over, s->ctx, err);
    return code == TARN_OK ? tarn_expire_all(s->lake, s->now_ms, s->is_over, s->ctx, err) : code;
}

tarn_code tarn_lake_sweep(struct tarn_lake *lake, int64_t now_ms, struct tarn_err *err)
{
    struct sweep s = { .lake = lake, .now_ms = now_ms };

    return sweep_all(&s, err);
}

/* --- the thread --- */

struct tarn_sweeper {
    struct tarn_lake *lake; /* borrowed */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool stop, nudged; /* guarded by lock */
};

static bool is_over(void *ctx)
{
    struct tarn_sweeper *sweeper = ctx;

    pthread_mutex_lock(&sweeper->lock);
    bool stop = sweeper->stop;
    pthread_mutex_unlock(&sweeper->lock);
    return stop;
}

enum wake { WAKE_STOP, WAKE_NUDGED, WAKE_HOUR };

static enum wake wait_until(struct tarn_sweeper *sweeper, const struct timespec *until)
{
    pthread_mutex_lock(&sweeper->lock);
    int rc = 0;
    while (!sweeper->stop && !sweeper->nudged && rc == 0)
        rc = pthread_cond_timedwait(&sweeper->wake, &sweeper->lock, until);
    enum wake why = sweeper->stop ? WAKE_STOP : sweeper->nudged ? WAKE_NUDGED : WAKE_HOUR;
    sweeper->nudged = false;
    pthread_mutex_unlock(&sweeper->lock);
    return why;
}

/* What the end of the server cuts short goes on at the next start. */
static void log_fault(const struct tarn_sweeper *sweeper, const struct tarn_err *err)
{
    if (!atomic_load(&sweeper->lake->stopping))
        tarn_log_err(TARN_LOG_WARN, "sweep_failed", err);
}

static void run_nudged(struct tarn_sweeper *sweeper)
{
    TARN_ERR(err);
    tarn_code code = tarn_leases_sweep(sweeper->lake, &err);
    if (code == TARN_OK)
        code = tarn_purges_run(sweeper->lake, tarn_now_ms(), is_over, sweeper, &err);
    if (code != TARN_OK)
        log_fault(sweeper, &err);
}

/* False when it is time to stop. */
static bool pause_until_next(struct tarn_sweeper *sweeper)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += PAUSE_SECONDS;
    for (;;) {
        enum wake why = wait_until(sweeper, &until);
        if (why != WAKE_NUDGED)
            return why == WAKE_HOUR;
        run_nudged(sweeper);
    }
}

/* Before anything else: what expires must not be judged by a row that is behind its storage. */
static void look(struct tarn_sweeper *sweeper)
{
    int64_t failed = 0;
    TARN_ERR(err);
    if (tarn_look_all(sweeper->lake, false, is_over, sweeper, &failed, &err) != TARN_OK)
        log_fault(sweeper, &err);
}

static void *run(void *ctx)
{
    struct tarn_sweeper *sweeper = ctx;

    look(sweeper);
    do {
        struct sweep s = {
            .lake = sweeper->lake, .now_ms = tarn_now_ms(), .is_over = is_over, .ctx = sweeper
        };
        TARN_ERR(err);
        if (sweep_all(&s, &err) != TARN_OK)
            log_fault(sweeper, &err);
        tarn_store_rest(sweeper->lake->store);
    } while (pause_until_next(sweeper));
    return NULL;
}

tarn_code tarn_sweeper_start(struct tarn_lake *lake, struct tarn_sweeper **out, struct tarn_err *err)
{
    struct tarn_sweeper *sweeper = calloc(1, sizeof *sweeper);
    pthread_condattr_t clock;

    if (!sweeper)
        return tarn_fail_oom(err);
    sweeper->lake = lake;
    pthread_mutex_init(&sweeper->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&sweeper->wake, &clock);
    pthread_condattr_destroy(&clock);
    if (pthread_create(&sweeper->thread, NULL, run, sweeper) != 0) {
        free(sweeper);
        return tarn_fail(err, TARN_INTERNAL, "cannot start the sweeper's thread");
    }
    pthread_setname_np(sweeper->thread, "tarn-sweeper");
    lake->sweeper = sweeper;
    *out = sweeper;
    return TARN_OK;
}

void tarn_sweeper_nudge(struct tarn_sweeper *sweeper)
{
    pthread_mutex_lock(&sweeper->lock);
    sweeper->nudged = true;
    pthread_cond_signal(&sweeper->wake);
    pthread_mutex_unlock(&sweeper->lock);
}

void tarn_sweeper_stop(struct tarn_sweeper *sweeper)
{
    if (!sweeper)
        return;
    pthread_mutex_lock(&sweeper->lock);
    sweeper->stop = true;
    pthread_cond_signal(&sweeper->wake);
    pthread_mutex_unlock(&sweeper->lock);
    pthread_join(sweeper->thread, NULL);
    if (sweeper->lake->sweeper == sweeper)
        sweeper->lake->sweeper = NULL;
    pthread_cond_destroy(&sweeper->wake);
    pthread_mutex_destroy(&sweeper->lock);
    free(sweeper);
}
