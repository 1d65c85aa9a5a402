/* local_open.c - how paths become descriptors: beneath the place, through no symbolic link. openat2 does it
 * in one call; where a kernel or a sandbox lacks it, the path is walked part by part with O_NOFOLLOW. */
#include "storage/local.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY)

void tarn_local_close(int *fd)
{
    int error = errno;
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    errno = error;
}

tarn_code tarn_local_fail(int error, const char *doing, const char *location, const char *path,
                          struct tarn_err *err)
{
    const char *slash = path[0] ? "/" : "";
    if (error == ENOENT || error == ENOTDIR)
        return tarn_fail(err, TARN_NOT_FOUND, "'%s%s%s' does not exist", location, slash, path);
    if (error == ELOOP || error == EXDEV)
        return tarn_fail(err, TARN_NOT_FOUND, "'%s%s%s' is a symbolic link, which is not followed", location,
                         slash, path);
    if (error == ENOSPC || error == EDQUOT)
        return tarn_fail(err, TARN_INSUFFICIENT_STORAGE, "no space is left for '%s%s%s'", location, slash,
                         path);
    if (error == ENOMEM)
        return tarn_fail_oom(err);
    return tarn_fail(err, TARN_STORAGE_UNAVAILABLE, "cannot %s '%s%s%s': %s", doing, location, slash, path,
                     strerrordesc_np(error));
}

/* One part of a path, without its slash; false when it does not fit. */
static bool next_part(const char **rest, char part[NAME_MAX + 1])
{
    size_t len = strcspn(*rest, "/");
    if (len > NAME_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(part, *rest, len);
    part[len] = '\0';
    *rest += len + ((*rest)[len] == '/');
    return true;
}

/* A link where a folder should be is ENOTDIR to openat, and ELOOP to openat2, which says more. */
static void tell_link(int dir, const char *part)
{
    struct stat st;
    if (errno == ENOTDIR && fstatat(dir, part, &st, AT_SYMLINK_NOFOLLOW) == 0)
        errno = S_ISLNK(st.st_mode) ? ELOOP : ENOTDIR;
}

static int walk(int dir, const char *path, int flags)
{
    TARN_AUTO_FD int at = -1;
    char part[NAME_MAX + 1];
    const char *rest = path;
    while (next_part(&rest, part)) {
        bool last = rest[0] == '\0';
        int from = at < 0 ? dir : at;
        int fd = openat(from, part, (last ? flags : O_PATH | O_DIRECTORY) | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
            tell_link(from, part);
        if (fd < 0 || last)
            return fd;
        tarn_local_close(&at);
        at = fd;
    }
    return -1;
}

int tarn_local_openat(int dir, const char *path, int flags)
{
    struct open_how how = {
        .flags = (unsigned)(flags | O_CLOEXEC),
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    for (int tries = 0;; tries++) {
        long fd = syscall(SYS_openat2, dir, path, &how, sizeof how);
        if (fd >= 0)
            return (int)fd;
        if (errno == ENOSYS || errno == EPERM)
            return walk(dir, path, flags);
        if (errno != EINTR && (errno != EAGAIN || tries > 100)) /* EAGAIN: a rename raced with the look-up */
            return -1;
    }
}

/* Makes `name` in `dir` unless it is there, and makes its entry durable. */
static int make_one(int dir, const char *name)
{
    if (mkdirat(dir, name, 0777) == 0)
        return fsync(dir);
    return errno == EEXIST ? 0 : -1;
}

int tarn_local_make_folder(int dir, const char *path)
{
    TARN_AUTO_FD int at = tarn_local_openat(dir, ".", FOLDER_FLAGS);
    char part[NAME_MAX + 1];
    const char *rest = path;
    while (at >= 0 && rest[0] != '\0') {
        if (!next_part(&rest, part))
            return -1;
        int fd = tarn_local_openat(at, part, FOLDER_FLAGS);
        if (fd < 0 && errno == ENOENT && make_one(at, part) == 0)
            fd = tarn_local_openat(at, part, FOLDER_FLAGS);
        tarn_local_close(&at);
        at = fd;
    }
    int fd = at;
    at = -1;
    return fd;
}

int tarn_local_make_root(const char *path)
{
    TARN_AUTO_FD int at = open("/", FOLDER_FLAGS | O_CLOEXEC);
    char part[NAME_MAX + 1];
    const char *rest = path + 1;
    while (at >= 0 && rest[0] != '\0') {
        if (!next_part(&rest, part))
            return -1;
        int fd = openat(at, part, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0 && errno == ENOENT) {
            TARN_AUTO_FD int parent = openat(at, ".", FOLDER_FLAGS | O_CLOEXEC);
            if (parent >= 0 && make_one(parent, part) == 0)
                fd = openat(at, part, O_PATH | O_DIRECTORY | O_CLOEXEC);
        }
        tarn_local_close(&at);
        at = fd;
    }
    return at < 0 ? -1 : 0;
}
