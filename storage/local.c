/* local.c - places on the local disk: opening, looking at and reading one object. A file is opened once and
 * judged by its descriptor, so that size, time and bytes are of one file even while a writer renames over it.
 */
#include "storage/local.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct local_reader {
    struct tarn_reader reader; /* first */
    int fd;
    char *name; /* owned: location and path, for messages */
};

void tarn_local_glance(const struct statx *st, struct tarn_object *out)
{
    out->is_folder = S_ISDIR(st->stx_mode);
    out->is_symlink = S_ISLNK(st->stx_mode);
    out->size = S_ISREG(st->stx_mode) ? (int64_t)st->stx_size : 0;
    out->mtime_ms = (int64_t)st->stx_mtime.tv_sec * 1000 + st->stx_mtime.tv_nsec / 1000000;
    out->token[0] = '\0';
}

void tarn_local_object(const struct statx *st, struct tarn_object *out)
{
    tarn_local_glance(st, out);
    int64_t mtime_ns = (int64_t)st->stx_mtime.tv_sec * 1000000000 + st->stx_mtime.tv_nsec;
    int64_t ctime_ns = (int64_t)st->stx_ctime.tv_sec * 1000000000 + st->stx_ctime.tv_nsec;
    snprintf(out->token, sizeof out->token, "%llx-%llx-%llx-%llx", (unsigned long long)st->stx_ino,
             (unsigned long long)st->stx_size, (unsigned long long)mtime_ns, (unsigned long long)ctime_ns);
}

/* --- open and close --- */

const char *tarn_local_below(const char *root, const char *location)
{
    const char *rest = location + strlen(root);
    return rest[0] == '/' ? rest + 1 : rest;
}

static tarn_code open_fail(int error, const char *location, struct tarn_err *err)
{
    if (error == ELOOP || error == EXDEV)
        return tarn_fail(err, TARN_LOCATION_NOT_ALLOWED,
                         "'%s' leads through a symbolic link, which is not followed", location);
    if (error == ENOTDIR)
        return tarn_fail(err, TARN_STORAGE_UNAVAILABLE, "'%s' is not a folder", location);
    return tarn_local_fail(error, "open", location, "", err);
}

static int open_folder(const char *root, const char *path, bool create)
{
    TARN_AUTO_FD int top = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int fd = top < 0 ? -1 : tarn_local_openat(top, path[0] ? path : ".", O_RDONLY | O_DIRECTORY);
    if (fd >= 0 || errno != ENOENT || !create)
        return fd;
    if (top < 0 && tarn_local_make_root(root) == 0)
        top = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return top < 0 ? -1 : tarn_local_make_folder(top, path);
}

static tarn_code local_open(const char *root, const char *location, bool create, struct tarn_place **out,
                            struct tarn_err *err)
{
    TARN_AUTO_FD int fd = open_folder(root, tarn_local_below(root, location), create);
    if (fd < 0)
        return open_fail(errno, location, err);

    struct tarn_local_place *place = calloc(1, sizeof *place);
    char *text = strdup(location);
    struct statx st;
    if (statx(fd, "", AT_EMPTY_PATH, TARN_LOCAL_STATX, &st) != 0) {
        free(place);
        free(text);
        return open_fail(errno, location, err);
    }
    if (!place || !text) {
        free(place);
        free(text);
        return tarn_fail_oom(err);
    }
    place->place = (struct tarn_place){ &tarn_local_ops, text };
    place->dev[0] = st.stx_dev_major;
    place->dev[1] = st.stx_dev_minor;
    place->keeps_time = tarn_local_keeps_time(fd);
    place->fd = fd;
    fd = -1;
    *out = &place->place;
    return TARN_OK;
}

static void local_free(struct tarn_place *place)
{
    tarn_local_close(&tarn_local_of(place)->fd);
    free(place->location);
    free(place);
}

/* --- one object --- */

static tarn_code local_stat(struct tarn_place *place, const char *path, struct tarn_object *out,
                            struct tarn_err *err)
{
    TARN_AUTO_FD int fd = tarn_local_openat(tarn_local_of(place)->fd, path, O_PATH | O_NOFOLLOW);
    struct statx st;
    if (fd < 0 || statx(fd, "", AT_EMPTY_PATH, TARN_LOCAL_STATX, &st) != 0) {
        out->is_symlink = errno == ELOOP;
        return tarn_local_fail(errno, "look at", place->location, path, err);
    }
    out->is_symlink = S_ISLNK(st.stx_mode);
    if (!S_ISREG(st.stx_mode))
        return tarn_fail(err, TARN_NOT_FOUND, "'%s/%s' is no file", place->location, path);
    tarn_local_object(&st, out);
    return TARN_OK;
}

