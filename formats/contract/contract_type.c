/* contract_type.c - the type of a property. physicalType decides where it is a spelling that is known, since files hold
 * what is physical; else logicalType with its options. */
#include "catalog/schema.h"
#include "formats/contract/reading.h"
#include <string.h>

#define DEPTH_MAX 30

/* --- spellings --- */

static bool is_spelling(const char *text)
{
    json_auto_t *schema = json_pack("{s:s,s:[{s:s,s:s}]}", "type", "struct", "fields", "name", "x", "type", text);
    TARN_AUTO(schema) struct tarn_schema *parsed = NULL;

    return schema && tarn_schema_parse(schema, "schema", &parsed, NULL) == TARN_OK;
}

/* Words that say only that there is something inside, or a decimal without its digits. */
static bool says_nothing(const char *physical)
{
    static const char *const k_words[] = { "object", "struct",  "record",  "row",    "array",     "list",
                                           "map",    "decimal", "numeric", "number", "collection" };

    for (size_t i = 0; i < TARN_COUNT(k_words); i++)
        if (tarn_at_same(physical, k_words[i]))
            return true;
    return false;
}

/* --- logical types --- */

struct logical {
    const json_t *property, *options; /* options: NULL: none */
    const char *word;                 /* logicalType, NULL: none */
    const char *format;               /* of the options, NULL: none */
};
struct format_row {
    const char *format, *type;
};

static const char *by_format(const struct format_row *rows, const char *format, const char *otherwise)
{
    for (; format && rows->format; rows++)
        if (tarn_at_same(rows->format, format))
            return rows->type;
    return otherwise;
}

static const char *integer_type(const struct logical *l)
{
    static const struct format_row k_rows[] = {
        { "i8", "int32" },  { "i16", "int32" },   { "i32", "int32" }, { "i64", "int64" }, { "i128", "decimal(38,0)" },
        { "u8", "int32" },  { "u16", "int32" },   { "u32", "int64" }, { "u64", "uint64" }, { "u128", "decimal(38,0)" },
        { NULL, NULL }
    };
    return by_format(k_rows, l->format, "int64");
}

static const char *number_type(const struct logical *l)
{
    static const struct format_row k_rows[] = { { "f16", "float16" }, { "f32", "float" }, { "f64", "double" }, { NULL, NULL } };

    return by_format(k_rows, l->format, "double");
}

/* Until version 3.1 a date could have a time of day: its format says so. */
static const char *date_type(const struct logical *l)
{
    return l->format && strpbrk(l->format, "Hhk") ? "timestamp" : "date";
}

static const char *timestamp_type(const struct logical *l)
{
    return json_is_false(json_object_get(l->options, "timezone")) ? "timestamp_ntz" : "timestamp";
}

/* --- types with something inside --- */

typedef tarn_code nested_fn(struct tarn_contract_at *at, const struct logical *l, json_t **out, struct tarn_err *err);

static tarn_code any_type(struct tarn_contract_at *at, const char *why, json_t **out, struct tarn_err *err)
{
    *out = json_string("unknown");
    return *out ? tarn_at_remark(at, "", err, "%s: files may have any type there", why) : tarn_fail_oom(err);
}

static tarn_code object_type(struct tarn_contract_at *at, const struct logical *l, json_t **out, struct tarn_err *err)
{
    const json_t *properties = NULL;
    tarn_code code = tarn_at_list(at, l->property, "properties", &properties, err);

    if (code != TARN_OK)
        return code;
    if (json_array_size(properties) == 0)
        return any_type(at, "an object without properties", out, err);
    size_t before = tarn_at_enter(at, "properties", 0);
    code = tarn_contract_struct(at, properties, NULL, out, err);
    tarn_at_leave(at, before);
    return code;
}

/* The type of a member such as `items`, and whether it may be null. */
static tarn_code inner_type(struct tarn_contract_at *at, const json_t *holder, const char *key, json_t **out,
                            bool *is_required, struct tarn_err *err)
{
    const json_t *inner = NULL;
    tarn_code code = tarn_at_object(at, holder, key, &inner, err);

    if (code != TARN_OK || !inner)
        return code;
    size_t before = tarn_at_enter(at, key, 0);
    *is_required = false;
    code = tarn_at_keys(at, inner, tarn_contract_property_keys, err);
    if (code == TARN_OK)
        code = tarn_at_bool(at, inner, "required", is_required, err);
    if (code == TARN_OK)
        code = tarn_contract_type(at, inner, out, err);
    tarn_at_leave(at, before);
    return code;
}

