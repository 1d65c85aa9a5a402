/* race_flow: threads that stand for loops send reads, flows and streams through workers and writer, while
 * one more thread takes tasks back as the end of a drain does, under the thread sanitizer. Every task comes back to
 * its loop exactly once, and every job lets go of it. */
#include "catalog/sqlite/sqlite.h"
#include "server/flow.h"
#include "server/stream.h"
#include "tests/race/folder.h"
#include <semaphore.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOOPS = 4, EACH = 300, PIECES = 5 };

static struct tarn_app app;
static struct tarn_lake lake;
static struct tarn_tasks tasks;
static atomic_int answered, lost, spoiled, disposed;

struct ride {
    struct tarn_task task; /* first */
    sem_t landed;
};

/* --- a use case that is checked again twice --- */

struct use { int checks, runs, afters; };

static tarn_code check(struct tarn_lake *lake_, void *use, struct tarn_err *err)
{
    (void)lake_;
    (void)err;
    ((struct use *)use)->checks++;
    return TARN_OK;
}
static tarn_code change(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct use *use = ctx;
    use->runs++;
    if (use->checks < 3)
        return tarn_fail(err, TARN_RECHECK, "again");
    return tx->ops->meta.set(tx, "race", "x", err);
}
static tarn_code after(struct tarn_lake *lake_, void *use, struct tarn_err *err)
{
    (void)lake_;
    (void)err;
    ((struct use *)use)->afters++;
    return TARN_OK;
}
static tarn_code parse(const struct tarn_request *req, void *use, struct tarn_err *err)
{
    (void)req;
    (void)use;
    (void)err;
    return TARN_OK;
}
static tarn_code answer(const struct tarn_request *req, void *state, struct tarn_reply *reply, struct tarn_err *err)
{
    const struct use *use = state;
    (void)req;
    (void)err;
    reply->status = use->checks == 3 && use->afters == 1 ? 201 : 500;
    return TARN_OK;
}
static const struct tarn_use k_use = { .name = "race", .size = sizeof(struct use), .check = check, .change = change,
                                       .after = after };
static const struct tarn_flow k_flow = { &k_use, parse, answer };

/* --- a read on a worker, and a stream --- */

static tarn_code work(const struct tarn_request *req, struct tarn_reply *reply, struct tarn_err *err)
{
    (void)req;
    reply->status = 200;
    tarn_buf_adds(&reply->body, "{}");
    return tarn_buf_check(&reply->body, err);
}
static tarn_code produce(void *state, struct tarn_buf *out, bool *end, struct tarn_err *err)
{
    int *left = state;
    char *to = tarn_buf_reserve(out, TARN_PIECE_BYTES);
    if (!to)
        return tarn_fail_oom(err);
    memset(to, 'x', TARN_PIECE_BYTES);
    out->len += TARN_PIECE_BYTES;
    *end = --*left == 0;
    return TARN_OK;
}
static tarn_code stream(const struct tarn_request *req, struct tarn_reply *reply, struct tarn_err *err)
{
    (void)req;
    int *left = malloc(sizeof *left);
    if (!left)
        return tarn_fail_oom(err);
    *left = PIECES;
    reply->status = 200;
    reply->stream = (struct tarn_stream){ produce, free, left };
    return TARN_OK;
}

static const struct tarn_route k_routes[] = {
    { .method = "POST", .flow = &k_flow },
    { .method = "GET", .work = work },
    { .method = "GET", .work = stream },
};

/* --- loops --- */

static void resume(struct tarn_task *task)
{
    sem_post(&((struct ride *)task)->landed);
}
static void dispose(struct tarn_task *task)
{
    struct ride *ride = (struct ride *)task;
    tarn_task_done(task);
    sem_destroy(&ride->landed);
    free(ride);
    atomic_fetch_add(&disposed, 1);
}

/* One suspension: false when the drain took the task back. */
static bool fly(struct ride *ride)
{
    TARN_ERR(err);
    while (tarn_task_depart(&ride->task, &err) != TARN_OK)
        sched_yield();
    tarn_flow_launch(&ride->task);
    sem_wait(&ride->landed);
    return !ride->task.lost;
}

static bool read_stream(struct ride *ride)
{
    static _Thread_local char out[64 << 10];
    struct tarn_task *task = &ride->task;
    size_t total = 0;
    for (;;) {
        size_t len = tarn_stream_copy(task, out, sizeof out);
        total += len;
        if (len > 0)
            continue;
        if (task->code != TARN_OK || task->stream_end)
            break;
        task->step = TARN_STEP_STREAM;
        if (!fly(ride))
            return false;
    }
    if (total != (size_t)PIECES * TARN_PIECE_BYTES)
        atomic_fetch_add(&spoiled, 1);
    return true;
}

static bool run(struct ride *ride)
{
    while (!tarn_flow_advance(&ride->task))
        if (!fly(ride))
            return false;
    if (ride->task.code != TARN_OK || (ride->task.reply.status != 200 && ride->task.reply.status != 201))
        atomic_fetch_add(&spoiled, 1);
    return !ride->task.reply.stream.produce || read_stream(ride);
}

static void *loop(void *arg)
{
    for (int i = 0; i < EACH; i++) {
        struct ride *ride = calloc(1, sizeof *ride);
        sem_init(&ride->landed, 0, 0);
        tarn_task_init(&ride->task, &tasks);
        ride->task.resume = resume;
        ride->task.dispose = dispose;
        ride->task.req.app = &app;
        ride->task.req.route = &k_routes[(size_t)i % TARN_COUNT(k_routes)];
        tarn_tasks_begin(&tasks);
        atomic_fetch_add(run(ride) ? &answered : &lost, 1);
        tarn_task_unref(&ride->task);
        tarn_tasks_end(&tasks);
    }
    return arg;
}

static void *reaper(void *stop)
{
    while (!atomic_load((atomic_bool *)stop)) {
        usleep(20000);
        tarn_tasks_abandon(&tasks);
    }
    return NULL;
}

int main(void)
{
    TARN_ERR(err);
    char folder[RACE_FOLDER_MAX], path[RACE_PATH_MAX];
    pthread_t threads[LOOPS], reaping;
    struct tarn_pool *pool = NULL;
    static atomic_bool stop;
    if (!race_folder_make(folder))
        return 2;
    snprintf(path, sizeof path, "%s/tarn.sqlite", folder);
    const struct tarn_sqlite_options options = { .path = path, .migrate = true };
    if (tarn_sqlite_open(&options, &lake.store, &err) != TARN_OK
        || tarn_pool_new("race", 3, 0, 1000, &pool, &err) != TARN_OK)
        return 2;
    app.lake = &lake;
    tarn_tasks_init(&tasks, pool, 3);
    for (int i = 0; i < LOOPS; i++)
        pthread_create(&threads[i], NULL, loop, NULL);
    pthread_create(&reaping, NULL, reaper, &stop);
    for (int i = 0; i < LOOPS; i++)
        pthread_join(threads[i], NULL);
    atomic_store(&stop, true);
    pthread_join(reaping, NULL);
    atomic_store(&tasks.draining, true);
    tarn_tasks_settle(&tasks);
    tarn_pool_free(pool);
    tarn_store_free(lake.store);
    bool is_removed = race_folder_remove(folder);
    printf("%d answered, %d lost, %d spoiled, %d disposed\n", answered, lost, spoiled, disposed);
    return is_removed && answered + lost == LOOPS * EACH && disposed == LOOPS * EACH && spoiled == 0 ? 0 : 1;
}
