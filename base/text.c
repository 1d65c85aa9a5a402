/* text.c - UTF-8, globs and percent escapes: the checks that every text from outside goes through. */
#include "base/text.h"
#include <stdint.h>
#include <string.h>

/* Length of the well-formed character at p (Unicode table 3-7: no overlong form, no surrogate, nothing
 * above U+10FFFF), 0 when there is none. */
static size_t char_len(const unsigned char *p, size_t left)
{
    static const struct { unsigned char first, last, lo, hi, len; } k_rows[] = {
        { 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 }, { 0xe1, 0xec, 0x80, 0xbf, 3 },
        { 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 }, { 0xf0, 0xf0, 0x90, 0xbf, 4 },
        { 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
    };

    if (p[0] < 0x80)
        return 1;
    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        if (p[0] < k_rows[i].first || p[0] > k_rows[i].last)
            continue;
        if (left < k_rows[i].len || p[1] < k_rows[i].lo || p[1] > k_rows[i].hi)
            return 0;
        for (size_t k = 2; k < k_rows[i].len; k++)
            if ((p[k] & 0xc0) != 0x80)
                return 0;
        return k_rows[i].len;
    }
    return 0;
}

bool tarn_utf8_valid(const char *text, size_t len)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t i = 0;

    while (i < len) {
        uint64_t word;
        if (len - i >= sizeof word) {
            memcpy(&word, p + i, sizeof word);
            if (!(word & UINT64_C(0x8080808080808080))) {
                i += sizeof word;
                continue;
            }
        }
        size_t n = p[i] < 0x80 ? 1 : char_len(p + i, len - i);
        if (n == 0)
            return false;
        i += n;
    }
    return true;
}

void tarn_utf8_mend(char *text)
{
    for (char *at = text, *end = text + strlen(text); at < end;) {
        size_t n = char_len((const unsigned char *)at, (size_t)(end - at));
        if (n == 0)
            *at = '?';
        at += n > 0 ? n : 1;
    }
}

bool tarn_has_control(const char *text, size_t len)
{
    const unsigned char *p = (const unsigned char *)text;

    for (size_t i = 0; i < len; i++) {
        if (p[i] < 0x20 || p[i] == 0x7f)
            return true;
        if (p[i] == 0xc2 && i + 1 < len && p[i + 1] >= 0x80 && p[i + 1] <= 0x9f)
            return true;
    }
    return false;
}

size_t tarn_utf8_cut(const char *text, size_t len, size_t max)
{
    if (len <= max)
        return len;
    while (max > 0 && ((unsigned char)text[max] & 0xc0) == 0x80)
        max--;
    return max;
}

bool tarn_glob_match(const char *pattern, const char *text)
{
    const char *star = NULL, *resume = NULL;

    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            resume = text;
        } else if (*pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

bool tarn_starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool tarn_ends_with(const char *text, const char *suffix)
{
    size_t len = strlen(text), end = strlen(suffix);

    return len >= end && memcmp(text + len - end, suffix, end) == 0;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* The byte of the escape at p, -1 when it is broken. */
static int escaped_byte(const char *p, size_t left)
{
    int hi = left >= 3 ? hex_digit(p[1]) : -1, lo = left >= 3 ? hex_digit(p[2]) : -1;

    return hi < 0 || lo < 0 ? -1 : hi * 16 + lo;
}

tarn_code tarn_percent_decode(const char *text, size_t len, bool plus_is_space, char *out,
                              struct tarn_err *err)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++) {
        int byte = text[i] == '%' ? escaped_byte(text + i, len - i) : (unsigned char)text[i];
        if (byte < 0)
            return tarn_fail(err, TARN_INVALID, "the address holds a broken percent escape");
        if (byte == 0)
            return tarn_fail(err, TARN_INVALID, "the address holds a NUL");
        i += text[i] == '%' ? 2 : 0;
        bool blank = plus_is_space && byte == '+' && text[i] == '+';
        out[n++] = blank ? ' ' : (char)byte;
    }
    out[n] = '\0';
    if (!tarn_utf8_valid(out, n))
        return tarn_fail(err, TARN_INVALID, "the address is not UTF-8");
    return TARN_OK;
}
