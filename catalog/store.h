/* store.h - what Tarn asks of a database: the port that catalog/sqlite/ (and later
 * catalog/postgres/) implements. Nobody else sees SQL.
 *
 * Two entries: tarn_store_read runs a read transaction on the calling thread's own
 * connection; tarn_store_submit queues a write transaction for the one writer and
 * returns. The calls in `struct tarn_store_ops` exist only inside a transaction. */
#ifndef TARN_CATALOG_STORE_H
#define TARN_CATALOG_STORE_H
#include "base/buf.h"
#include "base/err.h"
#include "base/time.h"
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
TARN_MUST tarn_code tarn_store_read(struct tarn_store *store, tarn_tx_fn *fn, void *ctx, struct tarn_err *err);
/* `done` is called exactly once, also when the queue is full (TARN_OVERLOADED, then on the
 * calling thread) or the store is closing. Codes beside fn's own: TARN_INSUFFICIENT_STORAGE,
 * TARN_COMMIT_STATE_UNKNOWN, TARN_INTERNAL. */
void tarn_store_submit(struct tarn_store *store, tarn_tx_fn *fn, void *ctx, tarn_done_fn *done);
/* Lets go of what the calling thread keeps for its reads (connection, pages): for threads that read much and seldom.
 * Not inside a transaction. */
void tarn_store_rest(struct tarn_store *store);
/* Submit and wait. For start-up, the command line, background threads and tests; never on a thread
 * that serves requests and never from `done`. */
TARN_MUST tarn_code tarn_store_write(struct tarn_store *store, tarn_tx_fn *fn, void *ctx, struct tarn_err *err);
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
/* How many times events became durable since the store was opened. Taken before a read it tells whether more came. */
uint64_t tarn_store_events_clock(const struct tarn_store *store);
/* `fn` is called on the writer's thread after each rise of that clock: be short, never block. NULL ends it, but a call
 * may still be on its way: `ctx` stays until the store is closed. */
void tarn_store_on_events(struct tarn_store *store, void (*fn)(void *ctx), void *ctx);

/* Visitors get rows whose text is borrowed for the call; another code than TARN_OK stops the walk. */
typedef tarn_code tarn_table_fn(void *ctx, const struct tarn_table *table, struct tarn_err *err);
typedef tarn_code tarn_text_fn(void *ctx, const char *text, size_t len, struct tarn_err *err);
typedef tarn_code tarn_commit_fn(void *ctx, const struct tarn_commit_row *commit, struct tarn_err *err);
typedef tarn_code tarn_schema_fn(void *ctx, const struct tarn_schema_row *schema, struct tarn_err *err);

struct tarn_thinning {
    int64_t table_id;                   /* 0: from the start */
    int64_t expired_before;             /* runs that ended before it go */
    int64_t hourly_from, hourly_before; /* of the runs between that lie within one hour the last one stays */
};

/* The findings of a table that share a code and a severity: those that are open, and those that would be, were they not
 * kept quiet from the start. */
struct tarn_open_code {
    char code[64];
    enum tarn_severity severity;
    int64_t count; /* open */
    int64_t quiet; /* open or not, something keeps it quiet: a silence, a maintenance window, a lost root */
    int64_t heard; /* open, and nothing does */
};
#define TARN_OPEN_CODES_MAX 128

/* One row of GET /api/status: a table with its scan and the count of its open findings. */
struct tarn_status_row {
    const struct tarn_table *table;
    const struct tarn_scan_row *scan;     /* NULL: never scanned */
    int64_t open_errors, open_warnings, open_infos; /* but those that are accepted */
    const struct tarn_open_code *codes;   /* by code, at most TARN_OPEN_CODES_MAX; borrowed */
    size_t code_count;
    const struct tarn_finding *worst;     /* NULL: none of those open */
};
typedef tarn_code tarn_status_fn(void *ctx, const struct tarn_status_row *row, struct tarn_err *err);

struct tarn_table_filter {
    const char *namespace_; /* exact canonical, NULL: all */
    const char *prefix;     /* of the raw name, NULL: all */
    int format, mode;       /* enum value, -1: all */
    bool dropped;           /* the dropped ones instead of the live ones */
    /* The page: rows after (after_namespace, after_name, after_id) in that order, at most `limit`. */
    const char *after_namespace, *after_name;
    int64_t after_id;
    int64_t limit;
};

