/* schema.c - the writer's schema, a JSON text, to a tree of nodes. */
#include "base/json.h"
#include "formats/avro/node.h"
#include <string.h>

struct reader { struct tarn_avro_schema *schema; json_t *names; /* name to the node's place in the list */ int depth; };

static tarn_code read_node(struct reader *r, const json_t *doc, struct tarn_avro_node **out, struct tarn_err *err);

static const struct { const char *name; enum tarn_avro_type type; } k_primitives[] = {
    { "null", TARN_AVRO_T_NULL },   { "boolean", TARN_AVRO_T_BOOLEAN }, { "int", TARN_AVRO_T_INT },
    { "long", TARN_AVRO_T_LONG },   { "float", TARN_AVRO_T_FLOAT },     { "double", TARN_AVRO_T_DOUBLE },
    { "bytes", TARN_AVRO_T_BYTES }, { "string", TARN_AVRO_T_STRING },
};

static tarn_code new_node(struct reader *r, enum tarn_avro_type type, size_t children, struct tarn_avro_node **out,
                          struct tarn_err *err)
{
    struct tarn_avro_schema *s = r->schema;

    if (s->count == s->cap) {
        size_t cap = s->cap == 0 ? 64 : 2 * s->cap;
        struct tarn_avro_node **all = realloc(s->all, cap * sizeof(struct tarn_avro_node *));
        if (!all)
            return tarn_fail_oom(err);
        s->all = all;
        s->cap = cap;
    }
    struct tarn_avro_node *node = calloc(1, sizeof *node);
    if (!node)
        return tarn_fail_oom(err);
    s->all[s->count++] = node;
    node->type = type;
    node->children = calloc(children + 1, sizeof(struct tarn_avro_node *));
    node->ids = calloc(children + 1, sizeof *node->ids);
    if (!node->children || !node->ids)
        return tarn_fail_oom(err);
    *out = node;
    return TARN_OK;
}

void tarn_avro_schema_done(struct tarn_avro_schema *schema)
{
    for (size_t i = 0; i < schema->count; i++) {
        free(schema->all[i]->children);
        free(schema->all[i]->ids);
        free(schema->all[i]);
    }
    free(schema->all);
    *schema = (struct tarn_avro_schema){ 0 };
}

static tarn_code name_node(struct reader *r, const json_t *doc, struct tarn_err *err)
{
    const char *name = json_string_value(json_object_get(doc, "name"));

    if (!name)
        return tarn_fail(err, TARN_INVALID, "the Avro schema has a type without a name");
    return json_object_set_new(r->names, name, json_integer((json_int_t)r->schema->count - 1)) == 0 ? TARN_OK
                                                                                                 : tarn_fail_oom(err);
}

/* A primitive type, or one that was named before. */
static tarn_code read_word(struct reader *r, const char *word, struct tarn_avro_node **out, struct tarn_err *err)
{
    for (size_t i = 0; i < TARN_COUNT(k_primitives); i++)
        if (strcmp(k_primitives[i].name, word) == 0)
            return new_node(r, k_primitives[i].type, 0, out, err);
    const json_t *place = json_object_get(r->names, word);
    if (!place)
        return tarn_fail(err, TARN_INVALID, "the Avro schema has an unknown type: %.100s", word);
    *out = r->schema->all[json_integer_value(place)];
    return TARN_OK;
}

static tarn_code read_union(struct reader *r, const json_t *doc, struct tarn_avro_node **out, struct tarn_err *err)
{
    tarn_code code = new_node(r, TARN_AVRO_T_UNION, json_array_size(doc), out, err);
    struct tarn_avro_node *node = *out;

    for (size_t i = 0; i < json_array_size(doc) && code == TARN_OK; i++, node->count++)
        code = read_node(r, json_array_get(doc, i), &node->children[i], err);
    return code;
}

