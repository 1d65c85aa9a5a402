/* decode.c - values of Avro's binary encoding, walked along the writer's schema. Every length is checked against what is
 * left before it is believed. */
#include "formats/avro/node.h"
#include <string.h>

static tarn_code broken(struct tarn_err *err) { return tarn_fail(err, TARN_INVALID, "the Avro data is broken: it ends early"); }

tarn_code tarn_avro_long(struct tarn_avro_cursor *in, int64_t *out, struct tarn_err *err)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (in->at == in->end)
            return broken(err);
        unsigned char byte = *in->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *out = (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
            return TARN_OK;
        }
    }
    return tarn_fail(err, TARN_INVALID, "the Avro data is broken: a number has more than 64 bits");
}

static tarn_code take(struct tarn_avro_cursor *in, size_t len, const unsigned char **out, struct tarn_err *err)
{
    if (len > (size_t)(in->end - in->at))
        return broken(err);
    *out = in->at;
    in->at += len;
    return TARN_OK;
}

static tarn_code take_bytes(struct tarn_avro_cursor *in, struct tarn_avro_value *value, struct tarn_err *err)
{
    int64_t len = 0;
    const unsigned char *bytes = NULL;
    tarn_code code = tarn_avro_long(in, &len, err);

    if (code == TARN_OK && len < 0)
        return tarn_fail(err, TARN_INVALID, "the Avro data is broken: a length is negative");
    if (code == TARN_OK)
        code = take(in, (size_t)len, &bytes, err);
    *value = (struct tarn_avro_value){ .kind = TARN_AVRO_BYTES, .bytes = (const char *)bytes, .len = (size_t)len };
    return code;
}

static tarn_code take_real(struct tarn_avro_cursor *in, size_t size, struct tarn_avro_value *value, struct tarn_err *err)
{
    const unsigned char *bytes = NULL;
    tarn_code code = take(in, size, &bytes, err);
    float single = 0;

    *value = (struct tarn_avro_value){ .kind = TARN_AVRO_REAL };
    if (code != TARN_OK)
        return code;
    if (size == sizeof single) {
        memcpy(&single, bytes, sizeof single); /* little endian, as every machine that Tarn runs on */
        value->real = (double)single;
    } else {
        memcpy(&value->real, bytes, sizeof value->real);
    }
    return TARN_OK;
}

static tarn_code take_scalar(struct tarn_avro_cursor *in, const struct tarn_avro_node *node, struct tarn_avro_value *value,
                             struct tarn_err *err)
{
    const unsigned char *bytes = NULL;
    tarn_code code;

    switch (node->type) {
    case TARN_AVRO_T_BOOLEAN:
        code = take(in, 1, &bytes, err);
        *value = (struct tarn_avro_value){ .kind = TARN_AVRO_BOOLEAN, .number = code == TARN_OK && *bytes != 0 };
        return code;
    case TARN_AVRO_T_INT:
    case TARN_AVRO_T_LONG:
    case TARN_AVRO_T_ENUM:
        *value = (struct tarn_avro_value){ .kind = TARN_AVRO_LONG };
        return tarn_avro_long(in, &value->number, err);
    case TARN_AVRO_T_FLOAT:
        return take_real(in, 4, value, err);
    case TARN_AVRO_T_DOUBLE:
        return take_real(in, 8, value, err);
    case TARN_AVRO_T_FIXED:
        code = take(in, node->size, &bytes, err);
        *value = (struct tarn_avro_value){ .kind = TARN_AVRO_BYTES, .bytes = (const char *)bytes, .len = node->size };
        return code;
    case TARN_AVRO_T_BYTES:
    case TARN_AVRO_T_STRING:
        return take_bytes(in, value, err);
    default:
        *value = (struct tarn_avro_value){ .kind = TARN_AVRO_NULL };
        return TARN_OK;
    }
}