struct tarn_batch_filter {
    int status;         /* enum value, -1: all */
    const char *prefix; /* of the id, NULL: all */
    const char *after;  /* the id to come after, NULL: from the start */
    int64_t limit;
};

/* Where a walk over file rows has come to. By key: (added_version, path), `removed_version` is not looked at; by
 * removal: (removed_version, added_version, path). Zeroed: before the first row. */
struct tarn_file_cursor {
    int64_t removed_version, added_version;
    char path[TARN_PATH_MAX + 1];
    bool end; /* no row is left */
};
/* What one step of a large commit wrote. */
struct tarn_file_totals {
    int64_t files, bytes;
};

/* Unless said otherwise: TARN_OK or the database's fault. "Finds" gives *out owned or the code told. */
struct tarn_store_ops {
    const char *name; /* "sqlite" */

    struct {
        /* TARN_NOT_FOUND when unset; *out owned. */
        tarn_code (*get)(struct tarn_tx *tx, const char *key, char **out, struct tarn_err *err);
        tarn_code (*set)(struct tarn_tx *tx, const char *key, const char *value, struct tarn_err *err);
    } meta;
    /* Key in meta of a database that is a copy, made by a backup; "" when that is settled. */
#define TARN_META_BACKUP "backup"

    struct {
        /* A fresh id for a table to come: files may be staged under it before the table exists. */
        tarn_code (*reserve_id)(struct tarn_tx *tx, int64_t *id, struct tarn_err *err);
        /* All members of *table count but revision (1). Makes the namespace when missing.
         * TARN_TABLE_EXISTS when the name is taken, TARN_VIEW_EXISTS when a view has it. */
        tarn_code (*insert)(struct tarn_tx *tx, const struct tarn_table *table, struct tarn_err *err);
        /* Finds the live one; TARN_TABLE_NOT_FOUND. */
        tarn_code (*get)(struct tarn_tx *tx, const char *namespace_, const char *name, struct tarn_table **out,
                         struct tarn_err *err);
        tarn_code (*get_by_id)(struct tarn_tx *tx, int64_t id, struct tarn_table **out, struct tarn_err *err);
        /* The newest dropped one of that name, or the one with `uuid` (may be NULL). TARN_TABLE_NOT_FOUND. */
        tarn_code (*get_dropped)(struct tarn_tx *tx, const char *namespace_, const char *name, const char *uuid,
                                 struct tarn_table **out, struct tarn_err *err);
        /* Writes every member that a change of settings touches (name, namespace, format, mode, location,
         * metadata_location, versions, totals, keys, settings, block, dropped_at, committed_at, ...) and bumps
         * revision. TARN_TABLE_EXISTS, TARN_VIEW_EXISTS when the new name is taken. */
        tarn_code (*update)(struct tarn_tx *tx, const struct tarn_table *table, struct tarn_err *err);
        /* The compare-and-swap: sets version to expected + 1 and the totals, transaction and committed_at
         * of *next, where version is `expected`, nothing is staged and the table is live. TARN_VERSION_CONFLICT when no
         * row changed. */
        tarn_code (*commit)(struct tarn_tx *tx, int64_t id, int64_t expected, const struct tarn_commit_row *next,
                            struct tarn_err *err);
        /* Sets tables.staging (no new revision). Rows of that version are seen by nobody until the table's version
         * reaches it: every reader names a version. 0: the rows are in place, or undone. */
        tarn_code (*stage)(struct tarn_tx *tx, int64_t id, int64_t version, struct tarn_err *err);
        /* Ids of tables with something staged, dropped ones too, after `after_id`, at most `limit`. */
        tarn_code (*staged)(struct tarn_tx *tx, int64_t after_id, int64_t limit, int64_t *ids, int64_t *count,
                            struct tarn_err *err);
        tarn_code (*list)(struct tarn_tx *tx, const struct tarn_table_filter *filter, tarn_table_fn *fn, void *ctx,
                          struct tarn_err *err);
        /* Finds a table (live, or dropped after `dropped_since`) whose location equals, contains or lies in
         * `location`, other than `except_id`; *out NULL when there is none. managed_only: skip observed ones. */
        tarn_code (*at_location)(struct tarn_tx *tx, const char *location, int64_t dropped_since, int64_t except_id,
                                 bool managed_only, struct tarn_table **out, struct tarn_err *err);
        /* A dropped table of that uuid goes at once and for good, since the same table comes back by another way.
         * TARN_TABLE_EXISTS: a live one has it. */
        tarn_code (*give_way)(struct tarn_tx *tx, const char *uuid, struct tarn_err *err);
        /* Dropped before `before`: the table and all its rows go, at most `limit` rows a call; *left tells more. */
        tarn_code (*purge)(struct tarn_tx *tx, int64_t before, int64_t limit, bool *left, struct tarn_err *err);
    } tables;

