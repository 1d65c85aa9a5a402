/* migrations.c - the database's shape, step by step. Each file of migrations/ is part of the program, runs
 * once in a transaction of its own, and is recorded with its checksum: a database that a newer program
 * has changed, or whose history is not the one in here, is refused rather than guessed at. */
#include "base/hash.h"
#include "base/time.h"
#include "catalog/sqlite/internal.h"
#include <string.h>

static const unsigned char k_0001[] = {
#include "embed/migrations/0001_catalog.sqlite.sql.inc"
};

static const unsigned char k_0002[] = {
#include "embed/migrations/0002_findings.sqlite.sql.inc"
};
static const unsigned char k_0003[] = {
#include "embed/migrations/0003_scans.sqlite.sql.inc"
};
static const unsigned char k_0004[] = {
#include "embed/migrations/0004_runs.sqlite.sql.inc"
};

static const unsigned char k_0005[] = {
#include "embed/migrations/0005_silences.sqlite.sql.inc"
};
static const unsigned char k_0006[] = {
#include "embed/migrations/0006_samples.sqlite.sql.inc"
};
static const unsigned char k_0007[] = {
#include "embed/migrations/0007_marks.sqlite.sql.inc"
};
static const unsigned char k_0008[] = {
#include "embed/migrations/0008_block_document.sqlite.sql.inc"
};

static const unsigned char k_0009[] = {
#include "embed/migrations/0009_iceberg.sqlite.sql.inc"
};

static const struct migration {
    const char *name;
    const unsigned char *sql; /* ends with NUL */
} k_migrations[] = {
    { "0001_catalog", k_0001 },
    { "0002_findings", k_0002 },
    { "0003_scans", k_0003 },
    { "0004_runs", k_0004 },
    { "0005_silences", k_0005 },
    { "0006_samples", k_0006 },
    { "0007_marks", k_0007 },
    { "0008_block_document", k_0008 },
    { "0009_iceberg", k_0009 },
};

static const char *const k_record =
    "CREATE TABLE IF NOT EXISTS schema_migrations (name TEXT PRIMARY KEY, "
    "checksum TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT, WITHOUT ROWID";

static void finalize(sqlite3_stmt **stmt) { (void)sqlite3_finalize(*stmt); }
#define ONCE_STMT __attribute__((cleanup(finalize))) sqlite3_stmt

