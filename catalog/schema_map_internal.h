/* schema_map_internal.h - what the schema_map*.c files share: a schema as a
 * list of its columns, level by level, so that the columns of one struct,
 * list or map stand together, and those that hold them before them. */
#ifndef TARN_CATALOG_SCHEMA_MAP_INTERNAL_H
#define TARN_CATALOG_SCHEMA_MAP_INTERNAL_H
#include "catalog/schema_internal.h"
#include "catalog/schema_map.h"

struct tarn_flat_column {
    struct tarn_column *column; /* borrowed from the schema */
    size_t parent;              /* TARN_NO_COLUMN: at the top */
    size_t first;               /* of its own columns, type.field_count of them */
};
struct tarn_flat_schema {
    int64_t version;
    struct tarn_schema *schema;       /* owned */
    struct tarn_flat_column *columns; /* owned */
    size_t count;
    /* Top-level columns renamed since the version before: owned, NULL: none. */
    json_t *new_names, *old_names; /* old to new, and new to old */
};

struct tarn_schema_map {
    struct tarn_flat_schema newest, reached;
    size_t *origins;   /* owned, one a column of `newest`: in `reached`, TARN_NO_COLUMN: none */
    json_t **defaults; /* owned: what rows hold where there is none; NULL: null */
};

/* The dotted path of a column, added to `out`. */
void tarn_flat_path(const struct tarn_flat_schema *flat, size_t at, struct tarn_buf *out);
#endif
