/* expire.h - history has an end: versions that nobody could ask for any more
 * give up their rows, and the log its entries before the last checkpoint
 * that all kept versions can be replayed from. Never a data file. */
#ifndef TARN_LAKE_EXPIRE_H
#define TARN_LAKE_EXPIRE_H
#include "lake/lake.h"

/* One table, in small transactions: moves oldest_version to the oldest one that was current within
 * history.retention, but keeps history.versions of them and whatever storage does not show yet. Blocks. */
TARN_MUST tarn_code tarn_expire_table(struct tarn_lake *lake, int64_t table_id, int64_t now_ms,
                                      struct tarn_err *err);
/* Where the table's log begins, or will when that is done: what lies below
 * is gone or about to go, though the catalog may not have forgotten it yet.
 * It stays so as long as the caller has the table's turn of publication. */
TARN_MUST tarn_code tarn_expire_log_begin(struct tarn_lake *lake, int64_t table_id, int64_t now_ms,
                                          int64_t *begin, struct tarn_err *err);
/* All tables that keep more versions than history.versions; `is_over` (may be NULL) is asked
 * between them. A table whose storage does not answer waits for the next round. Blocks. */
TARN_MUST tarn_code tarn_expire_all(struct tarn_lake *lake, int64_t now_ms, bool (*is_over)(void *ctx),
                                    void *ctx, struct tarn_err *err);
#endif
