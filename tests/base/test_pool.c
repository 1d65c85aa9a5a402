/* test_pool.c - worker threads: everything runs once, the queue is bounded, freeing finishes. */
#include "base/pool.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int ran;
static char thread_name[16];

static void count(void *ctx)
{
    (void)ctx;
    pthread_getname_np(pthread_self(), thread_name, sizeof thread_name);
    atomic_fetch_add(&ran, 1);
}

struct gate { pthread_mutex_t lock; pthread_cond_t changed; bool entered, open; };

static void wait_at_gate(void *ctx)
{
    struct gate *gate = ctx;

    pthread_mutex_lock(&gate->lock);
    gate->entered = true;
    pthread_cond_broadcast(&gate->changed);
    while (!gate->open)
        pthread_cond_wait(&gate->changed, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

static void await_entered(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    while (!gate->entered)
        pthread_cond_wait(&gate->changed, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

static void open_gate(struct gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->open = true;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
}

Test(pool, freeing_runs_all_that_was_queued)
{
    struct tarn_pool *pool = NULL;
    TARN_ERR(err);

    cr_assert(eq(int, tarn_pool_new("tarn-test", 4, 0, 1000, &pool, &err), TARN_OK));
    for (int i = 0; i < 1000; i++)
        cr_assert(eq(int, tarn_pool_submit(pool, count, NULL, &err), TARN_OK));
    tarn_pool_free(pool);
    cr_expect(eq(int, atomic_load(&ran), 1000));
    cr_expect(eq(str, thread_name, "tarn-test"));
}

Test(pool, a_full_queue_refuses)
{
    struct gate gate = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, false };
    struct tarn_pool *pool = NULL;
    TARN_ERR(err);

    cr_assert(eq(int, tarn_pool_new("tarn-test", 1, 0, 2, &pool, &err), TARN_OK));
    cr_assert(eq(int, tarn_pool_submit(pool, wait_at_gate, &gate, &err), TARN_OK));
    await_entered(&gate);
    cr_expect(eq(int, tarn_pool_submit(pool, count, NULL, &err), TARN_OK));
    cr_expect(eq(int, tarn_pool_submit(pool, count, NULL, &err), TARN_OK));
    cr_expect(eq(int, tarn_pool_submit(pool, count, NULL, &err), TARN_OVERLOADED));
    open_gate(&gate);
    tarn_pool_free(pool);
    cr_expect(eq(int, atomic_load(&ran), 2));
}

Test(pool, the_ring_goes_round)
{
    struct tarn_pool *pool = NULL;
    TARN_ERR(err);

    cr_assert(eq(int, tarn_pool_new("a-name-that-is-far-too-long", 1, 0, 10, &pool, &err), TARN_OK));
    for (int round = 0; round < 100; round++)
        while (tarn_pool_submit(pool, count, NULL, &err) != TARN_OK)
            ;
    tarn_pool_free(pool);
    tarn_pool_free(NULL);
    cr_expect(eq(int, atomic_load(&ran), 100));
}
