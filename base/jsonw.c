/* jsonw.c - JSON straight into a buffer. Most strings need no escape: they are scanned eight bytes at a
 * time and copied at once. Text that is not UTF-8 (a file's name on disk) gets U+FFFD, so that what
 * leaves is always valid JSON. */
#include "base/jsonw.h"
#include "base/text.h"
#include "base/time.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define ONES UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

static void before_value(struct tarn_jsonw *w)
{
    if (w->comma)
        tarn_buf_addc(w->out, ',');
    w->comma = true;
}

static void open_with(struct tarn_jsonw *w, char c)
{
    before_value(w);
    tarn_buf_addc(w->out, c);
    w->comma = false;
}

static void close_with(struct tarn_jsonw *w, char c)
{
    tarn_buf_addc(w->out, c);
    w->comma = true;
}

void tarn_jsonw_object(struct tarn_jsonw *w) { open_with(w, '{'); }
void tarn_jsonw_object_end(struct tarn_jsonw *w) { close_with(w, '}'); }
void tarn_jsonw_array(struct tarn_jsonw *w) { open_with(w, '['); }
void tarn_jsonw_array_end(struct tarn_jsonw *w) { close_with(w, ']'); }

/* Has one of these eight bytes the high bit, or is it below 0x20, '"' or '\\'? A false yes is harmless. */
static bool word_is_special(uint64_t v)
{
    uint64_t quote = v ^ (ONES * '"'), slash = v ^ (ONES * '\\');
    uint64_t low = v - ONES * 0x20;

    return ((v | low | (quote - ONES) | (slash - ONES)) & HIGHS) != 0;
}

static bool byte_is_special(unsigned char c) { return c < 0x20 || c == '"' || c == '\\' || c >= 0x80; }

/* How many bytes from the start may be copied as they are, ASCII only. */
static size_t plain_prefix(const char *text, size_t len)
{
    size_t i = 0;
    uint64_t word;

    for (; len - i >= sizeof word; i += sizeof word) {
        memcpy(&word, text + i, sizeof word);
        if (word_is_special(word))
            break;
    }
    if (len >= sizeof word && len - i < sizeof word) { /* the rest, once more with what lies before it */
        memcpy(&word, text + len - sizeof word, sizeof word);
        if (!word_is_special(word))
            return len;
    }
    while (i < len && !byte_is_special((unsigned char)text[i]))
        i++;
    return i;
}

static void add_escape(struct tarn_buf *out, unsigned char c)
{
    static const char k_short[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* byte, letter */

    for (const char *p = k_short; *p; p += 2)
        if ((unsigned char)p[0] == c) {
            char pair[2] = { '\\', p[1] };
            tarn_buf_add(out, pair, 2);
            return;
        }
    tarn_buf_addf(out, "\\u%04x", c);
}

/* Bytes of the character at `text`, 0 when it is not UTF-8. */
static size_t wide_len(const char *text, size_t left)
{
    for (size_t n = 2; n <= 4 && n <= left; n++)
        if (tarn_utf8_valid(text, n))
            return n;
    return 0;
}

static void add_special(struct tarn_buf *out, const char *text, size_t left, size_t *used)
{
    *used = 1;
    if ((unsigned char)text[0] < 0x80) {
        add_escape(out, (unsigned char)text[0]);
        return;
    }
    size_t n = wide_len(text, left);
    if (n == 0) {
        tarn_buf_adds(out, "\xef\xbf\xbd");
        return;
    }
    tarn_buf_add(out, text, n);
    *used = n;
}

static void add_string(struct tarn_buf *out, const char *text, size_t len)
{
    tarn_buf_addc(out, '"');
    while (len > 0) {
        size_t plain = plain_prefix(text, len), used = 0;
        tarn_buf_add(out, text, plain);
        if (plain < len)
            add_special(out, text + plain, len - plain, &used);
        text += plain + used;
        len -= plain + used;
    }
    tarn_buf_addc(out, '"');
}

/* A string or a key with all that stands around it: in one go where nothing needs an escape. */
static void add_text(struct tarn_jsonw *w, const char *text, size_t len, bool is_key)
{
    if (plain_prefix(text, len) < len) {
        before_value(w);
        add_string(w->out, text, len);
        if (is_key)
            tarn_buf_addc(w->out, ':');
    } else {
        size_t total = (size_t)w->comma + 1 + len + 1 + (size_t)is_key;
        char *at = tarn_buf_reserve(w->out, total);
        if (at) {
            if (w->comma)
                *at++ = ',';
            *at++ = '"';
            memcpy(at, text, len);
            at += len;
            *at++ = '"';
            if (is_key)
                *at = ':';
            w->out->len += total;
        }
    }
    w->comma = !is_key;
}

void tarn_jsonw_key(struct tarn_jsonw *w, const char *key) { add_text(w, key, strlen(key), true); }
void tarn_jsonw_strn(struct tarn_jsonw *w, const char *text, size_t len) { add_text(w, text, len, false); }

void tarn_jsonw_str(struct tarn_jsonw *w, const char *text)
{
    if (text)
        tarn_jsonw_strn(w, text, strlen(text));
    else
        tarn_jsonw_null(w);
}

void tarn_jsonw_i64(struct tarn_jsonw *w, int64_t value)
{
    char text[24], *end = text + sizeof text, *p = end;
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;

    do {
        *--p = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (value < 0)
        *--p = '-';
    before_value(w);
    tarn_buf_add(w->out, p, (size_t)(end - p));
}

/* The shortest text that reads back as the same double; a point or exponent keeps it a real. */
void tarn_jsonw_real(struct tarn_jsonw *w, double value)
{
    char text[40];

    if (!isfinite(value)) {
        tarn_jsonw_null(w);
        return;
    }
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(text, sizeof text, "%.*g", precision, value);
        double back = strtod(text, NULL);
        if (back <= value && back >= value)
            break;
    }
    before_value(w);
    tarn_buf_adds(w->out, text);
    if (!strpbrk(text, ".e"))
        tarn_buf_adds(w->out, ".0");
}

static void add_word(struct tarn_jsonw *w, const char *word)
{
    before_value(w);
    tarn_buf_adds(w->out, word);
}

void tarn_jsonw_bool(struct tarn_jsonw *w, bool value) { add_word(w, value ? "true" : "false"); }
void tarn_jsonw_null(struct tarn_jsonw *w) { add_word(w, "null"); }
void tarn_jsonw_raw(struct tarn_jsonw *w, const char *json) { add_word(w, json ? json : "null"); }

void tarn_jsonw_kstr(struct tarn_jsonw *w, const char *key, const char *text)
{
    tarn_jsonw_key(w, key);
    tarn_jsonw_str(w, text);
}

void tarn_jsonw_ki64(struct tarn_jsonw *w, const char *key, int64_t value)
{
    tarn_jsonw_key(w, key);
    tarn_jsonw_i64(w, value);
}

void tarn_jsonw_kbool(struct tarn_jsonw *w, const char *key, bool value)
{
    tarn_jsonw_key(w, key);
    tarn_jsonw_bool(w, value);
}

void tarn_jsonw_ktime(struct tarn_jsonw *w, const char *key, int64_t ms)
{
    char text[TARN_TIME_TEXT];

    tarn_jsonw_key(w, key);
    tarn_jsonw_str(w, ms < 0 ? NULL : tarn_time_format(ms, text));
}

void tarn_jsonw_kraw(struct tarn_jsonw *w, const char *key, const char *json)
{
    tarn_jsonw_key(w, key);
    tarn_jsonw_raw(w, json);
}
