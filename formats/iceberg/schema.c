/* schema.c - Iceberg schemas as JSON: walked, checked, compared, numbered anew. Source: Iceberg table specification,
 * "Schemas and Data Types", "Appendix C: JSON serialization". */
#include "formats/iceberg/parts.h"
#include "formats/iceberg/value.h"
#include <string.h>

enum {
    DEPTH_MAX = 64,
    FIELD_ID_MAX = 2147483447 /* above it the specification keeps ids for itself */
};

/* --- a walk over everything that has an id --- */

struct node {
    int64_t id;
    const char *name;      /* the last part: a field's name, "element", "key", "value" */
    const char *path;      /* dotted */
    const json_t *type;    /* text or an object */
    const json_t *field;   /* NULL: an element, a key or a value */
    bool required;
    bool is_plain;         /* in required structs alone, or at the top: in no row it is missing, or there twice */
};
typedef tarn_code node_fn(void *ctx, const struct node *node, struct tarn_err *err);
struct walk { node_fn *fn; void *ctx; int depth; bool is_plain; struct tarn_buf path; };

static tarn_code walk_type(struct walk *walk, const json_t *type, struct tarn_err *err);

static tarn_code visit(struct walk *walk, struct node *node, struct tarn_err *err)
{
    size_t len = walk->path.len;
    bool is_plain = node->is_plain = walk->is_plain;

    if (len > 0)
        tarn_buf_addc(&walk->path, '.');
    tarn_buf_adds(&walk->path, node->name);
    tarn_code code = tarn_buf_check(&walk->path, err);
    node->path = walk->path.data;
    if (code == TARN_OK)
        code = walk->fn(walk->ctx, node, err);
    walk->is_plain = is_plain && node->field && node->required;
    if (code == TARN_OK)
        code = walk_type(walk, node->type, err);
    walk->is_plain = is_plain;
    walk->path.len = len;
    if (walk->path.data)
        walk->path.data[len] = '\0';
    return code;
}

static tarn_code walk_struct(struct walk *walk, const json_t *type, struct tarn_err *err)
{
    const json_t *fields = NULL;
    size_t i;
    json_t *field;
    tarn_code code = tarn_iceberg_need_array(type, "fields", &fields, err);

    if (code != TARN_OK)
        return code;
    json_array_foreach((json_t *)(uintptr_t)fields, i, field) {
        struct node node = { .field = field, .type = json_object_get(field, "type") };
        code = tarn_iceberg_need_i64(field, "id", &node.id, err);
        if (code == TARN_OK)
            code = tarn_iceberg_need_str(field, "name", &node.name, err);
        if (code == TARN_OK)
            code = tarn_iceberg_need_bool(field, "required", &node.required, err);
        if (code == TARN_OK)
            code = visit(walk, &node, err);
        if (code != TARN_OK)
            return code;
    }
    return TARN_OK;
}

static tarn_code walk_part(struct walk *walk, const json_t *type, const char *name, struct tarn_err *err)
{
    char id[32], required[32];
    struct node node = { .name = name, .type = json_object_get(type, name) };

    snprintf(id, sizeof id, "%s-id", name);
    snprintf(required, sizeof required, "%s-required", name);
    node.required = strcmp(name, "key") == 0;
    tarn_code code = tarn_iceberg_need_i64(type, id, &node.id, err);
    if (code == TARN_OK && !node.required)
        code = tarn_iceberg_need_bool(type, required, &node.required, err);
    return code == TARN_OK ? visit(walk, &node, err) : code;
}

static tarn_code walk_type(struct walk *walk, const json_t *type, struct tarn_err *err)
{
    tarn_code code = TARN_OK;
    const char *kind = json_string_value(json_object_get(type, "type"));

    if (json_is_string(type))
        return TARN_OK;
    if (!kind)
        return tarn_fail_field(err, "type", "Cannot parse type from json: it is neither text nor an object with a type");
    if (++walk->depth > DEPTH_MAX)
        return tarn_fail_field(err, "type", "The schema is nested deeper than %d levels", DEPTH_MAX);
    if (strcmp(kind, "struct") == 0) {
        code = walk_struct(walk, type, err);
    } else if (strcmp(kind, "list") == 0) { /* its element is no field, nor are key and value: what is in them is not plain */
        code = walk_part(walk, type, "element", err);
    } else if (strcmp(kind, "map") == 0) {
        code = walk_part(walk, type, "key", err);
        if (code == TARN_OK)
            code = walk_part(walk, type, "value", err);
    } else {
        code = tarn_fail_field(err, "type", "Cannot parse type from json: %.100s", kind);
    }
    walk->depth--;
    return code;
}

