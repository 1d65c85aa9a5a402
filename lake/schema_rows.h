/* schema_rows.h - the schema versions of one table, taken out of a transaction. */
#ifndef TARN_LAKE_SCHEMA_ROWS_H
#define TARN_LAKE_SCHEMA_ROWS_H
#include "catalog/store.h"

struct tarn_schema_rows {
    struct tarn_schema_row *rows; /* owned, oldest first */
    size_t count, cap;
    int64_t from;                 /* older versions are passed over */
};
void tarn_schema_rows_done(struct tarn_schema_rows *rows); /* `from` stays */
/* All versions from rows->from on; what an earlier run left is released first. */
TARN_MUST tarn_code tarn_schema_rows_read(struct tarn_tx *tx, int64_t table_id, struct tarn_schema_rows *rows,
                                          struct tarn_err *err);
/* Is `text` (a row's schema) the schema `there`, once both are in the one spelling of types? */
struct tarn_schema;
bool tarn_schema_same(const struct tarn_schema *there, const char *text);
#endif
