/* connection.c - one connection to the database: how it is opened and set up, and the statements it
 * keeps. The order of the settings matters (a busy database must be waited for before the journal mode is
 * asked for), and so does who may checkpoint: SQLite before 3.51.3 can damage a database when one
 * connection checkpoints while another writes, so the writing connection alone does both. */
#include "catalog/sqlite/internal.h"
#include <string.h>

static const char *const *const k_groups[TARN_SQLITE_GROUPS] = {
    [TARN_SQLITE_CONTROL] = tarn_sqlite_control_sql,
    [TARN_SQLITE_META] = tarn_sqlite_meta_sql,
    [TARN_SQLITE_TABLES] = tarn_sqlite_tables_sql,
    [TARN_SQLITE_LISTS] = tarn_sqlite_lists_sql,
    [TARN_SQLITE_LOCATIONS] = tarn_sqlite_locations_sql,
    [TARN_SQLITE_LOOSE] = tarn_sqlite_loose_sql,
    [TARN_SQLITE_FILES] = tarn_sqlite_files_sql,
    [TARN_SQLITE_BULK] = tarn_sqlite_bulk_sql,
    [TARN_SQLITE_HISTORY] = tarn_sqlite_history_sql,
    [TARN_SQLITE_COMMITS] = tarn_sqlite_commits_sql,
    [TARN_SQLITE_ADOPTED] = tarn_sqlite_adopted_sql,
    [TARN_SQLITE_SCHEMAS] = tarn_sqlite_schemas_sql,
    [TARN_SQLITE_RETIRED] = tarn_sqlite_retired_sql,
    [TARN_SQLITE_BATCHES] = tarn_sqlite_batches_sql,
    [TARN_SQLITE_PUBLICATIONS] = tarn_sqlite_publications_sql,
    [TARN_SQLITE_SCANS] = tarn_sqlite_scans_sql,
    [TARN_SQLITE_FINDINGS] = tarn_sqlite_findings_sql,
    [TARN_SQLITE_STATUS] = tarn_sqlite_status_sql,
    [TARN_SQLITE_TOKENS] = tarn_sqlite_tokens_sql,
    [TARN_SQLITE_EVENTS] = tarn_sqlite_events_sql,
    [TARN_SQLITE_NAMESPACES] = tarn_sqlite_namespaces_sql,
    [TARN_SQLITE_SILENCES] = tarn_sqlite_silences_sql,
    [TARN_SQLITE_SAMPLES] = tarn_sqlite_samples_sql,
    [TARN_SQLITE_ICEBERG] = tarn_sqlite_iceberg_sql,
    [TARN_SQLITE_VIEWS] = tarn_sqlite_views_sql,
    [TARN_SQLITE_REQUESTS] = tarn_sqlite_requests_sql,
    [TARN_SQLITE_PURGES] = tarn_sqlite_purges_sql,
    [TARN_SQLITE_REPORTS] = tarn_sqlite_reports_sql,
};

const char *const tarn_sqlite_control_sql[] = {
    [TARN_SQLITE_BEGIN] = "BEGIN",
    [TARN_SQLITE_BEGIN_WRITE] = "BEGIN IMMEDIATE",
    [TARN_SQLITE_COMMIT] = "COMMIT",
    [TARN_SQLITE_ROLLBACK] = "ROLLBACK",
    [TARN_SQLITE_SAVEPOINT] = "SAVEPOINT one",
    [TARN_SQLITE_RELEASE] = "RELEASE one",
    [TARN_SQLITE_UNDO] = "ROLLBACK TO one",
    [TARN_SQLITE_SETTLE] =
        "INSERT INTO meta (key, value) VALUES ('settled', '1') ON CONFLICT (key) DO UPDATE "
        "SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT)",
    NULL
};

static const char *const k_writer_settings =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = "
    "OFF; "
    "PRAGMA secure_delete = OFF; PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 0; "
    "PRAGMA journal_size_limit = 67108864;";
static const char *const k_reader_settings =
    "PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY; PRAGMA "
    "wal_autocheckpoint = 0; "
    "PRAGMA mmap_size = 2147418112;"; /* the most there is: readers share the system's pages, none has its own */

/* For the whole process, before its first connection: no statistics (each would take a lock), and the copies
 * of pages that a savepoint keeps stay in memory: a temporary file could meet a full disk too. */
static void configure(void)
{
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    (void)sqlite3_config(SQLITE_CONFIG_STMTJRNL_SPILL, -1);
}

