/* internal.h - what the files of the SQLite adapter share. Nobody outside this folder includes it.
 *
 * A statement belongs to the file of its aggregate, which keeps its SQL in a table and its ids in
 * an enum; every connection prepares all of them when it opens (a reader only those that read). */
#ifndef TARN_CATALOG_SQLITE_INTERNAL_H
#define TARN_CATALOG_SQLITE_INTERNAL_H
#include "base/own.h"
#include "catalog/sqlite/sqlite.h"
#include "catalog/store_driver.h"
#include <assert.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>

/* Only a foreign process can hold the lock: the writer is alone, and readers need none. */
#define TARN_SQLITE_BUSY_MS 2000

/* --- statements --- */
enum tarn_sqlite_group {
    TARN_SQLITE_CONTROL,
    TARN_SQLITE_META,
    TARN_SQLITE_TABLES,
    TARN_SQLITE_LISTS,
    TARN_SQLITE_LOCATIONS,
    TARN_SQLITE_LOOSE,
    TARN_SQLITE_FILES,
    TARN_SQLITE_BULK,
    TARN_SQLITE_HISTORY,
    TARN_SQLITE_COMMITS,
    TARN_SQLITE_ADOPTED,
    TARN_SQLITE_SCHEMAS,
    TARN_SQLITE_RETIRED,
    TARN_SQLITE_BATCHES,
    TARN_SQLITE_PUBLICATIONS,
    TARN_SQLITE_SCANS,
    TARN_SQLITE_FINDINGS,
    TARN_SQLITE_STATUS,
    TARN_SQLITE_TOKENS,
    TARN_SQLITE_EVENTS,
    TARN_SQLITE_NAMESPACES,
    TARN_SQLITE_SILENCES,
    TARN_SQLITE_SAMPLES,
    TARN_SQLITE_ICEBERG,
    TARN_SQLITE_VIEWS,
    TARN_SQLITE_REQUESTS,
    TARN_SQLITE_PURGES,
    TARN_SQLITE_REPORTS,
    TARN_SQLITE_GROUPS
};
#define TARN_SQLITE_GROUP_MAX 32

/* SQL texts by id, each list ends with NULL. */
extern const char *const tarn_sqlite_control_sql[];
extern const char *const tarn_sqlite_meta_sql[];
extern const char *const tarn_sqlite_tables_sql[];
extern const char *const tarn_sqlite_lists_sql[];
extern const char *const tarn_sqlite_locations_sql[];
extern const char *const tarn_sqlite_loose_sql[];
extern const char *const tarn_sqlite_files_sql[];
extern const char *const tarn_sqlite_bulk_sql[];
extern const char *const tarn_sqlite_history_sql[];
extern const char *const tarn_sqlite_commits_sql[];
extern const char *const tarn_sqlite_adopted_sql[];
extern const char *const tarn_sqlite_schemas_sql[];
extern const char *const tarn_sqlite_retired_sql[];
extern const char *const tarn_sqlite_batches_sql[];
extern const char *const tarn_sqlite_publications_sql[];
extern const char *const tarn_sqlite_scans_sql[];
extern const char *const tarn_sqlite_findings_sql[];
extern const char *const tarn_sqlite_status_sql[];
extern const char *const tarn_sqlite_tokens_sql[];
extern const char *const tarn_sqlite_events_sql[];
extern const char *const tarn_sqlite_namespaces_sql[];
extern const char *const tarn_sqlite_silences_sql[];
extern const char *const tarn_sqlite_samples_sql[];
extern const char *const tarn_sqlite_iceberg_sql[];
extern const char *const tarn_sqlite_views_sql[];
extern const char *const tarn_sqlite_requests_sql[];
extern const char *const tarn_sqlite_purges_sql[];
extern const char *const tarn_sqlite_reports_sql[];

