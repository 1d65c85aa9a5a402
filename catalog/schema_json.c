/* schema_json.c - a schema out as JSON, in the form of schema.json. Nested types take Spark's form,
 * which Delta tables use too: an object with elementType and containsNull. */
#include "catalog/schema.h"
#include <string.h>

static json_t *type_json(const struct tarn_type *type);

/* A member set from a fresh value; false (and the value gone) when memory ran out. */
static bool put(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) == 0;
}

static json_t *column_json(const struct tarn_column *column)
{
    json_auto_t *object = json_object();
    bool ok = object != NULL && put(object, "name", json_string(column->name)) &&
              put(object, "type", type_json(&column->type)) &&
              put(object, "nullable", json_boolean(column->nullable));

    if (ok && column->default_value)
        ok = json_object_set(object, "default", column->default_value) == 0;
    if (ok && column->more)
        ok = json_object_update_missing(object, column->more) == 0;
    return ok ? json_incref(object) : NULL;
}

static json_t *struct_json(const struct tarn_type *type)
{
    json_auto_t *object = json_object();
    json_t *fields = json_array();

    if (!object || !put(object, "type", json_string("struct")) || !put(object, "fields", fields))
        return NULL;
    for (size_t i = 0; i < type->field_count; i++) {
        if (json_array_append_new(fields, column_json(&type->fields[i])) != 0)
            return NULL;
    }
    return json_incref(object);
}

static json_t *list_json(const struct tarn_type *type)
{
    const struct tarn_column *element = &type->fields[0];

    return json_pack("{s:s, s:o, s:b}", "type", "array", "elementType", type_json(&element->type),
                     "containsNull", element->nullable);
}

static json_t *map_json(const struct tarn_type *type)
{
    const struct tarn_column *key = &type->fields[0], *value = &type->fields[1];

    return json_pack("{s:s, s:o, s:o, s:b}", "type", "map", "keyType", type_json(&key->type), "valueType",
                     type_json(&value->type), "valueContainsNull", value->nullable);
}

static json_t *leaf_json(const struct tarn_type *type)
{
    struct tarn_type plain = *type;
    char text[64];

    /* A registered timestamp in milliseconds would ask every later file for milliseconds. */
    if (plain.kind == TARN_T_TIMESTAMP && plain.zone != TARN_ZONE_UNKNOWN && plain.unit == TARN_UNIT_MILLIS)
        plain.any_unit = true;
    tarn_type_format(&plain, text, sizeof text);
    return json_string(text);
}

static json_t *type_json(const struct tarn_type *type)
{
    switch (type->kind) {
    case TARN_T_STRUCT: return struct_json(type);
    case TARN_T_LIST: return list_json(type);
    case TARN_T_MAP: return map_json(type);
    default: return leaf_json(type);
    }
}

json_t *tarn_schema_to_json(const struct tarn_schema *schema)
{
    json_auto_t *object = struct_json(&schema->root);

    if (!object || (schema->more && json_object_update_missing(object, schema->more) != 0))
        return NULL;
    return json_incref(object);
}
