/* pool.c - worker threads over one ring of jobs. The ring is as large as it may ever be, so that
 * handing over a job never allocates and never fails but for being full. */
#include "base/pool.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

struct job { tarn_job_fn *fn; void *ctx; };

struct tarn_pool {
    pthread_mutex_t lock;
    pthread_cond_t work; /* a job came, or draining began */
    struct job *ring;    /* owned; `queue_max` slots */
    size_t queue_max, first, waiting;
    pthread_t *threads; /* owned */
    unsigned started;
    int nice;
    bool draining;
    char name[16];
};

static bool next_job(struct tarn_pool *pool, struct job *job)
{
    pthread_mutex_lock(&pool->lock);
    while (pool->waiting == 0 && !pool->draining)
        pthread_cond_wait(&pool->work, &pool->lock);
    bool got = pool->waiting > 0;
    if (got) {
        *job = pool->ring[pool->first];
        pool->first = (pool->first + 1) % pool->queue_max;
        pool->waiting--;
    }
    pthread_mutex_unlock(&pool->lock);
    return got;
}

static void *worker(void *arg)
{
    struct tarn_pool *pool = arg;
    struct job job;

    pthread_setname_np(pthread_self(), pool->name);
    if (pool->nice > 0)
        (void)setpriority(PRIO_PROCESS, (id_t)gettid(), pool->nice); /* on Linux it is the thread's alone */
    while (next_job(pool, &job))
        job.fn(job.ctx);
    return NULL;
}

static struct tarn_pool *pool_make(const char *name, unsigned threads, size_t queue_max)
{
    TARN_AUTO(mem) struct tarn_pool *pool = calloc(1, sizeof *pool);
    TARN_AUTO(mem) struct job *ring = calloc(queue_max, sizeof *ring);
    TARN_AUTO(mem) pthread_t *ids = calloc(threads, sizeof *ids);

    if (!pool || !ring || !ids)
        return NULL;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pool->queue_max = queue_max;
    pool->ring = tarn_take(&ring);
    pool->threads = tarn_take(&ids);
    snprintf(pool->name, sizeof pool->name, "%s", name);
    return tarn_take(&pool);
}

tarn_code tarn_pool_new(const char *name, unsigned threads, int nice, size_t queue_max,
                        struct tarn_pool **out, struct tarn_err *err)
{
    unsigned count = threads ? threads : 1;
    TARN_AUTO(pool) struct tarn_pool *pool = pool_make(name, count, queue_max ? queue_max : 1);

    if (!pool)
        return tarn_fail_oom(err);
    pool->nice = nice;
    for (; pool->started < count; pool->started++) {
        int rc = pthread_create(&pool->threads[pool->started], NULL, worker, pool);
        if (rc != 0)
            return tarn_fail(err, TARN_INTERNAL, "no thread for %s: %s", name, strerror(rc));
    }
    *out = tarn_take(&pool);
    return TARN_OK;
}

tarn_code tarn_pool_submit(struct tarn_pool *pool, tarn_job_fn *fn, void *ctx, struct tarn_err *err)
{
    pthread_mutex_lock(&pool->lock);
    bool taken = pool->waiting < pool->queue_max && !pool->draining;
    if (taken) {
        pool->ring[(pool->first + pool->waiting) % pool->queue_max] = (struct job){ fn, ctx };
        pool->waiting++;
        pthread_cond_signal(&pool->work);
    }
    pthread_mutex_unlock(&pool->lock);
    return taken ? TARN_OK : tarn_fail(err, TARN_OVERLOADED, "too much work is waiting (%s)", pool->name);
}

void tarn_pool_free(struct tarn_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->draining = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->started; i++)
        pthread_join(pool->threads[i], NULL);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    free(pool->ring);
    free(pool->threads);
    free(pool);
}