/* Each aggregate fills in its part of the port. */
void tarn_sqlite_meta_ops(struct tarn_store_ops *ops);
void tarn_sqlite_tables_ops(struct tarn_store_ops *ops);
void tarn_sqlite_lists_ops(struct tarn_store_ops *ops);
void tarn_sqlite_locations_ops(struct tarn_store_ops *ops);
void tarn_sqlite_loose_ops(struct tarn_store_ops *ops);
void tarn_sqlite_files_ops(struct tarn_store_ops *ops);
void tarn_sqlite_bulk_ops(struct tarn_store_ops *ops);
void tarn_sqlite_history_ops(struct tarn_store_ops *ops);
void tarn_sqlite_commits_ops(struct tarn_store_ops *ops);
void tarn_sqlite_adopted_ops(struct tarn_store_ops *ops);
void tarn_sqlite_schemas_ops(struct tarn_store_ops *ops);
void tarn_sqlite_retired_ops(struct tarn_store_ops *ops);
void tarn_sqlite_batches_ops(struct tarn_store_ops *ops);
void tarn_sqlite_publications_ops(struct tarn_store_ops *ops);
void tarn_sqlite_scans_ops(struct tarn_store_ops *ops);
void tarn_sqlite_findings_ops(struct tarn_store_ops *ops);
void tarn_sqlite_status_ops(struct tarn_store_ops *ops);
void tarn_sqlite_tokens_ops(struct tarn_store_ops *ops);
void tarn_sqlite_events_ops(struct tarn_store_ops *ops);
void tarn_sqlite_namespaces_ops(struct tarn_store_ops *ops);
void tarn_sqlite_silences_ops(struct tarn_store_ops *ops);
void tarn_sqlite_samples_ops(struct tarn_store_ops *ops);
void tarn_sqlite_iceberg_ops(struct tarn_store_ops *ops);
void tarn_sqlite_views_ops(struct tarn_store_ops *ops);
void tarn_sqlite_requests_ops(struct tarn_store_ops *ops);
void tarn_sqlite_purges_ops(struct tarn_store_ops *ops);
void tarn_sqlite_reports_ops(struct tarn_store_ops *ops);

/* --- the store --- */
struct tarn_sqlite_writer;
struct tarn_sqlite_readers;
struct tarn_sqlite_store {
    struct tarn_store head; /* first */
    struct tarn_store_ops ops;
    char *path, *vfs; /* owned; vfs NULL: the default */
    int64_t cache_kib;
    int64_t loose_before; /* later ids were reserved by this process: somebody may be staging under them */
    struct tarn_sqlite_readers *readers;
    struct tarn_sqlite_writer *writer;
};
static inline struct tarn_sqlite_store *tarn_sqlite_store_of(struct tarn_store *store)
{
    return (struct tarn_sqlite_store *)store;
}

/* --- connections: used by one thread at a time --- */
struct tarn_sqlite_conn {
    struct tarn_tx tx; /* first: what the functions of a transaction get */
    sqlite3 *db;
    bool sick; /* an I/O error or damage was met: close it after this transaction */
    sqlite3_stmt *stmt[TARN_SQLITE_GROUPS][TARN_SQLITE_GROUP_MAX]; /* NULL: not asked for yet, or not this connection's */
    int unready; /* why the statement asked for last is NULL */
};
/* Opens and sets up, without statements: migrations come between. */
TARN_MUST tarn_code tarn_sqlite_conn_open(struct tarn_sqlite_store *store, bool writes,
                                          struct tarn_sqlite_conn **out, struct tarn_err *err);
/* Makes one ready; NULL: conn->unready says why. */
sqlite3_stmt *tarn_sqlite_conn_ready(struct tarn_sqlite_conn *conn, enum tarn_sqlite_group group, int which);
/* Those that it needs from the start. */
TARN_MUST tarn_code tarn_sqlite_conn_prepare(struct tarn_sqlite_conn *conn, struct tarn_err *err);
void tarn_sqlite_conn_free(struct tarn_sqlite_conn *conn);
static inline void tarn_sqlite_conn_freep(struct tarn_sqlite_conn **conn)
{
    tarn_sqlite_conn_free(*conn);
    *conn = NULL;
}
static inline struct tarn_sqlite_conn *tarn_sqlite_conn_of(struct tarn_tx *tx)
{
    return (struct tarn_sqlite_conn *)tx;
}

