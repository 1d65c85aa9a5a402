/* status_walk.h - the rows of the overview that a principal sees, page by page, each
 * page a short read transaction and each table with what it inherits in place. */
#ifndef TARN_API_STATUS_WALK_H
#define TARN_API_STATUS_WALK_H
#include "auth/auth.h"
#include "catalog/store.h"
#include "lake/inherit.h"

struct tarn_status_walk {
    /* in; zero the rest */
    struct tarn_store *store;         /* borrowed */
    struct tarn_principal who;
    struct tarn_table_filter filter;  /* but the position and limit */
    tarn_status_fn *fn;               /* borrowed row; a page may be read twice over only when it failed */
    void *ctx;
    bool is_full;                     /* set by fn: this row was not taken, and no further one is wanted */
    /* the position: after this row */
    char *after_namespace, *after;    /* owned */
    int64_t after_id;
    /* inside: of the read at hand */
    struct tarn_tx *tx;
    struct tarn_inherited inherited; /* by the tables of the namespace at hand */
    int64_t visited;
};
/* Some hundred rows more; *end: there are no others, or the walk is full. */
TARN_MUST tarn_code tarn_status_walk_page(struct tarn_status_walk *walk, bool *end, struct tarn_err *err);
void tarn_status_walk_done(struct tarn_status_walk *walk);
#endif
