/* yaml.c - the configuration file. Sections nest (`scan: {interval: 60s}`) or
 * are dotted (`scan.interval: 60s`); each fault is told with file and line. */
#include "config/options.h"
#include "config/yaml_json.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 16

struct reader {
    struct tarn_config *config;
    yaml_document_t *doc;
    const char *path;
    bool seen[TARN_OPTIONS_MAX]; /* by row of the option table */
};

static const char *place(const struct reader *r, const yaml_node_t *node, char out[512])
{
    snprintf(out, 512, "%s:%zu", r->path, (size_t)node->start_mark.line + 1);
    return out;
}

static const char *scalar(const yaml_node_t *node)
{
    return node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

static tarn_code read_list(struct reader *r, const struct tarn_option *option, const yaml_node_t *node,
                           struct tarn_err *err)
{
    char where[512];

    tarn_option_clear(r->config, option);
    for (yaml_node_item_t *p = node->data.sequence.items.start; p < node->data.sequence.items.top; p++) {
        const yaml_node_t *item = yaml_document_get_node(r->doc, *p);
        const char *text = scalar(item);
        if (!text)
            return tarn_fail(err, TARN_INVALID, "%s: %s: must be a list of texts", place(r, item, where), option->key);
        tarn_code code = tarn_option_set(r->config, option, text, place(r, item, where), err);
        if (code != TARN_OK)
            return code;
    }
    return TARN_OK;
}

static tarn_code read_object(struct reader *r, const struct tarn_option *option, const yaml_node_t *node,
                             struct tarn_err *err)
{
    json_t *object = tarn_yaml_json(r->doc, node, DEPTH_MAX);
    char where[512];
    TARN_ERR(fault);

    if (!object)
        return tarn_fail(err, TARN_INVALID, "%s: %s: holds a key twice or is nested too deep", place(r, node, where), option->key);
    if (tarn_option_judge(r->config, option, object, &fault) == TARN_OK)
        return tarn_option_set_object(r->config, option, object, place(r, node, where), err);
    json_decref(object);
    bool is_below = strncmp(fault.field, option->key, strlen(option->key)) == 0;
    return tarn_fail(err, TARN_INVALID, "%s:%zu: %s: %s", r->path,
                     tarn_yaml_line(r->doc, node, is_below ? fault.field + strlen(option->key) : ""),
                     fault.field[0] ? fault.field : option->key, fault.detail);
}

static tarn_code read_option(struct reader *r, const struct tarn_option *option, const yaml_node_t *node,
                             struct tarn_err *err)
{
    char where[512];
    bool *seen = &r->seen[option - tarn_options];

    place(r, node, where);
    if (*seen)
        return tarn_fail(err, TARN_INVALID, "%s: %s: is there twice", where, option->key);
    *seen = true;
    if (option->type == TARN_O_OBJECT)
        return read_object(r, option, node, err);
    if (option->type == TARN_O_LIST && node->type == YAML_SEQUENCE_NODE)
        return read_list(r, option, node, err);
    if (!scalar(node))
        return tarn_fail(err, TARN_INVALID, "%s: %s: must be one value", where, option->key);
    tarn_option_clear(r->config, option);
    return tarn_option_set(r->config, option, scalar(node), where, err);
}

static tarn_code unknown(const struct reader *r, const yaml_node_t *node, const char *key,
                         struct tarn_err *err)
{
    char where[512];
    const char *near = tarn_option_near(key);

    return tarn_fail(err, TARN_INVALID, "%s: unknown key '%.100s'%s%s%s", place(r, node, where), key,
                           near ? ", perhaps '" : "", near ? near : "", near ? "'?" : "");
}

static bool is_section(const char *key)
{
    size_t len = strlen(key);

    for (size_t i = 0; i < tarn_options_count; i++)
        if (strncmp(tarn_options[i].key, key, len) == 0 && tarn_options[i].key[len] == '.')
            return true;
    return false;
}

static tarn_code read_section(struct reader *r, const char *prefix, const yaml_node_t *node, int depth,
                              struct tarn_err *err)
{
    char key[256], where[512];

    if (node->type != YAML_MAPPING_NODE)
        return tarn_fail(err, TARN_INVALID, "%s: %s%smust hold keys with values", place(r, node, where), prefix,
                         *prefix ? ": " : "");
    for (yaml_node_pair_t *p = node->data.mapping.pairs.start; p < node->data.mapping.pairs.top; p++) {
        const yaml_node_t *name = yaml_document_get_node(r->doc, p->key);
        const yaml_node_t *value = yaml_document_get_node(r->doc, p->value);
        snprintf(key, sizeof key, "%s%s%.100s", prefix, *prefix ? "." : "", scalar(name) ? scalar(name) : "?");
        const struct tarn_option *option = tarn_option_by_key(key);
        tarn_code code = TARN_OK;
        if (option)
            code = read_option(r, option, value, err);
        else if (is_section(key) && depth < DEPTH_MAX)
            code = read_section(r, key, value, depth + 1, err);
        else
            code = unknown(r, name, key, err);
        if (code != TARN_OK)
            return code;
    }
    return TARN_OK;
}

static tarn_code read_document(struct reader *r, yaml_parser_t *parser, struct tarn_err *err)
{
    yaml_document_t doc;
    char where[512];

    if (!yaml_parser_load(parser, &doc))
        return tarn_fail(err, TARN_INVALID, "%s:%zu: %s", r->path, (size_t)parser->problem_mark.line + 1,
                         parser->problem ? parser->problem : "cannot be read");
    r->doc = &doc;
    const yaml_node_t *root = yaml_document_get_root_node(&doc);
    bool empty = !root || (scalar(root) && *scalar(root) == '\0');
    tarn_code code = TARN_OK;
    if (!empty && root->type != YAML_MAPPING_NODE)
        code = tarn_fail(err, TARN_INVALID, "%s: must hold keys with values", place(r, root, where));
    else if (!empty)
        code = read_section(r, "", root, 0, err);
    yaml_document_delete(&doc);
    return code;
}

/* A folder opens, and is found out by the first read. False: errno says why. */
static bool can_be_read(FILE *file)
{
    int c = fgetc(file);

    return c == EOF ? !ferror(file) : ungetc(c, file) == c;
}

tarn_code tarn_config_read_yaml(struct tarn_config *config, const char *path, struct tarn_err *err)
{
    struct reader r = { .config = config, .path = path };
    yaml_parser_t parser;
    FILE *file = fopen(path, "re");

    if (!file)
        return tarn_fail(err, TARN_INVALID, "%s: %s", path, strerror(errno));
    tarn_code code = TARN_OK;
    if (!can_be_read(file)) {
        code = tarn_fail(err, TARN_INVALID, "%s: %s", path, strerror(errno));
    } else if (!yaml_parser_initialize(&parser)) {
        code = tarn_fail_oom(err);
    } else {
        yaml_parser_set_input_file(&parser, file);
        code = read_document(&r, &parser, err);
        yaml_parser_delete(&parser);
    }
    fclose(file);
    return code;
}
