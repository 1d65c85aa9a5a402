/* task.c - who holds a request. `where` decides each hand-over by one compare-and-swap, so that a
 * connection is resumed exactly once, by its job or by the drain. */
#include "server/task.h"
#include "base/time.h"
#include <errno.h>
#include <stdlib.h>
#include <time.h>

enum where { ON_LOOP, IN_AIR, ABANDONED };

void tarn_tasks_init(struct tarn_tasks *tasks, struct tarn_pool *pool, size_t air_max)
{
    *tasks = (struct tarn_tasks){ .pool = pool, .air_max = air_max };
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&tasks->lock, NULL);
    pthread_cond_init(&tasks->quiet, &attr);
    pthread_cond_init(&tasks->departed, &attr);
    pthread_condattr_destroy(&attr);
    tarn_turns_init(&tasks->turns);
}

void tarn_tasks_done(struct tarn_tasks *tasks)
{
    pthread_mutex_destroy(&tasks->lock);
    pthread_cond_destroy(&tasks->quiet);
    pthread_cond_destroy(&tasks->departed);
    tarn_turns_done(&tasks->turns);
}

void tarn_tasks_begin(struct tarn_tasks *tasks)
{
    atomic_fetch_add_explicit(&tasks->active, 1, memory_order_seq_cst);
}

void tarn_tasks_end(struct tarn_tasks *tasks)
{
    if (atomic_fetch_sub(&tasks->active, 1) != 1 || !atomic_load(&tasks->draining))
        return;
    pthread_mutex_lock(&tasks->lock);
    pthread_cond_broadcast(&tasks->quiet);
    pthread_mutex_unlock(&tasks->lock);
}

bool tarn_tasks_wait(struct tarn_tasks *tasks, int64_t deadline_ms)
{
    struct timespec until = { .tv_sec = deadline_ms / 1000, .tv_nsec = deadline_ms % 1000 * 1000000 };
    int rc = 0;
    pthread_mutex_lock(&tasks->lock);
    while (atomic_load(&tasks->active) > 0 && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&tasks->quiet, &tasks->lock, &until);
    pthread_mutex_unlock(&tasks->lock);
    return atomic_load(&tasks->active) == 0;
}

static void list_add(struct tarn_tasks *tasks, struct tarn_task *task)
{
    task->prev = NULL;
    task->next = tasks->first;
    if (tasks->first)
        tasks->first->prev = task;
    tasks->first = task;
    tasks->air_count++;
}

static void list_remove(struct tarn_tasks *tasks, struct tarn_task *task)
{
    if (task->prev)
        task->prev->next = task->next;
    else
        tasks->first = task->next;
    if (task->next)
        task->next->prev = task->prev;
    tasks->air_count--;
}

void tarn_task_init(struct tarn_task *task, struct tarn_tasks *tasks)
{
    task->tasks = tasks;
    atomic_init(&task->refs, 1);
    atomic_init(&task->where, ON_LOOP);
}

void tarn_task_ref(struct tarn_task *task)
{
    atomic_fetch_add_explicit(&task->refs, 1, memory_order_relaxed);
}

void tarn_task_unref(struct tarn_task *task)
{
    if (atomic_fetch_sub_explicit(&task->refs, 1, memory_order_acq_rel) == 1)
        task->dispose(task);
}

void tarn_task_done(struct tarn_task *task)
{
    const struct tarn_flow *flow = task->req.route ? task->req.route->flow : NULL;
    if (flow && task->use && flow->use->done)
        flow->use->done(task->use);
    free(task->use);
    tarn_reply_done(&task->reply);
    tarn_err_done(&task->err);
    tarn_buf_done(&task->piece);
    tarn_request_done(&task->req);
    tarn_buf_done(&task->body);
}

static bool may_be_late(const struct tarn_task *task)
{
    const struct tarn_route *route = task->req.route;
    return task->tasks->patience_ms > 0 && route && route->elsewhere;
}

