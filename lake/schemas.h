/* schemas.h - a new schema version of a managed table. */
#ifndef TARN_LAKE_SCHEMAS_H
#define TARN_LAKE_SCHEMAS_H
#include "catalog/schema.h"
#include "lake/lake.h"
#include <jansson.h>

struct tarn_schema_use {
    /* in, borrowed */
    struct tarn_lake *lake;
    struct tarn_ident ident;
    int64_t expected_version; /* of the schema */
    json_t *schema;
    json_t *renames;            /* object of old to new name, or NULL */
    bool any;                   /* compatibility "none" */
    int64_t now_ms;             /* 0: the clock */
    struct tarn_schema *parsed; /* owned: `schema`, parsed by the caller */
    /* out, owned */
    struct tarn_schema_row row;
    int64_t table_id, table_version;
    bool replayed, published, publishes;
    bool must_look; /* storage is to be looked at before the first write since the start */
};
extern const struct tarn_use tarn_schema_add;
#endif
