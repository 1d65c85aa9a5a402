/* yaml_json.c - YAML's values as JSON's. */
#include "config/yaml_json.h"
#include "base/own.h"
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NODES_MAX 100000

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
    static const char *const k_true[] = { "true", "True", "TRUE" }, *const k_false[] = { "false", "False", "FALSE" };
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

static json_t *mapping_json(struct conversion *c, const yaml_node_t *node, int depth)
{
    json_t *object = json_object();

    for (yaml_node_pair_t *p = node->data.mapping.pairs.start; p < node->data.mapping.pairs.top; p++) {
        const char *key = scalar(yaml_document_get_node(c->doc, p->key));
        bool twice = key && json_object_get(object, key);
        json_t *value = key && !twice ? node_json(c, yaml_document_get_node(c->doc, p->value), depth + 1) : NULL;
        if (!value || json_object_set_new(object, key, value) != 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
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