tarn_code tarn_task_depart(struct tarn_task *task, struct tarn_err *err)
{
    struct tarn_tasks *tasks = task->tasks;
    pthread_mutex_lock(&tasks->lock);
    bool room = tasks->air_count < tasks->air_max || task->step == TARN_STEP_STREAM;
    if (room) {
        tarn_task_ref(task);
        atomic_store(&task->where, IN_AIR);
        list_add(tasks, task);
        tasks->jobs++;
    }
    task->late_at_ms = room && may_be_late(task) ? tarn_monotonic_ms() + tasks->patience_ms : 0;
    if (task->late_at_ms > 0)
        pthread_cond_signal(&tasks->departed);
    pthread_mutex_unlock(&tasks->lock);
    if (!room)
        return tarn_fail(err, TARN_OVERLOADED, "%zu requests are being worked on; ask again later",
                         tasks->air_max);
    return TARN_OK;
}

bool tarn_task_is_cut(const struct tarn_task *task)
{
    pthread_mutex_lock(&task->tasks->lock);
    bool is_cut = task->lost && !task->late;
    pthread_mutex_unlock(&task->tasks->lock);
    return is_cut;
}

/* Last of all: when the last job has ended, what it used may go. */
static void job_ended(struct tarn_tasks *tasks)
{
    pthread_mutex_lock(&tasks->lock);
    if (--tasks->jobs == 0 && atomic_load(&tasks->draining))
        pthread_cond_broadcast(&tasks->quiet);
    pthread_mutex_unlock(&tasks->lock);
}

void tarn_task_land(struct tarn_task *task)
{
    struct tarn_tasks *tasks = task->tasks;
    int expected = IN_AIR;
    pthread_mutex_lock(&tasks->lock);
    bool mine = atomic_compare_exchange_strong(&task->where, &expected, ON_LOOP);
    if (mine)
        list_remove(tasks, task);
    pthread_mutex_unlock(&tasks->lock);
    if (mine)
        task->resume(task);
    tarn_task_unref(task);
    job_ended(tasks);
}

/* With the lock held. */
static void abandon(struct tarn_tasks *tasks, struct tarn_task *task)
{
    list_remove(tasks, task);
    atomic_store(&task->where, ABANDONED);
    task->lost = true;
}

static struct tarn_task *abandon_one(struct tarn_tasks *tasks)
{
    pthread_mutex_lock(&tasks->lock);
    struct tarn_task *task = tasks->first;
    if (task)
        abandon(tasks, task);
    pthread_mutex_unlock(&tasks->lock);
    return task;
}

size_t tarn_tasks_abandon(struct tarn_tasks *tasks)
{
    size_t count = 0;
    for (struct tarn_task *task = abandon_one(tasks); task; task = abandon_one(tasks)) {
        task->resume(task);
        count++;
    }
    return count;
}

int64_t tarn_tasks_next_late(const struct tarn_tasks *tasks)
{
    int64_t next_ms = -1;
    for (const struct tarn_task *task = tasks->first; task; task = task->next)
        if (task->late_at_ms > 0 && (next_ms < 0 || task->late_at_ms < next_ms))
            next_ms = task->late_at_ms;
    return next_ms;
}

static struct tarn_task *abandon_late_one(struct tarn_tasks *tasks, int64_t now_ms)
{
    pthread_mutex_lock(&tasks->lock);
    struct tarn_task *task = tasks->first;
    while (task && (task->late_at_ms == 0 || task->late_at_ms > now_ms))
        task = task->next;
    if (task) {
        task->late = true;
        abandon(tasks, task);
    }
    pthread_mutex_unlock(&tasks->lock);
    return task;
}

void tarn_tasks_abandon_late(struct tarn_tasks *tasks, int64_t now_ms)
{
    for (struct tarn_task *task = abandon_late_one(tasks, now_ms); task;
         task = abandon_late_one(tasks, now_ms))
        task->resume(task);
}

void tarn_tasks_settle(struct tarn_tasks *tasks)
{
    pthread_mutex_lock(&tasks->lock);
    while (tasks->jobs > 0)
        pthread_cond_wait(&tasks->quiet, &tasks->lock);
    pthread_mutex_unlock(&tasks->lock);
}
