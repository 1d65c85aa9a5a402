/* yaml_json.c - YAML's values as JSON's. */
#include "config/yaml_json.h"
#include "base/own.h"
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NODES_MAX 100000
#define STEPS_MAX 64 /* of a name that leads to a line */

struct conversion {
    yaml_document_t *doc;
    int depth_max, nodes;
};

static const char *scalar(const yaml_node_t *node)
{
    return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

static json_t *plain_json(const char *text)
{
    static const char *const k_true[] = { "true", "True", "TRUE" }, *const k_false[] = { "false", "False",
                                                                                         "FALSE" };
    static const char *const k_null[] = { "", "~", "null", "Null", "NULL" };
    char *end;

    for (size_t i = 0; i < TARN_COUNT(k_true); i++) {
        if (strcmp(text, k_true[i]) == 0)
            return json_true();
        if (strcmp(text, k_false[i]) == 0)
            return json_false();
    }
    for (size_t i = 0; i < TARN_COUNT(k_null); i++)
        if (strcmp(text, k_null[i]) == 0)
            return json_null();
    if (text[strspn(text, "+-.0123456789eE")] != '\0')
        return json_string(text);
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (*end == '\0' && end != text && errno == 0)
        return json_integer(number);
    double real = strtod(text, &end);
    json_t *out = *end == '\0' && end != text ? json_real(real) : NULL; /* NULL too where it is infinite */
    return out ? out : json_string(text);
}

static json_t *node_json(struct conversion *c, const yaml_node_t *node, int depth);

bool tarn_yaml_is_merge(yaml_document_t *doc, const yaml_node_pair_t *pair)
{
    const yaml_node_t *key = yaml_document_get_node(doc, pair->key);

    return key && key->type == YAML_SCALAR_NODE && key->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           strcmp((const char *)key->data.scalar.value, "<<") == 0;
}

/* The members of one mapping, or of a list of them, the
 * first of which wins; what the object has itself stays. */
static bool merge(struct conversion *c, json_t *object, const yaml_node_t *from, int depth)
{
    json_auto_t *value = from ? node_json(c, from, depth) : NULL;
    json_t *item;
    size_t i;

    if (!json_is_array(value))
        return json_is_object(value) && json_object_update_missing(object, value) == 0;
    json_array_foreach (value, i, item)
        if (!json_is_object(item) || json_object_update_missing(object, item) != 0)
            return false;
    return true;
}

/* A mapping's own members: a merge may stand anywhere among them and gives way to all. */
static bool add_own(struct conversion *c, json_t *object, const yaml_node_t *node, int depth)
{
    for (yaml_node_pair_t *p = node->data.mapping.pairs.start; p < node->data.mapping.pairs.top; p++) {
        const char *key = scalar(yaml_document_get_node(c->doc, p->key));
        if (tarn_yaml_is_merge(c->doc, p))
            continue;
        bool twice = key && json_object_get(object, key);
        json_t *value =
            key && !twice ? node_json(c, yaml_document_get_node(c->doc, p->value), depth + 1) : NULL;
        if (!value || json_object_set_new(object, key, value) != 0)
            return false;
    }
    return true;
}

static json_t *mapping_json(struct conversion *c, const yaml_node_t *node, int depth)
{
    json_t *object = json_object();
    bool is_whole = object && add_own(c, object, node, depth), has_merged = false;

    for (yaml_node_pair_t *p = node->data.mapping.pairs.start; is_whole && p < node->data.mapping.pairs.top;
         p++) {
        if (!tarn_yaml_is_merge(c->doc, p))
            continue;
        is_whole = !has_merged && merge(c, object, yaml_document_get_node(c->doc, p->value), depth + 1);
        has_merged = true;
    }
    if (is_whole)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *sequence_json(struct conversion *c, const yaml_node_t *node, int depth)
{
    json_t *array = json_array();

    for (yaml_node_item_t *p = node->data.sequence.items.start; p < node->data.sequence.items.top; p++) {
        json_t *value = node_json(c, yaml_document_get_node(c->doc, *p), depth + 1);
        if (!value || json_array_append_new(array, value) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *node_json(struct conversion *c, const yaml_node_t *node, int depth)
{
    if (!node || depth > c->depth_max || ++c->nodes > NODES_MAX)
        return NULL;
    if (node->type == YAML_MAPPING_NODE)
        return mapping_json(c, node, depth);
    if (node->type == YAML_SEQUENCE_NODE)
        return sequence_json(c, node, depth);
    if (memchr(node->data.scalar.value, '\0', node->data.scalar.length))
        return NULL;
    if (node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
        return plain_json((const char *)node->data.scalar.value);
    return json_string((const char *)node->data.scalar.value);
}

json_t *tarn_yaml_json(yaml_document_t *doc, const yaml_node_t *node, int depth_max)
{
    struct conversion c = { .doc = doc, .depth_max = depth_max };

    return node_json(&c, node, 0);
}

/* --- lines --- */

/* The value whose key begins `*field`, which is moved behind it; a key may hold dots itself. */
static const yaml_node_t *step_key(yaml_document_t *doc, const yaml_node_t *node, const char **field)
{
    const char *at = *field + (**field == '.');

    for (yaml_node_pair_t *p = node->data.mapping.pairs.start; p < node->data.mapping.pairs.top; p++) {
        const yaml_node_t *key = yaml_document_get_node(doc, p->key);
        size_t len = key && key->type == YAML_SCALAR_NODE ? key->data.scalar.length : 0;
        if (len == 0 || strncmp(at, (const char *)key->data.scalar.value, len) != 0 || !strchr(".[", at[len]))
            continue;
        *field = at + len;
        return at[len] == '\0' ? key : yaml_document_get_node(doc, p->value);
    }
    return NULL;
}

static const yaml_node_t *step_index(yaml_document_t *doc, const yaml_node_t *node, const char **field)
{
    char *end = NULL;
    unsigned long index = strtoul(*field + 1, &end, 10);

    if (end == *field + 1 || *end != ']' ||
        index >= (size_t)(node->data.sequence.items.top - node->data.sequence.items.start))
        return NULL;
    *field = end + 1;
    return yaml_document_get_node(doc, node->data.sequence.items.start[index]);
}

size_t tarn_yaml_line(yaml_document_t *doc, const yaml_node_t *node, const char *field)
{
    const yaml_node_t *next = node;

    for (size_t steps = 0; next && steps < STEPS_MAX; steps++) {
        node = next;
        next = NULL;
        if (*field == '[' && node->type == YAML_SEQUENCE_NODE)
            next = step_index(doc, node, &field);
        else if (*field && node->type == YAML_MAPPING_NODE)
            next = step_key(doc, node, &field);
    }
    return node ? (size_t)node->start_mark.line + 1 : 1;
}
