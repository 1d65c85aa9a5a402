/* json.c - members of an object by a table of fields: all are judged before the first target is
 * written, so that a refused body leaves nothing half-read. */
#include "base/json.h"
#include <string.h>

static const struct tarn_field *find_field(const struct tarn_field *fields, const char *key)
{
    for (const struct tarn_field *f = fields; f->type != TARN_F_END; f++)
        if (strcmp(f->key, key) == 0)
            return f;
    return NULL;
}

static tarn_code check_range(const struct tarn_field *f, int64_t n, const char *what, struct tarn_err *err)
{
    if (n >= f->min && n <= f->max)
        return TARN_OK;
    if (f->max == INT64_MAX)
        return tarn_fail_field(err, f->key, "must %s at least %lld", what, (long long)f->min);
    return tarn_fail_field(err, f->key, "must %s %lld to %lld", what, (long long)f->min, (long long)f->max);
}

static tarn_code check_length(const struct tarn_field *f, size_t len, const char *unit, struct tarn_err *err)
{
    if (f->min == 1 && len == 0)
        return tarn_fail_field(err, f->key, "must not be empty");
    if ((int64_t)len >= f->min && (int64_t)len <= f->max)
        return TARN_OK;
    return tarn_fail_field(err, f->key, "must have %lld to %lld %s", (long long)f->min, (long long)f->max,
                           unit);
}

static tarn_code check_value(const struct tarn_field *f, const json_t *v, struct tarn_err *err)
{
    static const struct { json_type json; const char *name; } k_types[] = {
        [TARN_F_STR] = { JSON_STRING, "a string" },     [TARN_F_I64] = { JSON_INTEGER, "an integer" },
        [TARN_F_BOOL] = { JSON_TRUE, "true or false" }, [TARN_F_OBJECT] = { JSON_OBJECT, "an object" },
        [TARN_F_ARRAY] = { JSON_ARRAY, "an array" },
    };

    if (f->type == TARN_F_ANY)
        return TARN_OK;
    json_type found = json_is_false(v) ? JSON_TRUE : json_typeof(v);
    if (found != k_types[f->type].json)
        return tarn_fail_field(err, f->key, "must be %s", k_types[f->type].name);
    if (f->type == TARN_F_STR)
        return check_length(f, json_string_length(v), "bytes", err);
    if (f->type == TARN_F_ARRAY)
        return check_length(f, json_array_size(v), "elements", err);
    if (f->type == TARN_F_I64)
        return check_range(f, json_integer_value(v), "be", err);
    return TARN_OK;
}

static void store_value(const struct tarn_field *f, json_t *v)
{
    if (f->given)
        *f->given = true;
    switch (f->type) {
    case TARN_F_STR: *(const char **)f->target = json_string_value(v); break;
    case TARN_F_I64: *(int64_t *)f->target = json_integer_value(v); break;
    case TARN_F_BOOL: *(bool *)f->target = json_is_true(v); break;
    case TARN_F_OBJECT:
    case TARN_F_ARRAY:
    case TARN_F_ANY: *(json_t **)f->target = v; break;
    case TARN_F_END: break;
    }
}

static tarn_code check_fields(const json_t *object, const struct tarn_field *fields, struct tarn_err *err)
{
    for (const struct tarn_field *f = fields; f->type != TARN_F_END; f++) {
        const json_t *v = json_object_get(object, f->key);
        bool absent = !v || json_is_null(v);
        if (absent && !f->optional)
            return tarn_fail_field(err, f->key, "is required");
        tarn_code code = absent ? TARN_OK : check_value(f, v, err);
        if (code != TARN_OK)
            return code;
    }
    return TARN_OK;
}

tarn_code tarn_json_read(const json_t *object, const struct tarn_field *fields, struct tarn_err *err)
{
    const char *key;
    json_t *value;

    if (!json_is_object(object))
        return tarn_fail(err, TARN_INVALID, "must be a JSON object");
    json_object_foreach((json_t *)object, key, value)
        if (!find_field(fields, key))
            return tarn_fail_field(err, key, "is not a known member");
    tarn_code code = check_fields(object, fields, err);
    if (code != TARN_OK)
        return code;
    for (const struct tarn_field *f = fields; f->type != TARN_F_END; f++) {
        json_t *v = json_object_get(object, f->key);
        if (v && !json_is_null(v))
            store_value(f, v);
    }
    return TARN_OK;
}
