/* local.h - what the files of the local disk share. */
#ifndef TARN_STORAGE_LOCAL_H
#define TARN_STORAGE_LOCAL_H
#include "storage/place.h"
#include <sys/stat.h>

struct tarn_local_place {
    struct tarn_place place; /* first */
    int fd;                  /* of the folder */
    uint32_t dev[2];         /* the device that it lies on, major and minor */
    bool keeps_time;         /* its file system moves a folder's status change with each of its names */
};

static inline struct tarn_local_place *tarn_local_of(struct tarn_place *place)
{
    return (struct tarn_local_place *)place;
}

/* For TARN_AUTO_FD: closes what is not negative. */
void tarn_local_close(int *fd);
#define TARN_AUTO_FD __attribute__((cleanup(tarn_local_close)))

/* The system's fault `error` (an errno) about `path` of `location` as a code of storage.h: ENOENT and a link
 * are TARN_NOT_FOUND, a full disk is TARN_INSUFFICIENT_STORAGE, the rest TARN_STORAGE_UNAVAILABLE. */
tarn_code tarn_local_fail(int error, const char *doing, const char *location, const char *path,
                          struct tarn_err *err);

/* What of `location` lies below `root`, in it: "" for the root itself. */
const char *tarn_local_below(const char *root, const char *location);
bool tarn_local_sees(const char *root, const char *location);
/* openat2 beneath `dir`, following no link: the descriptor or -1 with errno. */
int tarn_local_openat(int dir, const char *path, int flags);
/* The same of a folder that is made when missing, with its parents, each durable. `path` "" is `dir` itself.
 */
int tarn_local_make_folder(int dir, const char *path);
/* mkdir -p of an absolute path (links are followed: it is the administrator's), durable. 0 or -1 with errno.
 */
int tarn_local_make_root(const char *path);

void tarn_local_object(const struct statx *st, struct tarn_object *out);
/* The same without the token, whose text costs more than the look. */
void tarn_local_glance(const struct statx *st, struct tarn_object *out);
#define TARN_LOCAL_STATX (STATX_TYPE | STATX_SIZE | STATX_INO | STATX_MTIME | STATX_CTIME)

tarn_code tarn_local_lister(struct tarn_place *place, const char *prefix, bool recursive,
                            struct tarn_lister **out, struct tarn_err *err);
tarn_code tarn_local_lister_next(struct tarn_lister *lister, struct tarn_object *out, bool *found,
                                 struct tarn_err *err);
void tarn_local_lister_free(struct tarn_lister *lister);
/* Is it known that the file system does? */
bool tarn_local_keeps_time(int fd);
tarn_code tarn_local_folder(struct tarn_place *place, const char *folder, tarn_folder_wants_fn *wants,
                            tarn_object_fn *fn, void *ctx, struct tarn_err *err);
tarn_code tarn_local_writer(struct tarn_place *place, const char *path, struct tarn_writer **out,
                            struct tarn_err *err);
tarn_code tarn_local_writer_add(struct tarn_writer *writer, const void *data, size_t len,
                                struct tarn_err *err);
tarn_code tarn_local_writer_commit(struct tarn_writer *writer, enum tarn_put put, char token[TARN_TOKEN_TEXT],
                                   struct tarn_err *err);
void tarn_local_writer_free(struct tarn_writer *writer);
/* The parts of a commit: the bytes durable; the name; the folder durable. */
tarn_code tarn_local_writer_sync(struct tarn_writer *writer, struct tarn_err *err);
tarn_code tarn_local_writer_name(struct tarn_writer *writer, enum tarn_put put, struct tarn_err *err);
tarn_code tarn_local_writer_settle(struct tarn_writer *writer, struct tarn_err *err);
/* Temporary names: no data file's. */
#define TARN_LOCAL_TEMP_BEGIN ".tarn-"
#define TARN_LOCAL_TEMP_END   ".tmp"
tarn_code tarn_local_remove(struct tarn_place *place, const char *path, struct tarn_err *err);
tarn_code tarn_local_move(struct tarn_place *place, const char *from, const char *to, struct tarn_err *err);
void tarn_local_tidy(struct tarn_place *place, const char *folder, int64_t age_ms);
tarn_code tarn_local_create_all(struct tarn_place *place, const char *folder, struct tarn_new_object *objects,
                                size_t count, struct tarn_err *err);
#endif