static tarn_code read_record(struct reader *r, const json_t *doc, struct tarn_avro_node **out, struct tarn_err *err)
{
    const json_t *fields = json_object_get(doc, "fields");
    tarn_code code = new_node(r, TARN_AVRO_T_RECORD, json_array_size(fields), out, err);
    struct tarn_avro_node *node = *out;

    if (code == TARN_OK)
        code = name_node(r, doc, err);
    for (size_t i = 0; i < json_array_size(fields) && code == TARN_OK; i++, node->count++) {
        const json_t *field = json_array_get(fields, i), *id = json_object_get(field, "field-id");
        node->ids[i] = json_is_integer(id) ? json_integer_value(id) : -1;
        code = read_node(r, json_object_get(field, "type"), &node->children[i], err);
    }
    return code;
}

static tarn_code read_one_child(struct reader *r, enum tarn_avro_type type, const json_t *child,
                                struct tarn_avro_node **out, struct tarn_err *err)
{
    tarn_code code = new_node(r, type, 1, out, err);
    struct tarn_avro_node *node = *out;

    if (code != TARN_OK)
        return code;
    node->count = 1;
    return read_node(r, child, &node->children[0], err);
}

static tarn_code read_fixed(struct reader *r, const json_t *doc, struct tarn_avro_node **out, struct tarn_err *err)
{
    int64_t size = json_integer_value(json_object_get(doc, "size"));
    tarn_code code = new_node(r, TARN_AVRO_T_FIXED, 0, out, err);

    if (code == TARN_OK)
        code = name_node(r, doc, err);
    if (code == TARN_OK && (size < 0 || size > (int64_t)TARN_AVRO_BLOCK_MAX))
        code = tarn_fail(err, TARN_INVALID, "the Avro schema has a fixed type of an impossible size");
    if (code == TARN_OK)
        (*out)->size = (size_t)size;
    return code;
}

static tarn_code read_object(struct reader *r, const json_t *doc, struct tarn_avro_node **out, struct tarn_err *err)
{
    const json_t *type = json_object_get(doc, "type");
    const char *word = json_string_value(type);

    if (!word)
        return read_node(r, type, out, err); /* {"type": {...}}, an attribute holder */
    if (strcmp(word, "record") == 0)
        return read_record(r, doc, out, err);
    if (strcmp(word, "array") == 0)
        return read_one_child(r, TARN_AVRO_T_ARRAY, json_object_get(doc, "items"), out, err);
    if (strcmp(word, "map") == 0)
        return read_one_child(r, TARN_AVRO_T_MAP, json_object_get(doc, "values"), out, err);
    if (strcmp(word, "fixed") == 0)
        return read_fixed(r, doc, out, err);
    if (strcmp(word, "enum") == 0) {
        tarn_code code = new_node(r, TARN_AVRO_T_ENUM, 0, out, err);
        return code == TARN_OK ? name_node(r, doc, err) : code;
    }
    return read_word(r, word, out, err);
}

static tarn_code read_node(struct reader *r, const json_t *doc, struct tarn_avro_node **out, struct tarn_err *err)
{
    tarn_code code;

    if (++r->depth > TARN_AVRO_DEPTH_MAX)
        return tarn_fail(err, TARN_INVALID, "the Avro schema is nested deeper than %d levels", TARN_AVRO_DEPTH_MAX);
    if (json_is_string(doc))
        code = read_word(r, json_string_value(doc), out, err);
    else if (json_is_array(doc))
        code = read_union(r, doc, out, err);
    else if (json_is_object(doc))
        code = read_object(r, doc, out, err);
    else
        code = tarn_fail(err, TARN_INVALID, "the Avro schema has a type that is none");
    r->depth--;
    return code;
}

tarn_code tarn_avro_schema_read(const char *text, size_t len, struct tarn_avro_schema *out, struct tarn_err *err)
{
    struct reader r = { .schema = out, .names = json_object() };
    json_t *doc = NULL;
    tarn_code code = r.names ? tarn_json_parse(text, len, NULL, &doc, err) : tarn_fail_oom(err);

    if (code == TARN_OK)
        code = read_node(&r, doc, &out->root, err);
    if (code == TARN_OK && out->root->type != TARN_AVRO_T_RECORD)
        code = tarn_fail(err, TARN_INVALID, "the Avro schema is no record");
    json_decref(doc);
    json_decref(r.names);
    return code;
}
