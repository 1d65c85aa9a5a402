/* verify.h - one verification while it runs: shared by verify.c and verify_schema.c only. */
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

/* A warning of the answer, naming the file; `change` (may be NULL) has column, from and to. */
TARN_MUST tarn_code tarn_verify_warn(struct tarn_verifying *v, const char *code, const char *path,
                                     const json_t *change, const char *message, struct tarn_err *err);
tarn_code tarn_verify_misfit(tarn_code code, const char *path, const char *what, struct tarn_err *err);

/* The newest version; *out NULL: the table has no schema. Borrowed. */
TARN_MUST tarn_code tarn_verify_current(struct tarn_verifying *v, const struct tarn_schema **out, struct tarn_err *err);
/* An operation that names no version gets the newest one that its file fits exactly, else the current one. Then, where
 * the table enforces its schema, the file is held to the version: TARN_INCOMPATIBLE_SCHEMA, or warnings. */
TARN_MUST tarn_code tarn_verify_schema(struct tarn_verifying *v, struct tarn_commit_op *op,
                                       const struct tarn_parquet *parquet, struct tarn_err *err);
void tarn_verify_versions_done(struct tarn_verifying *v);
#endif
