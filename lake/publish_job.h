/* publish_job.h - inside lake/: one table's turn at the publisher. */
#ifndef TARN_LAKE_PUBLISH_JOB_H
#define TARN_LAKE_PUBLISH_JOB_H
#include "lake/publish_queue.h"
#include "lake/publish_run.h"

/* Publishes what is behind, and tells the log of faults; *due_ms: when to come again, -1: not before a
 * nudge. `impatient`: no pause for a long manifest. Of *run the table and who may cancel it are given. */
void tarn_publish_job_run(struct tarn_publish_job *job, bool impatient, struct tarn_publish_run *run,
                          int64_t *due_ms);
#endif
