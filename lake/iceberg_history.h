/* iceberg_history.h - a commit to an Iceberg table as the catalog's history tells it: all of it is in the metadata that it made. */
#ifndef TARN_LAKE_ICEBERG_HISTORY_H
#define TARN_LAKE_ICEBERG_HISTORY_H
#include "formats/iceberg/iceberg.h"
#include "lake/lake.h"

/* Fills *row: `table` is the row after the commit, `meta` what it made, `base_snapshot` the one that was current before. The
 * caller gives row->transaction, a buffer of TARN_TXN_ID_MAX + 1 bytes. Inside a transaction. */
TARN_MUST tarn_code tarn_iceberg_commit_row(struct tarn_tx *tx, const struct tarn_table *table,
                                            const struct tarn_iceberg_meta *meta, int64_t base_snapshot,
                                            struct tarn_commit_row *row, struct tarn_err *err);
#endif
