/* footer.h - what one data file tells of itself: rows and statistics by its footer, partition values by its
 * path. */
#ifndef TARN_LAKE_FOOTER_H
#define TARN_LAKE_FOOTER_H
#include "catalog/schema.h"
#include "formats/parquet/parquet.h"
#include "storage/storage.h"

/* The values of Hive-style folders (date=2024-02-01/hour=14/...) as a JSON object's text, percent-decoded;
 * NULL in *out when the path has none. __HIVE_DEFAULT_PARTITION__ is null. A column of `schema` (may be NULL)
 * that is an integer makes its value a number; all others are strings. */
TARN_MUST tarn_code tarn_hive_values(const char *path, const struct tarn_schema *schema, char **out,
                                     struct tarn_err *err);
/* The names alone, in the order of the path: a JSON array's text, "[]" without any. */
TARN_MUST tarn_code tarn_hive_keys(const char *path, char **out, struct tarn_err *err);
#endif
