/* publish_cache.h - schema_cache.json: for each schema version that files of the snapshot were
 * written with, how they are read as the current one. Only the files lake/publish_*.c include it. */
#ifndef TARN_LAKE_PUBLISH_CACHE_H
#define TARN_LAKE_PUBLISH_CACHE_H
#include "lake/publish_run.h"

/* Schema versions met on the way over a snapshot. */
struct tarn_versions_used {
    int64_t *versions; /* owned, ascending */
    size_t count, cap;
    bool failed; /* no memory */
};
void tarn_versions_used_add(struct tarn_versions_used *used, int64_t version); /* 0 (not known) is passed over */
void tarn_versions_used_done(struct tarn_versions_used *used);

/* Writes the document unless it is there already. A table that has had one schema version only needs none. */
TARN_MUST tarn_code tarn_publish_cache(struct tarn_publish_run *run, const struct tarn_versions_used *used,
                                       struct tarn_err *err);
/* The same after a walk of its own over the files, for a run that writes no manifest. */
TARN_MUST tarn_code tarn_publish_cache_alone(struct tarn_publish_run *run, struct tarn_err *err);
#endif
