/* local_list.c - listing: a walk with an explicit stack of folders, one descriptor open at a time, streamed
 * to the visitor. What vanishes during the walk is skipped; every other fault ends it with an error, because
 * a partial listing must never be judged. */
#include "storage/local.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct walk {
    struct tarn_place *place;
    bool recursive;
    tarn_object_fn *fn;
    void *ctx;
    char **todo; /* owned folders still to read */
    size_t count, cap;
    struct tarn_buf path; /* of the entry at hand */
};

static void walk_done(struct walk *w)
{
    for (size_t i = 0; i < w->count; i++)
        free(w->todo[i]);
    free(w->todo);
    tarn_buf_done(&w->path);
}

/* `folder` is taken over. */
static tarn_code push(struct walk *w, char *folder, struct tarn_err *err)
{
    if (folder && w->count == w->cap) {
        size_t cap = w->cap ? 2 * w->cap : 64;
        char **more = realloc(w->todo, cap * sizeof *more);
        if (more) {
            w->todo = more;
            w->cap = cap;
        }
    }
    if (!folder || w->count == w->cap) {
        free(folder);
        return tarn_fail_oom(err);
    }
    w->todo[w->count++] = folder;
    return TARN_OK;
}

static void dir_closep(DIR **dir)
{
    if (*dir)
        closedir(*dir);
}

static bool is_dots(const char *name)
{
    return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

/* Sets w->path to folder/name. */
static tarn_code set_path(struct walk *w, const char *folder, const char *name, struct tarn_err *err)
{
    tarn_buf_clear(&w->path);
    tarn_buf_adds(&w->path, folder);
    if (folder[0])
        tarn_buf_addc(&w->path, '/');
    tarn_buf_adds(&w->path, name);
    return tarn_buf_check(&w->path, err);
}

static tarn_code visit(struct walk *w, int dir, const char *folder, const struct dirent *entry,
                       struct tarn_err *err)
{
    tarn_code code = set_path(w, folder, entry->d_name, err);
    if (code != TARN_OK)
        return code;
    if (w->recursive && entry->d_type == DT_DIR)
        return push(w, strdup(w->path.data), err);

    struct statx st;
    if (statx(dir, entry->d_name, AT_SYMLINK_NOFOLLOW, TARN_LOCAL_STATX, &st) != 0)
        return errno == ENOENT ? TARN_OK
                               : tarn_local_fail(errno, "look at", w->place->location, w->path.data, err);
    if (w->recursive && S_ISDIR(st.stx_mode)) /* a file system that tells no d_type */
        return push(w, strdup(w->path.data), err);
    if (!S_ISREG(st.stx_mode) && !S_ISDIR(st.stx_mode) && !S_ISLNK(st.stx_mode))
        return TARN_OK;
    struct tarn_object object = { .path = w->path.data };
    tarn_local_object(&st, &object);
    return w->fn(w->ctx, &object, err);
}

static tarn_code read_folder(struct walk *w, const char *folder, struct tarn_err *err)
{
    TARN_AUTO_FD int fd =
        tarn_local_openat(tarn_local_of(w->place)->fd, folder[0] ? folder : ".", O_RDONLY | O_DIRECTORY);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP))
        return TARN_OK; /* vanished, or no folder any more */
    __attribute__((cleanup(dir_closep))) DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir)
        return tarn_local_fail(errno, "list", w->place->location, folder, err);
    int at = fd;
    fd = -1; /* now the stream's */

    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (!entry && errno != 0 && errno != ENOENT)
            return tarn_local_fail(errno, "list", w->place->location, folder, err);
        if (!entry)
            return TARN_OK;
        if (is_dots(entry->d_name))
            continue;
        tarn_code code = visit(w, at, folder, entry, err);
        if (code != TARN_OK)
            return code;
    }
}

tarn_code tarn_local_list(struct tarn_place *place, const char *prefix, bool recursive, tarn_object_fn *fn,
                          void *ctx, struct tarn_err *err)
{
    __attribute__((
        cleanup(walk_done))) struct walk w = { .place = place, .recursive = recursive, .fn = fn, .ctx = ctx };
    tarn_code code = push(&w, strdup(prefix), err);
    while (code == TARN_OK && w.count > 0) {
        __attribute__((cleanup(tarn_mem_freep))) char *folder = w.todo[--w.count];
        code = read_folder(&w, folder, err);
    }
    return code;
}
