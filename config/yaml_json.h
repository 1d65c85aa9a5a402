/* yaml_json.h - a YAML node as a JSON tree; private to config/, the only door to yaml.h. */
#ifndef TARN_CONFIG_YAML_JSON_H
#define TARN_CONFIG_YAML_JSON_H
#include <jansson.h>
#include <yaml.h>

/* Owned. Plain scalars have the types of YAML's core schema, as far as JSON has them. NULL: deeper than `depth_max`, too
 * many nodes (aliases can make a small file large, or lie inside themselves), a key that is no text or there twice, a
 * text with a NUL in it, or no memory. */
json_t *tarn_yaml_json(yaml_document_t *doc, const yaml_node_t *node, int depth_max);
#endif
