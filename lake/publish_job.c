/* publish_job.c - what a table's turn comes to, and when the next one is.
 * A fault is tried again after a growing pause. A table whose manifest is
 * long gets its log entries at once and its manifest less often. */
#include "lake/publish_job.h"
#include "base/log.h"
#include "base/time.h"
#include "formats/manifest/manifest.h"
#include <string.h>

enum {
    RETRY_FIRST_MS = 100,
    LEFTOVER_MS = 60 * 60 * 1000,
    PAUSE_MAX_MS = 30 * 1000,
    PAUSE_FREE_BYTES = 1000 * 1000, /* a manifest below this is written at once */
    PAUSE_BYTES_A_MS = 3333         /* 1 MB: 0.3 s, 100 MB: 30 s */
};

static int64_t pause_of(int64_t manifest_bytes)
{
    if (manifest_bytes < PAUSE_FREE_BYTES)
        return 0;
    int64_t ms = manifest_bytes / PAUSE_BYTES_A_MS;
    return ms < PAUSE_MAX_MS ? ms : PAUSE_MAX_MS;
}

static int64_t retry_after(unsigned failures)
{
    int64_t ms = failures < 10 ? (int64_t)RETRY_FIRST_MS << (failures - 1) : PAUSE_MAX_MS;
    return ms < PAUSE_MAX_MS ? ms : PAUSE_MAX_MS;
}

static bool is_cancelled(const struct tarn_publish_run *run)
{
    return run->cancelled && run->cancelled(run->ctx);
}

static void log_fault(const struct tarn_publish_job *job, const struct tarn_err *err)
{
    if (err->code == TARN_FOREIGN_WRITE)
        tarn_log_err(TARN_LOG_ERROR, "foreign_write", err);
    else if (job->failures == 1 || job->failures % 20 == 0)
        tarn_log_err(TARN_LOG_WARN, "publication_failed", err);
}

/* Checkpoints and lists of files that could not be written are tried again without holding up commits. */
static void judge_side(struct tarn_publish_job *job, const struct tarn_publish_run *run, int64_t *due_ms)
{
    if (run->foreign_batches > 0)
        tarn_log(TARN_LOG_WARN, "foreign_checkpoint", "location", run->table->location, "batch",
                 run->foreign_batch, NULL);
    bool failed = run->side.code != TARN_OK && !is_cancelled(run);
    job->side_failures = failed ? job->side_failures + 1 : 0;
    if (!failed)
        return;
    if (job->side_failures == 1 || job->side_failures % 20 == 0)
        tarn_log_err(TARN_LOG_WARN, "side_documents_not_written", &run->side);
    *due_ms = tarn_monotonic_ms() + retry_after(job->side_failures);
}

/* Once a table and process, after the work: what a crash left behind is in nobody's way. */
static void tidy(struct tarn_publish_job *job, const struct tarn_publish_run *run)
{
    static const char *const k_folders[] = { "", TARN_DIR_LOG };
    if (job->tidied || !run->place)
        return;
    job->tidied = true;
    for (size_t i = 0; i < TARN_COUNT(k_folders); i++)
        tarn_place_tidy(run->place, k_folders[i], LEFTOVER_MS);
}

void tarn_publish_job_run(struct tarn_publish_job *job, bool impatient, struct tarn_publish_run *run,
                          int64_t *due_ms)
{
    TARN_ERR(fault);
    int64_t manifest_due = job->manifest_ms + pause_of(job->manifest_bytes);
    bool pausing = !impatient && job->manifest_bytes > 0 && tarn_monotonic_ms() < manifest_due;
    run->entries_done = job->entries_done;
    memcpy(run->cache_key, job->cache_key, sizeof run->cache_key);
    run->last_step = TARN_STEP_RECORD;
    run->pausing = pausing;
    tarn_code code = tarn_publish_run(run, &fault);
    job->entries_done = run->entries_done;
    memcpy(job->cache_key, run->cache_key, sizeof job->cache_key);
    if (run->manifest_bytes > 0) {
        job->manifest_bytes = run->manifest_bytes;
        job->manifest_ms = tarn_monotonic_ms();
    }
    bool recovered = code == TARN_OK && job->failures > 0;
    job->failures =
        code == TARN_OK || code == TARN_RECHECK || code == TARN_FOREIGN_WRITE ? 0 : job->failures + 1;
    if (code != TARN_OK && code != TARN_RECHECK && !is_cancelled(run))
        log_fault(job, &fault);
    if (recovered)
        tarn_log(TARN_LOG_INFO, "publication_resumed", "location", run->table ? run->table->location : NULL,
                 NULL);

    tidy(job, run);
    *due_ms = -1;
    if (code == TARN_RECHECK)
        *due_ms = tarn_monotonic_ms();
    else if (job->failures > 0)
        *due_ms = tarn_monotonic_ms() + retry_after(job->failures);
    else if (pausing && run->wants_version)
        *due_ms = manifest_due;
    else
        judge_side(job, run, due_ms);
}
