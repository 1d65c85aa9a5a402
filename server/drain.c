/* drain.c - libmicrohttpd cuts requests that run when it is stopped, and aborts the process when a
 * connection is suspended; so both are brought to an end before. */
#include "server/drain.h"
#include "base/log.h"
#include "base/time.h"
#include "server/poll.h"

#define LAST_WORDS_MS 1000 /* for the answers of those that were taken back */

void tarn_drain(struct tarn_mhd *mhd, struct tarn_tasks *tasks, int64_t deadline_ms)
{
    atomic_store(&tasks->draining, true);
    tarn_mhd_quiesce(mhd);
    if (tasks->polls)
        tarn_polls_end(tasks->polls);
    if (tarn_tasks_wait(tasks, deadline_ms))
        return;
    size_t lost = tarn_tasks_abandon(tasks);
    tarn_log(TARN_LOG_WARN, "requests cut at the end of the drain", "suspended", tarn_log_i64((int64_t)lost),
             "active", tarn_log_i64((int64_t)atomic_load(&tasks->active)), NULL);
    (void)tarn_tasks_wait(tasks, tarn_monotonic_ms() + LAST_WORDS_MS);
    /* A stream may have suspended its connection again meanwhile. */
    while (tarn_tasks_abandon(tasks) > 0)
        (void)tarn_tasks_wait(tasks, tarn_monotonic_ms() + LAST_WORDS_MS);
}
