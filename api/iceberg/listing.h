/* listing.h - inside api/iceberg/: the names of one namespace as a list, of its tables or of its views. */
#ifndef TARN_API_ICEBERG_LISTING_H
#define TARN_API_ICEBERG_LISTING_H
#include "api/iceberg/iceberg.h"
#include "api/native/list.h"

struct tarn_iceberg_listing {
    struct tarn_list list; /* first */
    struct tarn_principal who;
    char mark[TARN_ICEBERG_MARK];
    char namespace_[TARN_NAMESPACE_MAX + 1];
    char after[TARN_NAME_MAX + 1]; /* the name that a page comes after; "": the first one */
};

/* For the page's rows, in their order: tells the name, when `is_shown` and the principal may see it, as long as there is room. */
void tarn_iceberg_listing_row(struct tarn_iceberg_listing *l, const char *name, bool is_shown);
/* The whole answer; `page` visits up to l->list.ask rows after l->after, which moves meanwhile. */
TARN_MUST tarn_code tarn_iceberg_listing_answer(const struct tarn_request *req, tarn_tx_fn *page, struct tarn_reply *reply,
                                                struct tarn_err *err);
#endif
