/* schema_map_fit.c - a file is written with one schema version and read as
 * another. What it may look like is the business of the version it was
 * written with; what may be null is the business of the one it is read as. */
#include "catalog/schema_map.h"
#include "catalog/schema_map_internal.h"
#include <string.h>

/* Columns that are required now are required of the file. */
static void tighten(const struct tarn_schema_map *map)
{
    for (size_t i = 0; i < map->newest.count; i++) {
        size_t at = map->origins[i];
        if (at != TARN_NO_COLUMN && !map->newest.columns[i].column->nullable)
            map->reached.columns[at].column->nullable = false;
    }
}

static bool is_key(const json_t *keys, const char *name)
{
    size_t i;
    json_t *key;

    json_array_foreach ((json_t *)keys, i, key) {
        if (json_is_string(key) && strcmp(json_string_value(key), name) == 0)
            return true;
    }
    return false;
}

/* Will rows of the file hold null where there must be a
 * value? What its holder lacks is told of the holder. */
static bool is_missing(const struct tarn_schema_map *map, size_t i, const json_t *keys)
{
    const struct tarn_flat_column *c = &map->newest.columns[i];

    if (c->column->nullable || map->origins[i] != TARN_NO_COLUMN || map->defaults[i])
        return false;
    if (c->parent == TARN_NO_COLUMN)
        return !is_key(keys, c->column->name);
    return map->origins[c->parent] != TARN_NO_COLUMN;
}

void tarn_schema_map_fit(const struct tarn_schema_map *map, const struct tarn_schema *file,
                         const json_t *partition_keys, tarn_drift_fn *fn, void *ctx)
{
    TARN_AUTO_DONE(buf) struct tarn_buf path = { 0 };

    tighten(map);
    tarn_schema_drift(map->reached.schema, file, partition_keys, fn, ctx);
    for (size_t i = 0; i < map->newest.count; i++) {
        if (!is_missing(map, i, partition_keys))
            continue;
        tarn_buf_clear(&path);
        tarn_flat_path(&map->newest, i, &path);
        fn(ctx, &(struct tarn_drift){ .kind = TARN_DRIFT_MISSING_REQUIRED,
                                      .column = path.failed ? "" : path.data,
                                      .registered = &map->newest.columns[i].column->type });
    }
}

static void note_misfit(void *ctx, const struct tarn_drift *drift)
{
    bool *fits = ctx;

    if (drift->kind != TARN_DRIFT_NULLS_UNKNOWN && drift->kind != TARN_DRIFT_REORDERED &&
        drift->kind != TARN_DRIFT_PARTITION_COLUMN)
        *fits = false;
}

bool tarn_schema_fits(const struct tarn_schema *schema, const struct tarn_schema *file,
                      const json_t *partition_keys)
{
    bool fits = true;

    tarn_schema_drift(schema, file, partition_keys, note_misfit, &fits);
    return fits;
}