static int settings(struct tarn_sqlite_conn *conn, bool writes, int64_t cache_kib)
{
    (void)sqlite3_busy_timeout(conn->db, TARN_SQLITE_BUSY_MS);
    int rc = sqlite3_exec(conn->db, writes ? k_writer_settings : k_reader_settings, NULL, NULL, NULL);
    if (rc != SQLITE_OK)
        return rc;
    char cache[64];
    (void)snprintf(cache, sizeof cache, "PRAGMA cache_size = -%lld",
                   (long long)(writes ? cache_kib : cache_kib / 4));
    return sqlite3_exec(conn->db, cache, NULL, NULL, NULL);
}

/* A file system without shared memory would leave the database in another mode, silently. */
static tarn_code check_mode(struct tarn_sqlite_conn *conn, struct tarn_err *err)
{
    sqlite3_stmt *st = NULL;
    int rc = sqlite3_prepare_v2(conn->db, "PRAGMA journal_mode", -1, &st, NULL);
    rc = rc == SQLITE_OK ? sqlite3_step(st) : rc;
    bool logs = rc == SQLITE_ROW && strcmp(column_text(st, 0), "wal") == 0;
    (void)sqlite3_finalize(st);
    if (rc != SQLITE_ROW)
        return tarn_sqlite_fail(conn, rc, err);
    if (!logs)
        return tarn_fail(err, TARN_INVALID,
                         "the file system of the data folder cannot hold the database's log");
    return TARN_OK;
}

tarn_code tarn_sqlite_conn_open(struct tarn_sqlite_store *store, bool writes, struct tarn_sqlite_conn **out,
                                struct tarn_err *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, configure);

    struct tarn_sqlite_conn *made = calloc(1, sizeof *made);
    if (!made)
        return tarn_fail_oom(err);
    __attribute__((cleanup(tarn_sqlite_conn_freep))) struct tarn_sqlite_conn *conn = made;
    conn->tx = (struct tarn_tx){ .store = &store->head, .ops = &store->ops, .writes = writes };

    int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    flags |= writes ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
    int rc = sqlite3_open_v2(store->path, &conn->db, flags, store->vfs);
    if (rc == SQLITE_OK)
        rc = settings(conn, writes, store->cache_kib);
    if (rc != SQLITE_OK)
        return tarn_sqlite_fail(conn, rc, err);
    tarn_code code = writes ? check_mode(conn, err) : TARN_OK;
    if (code == TARN_OK)
        *out = tarn_take(&conn);
    return code;
}

/* Is it a statement for this connection? A reader has none that writes. */
static bool may_run(const struct tarn_sqlite_conn *conn, const char *sql)
{
    return conn->tx.writes || (strncmp(sql, "INSERT", 6) != 0 && strncmp(sql, "UPDATE", 6) != 0 &&
                               strncmp(sql, "DELETE", 6) != 0);
}

sqlite3_stmt *tarn_sqlite_conn_ready(struct tarn_sqlite_conn *conn, enum tarn_sqlite_group group, int which)
{
    const char *sql = k_groups[group][which];
    sqlite3_stmt **stmt = &conn->stmt[group][which];
    conn->unready = may_run(conn, sql)
                        ? sqlite3_prepare_v3(conn->db, sql, -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL)
                        : SQLITE_MISUSE;
    return *stmt;
}

static tarn_code ready_group(struct tarn_sqlite_conn *conn, enum tarn_sqlite_group group,
                             struct tarn_err *err)
{
    for (int i = 0; k_groups[group][i]; i++) {
        assert(i < TARN_SQLITE_GROUP_MAX);
        if (may_run(conn, k_groups[group][i]) && !tarn_sqlite_conn_ready(conn, group, i))
            return tarn_sqlite_fail(conn, conn->unready, err);
    }
    return TARN_OK;
}

/* The writer's are all made ready, so that a fault in one shows at the start. A reader needs a few
 * of them, and there are many readers: each of theirs is made ready when it is first asked for. */
tarn_code tarn_sqlite_conn_prepare(struct tarn_sqlite_conn *conn, struct tarn_err *err)
{
    int groups = conn->tx.writes ? TARN_SQLITE_GROUPS : TARN_SQLITE_CONTROL + 1;
    tarn_code code = TARN_OK;
    for (int g = 0; g < groups && code == TARN_OK; g++)
        code = ready_group(conn, (enum tarn_sqlite_group)g, err);
    return code;
}

void tarn_sqlite_conn_free(struct tarn_sqlite_conn *conn)
{
    if (!conn)
        return;
    for (size_t g = 0; g < TARN_SQLITE_GROUPS; g++) {
        for (size_t i = 0; i < TARN_SQLITE_GROUP_MAX; i++)
            (void)sqlite3_finalize(conn->stmt[g][i]);
    }
    (void)sqlite3_close(conn->db);
    free(conn);
}

int tarn_sqlite_control(struct tarn_sqlite_conn *conn, enum tarn_sqlite_control which)
{
    AUTO_STMT *st = conn->stmt[TARN_SQLITE_CONTROL][which];
    int rc = sqlite3_step(st);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}
