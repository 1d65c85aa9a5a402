/* entry_pages.h - the operations of one commit page by page, in the form of
 * its log entry: its removes, then its adds, each in the order of an index,
 * so that a page costs its own rows whatever the size of commit and table. */
#ifndef TARN_LAKE_ENTRY_PAGES_H
#define TARN_LAKE_ENTRY_PAGES_H
#include "base/jsonw.h"
#include "catalog/store.h"

#define TARN_ENTRY_SMALL_OPS 20000 /* operations of an entry that may be held in memory */

struct tarn_entry_cursor {
    int64_t table_id, version, first_version;
    bool adds; /* the removes are told */
    struct tarn_file_cursor at;
    bool end;
};
/* `first_version`: the table's. */
void tarn_entry_begin(struct tarn_entry_cursor *cursor, int64_t table_id, int64_t version,
                      int64_t first_version);
/* Writes at most `limit` operations after *from; *to where it came to. Inside a read transaction. */
TARN_MUST tarn_code tarn_entry_page(struct tarn_tx *tx, const struct tarn_entry_cursor *from, int64_t limit,
                                    struct tarn_jsonw *w, struct tarn_entry_cursor *to, struct tarn_err *err);
#endif