static tarn_code decode_record(struct tarn_avro_cursor *in, const struct tarn_avro_node *node, tarn_avro_field_fn *fn,
                               void *ctx, int depth, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < node->count && code == TARN_OK; i++)
        code = tarn_avro_decode(in, node->children[i], node->ids[i], fn, ctx, depth, err);
    return code;
}

static tarn_code decode_union(struct tarn_avro_cursor *in, const struct tarn_avro_node *node, int64_t field_id,
                              tarn_avro_field_fn *fn, void *ctx, int depth, struct tarn_err *err)
{
    int64_t branch = 0;
    tarn_code code = tarn_avro_long(in, &branch, err);

    if (code == TARN_OK && (branch < 0 || (uint64_t)branch >= node->count))
        return tarn_fail(err, TARN_INVALID, "the Avro data is broken: a union has no branch %lld", (long long)branch);
    return code == TARN_OK ? tarn_avro_decode(in, node->children[branch], field_id, fn, ctx, depth, err) : code;
}

/* Items of no size could be claimed by the billion. */
static tarn_code check_count(const struct tarn_avro_cursor *in, int64_t count, struct tarn_err *err)
{
    if (count > in->end - in->at)
        return tarn_fail(err, TARN_INVALID, "the Avro data is broken: it claims more items than there are bytes");
    return TARN_OK;
}

static tarn_code skip_items(struct tarn_avro_cursor *in, const struct tarn_avro_node *node, int64_t count, int depth,
                            struct tarn_err *err)
{
    struct tarn_avro_value key;
    tarn_code code = check_count(in, count, err);

    for (int64_t i = 0; i < count && code == TARN_OK; i++) {
        if (node->type == TARN_AVRO_T_MAP)
            code = take_bytes(in, &key, err);
        if (code == TARN_OK)
            code = tarn_avro_decode(in, node->children[0], -1, NULL, NULL, depth, err);
    }
    return code;
}

static tarn_code skip_blocks(struct tarn_avro_cursor *in, const struct tarn_avro_node *node, int depth, struct tarn_err *err)
{
    const unsigned char *ignored = NULL;
    int64_t count = 1, size = 0;
    tarn_code code = TARN_OK;

    while (code == TARN_OK && count != 0) {
        code = tarn_avro_long(in, &count, err);
        if (code != TARN_OK || count >= 0) {
            if (code == TARN_OK)
                code = skip_items(in, node, count, depth, err);
            continue;
        }
        code = tarn_avro_long(in, &size, err); /* a negative count is followed by the block's size in bytes */
        if (code == TARN_OK && size < 0)
            code = tarn_fail(err, TARN_INVALID, "the Avro data is broken: a length is negative");
        if (code == TARN_OK)
            code = take(in, (size_t)size, &ignored, err);
    }
    return code;
}

tarn_code tarn_avro_decode(struct tarn_avro_cursor *in, const struct tarn_avro_node *node, int64_t field_id,
                           tarn_avro_field_fn *fn, void *ctx, int depth, struct tarn_err *err)
{
    struct tarn_avro_value value;

    if (depth > TARN_AVRO_DEPTH_MAX)
        return tarn_fail(err, TARN_INVALID, "the Avro data is nested deeper than %d levels", TARN_AVRO_DEPTH_MAX);
    if (in->steps-- == 0)
        return tarn_fail(err, TARN_INVALID, "the Avro data is broken: it claims far more values than there are bytes");
    if (node->type == TARN_AVRO_T_RECORD)
        return decode_record(in, node, fn, ctx, depth + 1, err);
    if (node->type == TARN_AVRO_T_UNION)
        return decode_union(in, node, field_id, fn, ctx, depth + 1, err);
    if (node->type == TARN_AVRO_T_ARRAY || node->type == TARN_AVRO_T_MAP)
        return skip_blocks(in, node, depth + 1, err);
    tarn_code code = take_scalar(in, node, &value, err);
    return code == TARN_OK && fn && field_id >= 0 ? fn(ctx, field_id, &value, err) : code;
}
