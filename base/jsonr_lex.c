/* jsonr_lex.c - the bytes of a document, from memory or a source that is asked for 64 KiB at a time, and
 * the two tokens that have a form of their own: strings and numbers. Strings are copied in runs found
 * eight bytes at a time; their UTF-8 is judged once, at the closing quote. */
#include "base/jsonr_lex.h"
#include "base/text.h"
#include <errno.h>
#include <math.h>
#include <string.h>

#define CHUNK_BYTES 65536
#define ONES UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

tarn_code tarn_lex_fail(struct tarn_lex *lex, const char *fault, struct tarn_err *err)
{
    lex->fault = fault;
    lex->fault_at = lex->base + lex->pos;
    lex->broken = TARN_INVALID;
    return tarn_fail(err, TARN_INVALID, "no valid JSON: %s at byte %zu", fault, lex->fault_at);
}

static tarn_code refill(struct tarn_lex *lex, struct tarn_err *err)
{
    size_t len = 0;

    if (!lex->fn || lex->ended) {
        lex->ended = true;
        return TARN_OK;
    }
    if (!lex->chunk)
        lex->chunk = malloc(CHUNK_BYTES);
    tarn_code code =
        lex->chunk ? lex->fn(lex->source, lex->chunk, CHUNK_BYTES, &len, err) : tarn_fail_oom(err);
    if (code != TARN_OK) {
        lex->broken = code;
        return code;
    }
    lex->base += lex->pos;
    lex->data = lex->chunk;
    lex->pos = 0;
    lex->end = len;
    lex->ended = len == 0;
    return TARN_OK;
}

tarn_code tarn_lex_peek_far(struct tarn_lex *lex, int *c, struct tarn_err *err)
{
    if (lex->pos == lex->end) {
        tarn_code code = refill(lex, err);
        if (code != TARN_OK)
            return code;
    }
    *c = lex->pos < lex->end ? (unsigned char)lex->data[lex->pos] : TARN_LEX_END;
    return TARN_OK;
}

tarn_code tarn_lex_peek_token_far(struct tarn_lex *lex, int *c, struct tarn_err *err)
{
    for (;;) {
        tarn_code code = tarn_lex_peek(lex, c, err);
        if (code != TARN_OK || !(*c == ' ' || *c == '\n' || *c == '\r' || *c == '\t'))
            return code;
        lex->pos++;
    }
}

tarn_code tarn_lex_word(struct tarn_lex *lex, const char *word, struct tarn_err *err)
{
    int c;

    for (; *word; word++, lex->pos++) {
        tarn_code code = tarn_lex_peek(lex, &c, err);
        if (code != TARN_OK)
            return code;
        if (c != (unsigned char)*word)
            return tarn_lex_fail(lex, c == TARN_LEX_END ? "an unexpected end" : "an unknown word", err);
    }
    return TARN_OK;
}

tarn_code tarn_lex_skip_bom(struct tarn_lex *lex, struct tarn_err *err)
{
    int c;

    tarn_code code = tarn_lex_peek(lex, &c, err);
    return code == TARN_OK && c == 0xef ? tarn_lex_word(lex, "\xef\xbb\xbf", err) : code;
}

static tarn_code add_text(struct tarn_lex *lex, const char *bytes, size_t len, struct tarn_err *err)
{
    if (len > lex->max_string - lex->text.len)
        return tarn_lex_fail(lex, "a string or number that is too long", err);
    tarn_buf_add(&lex->text, bytes, len);
    return lex->text.failed ? (lex->broken = tarn_fail_oom(err)) : TARN_OK;
}

/* Bytes at hand before a quote, a backslash or a control character. */
static size_t plain_run(const char *p, size_t len)
{
    size_t i = 0;

    for (uint64_t v; len - i >= sizeof v; i += sizeof v) {
        memcpy(&v, p + i, sizeof v);
        uint64_t quote = v ^ (ONES * '"'), slash = v ^ (ONES * '\\');
        uint64_t hit = ((quote - ONES) & ~quote) | ((slash - ONES) & ~slash) | ((v - ONES * 0x20) & ~v);
        if (hit & HIGHS)
            break;
    }
    while (i < len && p[i] != '"' && p[i] != '\\' && (unsigned char)p[i] >= 0x20)
        i++;
    return i;
}

