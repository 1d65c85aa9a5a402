/* local_write.c - a file that comes into being whole: an unnamed file (O_TMPFILE) is written and fsynced,
 * then linked under its name, or linked under a temporary name and renamed over the old one, and the folder
 * is fsynced. Where a file system has no unnamed files, a temporary name is used from the start. A failed
 * fsync loses the file: the writer then refuses everything, and the caller starts again with a new one. */
#include "storage/local.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

enum { FLUSH_BYTES = 4 << 20 };

struct local_writer {
    struct tarn_writer writer; /* first */
    char *location, *path;     /* owned, for messages */
    const char *name;          /* last part of path */
    int dir, fd;
    off_t written, begun, done; /* bytes; up to `begun` the disk was asked to write, up to `done` it has written */
    char temp[64]; /* its name while it has one of ours, "" else */
    bool failed;
};

static struct local_writer *writer_of(struct tarn_writer *writer) { return (struct local_writer *)writer; }

static tarn_code writer_fail(struct local_writer *w, int error, struct tarn_err *err)
{
    w->failed = true;
    if (error == ENOENT || error == ENOTDIR)
        return tarn_fail(err, TARN_STORAGE_UNAVAILABLE, "the folder of '%s/%s' is gone", w->location,
                         w->path);
    if (error == ELOOP || error == EXDEV)
        return tarn_fail(err, TARN_LOCATION_NOT_ALLOWED,
                         "'%s/%s' leads through a symbolic link, which is not followed", w->location,
                         w->path);
    return tarn_local_fail(error, "write", w->location, w->path, err);
}

/* Unique in this machine: process, and a count that never repeats in it. Starts with a dot: no data file. */
static void temp_name(char out[64])
{
    static atomic_uint_fast64_t counter;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(out, 64, TARN_LOCAL_TEMP_BEGIN "%ld-%llx-%llx" TARN_LOCAL_TEMP_END, (long)getpid(),
             (unsigned long long)now.tv_nsec, (unsigned long long)atomic_fetch_add(&counter, 1));
}

static int open_new(struct local_writer *w)
{
    int fd = openat(w->dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL && errno != ENOENT))
        return fd;
    temp_name(w->temp);
    fd = openat(w->dir, w->temp, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0666);
    if (fd < 0)
        w->temp[0] = '\0';
    return fd;
}

static int open_parent(struct local_writer *w, int place)
{
    size_t len = (size_t)(w->name - w->path);
    __attribute__((cleanup(tarn_mem_freep))) char *parent = strndup(w->path, len ? len - 1 : 0);
    if (!parent) {
        errno = ENOMEM;
        return -1;
    }
    return tarn_local_make_folder(place, parent);
}

static void writer_freep(struct local_writer **w)
{
    if (*w)
        tarn_local_writer_free(&(*w)->writer);
}

tarn_code tarn_local_writer(struct tarn_place *place, const char *path, struct tarn_writer **out,
                            struct tarn_err *err)
{
    __attribute__((cleanup(writer_freep))) struct local_writer *w = calloc(1, sizeof *w);
    if (!w)
        return tarn_fail_oom(err);
    w->writer.ops = &tarn_local_ops;
    w->dir = w->fd = -1;
    w->location = strdup(place->location);
    w->path = strdup(path);
    if (!w->location || !w->path)
        return tarn_fail_oom(err);
    const char *slash = strrchr(w->path, '/');
    w->name = slash ? slash + 1 : w->path;

    w->dir = open_parent(w, tarn_local_of(place)->fd);
    if (w->dir >= 0)
        w->fd = open_new(w);
    if (w->fd < 0)
        return writer_fail(w, errno, err);
    *out = &tarn_take(&w)->writer;
    return TARN_OK;
}

/* A long document goes to the disk while it is made. Left to the last fsync,
 * its pages would be written in front of whatever else is synced then (ext4
 * orders them so), and every commit to the catalog would wait for them. */
static void flush_behind(struct local_writer *w)
{
    if (w->written - w->begun < FLUSH_BYTES)
        return;
    if (w->begun > w->done)
        (void)sync_file_range(w->fd, w->done, w->begun - w->done,
                              SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
                                  SYNC_FILE_RANGE_WAIT_AFTER);
    w->done = w->begun;
    (void)sync_file_range(w->fd, w->begun, w->written - w->begun, SYNC_FILE_RANGE_WRITE);
    w->begun = w->written;
}

