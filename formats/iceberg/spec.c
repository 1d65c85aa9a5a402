/* spec.c - partition specs: bound to a schema, compared, checked. Source: Iceberg table specification, "Partitioning". */
#include "formats/iceberg/parts.h"
#include "formats/iceberg/value.h"
#include <string.h>

static const json_t *fields_of(const json_t *spec) { return json_object_get(spec, "fields"); }

static const char *text_of(const json_t *field, const char *key)
{
    const char *text = json_string_value(json_object_get(field, key));
    return text ? text : "";
}

static int64_t number_of(const json_t *field, const char *key) { return json_integer_value(json_object_get(field, key)); }

/* "1000: ts_day: day(2)", as the reference prints a field. */
static void print(const json_t *field, char out[200])
{
    snprintf(out, 200, "%lld: %.80s: %.40s(%lld)", (long long)number_of(field, "field-id"), text_of(field, "name"),
             text_of(field, "transform"), (long long)number_of(field, "source-id"));
}

bool tarn_iceberg_spec_compatible(const json_t *a, const json_t *b)
{
    const json_t *left = fields_of(a), *right = fields_of(b);

    if (json_array_size(left) != json_array_size(right))
        return false;
    for (size_t i = 0; i < json_array_size(left); i++) {
        const json_t *one = json_array_get(left, i), *other = json_array_get(right, i);
        if (number_of(one, "source-id") != number_of(other, "source-id") ||
            strcmp(text_of(one, "transform"), text_of(other, "transform")) != 0 ||
            strcmp(text_of(one, "name"), text_of(other, "name")) != 0)
            return false;
    }
    return true;
}

static tarn_code check_source(const json_t *field, const json_t *schema, struct tarn_err *err)
{
    const json_t *source = tarn_iceberg_field_of(schema, number_of(field, "source-id"), NULL);
    const char *type = json_string_value(json_object_get(source, "type")), *transform = text_of(field, "transform");
    char shown[200];

    if (strcmp(transform, "void") == 0)
        return TARN_OK;
    print(field, shown);
    if (!source)
        return tarn_fail_field(err, "spec", "Cannot find source column for partition field: %s", shown);
    if (!type)
        return tarn_fail_field(err, "spec", "Cannot partition by non-primitive source field: %.100s",
                               text_of(source, "name"));
    if (!tarn_iceberg_transform_fits(transform, type))
        return tarn_fail_field(err, "spec", "Invalid source type %.40s for transform: %.40s", type, transform);
    return TARN_OK;
}

tarn_code tarn_iceberg_spec_check(const json_t *doc, const json_t *schema, struct tarn_err *err)
{
    tarn_code code = TARN_OK;
    size_t i;
    json_t *field;

    json_array_foreach((json_t *)(uintptr_t)fields_of(doc), i, field)
        if (code == TARN_OK)
            code = check_source(field, schema, err);
    return code;
}

/* --- binding --- */

static tarn_code check_members(const json_t *field, struct tarn_err *err)
{
    int64_t source = 0;
    const char *name = NULL, *transform = NULL;
    tarn_code code = tarn_iceberg_need_i64(field, "source-id", &source, err);

    if (code == TARN_OK)
        code = tarn_iceberg_need_str(field, "name", &name, err);
    if (code == TARN_OK)
        code = tarn_iceberg_need_str(field, "transform", &transform, err);
    if (code == TARN_OK && *name == '\0')
        code = tarn_fail_field(err, "spec", "Cannot use empty or null partition name");
    return code;
}

static tarn_code check_new(const json_t *field, struct tarn_err *err)
{
    tarn_code code = check_members(field, err);

    if (code == TARN_OK && !tarn_iceberg_transform_valid(text_of(field, "transform")))
        code = tarn_fail_field(err, "spec", "Invalid transform: %.100s", text_of(field, "transform"));
    return code == TARN_OK ? tarn_iceberg_check_id("field-id", number_of(field, "field-id"), err) : code;
}

/* A partition may bear a column's name only when it is that column, or was (void). */
static tarn_code check_name(const json_t *field, const json_t *schema, struct tarn_err *err)
{
    int64_t column = tarn_iceberg_field_id_of(schema, text_of(field, "name"));
    bool is_column = strcmp(text_of(field, "transform"), "identity") == 0 || strcmp(text_of(field, "transform"), "void") == 0;

    if (column == TARN_ICEBERG_NONE || (is_column && column == number_of(field, "source-id")))
        return TARN_OK;
    return tarn_fail_field(err, "spec", "Cannot create partition from name that exists in schema: %.100s",
                           text_of(field, "name"));
}

static tarn_code check_names(const json_t *one, const json_t *other, struct tarn_err *err)
{
    if (strcmp(text_of(one, "name"), text_of(other, "name")) == 0)
        return tarn_fail_field(err, "spec", "Cannot use partition name more than once: %.100s", text_of(one, "name"));
    return TARN_OK;
}

static tarn_code check_pair(const json_t *one, const json_t *other, struct tarn_err *err)
{
    TARN_TRY(check_names(one, other, err));
    if (number_of(one, "source-id") == number_of(other, "source-id") && strcmp(text_of(one, "transform"), "void") != 0 &&
        strcmp(text_of(one, "transform"), text_of(other, "transform")) == 0)
        return tarn_fail_field(err, "spec", "Cannot add redundant partition field: %.100s", text_of(other, "name"));
    return TARN_OK;
}

