/* footer.h - Parquet footers by hand: a writer of the thrift compact protocol that knows nothing of the
 * reader under test, and a small language for schemas. */
#ifndef TARN_TESTS_SUPPORT_FOOTER_H
#define TARN_TESTS_SUPPORT_FOOTER_H
#include "base/buf.h"
#include <stdint.h>

struct compact {
    struct tarn_buf out;
    int last[64]; /* field number before, a level */
    int depth;
};
void compact_done(struct compact *c);
void compact_begin(struct compact *c); /* a struct without a field: the document, or an element of a list */
void compact_end(struct compact *c);
void compact_struct(struct compact *c, int id);
void compact_list(struct compact *c, int id, int type, uint64_t count);
void compact_i32(struct compact *c, int id, int64_t value);
void compact_i64(struct compact *c, int id, int64_t value);
void compact_bytes(struct compact *c, int id, const void *data, size_t len);
void compact_text(struct compact *c, int id, const char *text);
void compact_flag(struct compact *c, int id, int value);
void compact_varint(struct compact *c, uint64_t value);
void compact_header(struct compact *c, int id, int type);

/* FileMetaData's field 2 from text such as "2; req i32 a; opt group:1 l conv=3; rep group:1 list; opt ba
 * element str": the root's children, then an element a part: repetition, physical type or group:<children>,
 * name, annotations. Types: bool i32 i64 i96 f32 f64 ba fix:<width>. Annotations: conv=<ConvertedType>,
 * old=<p>,<s>, log=<LogicalType>, dec=<p>,<s>, int=<bits><s|u>, ts=<ms|us|ns>:<utc|local>, time=..., str. */
void compact_schema(struct compact *c, const char *spec);
/* How many leaves the text has. */
size_t compact_leaves(const char *spec);
#endif
