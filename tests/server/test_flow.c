/* Which thread a request's steps run on, and what the end of a drain does to those who wait for their turns. */
#include "catalog/sqlite/sqlite.h"
#include "server/flow.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <semaphore.h>
#include <sys/resource.h>
#include <unistd.h>

enum { WAITING = 5 };

static sem_t in_check, go_on;
static atomic_int checks, withdrawals, changes, disposals;
static struct tarn_app app;
static struct tarn_lake lake;
static struct tarn_tasks tasks;

static uint64_t turn(const void *use)
{
    (void)use;
    return 1;
}

static tarn_code check(struct tarn_lake *lake_, void *use, struct tarn_err *err)
{
    (void)lake_;
    (void)use;
    (void)err;
    atomic_fetch_add(&checks, 1);
    sem_post(&in_check);
    sem_wait(&go_on);
    return TARN_OK;
}

static tarn_code change(struct tarn_tx *tx, void *use, struct tarn_err *err)
{
    (void)use;
    atomic_fetch_add(&changes, 1);
    return tx->ops->meta.set(tx, "flow", "x", err);
}

static void withdraw(struct tarn_lake *lake_, void *use, tarn_code code)
{
    (void)lake_;
    (void)use;
    cr_expect(eq(int, (int)code, (int)TARN_OVERLOADED));
    atomic_fetch_add(&withdrawals, 1);
}

static tarn_code parse(const struct tarn_request *req, void *use, struct tarn_err *err)
{
    (void)req;
    (void)use;
    (void)err;
    return TARN_OK;
}

static int slow_nice;

static tarn_code slow_check(struct tarn_lake *lake_, void *use, struct tarn_err *err)
{
    slow_nice = getpriority(PRIO_PROCESS, (id_t)gettid());
    return check(lake_, use, err);
}

static tarn_code quick_check(struct tarn_lake *lake_, void *use, struct tarn_err *err)
{
    (void)lake_;
    (void)use;
    (void)err;
    atomic_fetch_add(&checks, 1);
    return TARN_OK;
}

static const struct tarn_use k_taking_turns = { .name = "flow", .size = 8, .turn = turn, .check = check, .change = change, .withdraw = withdraw },
                             k_slow = { .name = "slow", .size = 8, .check = slow_check, .is_slow = true, .change = change },
                             k_quick = { .name = "quick", .size = 8, .check = quick_check, .change = change };
static const struct tarn_flow k_flows[] = { { &k_taking_turns, parse, tarn_flow_nothing }, { &k_slow, parse, tarn_flow_nothing },
                                            { &k_quick, parse, tarn_flow_nothing } };
static const struct tarn_route k_in_turns = { .method = "POST", .flow = &k_flows[0] }, k_slowly = { .method = "POST", .flow = &k_flows[1] },
                               k_quickly = { .method = "POST", .flow = &k_flows[2] };

static sem_t resumed;

static void resume(struct tarn_task *task)
{
    (void)task;
    sem_post(&resumed);
}

static void dispose(struct tarn_task *task)
{
    tarn_task_done(task);
    free(task);
    atomic_fetch_add(&disposals, 1);
}

static void launch(const struct tarn_route *route)
{
    struct tarn_task *task = calloc(1, sizeof *task);
    TARN_ERR(err);

    tarn_task_init(task, &tasks);
    task->resume = resume;
    task->dispose = dispose;
    task->req.app = &app;
    task->req.route = route;
    cr_assert(not(tarn_flow_advance(task)));
    cr_assert(eq(int, (int)tarn_task_depart(task, &err), (int)TARN_OK));
    tarn_flow_launch(task);
    tarn_task_unref(task);
}

static struct tarn_pool *pool, *slow;

static void begin(void)
{
    const struct tarn_sqlite_options options = { .path = tarn_path(tarn_tmp(), "tarn.sqlite"), .migrate = true };

    sem_init(&in_check, 0, 0);
    sem_init(&go_on, 0, 0);
    sem_init(&resumed, 0, 0);
    cr_assert(eq(int, (int)tarn_sqlite_open(&options, &lake.store, NULL), (int)TARN_OK));
    cr_assert(eq(int, (int)tarn_pool_new("flow", 2, 0, 100, &pool, NULL), (int)TARN_OK));
    cr_assert(eq(int, (int)tarn_pool_new("slow", 1, TARN_POOL_GIVES_WAY, 100, &slow, NULL), (int)TARN_OK));
    app.lake = &lake;
    tarn_tasks_init(&tasks, pool, 100);
    tasks.slow = slow;
}

static void end(void)
{
    tarn_pool_free(slow);
    tarn_pool_free(pool);
    tarn_tasks_done(&tasks);
    tarn_store_free(lake.store);
}

TestSuite(flow, .init = begin, .fini = end, .timeout = 60);

Test(flow, who_still_waits_for_a_turn_when_the_drain_is_over_begins_nothing)
{
    for (int i = 0; i < 1 + WAITING; i++)
        launch(&k_in_turns);
    sem_wait(&in_check);
    atomic_store(&tasks.draining, true);
    cr_expect(eq(sz, tarn_tasks_abandon(&tasks), 1 + WAITING));
    for (int i = 0; i < 1 + WAITING; i++) /* nobody is held up, checked or not */
        sem_post(&go_on);
    tarn_tasks_settle(&tasks);
    cr_expect(eq(int, checks, 1));
    cr_expect(eq(int, changes, 1), "what was begun is finished");
    cr_expect(eq(int, withdrawals, WAITING));
    cr_expect(eq(int, disposals, 1 + WAITING));
}

/* As many as there are workers and more: a scan that somebody asks for takes seconds, a commit milliseconds. */
Test(flow, slow_checks_keep_no_other_request_waiting_and_give_way)
{
    enum { SLOW = 4, QUICK = 3 };

    for (int i = 0; i < SLOW; i++)
        launch(&k_slowly);
    sem_wait(&in_check);
    for (int i = 0; i < QUICK; i++)
        launch(&k_quickly);
    for (int i = 0; i < QUICK; i++)
        sem_wait(&resumed);
    cr_expect(eq(int, checks, 1 + QUICK), "the others wait for the first slow one");
    cr_expect(eq(int, changes, QUICK));
    for (int i = 0; i < SLOW; i++)
        sem_post(&go_on);
    atomic_store(&tasks.draining, true);
    tarn_tasks_settle(&tasks);
    cr_expect(eq(int, changes, SLOW + QUICK));
    cr_expect(ge(int, slow_nice, TARN_POOL_GIVES_WAY));
}