    struct {
        /* TARN_FILE_CONFLICT when the path is live (err->more holds "path"). */
        tarn_code (*add)(struct tarn_tx *tx, int64_t table_id, int64_t version, const struct tarn_file *file,
                         struct tarn_err *err);
        /* Marks the live file removed and gives its size; TARN_FILE_CONFLICT when it is not live. */
        tarn_code (*remove)(struct tarn_tx *tx, int64_t table_id, int64_t version, const char *path, int64_t *size,
                            struct tarn_err *err);
        /* The live file; TARN_NOT_FOUND. The row is given to fn. */
        tarn_code (*get)(struct tarn_tx *tx, int64_t table_id, const char *path, tarn_file_fn *fn, void *ctx,
                         struct tarn_err *err);
        /* One page of the snapshot at `version`, by path, after `after` ("": from the start). Exact at that
         * version whatever was committed since; quick when `version` is recent. */
        tarn_code (*page)(struct tarn_tx *tx, int64_t table_id, int64_t version, const char *after, int64_t limit,
                          tarn_file_fn *fn, void *ctx, struct tarn_err *err);
        /* The rows behind a snapshot, in the order in which they came (added_version, path), after (`after_version`,
         * `after`): at most `limit` rows of those added up to `version`, also what was removed by then. A file of the
         * snapshot is one whose removed_version is -1 or above `version`. For any version, however old: a page
         * costs its rows, no more. */
        tarn_code (*page_old)(struct tarn_tx *tx, int64_t table_id, int64_t version, int64_t after_version,
                              const char *after, int64_t limit, tarn_file_fn *fn, void *ctx, struct tarn_err *err);
        /* How many files were added and removed after `version`, counted up to `limit` each: what `page` passes over. */
        tarn_code (*changed_since)(struct tarn_tx *tx, int64_t table_id, int64_t version, int64_t limit,
                                   int64_t *count, struct tarn_err *err);
        /* What one commit did: its removes, then its adds, each by path. */
        tarn_code (*of_version)(struct tarn_tx *tx, int64_t table_id, int64_t version, tarn_file_fn *fn, void *ctx,
                                struct tarn_err *err);
        /* Files that commits up to version `to` removed and that were added up to `added_to`, in order of removal,
         * after *after: at most `limit` rows are looked at, fn gets those that fit; *at where it came to. */
        tarn_code (*removed_page)(struct tarn_tx *tx, int64_t table_id, int64_t to, int64_t added_to,
                                  const struct tarn_file_cursor *after, int64_t limit, tarn_file_fn *fn, void *ctx,
                                  struct tarn_file_cursor *at, struct tarn_err *err);
        /* Rows of no table, under ids reserved before the store was opened (a crash while staging), and rows of purged
         * tables; at most `limit` a call. */
        tarn_code (*sweep)(struct tarn_tx *tx, int64_t limit, bool *left, struct tarn_err *err);
    } files;

    /* Files that no kept version has any more. Their paths stay known until they are gone from storage, so that a file
     * that a commit removed is never taken for one that nobody registered. */
    struct {
        /* Takes out of the history of files what commits up to `version` removed, at most `limit` rows a call; *left
         * tells of more. Before the rows of those commits go: they tell when. */
        tarn_code (*retire)(struct tarn_tx *tx, int64_t table_id, int64_t version, int64_t limit, bool *left,
                            struct tarn_err *err);
        /* One that was found on storage: known already is fine. */
        tarn_code (*add)(struct tarn_tx *tx, int64_t table_id, const struct tarn_retired_file *file, struct tarn_err *err);
        /* By path, after `after`. */
        tarn_code (*page)(struct tarn_tx *tx, int64_t table_id, const char *after, int64_t limit, tarn_retired_fn *fn,
                          void *ctx, struct tarn_err *err);
        /* The file is not on storage any more; nothing happens to a path that is not retired. */
        tarn_code (*gone)(struct tarn_tx *tx, int64_t table_id, const char *path, struct tarn_err *err);
    } retired;
    /* Steps of a large commit that makes `version`, each at most `limit` rows, after *after by key or by removal;
     * *at where it came to. */
    struct {
        /* Removes, in the order of the key, what is live and was added before `version`. */
        tarn_code (*remove)(struct tarn_tx *tx, int64_t table_id, int64_t version,
                            const struct tarn_file_cursor *after, int64_t limit, struct tarn_file_cursor *at,
                            struct tarn_file_totals *totals, struct tarn_err *err);
        /* Adds again, in the order of removal, what was added up to `to` and removed before `version`. */
        tarn_code (*bring_back)(struct tarn_tx *tx, int64_t table_id, int64_t version, int64_t to,
                                const struct tarn_file_cursor *after, int64_t limit, struct tarn_file_cursor *at,
                                struct tarn_file_totals *totals, struct tarn_err *err);
        /* Takes back what was written of `version`: its adds, then its removes. */
        tarn_code (*undo)(struct tarn_tx *tx, int64_t table_id, int64_t version, int64_t limit, bool *left,
                          struct tarn_err *err);
    } bulk;

