/* managed.h - a lake with managed tables made by the store's own operations: the use cases are not needed to
 * test what follows a commit. Names, ids and times are fixed, so documents have fixed bytes. */
#ifndef TARN_TESTS_MANAGED_H
#define TARN_TESTS_MANAGED_H
#include "lake/lake.h"

#define MANAGED_CATALOG "11111111-1111-4111-8111-111111111111"
#define MANAGED_UUID    "22222222-2222-4222-8222-2222222222%02d" /* of the n-th table, from 0 */
#define MANAGED_T0      INT64_C(1706797800000) /* 2024-02-01T14:30:00Z: creation; version n is n s later */

struct managed {
    struct tarn_lake lake;
    const char *folder; /* the root; the tables' folders lie in it */
    char database[4096];
    int tables;
};
void managed_open(struct managed *m);
/* The database again, as a new process finds it. */
void managed_reopen(struct managed *m);
void managed_close(struct managed *m);
#define MANAGED(name)                                                                                        \
    __attribute__((cleanup(managed_close))) struct managed name;                                             \
    managed_open(&name)

/* A table `name` at <folder>/<name>, version 0, nothing published. Its id. */
int64_t managed_table(struct managed *m, const char *name);
/* The same, adopted at `version`: as if registration had found the manifest that lies in its folder now. */
int64_t managed_adopted(struct managed *m, const char *name, int64_t version, const char *transaction);
/* Paths separated by blanks; NULL for none. Files are 10 bytes long. The transaction is txn-<version>. */
void managed_commit(struct managed *m, int64_t id, const char *adds, const char *removes);
/* One commit that adds files f<from> ... below f<to>. */
void managed_commit_many(struct managed *m, int64_t id, int from, int to);
/* The checkpoint of a batch; `version` -1: no commit brought it. Times are MANAGED_T0 and 15 s later, 5 records. */
void managed_batch(struct managed *m, int64_t id, const char *batch_id, enum tarn_batch_status status,
                   int64_t version);
void managed_schema(struct managed *m, int64_t id, const char *schema);
/* Changes members of the row. */
void managed_change(struct managed *m, int64_t id, void (*change)(struct tarn_table *table));
struct tarn_table *managed_row(struct managed *m, int64_t id); /* owned */
int64_t managed_published(struct managed *m, int64_t id);
#endif
