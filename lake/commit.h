/* commit.h - the commit: an expected version and operations in, the next version out.
 * Parsing (commit_parse.c), judging (commit_judge.c) and verifying against storage (verify.c) are apart. */
#ifndef TARN_LAKE_COMMIT_H
#define TARN_LAKE_COMMIT_H
#include "base/buf.h"
#include "base/hash.h"
#include "lake/lake.h"
#include "lake/pace.h"
#include "lake/schema_rows.h"
#include <jansson.h>

#define TARN_COMMIT_OPS_MAX 1000000 /* above TARN_TX_ROWS_MAX they are staged first: commit_large.c */

struct tarn_commit_op {
    bool is_add;
    struct tarn_file file; /* a remove has only the path; size -1: not given */
    bool schema_given;
    char *filled_values, *filled_stats; /* owned: what the footer and the path gave */
    /* Without schema_given file.schema_version is what the footer fits, 0: not read. */
};

struct tarn_commit_use {
    /* in; text is borrowed from the request unless said otherwise */
    struct tarn_lake *lake;
    struct tarn_ident ident;
    bool has_expected, has_transaction, verify_given, data_change;
    int64_t expected_version;
    char transaction[TARN_TXN_ID_MAX + 1];
    struct tarn_commit_op *ops; /* owned */
    size_t op_count, add_count;
    const char **batches; /* owned array: the batches that it applies */
    size_t batch_count;
    char *batch_ids; /* owned: the same as a JSON array; NULL: none */
    bool lists_batches; /* the body said `batch_ids` */
    char *metadata;                              /* in `texts`; NULL: none */
    enum tarn_verify verify;                     /* the request's; it may only raise the table's */
    const char *principal, *method, *path, *key; /* key: Idempotency-Key or NULL */
    char body_hash[TARN_SHA256_HEX];             /* "" when no replay of this body is possible */
    const char *key_hash;                        /* of what the key stands for; NULL: body_hash */
    const char *group;                           /* id shared with commits to other tables, NULL: alone */
    int64_t now_ms;                              /* 0: the clock, at the decision */
    /* out */
    struct tarn_commit_row row; /* borrows `transaction` and `metadata`; of a replay it has no metadata */
    int64_t table_id;
    bool replayed, published, publishes;
    json_t *warnings; /* owned array or NULL: what verification met */
    json_t *remarks;  /* owned array or NULL: warnings that the body alone gives rise to */
    enum tarn_block cures; /* in: a block that does not stop it, since it ends with it (repair.c) */
    /* inside */
    struct tarn_buf texts; /* JSON texts that ops and metadata point into */
    bool must_check;
    /* What must hold beside all that a commit needs; NULL: nothing. (rollback.c) */
    tarn_code (*judge_more)(struct tarn_tx *tx, const struct tarn_commit_use *use,
                            const struct tarn_table *table, struct tarn_err *err);
    bool is_large; /* its rows are staged before the decision */
    struct tarn_commit_checked { /* what the check relied on */
        int64_t table_id, schema_version;
        enum tarn_verify verify;
        enum tarn_enforcement enforcement;
    } checked;
    /* The rows of a large commit are in place, under `version`, and nobody else writes to the table. */
    struct tarn_commit_lease {
        bool held;
        int64_t table_id, version;
        int64_t files_added, files_removed, bytes_added, bytes_removed; /* so far */
        /* how far the steps have come: theirs alone */
        bool is_whole; /* no step is left */
        int phase;
        size_t at;
        struct tarn_file_cursor cursor;
    } lease;
};
extern const struct tarn_use tarn_commit;
/* What a use case does that ends in a commit (rollback.c):
 * the steps of tarn_commit, on a part of its own struct. */
struct tarn_commit_before {
    struct tarn_commit_use *use; /* in */
    struct tarn_table *table;    /* out, owned; as it was */
    struct tarn_schema_rows schemas;
    bool decided; /* the decision will refuse or replay whatever the check finds */
};
void tarn_commit_before_done(struct tarn_commit_before *before);
/* Reads the table, compares its storage when that was not
 * done yet, and asks whether the commit can land. Blocks. */
TARN_MUST tarn_code tarn_commit_look(struct tarn_lake *lake, struct tarn_commit_before *before,
                                     struct tarn_err *err);
tarn_tx_fn tarn_commit_change; /* ctx: struct tarn_commit_use */
void tarn_commit_done(void *use);

/* commit_replay.c: is this the same commit again? Sets use->replayed and row, or leaves them;
 * TARN_TRANSACTION_EXISTS, TARN_BATCH_COMPLETED. */
TARN_MUST tarn_code tarn_commit_find_replay(struct tarn_tx *tx, struct tarn_commit_use *use,
                                            const struct tarn_table *table, struct tarn_err *err);
TARN_MUST tarn_code tarn_commit_answer_again(struct tarn_tx *tx, struct tarn_commit_use *use,
                                             const struct tarn_table *table,
                                             const struct tarn_commit_row *row, struct tarn_err *err);
/* Notes the Idempotency-Key of the request, if it has one, beside the version that it made. */
TARN_MUST tarn_code tarn_commit_keep_key(struct tarn_tx *tx, const struct tarn_commit_use *use,
                                         const struct tarn_table *table, int64_t version, int64_t now_ms,
                                         struct tarn_err *err);