static tarn_code walk_schema(const json_t *schema, node_fn *fn, void *ctx, struct tarn_err *err)
{
    struct walk walk = { .fn = fn, .ctx = ctx, .is_plain = true };
    tarn_code code = walk_struct(&walk, schema, err);

    tarn_buf_done(&walk.path);
    return code;
}

/* --- the highest id --- */

static tarn_code take_highest(void *ctx, const struct node *node, struct tarn_err *err)
{
    int64_t *highest = ctx;

    (void)err;
    if (node->id > *highest)
        *highest = node->id;
    return TARN_OK;
}

int64_t tarn_iceberg_schema_highest(const json_t *doc)
{
    int64_t highest = 0;
    TARN_ERR(ignored);

    (void)walk_schema(doc, take_highest, &highest, &ignored);
    return highest;
}

/* --- is it one? --- */

struct check { int64_t format_version; json_t *ids; json_t *names; struct tarn_buf faults; };

static void check_type(struct check *check, const struct node *node)
{
    const char *type = json_string_value(node->type);
    int64_t since = type ? tarn_iceberg_type_since(type) : 1;

    if (since > check->format_version)
        tarn_buf_addf(&check->faults, "\n- Invalid type for %s: %s is not supported until v%lld", node->path, type,
                      (long long)since);
    const json_t *value = node->field ? tarn_iceberg_member(node->field, "initial-default") : NULL;
    if (value && check->format_version < 3)
        tarn_buf_addf(&check->faults, "\n- Invalid initial default for %s: non-null default is not supported until v3",
                      node->path);
}

/* What clients read of a field beside its id, name and type. */
static tarn_code check_field(const struct node *node, struct tarn_err *err)
{
    static const char *const k_defaults[] = { "initial-default", "write-default" };
    const char *doc = NULL, *type = json_string_value(node->type);
    tarn_code code = tarn_iceberg_opt_str(node->field, "doc", &doc, err);

    if (code == TARN_OK && node->required && type && strcmp(type, "unknown") == 0)
        return tarn_fail_field(err, "schema", "Cannot create required field with unknown type: %.100s", node->path);
    for (size_t i = 0; i < TARN_COUNT(k_defaults) && code == TARN_OK; i++) {
        const json_t *value = tarn_iceberg_member(node->field, k_defaults[i]);
        if (value && !tarn_iceberg_default_fits(node->type, value))
            return tarn_fail_field(err, "schema", "Cannot parse %s of %.100s: it is no value of the field's type", k_defaults[i], node->path);
    }
    return code;
}

static tarn_code check_node(void *ctx, const struct node *node, struct tarn_err *err)
{
    struct check *check = ctx;
    const char *type = json_string_value(node->type);
    char id[24];

    if (node->id < 0 || node->id > FIELD_ID_MAX)
        return tarn_fail_field(err, "schema", "Invalid schema: the id %lld of %.100s is not one that a field can have",
                               (long long)node->id, node->path);
    if (type && tarn_iceberg_type_since(type) == 0)
        return tarn_fail_field(err, "schema", "Cannot parse type string to primitive: %.100s", type);
    if (*node->name == '\0')
        return tarn_fail_field(err, "schema", "Invalid schema: a field has no name");
    snprintf(id, sizeof id, "%lld", (long long)node->id);
    if (json_object_get(check->ids, id))
        return tarn_fail_field(err, "schema", "Invalid schema: the id %s stands for two fields: %.100s and %.100s", id,
                               json_string_value(json_object_get(check->ids, id)), node->path);
    if (json_object_get(check->names, node->path))
        return tarn_fail_field(err, "schema", "Invalid schema: multiple fields for name %.100s", node->path);
    if (json_object_set_new(check->ids, id, json_string(node->path)) != 0 ||
        json_object_set_new(check->names, node->path, json_true()) != 0)
        return tarn_fail_oom(err);
    check_type(check, node);
    return node->field ? check_field(node, err) : TARN_OK;
}

struct place { int64_t id; bool is_plain; };

static tarn_code take_place(void *ctx, const struct node *node, struct tarn_err *err)
{
    struct place *place = ctx;

    (void)err;
    if (node->id == place->id)
        place->is_plain = node->is_plain;
    return TARN_OK;
}

static tarn_code check_place(const json_t *schema, int64_t id, const char *name, struct tarn_err *err)
{
    struct place place = { .id = id };
    tarn_code code = walk_schema(schema, take_place, &place, err);

    if (code == TARN_OK && !place.is_plain)
        return tarn_fail_field(err, "identifier-field-ids",
                               "Cannot add field %.100s as an identifier field: must not be nested in an optional field, a list or a map", name);
    return code;
}

