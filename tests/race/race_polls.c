/* race_polls: threads that stand for loops wait for events, each until it has seen all of them, while a writer makes
 * them one by one and in bursts; at the end some wait for what never comes and a drain sends them home. Under the
 * thread sanitizer: no event is missed, everybody comes back to its loop exactly once, and nobody is left. */
#include "base/time.h"
#include "catalog/sqlite/sqlite.h"
#include "server/flow.h"
#include "server/poll.h"
#include "tests/race/folder.h"
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LOOPS = 8, EVENTS = 400 };

static struct tarn_app app;
static struct tarn_lake lake;
static struct tarn_tasks tasks;
static atomic_int complete, spoiled, disposed, begun;

struct ride {
    struct tarn_task task; /* first */
    sem_t landed;
    int64_t after, newest; /* where the reader is, and what the last look saw */
};

static tarn_code newest_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    int64_t first_after;
    return tx->ops->events.bounds(tx, &first_after, ctx, err);
}

/* As the feed does: an answer without events may wait. */
static tarn_code look(const struct tarn_request *req, struct tarn_reply *reply, struct tarn_err *err)
{
    struct ride *ride = req->transport;
    reply->status = 200;
    tarn_code code = tarn_store_read(lake.store, newest_tx, &ride->newest, err);
    reply->wait_ms = ride->newest > ride->after ? 0 : 60000;
    return code;
}
static const struct tarn_route k_route = { .method = "GET", .work = look };

static void resume(struct tarn_task *task) { sem_post(&((struct ride *)task)->landed); }
static void dispose(struct tarn_task *task)
{
    struct ride *ride = (struct ride *)task;
    tarn_task_done(task);
    sem_destroy(&ride->landed);
    free(ride);
    atomic_fetch_add(&disposed, 1);
}

/* One request; the newest event that its answer knew of. */
static int64_t ask(int64_t after)
{
    TARN_ERR(err);
    struct ride *ride = calloc(1, sizeof *ride);
    ride->after = after;
    sem_init(&ride->landed, 0, 0);
    tarn_task_init(&ride->task, &tasks);
    ride->task.resume = resume;
    ride->task.dispose = dispose;
    ride->task.req.app = &app;
    ride->task.req.transport = ride;
    ride->task.req.route = &k_route;
    atomic_fetch_add(&begun, 1);
    tarn_tasks_begin(&tasks);
    while (!tarn_flow_advance(&ride->task)) {
        if (tarn_task_depart(&ride->task, &err) != TARN_OK)
            abort();
        tarn_flow_launch(&ride->task);
        sem_wait(&ride->landed);
    }
    int64_t newest = ride->newest;
    if (ride->task.code != TARN_OK || ride->task.reply.status != 200)
        atomic_fetch_add(&spoiled, 1);
    tarn_task_unref(&ride->task);
    tarn_tasks_end(&tasks);
    return newest;
}

static void *loop(void *arg)
{
    int64_t after = 0;
    while (after < EVENTS) {
        int64_t newest = ask(after);
        if (newest <= after)
            atomic_fetch_add(&spoiled, 1); /* woken for nothing, or not at all */
        after = newest;
    }
    atomic_fetch_add(&complete, 1);
    if (ask(after) != after) /* until the drain */
        atomic_fetch_add(&spoiled, 1);
    return arg;
}

static tarn_code event_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct tarn_event event = { .type = "t", .table_id = 1, .namespace_ = "n", .name = "t", .at = 1,
                                      .data = "{}" };
    (void)ctx;
    return tx->ops->events.add(tx, &event, err);
}

static void make_events(void)
{
    TARN_ERR(err);
    for (int i = 0; i < EVENTS; i++) {
        if (tarn_store_write(lake.store, event_tx, NULL, &err) != TARN_OK)
            abort();
        if (i % 10 == 0)
            usleep(5000);
    }
}

static bool await(atomic_int *what, int count)
{
    int64_t until_ms = tarn_monotonic_ms() + 60000;
    while (atomic_load(what) < count && tarn_monotonic_ms() < until_ms)
        usleep(1000);
    return atomic_load(what) == count;
}

int main(void)
{
    TARN_ERR(err);
    char folder[RACE_FOLDER_MAX], path[RACE_PATH_MAX];
    pthread_t threads[LOOPS];
    struct tarn_pool *pool = NULL;
    struct tarn_polls *polls = NULL;
    if (!race_folder_make(folder))
        return 2;
    snprintf(path, sizeof path, "%s/tarn.sqlite", folder);
    const struct tarn_sqlite_options options = { .path = path, .migrate = true };
    if (tarn_sqlite_open(&options, &lake.store, &err) != TARN_OK ||
        tarn_pool_new("race", 3, 0, 1000, &pool, &err) != TARN_OK ||
        tarn_polls_start(lake.store, LOOPS, &polls, &err) != TARN_OK)
        return 2;
    app.lake = &lake;
    tarn_tasks_init(&tasks, pool, LOOPS);
    tasks.polls = polls;
    for (int i = 0; i < LOOPS; i++)
        pthread_create(&threads[i], NULL, loop, NULL);
    make_events();
    bool all = await(&complete, LOOPS);
    if (!all)
        _exit(1); /* somebody still waits for an event that is there */
    atomic_store(&tasks.draining, true);
    tarn_polls_end(polls);
    for (int i = 0; i < LOOPS; i++)
        pthread_join(threads[i], NULL);
    tarn_tasks_settle(&tasks);
    bool left = tarn_polls_count(polls) > 0;
    tarn_pool_free(pool);
    tarn_store_free(lake.store);
    tarn_polls_free(polls);
    bool is_removed = race_folder_remove(folder);
    printf("%d complete, %d asked, %d disposed, %d spoiled\n", complete, begun, disposed, spoiled);
    return is_removed && !left && disposed == begun && spoiled == 0 ? 0 : 1;
}
