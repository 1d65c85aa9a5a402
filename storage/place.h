/* place.h - what one kind of object store provides. Only the files of storage/ include it:
 * storage.c dispatches, local*.c is the local disk, and a further store is one more row of k_kinds. */
#ifndef TARN_STORAGE_PLACE_H
#define TARN_STORAGE_PLACE_H
#include "storage/storage.h"

struct tarn_place_ops;

/* The common head of a store's own structs. */
struct tarn_place {
    const struct tarn_place_ops *ops;
    char *location; /* owned */
};
struct tarn_lister {
    const struct tarn_place_ops *ops;
};
struct tarn_reader {
    const struct tarn_place_ops *ops;
};
struct tarn_writer {
    const struct tarn_place_ops *ops;
};

/* Contracts are those of the calls in storage.h. Paths are checked (relative, no empty, "." or ".." part)
 * before they come here. */
struct tarn_place_ops {
    const char *prefix; /* locations that start with it are this store's: "/", "s3://" */
    /* `location` lies under `root`, both canonical. */
    tarn_code (*open)(const char *root, const char *location, bool create, struct tarn_place **out,
                      struct tarn_err *err);
    void (*free)(struct tarn_place *place);
    /* NULL: what lies there is only known by asking. */
    bool (*sees)(const char *root, const char *location);
    tarn_code (*lister)(struct tarn_place *place, const char *prefix, bool recursive,
                        struct tarn_lister **out, struct tarn_err *err);
    tarn_code (*lister_next)(struct tarn_lister *lister, struct tarn_object *out, bool *found,
                             struct tarn_err *err);
    void (*lister_free)(struct tarn_lister *lister);
    tarn_code (*folder)(struct tarn_place *place, const char *folder, tarn_folder_wants_fn *wants,
                        tarn_object_fn *fn, void *ctx, struct tarn_err *err);
    tarn_code (*stat)(struct tarn_place *place, const char *path, struct tarn_object *out,
                      struct tarn_err *err);
    tarn_code (*read)(struct tarn_place *place, const char *path, int64_t offset, size_t len,
                      struct tarn_buf *out, struct tarn_err *err);
    tarn_code (*reader)(struct tarn_place *place, const char *path, struct tarn_reader **out,
                        struct tarn_object *object, struct tarn_err *err);
    tarn_code (*reader_fill)(struct tarn_reader *reader, char *data, size_t cap, size_t *len,
                             struct tarn_err *err);
    void (*reader_free)(struct tarn_reader *reader);
    tarn_code (*writer)(struct tarn_place *place, const char *path, struct tarn_writer **out,
                        struct tarn_err *err);
    tarn_code (*writer_add)(struct tarn_writer *writer, const void *data, size_t len, struct tarn_err *err);
    tarn_code (*writer_commit)(struct tarn_writer *writer, enum tarn_put put, char token[TARN_TOKEN_TEXT],
                               struct tarn_err *err);
    void (*writer_free)(struct tarn_writer *writer);
    tarn_code (*create_all)(struct tarn_place *place, const char *folder, struct tarn_new_object *objects,
                            size_t count, struct tarn_err *err);
    tarn_code (*remove)(struct tarn_place *place, const char *path, struct tarn_err *err);
    tarn_code (*move)(struct tarn_place *place, const char *from, const char *to, struct tarn_err *err);
    void (*tidy)(struct tarn_place *place, const char *folder, int64_t age_ms);
};

extern const struct tarn_place_ops tarn_local_ops;
#endif
