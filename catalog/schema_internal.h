/* schema_internal.h - what the schema_*.c files share among themselves. */
#ifndef TARN_CATALOG_SCHEMA_INTERNAL_H
#define TARN_CATALOG_SCHEMA_INTERNAL_H
#include "catalog/schema.h"

#define TARN_SCHEMA_DEPTH_MAX 32
#define TARN_SCHEMA_COLUMNS_MAX 10000

/* A type's spelling ("decimal(10,2)", "list<string>") into the empty *out. `depth` is the level of the
 * column that has the type, *columns counts those of the whole schema. On failure *out is still to be
 * released. */
TARN_MUST tarn_code tarn_type_from_text(const char *text, size_t depth, size_t *columns,
                                        struct tarn_type *out, struct tarn_err *err);
/* Adds a column and counts it. TARN_INVALID above TARN_SCHEMA_COLUMNS_MAX. */
TARN_MUST tarn_code tarn_type_grow(struct tarn_type *type, const char *name, size_t name_len, size_t *columns,
                                   struct tarn_column **out, struct tarn_err *err);
/* TARN_INVALID for a name that is empty, too long or not text, or that two columns of the struct share. */
TARN_MUST tarn_code tarn_struct_check(const struct tarn_type *type, struct tarn_err *err);

#define TARN_NO_COLUMN SIZE_MAX
/* Index of the column of that name; `hint` is looked at first. */
size_t tarn_struct_find(const struct tarn_type *type, const char *name, size_t hint);

/* How values of one type become another one's. */
enum tarn_type_step {
    TARN_STEP_SAME,
    TARN_STEP_WIDER,    /* no value is lost, and every engine reads it */
    TARN_STEP_LOOSE,    /* no value is lost, but not every engine reads it */
    TARN_STEP_NARROWER, /* values may be lost */
    TARN_STEP_OTHER     /* another type */
};
/* Of leaves, time and timestamp units aside. Containers of one kind are the same. */
enum tarn_type_step tarn_type_step(const struct tarn_type *from, const struct tarn_type *to);
#endif
