/* fresh.c - a schema numbered anew: a table that is created gives its own ids, whatever the client gave. The fields of a
 * struct come before what is nested in them, as the reference numbers them. */
#include "formats/iceberg/parts.h"
#include "formats/iceberg/value.h"
#include <string.h>

enum { DEPTH_MAX = 64 };
struct fresh { int64_t last; int depth; json_t *map; /* old id as text to the new one */ };

static json_t *fresh_type(struct fresh *fresh, const json_t *type);

static bool give(struct fresh *fresh, json_t *object, const char *key)
{
    char old[24];

    snprintf(old, sizeof old, "%lld", (long long)json_integer_value(json_object_get(object, key)));
    fresh->last++;
    return json_object_set_new(fresh->map, old, json_integer(fresh->last)) == 0 &&
           json_object_set_new(object, key, json_integer(fresh->last)) == 0;
}

/* Puts the type of `key`, numbered anew, in the place of the old one. */
static bool descend(struct fresh *fresh, json_t *object, const char *key)
{
    return json_object_set_new(object, key, fresh_type(fresh, json_object_get(object, key))) == 0;
}

static bool fresh_struct(struct fresh *fresh, json_t *type)
{
    json_t *fields = json_array(), *field;
    size_t i;
    bool ok = fields != NULL;

    json_array_foreach(json_object_get(type, "fields"), i, field) {
        json_t *copy = json_copy(field);
        ok = ok && copy && give(fresh, copy, "id");
        if (json_array_append_new(fields, copy) != 0)
            ok = false;
    }
    json_array_foreach(fields, i, field)
        ok = ok && descend(fresh, field, "type");
    return json_object_set_new(type, "fields", fields) == 0 && ok;
}

static bool fresh_parts(struct fresh *fresh, json_t *type, const char *kind)
{
    if (strcmp(kind, "struct") == 0)
        return fresh_struct(fresh, type);
    if (strcmp(kind, "list") == 0)
        return give(fresh, type, "element-id") && descend(fresh, type, "element");
    return give(fresh, type, "key-id") && give(fresh, type, "value-id") && descend(fresh, type, "key") &&
           descend(fresh, type, "value");
}

/* NULL: no memory (the schema was checked before). */
static json_t *fresh_type(struct fresh *fresh, const json_t *type)
{
    const char *kind = json_string_value(json_object_get(type, "type"));

    if (!kind)
        return tarn_iceberg_keep(type);
    json_t *copy = json_copy((json_t *)(uintptr_t)type);
    if (copy && ++fresh->depth <= DEPTH_MAX && fresh_parts(fresh, copy, kind)) {
        fresh->depth--;
        return copy;
    }
    json_decref(copy);
    return NULL;
}

/* identifier-field-ids name the same fields as before. */
static bool follow_identifiers(const struct fresh *fresh, json_t *schema)
{
    json_t *ids = json_object_get(schema, "identifier-field-ids"), *fresh_ids, *id;
    size_t i;
    char old[24];

    if (!json_is_array(ids))
        return true;
    fresh_ids = json_array();
    json_array_foreach(ids, i, id) {
        snprintf(old, sizeof old, "%lld", (long long)json_integer_value(id));
        if (json_array_append(fresh_ids, json_object_get(fresh->map, old)) != 0) {
            json_decref(fresh_ids);
            return false;
        }
    }
    return json_object_set_new(schema, "identifier-field-ids", fresh_ids) == 0;
}

tarn_code tarn_iceberg_schema_fresh(const json_t *doc, int64_t schema_id, json_t **out, int64_t *last_id, json_t **map,
                                    struct tarn_err *err)
{
    struct fresh fresh = { .map = json_object() };
    json_t *copy = tarn_iceberg_with_i64(doc, "schema-id", schema_id);
    bool ok = copy && fresh.map && json_object_set_new(copy, "type", json_string("struct")) == 0 &&
              fresh_struct(&fresh, copy) && follow_identifiers(&fresh, copy);

    if (!ok) {
        json_decref(copy);
        json_decref(fresh.map);
        return tarn_fail_oom(err);
    }
    *out = copy;
    *last_id = fresh.last;
    *map = fresh.map;
    return TARN_OK;
}
