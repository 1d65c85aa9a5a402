/* schema.h - a table's schema: the type tree, its JSON (the form of schema.json:
 * {"type":"struct","fields":[{"name","type","nullable"}]}), and the two comparisons that
 * Tarn makes: may version n+1 follow version n, and does a file fit the table.
 * Spellings and rules: observability reference 5.4 and 5.5, told in docs/FORMAT.md. */
#ifndef TARN_CATALOG_SCHEMA_H
#define TARN_CATALOG_SCHEMA_H
#include "base/err.h"
#include "base/own.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum tarn_type_kind {
    TARN_T_BOOLEAN, TARN_T_INT32, TARN_T_INT64, TARN_T_UINT64, TARN_T_FLOAT16, TARN_T_FLOAT, TARN_T_DOUBLE,
    TARN_T_DECIMAL, TARN_T_STRING, TARN_T_BINARY, TARN_T_DATE, TARN_T_TIME, TARN_T_TIMESTAMP, TARN_T_UUID,
    TARN_T_INTERVAL, TARN_T_UNKNOWN, /* matches anything: a column of nulls */
    TARN_T_STRUCT, TARN_T_LIST, TARN_T_MAP
};
enum tarn_time_unit { TARN_UNIT_MILLIS, TARN_UNIT_MICROS, TARN_UNIT_NANOS };
enum tarn_time_zone { TARN_ZONE_UTC, TARN_ZONE_LOCAL, TARN_ZONE_UNKNOWN }; /* unknown: INT96 */

struct tarn_type {
    enum tarn_type_kind kind;
    int precision, scale;     /* decimal */
    enum tarn_time_unit unit; /* time, timestamp; a registered "timestamp" is micros */
    bool any_unit;            /* timestamp registered without a unit: every unit fits */
    enum tarn_time_zone zone; /* timestamp */
    bool narrow;              /* from a file: INT32 annotated 8 or 16 bits */
    bool unannotated;         /* from a file: BYTE_ARRAY without an annotation */
    struct tarn_column *fields; /* struct: its fields; list: one "element"; map: "key", "value"; owned */
    size_t field_count;
};
struct tarn_column {
    char *name; /* owned */
    bool nullable;
    struct tarn_type type;
    json_t *default_value; /* owned, NULL: none */
    json_t *more;          /* owned: members that Tarn does not know, kept; NULL: none */
    /* Only from a file: */
    int64_t null_count;    /* over all row groups, -1: not known */
    int64_t row_count;     /* rows of the file, -1: not known */
};
struct tarn_schema {
    struct tarn_type root; /* TARN_T_STRUCT */
    json_t *more;          /* owned: unknown members of the struct, kept; NULL: none */
};

void tarn_schema_free(struct tarn_schema *schema);
TARN_DEFINE_AUTO(schema, struct tarn_schema)

/* A fresh nullable column (counts -1) at the end of type->fields, borrowed until the next one is added; its
 * name is a copy. NULL: out of memory. */
struct tarn_column *tarn_type_add_column(struct tarn_type *type, const char *name, size_t name_len);
/* The same kind, numbers and columns in the same order, nullability left aside; what files alone know is not
 * compared. */
bool tarn_type_equal(const struct tarn_type *a, const struct tarn_type *b);

/* The same columns of the same types in the same order, as nullable, with the defaults
 * that `given` has; however the types are spelled, and whatever else stands there. */
bool tarn_schema_says_all_of(const struct tarn_schema *schema, const struct tarn_schema *given);

/* At most 10,000 columns in all and 32 levels; names unique in their struct. Errors are
 * TARN_INVALID with the member ("schema.fields[2].type"), `field` being the outermost part. */
TARN_MUST tarn_code tarn_schema_parse(const json_t *json, const char *field, struct tarn_schema **out,
                                      struct tarn_err *err);
json_t *tarn_schema_to_json(const struct tarn_schema *schema); /* NULL: out of memory */
/* "int64", "decimal(10,2)", "timestamp", "list<string>": for messages. */
void tarn_type_format(const struct tarn_type *type, char *out, size_t size);

/* What changed, one row a change; an owned JSON array of {"kind","column","from","to"}: the kinds are
 * added, dropped, renamed, type_changed, widened, narrowed, nullability, reordered. */

/* May `next` follow `now`? TARN_OK, or TARN_INCOMPATIBLE_SCHEMA with `changes` (the forbidden ones) in
 * err->more. Allowed: a new nullable column or one with a default, int32 to int64, float to double, a larger
 * decimal precision, required to nullable, another order. `renames`: object of old to new name, or NULL. */
TARN_MUST tarn_code tarn_schema_backward(const struct tarn_schema *now, const struct tarn_schema *next,
                                         const json_t *renames, struct tarn_err *err);

/* Does each of `renames` (an object or NULL) name a column of `now` (NULL:
 * none) and another one's new name in `next`? TARN_INVALID with the field. */
TARN_MUST tarn_code tarn_schema_renames_check(const struct tarn_schema *now, const struct tarn_schema *next,
                                              const json_t *renames, struct tarn_err *err);

/* Does a file's schema fit the table's? One call a drift found. */
enum tarn_drift_kind {
    TARN_DRIFT_WIDENED,       /* info: int32 in the file, int64 registered; a warning when `severe`: only some
                               * readers convert it (int32 to double, a larger decimal scale, date to timestamp) */
    TARN_DRIFT_NARROWED,      /* error */
    TARN_DRIFT_TYPE_CHANGED,  /* error */
    TARN_DRIFT_BINARY_STRING, /* warning (type_changed): unannotated bytes for a string */
    TARN_DRIFT_UNIT,          /* info or warning (timestamp unit), see `severe` */
    TARN_DRIFT_NULL_IN_REQUIRED, /* error */
    TARN_DRIFT_NULLS_UNKNOWN,    /* info */
    TARN_DRIFT_MISSING_COLUMN,   /* nullable in the table: warning or info by age; */
    TARN_DRIFT_MISSING_REQUIRED, /* error (missing_column) */
    TARN_DRIFT_EXTRA_COLUMN,     /* warning */
    TARN_DRIFT_RENAMED_CASE,     /* warning */
    TARN_DRIFT_REORDERED,        /* info */
    TARN_DRIFT_PARTITION_COLUMN  /* info: a partition column also inside the file */
};
struct tarn_drift {
    enum tarn_drift_kind kind;
    const char *column; /* dotted path ("a.list.element.b", "m.key_value.value"), borrowed for the call */
    const struct tarn_type *registered, *found; /* may be NULL */
    bool severe;        /* WIDENED, UNIT: a warning instead of an info */
    const char *possible_rename; /* MISSING_COLUMN: an extra column of the same type, or NULL */
};
typedef void tarn_drift_fn(void *ctx, const struct tarn_drift *drift);
/* `partition_keys`: JSON array of names (or NULL) whose columns normally are not in files. */
void tarn_schema_drift(const struct tarn_schema *table, const struct tarn_schema *file,
                       const json_t *partition_keys, tarn_drift_fn *fn, void *ctx);
#endif
