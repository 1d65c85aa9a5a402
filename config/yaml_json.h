/* yaml_json.h - a YAML node as a JSON tree; private to config/, the only door to yaml.h. */
#ifndef TARN_CONFIG_YAML_JSON_H
#define TARN_CONFIG_YAML_JSON_H
#include <jansson.h>
#include <stdbool.h>
#include <yaml.h>

/* Owned. Plain scalars have the types of YAML's core schema, as far as JSON has them;
 * `<<: *base` merges. NULL: deeper than `depth_max`, too many nodes (aliases can make
 * a small file large, or lie inside themselves), a key that is no text or there twice,
 * a merge of something else than mappings, a text with a NUL in it, or no memory. */
json_t *tarn_yaml_json(yaml_document_t *doc, const yaml_node_t *node, int depth_max);
/* The key `<<` of YAML 1.1, which contracts in the wild share columns by. */
bool tarn_yaml_is_merge(yaml_document_t *doc, const yaml_node_pair_t *pair);
/* The line, from 1, of what lies below the node under a name as errors
 * have it (".properties[2].required"), or of what is there of its way. */
size_t tarn_yaml_line(yaml_document_t *doc, const yaml_node_t *node, const char *field);
#endif
