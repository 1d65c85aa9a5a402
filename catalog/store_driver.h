/* store_driver.h - what an adapter of the store port is: the head of its store and the four
 * calls behind catalog/store.h. Only adapters include this. */
#ifndef TARN_CATALOG_STORE_DRIVER_H
#define TARN_CATALOG_STORE_DRIVER_H
#include "catalog/store.h"
#include <stdatomic.h>

/* Each call keeps the promise that catalog/store.h makes for the function of the same name. */
struct tarn_store_driver {
    tarn_code (*read)(struct tarn_store *store, tarn_tx_fn *fn, void *ctx, struct tarn_err *err);
    void (*rest)(struct tarn_store *store);
    void (*submit)(struct tarn_store *store, tarn_tx_fn *fn, void *ctx, tarn_done_fn *done);
    void (*free)(struct tarn_store *store);
    void (*meters)(struct tarn_store *store, struct tarn_store_meters *out); /* all but `commits` */
};

/* When each table was written last, by the clock of changes; tables share slots. */
#define TARN_CHANGE_SLOTS 16384
#define TARN_CHANGES_PENDING 512
struct tarn_changes {
    _Atomic uint64_t clock, all, slot[TARN_CHANGE_SLOTS];
    int64_t pending[TARN_CHANGES_PENDING]; /* the writer's: noted since it last told */
    size_t pending_count;                  /* above TARN_CHANGES_PENDING: too many, everything counts */
};

/* Who waits for events is told once a group of transactions, after its outcome stands. */
struct tarn_event_clock {
    _Atomic uint64_t clock;
    bool pending; /* the writer's: events were written since it last told */
    void (*_Atomic fn)(void *ctx);
    void *_Atomic ctx;
};

/* First member of an adapter's own struct, zeroed when made. */
struct tarn_store {
    const struct tarn_store_driver *driver;
    struct tarn_changes changes;
    struct tarn_event_clock events;
    _Atomic int64_t commits;
    int64_t commits_pending; /* the writer's: made and not yet told; it takes back what is undone */
};
/* The writer, wherever it writes what a table shows (its row, its scan, its findings). */
void tarn_changes_note(struct tarn_store *store, int64_t table_id);
void tarn_events_note(struct tarn_store *store); /* the writer, wherever it writes an event */
void tarn_changes_note_all(struct tarn_store *store); /* the writer, where it wrote what many tables show */
/* The writer, when the outcome of its transactions stands and before anybody is told. */
void tarn_changes_tell(struct tarn_store *store);
#endif
