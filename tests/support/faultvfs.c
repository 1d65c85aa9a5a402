/* faultvfs.c - hands every call through to the VFS below, but for those that are armed to fail. */
#include "tests/support/faultvfs.h"
#include <pthread.h>
#include <sqlite3.h>
#include <stddef.h>

static struct {
    pthread_mutex_t lock;
    enum tarn_fault_op op;
    int files, after, count, rc, hits;
} fault = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct file {
    sqlite3_file base;
    int kind;            /* enum tarn_fault_file, 0: others */
    sqlite3_file *below; /* in the memory behind this struct */
};

void tarn_fault_arm(enum tarn_fault_op op, enum tarn_fault_file file, int after, int count, int rc)
{
    pthread_mutex_lock(&fault.lock);
    fault.op = op;
    fault.files = file;
    fault.after = after;
    fault.count = count;
    fault.rc = rc;
    fault.hits = 0;
    pthread_mutex_unlock(&fault.lock);
}

void tarn_fault_disarm(void)
{
    pthread_mutex_lock(&fault.lock);
    fault.op = TARN_FAULT_NONE;
    pthread_mutex_unlock(&fault.lock);
}

int tarn_fault_hits(void)
{
    pthread_mutex_lock(&fault.lock);
    int hits = fault.hits;
    pthread_mutex_unlock(&fault.lock);
    return hits;
}

/* The code to fail with, SQLITE_OK to go on. */
static int judge(const struct file *f, enum tarn_fault_op op)
{
    int rc = SQLITE_OK;
    pthread_mutex_lock(&fault.lock);
    if (fault.op == op && (fault.files & f->kind) != 0) {
        if (fault.after > 0) {
            fault.after--;
        } else if (fault.count > 0) {
            fault.count--;
            fault.hits++;
            rc = fault.rc;
        }
    }
    pthread_mutex_unlock(&fault.lock);
    return rc;
}

#define FILE_OF(base)           ((struct file *)(base))
#define BELOW(base)             (FILE_OF(base)->below)
#define PASS(base, method, ...) BELOW(base)->pMethods->method(BELOW(base), ##__VA_ARGS__)

static int f_close(sqlite3_file *f) { return PASS(f, xClose); }
static int f_read(sqlite3_file *f, void *data, int len, sqlite3_int64 at)
{
    int rc = judge(FILE_OF(f), TARN_FAULT_READ);
    return rc != SQLITE_OK ? rc : PASS(f, xRead, data, len, at);
}
static int f_write(sqlite3_file *f, const void *data, int len, sqlite3_int64 at)
{
    int rc = judge(FILE_OF(f), TARN_FAULT_WRITE);
    if (rc == SQLITE_OK)
        return PASS(f, xWrite, data, len, at);
    (void)PASS(f, xWrite, data, len / 2, at);
    return rc;
}
static int f_truncate(sqlite3_file *f, sqlite3_int64 size) { return PASS(f, xTruncate, size); }
static int f_sync(sqlite3_file *f, int flags)
{
    int rc = judge(FILE_OF(f), TARN_FAULT_SYNC);
    return rc != SQLITE_OK ? rc : PASS(f, xSync, flags);
}
static int f_size(sqlite3_file *f, sqlite3_int64 *size) { return PASS(f, xFileSize, size); }
static int f_lock(sqlite3_file *f, int level) { return PASS(f, xLock, level); }
static int f_unlock(sqlite3_file *f, int level) { return PASS(f, xUnlock, level); }
static int f_reserved(sqlite3_file *f, int *out) { return PASS(f, xCheckReservedLock, out); }
static int f_control(sqlite3_file *f, int op, void *arg) { return PASS(f, xFileControl, op, arg); }
static int f_sector(sqlite3_file *f) { return PASS(f, xSectorSize); }
static int f_device(sqlite3_file *f) { return PASS(f, xDeviceCharacteristics); }
static int f_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **out)
{
    return PASS(f, xShmMap, page, size, extend, out);
}
static int f_shm_lock(sqlite3_file *f, int at, int n, int flags) { return PASS(f, xShmLock, at, n, flags); }
static void f_shm_barrier(sqlite3_file *f) { PASS(f, xShmBarrier); }
static int f_shm_unmap(sqlite3_file *f, int remove_it) { return PASS(f, xShmUnmap, remove_it); }

static const sqlite3_io_methods k_methods = {
    .iVersion = 2,
    .xClose = f_close,
    .xRead = f_read,
    .xWrite = f_write,
    .xTruncate = f_truncate,
    .xSync = f_sync,
    .xFileSize = f_size,
    .xLock = f_lock,
    .xUnlock = f_unlock,
    .xCheckReservedLock = f_reserved,
    .xFileControl = f_control,
    .xSectorSize = f_sector,
    .xDeviceCharacteristics = f_device,
    .xShmMap = f_shm_map,
    .xShmLock = f_shm_lock,
    .xShmBarrier = f_shm_barrier,
    .xShmUnmap = f_shm_unmap,
};

static int v_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags, int *out_flags)
{
    sqlite3_vfs *below = vfs->pAppData;
    struct file *f = FILE_OF(base);
    f->below = (sqlite3_file *)(f + 1);
    f->kind = flags & SQLITE_OPEN_WAL ? TARN_FAULT_WAL : flags & SQLITE_OPEN_MAIN_DB ? TARN_FAULT_MAIN : 0;
    int rc = below->xOpen(below, name, f->below, flags, out_flags);
    f->base.pMethods = f->below->pMethods ? &k_methods : NULL;
    return rc;
}

void tarn_fault_install(void)
{
    static sqlite3_vfs vfs;
    if (sqlite3_vfs_find(TARN_FAULT_VFS))
        return;
    sqlite3_vfs *below = sqlite3_vfs_find(NULL);
    vfs = *below; /* what works on names and clocks is its own; they get a VFS that they do not look into */
    vfs.zName = TARN_FAULT_VFS;
    vfs.pAppData = below;
    vfs.pNext = NULL;
    vfs.szOsFile = (int)sizeof(struct file) + below->szOsFile;
    vfs.xOpen = v_open;
    (void)sqlite3_vfs_register(&vfs, 0);
}
