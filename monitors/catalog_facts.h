/* catalog_facts.h - inside monitors/: what the catalog says of a managed table, for the gathering of facts. */
#ifndef TARN_MONITORS_CATALOG_FACTS_H
#define TARN_MONITORS_CATALOG_FACTS_H
#include "formats/facts.h"
#include "lake/lake.h"

struct tarn_catalog_facts {
    struct tarn_facts_catalog facts; /* borrows from the rest */
    struct tarn_lake *lake;
    struct tarn_table *table;        /* owned */
    struct tarn_publication publication;
    char *shown_transaction;         /* owned; NULL: the table's own, or none */
    int64_t behind_since;            /* commit of the oldest version that storage does not show, -1: none */
    struct tarn_life life;           /* of the commits */
    struct tarn_schema_past past;
    struct tarn_schema **schemas;    /* owned, of past.versions */
    size_t schema_count;
};
/* Reads rows, publication and schemas in one transaction. TARN_TABLE_NOT_FOUND. */
TARN_MUST tarn_code tarn_catalog_facts_read(struct tarn_lake *lake, int64_t table_id, struct tarn_catalog_facts *out,
                                            struct tarn_err *err);
void tarn_catalog_facts_done(struct tarn_catalog_facts *facts);

/* Fills out->life; in the transaction that read the table. */
TARN_MUST tarn_code tarn_catalog_life(struct tarn_tx *tx, struct tarn_catalog_facts *out, struct tarn_err *err);

/* The walks of facts.files, .removed and .batches over a struct tarn_catalog_facts (catalog_files.c,
 * catalog_batches.c). */
tarn_code tarn_catalog_files(void *ctx, tarn_file_fn *fn, void *fn_ctx, struct tarn_err *err);
tarn_code tarn_catalog_files_in(void *ctx, const char *folder, tarn_file_fn *fn, void *fn_ctx, struct tarn_err *err);
tarn_code tarn_catalog_file(void *ctx, const char *path, tarn_file_fn *fn, void *fn_ctx, struct tarn_err *err);
tarn_code tarn_catalog_removed(void *ctx, tarn_file_fn *fn, void *fn_ctx, struct tarn_err *err);
tarn_code tarn_catalog_batches(void *ctx, tarn_batch_fn *fn, void *fn_ctx, struct tarn_err *err);
#endif
