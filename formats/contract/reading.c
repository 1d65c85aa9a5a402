/* reading.c - see reading.h. */
#include "formats/contract/reading.h"
#include "base/text.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

size_t tarn_at_enter(struct tarn_contract_at *at, const char *key, size_t index)
{
    size_t before = at->path.len;

    if (key)
        tarn_buf_addf(&at->path, "%s%s", before ? "." : "", key);
    else
        tarn_buf_addf(&at->path, "[%zu]", index);
    return before;
}

void tarn_at_leave(struct tarn_contract_at *at, size_t before)
{
    if (at->path.failed || !at->path.data)
        return;
    at->path.len = before;
    at->path.data[before] = '\0';
}

static const char *path_of(const struct tarn_contract_at *at) { return at->path.data ? at->path.data : ""; }

tarn_code tarn_at_fail(struct tarn_contract_at *at, const char *key, struct tarn_err *err, const char *fmt, ...)
{
    char text[400];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    size_t before = *key ? tarn_at_enter(at, key, 0) : at->path.len;
    tarn_code code = tarn_fail_field(err, path_of(at), "%s", text);
    tarn_at_leave(at, before);
    return code;
}

tarn_code tarn_at_remark(struct tarn_contract_at *at, const char *key, struct tarn_err *err, const char *fmt, ...)
{
    char text[400];
    va_list args;

    if (json_array_size(at->out->remarks) >= TARN_CONTRACT_REMARKS_MAX) {
        at->remarks_left_out++;
        return TARN_OK;
    }
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    tarn_utf8_mend(text); /* it may have been cut within a character */
    size_t before = *key ? tarn_at_enter(at, key, 0) : at->path.len;
    json_t *remark = json_pack("{s:s,s:s}", "field", path_of(at), "remark", text);
    tarn_at_leave(at, before);
    return json_array_append_new(at->out->remarks, remark) == 0 ? TARN_OK : tarn_fail_oom(err);
}

/* --- members --- */

static const json_t *member(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_null(value) ? NULL : value;
}

tarn_code tarn_at_text(struct tarn_contract_at *at, const json_t *object, const char *key, const char **out,
                       struct tarn_err *err)
{
    const json_t *value = member(object, key);

    if (json_is_number(value) || json_is_boolean(value))
        return tarn_at_fail(at, key, err, "must be text: put it in quotes");
    if (value && !json_is_string(value))
        return tarn_at_fail(at, key, err, "must be text");
    if (value)
        *out = json_string_value(value);
    return TARN_OK;
}

tarn_code tarn_at_bool(struct tarn_contract_at *at, const json_t *object, const char *key, bool *out,
                       struct tarn_err *err)
{
    const json_t *value = member(object, key);

    if (value && !json_is_boolean(value))
        return tarn_at_fail(at, key, err, "must be true or false");
    if (value)
        *out = json_is_true(value);
    return TARN_OK;
}

tarn_code tarn_at_integer(struct tarn_contract_at *at, const json_t *object, const char *key, json_int_t *out,
                          struct tarn_err *err)
{
    const json_t *value = member(object, key);

    if (value && !json_is_integer(value))
        return tarn_at_fail(at, key, err, "must be a whole number");
    if (value)
        *out = json_integer_value(value);
    return TARN_OK;
}

tarn_code tarn_at_list(struct tarn_contract_at *at, const json_t *object, const char *key, const json_t **out,
                       struct tarn_err *err)
{
    const json_t *value = member(object, key);

    if (value && !json_is_array(value))
        return tarn_at_fail(at, key, err, "must be a list");
    if (value)
        *out = value;
    return TARN_OK;
}

tarn_code tarn_at_object(struct tarn_contract_at *at, const json_t *object, const char *key, const json_t **out,
                         struct tarn_err *err)
{
    const json_t *value = member(object, key);

    if (value && !json_is_object(value))
        return tarn_at_fail(at, key, err, "must hold keys with values");
    if (value)
        *out = value;
    return TARN_OK;
}

static bool is_among(const char *key, const char *const *known)
{
    for (size_t i = 0; known[i]; i++)
        if (strcmp(key, known[i]) == 0)
            return true;
    return false;
}

tarn_code tarn_at_keys(struct tarn_contract_at *at, const json_t *value, const char *const *known, struct tarn_err *err)
{
    const char *key;
    json_t *each;

    if (!json_is_object(value))
        return tarn_at_fail(at, "", err, "must hold keys with values");
    json_object_foreach ((json_t *)value, key, each) {
        tarn_code code = is_among(key, known) ? TARN_OK : tarn_at_remark(at, key, err, "is no key of the standard");
        if (code != TARN_OK)
            return code;
    }
    return TARN_OK;
}

bool tarn_at_same(const char *a, const char *b) { return strcasecmp(a, b) == 0; }
