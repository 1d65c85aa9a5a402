/* entry_same.h - a log entry held against the catalog, word for word. */
#ifndef TARN_LAKE_ENTRY_SAME_H
#define TARN_LAKE_ENTRY_SAME_H
#include "base/buf.h"
#include "lake/lake.h"

/* Does the entry say what the catalog knows of that version's commit? True as well where the catalog no
 * longer knows all of it, and of a commit that did a great deal. One read transaction. */
TARN_MUST tarn_code tarn_entry_is_same(struct tarn_lake *lake, const struct tarn_table *table,
                                       int64_t version, const struct tarn_buf *text, bool *same,
                                       struct tarn_err *err);
#endif
