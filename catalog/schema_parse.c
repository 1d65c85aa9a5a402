/* schema_parse.c - a schema from JSON. The form of schema.json, nested types in Spark's form
 * ({"type":"array","elementType":...}) or Iceberg's ({"type":"list","element":...}), or any spelling of
 * schema_type.c as a string. What Tarn does not know is kept beside what it does. */
#include "catalog/schema.h"
#include "catalog/schema_internal.h"
#include <string.h>

/* The way down: `depth` is the level of the columns of the struct at hand. */
struct parse {
    size_t depth;
    size_t columns; /* of the whole schema so far */
};

static tarn_code parse_type(struct parse *p, const json_t *value, const json_t *holder, struct tarn_type *out,
                            struct tarn_err *err);

static bool among(const char *key, const char *const *known, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(key, known[i]) == 0)
            return true;
    }
    return false;
}

/* The members of `object` that are not among `known`; *out stays NULL when there are none. */
static tarn_code keep_more(const json_t *object, const char *const *known, size_t count, json_t **out,
                           struct tarn_err *err)
{
    json_auto_t *more = NULL;
    const char *key;
    json_t *value;

    json_object_foreach ((json_t *)object, key, value) {
        if (among(key, known, count))
            continue;
        if (!more)
            more = json_object();
        if (!more || json_object_set(more, key, value) != 0)
            return tarn_fail_oom(err);
    }
    *out = json_incref(more);
    return TARN_OK;
}

/* "nullable", or Iceberg's "required" the other way round; nullable when neither is there. */
static tarn_code parse_nullable(const json_t *object, bool *out, struct tarn_err *err)
{
    const json_t *nullable = json_object_get(object, "nullable");
    const json_t *required = json_object_get(object, "required");

    if (nullable && !json_is_boolean(nullable))
        return tarn_fail_field(err, "nullable", "nullable is true or false");
    if (nullable)
        *out = json_is_true(nullable);
    else
        *out = !json_is_true(required);
    return TARN_OK;
}

static tarn_code parse_column_rest(const json_t *object, struct tarn_column *column, struct tarn_err *err)
{
    static const char *const k_known[] = { "name", "type", "nullable", "default" };
    json_t *value = json_object_get(object, "default");
    tarn_code code = parse_nullable(object, &column->nullable, err);

    if (code != TARN_OK)
        return code;
    if (value && !json_is_null(value))
        column->default_value = json_incref(value);
    return keep_more(object, k_known, TARN_COUNT(k_known), &column->more, err);
}

static tarn_code parse_column(struct parse *p, const json_t *object, struct tarn_type *into,
                              struct tarn_err *err)
{
    struct tarn_column *column = NULL;
    const json_t *name = json_object_get(object, "name");

    if (!json_is_object(object))
        return tarn_fail_field(err, "", "a column is an object with name and type");
    if (!json_is_string(name) || json_string_length(name) != strlen(json_string_value(name)))
        return tarn_fail_field(err, "name", "a column needs a name");
    tarn_code code =
        tarn_type_grow(into, json_string_value(name), json_string_length(name), &p->columns, &column, err);
    if (code != TARN_OK)
        return code;
    code = parse_type(p, json_object_get(object, "type"), object, &column->type, err);
    if (code != TARN_OK)
        return tarn_err_prefix(err, "type");
    return parse_column_rest(object, column, err);
}

static tarn_code parse_struct(struct parse *p, const json_t *object, struct tarn_type *out,
                              struct tarn_err *err)
{
    const json_t *fields = json_object_get(object, "fields");
    size_t i;
    json_t *value;

    out->kind = TARN_T_STRUCT;
    if (!json_is_array(fields))
        return tarn_fail_field(err, "fields", "a struct needs an array of fields");
    json_array_foreach (fields, i, value) {
        if (parse_column(p, value, out, err) != TARN_OK)
            return tarn_err_prefix(err, "fields[%zu]", i);
    }
    if (tarn_struct_check(out, err) != TARN_OK)
        return tarn_err_prefix(err, "fields");
    return TARN_OK;
}

/* One member of a list or map: its type under the first key of the two that is there. */
struct member {
    const char *name;          /* of the column it becomes */
    const char *spark, *iceberg;
    const char *contains_null; /* Spark: boolean, true when absent; NULL: never null */
    const char *required;      /* Iceberg: the other way round */
};
static const struct member k_element = { "element", "elementType", "element", "containsNull",
                                         "element-required" };
static const struct member k_key = { "key", "keyType", "key", NULL, NULL };
static const struct member k_value = { "value", "valueType", "value", "valueContainsNull", "value-required" };

static bool member_nullable(const struct member *m, const json_t *object)
{
    if (!m->contains_null || json_is_false(json_object_get(object, m->contains_null)))
        return false;
    return !json_is_true(json_object_get(object, m->required));
}