/* The statements of transactions themselves, on any connection. */
enum tarn_sqlite_control {
    TARN_SQLITE_BEGIN,
    TARN_SQLITE_BEGIN_WRITE,
    TARN_SQLITE_COMMIT,
    TARN_SQLITE_ROLLBACK,
    TARN_SQLITE_SAVEPOINT,
    TARN_SQLITE_RELEASE,
    TARN_SQLITE_UNDO,
    TARN_SQLITE_SETTLE
};
/* Runs one of them; SQLite's extended result code, SQLITE_OK for done. */
int tarn_sqlite_control(struct tarn_sqlite_conn *conn, enum tarn_sqlite_control which);

/* One read connection a thread, closed at the thread's end or with the store. */
TARN_MUST tarn_code tarn_sqlite_readers_new(struct tarn_sqlite_store *store, struct tarn_err *err);
void tarn_sqlite_readers_free(struct tarn_sqlite_readers *readers);
tarn_code tarn_sqlite_read(struct tarn_store *store, tarn_tx_fn *fn, void *ctx, struct tarn_err *err);
void tarn_sqlite_rest(struct tarn_store *store);

/* The one thread that writes; it owns `conn` from here on. */
TARN_MUST tarn_code tarn_sqlite_writer_new(struct tarn_sqlite_store *store, struct tarn_sqlite_conn *conn,
                                           size_t queue_max, struct tarn_err *err);
/* Finishes what is queued and ends the thread; later submits are refused. */
void tarn_sqlite_writer_stop(struct tarn_sqlite_writer *writer);
void tarn_sqlite_writer_free(struct tarn_sqlite_writer *writer); /* after stop; NULL is fine */
void tarn_sqlite_submit(struct tarn_store *store, tarn_tx_fn *fn, void *ctx, tarn_done_fn *done);
void tarn_sqlite_writer_meters(struct tarn_sqlite_writer *writer, struct tarn_store_meters *out);

TARN_MUST tarn_code tarn_sqlite_migrate(struct tarn_sqlite_conn *conn, bool apply, struct tarn_err *err);

/* At open: gives a new database its id, and notes where the ids that an earlier process left loose end. */
TARN_MUST tarn_code tarn_sqlite_meta_start(struct tarn_sqlite_conn *conn, struct tarn_err *err);
TARN_MUST tarn_code tarn_sqlite_loose_start(struct tarn_sqlite_conn *conn, int64_t *loose_before,
                                            struct tarn_err *err);

/* --- errors --- */
/* What SQLite's result code means to the caller; neither SQL nor SQLite's own text goes out. */
tarn_code tarn_sqlite_fail(struct tarn_sqlite_conn *conn, int rc, struct tarn_err *err);

tarn_code tarn_sqlite_table_not_found(const char *namespace_, const char *name, struct tarn_err *err);

/* --- running a statement --- */
static inline void tarn_sqlite_stmt_release(sqlite3_stmt **stmt)
{
    if (*stmt)
        (void)sqlite3_reset(*stmt); /* tells again what step told */
}
/* AUTO_STMT *st = stmt_of(...): reset when it leaves scope. All its parameters are bound at every use. */
#define AUTO_STMT __attribute__((cleanup(tarn_sqlite_stmt_release))) sqlite3_stmt

/* A reader has no statement that writes: then NULL, and running it is TARN_INTERNAL. A visitor must not
 * call the operation that it was called from. */
static inline sqlite3_stmt *stmt_of(struct tarn_tx *tx, enum tarn_sqlite_group group, int which)
{
    struct tarn_sqlite_conn *conn = tarn_sqlite_conn_of(tx);
    sqlite3_stmt *stmt = conn->stmt[group][which];
    if (!stmt)
        stmt = tarn_sqlite_conn_ready(conn, group, which);
    assert(!stmt || !sqlite3_stmt_busy(stmt));
    return stmt;
}
/* The next row; *row false at the end. */
TARN_MUST tarn_code tarn_sqlite_next(struct tarn_tx *tx, sqlite3_stmt *stmt, bool *row, struct tarn_err *err);
/* The same for loops over all rows, which *code leads: no row
 * when it is a fault already, is one now, or at the end. */