    struct {
        tarn_code (*insert)(struct tarn_tx *tx, int64_t table_id, const struct tarn_commit_row *row, struct tarn_err *err);
        tarn_code (*get)(struct tarn_tx *tx, int64_t table_id, int64_t version, struct tarn_commit_row *out,
                         struct tarn_err *err); /* TARN_VERSION_NOT_FOUND */
        tarn_code (*by_transaction)(struct tarn_tx *tx, int64_t table_id, const char *transaction,
                                    struct tarn_commit_row *out, struct tarn_err *err); /* TARN_TRANSACTION_NOT_FOUND */
        /* Newest first, versions below `below` (INT64_MAX: all), down to those that are forgotten. */
        tarn_code (*list)(struct tarn_tx *tx, int64_t table_id, int64_t below, int64_t limit, tarn_commit_fn *fn,
                          void *ctx, struct tarn_err *err);
        /* The same rows, but only version, committed_at and data_change of each: for long looks back. */
        tarn_code (*instants)(struct tarn_tx *tx, int64_t table_id, int64_t below, int64_t limit, tarn_commit_fn *fn,
                              void *ctx, struct tarn_err *err);
        /* The history from before Tarn. `position` orders them, oldest 1; version -1 in the row given. */
        tarn_code (*insert_adopted)(struct tarn_tx *tx, int64_t table_id, int64_t position,
                                    const struct tarn_commit_row *row, struct tarn_err *err);
        tarn_code (*list_adopted)(struct tarn_tx *tx, int64_t table_id, int64_t below, int64_t limit,
                                  tarn_commit_fn *fn, void *ctx, struct tarn_err *err); /* row.version: -position */
        tarn_code (*adopted_by_transaction)(struct tarn_tx *tx, int64_t table_id, const char *transaction,
                                            struct tarn_commit_row *out, struct tarn_err *err);
        /* Ids of log entries that lie on storage and are no commits of the table: no commit may take them. Noting one
         * twice is fine. */
        tarn_code (*take_id)(struct tarn_tx *tx, int64_t table_id, const char *id, struct tarn_err *err);
        tarn_code (*id_taken)(struct tarn_tx *tx, int64_t table_id, const char *id, bool *taken, struct tarn_err *err);
        /* The highest number among those with the prefix (tarn_txn_id_number), -1: none. */
        tarn_code (*highest_taken)(struct tarn_tx *tx, int64_t table_id, const char *prefix, int64_t *number,
                                   struct tarn_err *err);
        /* Version `version` restored the snapshot of `to_version`. */
        tarn_code (*insert_rollback)(struct tarn_tx *tx, int64_t table_id, int64_t version, int64_t to_version,
                                     struct tarn_err *err);
        /* The newest rollback at or below `version`; *found 0: none. */
        tarn_code (*rollback_at)(struct tarn_tx *tx, int64_t table_id, int64_t version, int64_t *found,
                                 int64_t *to_version, struct tarn_err *err);
        /* Idempotency-Key. get: TARN_NOT_FOUND, else the version and body hash (65 bytes). */
        tarn_code (*key_get)(struct tarn_tx *tx, const char *principal, const char *method, const char *path,
                             const char *uuid, const char *key, int64_t *version, char hash[65], struct tarn_err *err);
        tarn_code (*key_put)(struct tarn_tx *tx, const char *principal, const char *method, const char *path,
                             const char *uuid, const char *key, int64_t version, const char *hash, int64_t now_ms,
                             struct tarn_err *err);
        tarn_code (*keys_expire)(struct tarn_tx *tx, int64_t before, int64_t limit, bool *left, struct tarn_err *err);
    } commits;

