/* json.h - JSON trees in and out. Reading is by a table of fields: unknown,
 * missing and ill-typed members are refused, and the error names the member. */
#ifndef TARN_BASE_JSON_H
#define TARN_BASE_JSON_H
#include "base/err.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tarn_field_type {
    TARN_F_END,
    TARN_F_STR,    /* const char **, borrowed; min, max: bytes of UTF-8 */
    TARN_F_I64,    /* int64_t *; min, max: value */
    TARN_F_BOOL,   /* bool * */
    TARN_F_OBJECT, /* json_t **, borrowed */
    TARN_F_ARRAY,  /* json_t **, borrowed; min, max: elements */
    TARN_F_ANY     /* json_t **, borrowed; any value but null */
};

struct tarn_field {
    const char *key;
    enum tarn_field_type type;
    bool optional; /* absent or null: the target keeps its value */
    void *target;
    int64_t min, max; /* both inclusive */
    bool *given;      /* may be NULL: set to true when the member is there and not null */
};
#define TARN_STR(k, t, lo, hi)       { (k), TARN_F_STR, false, (t), (lo), (hi), NULL }
#define TARN_OPT_STR(k, t, lo, hi)   { (k), TARN_F_STR, true, (t), (lo), (hi), NULL }
#define TARN_I64(k, t, lo, hi)       { (k), TARN_F_I64, false, (t), (lo), (hi), NULL }
#define TARN_OPT_I64(k, t, lo, hi)   { (k), TARN_F_I64, true, (t), (lo), (hi), NULL }
#define TARN_OPT_BOOL(k, t)          { (k), TARN_F_BOOL, true, (t), 0, 0, NULL }
#define TARN_OPT_OBJECT(k, t)        { (k), TARN_F_OBJECT, true, (t), 0, 0, NULL }
#define TARN_ARRAY(k, t, lo, hi)     { (k), TARN_F_ARRAY, false, (t), (lo), (hi), NULL }
#define TARN_OPT_ARRAY(k, t, lo, hi) { (k), TARN_F_ARRAY, true, (t), (lo), (hi), NULL }
#define TARN_OPT_ANY(k, t)           { (k), TARN_F_ANY, true, (t), 0, 0, NULL }
#define TARN_FIELDS_END              { NULL, TARN_F_END, true, NULL, 0, 0, NULL }

TARN_MUST tarn_code tarn_json_read(const json_t *object, const struct tarn_field *fields,
                                   struct tarn_err *err);

struct tarn_json_limits {
    size_t max_depth;  /* nesting, 64 by default */
    size_t max_values; /* scalars, arrays and objects together, 2,000,000 by default */
};
extern const struct tarn_json_limits tarn_json_limits_default;

/* One JSON text to a tree: duplicate members, NUL, bad UTF-8, numbers beyond int64 and
 * anything over the limits (NULL: the default) are refused with line and column. */
TARN_MUST tarn_code tarn_json_parse(const char *text, size_t len, const struct tarn_json_limits *limits,
                                    json_t **out, struct tarn_err *err);
/* Compact text, members in order; owned by the caller. NULL: out of memory. */
char *tarn_json_text(const json_t *value);
/* Compact text with members sorted at each level: equal values have equal texts. */
char *tarn_json_canonical(const json_t *value);
/* Merges `patch` into the object *target (RFC 7396): objects member by
 * member, null takes a member away, the rest replaces. false: no memory. */
bool tarn_json_merge(json_t *target, const json_t *patch);
/* Milliseconds as an RFC 3339 string, JSON null for a negative one. */
json_t *tarn_json_time(int64_t ms);
/* json_string, or JSON null for NULL. */
json_t *tarn_json_str_or_null(const char *text);
json_t *tarn_json_str(const char *text); /* bytes that are no UTF-8 are mended; NULL: no memory */
#endif
