/* thrift.h - a reader of the thrift compact protocol over bytes in memory, as far as a Parquet
 * footer needs it. Nothing is copied and nothing allocated. A fault sticks: after it every read gives zero
 * and every loop ends, so that a caller asks once. The bytes are foreign: lengths are held against
 * what is left, and nesting is bounded. */
#ifndef TARN_FORMATS_PARQUET_THRIFT_H
#define TARN_FORMATS_PARQUET_THRIFT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tarn_thrift_type {
    TARN_THRIFT_STOP,
    TARN_THRIFT_TRUE,
    TARN_THRIFT_FALSE,
    TARN_THRIFT_BYTE,
    TARN_THRIFT_I16,
    TARN_THRIFT_I32,
    TARN_THRIFT_I64,
    TARN_THRIFT_DOUBLE,
    TARN_THRIFT_BINARY,
    TARN_THRIFT_LIST,
    TARN_THRIFT_SET,
    TARN_THRIFT_MAP,
    TARN_THRIFT_STRUCT
};

struct tarn_thrift {
    const uint8_t *at, *end; /* borrowed */
    const char *fault;       /* what is wrong, NULL: nothing */
};
struct tarn_thrift_bytes { const uint8_t *data; size_t len; }; /* borrowed */
struct tarn_thrift_field { int id; unsigned type; };           /* start a struct with { 0 } */
struct tarn_thrift_list { unsigned type; size_t count; };

/* The next field of a struct; false at its end or after a fault. */
bool tarn_thrift_next(struct tarn_thrift *t, struct tarn_thrift_field *field);
/* The value of a field whose header was read. A field of another type than asked for is a fault. */
int64_t tarn_thrift_int(struct tarn_thrift *t, const struct tarn_thrift_field *field);
bool tarn_thrift_bool(struct tarn_thrift *t, const struct tarn_thrift_field *field);
struct tarn_thrift_bytes tarn_thrift_binary(struct tarn_thrift *t, const struct tarn_thrift_field *field);
/* A list whose elements must be of `type`: its count, each element at least a byte of what is left. */
size_t tarn_thrift_list(struct tarn_thrift *t, const struct tarn_thrift_field *field, unsigned type);
/* May the value be read as a struct, field by field? A fault otherwise. */
bool tarn_thrift_struct(struct tarn_thrift *t, const struct tarn_thrift_field *field);
/* Over a value that is not wanted. */
void tarn_thrift_skip(struct tarn_thrift *t, const struct tarn_thrift_field *field);
#endif
