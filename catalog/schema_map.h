/* schema_map.h - how a file that was written with an older schema version is read as
 * the newest one. The mapping begins at the newest version, where each column is
 * itself, and goes back one version at a time: a rename is followed in the step that
 * made it, and a column that one version lacked is another column before it. */
#ifndef TARN_CATALOG_SCHEMA_MAP_H
#define TARN_CATALOG_SCHEMA_MAP_H
#include "base/jsonw.h"
#include "catalog/schema.h"
#include "catalog/types.h"

struct tarn_schema_map;

/* The newest version read as itself; rows are borrowed for the call, here and below. */
TARN_MUST tarn_code tarn_schema_map_new(const struct tarn_schema_row *newest, struct tarn_schema_map **out,
                                        struct tarn_err *err);
/* The version before the one reached so far: the next lower one that
 * the table has. On failure the map is only fit to be freed. */
TARN_MUST tarn_code tarn_schema_map_back(struct tarn_schema_map *map, const struct tarn_schema_row *row,
                                         struct tarn_err *err);
/* All steps: `rows` oldest first, the last one is the newest.
 * TARN_SCHEMA_VERSION_NOT_FOUND when `from` is none of them. */
TARN_MUST tarn_code tarn_schema_map_of(const struct tarn_schema_row *rows, size_t count, int64_t from,
                                       struct tarn_schema_map **out, struct tarn_err *err);
void tarn_schema_map_free(struct tarn_schema_map *map);
TARN_DEFINE_AUTO(schema_map, struct tarn_schema_map)

int64_t tarn_schema_map_from(const struct tarn_schema_map *map); /* the version reached */
/* {"from","to","fields":[{"name","type","source","cast","default"}]}: every column
 * of the newest version, nested ones after the one that holds them, by dotted path.
 * `type` of these is the bare word (struct, list, map). `source` and `cast` null:
 * there is no such column in the file, `default` is then what its rows hold. */
void tarn_schema_map_write(const struct tarn_schema_map *map, struct tarn_jsonw *w);
/* The dotted path in the file of the newest version's column `name`, added to `out`;
 * false: the file has none, or the schema has no such column (*known says which). */
bool tarn_schema_map_source(const struct tarn_schema_map *map, const char *name, bool *known,
                            struct tarn_buf *out);
/* The same, of a column whose bounds in the file still hold
 * for the newest version: its type is the same or wider. */
bool tarn_schema_map_bounds(const struct tarn_schema_map *map, const char *name, bool *known,
                            struct tarn_buf *out);

/* schema_map_fit.c: does a file fit the version reached, so that what is read as the newest
 * version is right? As tarn_schema_drift against that version, but what the newest one
 * requires counts as required, also where the file has no column and the schema no default. */
void tarn_schema_map_fit(const struct tarn_schema_map *map, const struct tarn_schema *file,
                         const json_t *partition_keys, tarn_drift_fn *fn, void *ctx);
/* Is the file exactly what the schema says? Order, partition columns and nulls that nobody counted aside. */
bool tarn_schema_fits(const struct tarn_schema *schema, const struct tarn_schema *file,
                      const json_t *partition_keys);
#endif