    /* What the expiry of history needs. */
    struct {
        /* A snapshot that lies beside the log as <transaction>.checkpoint.json. */
        tarn_code (*add_checkpoint)(struct tarn_tx *tx, int64_t table_id, int64_t version, const char *transaction,
                                    struct tarn_err *err);
        /* The newest one up to `version`; 0: there is none. */
        tarn_code (*checkpoint_at)(struct tarn_tx *tx, int64_t table_id, int64_t version, int64_t *found,
                                   struct tarn_err *err);
        /* Those below `below`, oldest first, at most `limit`; only version and transaction of the rows given. */
        tarn_code (*checkpoints)(struct tarn_tx *tx, int64_t table_id, int64_t below, int64_t limit, tarn_commit_fn *fn,
                                 void *ctx, struct tarn_err *err);
        tarn_code (*drop_checkpoint)(struct tarn_tx *tx, int64_t table_id, int64_t version, struct tarn_err *err);
        /* Commits from `from` up to below `below`, oldest first. */
        tarn_code (*commits)(struct tarn_tx *tx, int64_t table_id, int64_t from, int64_t below, int64_t limit,
                             tarn_commit_fn *fn, void *ctx, struct tarn_err *err);
        /* Forgets them, and moves tables.log_from to `below`. What was committed under a transaction id or key of the
         * client's own, or for a batch, keeps what a replay asks for. */
        tarn_code (*forget)(struct tarn_tx *tx, int64_t table_id, int64_t from, int64_t below, struct tarn_err *err);
    } history;

    struct {
        tarn_code (*insert)(struct tarn_tx *tx, int64_t table_id, const struct tarn_schema_row *row, struct tarn_err *err);
        tarn_code (*get)(struct tarn_tx *tx, int64_t table_id, int64_t version, struct tarn_schema_row *out,
                         struct tarn_err *err); /* TARN_SCHEMA_VERSION_NOT_FOUND */
        /* Oldest first, all versions. */
        tarn_code (*list)(struct tarn_tx *tx, int64_t table_id, tarn_schema_fn *fn, void *ctx, struct tarn_err *err);
    } schemas;

    struct {
        /* *out owned; TARN_NOT_FOUND. */
        tarn_code (*get)(struct tarn_tx *tx, int64_t table_id, const char *batch_id, struct tarn_batch *out,
                         struct tarn_err *err);
        /* Inserts it or writes it over the old one; its revision rises and its document is pending. Another version
         * that it had stays known: `past`. */
        tarn_code (*put)(struct tarn_tx *tx, int64_t table_id, const struct tarn_batch *batch, struct tarn_err *err);
        /* By id. */
        tarn_code (*page)(struct tarn_tx *tx, int64_t table_id, const struct tarn_batch_filter *filter,
                          tarn_batch_fn *fn, void *ctx, struct tarn_err *err);
        /* The completed ones of versions above `from` up to `to` become rolled_back, at most `limit` a call; their
         * documents wait for version `by`, the rollback's own. */
        tarn_code (*roll_back)(struct tarn_tx *tx, int64_t table_id, int64_t from, int64_t to, int64_t by,
                               int64_t now_ms, int64_t limit, bool *left, struct tarn_err *err);
        /* The newest version below `below` that the batch had before the one in its row; -1: none. */
        tarn_code (*past)(struct tarn_tx *tx, int64_t table_id, const char *batch_id, int64_t below, int64_t *version,
                          struct tarn_err *err);
        /* The other way: those that a rollback brings back become completed again, also by a past version. */
        tarn_code (*count_again)(struct tarn_tx *tx, int64_t table_id, int64_t from, int64_t to, int64_t by,
                                 int64_t now_ms, int64_t limit, bool *left, struct tarn_err *err);
        /* Those whose document is behind and may be shown at `version`, by id, after `after` ("": from the start). */
        tarn_code (*pending)(struct tarn_tx *tx, int64_t table_id, int64_t version, const char *after, int64_t limit,
                             tarn_batch_fn *fn, void *ctx, struct tarn_err *err);
        /* Ids of tables with pending documents, as publications.pending. */
        tarn_code (*pending_tables)(struct tarn_tx *tx, int64_t after_id, int64_t limit, int64_t *ids, int64_t *count,
                                    struct tarn_err *err);
        /* The document shows this revision, or (foreign) is not Tarn's and left alone. */
        tarn_code (*shown)(struct tarn_tx *tx, int64_t table_id, const char *batch_id, int64_t revision, bool foreign,
                           struct tarn_err *err);
    } batches;

