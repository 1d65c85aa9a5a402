/* group.h - commits to several tables, all or none (POST /api/transactions). Atomic in the
 * catalog; on storage each table appears on its own, and the log entries share `group`. */
#ifndef TARN_LAKE_GROUP_H
#define TARN_LAKE_GROUP_H
#include "lake/commit.h"

#define TARN_GROUP_TABLES_MAX 100

struct tarn_group_use {
    /* in; text is borrowed from the request */
    struct tarn_lake *lake;
    const char *principal, *method, *path, *key;                             /* as of a commit */
    bool (*may_see)(const void *who, const char *namespace_, const char *name); /* NULL: all */
    const void *who;
    int64_t now_ms; /* 0: the clock, at the decision */
    /* in and out: owned, in the order of the request */
    struct tarn_commit_use *commits;
    size_t count;
    /* out */
    bool replayed; /* each of them was made before */
    /* inside */
    char group[40], key_hash[TARN_SHA256_HEX];
    struct tarn_err fault; /* what the check found against commits[fault_at]; code TARN_OK: nothing */
    size_t fault_at;
    size_t waiting;        /* the commit whose publication is waited for */
    int64_t waits_until_ms; /* monotonic; 0: the wait has not begun */
};
extern const struct tarn_use tarn_group;

/* Reads {"tables":[{"table":..., <commit body>}, ...]} into a use whose other "in" members are set.
 * `body` is changed and must outlive the use. A refusal names the table where one is known. */
TARN_MUST tarn_code tarn_group_parse(json_t *body, struct tarn_group_use *use, struct tarn_err *err);
#endif
