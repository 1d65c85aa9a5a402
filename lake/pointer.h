/* pointer.h - the swap of a pointed table's metadata file (PUT .../pointer):
 * an outside writer makes the commits, the catalog decides which of them is
 * the newest, by compare-and-swap on the version, which counts swaps. */
#ifndef TARN_LAKE_POINTER_H
#define TARN_LAKE_POINTER_H
#include "lake/commit.h"

struct tarn_pointer_use {
    /* in; text is borrowed from the request */
    struct tarn_lake *lake;
    struct tarn_commit_use commit;          /* ident, principal, method, path and key; the rest is read here */
    const char *if_match;                   /* value of the header or NULL */
    bool (*may_use)(const void *who, const char *location); /* roots of the token; NULL: all */
    const void *who;
    const char *metadata_location;          /* out of the body */
    /* out, owned */
    struct tarn_table *table;               /* as it is now */
    /* inside */
    bool must_check, is_there;              /* the file: to be looked for, found */
    char *metadata;                         /* owned: what the history keeps */
};
/* TARN_TABLE_NOT_POINTED, TARN_VERSION_CONFLICT,
 * TARN_TRANSACTION_EXISTS; with `verify` TARN_VERIFICATION_FAILED. */
extern const struct tarn_use tarn_pointer;

/* Reads {"expected_version", "metadata_location", "transaction"}; `body` must outlive the use. */
TARN_MUST tarn_code tarn_pointer_parse(json_t *body, struct tarn_pointer_use *use, struct tarn_err *err);
#endif
