/* storage.h - object stores behind one interface. A location is a canonical absolute path or an
 * s3:// URI under one of the roots; paths inside it are relative, '/'-separated. Any thread may
 * call; every call but tarn_storage_sees may block, so never on a thread that serves requests. */
#ifndef TARN_STORAGE_STORAGE_H
#define TARN_STORAGE_STORAGE_H
#include "base/buf.h"
#include "base/err.h"
#include "base/own.h"
#include <stdbool.h>
#include <stdint.h>

#define TARN_TOKEN_TEXT 96

struct tarn_object {
    const char *path;  /* relative to the place listed, borrowed for the call */
    bool is_folder;    /* only from a listing that is not recursive */
    bool is_symlink;   /* a skipped one: never followed below a root */
    int64_t size;      /* bytes */
    int64_t mtime_ms;  /* last modification */
    char token[TARN_TOKEN_TEXT]; /* changes whenever the content does: inode, size, mtime (local), ETag (s3) */
};
typedef tarn_code tarn_object_fn(void *ctx, const struct tarn_object *object, struct tarn_err *err);

/* Roots that locations must lie under. Immutable after tarn_storage_new. */
struct tarn_storage;
/* `roots`: canonical locations. They need not exist yet. */
TARN_MUST tarn_code tarn_storage_new(const char *const *roots, size_t count, struct tarn_storage **out,
                                     struct tarn_err *err);
void tarn_storage_free(struct tarn_storage *storage);
TARN_DEFINE_AUTO(storage, struct tarn_storage)
/* TARN_LOCATION_NOT_ALLOWED when `location` (canonical) lies under no root. */
TARN_MUST tarn_code tarn_storage_allows(const struct tarn_storage *storage, const char *location,
                                        struct tarn_err *err);

/* The root that `location` (canonical) lies under, borrowed; NULL: none. */
const char *tarn_storage_root(const struct tarn_storage *storage, const char *location);
/* Is that root itself gone: not there, not readable, or empty, as a mount point is
 * with nothing mounted? For who met a location that cannot be opened. Blocks. */
bool tarn_storage_root_is_lost(const struct tarn_storage *storage, const char *location);

/* Is there a file at `location` (canonical)? Never waits, so a thread that
 * serves requests may call: false also when it lies under no root and where
 * that is not known in memory, as on a disk not read yet or on another host. */
bool tarn_storage_sees(const struct tarn_storage *storage, const char *location);

/* A place: one table's folder, opened anew for each scan and each publication. Symlinks below the
 * root are not followed (openat2 RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS on local disk). */
struct tarn_place;
/* TARN_LOCATION_NOT_ALLOWED; TARN_NOT_FOUND when the folder does not exist and `create` is false;
 * TARN_STORAGE_UNAVAILABLE for the rest (the detail names the location and the system's words). */
TARN_MUST tarn_code tarn_place_open(const struct tarn_storage *storage, const char *location, bool create,
                                    struct tarn_place **out, struct tarn_err *err);
/* Any local folder, without roots: for `tarn check`. */
TARN_MUST tarn_code tarn_place_open_local(const char *folder, struct tarn_place **out, struct tarn_err *err);
void tarn_place_free(struct tarn_place *place);
TARN_DEFINE_AUTO(place, struct tarn_place)
const char *tarn_place_location(const struct tarn_place *place);

/* Everything below `prefix` ("" or "a/b"), files only, in no order; or, not recursive, one
 * level with folders. A missing prefix lists nothing. A folder that vanishes meanwhile is
 * skipped. An error in the middle is returned: a partial listing must never be judged. */
TARN_MUST tarn_code tarn_place_list(struct tarn_place *place, const char *prefix, bool recursive,
                                    tarn_object_fn *fn, void *ctx, struct tarn_err *err);
/* The same, one object after the other, for who cannot be called back; the place
 * must outlive it. Nothing of it is in memory but the folders still to be read. */
struct tarn_lister;
TARN_MUST tarn_code tarn_place_lister(struct tarn_place *place, const char *prefix, bool recursive,
                                      struct tarn_lister **out, struct tarn_err *err);
/* *found false: the end. out->path is borrowed until the next call. */
TARN_MUST tarn_code tarn_lister_next(struct tarn_lister *lister, struct tarn_object *out, bool *found,
                                     struct tarn_err *err);
void tarn_lister_free(struct tarn_lister *lister);
TARN_DEFINE_AUTO(lister, struct tarn_lister)

/* By what a folder is known again: the same one, holding the names that it held. */
struct tarn_folder_state {
    uint64_t id;        /* inode number */
    int64_t changed_ns; /* its status change: moved by every name that comes or goes, and by nobody's hand */
    bool keeps_time;    /* on a file system that is known to do so */
};
/* One folder ("": the place's own), not what lies below its folders: its state before any name was read
 * goes to `wants` (NULL: it wants), and when that wants them, its files and folders go to `fn`. Objects
 * carry no token. TARN_NOT_FOUND: no such folder, or it went away meanwhile; TARN_STORAGE_UNAVAILABLE:
 * it cannot be read to its end. After an error what was given is not all that lies there. */