static tarn_code exec(struct tarn_sqlite_conn *conn, const char *sql, struct tarn_err *err)
{
    int rc = sqlite3_exec(conn->db, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? TARN_OK : tarn_sqlite_fail(conn, rc, err);
}

static void checksum_of(const struct migration *m, char out[TARN_SHA256_HEX])
{
    tarn_sha256_hex(m->sql, strlen((const char *)m->sql), out);
}

/* One number out of one statement. */
static tarn_code ask(struct tarn_sqlite_conn *conn, const char *sql, int64_t *out, struct tarn_err *err)
{
    ONCE_STMT *st = NULL;
    int rc = sqlite3_prepare_v2(conn->db, sql, -1, &st, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(st);
    if (rc != SQLITE_ROW)
        return tarn_sqlite_fail(conn, rc, err);
    *out = column_i64(st, 0);
    return TARN_OK;
}

/* A database that holds tables but no record of migrations is somebody else's. */
static tarn_code check_owner(struct tarn_sqlite_conn *conn, bool *recorded, struct tarn_err *err)
{
    int64_t tables = 0, records = 0;
    tarn_code code = ask(conn, "SELECT count(*) FROM sqlite_schema", &tables, err);
    if (code == TARN_OK)
        code =
            ask(conn, "SELECT count(*) FROM sqlite_schema WHERE name = 'schema_migrations'", &records, err);
    if (code != TARN_OK)
        return code;
    if (tables > 0 && records == 0)
        return tarn_fail(err, TARN_INVALID, "the file is a database, but not one of Tarn's");
    *recorded = records > 0;
    return TARN_OK;
}

/* Compares what is recorded with what this program knows; *applied: how many of its first ones are there. */
static tarn_code compare(struct tarn_sqlite_conn *conn, size_t *applied, struct tarn_err *err)
{
    ONCE_STMT *st = NULL;
    int rc = sqlite3_prepare_v2(conn->db, "SELECT name, checksum FROM schema_migrations ORDER BY name", -1,
                                &st, NULL);
    if (rc != SQLITE_OK)
        return tarn_sqlite_fail(conn, rc, err);
    size_t count = 0;
    for (rc = sqlite3_step(st); rc == SQLITE_ROW; rc = sqlite3_step(st), count++) {
        const char *name = column_text(st, 0);
        if (count >= TARN_COUNT(k_migrations))
            return tarn_fail(err, TARN_INVALID,
                             "the database was made by a newer Tarn: it has the migration %s", name);
        char checksum[TARN_SHA256_HEX];
        checksum_of(&k_migrations[count], checksum);
        if (strcmp(name, k_migrations[count].name) != 0)
            return tarn_fail(err, TARN_INVALID, "the database has the migration %s where this Tarn has %s",
                             name, k_migrations[count].name);
        if (strcmp(column_text(st, 1), checksum) != 0)
            return tarn_fail(err, TARN_INVALID,
                             "the migration %s was applied in another form than this Tarn has", name);
    }
    if (rc != SQLITE_DONE)
        return tarn_sqlite_fail(conn, rc, err);
    *applied = count;
    return TARN_OK;
}

static tarn_code record(struct tarn_sqlite_conn *conn, const struct migration *m, struct tarn_err *err)
{
    char checksum[TARN_SHA256_HEX];
    checksum_of(m, checksum);
    ONCE_STMT *st = NULL;
    int rc = sqlite3_prepare_v2(
        conn->db, "INSERT INTO schema_migrations (name, checksum, applied_at) VALUES (?1, ?2, ?3)", -1, &st,
        NULL);
    if (rc != SQLITE_OK)
        return tarn_sqlite_fail(conn, rc, err);
    bind_text(st, 1, m->name);
    bind_text(st, 2, checksum);
    bind_i64(st, 3, tarn_now_ms());
    rc = sqlite3_step(st);
    return rc == SQLITE_DONE ? TARN_OK : tarn_sqlite_fail(conn, rc, err);
}

static tarn_code apply_one(struct tarn_sqlite_conn *conn, const struct migration *m, struct tarn_err *err)
{
    tarn_code code = exec(conn, "BEGIN IMMEDIATE", err);
    if (code == TARN_OK)
        code = exec(conn, k_record, err);
    if (code == TARN_OK)
        code = exec(conn, (const char *)m->sql, err);
    if (code == TARN_OK)
        code = record(conn, m, err);
    if (code == TARN_OK)
        code = exec(conn, "COMMIT", err);
    if (code != TARN_OK && !sqlite3_get_autocommit(conn->db))
        (void)sqlite3_exec(conn->db, "ROLLBACK", NULL, NULL, NULL);
    return code;
}

tarn_code tarn_sqlite_migrate(struct tarn_sqlite_conn *conn, bool apply, struct tarn_err *err)
{
    bool recorded = false;
    size_t applied = 0;
    tarn_code code = check_owner(conn, &recorded, err);
    if (code == TARN_OK && recorded)
        code = compare(conn, &applied, err);
    if (code != TARN_OK)
        return code;
    if (applied < TARN_COUNT(k_migrations) && !apply)
        return tarn_fail(err, TARN_INVALID, "the database lacks the migration %s: run `tarn migrate`",
                         k_migrations[applied].name);
    for (size_t i = applied; code == TARN_OK && i < TARN_COUNT(k_migrations); i++)
        code = apply_one(conn, &k_migrations[i], err);
    return code;
}
