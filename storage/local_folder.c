/* local_folder.c - one folder of the local disk, read to its end or not at all:
 * for who keeps what it held and wants to know later whether it still does, and
 * for who must tell a folder that is empty from one that went away. */
#include "storage/local.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif
#ifndef ZFS_SUPER_MAGIC
#define ZFS_SUPER_MAGIC 0x2fc12fc1
#endif
#ifndef BCACHEFS_SUPER_MAGIC
#define BCACHEFS_SUPER_MAGIC 0xca451a4e
#endif

struct reading {
    struct tarn_place *place;
    const char *folder;
    DIR *dir;             /* owned */
    struct tarn_buf path; /* of the entry at hand, behind the folder's */
    size_t base;          /* length of the folder's part */
};

static void reading_done(struct reading *r)
{
    if (r->dir)
        closedir(r->dir);
    tarn_buf_done(&r->path);
}

/* Network and user-space file systems may serve a folder's times from a cache, or keep none. */
bool tarn_local_keeps_time(int fd)
{
    static const unsigned long k_known[] = { EXT4_SUPER_MAGIC,      XFS_SUPER_MAGIC,     BTRFS_SUPER_MAGIC,
                                             TMPFS_MAGIC,           F2FS_SUPER_MAGIC,    ZFS_SUPER_MAGIC,
                                             OVERLAYFS_SUPER_MAGIC, BCACHEFS_SUPER_MAGIC };
    struct statfs fs;

    if (fstatfs(fd, &fs) != 0)
        return false;
    for (size_t i = 0; i < TARN_COUNT(k_known); i++)
        if (((unsigned long)fs.f_type & 0xffffffffUL) == k_known[i])
            return true;
    return false;
}

/* A link where the folder should be is TARN_NOT_FOUND. What is
 * mounted below the place is not known to keep its time. */
static tarn_code open_folder(const struct reading *r, int *out, struct tarn_folder_state *state,
                             struct tarn_err *err)
{
    const struct tarn_local_place *place = tarn_local_of(r->place);
    TARN_AUTO_FD int fd =
        tarn_local_openat(place->fd, r->folder[0] ? r->folder : ".", O_RDONLY | O_DIRECTORY);
    struct statx st;

    if (fd < 0 || statx(fd, "", AT_EMPTY_PATH, TARN_LOCAL_STATX, &st) != 0)
        return tarn_local_fail(errno, "list", r->place->location, r->folder, err);
    *state = (struct tarn_folder_state){
        .id = st.stx_ino,
        .changed_ns = (int64_t)st.stx_ctime.tv_sec * 1000000000 + st.stx_ctime.tv_nsec,
        .keeps_time =
            place->keeps_time && st.stx_dev_major == place->dev[0] && st.stx_dev_minor == place->dev[1],
    };
    *out = fd;
    fd = -1;
    return TARN_OK;
}

static tarn_code give(struct reading *r, const struct dirent *entry, tarn_object_fn *fn, void *ctx,
                      struct tarn_err *err)
{
    struct tarn_object object = { 0 };
    struct statx st;

    r->path.len = r->base;
    tarn_buf_adds(&r->path, entry->d_name);
    tarn_code code = tarn_buf_check(&r->path, err);
    if (code != TARN_OK)
        return code;
    if (statx(dirfd(r->dir), entry->d_name, AT_SYMLINK_NOFOLLOW, TARN_LOCAL_STATX, &st) != 0)
        return errno == ENOENT ? TARN_OK
                               : tarn_local_fail(errno, "look at", r->place->location, r->path.data, err);
    if (!S_ISREG(st.stx_mode) && !S_ISDIR(st.stx_mode) && !S_ISLNK(st.stx_mode))
        return TARN_OK;
    object.path = r->path.data;
    tarn_local_glance(&st, &object);
    return fn(ctx, &object, err);
}

static bool is_dots(const char *name)
{
    return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

/* A folder removed while it is read ends like one that was read to its end. */
static tarn_code still_there(const struct reading *r, struct tarn_err *err)
{
    struct stat st;

    if (fstat(dirfd(r->dir), &st) == 0 && st.st_nlink > 0)
        return TARN_OK;
    return tarn_local_fail(ENOENT, "list", r->place->location, r->folder, err);
}

static tarn_code read_all(struct reading *r, tarn_object_fn *fn, void *ctx, struct tarn_err *err)
{
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(r->dir);
        if (!entry && errno != 0)
            return tarn_local_fail(errno, "list", r->place->location, r->folder, err);
        if (!entry)
            return still_there(r, err);
        tarn_code code = is_dots(entry->d_name) ? TARN_OK : give(r, entry, fn, ctx, err);
        if (code != TARN_OK)
            return code;
    }
}

tarn_code tarn_local_folder(struct tarn_place *place, const char *folder, tarn_folder_wants_fn *wants,
                            tarn_object_fn *fn, void *ctx, struct tarn_err *err)
{
    __attribute__((cleanup(reading_done))) struct reading r = { .place = place, .folder = folder };
    TARN_AUTO_FD int fd = -1;
    struct tarn_folder_state state;

    tarn_code code = open_folder(&r, &fd, &state, err);
    if (code != TARN_OK || (wants && !wants(ctx, &state)))
        return code;
    r.dir = fdopendir(fd);
    if (!r.dir)
        return tarn_local_fail(errno, "list", place->location, folder, err);
    fd = -1; /* now the stream's */
    if (folder[0]) {
        tarn_buf_adds(&r.path, folder);
        tarn_buf_addc(&r.path, '/');
    }
    r.base = r.path.len;
    return read_all(&r, fn, ctx, err);
}
