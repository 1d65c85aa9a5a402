/* jsonr.h - a bounded pull reader of JSON: one token at a time from a stream, so
 * that a document of any length is read in the memory of its largest string.
 * Strict (RFC 8259): bad UTF-8, control characters, lone surrogates, \u0000, numbers
 * that are not JSON, and trailing bytes are refused with the byte offset. A UTF-8 byte
 * order mark before the document is skipped. Duplicate members are the caller's business. */
#ifndef TARN_BASE_JSONR_H
#define TARN_BASE_JSONR_H
#include "base/buf.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fill at most `cap` bytes; 0 bytes is the end. Errors are the source's own. */
typedef tarn_code tarn_source_fn(void *source, char *data, size_t cap, size_t *len, struct tarn_err *err);

enum tarn_jsonr_token {
    TARN_J_OBJECT, TARN_J_OBJECT_END, TARN_J_ARRAY, TARN_J_ARRAY_END,
    TARN_J_KEY, TARN_J_STRING,    /* text, len */
    TARN_J_INTEGER,               /* integer, and text as written */
    TARN_J_REAL,                  /* real, and text as written; integers beyond int64 too */
    TARN_J_TRUE, TARN_J_FALSE, TARN_J_NULL,
    TARN_J_END                    /* the document is complete, nothing but blanks followed */
};

struct tarn_jsonr;
struct tarn_jsonr_event {
    enum tarn_jsonr_token token;
    const char *text; /* borrowed until the next call; NUL-terminated */
    size_t len;
    int64_t integer;
    double real;
    size_t depth; /* containers open around this token: 0 is the document itself */
};

/* Containers open at once, at most. More than a body may have
 * (json.h): what a request says comes to lie deeper in a document. */
#define TARN_JSONR_DEPTH 128

/* `max_string` bounds one key, string or number in bytes (0: 1 MiB). NULL: out of memory. */
struct tarn_jsonr *tarn_jsonr_new(tarn_source_fn *fn, void *source, size_t max_string);
/* Over bytes in memory, borrowed. */
struct tarn_jsonr *tarn_jsonr_new_mem(const char *data, size_t len, size_t max_string);
void tarn_jsonr_free(struct tarn_jsonr *r);
TARN_DEFINE_AUTO(jsonr, struct tarn_jsonr)

/* The next token. TARN_INVALID with the offset for bad JSON, else the source's error. */
TARN_MUST tarn_code tarn_jsonr_next(struct tarn_jsonr *r, struct tarn_jsonr_event *event,
                                    struct tarn_err *err);
/* After TARN_INVALID for bad JSON: what is wrong and at which byte; NULL when nothing is. */
const char *tarn_jsonr_fault(const struct tarn_jsonr *r, size_t *offset);
/* How many bytes are behind the last token. */
size_t tarn_jsonr_offset(const struct tarn_jsonr *r);
/* After a key, or where an element may start: skip the whole value. */
TARN_MUST tarn_code tarn_jsonr_skip(struct tarn_jsonr *r, struct tarn_err *err);
/* The same, but append its compact text to `out` (bounded by out->ceiling). */
TARN_MUST tarn_code tarn_jsonr_raw(struct tarn_jsonr *r, struct tarn_buf *out, struct tarn_err *err);
/* The rest of a value whose first token is already read (e.g. an array's element). */
TARN_MUST tarn_code tarn_jsonr_raw_from(struct tarn_jsonr *r, const struct tarn_jsonr_event *first,
                                        struct tarn_buf *out, struct tarn_err *err);
TARN_MUST tarn_code tarn_jsonr_skip_from(struct tarn_jsonr *r, const struct tarn_jsonr_event *first,
                                         struct tarn_err *err);
#endif
