/* sweep.h - what time and crashes leave behind: rows staged for a registration that never ended, tables dropped
 * longer ago than retention.dropped, idempotency keys older than 24 hours. */
#ifndef TARN_LAKE_SWEEP_H
#define TARN_LAKE_SWEEP_H
#include "lake/lake.h"

#define TARN_KEY_RETENTION_MS INT64_C(86400000)

/* One round in small transactions. Blocks; start-up and a background thread (once an hour is often enough). */
TARN_MUST tarn_code tarn_lake_sweep(struct tarn_lake *lake, int64_t now_ms, struct tarn_err *err);
#endif
