/* store_ops.h - the calls inside a transaction (catalog/store.h), by aggregate: what an adapter fills in.
 *
 * Visitors get rows whose text is borrowed for the call; another code than TARN_OK stops the walk. Unless said otherwise a call
 * gives TARN_OK or the database's fault. "Finds" gives *out owned or the code told. */
#ifndef TARN_CATALOG_STORE_OPS_H
#define TARN_CATALOG_STORE_OPS_H
#include "base/err.h"
#include "catalog/store_monitors.h"
#include "catalog/types.h"

struct tarn_tx;

typedef tarn_code tarn_table_fn(void *ctx, const struct tarn_table *table, struct tarn_err *err);
typedef tarn_code tarn_text_fn(void *ctx, const char *text, size_t len, struct tarn_err *err);
typedef tarn_code tarn_commit_fn(void *ctx, const struct tarn_commit_row *commit, struct tarn_err *err);
typedef tarn_code tarn_schema_fn(void *ctx, const struct tarn_schema_row *schema, struct tarn_err *err);

struct tarn_table_filter {
    const char *namespace_; /* exact canonical, NULL: all */
    const char *prefix;     /* of the raw name, NULL: all */
    int format, mode;       /* enum value, -1: all */
    bool dropped;           /* the dropped ones instead of the live ones */
    /* The page: rows after (after_namespace, after_name, after_id) in that order, at most `limit`. */
    const char *after_namespace, *after_name;
    int64_t after_id;
    int64_t limit;
    bool (*comes_first)(const char *code); /* of the status list: a finding that is the worst whatever its severity; NULL: none */
};

/* What an Idempotency-Key belongs to: who asked what of which table. All borrowed. */
struct tarn_key {
    const char *principal, *method, *path, *table_uuid, *key;
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
         * TARN_UUID_TAKEN: a live one has it. */
        tarn_code (*give_way)(struct tarn_tx *tx, const char *uuid, struct tarn_err *err);
        /* The table is known by `uuid` from now on, which gives way as above; every other change finds it by the pair of id and uuid.
         * TARN_UUID_TAKEN. */
        tarn_code (*take_uuid)(struct tarn_tx *tx, int64_t id, const char *uuid, struct tarn_err *err);
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
        tarn_code (*key_get)(struct tarn_tx *tx, const struct tarn_key *key, int64_t *version, char hash[65],
                             struct tarn_err *err);
        tarn_code (*key_put)(struct tarn_tx *tx, const struct tarn_key *key, int64_t version, const char *hash,
                             int64_t now_ms, struct tarn_err *err);
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
        /* All versions go: the table's schemas stand elsewhere from now on. */
        tarn_code (*clear)(struct tarn_tx *tx, int64_t table_id, struct tarn_err *err);
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

    struct tarn_monitor_ops monitors;
    struct tarn_sample_ops samples;
    struct tarn_silence_ops silences;

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