/* Opens a regular file; a pipe or device never blocks or is read. */
static tarn_code open_file(struct tarn_place *place, const char *path, int *out, struct tarn_object *object,
                           struct tarn_err *err)
{
    TARN_AUTO_FD int fd = tarn_local_openat(tarn_local_of(place)->fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    struct statx st;
    if (fd < 0 || statx(fd, "", AT_EMPTY_PATH, TARN_LOCAL_STATX, &st) != 0)
        return tarn_local_fail(errno, "read", place->location, path, err);
    if (!S_ISREG(st.stx_mode))
        return tarn_fail(err, TARN_NOT_FOUND, "'%s/%s' is no file", place->location, path);
    if (object)
        tarn_local_object(&st, object);
    *out = fd;
    fd = -1;
    return TARN_OK;
}

static tarn_code local_read(struct tarn_place *place, const char *path, int64_t offset, size_t len,
                            struct tarn_buf *out, struct tarn_err *err)
{
    TARN_AUTO_FD int fd = -1;
    tarn_code code = open_file(place, path, &fd, NULL, err);
    if (code != TARN_OK)
        return code;
    char *room = tarn_buf_reserve(out, len);
    if (!room)
        return tarn_buf_check(out, err);
    size_t done = 0;
    while (done < len) {
        ssize_t got = pread(fd, room + done, len - done, offset + (int64_t)done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return tarn_local_fail(errno, "read", place->location, path, err);
        if (got == 0)
            break;
        done += (size_t)got;
    }
    out->len += done;
    out->data[out->len] = '\0';
    return TARN_OK;
}

/* --- a stream --- */

static void local_reader_free(struct tarn_reader *reader)
{
    struct local_reader *r = (struct local_reader *)reader;
    tarn_local_close(&r->fd);
    free(r->name);
    free(r);
}

static tarn_code local_reader(struct tarn_place *place, const char *path, struct tarn_reader **out,
                              struct tarn_object *object, struct tarn_err *err)
{
    TARN_AUTO_FD int fd = -1;
    tarn_code code = open_file(place, path, &fd, object, err);
    if (code != TARN_OK)
        return code;
    struct local_reader *r = calloc(1, sizeof *r);
    if (!r)
        return tarn_fail_oom(err);
    r->reader.ops = &tarn_local_ops;
    r->fd = -1;
    if (asprintf(&r->name, "%s/%s", place->location, path) < 0) {
        r->name = NULL;
        local_reader_free(&r->reader);
        return tarn_fail_oom(err);
    }
    r->fd = fd;
    fd = -1;
    *out = &r->reader;
    return TARN_OK;
}

static tarn_code local_reader_fill(struct tarn_reader *reader, char *data, size_t cap, size_t *len,
                                   struct tarn_err *err)
{
    struct local_reader *r = (struct local_reader *)reader;
    ssize_t got;
    do {
        got = read(r->fd, data, cap);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        return tarn_fail(err, TARN_STORAGE_UNAVAILABLE, "cannot read '%s': %s", r->name,
                         strerrordesc_np(errno));
    *len = (size_t)got;
    return TARN_OK;
}

const struct tarn_place_ops tarn_local_ops = {
    .prefix = "/",
    .open = local_open,
    .free = local_free,
    .lister = tarn_local_lister,
    .lister_next = tarn_local_lister_next,
    .lister_free = tarn_local_lister_free,
    .folder = tarn_local_folder,
    .sees = tarn_local_sees,
    .stat = local_stat,
    .read = local_read,
    .reader = local_reader,
    .reader_fill = local_reader_fill,
    .reader_free = local_reader_free,
    .writer = tarn_local_writer,
    .writer_add = tarn_local_writer_add,
    .writer_commit = tarn_local_writer_commit,
    .writer_free = tarn_local_writer_free,
    .create_all = tarn_local_create_all,
    .remove = tarn_local_remove,
    .move = tarn_local_move,
    .tidy = tarn_local_tidy,
};