static tarn_code hex4(struct tarn_lex *lex, uint32_t *out, struct tarn_err *err)
{
    uint32_t value = 0;
    int c;

    for (int i = 0; i < 4; i++, lex->pos++) {
        tarn_code code = tarn_lex_peek(lex, &c, err);
        if (code != TARN_OK)
            return code;
        static const char k_digits[] = "0123456789abcdefABCDEF";
        const char *at = c > 0 ? strchr(k_digits, c) : NULL;
        if (!at)
            return tarn_lex_fail(lex, "a broken \\u escape", err);
        uint32_t digit = (uint32_t)(at - k_digits);
        value = value * 16 + (digit > 15 ? digit - 6 : digit);
    }
    *out = value;
    return TARN_OK;
}

static size_t encode_utf8(uint32_t cp, char out[4])
{
    static const struct { uint32_t below; unsigned char lead; size_t len; } k_rows[] = {
        { 0x80, 0, 1 }, { 0x800, 0xc0, 2 }, { 0x10000, 0xe0, 3 }, { 0x110000, 0xf0, 4 }
    };
    size_t row = 0;

    while (cp >= k_rows[row].below)
        row++;
    for (size_t i = k_rows[row].len; i-- > 1; cp >>= 6)
        out[i] = (char)(0x80 | (cp & 0x3f));
    out[0] = (char)(k_rows[row].lead | cp);
    return k_rows[row].len;
}

/* After "\u". */
static tarn_code unicode_escape(struct tarn_lex *lex, struct tarn_err *err)
{
    uint32_t cp, low;
    char utf8[4];

    tarn_code code = hex4(lex, &cp, err);
    if (code == TARN_OK && cp == 0)
        return tarn_lex_fail(lex, "a NUL (\\u0000)", err);
    if (code == TARN_OK && cp >= 0xdc00 && cp <= 0xdfff)
        return tarn_lex_fail(lex, "a lone surrogate", err);
    if (code == TARN_OK && cp >= 0xd800 && cp <= 0xdbff) {
        code = tarn_lex_word(lex, "\\u", err);
        if (code != TARN_OK && lex->fault)
            return tarn_lex_fail(lex, "a lone surrogate", err);
        if (code == TARN_OK)
            code = hex4(lex, &low, err);
        if (code == TARN_OK && (low < 0xdc00 || low > 0xdfff))
            return tarn_lex_fail(lex, "a lone surrogate", err);
        if (code == TARN_OK)
            cp = 0x10000 + ((cp - 0xd800) << 10) + (low - 0xdc00);
    }
    return code == TARN_OK ? add_text(lex, utf8, encode_utf8(cp, utf8), err) : code;
}

/* After the backslash. */
static tarn_code escape(struct tarn_lex *lex, struct tarn_err *err)
{
    static const char k_escapes[] = "\"\"\\\\//b\bf\fn\nr\rt\t"; /* letter, byte */
    int c;

    tarn_code code = tarn_lex_peek(lex, &c, err);
    if (code != TARN_OK)
        return code;
    if (c == 'u') {
        lex->pos++;
        return unicode_escape(lex, err);
    }
    for (const char *p = k_escapes; *p; p += 2)
        if (p[0] == c) {
            lex->pos++;
            return add_text(lex, p + 1, 1, err);
        }
    return tarn_lex_fail(lex, "an unknown escape", err);
}

