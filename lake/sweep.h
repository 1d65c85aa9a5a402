/* sweep.h - what time and crashes leave behind: rows staged for a registration that never ended, tables
 * dropped longer ago than retention.dropped, idempotency keys older than 24 hours, events older than
 * retention.events, what a large commit left that was given up, and the history before oldest_version. */
#ifndef TARN_LAKE_SWEEP_H
#define TARN_LAKE_SWEEP_H
#include "lake/lake.h"

#define TARN_KEY_RETENTION_MS INT64_C(86400000)

/* One round in small transactions. Blocks; never on a thread that serves requests. */
TARN_MUST tarn_code tarn_lake_sweep(struct tarn_lake *lake, int64_t now_ms, struct tarn_err *err);

/* A thread that sweeps at the start and every hour from then on; a round that fails is logged. */
struct tarn_sweeper;
TARN_MUST tarn_code tarn_sweeper_start(struct tarn_lake *lake, struct tarn_sweeper **out,
                                       struct tarn_err *err);
/* A large commit was given up, or a table dropped with its files: what
 * is to be done is done soon. Any thread; never blocks. NULL is fine. */
void tarn_sweeper_nudge(struct tarn_sweeper *sweeper);
void tarn_sweeper_stop(struct tarn_sweeper *sweeper); /* ends a running round after its chunk; NULL is fine */
#endif
