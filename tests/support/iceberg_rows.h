/* iceberg_rows.h - updates of Iceberg tables as rows of a table: a document, what is asked, and what must come of it. */
#ifndef TARN_TESTS_ICEBERG_ROWS_H
#define TARN_TESTS_ICEBERG_ROWS_H
#include "tests/support/iceberg.h"

#define TARN_ROW_NOW 5000 /* the clock of every row */
#define TARN_ROW_FILE "file:///lake/t/metadata/00001-a.metadata.json"

/* `base` and `after` are merge patches, on k_iceberg_table and on the document before. NULL: nothing differs; for `after`
 * that means the updates must do nothing at all. What every change brings (last-updated-ms 5000, an entry of metadata-log)
 * is added to `after` first. `refused` (NULL: not) is the whole text of the error. */
struct tarn_iceberg_row {
    const char *name, *base, *updates, *after;
    const char *refused;
    tarn_code code; /* 0: TARN_INVALID */
};
void tarn_iceberg_rows_check(const struct tarn_iceberg_row *rows, size_t count);
#endif
