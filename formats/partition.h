/* partition.h - partition values of a Hive layout: folders named key=value between the table's root
 * and the file. */
#ifndef TARN_FORMATS_PARTITION_H
#define TARN_FORMATS_PARTITION_H
#include "base/err.h"
#include <jansson.h>
#include <stdbool.h>

#define TARN_PARTITION_NULL "__HIVE_DEFAULT_PARTITION__" /* the folder's value for null (and for "") */

/* "date=2024-01-01/hour=14/x.parquet" to {"date":"2024-01-01","hour":"14"}: owned, in the order of the path;
 * NULL when no folder names a key. Values are strings, percent escapes decoded (kept as they stand when they
 * are broken), or null. Of a key that comes twice the first one counts. The only error is a lack of memory.
 */
TARN_MUST tarn_code tarn_partition_from_path(const char *path, json_t **out, struct tarn_err *err);

/* One value however it is written: 14 equals "14", true equals "true", null equals TARN_PARTITION_NULL; "014"
 * is another value than 14, and 14.0 than 14. NULL (absent) counts as null. */
bool tarn_partition_equal(const json_t *a, const json_t *b);
/* The same against the text of a folder or a query. */
bool tarn_partition_is(const json_t *value, const char *text);
/* Does a file with the value `given` belong into a folder of the value `of_folder` (text or null)? The number
 * 5 lies in hour=05 as well, an empty text in the folder of null. */
bool tarn_partition_fits(const json_t *given, const json_t *of_folder);
/* The first key of which the values tell another value than the path's folders, *note says how; NULL: none. Both are objects
 * or NULL. */
const char *tarn_partition_contradicts(const json_t *values, const json_t *of_path, char *note, size_t size);
#endif
