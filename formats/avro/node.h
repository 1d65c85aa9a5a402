/* node.h - inside formats/avro/: the writer's schema as a tree, and values decoded along it. */
#ifndef TARN_FORMATS_AVRO_NODE_H
#define TARN_FORMATS_AVRO_NODE_H
#include "formats/avro/avro.h"
#include <jansson.h>

enum tarn_avro_type {
    TARN_AVRO_T_NULL, TARN_AVRO_T_BOOLEAN, TARN_AVRO_T_INT, TARN_AVRO_T_LONG, TARN_AVRO_T_FLOAT, TARN_AVRO_T_DOUBLE,
    TARN_AVRO_T_BYTES, TARN_AVRO_T_STRING, TARN_AVRO_T_FIXED, TARN_AVRO_T_ENUM, TARN_AVRO_T_ARRAY, TARN_AVRO_T_MAP,
    TARN_AVRO_T_UNION, TARN_AVRO_T_RECORD
};
struct tarn_avro_node {
    enum tarn_avro_type type;
    size_t size;                     /* fixed: bytes */
    struct tarn_avro_node **children; /* of a record its fields, of a union its branches, of an array or map one; owned array */
    int64_t *ids;                    /* of a record's fields: field-id, -1: none; owned */
    size_t count;
};
/* All nodes of one schema: named types may be used again, so the nodes belong to the list. */
struct tarn_avro_schema {
    struct tarn_avro_node *root;
    struct tarn_avro_node **all;
    size_t count, cap;
};
TARN_MUST tarn_code tarn_avro_schema_read(const char *text, size_t len, struct tarn_avro_schema *out, struct tarn_err *err);
void tarn_avro_schema_done(struct tarn_avro_schema *schema);

/* Bytes still to be decoded. `steps`: how many values they may be taken for, as values of no size could go on for ever. */
struct tarn_avro_cursor { const unsigned char *at, *end; size_t steps; };
TARN_MUST tarn_code tarn_avro_long(struct tarn_avro_cursor *in, int64_t *out, struct tarn_err *err);
TARN_MUST tarn_code tarn_avro_decode(struct tarn_avro_cursor *in, const struct tarn_avro_node *node, int64_t field_id,
                                     tarn_avro_field_fn *fn, void *ctx, int depth, struct tarn_err *err);
#endif
