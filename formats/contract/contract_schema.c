/* contract_schema.c - an element of `schema` as the struct of a table: columns by their physical names, `required` as
 * not nullable, `partitioned` as the keys. */
#include "catalog/schema.h"
#include "formats/contract/reading.h"
#include <string.h>

#define KEYS_MAX 100

const char *const tarn_contract_property_keys[] = {
    "id", "name", "physicalType", "physicalName", "description", "businessName", "deprecated", "synonyms",
    "authoritativeDefinitions", "tags", "customProperties", "primaryKey", "primaryKeyPosition", "logicalType",
    "logicalTypeOptions", "required", "unique", "semanticType", "partitioned", "partitionKeyPosition", "classification",
    "encryptedName", "transformSourceObjects", "transformLogic", "transformDescription", "examples", "enum",
    "criticalDataElement", "relationships", "quality", "properties", "items", "map", NULL
};

/* A property that is a column. */
struct column {
    const char *name;
    bool is_required, is_key;
    json_int_t position; /* of the key, below 1: not told */
    bool is_measure;     /* computed, in no file */
};

static tarn_code read_column(struct tarn_contract_at *at, const json_t *property, struct column *out,
                             struct tarn_err *err)
{
    const char *name = NULL, *physical = NULL, *semantic = NULL;
    tarn_code code = tarn_at_keys(at, property, tarn_contract_property_keys, err);

    *out = (struct column){ .position = -1 };
    if (code == TARN_OK)
        code = tarn_at_text(at, property, "name", &name, err);
    if (code == TARN_OK)
        code = tarn_at_text(at, property, "physicalName", &physical, err);
    if (code == TARN_OK)
        code = tarn_at_text(at, property, "semanticType", &semantic, err);
    if (code == TARN_OK)
        code = tarn_at_bool(at, property, "required", &out->is_required, err);
    if (code == TARN_OK)
        code = tarn_at_bool(at, property, "partitioned", &out->is_key, err);
    if (code == TARN_OK)
        code = tarn_at_integer(at, property, "partitionKeyPosition", &out->position, err);
    if (code == TARN_OK && !name)
        return tarn_at_fail(at, "name", err, "is missing");
    out->name = physical ? physical : name;
    out->is_measure = semantic && strcmp(semantic, "measure") == 0;
    return code;
}

static tarn_code note_quality(struct tarn_contract_at *at, const json_t *holder, struct tarn_err *err)
{
    const json_t *rules = NULL;
    tarn_code code = tarn_at_list(at, holder, "quality", &rules, err);

    if (code != TARN_OK || json_array_size(rules) == 0)
        return code;
    return tarn_at_remark(at, "quality", err, "rules of quality are not evaluated");
}

/* The contract's own word stays with the column: `number` may be any of the numeric types in files. */
static json_t *column_json(const struct column *column, const json_t *property, json_t *type)
{
    const char *logical = json_string_value(json_object_get(property, "logicalType"));
    bool is_open = logical && strcmp(logical, "number") == 0 && json_is_string(type) &&
                   strcmp(json_string_value(type), "double") == 0 && !json_object_get(property, "logicalTypeOptions");
    json_t *out = json_pack("{s:s,s:o,s:b}", "name", column->name, "type", type, "nullable", !column->is_required);

    if (out && is_open && json_object_set_new(out, "logicalType", json_string("number")) != 0) {
        json_decref(out);
        return NULL;
    }
    return out;
}