static tarn_code array_type(struct tarn_contract_at *at, const struct logical *l, json_t **out, struct tarn_err *err)
{
    json_t *element = NULL;
    bool is_required = false;
    tarn_code code = inner_type(at, l->property, "items", &element, &is_required, err);

    if (code != TARN_OK)
        return code;
    if (!element)
        return any_type(at, "an array without items", out, err);
    *out = json_pack("{s:s,s:o,s:b}", "type", "array", "elementType", element, "containsNull", !is_required);
    return *out ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code map_members(struct tarn_contract_at *at, const json_t *map, json_t **out, struct tarn_err *err)
{
    json_t *key = NULL, *value = NULL;
    bool key_required = false, value_required = false;
    tarn_code code = inner_type(at, map, "key", &key, &key_required, err);

    if (code == TARN_OK)
        code = inner_type(at, map, "value", &value, &value_required, err);
    if (code == TARN_OK && (!key || !value))
        code = tarn_at_fail(at, key ? "value" : "key", err, "is missing");
    if (code != TARN_OK) {
        json_decref(key);
        json_decref(value);
        return code;
    }
    *out = json_pack("{s:s,s:o,s:o,s:b}", "type", "map", "keyType", key, "valueType", value, "valueContainsNull",
                     !value_required);
    return *out ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code map_type(struct tarn_contract_at *at, const struct logical *l, json_t **out, struct tarn_err *err)
{
    static const char *const k_keys[] = { "key", "value", NULL };
    const json_t *map = NULL;
    tarn_code code = tarn_at_object(at, l->property, "map", &map, err);

    if (code != TARN_OK)
        return code;
    if (!map)
        return any_type(at, "a map without key and value", out, err);
    size_t before = tarn_at_enter(at, "map", 0);
    code = tarn_at_keys(at, map, k_keys, err);
    if (code == TARN_OK)
        code = map_members(at, map, out, err);
    tarn_at_leave(at, before);
    return code;
}

/* --- the choice --- */

static const struct logical_row {
    const char *word;
    const char *type;                          /* always this one, or */
    const char *(*choose)(const struct logical *l); /* by the options, or */
    nested_fn *nested;
    const char *inside;                        /* the member that says what is inside */
} k_logical[] = {
    { "string", "string", NULL, NULL, NULL },
    { "boolean", "boolean", NULL, NULL, NULL },
    { "time", "time", NULL, NULL, NULL },
    { "integer", NULL, integer_type, NULL, NULL },
    { "number", NULL, number_type, NULL, NULL },
    { "date", NULL, date_type, NULL, NULL },
    { "timestamp", NULL, timestamp_type, NULL, NULL },
    { "object", NULL, NULL, object_type, "properties" },
    { "array", NULL, NULL, array_type, "items" },
    { "map", NULL, NULL, map_type, "map" },
    { "vector", "list<float>", NULL, NULL, NULL },
};

static const struct logical_row *row_of(const char *word)
{
    for (size_t i = 0; word && i < TARN_COUNT(k_logical); i++)
        if (strcmp(word, k_logical[i].word) == 0)
            return &k_logical[i];
    return NULL;
}

static tarn_code by_logical(struct tarn_contract_at *at, const struct logical *l, const struct logical_row *row,
                            json_t **out, struct tarn_err *err)
{
    if (row->nested)
        return row->nested(at, l, out, err);
    *out = json_string(row->choose ? row->choose(l) : row->type);
    return *out ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code read_logical(struct tarn_contract_at *at, const json_t *property, struct logical *l,
                              struct tarn_err *err)
{
    *l = (struct logical){ .property = property };
    tarn_code code = tarn_at_text(at, property, "logicalType", &l->word, err);
    if (code == TARN_OK)
        code = tarn_at_object(at, property, "logicalTypeOptions", &l->options, err);
    if (code != TARN_OK || !l->options)
        return code;
    size_t before = tarn_at_enter(at, "logicalTypeOptions", 0);
    code = tarn_at_text(at, l->options, "format", &l->format, err);
    tarn_at_leave(at, before);
    return code;
}

static tarn_code choose_type(struct tarn_contract_at *at, const struct logical *l, const char *physical, json_t **out,
                             struct tarn_err *err)
{
    const struct logical_row *row = row_of(l->word);
    bool has_inside = row && row->inside && json_object_get(l->property, row->inside);

    if (physical && !has_inside && !says_nothing(physical) && is_spelling(physical)) {
        *out = json_string(physical);
        return *out ? TARN_OK : tarn_fail_oom(err);
    }
    if (l->word && !row && !is_spelling(l->word))
        return tarn_at_fail(at, "logicalType", err, "'%.60s' is no type of the standard", l->word);
    if (physical && !has_inside && !says_nothing(physical)) {
        tarn_code code = tarn_at_remark(at, "physicalType", err, "'%.60s' is no type known here: logicalType decides",
                                        physical);
        if (code != TARN_OK)
            return code;
    }
    if (!l->word)
        return any_type(at, "no type that is known here", out, err);
    if (row)
        return by_logical(at, l, row, out, err);
    *out = json_string(l->word);
    return *out ? TARN_OK : tarn_fail_oom(err);
}

tarn_code tarn_contract_type(struct tarn_contract_at *at, const json_t *property, json_t **out, struct tarn_err *err)
{
    const char *physical = NULL;
    struct logical l;
    tarn_code code = tarn_at_text(at, property, "physicalType", &physical, err);

    if (code == TARN_OK)
        code = read_logical(at, property, &l, err);
    if (code == TARN_OK && at->depth >= DEPTH_MAX)
        code = tarn_at_fail(at, "", err, "types nest at most %d levels", DEPTH_MAX);
    if (code != TARN_OK)
        return code;
    at->depth++;
    code = choose_type(at, &l, physical, out, err);
    at->depth--;
    return code;
}
