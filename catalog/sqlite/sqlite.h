/* sqlite.h - the SQLite adapter of the store port.
 * One connection writes and checkpoints (the writer thread's); every reading thread has
 * one of its own, read-only. See docs/ARCHITECTURE.md for why (the WAL-reset bug). */
#ifndef TARN_CATALOG_SQLITE_H
#define TARN_CATALOG_SQLITE_H
#include "catalog/store.h"

struct tarn_sqlite_options {
    const char *path;  /* database file; made when missing */
    size_t queue_max;  /* waiting transactions, 0: 10,000 */
    int64_t cache_kib; /* page cache of the writer, 0: 16 MiB; a reader has a quarter */
    bool migrate;      /* run migrations that are missing; else a database that lacks some is refused */
    const char *vfs;   /* tests: a VFS that fails on demand; NULL: the default */
};
/* Opens, migrates, starts the writer. A newer or altered migration in the database is refused. */
TARN_MUST tarn_code tarn_sqlite_open(const struct tarn_sqlite_options *options, struct tarn_store **out,
                                     struct tarn_err *err);
/* One VACUUM INTO `file` (which must not exist) and an integrity check of the copy. Blocks; any thread. */
TARN_MUST tarn_code tarn_sqlite_backup(struct tarn_store *store, const char *file, struct tarn_err *err);
/* How many groups and transactions the writer committed so far: for benchmarks and metrics. */
void tarn_sqlite_counters(struct tarn_store *store, int64_t *groups, int64_t *transactions);
#endif