static tarn_code check_fields(const json_t *fields, const json_t *schema, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < json_array_size(fields) && code == TARN_OK; i++) {
        code = check_new(json_array_get(fields, i), err);
        if (code == TARN_OK)
            code = check_name(json_array_get(fields, i), schema, err);
        for (size_t j = 0; j < i && code == TARN_OK; j++)
            code = check_pair(json_array_get(fields, j), json_array_get(fields, i), err);
    }
    return code;
}

/* The id of an equal field in any spec of the table; TARN_ICEBERG_NONE. */
static int64_t known_id(const struct tarn_iceberg_meta *meta, const json_t *field)
{
    for (size_t i = 0; i < meta->specs.count; i++) {
        const json_t *fields = fields_of(meta->specs.items[i].doc);
        for (size_t j = 0; j < json_array_size(fields); j++) {
            const json_t *other = json_array_get(fields, j);
            if (number_of(other, "source-id") == number_of(field, "source-id") &&
                strcmp(text_of(other, "transform"), text_of(field, "transform")) == 0)
                return number_of(other, "field-id");
        }
    }
    return TARN_ICEBERG_NONE;
}

static size_t given_ids(const json_t *fields)
{
    size_t given = 0;

    for (size_t i = 0; i < json_array_size(fields); i++)
        given += json_is_integer(json_object_get(json_array_get(fields, i), "field-id")) ? 1 : 0;
    return given;
}

static bool has_id(const json_t *fields, int64_t id)
{
    for (size_t i = 0; i < json_array_size(fields); i++)
        if (number_of(json_array_get(fields, i), "field-id") == id)
            return true;
    return false;
}

/* A partition's value is known by its field's id alone. */
static tarn_code check_new_id(const json_t *before, const json_t *field, int64_t id, struct tarn_err *err)
{
    return !has_id(before, id) ? TARN_OK
                               : tarn_fail_field(err, "spec", "Cannot use field id more than once in one partition spec: %lld: %.100s",
                                                 (long long)id, text_of(field, "name"));
}

tarn_code tarn_iceberg_spec_form(const json_t *doc, struct tarn_err *err)
{
    json_auto_t *before = json_array();
    size_t i;
    json_t *field;

    json_array_foreach((json_t *)(uintptr_t)fields_of(doc), i, field) {
        TARN_TRY(check_members(field, err));
        TARN_TRY(check_new_id(before, field, number_of(field, "field-id"), err));
        for (size_t j = 0; j < i; j++)
            TARN_TRY(check_names(json_array_get(before, j), field, err));
        if (json_array_append(before, field) != 0)
            return tarn_fail_oom(err);
    }
    return TARN_OK;
}

static tarn_code number_fields(const struct tarn_iceberg_meta *meta, const json_t *fields, int64_t *last_id,
                               json_t **out, struct tarn_err *err)
{
    size_t count = json_array_size(fields), given = given_ids(fields);

    if (given > 0 && given < count)
        return tarn_fail_field(err, "spec", "Cannot parse spec with missing field IDs: %zu missing of %zu fields",
                               count - given, count);
    *out = json_array();
    for (size_t i = 0; i < count && *out; i++) {
        const json_t *field = json_array_get(fields, i);
        int64_t id = given > 0 ? number_of(field, "field-id") : known_id(meta, field);
        if (given > 0)
            TARN_TRY(check_new_id(*out, field, id, err));
        else if (id == TARN_ICEBERG_NONE || has_id(*out, id))
            id = *last_id + 1;
        if (id > *last_id)
            *last_id = id;
        if (json_array_append_new(*out, tarn_iceberg_with_i64(field, "field-id", id)) != 0) {
            json_decref(*out);
            *out = NULL;
        }
    }
    return *out ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code check_sequential(const struct tarn_iceberg_meta *meta, const json_t *fields, struct tarn_err *err)
{
    for (size_t i = 0; i < json_array_size(fields) && meta->format_version == 1; i++)
        if (number_of(json_array_get(fields, i), "field-id") != TARN_ICEBERG_PARTITION_ID_FIRST + (int64_t)i)
            return tarn_fail_field(err, "spec", "Spec does not use sequential IDs that are required in v1");
    return TARN_OK;
}

tarn_code tarn_iceberg_spec_bind(const json_t *doc, const struct tarn_iceberg_meta *meta, const json_t *schema,
                                 int64_t *last_id, json_t **out, struct tarn_err *err)
{
    const json_t *fields = NULL;
    json_t *numbered = NULL, *bound = NULL;
    tarn_code code = tarn_iceberg_need_array(doc, "fields", &fields, err);

    if (code == TARN_OK)
        code = check_fields(fields, schema, err);
    if (code == TARN_OK)
        code = number_fields(meta, fields, last_id, &numbered, err);
    if (code == TARN_OK)
        code = check_sequential(meta, numbered, err);
    if (code == TARN_OK && !(bound = json_pack("{s:i, s:O}", "spec-id", 0, "fields", numbered)))
        code = tarn_fail_oom(err);
    if (code == TARN_OK)
        code = tarn_iceberg_spec_check(bound, schema, err);
    json_decref(numbered);
    if (code != TARN_OK) {
        json_decref(bound);
        return code;
    }
    *out = bound;
    return TARN_OK;
}