typedef bool tarn_folder_wants_fn(void *ctx, const struct tarn_folder_state *state);
TARN_MUST tarn_code tarn_place_folder(struct tarn_place *place, const char *folder,
                                      tarn_folder_wants_fn *wants, tarn_object_fn *fn, void *ctx,
                                      struct tarn_err *err);
/* Size, time, token of one object. TARN_NOT_FOUND, also when a symbolic link is in the
 * way (out->is_symlink: then the answer proves nothing). out->path is left alone. */
TARN_MUST tarn_code tarn_place_stat(struct tarn_place *place, const char *path, struct tarn_object *out,
                                    struct tarn_err *err);
/* Bytes [offset, offset + len) into out (fewer at the end). TARN_NOT_FOUND. */
TARN_MUST tarn_code tarn_place_read(struct tarn_place *place, const char *path, int64_t offset, size_t len,
                                    struct tarn_buf *out, struct tarn_err *err);
/* The whole object, TARN_PAYLOAD_TOO_LARGE above `max` bytes. `object` (may be NULL) gets its stat. */
TARN_MUST tarn_code tarn_place_read_all(struct tarn_place *place, const char *path, size_t max,
                                        struct tarn_buf *out, struct tarn_object *object,
                                        struct tarn_err *err);
/* A stream of it: a tarn_source_fn (base/jsonr.h) over `struct tarn_reader`. */
struct tarn_reader;
TARN_MUST tarn_code tarn_place_reader(struct tarn_place *place, const char *path, struct tarn_reader **out,
                                      struct tarn_object *object, struct tarn_err *err);
tarn_code tarn_reader_fill(void *reader, char *data, size_t cap, size_t *len, struct tarn_err *err);
void tarn_reader_free(struct tarn_reader *reader);
TARN_DEFINE_AUTO(reader, struct tarn_reader)

/* Writing a whole object: it appears complete or not at all, and durable when _commit says TARN_OK. */
struct tarn_writer;
enum tarn_put {
    TARN_PUT_CREATE,  /* TARN_PRECONDITION_FAILED when the object exists */
    TARN_PUT_REPLACE
};
TARN_MUST tarn_code tarn_place_writer(struct tarn_place *place, const char *path, struct tarn_writer **out,
                                      struct tarn_err *err);
TARN_MUST tarn_code tarn_writer_add(struct tarn_writer *writer, const void *data, size_t len,
                                    struct tarn_err *err);
/* `token` (may be NULL) gets the new object's. TARN_INSUFFICIENT_STORAGE
 * on ENOSPC/EDQUOT. The writer is still to be freed; freed without commit
 * it leaves nothing behind, nor does a TARN_PUT_CREATE that failed. */
TARN_MUST tarn_code tarn_writer_commit(struct tarn_writer *writer, enum tarn_put put,
                                       char token[TARN_TOKEN_TEXT], struct tarn_err *err);
void tarn_writer_free(struct tarn_writer *writer);
TARN_DEFINE_AUTO(writer, struct tarn_writer)
/* Many small new objects of one folder: their bytes are made durable side by
 * side, then they appear in the order given. One that exists is left as it
 * is and told. After an error some of the first ones may be there, whole. */
struct tarn_new_object {
    const char *name; /* without the folder */
    const void *data;
    size_t len;
    bool exists; /* out: was there already */
};
TARN_MUST tarn_code tarn_place_create_all(struct tarn_place *place, const char *folder,
                                          struct tarn_new_object *objects, size_t count,
                                          struct tarn_err *err);
/* All in one. */
TARN_MUST tarn_code tarn_place_put(struct tarn_place *place, const char *path, const void *data, size_t len,
                                   enum tarn_put put, char token[TARN_TOKEN_TEXT], struct tarn_err *err);
/* Takes an object away, durably. One that is not there is fine. */
TARN_MUST tarn_code tarn_place_remove(struct tarn_place *place, const char *path, struct tarn_err *err);
/* Gives whatever lies at `from`, a folder or a link too, the name `to`, durably; the folder of `to` is made.
 * TARN_PRECONDITION_FAILED when that name is taken, TARN_NOT_FOUND. */
TARN_MUST tarn_code tarn_place_move(struct tarn_place *place, const char *from, const char *to,
                                    struct tarn_err *err);
/* Removes from one folder ("": the place's own) what killed writers left behind there, when
 * it is older than `age_ms`. Nothing but names that only writers give. Does what it can. */
void tarn_place_tidy(struct tarn_place *place, const char *folder, int64_t age_ms);
#endif
