/* replay.h - commits that storage tells of go into the catalog again, version by version, in transactions
 * of some thousand rows. Of a table that is there each transaction ends with a version that is whole, so
 * that a crash leaves a prefix of the history; one of more rows is staged, as a large commit is. */
#ifndef TARN_LAKE_REPLAY_H
#define TARN_LAKE_REPLAY_H
#include "lake/pace.h"
#include "lake/schema_rows.h"
#include "lake/traces.h"

struct tarn_held; /* what waits to be written */
struct tarn_replay {
    /* in, borrowed */
    struct tarn_lake *lake;
    struct tarn_place *place;
    struct tarn_table *table; /* moved on with each version */
    bool is_new;              /* it has no row yet: nobody sees what is written under its id */
    const struct tarn_schema_rows *schemas; /* all of the table's */
    /* out */
    int64_t made;             /* versions */
    /* inside */
    struct tarn_held *held;   /* owned */
    bool staged;
    struct tarn_pace pace;
};
TARN_MUST tarn_code tarn_replay_begin(struct tarn_replay *replay, struct tarn_err *err);
/* The version that the entry made, on top of the table's. TARN_STORAGE_AHEAD: it does not fit; the
 * versions before it are kept. Of a table that is there the caller holds the claim of its lease. */
TARN_MUST tarn_code tarn_replay_entry(struct tarn_replay *replay, const char *id, int64_t version,
                                      struct tarn_err *err);
/* The files of a document that holds them all become those of `version`; no version between is
 * made. `entry`: the id of the log entry that made it, for what it says of the commit; NULL: the
 * document tells. `in_history` false: the version gets no commit of its own (it was adopted). */
struct tarn_replay_snapshot {
    const char *path; /* of the document */
    int64_t version;
    const char *entry;
    bool in_history;
};
TARN_MUST tarn_code tarn_replay_snapshot(struct tarn_replay *replay,
                                         const struct tarn_replay_snapshot *snapshot, struct tarn_err *err);
/* Writes what still waits. */
TARN_MUST tarn_code tarn_replay_end(struct tarn_replay *replay, struct tarn_err *err);
void tarn_replay_done(struct tarn_replay *replay);

/* --- replay_held.c: what waits --- */
enum { TARN_HELD_OPS = 2000, TARN_HELD_COMMITS = 500 };
struct tarn_held_op {
    bool is_add;
    bool is_lax; /* already so: passed over */
    struct tarn_file file;
    char *path, *values, *stats; /* owned: what file points to */
};
struct tarn_held_commit {
    struct tarn_commit_row row; /* owned; counts: what was written of it already */
    size_t ops;                 /* of those held */
    json_t *batches;            /* owned array or NULL */
    bool no_row;                /* moves the table alone */
};
struct tarn_held {
    struct tarn_held_op ops[TARN_HELD_OPS];
    struct tarn_held_commit commits[TARN_HELD_COMMITS];
    size_t op_count, commit_count;
    size_t open_ops;                /* behind those of the commits: of a version that is still being read */
    int64_t open_version;
    struct tarn_commit_row written; /* counts of the open version's ops that are written already */
    int64_t rows;                   /* that all of it will write, about */
};
TARN_MUST tarn_code tarn_held_add(struct tarn_replay *replay, int64_t version, bool is_add, bool is_lax,
                                  const struct tarn_file *file, struct tarn_err *err);
/* Closes the open version: *row (borrowed; its counts are not looked at) is its commit. */
TARN_MUST tarn_code tarn_held_close(struct tarn_replay *replay, const struct tarn_commit_row *row,
                                    bool no_row, struct tarn_err *err);
TARN_MUST tarn_code tarn_held_flush(struct tarn_replay *replay, struct tarn_err *err);
void tarn_held_free(struct tarn_held *held);

/* --- replay_write.c: into the store --- */
struct tarn_held_part {
    size_t from, to; /* of the commits */
    size_t op;       /* the first one's operations begin here */
    bool open;       /* the open version's operations too */
};
/* TARN_FILE_CONFLICT: one of them does not follow, none was written. */
TARN_MUST tarn_code tarn_held_write(struct tarn_replay *replay, const struct tarn_held_part *part,
                                    struct tarn_err *err);
#endif
