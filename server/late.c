/* late.c - one thread that sleeps until the first such task is due, and while
 * there is none. The connection is taken back from the job as the end of a
 * drain does it; the job runs on and lets go of its task when it ends. */
#include "server/late.h"
#include "base/time.h"
#include <stdlib.h>
#include <time.h>

struct tarn_late {
    struct tarn_tasks *tasks; /* borrowed; its lock guards the rest */
    pthread_t thread;
    bool ended;
};

/* With the lock held: until one is due; false: it is the end. */
static bool wait_for_one(struct tarn_late *late)
{
    struct tarn_tasks *tasks = late->tasks;
    while (!late->ended) {
        int64_t at_ms = tarn_tasks_next_late(tasks);
        if (at_ms >= 0 && at_ms <= tarn_monotonic_ms())
            return true;
        const struct timespec until = { .tv_sec = at_ms / 1000, .tv_nsec = at_ms % 1000 * 1000000 };
        if (at_ms < 0)
            pthread_cond_wait(&tasks->departed, &tasks->lock);
        else
            (void)pthread_cond_timedwait(&tasks->departed, &tasks->lock, &until);
    }
    return false;
}

static void *late_main(void *arg)
{
    struct tarn_late *late = arg;
    pthread_mutex_lock(&late->tasks->lock);
    while (wait_for_one(late)) {
        pthread_mutex_unlock(&late->tasks->lock);
        tarn_tasks_abandon_late(late->tasks, tarn_monotonic_ms());
        pthread_mutex_lock(&late->tasks->lock);
    }
    pthread_mutex_unlock(&late->tasks->lock);
    return NULL;
}

tarn_code tarn_late_start(struct tarn_tasks *tasks, int64_t patience_ms, struct tarn_late **out,
                          struct tarn_err *err)
{
    struct tarn_late *late = calloc(1, sizeof *late);
    if (!late)
        return tarn_fail_oom(err);
    late->tasks = tasks;
    tasks->patience_ms = patience_ms; /* before the doors open */
    if (pthread_create(&late->thread, NULL, late_main, late) != 0) {
        free(late);
        return tarn_fail(err, TARN_INTERNAL, "the thread that answers for what takes long cannot start");
    }
    pthread_setname_np(late->thread, "tarn-late");
    *out = late;
    return TARN_OK;
}

void tarn_late_stop(struct tarn_late *late)
{
    if (!late)
        return;
    pthread_mutex_lock(&late->tasks->lock);
    late->ended = true;
    late->tasks->patience_ms = 0;
    pthread_cond_signal(&late->tasks->departed);
    pthread_mutex_unlock(&late->tasks->lock);
    pthread_join(late->thread, NULL);
    free(late);
}
