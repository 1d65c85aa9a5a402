/* store.c - the part of the store port that is the same for every database: the way to
 * the adapter, and waiting for a submitted transaction. */
#include "catalog/store_driver.h"
#include <pthread.h>

tarn_code tarn_store_read(struct tarn_store *store, tarn_tx_fn *fn, void *ctx, struct tarn_err *err)
{
    return store->driver->read(store, fn, ctx, err);
}

void tarn_store_submit(struct tarn_store *store, tarn_tx_fn *fn, void *ctx, tarn_done_fn *done)
{
    store->driver->submit(store, fn, ctx, done);
}

void tarn_store_rest(struct tarn_store *store) { store->driver->rest(store); }

void tarn_store_meters_read(struct tarn_store *store, struct tarn_store_meters *out)
{
    *out = (struct tarn_store_meters){ .commits = atomic_load_explicit(&store->commits, memory_order_relaxed) };
    store->driver->meters(store, out);
}

void tarn_store_free(struct tarn_store *store)
{
    if (store)
        store->driver->free(store);
}

struct waiter {
    tarn_tx_fn *fn;
    void *ctx;
    pthread_mutex_t lock;
    pthread_cond_t told;
    bool done; /* under lock, as the two below */
    tarn_code code;
    struct tarn_err err;
};

static tarn_code run_for_waiter(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct waiter *w = ctx;
    return w->fn(tx, w->ctx, err);
}

static void wake(void *ctx, tarn_code code, struct tarn_err *err)
{
    struct waiter *w = ctx;
    pthread_mutex_lock(&w->lock);
    w->code = code;
    if (code != TARN_OK)
        (void)tarn_err_move(&w->err, err);
    w->done = true;
    pthread_cond_signal(&w->told); /* before the lock is let go: the waiter's frame ends right after */
    pthread_mutex_unlock(&w->lock);
}

tarn_code tarn_store_write(struct tarn_store *store, tarn_tx_fn *fn, void *ctx, struct tarn_err *err)
{
    struct waiter w = { .fn = fn, .ctx = ctx };
    pthread_mutex_init(&w.lock, NULL);
    pthread_cond_init(&w.told, NULL);
    tarn_store_submit(store, run_for_waiter, &w, wake);

    pthread_mutex_lock(&w.lock);
    while (!w.done)
        pthread_cond_wait(&w.told, &w.lock);
    pthread_mutex_unlock(&w.lock);
    pthread_cond_destroy(&w.told);
    pthread_mutex_destroy(&w.lock);

    if (w.code != TARN_OK)
        (void)tarn_err_move(err, &w.err);
    return w.code;
}
