/* snapshot.h - one version of a table, found by what a reader knows of it, and its files page by page. */
#ifndef TARN_LAKE_SNAPSHOT_H
#define TARN_LAKE_SNAPSHOT_H
#include "catalog/store.h"

struct tarn_snapshot_ask {
    enum { TARN_ASK_NEWEST, TARN_ASK_VERSION, TARN_ASK_TRANSACTION, TARN_ASK_AS_OF } by;
    int64_t version;
    const char *transaction; /* borrowed */
    int64_t as_of;           /* an instant; a commit of that very instant is included */
};

struct tarn_snapshot {
    int64_t version;
    char *transaction;      /* owned; NULL: none, or from before Tarn and not known */
    int64_t committed_at;   /* of version 0: when the table was made */
    int64_t schema_version; /* at the commit, as the published manifest says; 0: none */
    int64_t reads_schema;   /* to read it with: the newest one when the newest snapshot is asked for, else its
                               own */
};
void tarn_snapshot_done(struct tarn_snapshot *snapshot);

/* Inside a read transaction, `table` being the row of a managed table. TARN_VERSION_NOT_FOUND,
 * TARN_VERSION_EXPIRED (with `oldest_version`), TARN_TRANSACTION_NOT_FOUND; the field is the member of the
 * ask. Transactions that were rolled back are found as well. */
TARN_MUST tarn_code tarn_snapshot_find(struct tarn_tx *tx, const struct tarn_table *table,
                                       const struct tarn_snapshot_ask *ask, struct tarn_snapshot *out,
                                       struct tarn_err *err);
/* TARN_VERSION_EXPIRED when the table keeps only later ones. */
TARN_MUST tarn_code tarn_snapshot_kept(const struct tarn_table *table, int64_t version, struct tarn_err *err);

/* A place between the files of one snapshot. The files come by path as long as the table is near the version;
 * when more was committed since than a page may pass over, in the order in which they were added, which costs
 * the same for every version. A walk may change from the first to the second in the middle: what was told by
 * path is passed over. */
struct tarn_snapshot_cursor {
    int64_t table_id, version;
    bool is_fixed;         /* keep the order it has */
    bool by_key;           /* in the order in which they were added */
    int64_t after_version; /* by key: version and path (`after`) of the last row passed; -1: from the start */
    char after[TARN_PATH_MAX + 1];   /* by path: the last file told, "" from the start */
    char told_to[TARN_PATH_MAX + 1]; /* by key: files up to this path were told by path */
};
/* At the start, in the order that suits the table as it is now; inside a read transaction. */
TARN_MUST tarn_code tarn_snapshot_begin(struct tarn_tx *tx, int64_t table_id, int64_t version,
                                        struct tarn_snapshot_cursor *out, struct tarn_err *err);
/* True: taken, the cursor stands behind the file. False: no more, it stays before it. */
typedef bool tarn_snapshot_file_fn(void *ctx, const struct tarn_file *file);
/* Passes at most `limit` rows, *passed of them; fewer, with no refusal of fn, tell the end. Inside a read
 * transaction. TARN_VERSION_EXPIRED and TARN_TABLE_NOT_FOUND when rows may be gone meanwhile. */
TARN_MUST tarn_code tarn_snapshot_page(struct tarn_tx *tx, struct tarn_snapshot_cursor *cursor, int64_t limit,
                                       tarn_snapshot_file_fn *fn, void *ctx, int64_t *passed,
                                       struct tarn_err *err);
#endif
