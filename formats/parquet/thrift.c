/* thrift.c - the compact protocol. See thrift.h for what it promises about foreign bytes; the
 * encoding itself is told in the "Thrift compact protocol encoding" of Apache Thrift. */
#include "formats/parquet/thrift.h"

#define DEPTH_MAX 64

static uint64_t fault(struct tarn_thrift *t, const char *what)
{
    if (!t->fault)
        t->fault = what;
    t->at = t->end;
    return 0;
}

static size_t left(const struct tarn_thrift *t) { return (size_t)(t->end - t->at); }

static uint8_t byte(struct tarn_thrift *t)
{
    if (t->at == t->end)
        return (uint8_t)fault(t, "the footer ends in the middle of a value");
    return *t->at++;
}

static uint64_t varint(struct tarn_thrift *t)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t b = byte(t);
        value |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80)
            return value;
    }
    return fault(t, "the footer holds a number of more than 64 bits");
}

static int64_t zigzag(struct tarn_thrift *t)
{
    uint64_t value = varint(t);

    return (int64_t)((value >> 1) ^ (~(value & 1) + 1));
}

static void advance(struct tarn_thrift *t, uint64_t len)
{
    if (len > left(t))
        (void)fault(t, "the footer holds a string or list longer than itself");
    else
        t->at += len;
}

bool tarn_thrift_next(struct tarn_thrift *t, struct tarn_thrift_field *field)
{
    uint8_t head = byte(t);
    int64_t id;

    field->type = head & 0x0f;
    if (t->fault || field->type == TARN_THRIFT_STOP)
        return false;
    if (field->type > TARN_THRIFT_STRUCT)
        return fault(t, "the footer holds a field of an unknown type") != 0;
    id = head >> 4 ? field->id + (head >> 4) : zigzag(t);
    if (id < INT16_MIN || id > INT16_MAX)
        return fault(t, "the footer holds a field number of more than 16 bits") != 0;
    field->id = (int)id;
    return !t->fault;
}

int64_t tarn_thrift_int(struct tarn_thrift *t, const struct tarn_thrift_field *field)
{
    if (field->type == TARN_THRIFT_BYTE)
        return (int8_t)byte(t);
    if (field->type < TARN_THRIFT_I16 || field->type > TARN_THRIFT_I64)
        return (int64_t)fault(t, "a field of the footer is not the number it should be");
    return zigzag(t);
}

bool tarn_thrift_bool(struct tarn_thrift *t, const struct tarn_thrift_field *field)
{
    if (field->type != TARN_THRIFT_TRUE && field->type != TARN_THRIFT_FALSE)
        return fault(t, "a field of the footer is not the truth value it should be") != 0;
    return field->type == TARN_THRIFT_TRUE;
}

static struct tarn_thrift_bytes read_bytes(struct tarn_thrift *t)
{
    uint64_t len = varint(t);
    const uint8_t *data = t->at;

    advance(t, len);
    return t->fault ? (struct tarn_thrift_bytes){ 0 } : (struct tarn_thrift_bytes){ data, (size_t)len };
}

struct tarn_thrift_bytes tarn_thrift_binary(struct tarn_thrift *t, const struct tarn_thrift_field *field)
{
    if (field->type == TARN_THRIFT_BINARY)
        return read_bytes(t);
    (void)fault(t, "a field of the footer is not the string it should be");
    return (struct tarn_thrift_bytes){ 0 };
}

/* Head of a list or set. Any element takes a byte at least, so a count beyond what is left is a lie. */
static struct tarn_thrift_list list_head(struct tarn_thrift *t)
{
    uint8_t head = byte(t);
    uint64_t count = head >> 4;

    if (count == 15)
        count = varint(t);
    if (count > left(t))
        count = fault(t, "the footer holds a list longer than itself");
    return (struct tarn_thrift_list){ head & 0x0f, (size_t)count };
}

size_t tarn_thrift_list(struct tarn_thrift *t, const struct tarn_thrift_field *field, unsigned type)
{
    if (field->type != TARN_THRIFT_LIST)
        return (size_t)fault(t, "a field of the footer is not the list it should be");
    struct tarn_thrift_list list = list_head(t);
    if (list.count > 0 && list.type != type)
        return (size_t)fault(t, "a list of the footer holds other elements than it should");
    return list.count;
}

bool tarn_thrift_struct(struct tarn_thrift *t, const struct tarn_thrift_field *field)
{
    if (field->type != TARN_THRIFT_STRUCT)
        return fault(t, "a field of the footer is not the struct it should be") != 0;
    return true;
}

static void skip_value(struct tarn_thrift *t, unsigned type, unsigned depth);

static void skip_struct(struct tarn_thrift *t, unsigned depth)
{
    struct tarn_thrift_field field = { 0 };

    while (tarn_thrift_next(t, &field)) {
        if (field.type > TARN_THRIFT_FALSE) /* of truth values the header was all */
            skip_value(t, field.type, depth + 1);
    }
}

static void skip_list(struct tarn_thrift *t, unsigned depth)
{
    struct tarn_thrift_list list = list_head(t);

    for (size_t i = 0; i < list.count && !t->fault; i++)
        skip_value(t, list.type, depth + 1);
}

static void skip_map(struct tarn_thrift *t, unsigned depth)
{
    uint64_t count = varint(t);
    uint8_t types = count > 0 ? byte(t) : 0;

    if (count > left(t))
        count = fault(t, "the footer holds a map longer than itself");
    for (uint64_t i = 0; i < count && !t->fault; i++) {
        skip_value(t, types >> 4, depth + 1);
        skip_value(t, types & 0x0f, depth + 1);
    }
}

/* A value outside of a field header: a truth value is a byte there. */
static void skip_value(struct tarn_thrift *t, unsigned type, unsigned depth)
{
    if (depth > DEPTH_MAX) {
        (void)fault(t, "the footer nests more than 64 levels");
        return;
    }
    switch (type) {
    case TARN_THRIFT_TRUE:
    case TARN_THRIFT_FALSE:
    case TARN_THRIFT_BYTE: (void)byte(t); break;
    case TARN_THRIFT_I16:
    case TARN_THRIFT_I32:
    case TARN_THRIFT_I64: (void)varint(t); break;
    case TARN_THRIFT_DOUBLE: advance(t, 8); break;
    case TARN_THRIFT_BINARY: (void)read_bytes(t); break;
    case TARN_THRIFT_LIST:
    case TARN_THRIFT_SET: skip_list(t, depth); break;
    case TARN_THRIFT_MAP: skip_map(t, depth); break;
    case TARN_THRIFT_STRUCT: skip_struct(t, depth); break;
    default: (void)fault(t, "the footer holds a value of an unknown type");
    }
}

void tarn_thrift_skip(struct tarn_thrift *t, const struct tarn_thrift_field *field)
{
    if (field->type > TARN_THRIFT_FALSE)
        skip_value(t, field->type, 1);
}
