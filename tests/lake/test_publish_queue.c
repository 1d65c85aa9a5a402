/* test_publish_queue.c - the order of publications, without threads and clocks. */
#include "lake/publish_queue.h"
#include "lake/publish_waits.h"
#include "base/own.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

static int64_t take(struct tarn_publish_queue *q, int64_t now, int64_t due_after)
{
    struct tarn_publish_job *job = tarn_publish_queue_take(q, now, false);
    if (!job)
        return -1;
    int64_t id = job->table_id;
    tarn_publish_queue_finish(q, job, now, due_after);
    return id;
}

Test(publish_queue, the_earliest_due_comes_first_and_none_before_its_time)
{
    struct tarn_publish_queue q = { 0 };
    cr_expect(eq(i64, tarn_publish_queue_next(&q), INT64_MAX));
    for (int64_t id = 1; id <= 1000; id++)
        cr_assert(
            tarn_publish_queue_nudge(&q, id, 10 + (id * 7919) % 1000)); /* 7919 is prime: a permutation */
    cr_expect(eq(i64, tarn_publish_queue_next(&q), 10));
    cr_expect(eq(i64, take(&q, 9, -1), -1));
    for (int64_t due = 0; due < 1000; due++) {
        int64_t id = take(&q, 2000, -1);
        cr_assert(eq(i64, (id * 7919) % 1000, due));
    }
    cr_expect(eq(i64, take(&q, 2000, -1), -1));
    tarn_publish_queue_done(&q);
}

Test(publish_queue, a_table_waits_once_and_an_earlier_time_stands)
{
    struct tarn_publish_queue q = { 0 };
    cr_assert(tarn_publish_queue_nudge(&q, 5, 100));
    cr_assert(tarn_publish_queue_nudge(&q, 5, 50));
    cr_assert(tarn_publish_queue_nudge(&q, 5, 200));
    cr_expect(eq(i64, tarn_publish_queue_next(&q), 50));
    cr_expect(eq(i64, take(&q, 50, -1), 5));
    cr_expect(eq(i64, take(&q, 1000, -1), -1));
    tarn_publish_queue_done(&q);
}

Test(publish_queue, a_table_in_hand_is_not_given_twice_but_comes_again)
{
    struct tarn_publish_queue q = { 0 };
    cr_assert(tarn_publish_queue_nudge(&q, 5, 0));
    struct tarn_publish_job *job = tarn_publish_queue_take(&q, 0, false);
    cr_assert(tarn_publish_queue_nudge(&q, 5, 1));
    cr_expect(tarn_publish_queue_take(&q, 10, false) == NULL);
    tarn_publish_queue_finish(&q, job, 10, -1);
    cr_expect(eq(i64, take(&q, 10, -1), 5));
    cr_expect(eq(i64, take(&q, 10, -1), -1));
    tarn_publish_queue_done(&q);
}

Test(publish_queue, a_job_that_failed_keeps_its_pause_whoever_nudges)
{
    struct tarn_publish_queue q = { 0 };
    cr_assert(tarn_publish_queue_nudge(&q, 5, 0));
    struct tarn_publish_job *job = tarn_publish_queue_take(&q, 0, false);
    job->failures = 1;
    cr_assert(tarn_publish_queue_nudge(&q, 5, 0));
    tarn_publish_queue_finish(&q, job, 0, 100);
    cr_assert(tarn_publish_queue_nudge(&q, 5, 1));
    cr_expect(eq(i64, take(&q, 99, -1), -1));
    cr_expect(tarn_publish_queue_take(&q, 99, true) == NULL); /* nor does a drain wait for it */
    cr_expect(eq(i64, take(&q, 100, -1), 5));
    tarn_publish_queue_done(&q);
}

Test(publish_queue, a_drain_takes_what_only_pauses)
{
    struct tarn_publish_queue q = { 0 };
    cr_assert(tarn_publish_queue_nudge(&q, 5, 1000));
    struct tarn_publish_job *job = tarn_publish_queue_take(&q, 0, true);
    cr_assert(job != NULL);
    cr_expect(eq(i64, job->table_id, 5));
    tarn_publish_queue_finish(&q, job, 0, -1);
    tarn_publish_queue_done(&q);
}

/* --- waits --- */

static int told[8];

static void tell(void *ctx, bool done) { told[(size_t)ctx] = done ? 1 : 2; }

static void add(struct tarn_publish_waits *waits, size_t n, int64_t table_id, int64_t version,
                int64_t deadline)
{
    struct tarn_publish_wait *wait = malloc(sizeof *wait);
    *wait = (struct tarn_publish_wait){
        .table_id = table_id, .version = version, .deadline_ms = deadline, .fn = tell, .ctx = (void *)n
    };
    tarn_publish_waits_add(waits, wait);
}

static void expect_told(int a, int b, int c, int d)
{
    const int expected[] = { a, b, c, d };
    for (size_t i = 0; i < TARN_COUNT(expected); i++)
        cr_expect(eq(int, told[i], expected[i]), "wait %zu", i);
}

Test(publish_waits, each_is_told_what_becomes_of_it)
{
    struct tarn_publish_waits waits = { 0 };
    add(&waits, 0, 5, 1, 100);
    add(&waits, 1, 6, 1, 100);
    add(&waits, 2, 5, 3, 110);
    add(&waits, 3, 6, 9, 120);
    tarn_publish_waits_tell(tarn_publish_waits_of(&waits, 5, 2, false));
    expect_told(1, 0, 0, 0);
    tarn_publish_waits_tell(tarn_publish_waits_over(&waits, 99));
    expect_told(1, 0, 0, 0);
    tarn_publish_waits_tell(tarn_publish_waits_of(&waits, 6, 4, true));
    expect_told(1, 1, 0, 2);
    tarn_publish_waits_tell(tarn_publish_waits_over(&waits, 110));
    expect_told(1, 1, 2, 2);
    cr_expect(waits.first == NULL);
    add(&waits, 4, 5, 1, 100);
    tarn_publish_waits_tell(tarn_publish_waits_over(&waits, INT64_MAX));
    cr_expect(eq(int, told[4], 2));
}
