/* repair.h - the cures of a managed table: plans that look at storage and catalog, tell exactly what
 * they would do, and do it when asked to. A run is one commit at most; it looks afresh and lands only on
 * the version that it looked at, so that it can be cut short, repeated and run beside commits. Nothing
 * is ever deleted: what is in the way is moved to _conflicts/. One file a plan: repair_<plan>.c. */
#ifndef TARN_LAKE_REPAIR_H
#define TARN_LAKE_REPAIR_H
#include "lake/commit.h"

enum tarn_repair_plan {
    TARN_REPAIR_REPUBLISH, /* the documents again from the catalog */
    TARN_REPAIR_REGISTER,  /* commit data files that nobody registered */
    TARN_REPAIR_FORGET,    /* take files that are gone out of the snapshot */
    TARN_REPAIR_ADOPT      /* take what another hand wrote as a new version */
};
enum tarn_repair_choice { TARN_CHOOSE_NONE, TARN_CHOOSE_MANIFEST, TARN_CHOOSE_LOG };

#define TARN_REPAIR_PATHS_MAX 100000
#define TARN_REPAIR_FILES_MAX 100000 /* files that one run takes; the next one goes on */
#define TARN_DIR_CONFLICTS "_conflicts" /* what was in the way of repairs: a folder a run */
#define TARN_REPAIR_SHOWN_MAX 1000   /* told of each list below, beside its total */

/* What a plan does besides the operations of its commit, and what it leaves out and why. */
struct tarn_repair_list {
    json_t *items; /* owned array */
    int64_t total;
};

struct tarn_repair_use {
    struct tarn_commit_use commit; /* first; the caller sets lake, ident, principal, method and path */
    /* in */
    enum tarn_repair_plan plan;
    enum tarn_repair_choice choose;
    bool runs;           /* else a dry run: nothing changes */
    bool expected_given; /* the caller's own commit.expected_version */
    const json_t *paths; /* borrowed array of strings, NULL: none */
    /* Files younger than this may still be registered by their writer; NULL: 15 minutes. */
    int64_t (*grace_ms)(const void *ctx, const struct tarn_table *table);
    const void *grace_ctx;
    /* out */
    int64_t version;         /* of the table as the plan found it */
    enum tarn_block ends;    /* the block that it ends */
    struct tarn_repair_list writes, moves, left_out;
    int64_t more;            /* files beyond TARN_REPAIR_FILES_MAX */
    bool committed, changed; /* changed: a block ended or documents were written */
    /* inside */
    int64_t table_id;
    char **names; /* owned: the paths of commit.ops, one each */
    size_t cap;   /* of names and commit.ops */
    unsigned conflicts;
    enum tarn_block block;                /* the table's as the plan found it */
    bool is_shown;                        /* the table is published */
    bool settles, relinks, marks;         /* documents are to be written once the decision is durable */
    struct tarn_publication publication;  /* with `settles`: what lies there counts as known */
    char seen_token[96];                  /* what Tarn had published when the walk began */
    struct tarn_buf foreign;              /* log entries of others: path and token, each with its NUL; their ids are taken */
    char *location;                       /* owned: the table's */
    char folder[64];                      /* _conflicts/<time> of this run */
};
extern const struct tarn_use tarn_repair;

/* Reads the body into a zeroed use; `body` must outlive it. */
TARN_MUST tarn_code tarn_repair_parse(const json_t *body, struct tarn_repair_use *use, struct tarn_err *err);
const char *tarn_repair_plan_text(enum tarn_repair_plan plan);
#endif