bool tarn_sqlite_each(struct tarn_tx *tx, sqlite3_stmt *stmt, tarn_code *code, struct tarn_err *err);
/* To the end, no rows wanted. */
TARN_MUST tarn_code tarn_sqlite_run(struct tarn_tx *tx, sqlite3_stmt *stmt, struct tarn_err *err);
/* To the end, of a statement that deletes what is older than
 * ?1, ?2 rows at the most; *left: there may be more. */
TARN_MUST tarn_code tarn_sqlite_expire(struct tarn_tx *tx, sqlite3_stmt *stmt, int64_t before, int64_t limit,
                                       bool *left, struct tarn_err *err);
/* The first column of every row, into `ids`, which has room for what the statement's limit allows. */
TARN_MUST tarn_code tarn_sqlite_ids(struct tarn_tx *tx, sqlite3_stmt *stmt, int64_t *ids, int64_t *count,
                                    struct tarn_err *err);
/* Rows that the statement run last changed. */
int tarn_sqlite_changed(struct tarn_tx *tx);

/* Text stays the caller's and must live until the statement is reset; NULL binds NULL. */
static inline void bind_text(sqlite3_stmt *st, int at, const char *text)
{
    (void)sqlite3_bind_text(st, at, text, -1, SQLITE_STATIC);
}
static inline void bind_i64(sqlite3_stmt *st, int at, int64_t value)
{
    (void)sqlite3_bind_int64(st, at, value);
}
/* A negative number is none. */
static inline void bind_opt(sqlite3_stmt *st, int at, int64_t value)
{
    if (value < 0)
        (void)sqlite3_bind_null(st, at);
    else
        (void)sqlite3_bind_int64(st, at, value);
}
/* Borrowed until the next step. */
static inline char *column_text(sqlite3_stmt *st, int at) { return (char *)sqlite3_column_text(st, at); }
static inline int64_t column_i64(sqlite3_stmt *st, int at) { return sqlite3_column_int64(st, at); }
static inline int64_t column_opt(sqlite3_stmt *st, int at)
{
    return sqlite3_column_type(st, at) == SQLITE_NULL ? -1 : sqlite3_column_int64(st, at);
}
/* Cut at `size`; NULL gives "". */
static inline void column_fixed(sqlite3_stmt *st, int at, char *out, size_t size)
{
    const char *text = column_text(st, at);
    (void)snprintf(out, size, "%s", text ? text : "");
}

/* --- rows: borrowed from the statement, or made the caller's own --- */
/* Replaces each text at these offsets in *row by a copy of its own. On TARN_INTERNAL (no memory) *row
 * owns nothing and its texts are NULL. */
TARN_MUST tarn_code tarn_sqlite_own(void *row, const size_t *offsets, size_t count, struct tarn_err *err);

#define TARN_SQLITE_TABLE_COLUMNS                                                                            \
    "t.id, t.uuid, n.name, t.name, t.format, t.mode, t.location, t.metadata_location, t.version, "           \
    "t.published_version, t.oldest_version, t.latest_transaction, t.schema_version, t.file_count, "          \
    "t.total_bytes, "                                                                                        \
    "t.partition_keys, t.properties, t.owner, t.monitors, t.enforcement, t.verify, t.publish, t.protected, " \
    "t.block, "                                                                                              \
    "t.created_at, t.committed_at, t.revision, t.dropped_at, t.first_version, t.staging, t.log_from, " \
    "t.block_document"
#define TARN_SQLITE_TABLE_WIDTH 32
#define TARN_SQLITE_TABLE_FROM  " FROM tables t JOIN namespaces n ON n.id = t.namespace_id "
TARN_MUST tarn_code tarn_sqlite_table_row(sqlite3_stmt *st, struct tarn_table *out, struct tarn_err *err);
/* Columns enforcement and verify, side by side from `at` on,
 * of a table or a namespace; NULL: not given, off. */
