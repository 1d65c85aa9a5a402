/* value.h - inside formats/iceberg/: members of a JSON object, with errors that name them. A null member counts as absent. */
#ifndef TARN_FORMATS_ICEBERG_VALUE_H
#define TARN_FORMATS_ICEBERG_VALUE_H
#include "base/err.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* NULL when absent or null. */
const json_t *tarn_iceberg_member(const json_t *doc, const char *key);
/* Must be there; TARN_INVALID names the key. Borrowed. */
TARN_MUST tarn_code tarn_iceberg_need_i64(const json_t *doc, const char *key, int64_t *out, struct tarn_err *err);
TARN_MUST tarn_code tarn_iceberg_need_str(const json_t *doc, const char *key, const char **out, struct tarn_err *err);
TARN_MUST tarn_code tarn_iceberg_need_array(const json_t *doc, const char *key, const json_t **out, struct tarn_err *err);
TARN_MUST tarn_code tarn_iceberg_need_object(const json_t *doc, const char *key, const json_t **out, struct tarn_err *err);
TARN_MUST tarn_code tarn_iceberg_need_bool(const json_t *doc, const char *key, bool *out, struct tarn_err *err);
/* Absent: *out as it was. Of another type: TARN_INVALID. */
TARN_MUST tarn_code tarn_iceberg_opt_i64(const json_t *doc, const char *key, int64_t *out, struct tarn_err *err);
TARN_MUST tarn_code tarn_iceberg_opt_str(const json_t *doc, const char *key, const char **out, struct tarn_err *err);
TARN_MUST tarn_code tarn_iceberg_opt_array(const json_t *doc, const char *key, const json_t **out, struct tarn_err *err);
TARN_MUST tarn_code tarn_iceberg_opt_object(const json_t *doc, const char *key, const json_t **out, struct tarn_err *err);
TARN_MUST tarn_code tarn_iceberg_opt_bool(const json_t *doc, const char *key, bool *out, struct tarn_err *err);
/* Ids of schemas, specs, orders, fields and versions of views are 32 bits wide: so that one more is a number yet, and clients read it. */
TARN_MUST tarn_code tarn_iceberg_check_id(const char *key, int64_t id, struct tarn_err *err);
/* Ids of the items of `list`, which are sorted: TARN_INVALID names one that is there twice. */
TARN_MUST tarn_code tarn_iceberg_check_unique(const char *list, const char *key, int64_t *ids, size_t count, struct tarn_err *err);
/* An object whose values are all text. */
TARN_MUST tarn_code tarn_iceberg_check_texts(const json_t *object, const char *key, struct tarn_err *err);
/* `doc` with `key` set to a number, as a shallow copy; owned. NULL: no memory. */
json_t *tarn_iceberg_with_i64(const json_t *doc, const char *key, int64_t value);
/* Bytes of a location without the slashes at its end; those of "file://" stay. */
size_t tarn_iceberg_location_len(const char *location);
/* Borrowed from `doc`, counted once more: for a list that keeps it. */
static inline json_t *tarn_iceberg_keep(const json_t *doc) { return json_incref((json_t *)(uintptr_t)doc); }
/* Kept where it has members besides the `known` ones that it must have; else NULL. */
static inline json_t *tarn_iceberg_more(const json_t *doc, size_t known)
{
    return json_object_size(doc) > known ? tarn_iceberg_keep(doc) : NULL;
}
#endif
