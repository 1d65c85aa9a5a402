/* file_filter.h - which files of a snapshot a query asks for. `partition.<key>` compares the value as text;
 * `at_least.<column>`, `at_most.<column>` and `equals.<column>` leave out the files that cannot hold such a
 * row (catalog/prune.h). A column is named as the snapshot's schema has it; in a file of an older schema
 * version it is looked for under the name that it had then. */
#ifndef TARN_LAKE_FILE_FILTER_H
#define TARN_LAKE_FILE_FILTER_H
#include "catalog/store.h"

struct tarn_file_filter;
struct tarn_file_filter *tarn_file_filter_new(void); /* passes everything; NULL: out of memory */
void tarn_file_filter_free(struct tarn_file_filter *filter);
TARN_DEFINE_AUTO(file_filter, struct tarn_file_filter)

/* One parameter of the query; *taken false: it is none of a filter's. TARN_INVALID: the table has no such
 * partition key. */
TARN_MUST tarn_code tarn_file_filter_add(struct tarn_file_filter *filter, const struct tarn_table *table,
                                         const char *name, const char *value, bool *taken,
                                         struct tarn_err *err);
/* After the last one, outside of any transaction: reads the schemas up to `reads_schema`. TARN_INVALID: there
 * is no such column. */
TARN_MUST tarn_code tarn_file_filter_settle(struct tarn_file_filter *filter, struct tarn_store *store,
                                            const struct tarn_table *table, int64_t reads_schema,
                                            struct tarn_err *err);
bool tarn_file_filter_wants(const struct tarn_file_filter *filter, const struct tarn_file *file);
#endif