tarn_code tarn_local_writer_add(struct tarn_writer *writer, const void *data, size_t len,
                                struct tarn_err *err)
{
    struct local_writer *w = writer_of(writer);
    const char *at = data;
    if (w->failed)
        return writer_fail(w, EIO, err);
    while (len > 0) {
        ssize_t done = write(w->fd, at, len);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return writer_fail(w, errno, err);
        at += done;
        len -= (size_t)done;
        w->written += done;
    }
    flush_behind(w);
    return TARN_OK;
}

/* Gives the unnamed file a name; 0 or -1 with errno. */
static int link_unnamed(struct local_writer *w, const char *name)
{
    char self[32];
    snprintf(self, sizeof self, "/proc/self/fd/%d", w->fd);
    if (linkat(AT_FDCWD, self, w->dir, name, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    return errno == ENOENT ? linkat(w->fd, "", w->dir, name, AT_EMPTY_PATH) : -1; /* no /proc here */
}

/* NFS may answer EEXIST to a link that it made: the file then has both names. */
static bool link_happened(struct local_writer *w)
{
    struct stat st;
    return fstat(w->fd, &st) == 0 && st.st_nlink == 2;
}

static void drop_temp(struct local_writer *w)
{
    if (w->temp[0])
        unlinkat(w->dir, w->temp, 0);
    w->temp[0] = '\0';
}

static int create(struct local_writer *w)
{
    if (!w->temp[0])
        return link_unnamed(w, w->name);
    int rc = linkat(w->dir, w->temp, w->dir, w->name, 0);
    if (rc != 0 && errno == EEXIST)
        rc = link_happened(w) ? 0 : (errno = EEXIST, -1);
    if (rc == 0)
        drop_temp(w);
    return rc;
}

static int replace(struct local_writer *w)
{
    if (!w->temp[0]) {
        temp_name(w->temp);
        if (link_unnamed(w, w->temp) != 0) {
            w->temp[0] = '\0';
            return -1;
        }
    }
    int rc = renameat(w->dir, w->temp, w->dir, w->name);
    if (rc == 0)
        w->temp[0] = '\0';
    return rc;
}

tarn_code tarn_local_writer_sync(struct tarn_writer *writer, struct tarn_err *err)
{
    struct local_writer *w = writer_of(writer);
    if (w->failed)
        return writer_fail(w, EIO, err);
    return fsync(w->fd) == 0 ? TARN_OK : writer_fail(w, errno, err);
}

tarn_code tarn_local_writer_name(struct tarn_writer *writer, enum tarn_put put, struct tarn_err *err)
{
    struct local_writer *w = writer_of(writer);
    if ((put == TARN_PUT_CREATE ? create(w) : replace(w)) == 0)
        return TARN_OK;
    int error = errno;
    w->failed = true;
    if (put == TARN_PUT_CREATE && error == EEXIST)
        return tarn_fail(err, TARN_PRECONDITION_FAILED, "'%s/%s' exists", w->location, w->path);
    return writer_fail(w, error, err);
}

tarn_code tarn_local_writer_settle(struct tarn_writer *writer, struct tarn_err *err)
{
    struct local_writer *w = writer_of(writer);
    return fsync(w->dir) == 0 ? TARN_OK : writer_fail(w, errno, err);
}

tarn_code tarn_local_writer_commit(struct tarn_writer *writer, enum tarn_put put, char token[TARN_TOKEN_TEXT],
                                   struct tarn_err *err)
{
    struct local_writer *w = writer_of(writer);
    tarn_code code = tarn_local_writer_sync(writer, err);
    if (code == TARN_OK)
        code = tarn_local_writer_name(writer, put, err);
    if (code != TARN_OK)
        return code;
    code = tarn_local_writer_settle(writer, err);
    if (code != TARN_OK) {
        if (put == TARN_PUT_CREATE) /* its caller refuses: who finds it later would take it for the truth */
            unlinkat(w->dir, w->name, 0);
        return code;
    }
    struct statx st;
    if (statx(w->fd, "", AT_EMPTY_PATH, TARN_LOCAL_STATX, &st) != 0)
        return writer_fail(w, errno, err);
    struct tarn_object object = { 0 };
    tarn_local_object(&st, &object);
    if (token)
        memcpy(token, object.token, TARN_TOKEN_TEXT);
    w->failed = true; /* nothing more to add */
    return TARN_OK;
}

void tarn_local_writer_free(struct tarn_writer *writer)
{
    struct local_writer *w = writer_of(writer);
    drop_temp(w);
    tarn_local_close(&w->fd);
    tarn_local_close(&w->dir);
    free(w->location);
    free(w->path);
    free(w);
}