    struct {
        tarn_code (*get)(struct tarn_tx *tx, int64_t table_id, struct tarn_publication *out, struct tarn_err *err);
        /* Notes what storage shows now and moves tables.published_version and published_schema (no new revision). */
        tarn_code (*put)(struct tarn_tx *tx, int64_t table_id, const struct tarn_publication *pub,
                         int64_t published_schema, struct tarn_err *err);
        /* Something that its documents show besides versions has changed: they are pending again. */
        tarn_code (*mark)(struct tarn_tx *tx, int64_t table_id, struct tarn_err *err);
        tarn_code (*schema_published)(struct tarn_tx *tx, int64_t table_id, int64_t *schema_version, struct tarn_err *err);
        /* Ids of tables with something to publish (live, managed, publish on, not blocked, and published_version or
         * published_schema behind, or marked; published_version -1: version 0 is to be written), after `after_id`, at most
         * `limit`; *count how many. */
        tarn_code (*pending)(struct tarn_tx *tx, int64_t after_id, int64_t limit, int64_t *ids, int64_t *count,
                             struct tarn_err *err);
    } publications;

    struct {
        /* Ids of live tables whose probe is due at now, earliest first. */
        tarn_code (*due)(struct tarn_tx *tx, int64_t now_ms, int64_t limit, int64_t *ids, int64_t *count,
                         int64_t *next_due, struct tarn_err *err); /* *next_due: INT64_MAX when nothing waits */
        tarn_code (*get)(struct tarn_tx *tx, int64_t table_id, struct tarn_scan_row *out, struct tarn_err *err); /* TARN_NOT_FOUND */
        tarn_code (*put)(struct tarn_tx *tx, const struct tarn_scan_row *row, struct tarn_err *err);
        /* Its next probe is due at once. */
        tarn_code (*hurry)(struct tarn_tx *tx, int64_t table_id, struct tarn_err *err);
        /* The live table and its scan row by one read, for the hot answers; *scanned false: never scanned, *scan
         * untouched. TARN_TABLE_NOT_FOUND. */
        tarn_code (*look)(struct tarn_tx *tx, const char *namespace_, const char *name, struct tarn_table **table,
                          struct tarn_scan_row *scan, bool *scanned, struct tarn_err *err);
        /* Live (not closed) findings of a table, suspects too, ordered by severity (worst first), code, subject. */
        tarn_code (*findings)(struct tarn_tx *tx, int64_t table_id, struct tarn_findings *out, struct tarn_err *err);
        /* Newest closed one of that identity that closed at or after `since`; TARN_NOT_FOUND. */
        tarn_code (*reopenable)(struct tarn_tx *tx, int64_t table_id, const char *code, const char *subject,
                                int64_t since, struct tarn_finding *out, struct tarn_err *err);
        /* The closed ones, newest first (then by id), at most `limit`: those that closed at `at` with an id above
         * `after_id`, and those that closed before. From the start: INT64_MAX and "". */
        tarn_code (*closed)(struct tarn_tx *tx, int64_t table_id, int64_t at, const char *after_id, int64_t limit,
                            struct tarn_findings *out, struct tarn_err *err);
        /* When findings of that code were open and closed again at or after `since`: the newest ones, at most `limit`. */
        tarn_code (*spans)(struct tarn_tx *tx, int64_t table_id, const char *code, int64_t since, size_t limit,
                           struct tarn_span *out, size_t *count, struct tarn_err *err);
        /* One of the table, live or closed, suspects too; *out owned; TARN_NOT_FOUND. */
        tarn_code (*get_finding)(struct tarn_tx *tx, int64_t table_id, const char *id, struct tarn_finding *out,
                                 struct tarn_err *err);
        /* Is a storage_unreachable with that root as its subject open at another live table, and was it told? */
        tarn_code (*root_told)(struct tarn_tx *tx, const char *root, int64_t table_id, bool *told, struct tarn_err *err);
        /* Those that closed before `before` go, at most `limit` a call. */
        tarn_code (*expire_findings)(struct tarn_tx *tx, int64_t before, int64_t limit, bool *left,
                                     struct tarn_err *err);
        tarn_code (*put_finding)(struct tarn_tx *tx, const struct tarn_finding *finding, struct tarn_err *err);
        tarn_code (*delete_finding)(struct tarn_tx *tx, const char *id, struct tarn_err *err);
        /* Rows of GET /api/status in table order, as filter pages. */
        tarn_code (*status)(struct tarn_tx *tx, const struct tarn_table_filter *filter, tarn_status_fn *fn, void *ctx,
                            struct tarn_err *err);
    } monitors;

