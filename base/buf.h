/* buf.h - a growing byte buffer. A failed append (no memory, ceiling reached)
 * sticks: append many times, ask once. Always NUL-terminated when not failed. */
#ifndef TARN_BASE_BUF_H
#define TARN_BASE_BUF_H
#include "base/err.h"
#include "base/own.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tarn_buf {
    char *data;     /* owned; NULL while empty */
    size_t len;     /* bytes, without the final NUL */
    size_t cap;     /* bytes allocated */
    size_t ceiling; /* bytes at most, 0: no ceiling */
    bool failed;
};

void tarn_buf_add(struct tarn_buf *b, const void *data, size_t len);
void tarn_buf_adds(struct tarn_buf *b, const char *text);
void tarn_buf_addc(struct tarn_buf *b, char c);
void tarn_buf_addf(struct tarn_buf *b, const char *fmt, ...) TARN_PRINTF(2, 3);
/* Room for `len` more bytes at data + len; NULL when failed. The caller adds to len. */
char *tarn_buf_reserve(struct tarn_buf *b, size_t len);
void tarn_buf_clear(struct tarn_buf *b); /* len 0, memory kept, failure forgotten */
/* The text, owned by the caller; NULL when failed. An empty buffer gives "". */
char *tarn_buf_take(struct tarn_buf *b);
void tarn_buf_done(struct tarn_buf *b);
TARN_MUST tarn_code tarn_buf_check(const struct tarn_buf *b, struct tarn_err *err);
#endif
