/* local_tidy.c - taking files away: an object by its name, whatever lies there to another name,
 * and the temporary names that writers left which were killed between the link and the rename. */
#include "base/text.h"
#include "base/time.h"
#include "storage/local.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The folder of `path`, made where `makes` says so, and, by *name, what is its name there. */
static int open_folder_of(struct tarn_place *place, const char *path, bool makes, const char **name)
{
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    __attribute__((cleanup(tarn_mem_freep))) char *folder =
        strndup(slash ? path : ".", slash ? (size_t)(slash - path) : 1);
    if (!folder) {
        errno = ENOMEM;
        return -1;
    }
    if (makes && slash)
        return tarn_local_make_folder(tarn_local_of(place)->fd, folder);
    return tarn_local_openat(tarn_local_of(place)->fd, folder, O_RDONLY | O_DIRECTORY);
}

tarn_code tarn_local_remove(struct tarn_place *place, const char *path, struct tarn_err *err)
{
    const char *name = NULL;
    TARN_AUTO_FD int dir = open_folder_of(place, path, false, &name);
    if (dir < 0 && errno == ENOENT)
        return TARN_OK;
    if (dir < 0 || (unlinkat(dir, name, 0) != 0 && errno != ENOENT) || fsync(dir) != 0)
        return tarn_local_fail(errno, "remove", place->location, path, err);
    return TARN_OK;
}

tarn_code tarn_local_move(struct tarn_place *place, const char *from, const char *to, struct tarn_err *err)
{
    const char *name = NULL, *new_name = NULL;
    TARN_AUTO_FD int dir = open_folder_of(place, from, false, &name);
    TARN_AUTO_FD int new_dir = dir >= 0 ? open_folder_of(place, to, true, &new_name) : -1;

    if (new_dir >= 0 && renameat2(dir, name, new_dir, new_name, RENAME_NOREPLACE) == 0 &&
        fsync(new_dir) == 0 && fsync(dir) == 0)
        return TARN_OK;
    if (errno == EEXIST)
        return tarn_fail(err, TARN_PRECONDITION_FAILED, "'%s/%s' is there already", place->location, to);
    return tarn_local_fail(errno, "move", place->location, from, err);
}

static bool is_leftover(int dir, const char *name, int64_t before_ms)
{
    struct stat st;
    return strncmp(name, TARN_LOCAL_TEMP_BEGIN, strlen(TARN_LOCAL_TEMP_BEGIN)) == 0 &&
           tarn_ends_with(name, TARN_LOCAL_TEMP_END) && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(st.st_mode) && (int64_t)st.st_mtim.tv_sec * 1000 < before_ms;
}

void tarn_local_tidy(struct tarn_place *place, const char *folder, int64_t age_ms)
{
    int fd = tarn_local_openat(tarn_local_of(place)->fd, folder[0] ? folder : ".", O_RDONLY | O_DIRECTORY);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir) {
        tarn_local_close(&fd);
        return;
    }
    int64_t before_ms = tarn_now_ms() - age_ms;
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        if (is_leftover(fd, entry->d_name, before_ms))
            (void)unlinkat(fd, entry->d_name, 0);
    }
    closedir(dir);
}
