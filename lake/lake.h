/* lake.h - what a use case acts on, and the steps that one is made of. No use case knows
 * HTTP: server/flow.c drives the steps on the right threads, tarn_use_run drives them in a
 * row for the command line, start-up and tests. */
#ifndef TARN_LAKE_LAKE_H
#define TARN_LAKE_LAKE_H
#include "catalog/store.h"
#include "storage/storage.h"
#include <stdatomic.h>

struct tarn_publisher;
struct tarn_sweeper;
struct tarn_leases;
struct tarn_looked;
struct tarn_iceberg_bases;

struct tarn_lake {
    struct tarn_store *store;
    struct tarn_storage *storage;
    struct tarn_publisher *publisher;  /* NULL: publish nothing (tools, tests) */
    char catalog_id[40];               /* the database's uuid */
    char *default_root;                /* where a table without location would lie; owned by main */
    int64_t dropped_retention_ms;      /* retention.dropped */
    int64_t history_retention_ms;      /* history.retention */
    int64_t history_versions;          /* history.versions: kept whatever their age */
    int64_t checkpoint_every;          /* commits between two checkpoints of a log; 0: 1,000 */
    struct tarn_sweeper *sweeper;      /* NULL: nobody sweeps (tools, tests) */
    struct tarn_leases *leases;        /* of large commits; NULL: whoever asks has it */
    atomic_bool stopping;              /* long work ends between two steps */
    int64_t events_retention_ms;       /* retention.events */
    int64_t samples_retention_ms;      /* retention.samples */
    int64_t findings_retention_ms;     /* retention.findings: closed ones, and silences that are over */
    struct tarn_looked *looked;        /* tables whose storage was compared with the catalog since the start; NULL: never compare */
    struct tarn_iceberg_bases *bases;  /* of Iceberg commits; NULL: none is kept */
};
/* Fills a zeroed lake over an open store: catalog id (made on the first
 * start), memory of looks and leases, the retentions' defaults. Blocks (one
 * write at most). `store` and `storage` (may be NULL: tools) are borrowed. */
TARN_MUST tarn_code tarn_lake_open(struct tarn_lake *lake, struct tarn_store *store,
                                   struct tarn_storage *storage, struct tarn_err *err);
/* Is the database a backup that was put in place and not compared with storage yet? */
TARN_MUST tarn_code tarn_lake_is_backup(struct tarn_lake *lake, bool *is_backup, struct tarn_err *err);
/* Compares every table with its storage, thoroughly; a backup is one no
 * longer when all could be. Blocks; before the lake serves anybody. */
TARN_MUST tarn_code tarn_lake_settle_backup(struct tarn_lake *lake, int64_t *failed, struct tarn_err *err);
void tarn_lake_done(struct tarn_lake *lake); /* frees what tarn_lake_open made and default_root */

/* A use case: a struct of its own (parameters in, results out, zeroed before use) and these steps. */
struct tarn_use {
    const char *name; /* for logs: "commit" */
    size_t size;      /* of its struct */
    /* Does `check` have anything to do? NULL: always when there is a check. Quick, any thread; asked again
     * after each TARN_RECHECK. */
    bool (*needs_check)(const struct tarn_lake *lake, const void *use);
    /* What it is about, as a number but 0: requests of one number are taken one after another, from `check`
     * to the end, so that none checks in vain. NULL, or 0: it waits for nobody. Quick, any thread. */
    uint64_t (*turn)(const void *use);
    /* Whatever looks at storage or takes long; on a worker. Runs again (at most three times) when
     * `change` answers TARN_RECHECK. */
    tarn_code (*check)(struct tarn_lake *lake, void *use, struct tarn_err *err);
    bool is_slow; /* `check` may read a whole table: it goes where no other request waits behind it */
    /* The decision; on the writer, inside a transaction that may run more than once. */
    tarn_tx_fn *change;
    /* Once the change is durable, before everything else; on
     * the writer, which must not wait. NULL: nothing. */
    void (*settled)(struct tarn_lake *lake, void *use);
    /* Does `after` have anything to do? NULL: always when there is an after. */
    bool (*needs_after)(const void *use);
    /* After the change is durable, on a worker. */
    tarn_code (*after)(struct tarn_lake *lake, void *use, struct tarn_err *err);
    /* The publication to wait for (at most publish.wait); false: none. */
    bool (*publishes)(const void *use, int64_t *table_id, int64_t *version);
    /* Told when the wait is over. */
    void (*published)(void *use, bool done);
    /* Is there another publication to wait for? Then `publishes` is asked again. NULL: never. */
    bool (*publishes_more)(const void *use);
    /* After a refusal by `check` or `change`, on a worker: what they left on storage goes. With
     * TARN_COMMIT_STATE_UNKNOWN it may have become the truth, and stays. NULL: they leave nothing. */
    void (*withdraw)(struct tarn_lake *lake, void *use, tarn_code code);
    /* Frees what the struct owns, not the struct. */
    void (*done)(void *use);
};

#define TARN_RECHECKS_MAX 3

/* All steps on the calling thread, waiting for each. */
TARN_MUST tarn_code tarn_use_run(struct tarn_lake *lake, const struct tarn_use *use, void *state,
                                 struct tarn_err *err);
#endif
