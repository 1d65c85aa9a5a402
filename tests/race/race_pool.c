/* race_pool: several threads fill a pool whose queue is short, under the thread sanitizer. Every job that was taken runs
 * once, also those still queued when the pool is freed. */
#include "base/pool.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { THREADS = 4, EACH = 2000 };

static struct tarn_pool *pool;
static atomic_int taken, refused, ran;

static void job(void *ctx)
{
    (void)ctx;
    atomic_fetch_add(&ran, 1);
}

static void *work(void *arg)
{
    for (int i = 0; i < EACH; i++) {
        TARN_ERR(err);
        tarn_code code = tarn_pool_submit(pool, job, NULL, &err);
        atomic_fetch_add(code == TARN_OK ? &taken : &refused, 1);
    }
    return arg;
}

int main(void)
{
    TARN_ERR(err);
    pthread_t threads[THREADS];

    if (tarn_pool_new("race", 3, 0, 64, &pool, &err) != TARN_OK)
        return 2;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            return 2;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    tarn_pool_free(pool);
    printf("%d taken, %d refused, %d ran\n", taken, refused, ran);
    return taken + refused == THREADS * EACH && ran == taken ? 0 : 1;
}
