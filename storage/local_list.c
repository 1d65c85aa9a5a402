/* local_list.c - listing: a walk with an explicit stack of folders, one descriptor open at a time, given out
 * one object after the other. What vanishes during the walk is skipped; every other fault ends it with an
 * error, because a partial listing must never be judged. */
#include "storage/local.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

struct lister {
    struct tarn_lister head; /* first */
    struct tarn_place *place;
    bool recursive;
    char **todo; /* owned folders still to read */
    size_t count, cap;
    DIR *dir;             /* owned: the folder at hand, NULL: none */
    char *folder;         /* owned: its path */
    struct tarn_buf path; /* of the entry at hand */
};

void tarn_local_lister_free(struct tarn_lister *lister)
{
    struct lister *l = (struct lister *)lister;

    if (l->dir)
        closedir(l->dir);
    for (size_t i = 0; i < l->count; i++)
        free(l->todo[i]);
    free(l->todo);
    free(l->folder);
    tarn_buf_done(&l->path);
    free(l);
}

/* `folder` is taken over. */
static tarn_code push(struct lister *l, char *folder, struct tarn_err *err)
{
    if (folder && l->count == l->cap) {
        size_t cap = l->cap ? 2 * l->cap : 64;
        char **more = realloc(l->todo, cap * sizeof *more);
        if (more) {
            l->todo = more;
            l->cap = cap;
        }
    }
    if (!folder || l->count == l->cap) {
        free(folder);
        return tarn_fail_oom(err);
    }
    l->todo[l->count++] = folder;
    return TARN_OK;
}

static bool is_dots(const char *name)
{
    return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

static tarn_code set_path(struct lister *l, const char *name, struct tarn_err *err)
{
    tarn_buf_clear(&l->path);
    tarn_buf_adds(&l->path, l->folder);
    if (l->folder[0])
        tarn_buf_addc(&l->path, '/');
    tarn_buf_adds(&l->path, name);
    return tarn_buf_check(&l->path, err);
}

/* *out is filled in and *found true for an object; a folder to be read later, a pipe and the like are none.
 */
static tarn_code look_at(struct lister *l, const struct dirent *entry, struct tarn_object *out, bool *found,
                         struct tarn_err *err)
{
    tarn_code code = set_path(l, entry->d_name, err);
    if (code != TARN_OK)
        return code;
    if (l->recursive && entry->d_type == DT_DIR)
        return push(l, strdup(l->path.data), err);

    struct statx st;
    if (statx(dirfd(l->dir), entry->d_name, AT_SYMLINK_NOFOLLOW, TARN_LOCAL_STATX, &st) != 0)
        return errno == ENOENT ? TARN_OK
                               : tarn_local_fail(errno, "look at", l->place->location, l->path.data, err);
    if (l->recursive && S_ISDIR(st.stx_mode)) /* a file system that tells no d_type */
        return push(l, strdup(l->path.data), err);
    if (!S_ISREG(st.stx_mode) && !S_ISDIR(st.stx_mode) && !S_ISLNK(st.stx_mode))
        return TARN_OK;
    *out = (struct tarn_object){ .path = l->path.data };
    tarn_local_object(&st, out);
    *found = true;
    return TARN_OK;
}

/* The folder that comes next; one that vanished, or is none any more, is passed over. */
static tarn_code enter(struct lister *l, struct tarn_err *err)
{
    free(l->folder);
    l->folder = l->todo[--l->count];
    TARN_AUTO_FD int fd = tarn_local_openat(tarn_local_of(l->place)->fd, l->folder[0] ? l->folder : ".",
                                            O_RDONLY | O_DIRECTORY);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP))
        return TARN_OK;
    l->dir = fd < 0 ? NULL : fdopendir(fd);
    if (!l->dir)
        return tarn_local_fail(errno, "list", l->place->location, l->folder, err);
    fd = -1; /* now the stream's */
    return TARN_OK;
}

/* One entry of the folder at hand, or its end. */
static tarn_code read_entry(struct lister *l, struct tarn_object *out, bool *found, struct tarn_err *err)
{
    errno = 0;
    const struct dirent *entry = readdir(l->dir);
    if (!entry && errno != 0 && errno != ENOENT)
        return tarn_local_fail(errno, "list", l->place->location, l->folder, err);
    if (entry)
        return is_dots(entry->d_name) ? TARN_OK : look_at(l, entry, out, found, err);
    closedir(l->dir);
    l->dir = NULL;
    return TARN_OK;
}

tarn_code tarn_local_lister(struct tarn_place *place, const char *prefix, bool recursive,
                            struct tarn_lister **out, struct tarn_err *err)
{
    struct lister *l = calloc(1, sizeof *l);
    if (!l)
        return tarn_fail_oom(err);
    *l = (struct lister){ .head = { place->ops }, .place = place, .recursive = recursive };
    tarn_code code = push(l, strdup(prefix), err);
    if (code == TARN_OK)
        *out = &l->head;
    else
        tarn_local_lister_free(&l->head);
    return code;
}

tarn_code tarn_local_lister_next(struct tarn_lister *lister, struct tarn_object *out, bool *found,
                                 struct tarn_err *err)
{
    struct lister *l = (struct lister *)lister;
    tarn_code code = TARN_OK;

    *found = false;
    while (code == TARN_OK && !*found && (l->dir || l->count > 0))
        code = l->dir ? read_entry(l, out, found, err) : enter(l, err);
    return code;
}