static tarn_code check_identifier(const json_t *schema, int64_t id, struct tarn_err *err)
{
    const json_t *field = tarn_iceberg_field_of(schema, id, NULL);
    const char *type = json_string_value(json_object_get(field, "type"));

    if (!field)
        return tarn_fail_field(err, "identifier-field-ids",
                               "Cannot add fieldId %lld as an identifier field: field does not exist", (long long)id);
    if (!type)
        return tarn_fail_field(err, "identifier-field-ids",
                               "Cannot add field %.100s as an identifier field: not a primitive type field",
                               json_string_value(json_object_get(field, "name")));
    if (!json_is_true(json_object_get(field, "required")) || strcmp(type, "float") == 0 || strcmp(type, "double") == 0)
        return tarn_fail_field(err, "identifier-field-ids",
                               "Cannot add field %.100s as an identifier field: it must be required, and no float or double",
                               json_string_value(json_object_get(field, "name")));
    return check_place(schema, id, json_string_value(json_object_get(field, "name")), err);
}

static tarn_code check_identifiers(const json_t *schema, struct tarn_err *err)
{
    const json_t *ids = NULL;
    size_t i;
    json_t *id;
    tarn_code code = tarn_iceberg_opt_array(schema, "identifier-field-ids", &ids, err);

    json_array_foreach((json_t *)(uintptr_t)ids, i, id)
        if (code == TARN_OK)
            code = check_identifier(schema, json_integer_value(id), err);
    return code;
}

tarn_code tarn_iceberg_schema_check(const json_t *doc, int64_t format_version, struct tarn_err *err)
{
    const char *type = "struct";
    tarn_code typed = tarn_iceberg_opt_str(doc, "type", &type, err);

    if (typed == TARN_OK && strcmp(type, "struct") != 0)
        typed = tarn_fail_field(err, "schema", "Cannot parse type from json: a schema is a struct, not %.100s", type);
    if (typed != TARN_OK)
        return typed;
    struct check check = { .format_version = format_version, .ids = json_object(), .names = json_object() };
    tarn_code code = !check.ids || !check.names ? tarn_fail_oom(err) : walk_schema(doc, check_node, &check, err);

    if (code == TARN_OK)
        code = tarn_buf_check(&check.faults, err);
    if (code == TARN_OK && check.faults.len > 0)
        code = tarn_fail_field(err, "schema", "Invalid schema for v%lld:%.400s", (long long)format_version,
                               check.faults.data);
    if (code == TARN_OK)
        code = check_identifiers(doc, err);
    json_decref(check.ids);
    json_decref(check.names);
    tarn_buf_done(&check.faults);
    return code;
}

/* --- looking up --- */

struct find { int64_t id; const char *path; const struct node *found; const json_t *field; int64_t found_id; char *found_path; };

static tarn_code match(void *ctx, const struct node *node, struct tarn_err *err)
{
    struct find *find = ctx;

    if (find->path ? strcmp(find->path, node->path) != 0 : find->id != node->id)
        return TARN_OK;
    find->field = node->field;
    find->found_id = node->id;
    find->found_path = strdup(node->path);
    return find->found_path ? tarn_fail(err, TARN_NOT_FOUND, "found: the walk ends") : tarn_fail_oom(err);
}

const json_t *tarn_iceberg_field_of(const json_t *schema, int64_t id, char **path)
{
    struct find find = { .id = id };
    TARN_ERR(ignored);

    (void)walk_schema(schema, match, &find, &ignored);
    if (path)
        *path = find.found_path;
    else
        free(find.found_path);
    return find.field;
}

int64_t tarn_iceberg_field_id_of(const json_t *schema, const char *dotted)
{
    struct find find = { .path = dotted, .found_id = TARN_ICEBERG_NONE };
    TARN_ERR(ignored);

    (void)walk_schema(schema, match, &find, &ignored);
    free(find.found_path);
    return find.found_id;
}

/* --- the same? --- */

static bool same_ids(const json_t *a, const json_t *b)
{
    size_t i, j;
    json_t *one, *other;

    if (json_array_size(a) != json_array_size(b))
        return false;
    json_array_foreach((json_t *)(uintptr_t)a, i, one) {
        bool found = false;
        json_array_foreach((json_t *)(uintptr_t)b, j, other)
            found = found || json_integer_value(one) == json_integer_value(other);
        if (!found)
            return false;
    }
    return true;
}

bool tarn_iceberg_schema_same(const json_t *a, const json_t *b)
{
    return json_equal(json_object_get(a, "fields"), json_object_get(b, "fields")) &&
           same_ids(json_object_get(a, "identifier-field-ids"), json_object_get(b, "identifier-field-ids"));
}