static tarn_code add_column(struct tarn_contract_at *at, const json_t *property, const struct column *column,
                            json_t *fields, struct tarn_err *err)
{
    json_t *type = NULL;
    tarn_code code = note_quality(at, property, err);

    if (code == TARN_OK)
        code = tarn_contract_type(at, property, &type, err);
    if (code != TARN_OK)
        return code;
    return json_array_append_new(fields, column_json(column, property, type)) == 0 ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code note_key(struct tarn_contract_at *at, const struct column *column, json_t *keys, struct tarn_err *err)
{
    if (!keys || !column->is_key)
        return TARN_OK;
    if (json_array_size(keys) >= KEYS_MAX)
        return tarn_at_fail(at, "partitioned", err, "a table has at most %d partition keys", KEYS_MAX);
    json_t *key = json_pack("[s,I]", column->name, column->position < 1 ? INT64_C(1) << 40 : column->position);
    return json_array_append_new(keys, key) == 0 ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code take_property(struct tarn_contract_at *at, const json_t *property, json_t *seen, json_t *fields,
                               json_t *keys, struct tarn_err *err)
{
    struct column column;
    tarn_code code = read_column(at, property, &column, err);

    if (code != TARN_OK)
        return code;
    if (json_object_get(seen, column.name))
        return tarn_at_fail(at, "name", err, "'%.100s' is there twice", column.name);
    if (json_object_set_new(seen, column.name, json_true()) != 0)
        return tarn_fail_oom(err);
    if (column.is_measure)
        return tarn_at_remark(at, "", err, "a measure is no column");
    code = add_column(at, property, &column, fields, err);
    return code == TARN_OK ? note_key(at, &column, keys, err) : code;
}

tarn_code tarn_contract_struct(struct tarn_contract_at *at, const json_t *properties, json_t *keys, json_t **out,
                               struct tarn_err *err)
{
    json_auto_t *fields = json_array(), *seen = json_object();

    for (size_t i = 0; i < json_array_size(properties); i++) {
        size_t before = tarn_at_enter(at, NULL, i);
        tarn_code code = take_property(at, json_array_get(properties, i), seen, fields, keys, err);
        tarn_at_leave(at, before);
        if (code != TARN_OK)
            return code;
    }
    *out = json_pack("{s:s,s:O}", "type", "struct", "fields", fields);
    return *out ? TARN_OK : tarn_fail_oom(err);
}

/* --- partition keys: [name, position] in the order of the properties to names by position --- */

static json_int_t position_of(const json_t *key) { return json_integer_value(json_array_get(key, 1)); }

static tarn_code order_keys(struct tarn_contract_at *at, const json_t *keys, struct tarn_err *err)
{
    const json_t *order[KEYS_MAX];
    size_t count = json_array_size(keys);

    for (size_t i = 0; i < count; i++) {
        const json_t *key = json_array_get(keys, i);
        size_t k = i;
        for (; k > 0 && position_of(order[k - 1]) > position_of(key); k--)
            order[k] = order[k - 1];
        order[k] = key;
    }
    at->out->partition_keys = count > 0 ? json_array() : NULL;
    for (size_t i = 0; i < count; i++)
        if (json_array_append(at->out->partition_keys, json_array_get(order[i], 0)) != 0)
            return tarn_fail_oom(err);
    return TARN_OK;
}

/* --- the element --- */

/* The types in the spellings that schema.json has. */
static tarn_code settle_schema(struct tarn_contract_at *at, struct tarn_err *err)
{
    TARN_AUTO(schema) struct tarn_schema *schema = NULL;
    TARN_ERR(fault);

    if (tarn_schema_parse(at->out->schema, "", &schema, &fault) != TARN_OK)
        return tarn_at_fail(at, "properties", err, "make no schema: %s: %s", fault.field, fault.detail);
    json_decref(at->out->schema);
    at->out->schema = tarn_schema_to_json(schema);
    return at->out->schema ? TARN_OK : tarn_fail_oom(err);
}

tarn_code tarn_contract_schema(struct tarn_contract_at *at, const json_t *element, struct tarn_err *err)
{
    static const char *const k_keys[] = {
        "id", "name", "physicalType", "physicalName", "description", "businessName", "deprecated", "synonyms",
        "authoritativeDefinitions", "tags", "customProperties", "logicalType", "dataGranularityDescription", "properties",
        "relationships", "quality", "context", NULL
    };
    json_auto_t *keys = json_array();
    const json_t *properties = NULL;
    tarn_code code = tarn_at_keys(at, element, k_keys, err);

    if (code == TARN_OK)
        code = note_quality(at, element, err);
    if (code == TARN_OK)
        code = tarn_at_list(at, element, "properties", &properties, err);
    if (code != TARN_OK)
        return code;
    if (json_array_size(properties) == 0)
        return tarn_at_remark(at, "", err, "has no properties: no schema is taken");
    size_t before = tarn_at_enter(at, "properties", 0);
    code = tarn_contract_struct(at, properties, keys, &at->out->schema, err);
    tarn_at_leave(at, before);
    if (code == TARN_OK)
        code = settle_schema(at, err);
    return code == TARN_OK ? order_keys(at, keys, err) : code;
}
