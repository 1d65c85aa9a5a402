/* pool.h - worker threads with one bounded queue. */
#ifndef TARN_BASE_POOL_H
#define TARN_BASE_POOL_H
#include "base/err.h"
#include "base/own.h"
#include <stddef.h>

struct tarn_pool;
typedef void tarn_job_fn(void *ctx);

#define TARN_POOL_GIVES_WAY 10 /* the `nice` of long work: whatever somebody waits for goes first */

/* `name` (at most 15 bytes) labels the threads, which run at the priority
 * `nice` (0: the process's own). TARN_INTERNAL when a thread cannot start. */
TARN_MUST tarn_code tarn_pool_new(const char *name, unsigned threads, int nice, size_t queue_max,
                                  struct tarn_pool **out, struct tarn_err *err);
/* TARN_OVERLOADED when the queue is full or the pool is draining; then fn is not called. */
TARN_MUST tarn_code tarn_pool_submit(struct tarn_pool *pool, tarn_job_fn *fn, void *ctx,
                                     struct tarn_err *err);
/* Runs what is queued, joins the threads, frees. NULL is fine. */
void tarn_pool_free(struct tarn_pool *pool);
TARN_DEFINE_AUTO(pool, struct tarn_pool)
#endif
