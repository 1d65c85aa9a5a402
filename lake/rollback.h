/* rollback.h - a new version that restores the snapshot of an older one. History goes on: the commits between
 * stay in it, but no longer count (lineage.h). */
#ifndef TARN_LAKE_ROLLBACK_H
#define TARN_LAKE_ROLLBACK_H
#include "lake/commit.h"

struct tarn_rollback_use {
    struct tarn_commit_use commit; /* first; the caller sets lake, ident and the idempotency members */
    int64_t to_version;
    bool batches_left; /* some of the batches undone are still to be marked */
};
extern const struct tarn_use tarn_rollback;

/* Reads the body into a zeroed use; `body` must outlive it. */
TARN_MUST tarn_code tarn_rollback_parse(json_t *body, struct tarn_rollback_use *use, struct tarn_err *err);
/* What the rollback `version` did to batches, some rows a call; *left: call again. On the writer. */
TARN_MUST tarn_code tarn_rollback_batches(struct tarn_tx *tx, int64_t table_id, int64_t version,
                                          int64_t to_version, int64_t at_ms, bool *left,
                                          struct tarn_err *err);
#endif
