/* register_request.c - the request of a registration judged by itself: schema, keys, properties. */
#include "catalog/schema.h"
#include "lake/publish.h"
#include "lake/register.h"
#include <stdio.h>
#include <string.h>

static bool is_switch(const json_t *value)
{
    const char *text = json_string_value(value);

    return json_is_boolean(value) || (text && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0));
}

tarn_code tarn_properties_check(const json_t *properties, struct tarn_err *err)
{
    const char *key;
    json_t *value;

    json_object_foreach ((json_t *)properties, key, value) {
        if (key[0] == '\0' || strlen(key) > 255)
            return tarn_fail_field(err, "properties", "a name has 1 to 255 bytes");
        if (json_is_object(value) || json_is_array(value) || json_is_null(value)) {
            tarn_fail_field(err, key, "must be a string, a number, true or false");
            return tarn_err_prefix(err, "properties");
        }
    }
    value = json_object_get(properties, TARN_PROPERTY_LINKS);
    if (value && !is_switch(value))
        return tarn_fail_field(err, "properties." TARN_PROPERTY_LINKS, "must be true or false");
    return TARN_OK;
}

static tarn_code judge_keys(const json_t *keys, struct tarn_err *err)
{
    char field[64];

    for (size_t i = 0; i < json_array_size(keys); i++) {
        const json_t *key = json_array_get(keys, i);
        snprintf(field, sizeof field, "partition_keys[%zu]", i);
        if (!json_is_string(key))
            return tarn_fail_field(err, field, "must be a string");
        tarn_code code = tarn_name_check(json_string_value(key), field, err);
        if (code != TARN_OK)
            return code;
        for (size_t j = 0; j < i; j++)
            if (json_equal(key, json_array_get(keys, j)))
                return tarn_fail_field(err, field, "is named twice");
    }
    return TARN_OK;
}

tarn_code tarn_register_judge(const struct tarn_register_use *use, struct tarn_err *err)
{
    TARN_AUTO(schema) struct tarn_schema *schema = NULL;
    tarn_code code = TARN_OK;

    if (use->schema)
        code = tarn_schema_parse(use->schema, "schema", &schema, err);
    if (code == TARN_OK)
        code = judge_keys(use->partition_keys, err);
    if (code == TARN_OK)
        code = tarn_properties_check(use->properties, err);
    return code;
}

tarn_code tarn_register_observed_only(enum tarn_format format, struct tarn_err *err)
{
    if (format == TARN_FORMAT_ICEBERG)
        return tarn_fail_field(err, "mode", "an Iceberg table is managed once it is registered at /iceberg (register_table)");
    return tarn_fail_field(err, "mode", "a %s table can be observed only", tarn_format_text(format));
}
