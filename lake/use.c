/* use.c - a use case's steps in a row on the calling thread: the same order that server/flow.c keeps
 * on many threads, for the command line, start-up and tests. */
#include "lake/lake.h"
#include "lake/publish.h"
#include <pthread.h>

static bool wants_check(const struct tarn_lake *lake, const struct tarn_use *use, const void *state)
{
    return use->check && (!use->needs_check || use->needs_check(lake, state));
}

static tarn_code decide(struct tarn_lake *lake, const struct tarn_use *use, void *state, struct tarn_err *err)
{
    tarn_code code = TARN_RECHECK;

    for (int i = 0; code == TARN_RECHECK && i <= TARN_RECHECKS_MAX; i++) {
        code = wants_check(lake, use, state) ? use->check(lake, state, err) : TARN_OK;
        if (code == TARN_OK && use->change)
            code = tarn_store_write(lake->store, use->change, state, err);
    }
    if (code == TARN_RECHECK)
        code = tarn_fail(err, TARN_OVERLOADED, "the table keeps changing while it is checked, try again");
    if (code != TARN_OK && use->withdraw)
        use->withdraw(lake, state, code);
    if (code == TARN_OK && use->settled)
        use->settled(lake, state);
    return code;
}

struct wait {
    pthread_mutex_t lock;
    pthread_cond_t told;
    bool over, done;
};

static void wait_over(void *ctx, bool done)
{
    struct wait *w = ctx;

    pthread_mutex_lock(&w->lock);
    w->over = true;
    w->done = done;
    pthread_cond_signal(&w->told);
    pthread_mutex_unlock(&w->lock);
}

static bool wait_for(struct tarn_lake *lake, int64_t table_id, int64_t version)
{
    struct wait w = { .lock = PTHREAD_MUTEX_INITIALIZER, .told = PTHREAD_COND_INITIALIZER };

    if (!lake->publisher)
        return false;
    tarn_publisher_wait(lake->publisher, table_id, version, wait_over, &w);
    pthread_mutex_lock(&w.lock);
    while (!w.over)
        pthread_cond_wait(&w.told, &w.lock);
    pthread_mutex_unlock(&w.lock);
    return w.done;
}

tarn_code tarn_use_run(struct tarn_lake *lake, const struct tarn_use *use, void *state, struct tarn_err *err)
{
    int64_t table_id = 0, version = 0;
    tarn_code code = decide(lake, use, state, err);

    if (code == TARN_OK && use->after && (!use->needs_after || use->needs_after(state)))
        code = use->after(lake, state, err);
    if (code != TARN_OK)
        return code;
    bool waits = use->publishes && use->publishes(state, &table_id, &version);
    while (waits) {
        bool done = wait_for(lake, table_id, version);
        if (use->published)
            use->published(state, done);
        waits =
            use->publishes_more && use->publishes_more(state) && use->publishes(state, &table_id, &version);
    }
    return TARN_OK;
}
