/* doc.h - reading one JSON object by a table of its members, on the stream. Unknown members are skipped,
 * known ones are of their type or null, and twice the same known one is refused, since two readers could take
 * either. Only the files of formats/manifest/ include it. */
#ifndef TARN_FORMATS_MANIFEST_DOC_H
#define TARN_FORMATS_MANIFEST_DOC_H
#include "base/jsonr.h"
#include "base/time.h"
#include "catalog/types.h"

/* Reads a member's value, whose first token is `first`, into `target`. null never comes here. */
typedef tarn_code tarn_doc_member_fn(struct tarn_jsonr *r, const struct tarn_jsonr_event *first,
                                     const char *key, void *target, struct tarn_err *err);
struct tarn_doc_member {
    const char *key; /* NULL ends the table; at most 32 */
    tarn_doc_member_fn *read;
    size_t offset; /* of the target in the struct read into */
};

/* The members of an object whose TARN_J_OBJECT is already read, up to its end. *seen (may be NULL) gets bit i
 * for member i that was there and not null. */
TARN_MUST tarn_code tarn_doc_members(struct tarn_jsonr *r, const struct tarn_doc_member *members, void *into,
                                     uint32_t *seen, struct tarn_err *err);
/* A document that is one such object and nothing more. `what` names it in errors: "a manifest". */
TARN_MUST tarn_code tarn_doc_read(struct tarn_jsonr *r, const char *what,
                                  const struct tarn_doc_member *members, void *into, uint32_t *seen,
                                  struct tarn_err *err);

tarn_doc_member_fn tarn_doc_str;    /* char *, owned */
tarn_doc_member_fn tarn_doc_count;  /* int64_t, not negative */
tarn_doc_member_fn tarn_doc_bool;   /* bool */
tarn_doc_member_fn tarn_doc_path;   /* struct tarn_buf: 1 to 4,096 bytes */
tarn_doc_member_fn tarn_doc_object; /* struct tarn_buf: an object's compact text */
/* Members that only Tarn writes: one of another type is somebody else's, and skipped. */
tarn_doc_member_fn tarn_doc_lax_str;   /* char *, owned */
tarn_doc_member_fn tarn_doc_lax_object; /* struct tarn_buf, as tarn_doc_object, else empty */
tarn_doc_member_fn tarn_doc_lax_count; /* int64_t, not negative */
tarn_doc_member_fn tarn_doc_lax_texts; /* struct tarn_buf: the compact text of an array of strings, else empty */

/* An instant as somebody wrote it: text or number. */
struct tarn_doc_instant {
    char *text; /* as written, owned; NULL: absent */
    int64_t ms; /* -1: absent or unusable */
    enum tarn_time_form form;
};
tarn_doc_member_fn tarn_doc_instant; /* struct tarn_doc_instant; a bad one is no error */
tarn_doc_member_fn tarn_doc_lax_instant;

/* One entry of `files` or `operations`. Reused for each: clear, read, view. */
struct tarn_doc_file {
    struct tarn_buf type, path, partition_values, column_stats;
    int64_t size, records, schema_version;
    uint32_t seen;
};
/* The entry whose TARN_J_OBJECT is `first`; refused without a path. *view borrows from `into`. */
TARN_MUST tarn_code tarn_doc_file_read(struct tarn_jsonr *r, const struct tarn_jsonr_event *first,
                                       struct tarn_doc_file *into, struct tarn_file *view,
                                       struct tarn_err *err);
void tarn_doc_file_done(struct tarn_doc_file *file);

/* The elements of an array whose TARN_J_ARRAY is `first`. An error with a field gets "key[i]" before it. */
typedef tarn_code tarn_doc_element_fn(struct tarn_jsonr *r, const struct tarn_jsonr_event *first, void *ctx,
                                      struct tarn_err *err);
/* `deliver` (may be NULL) runs after each element; its errors are left as they are. */
typedef tarn_code tarn_doc_deliver_fn(void *ctx, struct tarn_err *err);
TARN_MUST tarn_code tarn_doc_array(struct tarn_jsonr *r, const struct tarn_jsonr_event *first,
                                   const char *key, tarn_doc_element_fn *read, tarn_doc_deliver_fn *deliver,
                                   void *ctx, struct tarn_err *err);
#endif
