/* retake.h - what storage knows of a managed table and its row does not, as after a restored
 * backup, is taken back: schemas, commits (lake/replay.h), checkpoints of batches, a new name. */
#ifndef TARN_LAKE_RETAKE_H
#define TARN_LAKE_RETAKE_H
#include "lake/schema_rows.h"
#include "lake/traces.h"

struct tarn_retaking {
    /* in */
    struct tarn_lake *lake;
    int64_t table_id;
    bool dry_run;      /* changes nothing: the plan alone */
    bool with_gaps;    /* also what is not clean (struct tarn_retake); else that only blocks the table */
    bool is_thorough;  /* batches and the name too when no version is missing */
    /* out */
    struct tarn_table *table;  /* owned: the row before, then as it is */
    struct tarn_traces traces; /* owned; in a dry run and after it */
    struct tarn_retake plan;   /* owned */
    int64_t version;           /* the table's before */
    int64_t schemas, batches;  /* taken, or to be taken */
    bool schema_conflict;      /* schema.json contradicts the catalog: no schema is taken */
    bool renamed, name_taken;  /* manifest.json has another name; which another table has now */
    char name[TARN_DOTTED_MAX]; /* that name, "": the same */
    bool foreign;              /* manifest.json does not hold what its version is: somebody else wrote it */
    bool changed;              /* anything was written */
    /* inside */
    struct tarn_place *place;  /* owned */
    struct tarn_publication pub, shown;
    bool has_shown, claimed;
    int64_t checkpoint;        /* a version whose manifest became one, 0: none */
    char checkpoint_id[TARN_TXN_ID_MAX + 1];
    struct tarn_schema_rows rows;
    struct tarn_schema_doc doc;
};
void tarn_retaking_done(struct tarn_retaking *retaking);
/* Blocks, as long as the log is long. TARN_STORAGE_AHEAD: a version does not follow from
 * the one before; those before it are kept and the table stays blocked. TARN_OVERLOADED:
 * a large commit is under way. The table's turn (lake/publish_run.h) is the caller's. */
TARN_MUST tarn_code tarn_retake_run(struct tarn_retaking *retaking, struct tarn_err *err);

/* --- its parts --- */
/* retake_schemas.c: reads schema.json and the rows; retaking->schemas: how many are missing. */
TARN_MUST tarn_code tarn_retake_schemas_look(struct tarn_retaking *retaking, struct tarn_err *err);
TARN_MUST tarn_code tarn_retake_schemas(struct tarn_retaking *retaking, struct tarn_err *err);
/* A document's versions from `from` on, as rows. */
TARN_MUST tarn_code tarn_schema_rows_of(const struct tarn_schema_doc *doc, int64_t from, int64_t otherwise_ms,
                                        struct tarn_schema_rows *out, struct tarn_err *err);
/* retake_batches.c: what processed/ tells; `count`: how many rows changed, or (dry run) would. */
struct tarn_retake_batches {
    struct tarn_lake *lake;
    struct tarn_place *place;
    const struct tarn_table *table;
    const char *catalog; /* the id that the documents carry */
    bool dry_run;
    int64_t count;       /* out */
};
TARN_MUST tarn_code tarn_retake_batches(struct tarn_retake_batches *ask, struct tarn_err *err);
/* retake_shown.c: does manifest.json hold the files of its
 * version? Then *pub is what a publication would have noted. */
TARN_MUST tarn_code tarn_retake_shown(struct tarn_lake *lake, struct tarn_place *place,
                                      const struct tarn_table *table, const char *catalog,
                                      const struct tarn_traces *traces, struct tarn_publication *pub,
                                      bool *is_so, struct tarn_err *err);
/* retake_checkpoint.c: manifest.json beside the log too, as the checkpoint of `version`. */
TARN_MUST tarn_code tarn_retake_checkpoint(struct tarn_retaking *retaking, const char *id, int64_t version,
                                           struct tarn_err *err);
#endif
