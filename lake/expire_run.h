/* expire_run.h - one expiry while it runs: shared by the files expire*.c only. */
#ifndef TARN_LAKE_EXPIRE_RUN_H
#define TARN_LAKE_EXPIRE_RUN_H
#include "lake/expire.h"
#include "lake/pace.h"

struct tarn_expiry {
    struct tarn_lake *lake;
    int64_t table_id, now_ms;
    int64_t oldest;           /* what oldest_version is to be */
    struct tarn_table *table; /* owned; as it was when oldest_version had moved */
    struct tarn_pace pace;
    bool left;
};

/* Where the log may begin when `oldest` is the oldest version. */
TARN_MUST tarn_code tarn_expire_begin(struct tarn_tx *tx, const struct tarn_table *table, int64_t oldest,
                                      int64_t *begin, struct tarn_err *err);
/* Log entries and checkpoints that no kept version needs, on storage and then in the catalog. */
TARN_MUST tarn_code tarn_expire_log(struct tarn_expiry *x, struct tarn_err *err);
/* Forgets the retired files that are gone from storage. */
TARN_MUST tarn_code tarn_expire_gone(const struct tarn_expiry *x, struct tarn_err *err);
#endif
