/* purge.h - what is left to do after DROP ... PURGE: the files of a table go in the
 * background, through crashes and restarts. Data files first, then the manifests that name
 * them, then the lists, then the metadata: a purge that was cut short finds what is left. */
#ifndef TARN_LAKE_PURGE_H
#define TARN_LAKE_PURGE_H
#include "lake/lake.h"

/* Every purge that is due at `now_ms`; one that fails is tried again later,
 * ever more seldom. `is_over` (may be NULL) is asked between files. Blocks. */
TARN_MUST tarn_code tarn_purges_run(struct tarn_lake *lake, int64_t now_ms, bool (*is_over)(void *ctx),
                                    void *ctx, struct tarn_err *err);
#endif