/* commit_batches.c: `batch_id` and `batch_ids` of the body; a replay or TARN_BATCH_COMPLETED; their rows. */
#define TARN_COMMIT_BATCHES_MAX 1000
TARN_MUST tarn_code tarn_commit_read_batches(const char *one, const json_t *list, struct tarn_commit_use *use,
                                             struct tarn_err *err);
TARN_MUST tarn_code tarn_commit_replay_batches(struct tarn_tx *tx, struct tarn_commit_use *use,
                                               const struct tarn_table *table, struct tarn_err *err);
TARN_MUST tarn_code tarn_commit_apply_batches(struct tarn_tx *tx, const struct tarn_commit_use *use,
                                              const struct tarn_table *table,
                                              const struct tarn_commit_row *row, struct tarn_err *err);
/* commit_judge.c: are its rows in place in this very table? */
bool tarn_commit_is_staged(const struct tarn_commit_use *use, const struct tarn_table *table);
/* May the commit land on the table as it is? TARN_TABLE_NOT_MANAGED, the
 * blocks, TARN_OVERLOADED, TARN_VERSION_CONFLICT; and judge_more. */
TARN_MUST tarn_code tarn_commit_judge_all(struct tarn_tx *tx, const struct tarn_commit_use *use,
                                          const struct tarn_table *table, struct tarn_err *err);
TARN_MUST tarn_code tarn_commit_judge_version(const struct tarn_commit_use *use,
                                              const struct tarn_table *table,
                                              struct tarn_err *err); /* TARN_VERSION_CONFLICT alone */
TARN_MUST tarn_code tarn_managed_check(const struct tarn_table *table, struct tarn_err *err);
TARN_MUST tarn_code tarn_block_check(const struct tarn_table *table, struct tarn_err *err);
/* How deep the adds must be looked at before the decision. */
enum tarn_verify tarn_commit_depth(const struct tarn_commit_use *use, const struct tarn_table *table);
/* commit_files.c: the file rows of operations `from` up to below `to`, removes or adds, counted in *row. */
TARN_MUST tarn_code tarn_commit_files(struct tarn_tx *tx, struct tarn_commit_use *use,
                                      const struct tarn_table *table, bool adds, size_t from, size_t to,
                                      struct tarn_commit_row *row, struct tarn_err *err);
/* commit_large.c: a step writes at most `rows` rows and moves use->lease on.
 * It may run more than once, each time with the lease as it was before. */
typedef tarn_code tarn_commit_step_fn(struct tarn_tx *tx, struct tarn_commit_use *use,
                                      const struct tarn_table *table, int64_t rows, struct tarn_err *err);
/* Takes the lease and writes all rows in steps; after a refusal nothing is left.
 * Blocks; on a worker. A commit that turns out to be a replay takes none. */
TARN_MUST tarn_code tarn_commit_stage(struct tarn_commit_use *use, const struct tarn_table *table,
                                      tarn_commit_step_fn *step, struct tarn_err *err);
TARN_MUST tarn_code tarn_commit_stage_ops(struct tarn_commit_use *use, const struct tarn_table *table,
                                          struct tarn_err *err);
/* Takes back what is staged, if anything. Blocks. */
TARN_MUST tarn_code tarn_commit_unstage(struct tarn_commit_use *use, struct tarn_err *err);
/* Lets the table go; what is still staged is left to the sweeper. Any thread, never blocks. */
void tarn_commit_let_go(struct tarn_commit_use *use);
/* commit_apply.c: the rows of the commit; on the writer. */
TARN_MUST tarn_code tarn_commit_apply(struct tarn_tx *tx, struct tarn_commit_use *use,
                                      const struct tarn_table *table, struct tarn_err *err);
/* commit_id.c: inserts the commit under its id, or without a given one under the next number that is free.
 * TARN_TRANSACTION_EXISTS. */
TARN_MUST tarn_code tarn_commit_insert(struct tarn_tx *tx, struct tarn_commit_use *use,
                                       const struct tarn_table *table, struct tarn_commit_row *row,
                                       struct tarn_err *err);
/* verify.c: each added file against storage, to `depth`; fills in what the
 * operations left out. Blocks. TARN_VERIFICATION_FAILED, TARN_INCOMPATIBLE_SCHEMA
 * with `path`. `schemas`: all of the table's where `depth` is a footer. */
struct tarn_schema_rows;
TARN_MUST tarn_code tarn_commit_verify(struct tarn_commit_use *use, const struct tarn_table *table,
                                       const struct tarn_schema_rows *schemas, enum tarn_verify depth,
                                       struct tarn_err *err);

/* Reads the body of a commit into a zeroed use (all but lake, ident and the idempotency members) and hashes
 * it where a replay is possible: `key` is to be set before. `body` must outlive the use. */
TARN_MUST tarn_code tarn_commit_name(struct tarn_commit_use *use, const char *transaction,
                                     struct tarn_err *err);
TARN_MUST tarn_code tarn_commit_hash(json_t *body, struct tarn_commit_use *use, struct tarn_err *err);
TARN_MUST tarn_code tarn_commit_parse(json_t *body, struct tarn_commit_use *use, struct tarn_err *err);
#endif
