/* document.c - see document.h. The YAML tree is kept beside the JSON one: it knows the lines. */
#include "config/document.h"
#include "config/yaml_json.h"
#include <stdbool.h>
#include <string.h>

#define DEPTH_MAX 64

struct tarn_document {
    yaml_document_t doc;
    bool is_loaded;
    json_t *json; /* owned */
};

void tarn_document_free(struct tarn_document *document)
{
    if (!document)
        return;
    json_decref(document->json);
    if (document->is_loaded)
        yaml_document_delete(&document->doc);
    free(document);
}

static tarn_code not_yaml(const yaml_parser_t *parser, struct tarn_err *err)
{
    return tarn_fail(err, TARN_INVALID, "line %zu: %s", (size_t)parser->problem_mark.line + 1,
                     parser->problem ? parser->problem : "is not YAML");
}

/* --- keys that are there twice, and what else has no place in JSON: told with its line --- */

static const char *key_of(yaml_document_t *doc, const yaml_node_pair_t *pair, size_t *line)
{
    const yaml_node_t *key = yaml_document_get_node(doc, pair->key);

    *line = key ? (size_t)key->start_mark.line + 1 : 0;
    return key && key->type == YAML_SCALAR_NODE ? (const char *)key->data.scalar.value : NULL;
}

/* What may stand behind `<<`. */
static bool can_merge(yaml_document_t *doc, const yaml_node_t *from)
{
    if (!from || from->type != YAML_SEQUENCE_NODE)
        return from && from->type == YAML_MAPPING_NODE;
    for (yaml_node_item_t *p = from->data.sequence.items.start; p < from->data.sequence.items.top; p++) {
        const yaml_node_t *item = yaml_document_get_node(doc, *p);
        if (!item || item->type != YAML_MAPPING_NODE)
            return false;
    }
    return true;
}

static tarn_code judge_keys(yaml_document_t *doc, const yaml_node_t *node, struct tarn_err *err)
{
    json_auto_t *seen = json_object();
    size_t line;

    for (yaml_node_pair_t *p = node->data.mapping.pairs.start; p < node->data.mapping.pairs.top; p++) {
        const char *key = key_of(doc, p, &line);
        if (!key)
            return tarn_fail(err, TARN_INVALID, "line %zu: a key must be text", line);
        if (json_object_get(seen, key))
            return tarn_fail(err, TARN_INVALID, "line %zu: '%.100s' is there twice", line, key);
        if (tarn_yaml_is_merge(doc, p) && !can_merge(doc, yaml_document_get_node(doc, p->value)))
            return tarn_fail(err, TARN_INVALID, "line %zu: '<<' must name keys with values", line);
        if (json_object_set_new(seen, key, json_true()) != 0)
            return tarn_fail(err, TARN_INVALID, "line %zu: a key must be text", line);
    }
    return TARN_OK;
}

static tarn_code judge_text(const yaml_node_t *node, struct tarn_err *err)
{
    if (!memchr(node->data.scalar.value, '\0', node->data.scalar.length))
        return TARN_OK;
    return tarn_fail(err, TARN_INVALID, "line %zu: a text holds a NUL", (size_t)node->start_mark.line + 1);
}

/* Why it did not become JSON. */
static tarn_code judge_all(yaml_document_t *doc, struct tarn_err *err)
{
    for (const yaml_node_t *node = doc->nodes.start; node < doc->nodes.top; node++) {
        tarn_code code = TARN_OK;
        if (node->type == YAML_MAPPING_NODE)
            code = judge_keys(doc, node, err);
        else if (node->type == YAML_SCALAR_NODE)
            code = judge_text(node, err);
        if (code != TARN_OK)
            return code;
    }
    return tarn_fail(err, TARN_INVALID, "it is nested deeper than %d levels, or its aliases make it too large", DEPTH_MAX);
}

/* --- reading --- */

static tarn_code convert(struct tarn_document *document, struct tarn_err *err)
{
    const yaml_node_t *root = yaml_document_get_root_node(&document->doc);

    document->json = root ? tarn_yaml_json(&document->doc, root, DEPTH_MAX) : json_null();
    return document->json ? TARN_OK : judge_all(&document->doc, err);
}

static tarn_code no_second(yaml_parser_t *parser, struct tarn_err *err)
{
    yaml_document_t next;

    if (!yaml_parser_load(parser, &next))
        return not_yaml(parser, err);
    const yaml_node_t *root = yaml_document_get_root_node(&next);
    size_t line = root ? (size_t)root->start_mark.line + 1 : 0;
    yaml_document_delete(&next);
    return root ? tarn_fail(err, TARN_INVALID, "line %zu: a second document begins; one is read", line) : TARN_OK;
}

static tarn_code load(yaml_parser_t *parser, struct tarn_document *document, struct tarn_err *err)
{
    if (!yaml_parser_load(parser, &document->doc))
        return not_yaml(parser, err);
    document->is_loaded = true;
    tarn_code code = convert(document, err);
    return code == TARN_OK && yaml_document_get_root_node(&document->doc) ? no_second(parser, err) : code;
}

tarn_code tarn_document_parse(const char *text, size_t len, struct tarn_document **out, struct tarn_err *err)
{
    TARN_AUTO(document) struct tarn_document *document = calloc(1, sizeof *document);
    yaml_parser_t parser;

    if (len > TARN_DOCUMENT_BYTES_MAX)
        return tarn_fail(err, TARN_INVALID, "it is larger than %zu MiB", TARN_DOCUMENT_BYTES_MAX >> 20);
    if (!document || !yaml_parser_initialize(&parser))
        return tarn_fail_oom(err);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
    tarn_code code = load(&parser, document, err);
    yaml_parser_delete(&parser);
    if (code == TARN_OK)
        *out = tarn_take(&document);
    return code;
}

const json_t *tarn_document_json(const struct tarn_document *document) { return document->json; }

size_t tarn_document_line(const struct tarn_document *document, const char *field)
{
    yaml_document_t *doc = (yaml_document_t *)&document->doc; /* libyaml takes no const; nothing is changed */

    return tarn_yaml_line(doc, yaml_document_get_root_node(doc), field);
}