    struct {
        /* The namespace to fn, borrowed; TARN_NAMESPACE_NOT_FOUND. Quick: commits ask it. */
        tarn_code (*get)(struct tarn_tx *tx, const char *name, tarn_namespace_fn *fn, void *ctx, struct tarn_err *err);
        /* By name after `after` ("": from the start), at most `limit`. */
        tarn_code (*list)(struct tarn_tx *tx, const char *after, int64_t limit, tarn_namespace_fn *fn, void *ctx,
                          struct tarn_err *err);
        /* TARN_NAMESPACE_EXISTS. */
        tarn_code (*insert)(struct tarn_tx *tx, const struct tarn_namespace *row, struct tarn_err *err);
        /* All but name and created_at; TARN_NAMESPACE_NOT_FOUND. */
        tarn_code (*update)(struct tarn_tx *tx, const struct tarn_namespace *row, struct tarn_err *err);
        /* TARN_NAMESPACE_NOT_EMPTY while it has a live table or a namespace inside. Dropped tables can still be
         * restored: then it comes back, without settings. */
        tarn_code (*remove)(struct tarn_tx *tx, const char *name, struct tarn_err *err);
    } namespaces;

    struct {
        /* A scan at `at` saw these numbers: the newest run goes on, or another begins. At or before the end of the newest
         * one nothing is written. */
        tarn_code (*put)(struct tarn_tx *tx, int64_t table_id, int64_t at, const char *numbers, struct tarn_err *err);
        /* By time: the run that begins last at or before `from` (it may have ended), and those that begin up to `to`. */
        tarn_code (*list)(struct tarn_tx *tx, int64_t table_id, int64_t from, int64_t to, int64_t limit,
                          tarn_sample_fn *fn, void *ctx, struct tarn_err *err);
        /* What is too old goes, table by table: begins or goes on at *thinning; at most `limit` rows a call. */
        tarn_code (*thin)(struct tarn_tx *tx, struct tarn_thinning *thinning, int64_t limit, bool *left,
                          struct tarn_err *err);
    } samples;

    struct {
        tarn_code (*insert)(struct tarn_tx *tx, const struct tarn_silence *row, struct tarn_err *err);
        /* *out owned; TARN_NOT_FOUND. */
        tarn_code (*get)(struct tarn_tx *tx, const char *id, struct tarn_silence *out, struct tarn_err *err);
        /* Newest first (then by id), at most `limit`: those made at `at` with an id above `after_id`, and those made
         * before. From the start: INT64_MAX and "". */
        tarn_code (*list)(struct tarn_tx *tx, int64_t at, const char *after_id, int64_t limit, tarn_silence_fn *fn,
                          void *ctx, struct tarn_err *err);
        /* Those that end after now_ms, begun or not; owned. Quick where there are few: status answers ask it. */
        tarn_code (*from)(struct tarn_tx *tx, int64_t now_ms, struct tarn_silences *out, struct tarn_err *err);
        tarn_code (*remove)(struct tarn_tx *tx, const char *id, struct tarn_err *err); /* TARN_NOT_FOUND */
        /* Those that ended before `before` go, at most `limit` a call. */
        tarn_code (*expire)(struct tarn_tx *tx, int64_t before, int64_t limit, bool *left, struct tarn_err *err);
    } silences;

    struct {
        /* *event but its sequence. Wakes who waits for events once the transaction is durable. */
        tarn_code (*add)(struct tarn_tx *tx, const struct tarn_event *event, struct tarn_err *err);
        /* Those after the sequence `after`, in order, at most `limit`. */
        tarn_code (*list)(struct tarn_tx *tx, int64_t after, int64_t limit, tarn_event_fn *fn, void *ctx,
                          struct tarn_err *err);
        /* The newest one ever written (0: none) and the one before the oldest that is kept: what `after` may be. */
        tarn_code (*bounds)(struct tarn_tx *tx, int64_t *first_after, int64_t *newest, struct tarn_err *err);
        /* The oldest ones go, up to the first that is from `before` or later; at most `limit` a call. */
        tarn_code (*expire)(struct tarn_tx *tx, int64_t before, int64_t limit, bool *left, struct tarn_err *err);
    } events;