TARN_MUST tarn_code tarn_sqlite_depth(sqlite3_stmt *st, int at, enum tarn_enforcement *enforcement,
                                      bool *enforcement_given, enum tarn_verify *verify, bool *verify_given,
                                      struct tarn_err *err);
TARN_MUST tarn_code tarn_sqlite_table_own(const struct tarn_table *row, struct tarn_table **out,
                                          struct tarn_err *err);

#define TARN_SQLITE_SCAN_COLUMNS                                                                             \
    "s.table_id, s.checked_at, s.checked_version, s.next_probe_at, s.next_sweep_at, s.failures, "            \
    "s.first_failed_at, "                                                                                    \
    "s.version, s.latest_transaction, s.last_updated, s.file_count, s.total_bytes, s.schema_version, "       \
    "s.partition_keys, s.manifest_age_ms, s.last_data_commit, s.details, s.verdict, s.judged, "              \
    "s.verdict_since, s.duration_ms, s.failures_total, s.last_run, s.top_version, s.top_transaction, " \
    "s.flapping, s.top_uuid, s.top_files"
/* Columns from `at` on. */
TARN_MUST tarn_code tarn_sqlite_scan_row(sqlite3_stmt *st, int at, struct tarn_scan_row *out,
                                         struct tarn_err *err);
TARN_MUST tarn_code tarn_sqlite_scan_own(struct tarn_scan_row *row, struct tarn_err *err);

#define TARN_SQLITE_FINDING_COLUMNS                                                                          \
    "f.id, f.table_id, f.code, f.subject, f.message, f.severity, f.observed, f.expected, f.unit, f.cure, "   \
    "f.evidence, "                                                                                           \
    "f.since, f.opened_at, f.closed_at, f.last_bad_at, f.bad_looks, f.good_looks, f.baseline, "               \
    "f.ack_by, f.ack_comment, f.ack_at, f.ack_until, f.accept_reason, f.accept_by, f.accept_at, "            \
    "f.suppressed_by, f.told_at, f.closed_reason"
TARN_MUST tarn_code tarn_sqlite_finding_row(sqlite3_stmt *st, struct tarn_finding *out, struct tarn_err *err);
TARN_MUST tarn_code tarn_sqlite_finding_own(struct tarn_finding *row, struct tarn_err *err);

/* Walks one page of a table filter (catalog/store_ops.h): namespace by namespace, name by name. `live` and
 * `dropped` select table columns and end with the texts below; `fn` sees each row while it stands. */
typedef tarn_code tarn_sqlite_row_fn(struct tarn_tx *tx, sqlite3_stmt *st, void *ctx, struct tarn_err *err);
TARN_MUST tarn_code tarn_sqlite_walk(struct tarn_tx *tx, const struct tarn_table_filter *filter,
                                     sqlite3_stmt *live, sqlite3_stmt *dropped, tarn_sqlite_row_fn *fn,
                                     void *ctx, struct tarn_err *err);
/* ?1 namespace id, ?2 lowest name, ?3 the name to come after, ?4 the id to come after, ?5 above the
 * highest name, ?6 format, ?7 mode (NULL: any), ?8 rows at most. */
#define TARN_SQLITE_WALK_LIVE                                                                                \
    "WHERE t.namespace_id = ?1 AND t.dropped_at IS NULL AND t.name >= ?2 AND t.name < ?5 AND t.name <> ?3 "  \
    "AND (?6 IS NULL OR t.format = ?6) AND (?7 IS NULL OR t.mode = ?7) "                                     \
    "ORDER BY t.name LIMIT ?8"
#define TARN_SQLITE_WALK_DROPPED                                                                             \
    "WHERE t.namespace_id = ?1 AND t.dropped_at IS NOT NULL AND t.name >= ?2 AND t.name < ?5 "               \
    "AND (t.name <> ?3 OR t.id > ?4) AND (?6 IS NULL OR t.format = ?6) AND (?7 IS NULL OR t.mode = ?7) "     \
    "ORDER BY t.name, t.id LIMIT ?8"
#endif
