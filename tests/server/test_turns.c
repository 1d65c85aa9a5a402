/* Requests about the same thing, one after another. */
#include "server/turns.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

Test(turns, each_key_has_a_line_of_its_own_in_the_order_of_arrival)
{
    struct tarn_turns turns;
    /* 7 and 71 stand in one line of 64 */
    struct tarn_turn a = { .key = 7 }, b = { .key = 7 }, other = { .key = 71 }, c = { .key = 7 }, apart = { .key = 8 };

    tarn_turns_init(&turns);
    cr_expect(tarn_turns_begin(&turns, &a));
    cr_expect(not(tarn_turns_begin(&turns, &b)));
    cr_expect(tarn_turns_begin(&turns, &other));
    cr_expect(not(tarn_turns_begin(&turns, &c)));
    cr_expect(tarn_turns_begin(&turns, &apart));
    cr_expect(eq(ptr, tarn_turns_end(&turns, &other), NULL), "nobody waits for that key");
    cr_expect(eq(ptr, tarn_turns_end(&turns, &a), &b));
    cr_expect(eq(ptr, tarn_turns_end(&turns, &b), &c));
    struct tarn_turn late = { .key = 7 };
    cr_expect(not(tarn_turns_begin(&turns, &late)));
    cr_expect(eq(ptr, tarn_turns_end(&turns, &c), &late));
    cr_expect(eq(ptr, tarn_turns_end(&turns, &late), NULL));
    cr_expect(eq(ptr, tarn_turns_end(&turns, &apart), NULL));
    cr_expect(tarn_turns_begin(&turns, &a), "free again");
    cr_expect(eq(ptr, tarn_turns_end(&turns, &a), NULL));
    tarn_turns_done(&turns);
}

enum { THREADS = 8, ROUNDS = 2000 };

static struct tarn_turns shared;
static struct { atomic_int inside; int count; } things[3]; /* count is nobody's but who has the turn's */

static void *take_turns(void *arg)
{
    sem_t go;

    sem_init(&go, 0, 0);
    for (int i = 0; i < ROUNDS; i++) {
        struct tarn_turn turn = { .key = 1 + (uint64_t)(i + *(int *)arg) % 3, .ctx = &go };
        if (!tarn_turns_begin(&shared, &turn))
            sem_wait(&go);
        cr_assert(eq(int, atomic_fetch_add(&things[turn.key - 1].inside, 1), 0));
        things[turn.key - 1].count++;
        atomic_fetch_sub(&things[turn.key - 1].inside, 1);
        struct tarn_turn *next = tarn_turns_end(&shared, &turn);
        if (next)
            sem_post(next->ctx);
    }
    sem_destroy(&go);
    return NULL;
}

Test(turns, never_have_two_the_turn_of_one_thing, .timeout = 120)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];

    tarn_turns_init(&shared);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        cr_assert(eq(int, pthread_create(&threads[i], NULL, take_turns, &numbers[i]), 0));
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    cr_expect(eq(int, things[0].count + things[1].count + things[2].count, THREADS * ROUNDS));
    tarn_turns_done(&shared);
}
