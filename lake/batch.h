/* batch.h - checkpoints of staged batches: what a merge worker tells (POST .../batches) and what a commit
 * completes. */
#ifndef TARN_LAKE_BATCH_H
#define TARN_LAKE_BATCH_H
#include "lake/lake.h"

/* What is told about a batch; -1: nothing is. */
struct tarn_batch_told {
    enum tarn_batch_status status;
    int64_t start_time, end_time;
    int64_t num_records, size;
    int64_t version; /* of the commit that applies it */
    bool is_retaken; /* told by storage: nothing is refused, no event */
};

struct tarn_batch_use {
    /* in, borrowed */
    struct tarn_lake *lake;
    struct tarn_ident ident;
    const char *batch_id;
    struct tarn_batch_told told; /* without version */
    int64_t now_ms;              /* 0: the clock */
    /* out */
    struct tarn_batch batch; /* owned */
    bool is_new;
    /* inside */
    int64_t table_id;
    bool is_pending; /* its document follows */
};
/* TARN_BATCH_COMPLETED: a completed one does not reopen. TARN_BATCH_MISMATCH: another size, or its document
 * would be another batch's. */
extern const struct tarn_use tarn_batch_use;

/* On the writer: the batch as it was, changed by what is told; written only when that changes anything. *out
 * (may be NULL) gets the row, owned, and is_new. */
struct tarn_batch_written {
    struct tarn_batch batch;
    bool is_new;
};
TARN_MUST tarn_code tarn_batch_tell(struct tarn_tx *tx, const struct tarn_table *table, const char *batch_id,
                                    const struct tarn_batch_told *told, int64_t now_ms,
                                    struct tarn_batch_written *out, struct tarn_err *err);
/* By id, as it counts now: completed or rolled back is told by the history of rollbacks,
 * which the rows of a large rollback follow. *out is owned; TARN_NOT_FOUND. */
TARN_MUST tarn_code tarn_batch_get(struct tarn_tx *tx, const struct tarn_table *table, const char *batch_id,
                                   struct tarn_batch *out, struct tarn_err *err);
/* The refusal of one that is applied already, with version, transaction and committed_at of the commit. */
tarn_code tarn_batch_completed(const struct tarn_batch *batch, struct tarn_err *err);
#endif
