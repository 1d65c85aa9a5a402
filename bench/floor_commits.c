/* floor_commits DATABASE TABLES SECONDS - the peer of the commit benchmark: the statements that one commit needs, in
 * a plain loop, one transaction each, with the settings of the server's writer. Prints commits a second.
 *
 * It asks what a commit asks (is the transaction id known, where does the table stand) and writes what a commit
 * writes (the table row by compare-and-swap, the record, one file row). Nothing else runs. */
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BEGIN, TABLE, KNOWN, SWAP, RECORD, ADD, COMMIT, STATEMENTS };

static const char *const k_sql[STATEMENTS] = {
    [BEGIN] = "BEGIN IMMEDIATE",
    [TABLE] = "SELECT * FROM tables WHERE namespace_id = (SELECT id FROM namespaces WHERE name = 'default')"
              " AND name = ?1 AND dropped_at IS NULL",
    [KNOWN] = "SELECT * FROM commits WHERE table_id = ?1 AND \"transaction\" = ?2",
    [SWAP] = "UPDATE tables SET version = version + 1, latest_transaction = ?3, committed_at = ?4,"
             " file_count = file_count + 1, total_bytes = total_bytes + 1024 WHERE id = ?1 AND version = ?2",
    [RECORD] = "INSERT INTO commits (table_id, version, \"transaction\", committed_at, schema_version, metadata,"
               " data_change, files_added, files_removed, bytes_added, bytes_removed, file_count, total_bytes,"
               " body_hash) VALUES (?1, ?2, ?3, ?4, 0, '{\"author\":\"bench\"}', 1, 1, 0, 1024, 0, ?2, ?2 * 1024,"
               " '0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef')",
    [ADD] = "INSERT INTO files (table_id, added_version, path, size) VALUES (?1, ?2, ?3, 1024)",
    [COMMIT] = "COMMIT",
};
static const char k_settings[] = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -16384;"
                                 " PRAGMA wal_autocheckpoint = 8000; PRAGMA foreign_keys = ON";

static void give_up(sqlite3 *db, const char *at)
{
    fprintf(stderr, "floor_commits: %s: %s\n", at, sqlite3_errmsg(db));
    exit(1);
}

/* Steps a statement that gives no row, or one whose columns are not read. */
static int step(sqlite3 *db, sqlite3_stmt *st)
{
    int rc = sqlite3_step(st);

    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        give_up(db, sqlite3_sql(st));
    return rc;
}

static void bind_commit(sqlite3_stmt *st, int64_t id, int64_t version, const char *text, int64_t now)
{
    sqlite3_reset(st);
    sqlite3_bind_int64(st, 1, id);
    sqlite3_bind_int64(st, 2, version);
    sqlite3_bind_text(st, 3, text, -1, SQLITE_STATIC);
    if (sqlite3_bind_parameter_count(st) > 3)
        sqlite3_bind_int64(st, 4, now);
}

static void commit_once(sqlite3 *db, sqlite3_stmt **st, long table, long serial, int64_t now)
{
    char name[32], transaction[48], path[96];
    snprintf(name, sizeof name, "t%06ld", table);
    snprintf(transaction, sizeof transaction, "floor-%ld", serial);
    snprintf(path, sizeof path, "data/date=2024-02-01/hour=14/floor-%ld.parquet", serial);

    for (int i = 0; i < STATEMENTS; i++)
        sqlite3_reset(st[i]);
    step(db, st[BEGIN]);
    sqlite3_bind_text(st[TABLE], 1, name, -1, SQLITE_STATIC);
    if (step(db, st[TABLE]) != SQLITE_ROW)
        give_up(db, "no such table");
    int64_t id = sqlite3_column_int64(st[TABLE], 0), version = 0;
    for (int i = 0; i < sqlite3_column_count(st[TABLE]); i++) {
        const char *column = sqlite3_column_name(st[TABLE], i);
        if (column && sqlite3_stricmp(column, "version") == 0)
            version = sqlite3_column_int64(st[TABLE], i);
    }
    sqlite3_reset(st[TABLE]);
    sqlite3_bind_int64(st[KNOWN], 1, id);
    sqlite3_bind_text(st[KNOWN], 2, transaction, -1, SQLITE_STATIC);
    step(db, st[KNOWN]);
    bind_commit(st[SWAP], id, version, transaction, now);
    step(db, st[SWAP]);
    bind_commit(st[RECORD], id, version + 1, transaction, now);
    step(db, st[RECORD]);
    bind_commit(st[ADD], id, version + 1, path, now);
    step(db, st[ADD]);
    for (int i = TABLE; i < COMMIT; i++)
        sqlite3_reset(st[i]);
    step(db, st[COMMIT]);
}

static double seconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *st[STATEMENTS];
    if (argc != 4) {
        fputs("usage: floor_commits DATABASE TABLES SECONDS\n", stderr);
        return 64;
    }
    long tables = strtol(argv[2], NULL, 10), done = 0;
    double limit = strtod(argv[3], NULL);
    if (sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK ||
        sqlite3_exec(db, k_settings, NULL, NULL, NULL) != SQLITE_OK)
        give_up(db, argv[1]);
    for (int i = 0; i < STATEMENTS; i++)
        if (sqlite3_prepare_v3(db, k_sql[i], -1, SQLITE_PREPARE_PERSISTENT, &st[i], NULL) != SQLITE_OK)
            give_up(db, k_sql[i]);

    long first = (long)time(NULL) * 1000000; /* ids that no earlier run used */
    uint64_t random = 88172645463325252u;
    double began = seconds_now();
    for (; seconds_now() - began < limit; done++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        commit_once(db, st, (long)(random % (uint64_t)tables), first + done, (int64_t)time(NULL) * 1000);
    }
    printf("%.0f\n", (double)done / (seconds_now() - began));
    for (int i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(st[i]);
    return sqlite3_close(db) == SQLITE_OK ? 0 : 1;
}
