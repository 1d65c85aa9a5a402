/* footer.c - Hive's way to put a partition into the path. */
#include "lake/footer.h"
#include "base/json.h"
#include "base/text.h"
#include <stdlib.h>
#include <string.h>

#define HIVE_NULL "__HIVE_DEFAULT_PARTITION__"
#define PART_MAX  1024

static bool is_integer_column(const struct tarn_schema *schema, const char *name)
{
    for (size_t i = 0; schema && i < schema->root.field_count; i++)
        if (strcmp(schema->root.fields[i].name, name) == 0)
            return schema->root.fields[i].type.kind == TARN_T_INT32 ||
                   schema->root.fields[i].type.kind == TARN_T_INT64;
    return false;
}

static json_t *value_of(const char *text, bool is_integer)
{
    const char *digits = text[0] == '-' ? text + 1 : text;
    size_t len = strlen(digits);

    if (strcmp(text, HIVE_NULL) == 0)
        return json_null();
    if (is_integer && len > 0 && len <= 18 && strspn(digits, "0123456789") == len)
        return json_integer(strtoll(text, NULL, 10));
    return json_string(text);
}

/* Calls fn for each key=value folder of the path; the last component is the file. */
typedef tarn_code part_fn(void *ctx, const char *key, const char *value, struct tarn_err *err);

static void decode(const char *text, size_t len, char out[PART_MAX + 1])
{
    TARN_ERR(broken);

    if (tarn_percent_decode(text, len, false, out, &broken) == TARN_OK)
        return;
    memcpy(out, text, len); /* a stray percent sign stands for itself */
    out[len] = '\0';
}

static tarn_code each_part(const char *path, part_fn *fn, void *ctx, struct tarn_err *err)
{
    char key[PART_MAX + 1], value[PART_MAX + 1];
    const char *end = NULL;

    for (const char *part = path;; part = end + 1) {
        end = strchr(part, '/');
        if (!end)
            return TARN_OK;
        const char *equals = memchr(part, '=', (size_t)(end - part));
        if (!equals || equals == part || end - part > PART_MAX)
            continue;
        decode(part, (size_t)(equals - part), key);
        decode(equals + 1, (size_t)(end - equals - 1), value);
        tarn_code code = fn(ctx, key, value, err);
        if (code != TARN_OK)
            return code;
    }
}

struct values_ctx {
    json_t *values;
    const struct tarn_schema *schema;
};

static tarn_code add_value(void *ctx, const char *key, const char *value, struct tarn_err *err)
{
    struct values_ctx *c = ctx;

    if (json_object_set_new(c->values, key, value_of(value, is_integer_column(c->schema, key))) != 0)
        return tarn_fail_oom(err);
    return TARN_OK;
}

tarn_code tarn_hive_values(const char *path, const struct tarn_schema *schema, char **out,
                           struct tarn_err *err)
{
    json_auto_t *values = json_object();
    struct values_ctx c = { values, schema };

    if (!values)
        return tarn_fail_oom(err);
    tarn_code code = each_part(path, add_value, &c, err);
    if (code != TARN_OK)
        return code;
    char *text = json_object_size(values) > 0 ? tarn_json_text(values) : NULL;
    if (!text && json_object_size(values) > 0)
        return tarn_fail_oom(err);
    *out = text;
    return TARN_OK;
}

static tarn_code add_key(void *ctx, const char *key, const char *value, struct tarn_err *err)
{
    (void)value;
    return json_array_append_new(ctx, json_string(key)) == 0 ? TARN_OK : tarn_fail_oom(err);
}

tarn_code tarn_hive_keys(const char *path, char **out, struct tarn_err *err)
{
    json_auto_t *keys = json_array();

    if (!keys)
        return tarn_fail_oom(err);
    tarn_code code = each_part(path, add_key, keys, err);
    char *text = code == TARN_OK ? tarn_json_text(keys) : NULL;
    if (code == TARN_OK && !text)
        return tarn_fail_oom(err);
    if (code == TARN_OK)
        *out = text;
    return code;
}
