/* err.c - the codes' table and the few ways to fill an error. Text that comes from outside is cut on
 * a character boundary, so that an error is always valid UTF-8 when its arguments were. */
#include "base/err.h"
#include "base/text.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct { unsigned http; const char *slug, *title; } k_codes[] = {
#define X(code, http, slug, title) [code] = { http, slug, title },
    TARN_CODES(X)
#undef X
};

unsigned tarn_code_http(tarn_code code) { return k_codes[code].http; }
const char *tarn_code_slug(tarn_code code) { return k_codes[code].slug; }
const char *tarn_code_title(tarn_code code) { return k_codes[code].title; }

static void copy_cut(char *out, size_t size, const char *text)
{
    size_t len = tarn_utf8_cut(text, strlen(text), size - 1);

    memcpy(out, text, len);
    out[len] = '\0';
}

/* The arguments may point into *err itself, so it is written last. */
__attribute__((format(printf, 4, 0))) static tarn_code fill(struct tarn_err *err, tarn_code code,
                                                            const char *field, const char *fmt, va_list ap)
{
    char detail[sizeof err->detail + 8], where[sizeof err->field + 8];

    if (!err)
        return code;
    vsnprintf(detail, sizeof detail, fmt, ap);
    snprintf(where, sizeof where, "%s", field);
    json_decref(err->more);
    err->more = NULL;
    err->code = code;
    copy_cut(err->field, sizeof err->field, where);
    copy_cut(err->detail, sizeof err->detail, detail);
    return code;
}

tarn_code tarn_fail(struct tarn_err *err, tarn_code code, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    fill(err, code, "", fmt, ap);
    va_end(ap);
    return code;
}

tarn_code tarn_fail_field(struct tarn_err *err, const char *field, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    fill(err, TARN_INVALID, field, fmt, ap);
    va_end(ap);
    return TARN_INVALID;
}

tarn_code tarn_fail_code_field(struct tarn_err *err, tarn_code code, const char *field, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    fill(err, code, field, fmt, ap);
    va_end(ap);
    return code;
}

tarn_code tarn_fail_oom(struct tarn_err *err) { return tarn_fail(err, TARN_INTERNAL, "out of memory"); }

tarn_code tarn_err_add(struct tarn_err *err, const char *key, json_t *value)
{
    if (!err) {
        json_decref(value);
        return TARN_INTERNAL;
    }
    if (value && !err->more)
        err->more = json_object();
    /* Without memory the answer lacks this member: better than losing the error itself. */
    if (value)
        (void)json_object_set_new(err->more, key, value);
    return err->code;
}

tarn_code tarn_err_prefix(struct tarn_err *err, const char *fmt, ...)
{
    char field[2 * sizeof err->field], prefix[sizeof err->field];
    va_list ap;

    if (!err)
        return TARN_INTERNAL;
    va_start(ap, fmt);
    vsnprintf(prefix, sizeof prefix, fmt, ap);
    va_end(ap);
    bool dot = prefix[0] != '\0' && err->field[0] != '\0' && err->field[0] != '[';
    snprintf(field, sizeof field, "%s%s%s", prefix, dot ? "." : "", err->field);
    copy_cut(err->field, sizeof err->field, field);
    return err->code;
}

tarn_code tarn_err_move(struct tarn_err *to, struct tarn_err *from)
{
    tarn_code code = from->code;

    if (to && to != from) {
        json_decref(to->more);
        *to = *from;
        from->more = NULL;
    }
    if (to != from)
        tarn_err_done(from);
    return code;
}

void tarn_err_done(struct tarn_err *err)
{
    json_decref(err->more);
    memset(err, 0, sizeof *err);
}
