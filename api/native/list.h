/* list.h - a list as a stream: a chain of keyset pages, each its own short read transaction, written item by
 * item. With page_size the chain ends after so many items and names the next page. */
#ifndef TARN_API_NATIVE_LIST_H
#define TARN_API_NATIVE_LIST_H
#include "api/http.h"

enum tarn_list_form { TARN_LIST_JSON, TARN_LIST_NDJSON, TARN_LIST_URIS };

struct tarn_list {
    struct tarn_store *store;
    /* Visits up to `ask` rows after the list's position, each by tarn_list_row; a read transaction. */
    tarn_tx_fn *page;                             /* ctx: the list */
    /* The same without the store, instead of `page`. */
    tarn_code (*pull)(struct tarn_list *list, struct tarn_err *err);
    char *(*token)(const struct tarn_list *list); /* the position as text, owned; NULL: out of memory */
    void (*free)(struct tarn_list *list);         /* what the embedding struct owns, and itself */
    enum tarn_list_form form;
    int64_t size; /* page_size, 0: everything */
    const char *token_key; /* of the next page's token; NULL: next_page_token */
    /* of the page at hand */
    struct tarn_buf *out;
    struct tarn_jsonw w;
    int64_t ask, rows; /* rows to ask for, rows visited */
    /* inside */
    int64_t told; /* items written */
    bool skips;   /* rows of the last read were passed over */
    bool begun, more;
    char *head; /* owned */
    const char *key;
};

/* Makes the list the reply's body. `head` (taken over; may be NULL) is JSON text that opens the object
 * ({"version":3,...) and `key` the array's name, static. The reply owns the list from here on. */
void tarn_list_reply(struct tarn_list *list, char *head, const char *key, struct tarn_reply *reply);
/* The same of a list in any form. A page of lines cannot name the next page inside: it is made whole, and a
 * `Link` header tells. */
TARN_MUST tarn_code tarn_list_answer(struct tarn_list *list, char *head, const char *key,
                                     const struct tarn_request *req, struct tarn_reply *reply,
                                     struct tarn_err *err);
/* One row visited: should it be written? False when the page is full. A row that is not shown is not asked
 * for: tarn_list_skip. After true the position must become this row's. */
bool tarn_list_row(struct tarn_list *list);
void tarn_list_skip(struct tarn_list *list);
#endif
