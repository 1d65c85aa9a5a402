/* lineage.h - which commits still count. A rollback restores an older version: the commits
 * between no longer count, unless a later rollback restores a version at which they did. */
#ifndef TARN_LAKE_LINEAGE_H
#define TARN_LAKE_LINEAGE_H
#include "catalog/store.h"

/* *by: the rollback (its version) that undid `version` as the table stands at version `at`; 0: it counts. */
TARN_MUST tarn_code tarn_undone_by(struct tarn_tx *tx, int64_t table_id, int64_t at, int64_t version,
                                   int64_t *by, struct tarn_err *err);
/* A run of versions: those above `from` up to `to`. */
typedef tarn_code tarn_lineage_fn(void *ctx, int64_t from, int64_t to, struct tarn_err *err);
/* The versions that count at `at` and not at `other`, newest first. */
TARN_MUST tarn_code tarn_lineage_only(struct tarn_tx *tx, int64_t table_id, int64_t at, int64_t other,
                                      tarn_lineage_fn *fn, void *ctx, struct tarn_err *err);
/* TARN_TRANSACTION_ROLLED_BACK, with `rolled_back_by`, when the commit no longer counts. */
TARN_MUST tarn_code tarn_undone_check(struct tarn_tx *tx, const struct tarn_table *table, int64_t version,
                                      struct tarn_err *err);
#endif
