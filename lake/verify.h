/* verify.h - one verification while it runs: of a commit's files
 * in a row (tarn_commit_verify), or of one after the other. */
#ifndef TARN_LAKE_VERIFY_H
#define TARN_LAKE_VERIFY_H
#include "catalog/schema_map.h"
#include "formats/parquet/parquet.h"
#include "lake/commit.h"
#include "lake/schema_rows.h"

/* One schema version, read when it is first asked for. */
struct tarn_verify_version {
    struct tarn_schema *schema;
    struct tarn_schema_map *map;
};
struct tarn_verifying {
    struct tarn_commit_use *use;
    const struct tarn_table *table;
    const struct tarn_schema_rows *rows;  /* every version when a footer is to be read; none: the table has no schema */
    struct tarn_verify_version *versions; /* owned, one a row */
    struct tarn_place *place;             /* owned */
    json_t *keys;                         /* owned: partition keys */
    enum tarn_verify depth, asked;        /* how deep to look, and how deep somebody asked for a refusal */
    size_t warnings;                      /* met, also those above the limit */
};

/* Zeroed or begun, it is to be done. `use`, `table` and `schemas`
 * (all of the table's when `depth` is a footer) are borrowed. */
TARN_MUST tarn_code tarn_verify_begin(struct tarn_verifying *v, struct tarn_commit_use *use,
                                      const struct tarn_table *table, const struct tarn_schema_rows *schemas,
                                      enum tarn_verify depth, struct tarn_err *err);
/* One added file. Blocks. TARN_VERIFICATION_FAILED, TARN_INCOMPATIBLE_SCHEMA with `path`. */
TARN_MUST tarn_code tarn_verify_add(struct tarn_verifying *v, struct tarn_commit_op *op,
                                    struct tarn_err *err);
TARN_MUST tarn_code tarn_verify_end(struct tarn_verifying *v, struct tarn_err *err); /* closes the warnings */
void tarn_verify_done(struct tarn_verifying *v);

/* A warning of the answer, naming the file; `change` (may be NULL) has column, from and to. */
TARN_MUST tarn_code tarn_verify_warn(struct tarn_verifying *v, const char *code, const char *path,
                                     const json_t *change, const char *message, struct tarn_err *err);
tarn_code tarn_verify_misfit(tarn_code code, const char *path, const char *what, struct tarn_err *err);

/* The newest version; *out NULL: the table has no schema. Borrowed. */
TARN_MUST tarn_code tarn_verify_current(struct tarn_verifying *v, const struct tarn_schema **out,
                                        struct tarn_err *err);
/* An operation that names no version gets the newest one that its file fits exactly, else the current
 * one; one that it has already (0: none) stays where the file fits it or no other. Then, where the
 * table enforces its schema, the file is held to the version: TARN_INCOMPATIBLE_SCHEMA, or warnings. */
TARN_MUST tarn_code tarn_verify_schema(struct tarn_verifying *v, struct tarn_commit_op *op,
                                       const struct tarn_parquet *parquet, struct tarn_err *err);
void tarn_verify_versions_done(struct tarn_verifying *v);
#endif
