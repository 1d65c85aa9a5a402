/* store_driver.h - what an adapter of the store port is: the head of its store and the three
 * calls behind catalog/store.h. Only adapters include this. */
#ifndef TARN_CATALOG_STORE_DRIVER_H
#define TARN_CATALOG_STORE_DRIVER_H
#include "catalog/store.h"

/* Each call keeps the promise that catalog/store.h makes for the function of the same name. */
struct tarn_store_driver {
    tarn_code (*read)(struct tarn_store *store, tarn_tx_fn *fn, void *ctx, struct tarn_err *err);
    void (*submit)(struct tarn_store *store, tarn_tx_fn *fn, void *ctx, tarn_done_fn *done);
    void (*free)(struct tarn_store *store);
};

/* First member of an adapter's own struct. */
struct tarn_store {
    const struct tarn_store_driver *driver;
};
#endif
