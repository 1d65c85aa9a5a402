/* order.c - sort orders: bound to a schema, compared, checked. Source: Iceberg table specification, "Sorting". */
#include "formats/iceberg/parts.h"
#include "formats/iceberg/value.h"
#include <string.h>
#include <strings.h>

static tarn_code check_form(const json_t *field, struct tarn_err *err)
{
    int64_t source = 0;
    const char *transform = NULL, *direction = NULL, *nulls = NULL;
    tarn_code code = tarn_iceberg_need_i64(field, "source-id", &source, err);

    if (code == TARN_OK)
        code = tarn_iceberg_need_str(field, "transform", &transform, err);
    if (code == TARN_OK)
        code = tarn_iceberg_need_str(field, "direction", &direction, err);
    if (code == TARN_OK)
        code = tarn_iceberg_need_str(field, "null-order", &nulls, err);
    if (code != TARN_OK)
        return code;
    if (strcasecmp(direction, "asc") != 0 && strcasecmp(direction, "desc") != 0)
        return tarn_fail_field(err, "sort-order", "Invalid sort direction: %.100s", direction);
    if (strcasecmp(nulls, "nulls-first") != 0 && strcasecmp(nulls, "nulls-last") != 0)
        return tarn_fail_field(err, "sort-order", "Invalid null order: %.100s", nulls);
    return TARN_OK;
}

static const char *text_of(const json_t *field, const char *key) { return json_string_value(json_object_get(field, key)); }

static tarn_code check_field(const json_t *field, const json_t *schema, struct tarn_err *err)
{
    tarn_code code = check_form(field, err);

    if (code != TARN_OK)
        return code;
    int64_t source = json_integer_value(json_object_get(field, "source-id"));
    const json_t *column = tarn_iceberg_field_of(schema, source, NULL);
    const char *type = text_of(column, "type"), *transform = text_of(field, "transform");
    if (!column)
        return tarn_fail_field(err, "sort-order", "Cannot find source column for sort field: %.40s(%lld) %s %s",
                               transform, (long long)source, text_of(field, "direction"), text_of(field, "null-order"));
    if (!type)
        return tarn_fail_field(err, "sort-order", "Cannot sort by non-primitive source field: %.100s",
                               text_of(column, "name"));
    if (!tarn_iceberg_transform_valid(transform) || !tarn_iceberg_transform_fits(transform, type))
        return tarn_fail_field(err, "sort-order", "Invalid source type %.40s for transform: %.40s", type, transform);
    return TARN_OK;
}

tarn_code tarn_iceberg_order_check(const json_t *doc, const json_t *schema, struct tarn_err *err)
{
    tarn_code code = TARN_OK;
    size_t i;
    json_t *field;

    json_array_foreach(json_object_get(doc, "fields"), i, field)
        if (code == TARN_OK)
            code = check_field(field, schema, err);
    return code;
}

static tarn_code check_id(const json_t *doc, const json_t **fields, struct tarn_err *err)
{
    int64_t id = -1;
    tarn_code code = tarn_iceberg_need_array(doc, "fields", fields, err);

    if (code == TARN_OK)
        code = tarn_iceberg_opt_i64(doc, "order-id", &id, err);
    if (code != TARN_OK)
        return code;
    bool is_sorted = json_array_size(*fields) > 0;
    if (id == 0 && is_sorted)
        return tarn_fail_field(err, "sort-order", "Sort order ID 0 is reserved for unsorted order");
    if (id > 0 && !is_sorted)
        return tarn_fail_field(err, "sort-order", "Unsorted order ID must be 0");
    return TARN_OK;
}

tarn_code tarn_iceberg_order_form(const json_t *doc, struct tarn_err *err)
{
    const json_t *fields = NULL;
    tarn_code code = check_id(doc, &fields, err);

    for (size_t i = 0; i < json_array_size(fields) && code == TARN_OK; i++)
        code = check_form(json_array_get(fields, i), err);
    return code;
}

tarn_code tarn_iceberg_order_bind(const json_t *doc, const json_t *schema, json_t **out, struct tarn_err *err)
{
    const json_t *fields = NULL;
    tarn_code code = check_id(doc, &fields, err);

    if (code == TARN_OK)
        code = tarn_iceberg_order_check(doc, schema, err);
    if (code != TARN_OK)
        return code;
    *out = json_pack("{s:i, s:O}", "order-id", json_array_size(fields) > 0 ? 1 : 0, "fields", fields);
    return *out ? TARN_OK : tarn_fail_oom(err);
}

bool tarn_iceberg_order_same(const json_t *a, const json_t *b)
{
    return json_equal(json_object_get(a, "fields"), json_object_get(b, "fields"));
}
