/* store.h - what Tarn asks of a database: the port that catalog/sqlite/ implements. Nobody
 * else sees SQL.
 *
 * Two entries: tarn_store_read runs a read transaction on the calling thread's own
 * connection; tarn_store_submit queues a write transaction for the one writer and
 * returns. The calls of catalog/store_ops.h exist only inside a transaction. */
#ifndef TARN_CATALOG_STORE_H
#define TARN_CATALOG_STORE_H
#include "base/buf.h"
#include "base/err.h"
#include "base/time.h"
#include "catalog/store_ops.h"
#include "catalog/types.h"

struct tarn_store;

struct tarn_tx {
    struct tarn_store *store;
    const struct tarn_store_ops *ops;
    bool writes;
};

/* The body of a transaction. It may run more than once: it touches only tx and ctx, and
 * first frees what an earlier run left in ctx. Another code than TARN_OK undoes all it wrote. */
typedef tarn_code tarn_tx_fn(struct tarn_tx *tx, void *ctx, struct tarn_err *err);
/* Told once, on the writer's thread, after the outcome is durable: be short, never block,
 * hand real work on. *err is the callee's to move. */
typedef void tarn_done_fn(void *ctx, tarn_code code, struct tarn_err *err);

/* One consistent snapshot. A read transaction must be short: it pins the log of the database. */
TARN_MUST tarn_code tarn_store_read(struct tarn_store *store, tarn_tx_fn *fn, void *ctx,
                                    struct tarn_err *err);
/* `done` is called exactly once, also when the queue is full (TARN_OVERLOADED, then on the
 * calling thread) or the store is closing. Codes beside fn's own: TARN_INSUFFICIENT_STORAGE,
 * TARN_COMMIT_STATE_UNKNOWN, TARN_INTERNAL. */
void tarn_store_submit(struct tarn_store *store, tarn_tx_fn *fn, void *ctx, tarn_done_fn *done);
/* Lets go of what the calling thread keeps for its reads (connection, pages):
 * for threads that read much and seldom. Not inside a transaction. */
void tarn_store_rest(struct tarn_store *store);
/* Submit and wait. For start-up, the command line, background threads and tests; never on a thread
 * that serves requests and never from `done`. */
TARN_MUST tarn_code tarn_store_write(struct tarn_store *store, tarn_tx_fn *fn, void *ctx,
                                     struct tarn_err *err);
/* Finishes what is queued, then closes. NULL is fine. */
void tarn_store_free(struct tarn_store *store);
TARN_DEFINE_AUTO(store, struct tarn_store)

/* --- what changed: for caches of what was read ---
 * Take the clock, read in a transaction after it, keep what was made of a table: it holds until the table
 * counts as touched since. A write counts before anybody is told of it; now and then an untouched table counts
 * too. Any thread, a few nanoseconds. */
uint64_t tarn_store_clock(const struct tarn_store *store);
bool tarn_store_touched(const struct tarn_store *store, int64_t table_id, uint64_t since);

/* --- how busy it is: for metrics; any thread, quick --- */
#define TARN_GROUP_SIZES 9 /* groups of at most 1, 2, 4, ... 256 transactions */
struct tarn_store_meters {
    int64_t waiting;                      /* transactions queued now */
    int64_t commits;                      /* versions of tables that became durable since the store was opened */
    int64_t groups[TARN_GROUP_SIZES];     /* groups committed since then, each counted once */
    int64_t transactions;                 /* in those groups */
    int64_t database_bytes, log_bytes;    /* on disk, -1: not known */
};
void tarn_store_meters_read(struct tarn_store *store, struct tarn_store_meters *out);

/* --- events: for those who wait for them --- */
/* How many times events became durable since the store was
 * opened. Taken before a read it tells whether more came. */
uint64_t tarn_store_events_clock(const struct tarn_store *store);
/* `fn` is called on the writer's thread after each rise of that clock: be short, never block.
 * NULL ends it, but a call may still be on its way: `ctx` stays until the store is closed. */
void tarn_store_on_events(struct tarn_store *store, void (*fn)(void *ctx), void *ctx);
#endif