    /* Metadata documents of Iceberg tables, beside the row of the table. */
    struct {
        /* The document (refs: with the snapshots alone that a ref names) to fn, borrowed; TARN_TABLE_NOT_FOUND: the table has
         * none. */
        tarn_code (*get)(struct tarn_tx *tx, int64_t table_id, bool refs, tarn_text_fn *fn, void *ctx,
                         struct tarn_err *err);
        /* Both forms; `refs` NULL: the same text. */
        tarn_code (*put)(struct tarn_tx *tx, int64_t table_id, const char *metadata, const char *refs,
                         struct tarn_err *err);
    } iceberg;

    /* Views. Their names are free when neither a view nor a live table has them: `taken` asks for views alone. */
    struct {
        tarn_code (*get)(struct tarn_tx *tx, const char *namespace_, const char *name, struct tarn_view **out,
                         struct tarn_err *err); /* TARN_VIEW_NOT_FOUND */
        tarn_code (*taken)(struct tarn_tx *tx, const char *namespace_, const char *name, bool *out,
                           struct tarn_err *err);
        /* *view but its id and revision; makes the namespace when missing. TARN_VIEW_EXISTS. */
        tarn_code (*insert)(struct tarn_tx *tx, const struct tarn_view *view, struct tarn_err *err);
        /* All but id, uuid and created_at where the revision is still *view's; TARN_VERSION_CONFLICT when it is not,
         * TARN_VIEW_EXISTS when the new name is taken. */
        tarn_code (*update)(struct tarn_tx *tx, const struct tarn_view *view, struct tarn_err *err);
        tarn_code (*remove)(struct tarn_tx *tx, int64_t id, struct tarn_err *err);
        /* Of one namespace by name, after `after` (""), at most `limit`; without their documents. */
        tarn_code (*list)(struct tarn_tx *tx, const char *namespace_, const char *after, int64_t limit,
                          tarn_view_fn *fn, void *ctx, struct tarn_err *err);
    } views;

    /* Answers by Idempotency-Key. */
    struct {
        tarn_code (*get)(struct tarn_tx *tx, const char *principal, const char *key, struct tarn_answered *out,
                         struct tarn_err *err); /* TARN_NOT_FOUND */
        tarn_code (*put)(struct tarn_tx *tx, const char *principal, const char *key, const struct tarn_answered *row,
                         int64_t now_ms, struct tarn_err *err);
        /* Those from before `before`, at most `limit` a call. */
        tarn_code (*expire)(struct tarn_tx *tx, int64_t before, int64_t limit, bool *left, struct tarn_err *err);
    } requests;

    struct {
        tarn_code (*add)(struct tarn_tx *tx, const struct tarn_purge *purge, struct tarn_err *err); /* but its id */
        /* The one due first at `now`; TARN_NOT_FOUND. *out owned. */
        tarn_code (*due)(struct tarn_tx *tx, int64_t now_ms, struct tarn_purge *out, struct tarn_err *err);
        tarn_code (*postpone)(struct tarn_tx *tx, int64_t id, int64_t due_at, struct tarn_err *err);
        tarn_code (*remove)(struct tarn_tx *tx, int64_t id, struct tarn_err *err);
    } purges;

    struct {
        tarn_code (*add)(struct tarn_tx *tx, int64_t table_id, const struct tarn_report_row *row, struct tarn_err *err);
        /* Newest first, at most `limit`. */
        tarn_code (*list)(struct tarn_tx *tx, int64_t table_id, int64_t limit, tarn_report_row_fn *fn, void *ctx,
                          struct tarn_err *err);
        tarn_code (*expire)(struct tarn_tx *tx, int64_t before, int64_t limit, bool *left, struct tarn_err *err);
        /* Leaves the newest `keep` of the table. */
        tarn_code (*trim)(struct tarn_tx *tx, int64_t table_id, int64_t keep, struct tarn_err *err);
    } reports;

    struct {
        tarn_code (*insert)(struct tarn_tx *tx, const struct tarn_token *token, struct tarn_err *err); /* TARN_INVALID: name taken */
        tarn_code (*list)(struct tarn_tx *tx, struct tarn_tokens *out, struct tarn_err *err);
        tarn_code (*revoke)(struct tarn_tx *tx, const char *name, int64_t now_ms, struct tarn_err *err); /* TARN_NOT_FOUND */
    } tokens;
};
#endif
