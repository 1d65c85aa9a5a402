/* reclaim.h - which files on a table's storage nobody needs any more: those that commits removed and that no
 * kept version has, and orphans, which no version ever had. Tarn deletes none of them. */
#ifndef TARN_LAKE_RECLAIM_H
#define TARN_LAKE_RECLAIM_H
#include "lake/lake.h"

#define TARN_ORPHAN_AGE_MS (INT64_C(7) * 24 * 60 * 60 * 1000) /* a younger file may still be committed */

struct tarn_reclaimable {
    const char *path; /* borrowed for the call */
    int64_t size;     /* as it lies there */
    bool is_orphan;
    int64_t removed_at; /* -1: not known, or an orphan */
};
typedef void tarn_reclaimable_fn(void *ctx, const struct tarn_reclaimable *item);

/* A walk: first over what the catalog knows, then over what lies there; 24 bytes of memory for each file
 * known. One thread at a time. */
struct tarn_reclaim;
/* Compares storage with the catalog first where that was not done since the start; blocks. The codes of a
 * blocked table (while the two disagree nothing can be told from a listing), TARN_STORAGE_UNAVAILABLE. */
TARN_MUST tarn_code tarn_reclaim_new(struct tarn_lake *lake, int64_t table_id, int64_t now_ms,
                                     struct tarn_reclaim **out, struct tarn_err *err);
/* Some of the work, and what it found; *end: that was all. Blocks shortly. */
TARN_MUST tarn_code tarn_reclaim_next(struct tarn_reclaim *reclaim, tarn_reclaimable_fn *fn, void *ctx,
                                      bool *end, struct tarn_err *err);
void tarn_reclaim_free(struct tarn_reclaim *reclaim); /* NULL is fine */
TARN_DEFINE_AUTO(reclaim, struct tarn_reclaim)
#endif