tarn_code tarn_lex_string(struct tarn_lex *lex, struct tarn_err *err)
{
    int c;

    tarn_buf_clear(&lex->text);
    for (;;) {
        tarn_code code = tarn_lex_peek(lex, &c, err);
        if (code != TARN_OK)
            return code;
        size_t run = plain_run(lex->data + lex->pos, lex->end - lex->pos);
        code = add_text(lex, lex->data + lex->pos, run, err);
        lex->pos += code == TARN_OK ? run : 0;
        if (code == TARN_OK && lex->pos == lex->end && !lex->ended)
            continue;
        if (code == TARN_OK)
            code = tarn_lex_peek(lex, &c, err);
        if (code != TARN_OK)
            return code;
        if (c == '"')
            break;
        if (c != '\\')
            return tarn_lex_fail(lex, c < 0 ? "an unexpected end" : "a control character in a string", err);
        lex->pos++;
        code = escape(lex, err);
        if (code != TARN_OK)
            return code;
    }
    if (!tarn_utf8_valid(lex->text.data, lex->text.len))
        return tarn_lex_fail(lex, "a string that is not UTF-8", err);
    lex->pos++;
    return TARN_OK;
}

/* Digits at *p, moved behind them. */
static bool digits(const char **p)
{
    size_t n = strspn(*p, "0123456789");

    *p += n;
    return n > 0;
}

/* Is `p` a JSON number, and one without fraction and exponent? */
static bool number_form(const char *p, bool *integer)
{
    *integer = true;
    p += *p == '-';
    if (*p == '0')
        p++;
    else if (!digits(&p))
        return false;
    if (*p == '.') {
        *integer = false;
        p++;
        if (!digits(&p))
            return false;
    }
    if (*p == 'e' || *p == 'E') {
        *integer = false;
        p++;
        p += *p == '+' || *p == '-';
        if (!digits(&p))
            return false;
    }
    return *p == '\0';
}

/* Bytes at hand that may be part of a number. */
static size_t number_run(const char *p, size_t len)
{
    size_t i = 0;

    while (i < len && ((p[i] >= '0' && p[i] <= '9') || p[i] == '-' || p[i] == '.' || p[i] == 'e' ||
                       p[i] == 'E' || p[i] == '+'))
        i++;
    return i;
}

static tarn_code number_text(struct tarn_lex *lex, struct tarn_err *err)
{
    int c;

    tarn_buf_clear(&lex->text);
    for (;;) {
        tarn_code code = tarn_lex_peek(lex, &c, err);
        if (code != TARN_OK)
            return code;
        size_t run = number_run(lex->data + lex->pos, c < 0 ? 0 : lex->end - lex->pos);
        if (run == 0)
            return TARN_OK;
        code = add_text(lex, lex->data + lex->pos, run, err);
        if (code != TARN_OK)
            return code;
        lex->pos += run;
    }
}

/* Most numbers are a few digits: *out of up to 18 of them, with a sign; false: look closer. */
static bool short_integer(const char *p, size_t len, int64_t *out)
{
    bool negative = len > 0 && p[0] == '-';
    size_t first = negative ? 1 : 0, count = len - first;
    int64_t value = 0;

    if (count == 0 || count > 18 || (p[first] == '0' && count > 1))
        return false;
    for (size_t i = first; i < len; i++) {
        if (p[i] < '0' || p[i] > '9')
            return false;
        value = value * 10 + (p[i] - '0');
    }
    *out = negative ? -value : value;
    return true;
}

tarn_code tarn_lex_number(struct tarn_lex *lex, struct tarn_jsonr_event *event, struct tarn_err *err)
{
    bool integer;

    tarn_code code = number_text(lex, err);
    if (code != TARN_OK)
        return code;
    event->token = TARN_J_INTEGER;
    if (short_integer(lex->text.data, lex->text.len, &event->integer))
        return TARN_OK;
    if (!number_form(lex->text.data, &integer))
        return tarn_lex_fail(lex, "a broken number", err);
    errno = 0;
    event->integer = integer ? (int64_t)strtoll(lex->text.data, NULL, 10) : 0;
    event->token = integer && errno == 0 ? TARN_J_INTEGER : TARN_J_REAL;
    if (event->token == TARN_J_INTEGER)
        return TARN_OK;
    event->integer = 0;
    event->real = strtod(lex->text.data, NULL);
    return isfinite(event->real) ? TARN_OK : tarn_lex_fail(lex, "a number beyond double", err);
}
