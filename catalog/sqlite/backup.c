/* backup.c - a consistent copy in one file, while the server runs: VACUUM INTO on a connection of its own
 * that cannot write to the database, then a check of the copy. */
#include "catalog/sqlite/internal.h"
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct once {
    sqlite3 *db;
    sqlite3_stmt *stmt;
};
static void once_done(struct once *once)
{
    (void)sqlite3_finalize(once->stmt);
    (void)sqlite3_close(once->db);
}
#define ONCE __attribute__((cleanup(once_done))) struct once

static int once_open(struct once *once, const char *path, const char *vfs, const char *sql)
{
    int rc = sqlite3_open_v2(path, &once->db,
                             SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, vfs);
    if (rc == SQLITE_OK)
        rc = sqlite3_busy_timeout(once->db, TARN_SQLITE_BUSY_MS);
    if (rc == SQLITE_OK)
        rc = sqlite3_prepare_v2(once->db, sql, -1, &once->stmt, NULL);
    return rc;
}

static tarn_code fail(int rc, struct tarn_err *err)
{
    if ((rc & 0xff) == SQLITE_FULL)
        return tarn_fail(err, TARN_INSUFFICIENT_STORAGE, "no space is left for the copy");
    return tarn_fail(err, TARN_INTERNAL, "the copy cannot be made (sqlite %d)", rc);
}

static tarn_code copy(const struct tarn_sqlite_store *store, const char *file, struct tarn_err *err)
{
    ONCE once = { 0 };
    int rc = once_open(&once, store->path, store->vfs, "VACUUM INTO ?1");
    if (rc == SQLITE_OK) {
        bind_text(once.stmt, 1, file);
        rc = sqlite3_step(once.stmt);
    }
    return rc == SQLITE_DONE ? TARN_OK : fail(rc, err);
}

/* The copy says what it is: a server that starts on it compares every table with its storage
 * first. Nobody else has it open, so a second connection to the database it is not. */
static tarn_code mark(const char *file, struct tarn_err *err)
{
    sqlite3 *db = NULL;
    int rc =
        sqlite3_open_v2(file, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db, "INSERT INTO meta (key, value) VALUES ('" TARN_META_BACKUP "', '1') "
                              "ON CONFLICT (key) DO UPDATE SET value = '1'", NULL, NULL, NULL);
    (void)sqlite3_close(db);
    return rc == SQLITE_OK ? TARN_OK : fail(rc, err);
}

static tarn_code check(const char *file, struct tarn_err *err)
{
    ONCE once = { 0 };
    int rc = once_open(&once, file, NULL, "PRAGMA integrity_check(1)");
    if (rc == SQLITE_OK)
        rc = sqlite3_step(once.stmt);
    if (rc != SQLITE_ROW)
        return fail(rc, err);
    if (strcmp(column_text(once.stmt, 0), "ok") != 0)
        return tarn_fail(err, TARN_INTERNAL, "the copy is damaged: the database itself may be");
    return TARN_OK;
}

static tarn_code sync_path(const char *path, int flags, struct tarn_err *err)
{
    int fd = open(path, flags | O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0)
        (void)close(fd);
    return ok ? TARN_OK : tarn_fail(err, TARN_INTERNAL, "the copy cannot be written to the disk");
}

/* SQLite has closed the copy by now: syncing it through a descriptor of our own harms no lock. */
static tarn_code make_durable(const char *file, struct tarn_err *err)
{
    (void)chmod(file, S_IRUSR | S_IWUSR);
    __attribute__((cleanup(tarn_mem_freep))) char *path = strdup(file);
    if (!path)
        return tarn_fail_oom(err);
    tarn_code code = sync_path(file, 0, err);
    return code == TARN_OK ? sync_path(dirname(path), O_DIRECTORY, err) : code;
}

tarn_code tarn_sqlite_backup(struct tarn_store *base, const char *file, struct tarn_err *err)
{
    struct stat st;
    if (lstat(file, &st) == 0)
        return tarn_fail(err, TARN_INVALID, "the file for the copy exists already");
    tarn_code code = copy(tarn_sqlite_store_of(base), file, err);
    if (code == TARN_OK)
        code = mark(file, err);
    if (code == TARN_OK)
        code = check(file, err);
    if (code == TARN_OK)
        code = make_durable(file, err);
    if (code != TARN_OK)
        (void)unlink(file);
    return code;
}
