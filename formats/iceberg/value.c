/* value.c - members of a JSON object by type. */
#include "formats/iceberg/value.h"
#include <stdlib.h>
#include <string.h>

const json_t *tarn_iceberg_member(const json_t *doc, const char *key)
{
    const json_t *value = json_object_get(doc, key);

    return json_is_null(value) ? NULL : value;
}

static tarn_code missing(const char *key, struct tarn_err *err)
{
    return tarn_fail_field(err, key, "Cannot parse missing field: %s", key);
}

static tarn_code ill_typed(const char *key, const char *wanted, struct tarn_err *err)
{
    return tarn_fail_field(err, key, "Cannot parse %s: it must be %s", key, wanted);
}

tarn_code tarn_iceberg_opt_i64(const json_t *doc, const char *key, int64_t *out, struct tarn_err *err)
{
    const json_t *value = tarn_iceberg_member(doc, key);

    if (!value)
        return TARN_OK;
    if (!json_is_integer(value))
        return ill_typed(key, "a whole number", err);
    *out = json_integer_value(value);
    return TARN_OK;
}

tarn_code tarn_iceberg_opt_str(const json_t *doc, const char *key, const char **out, struct tarn_err *err)
{
    const json_t *value = tarn_iceberg_member(doc, key);

    if (!value)
        return TARN_OK;
    if (!json_is_string(value))
        return ill_typed(key, "text", err);
    *out = json_string_value(value);
    return TARN_OK;
}

tarn_code tarn_iceberg_opt_array(const json_t *doc, const char *key, const json_t **out, struct tarn_err *err)
{
    const json_t *value = tarn_iceberg_member(doc, key);

    if (value && !json_is_array(value))
        return ill_typed(key, "an array", err);
    if (value)
        *out = value;
    return TARN_OK;
}

tarn_code tarn_iceberg_opt_object(const json_t *doc, const char *key, const json_t **out, struct tarn_err *err)
{
    const json_t *value = tarn_iceberg_member(doc, key);

    if (value && !json_is_object(value))
        return ill_typed(key, "an object", err);
    if (value)
        *out = value;
    return TARN_OK;
}

tarn_code tarn_iceberg_opt_bool(const json_t *doc, const char *key, bool *out, struct tarn_err *err)
{
    const json_t *value = tarn_iceberg_member(doc, key);

    if (!value)
        return TARN_OK;
    if (!json_is_boolean(value))
        return ill_typed(key, "true or false", err);
    *out = json_is_true(value);
    return TARN_OK;
}

#define NEED(opt)                                                                                                 \
    do {                                                                                                          \
        if (!tarn_iceberg_member(doc, key))                                                                       \
            return missing(key, err);                                                                             \
        return opt(doc, key, out, err);                                                                           \
    } while (0)

tarn_code tarn_iceberg_need_i64(const json_t *doc, const char *key, int64_t *out, struct tarn_err *err)
{
    NEED(tarn_iceberg_opt_i64);
}

tarn_code tarn_iceberg_need_str(const json_t *doc, const char *key, const char **out, struct tarn_err *err)
{
    NEED(tarn_iceberg_opt_str);
}

tarn_code tarn_iceberg_need_array(const json_t *doc, const char *key, const json_t **out, struct tarn_err *err)
{
    NEED(tarn_iceberg_opt_array);
}

tarn_code tarn_iceberg_need_object(const json_t *doc, const char *key, const json_t **out, struct tarn_err *err)
{
    NEED(tarn_iceberg_opt_object);
}

tarn_code tarn_iceberg_need_bool(const json_t *doc, const char *key, bool *out, struct tarn_err *err)
{
    NEED(tarn_iceberg_opt_bool);
}

tarn_code tarn_iceberg_check_id(const char *key, int64_t id, struct tarn_err *err)
{
    return id <= INT32_MAX ? TARN_OK : tarn_fail_field(err, key, "Invalid %s: %lld is beyond 32 bits", key, (long long)id);
}

static int compare_ids(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return left < right ? -1 : left > right;
}

tarn_code tarn_iceberg_check_unique(const char *list, const char *key, int64_t *ids, size_t count, struct tarn_err *err)
{
    qsort(ids, count, sizeof *ids, compare_ids);
    for (size_t i = 1; i < count; i++)
        if (ids[i] == ids[i - 1])
            return tarn_fail_field(err, list, "Cannot parse %s: two have the %s %lld", list, key, (long long)ids[i]);
    return TARN_OK;
}

tarn_code tarn_iceberg_check_texts(const json_t *object, const char *key, struct tarn_err *err)
{
    const char *name;
    json_t *value;

    if (!json_is_object(object))
        return ill_typed(key, "an object of text", err);
    json_object_foreach((json_t *)(uintptr_t)object, name, value)
        if (!json_is_string(value))
            return tarn_fail_field(err, key, "Cannot parse %s: the value of \"%.100s\" must be text", key, name);
    return TARN_OK;
}

json_t *tarn_iceberg_with_i64(const json_t *doc, const char *key, int64_t value)
{
    json_t *copy = json_copy((json_t *)(uintptr_t)doc);

    if (copy && json_object_set_new(copy, key, json_integer(value)) != 0) {
        json_decref(copy);
        return NULL;
    }
    return copy;
}

size_t tarn_iceberg_location_len(const char *location)
{
    size_t len = strlen(location);

    while (len > 1 && location[len - 1] == '/' && !(len >= 3 && strncmp(location + len - 3, "://", 3) == 0))
        len--;
    return len;
}
