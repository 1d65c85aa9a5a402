/* buf.c - the growing buffer. Growth doubles, so appending n bytes costs O(n); the failure sticks, so
 * a chain of appends needs one question at its end. */
#include "base/buf.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FIRST_CAP 128 /* bytes */

static bool grow(struct tarn_buf *b, size_t need)
{
    size_t cap = b->cap ? b->cap : FIRST_CAP;

    while (cap < need)
        cap = cap > SIZE_MAX / 2 ? need : cap * 2;
    char *data = realloc(b->data, cap);
    if (!data)
        return false;
    b->data = data;
    b->cap = cap;
    return true;
}

char *tarn_buf_reserve(struct tarn_buf *b, size_t len)
{
    if (b->failed)
        return NULL;
    bool fits = len < SIZE_MAX - b->len - 1 && (b->ceiling == 0 || len + b->len <= b->ceiling);
    size_t need = b->len + len + 1;

    if (!fits || (need > b->cap && !grow(b, need))) {
        b->failed = true;
        return NULL;
    }
    b->data[b->len + len] = '\0';
    return b->data + b->len;
}

void tarn_buf_add(struct tarn_buf *b, const void *data, size_t len)
{
    char *room = tarn_buf_reserve(b, len);

    if (!room)
        return;
    if (len)
        memcpy(room, data, len);
    b->len += len;
}

void tarn_buf_adds(struct tarn_buf *b, const char *text) { tarn_buf_add(b, text, strlen(text)); }

void tarn_buf_addc(struct tarn_buf *b, char c)
{
    if (b->failed || b->len + 1 >= b->cap || b->ceiling) {
        tarn_buf_add(b, &c, 1);
        return;
    }
    b->data[b->len++] = c;
    b->data[b->len] = '\0';
}

void tarn_buf_addf(struct tarn_buf *b, const char *fmt, ...)
{
    char small[256];
    va_list ap, again;

    va_start(ap, fmt);
    va_copy(again, ap);
    int len = vsnprintf(small, sizeof small, fmt, ap);
    va_end(ap);
    if (len < 0) {
        b->failed = true;
    } else if ((size_t)len < sizeof small) {
        tarn_buf_add(b, small, (size_t)len);
    } else {
        char *room = tarn_buf_reserve(b, (size_t)len);
        if (room) {
            vsnprintf(room, (size_t)len + 1, fmt, again);
            b->len += (size_t)len;
        }
    }
    va_end(again);
}

void tarn_buf_clear(struct tarn_buf *b)
{
    b->len = 0;
    b->failed = false;
    if (b->data)
        b->data[0] = '\0';
}

char *tarn_buf_take(struct tarn_buf *b)
{
    char *data = tarn_buf_reserve(b, 0) ? tarn_take(&b->data) : NULL;

    if (!data)
        return NULL;
    data[b->len] = '\0';
    b->len = b->cap = 0;
    return data;
}

void tarn_buf_done(struct tarn_buf *b)
{
    free(b->data);
    *b = (struct tarn_buf){ .ceiling = b->ceiling };
}

tarn_code tarn_buf_check(const struct tarn_buf *b, struct tarn_err *err)
{
    if (!b->failed)
        return TARN_OK;
    if (b->ceiling)
        return tarn_fail(err, TARN_PAYLOAD_TOO_LARGE, "more than %zu bytes", b->ceiling);
    return tarn_fail_oom(err);
}