static tarn_code parse_member(struct parse *p, const struct member *m, const json_t *object,
                              struct tarn_type *out, struct tarn_err *err)
{
    struct tarn_column *column = NULL;
    const json_t *type = json_object_get(object, m->spark);
    const char *key = type ? m->spark : m->iceberg;

    if (!type)
        type = json_object_get(object, m->iceberg);
    if (!type)
        return tarn_fail_field(err, m->spark, "%s is missing", m->spark);
    tarn_code code = tarn_type_grow(out, m->name, strlen(m->name), &p->columns, &column, err);
    if (code != TARN_OK)
        return code;
    column->nullable = member_nullable(m, object);
    if (parse_type(p, type, NULL, &column->type, err) != TARN_OK)
        return tarn_err_prefix(err, "%s", key);
    return TARN_OK;
}

static tarn_code parse_list(struct parse *p, const json_t *object, struct tarn_type *out,
                            struct tarn_err *err)
{
    out->kind = TARN_T_LIST;
    return parse_member(p, &k_element, object, out, err);
}

static tarn_code parse_map(struct parse *p, const json_t *object, struct tarn_type *out, struct tarn_err *err)
{
    out->kind = TARN_T_MAP;
    tarn_code code = parse_member(p, &k_key, object, out, err);
    if (code == TARN_OK)
        code = parse_member(p, &k_value, object, out, err);
    return code;
}

typedef tarn_code nested_fn(struct parse *p, const json_t *object, struct tarn_type *out,
                            struct tarn_err *err);

static nested_fn *nested_of(const char *word)
{
    static const struct {
        const char *word;
        nested_fn *fn;
    } k_nested[] = {
        { "struct", parse_struct }, { "array", parse_list }, { "list", parse_list }, { "map", parse_map }
    };

    for (size_t i = 0; i < TARN_COUNT(k_nested); i++) {
        if (strcmp(word, k_nested[i].word) == 0)
            return k_nested[i].fn;
    }
    return NULL;
}

/* A nested type in object form, one level further down. */
static tarn_code parse_nested(struct parse *p, nested_fn *fn, const json_t *object, struct tarn_type *out,
                              struct tarn_err *err)
{
    if (p->depth >= TARN_SCHEMA_DEPTH_MAX)
        return tarn_fail_field(err, "", "a schema nests at most %d levels", TARN_SCHEMA_DEPTH_MAX);
    p->depth++;
    tarn_code code = fn(p, object, out, err);
    p->depth--;
    return code;
}

/* `holder` is the column around `value`: {"name":"a","type":"struct","fields":[...]} is taken too. */
static tarn_code parse_type(struct parse *p, const json_t *value, const json_t *holder, struct tarn_type *out,
                            struct tarn_err *err)
{
    const json_t *word = json_is_object(value) ? json_object_get(value, "type") : value;
    const json_t *object = json_is_object(value) ? value : holder;

    if (!json_is_string(word))
        return tarn_fail_field(err, "", "a type is a string such as \"int64\", or an object with a type");
    nested_fn *fn = object ? nested_of(json_string_value(word)) : NULL;
    if (fn)
        return parse_nested(p, fn, object, out, err);
    return tarn_type_from_text(json_string_value(word), p->depth, &p->columns, out, err);
}

static tarn_code parse_root(const json_t *json, struct tarn_schema *schema, struct tarn_err *err)
{
    static const char *const k_known[] = { "type", "fields" };
    struct parse p = { .depth = 1 };
    const json_t *type = json_object_get(json, "type");

    if (!json_is_object(json))
        return tarn_fail_field(err, "", "a schema is an object with type and fields");
    if (type && (!json_is_string(type) || strcmp(json_string_value(type), "struct") != 0))
        return tarn_fail_field(err, "type", "a schema's type is \"struct\"");
    tarn_code code = parse_struct(&p, json, &schema->root, err);
    if (code != TARN_OK)
        return code;
    return keep_more(json, k_known, TARN_COUNT(k_known), &schema->more, err);
}

tarn_code tarn_schema_parse(const json_t *json, const char *field, struct tarn_schema **out,
                            struct tarn_err *err)
{
    TARN_ERR(fault); /* the way up prefixes it, so it must be there also when the caller wants none */
    TARN_AUTO(schema) struct tarn_schema *schema = calloc(1, sizeof *schema);

    if (!schema)
        return tarn_fail_oom(err);
    if (parse_root(json, schema, &fault) != TARN_OK) {
        (void)tarn_err_prefix(&fault, "%s", field);
        return tarn_err_move(err, &fault);
    }
    *out = tarn_take(&schema);
    return TARN_OK;
}
