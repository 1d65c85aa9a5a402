/* schema_map.c - the mapping between two schema versions, composed step by step. A step says
 * of each column of a version which column of the version before it comes from; a map is the
 * steps one after the other, so that all versions of a table are mapped in one way back. */
#include "catalog/schema_map.h"
#include "base/json.h"
#include "catalog/schema_map_internal.h"
#include <string.h>

/* ---- a schema as a list ---- */

static void flat_done(struct tarn_flat_schema *flat)
{
    tarn_schema_free(flat->schema);
    free(flat->columns);
    json_decref(flat->new_names);
    json_decref(flat->old_names);
    *flat = (struct tarn_flat_schema){ 0 };
}

static size_t count_columns(const struct tarn_type *type)
{
    size_t count = type->field_count;

    for (size_t i = 0; i < type->field_count; i++)
        count += count_columns(&type->fields[i].type);
    return count;
}

static void lay_out(struct tarn_flat_schema *flat, const struct tarn_type *type, size_t parent)
{
    for (size_t i = 0; i < type->field_count; i++)
        flat->columns[flat->count++] =
            (struct tarn_flat_column){ .column = &type->fields[i], .parent = parent };
}

/* The list grows behind the column that is looked at. */
static void lay_out_all(struct tarn_flat_schema *flat)
{
    lay_out(flat, &flat->schema->root, TARN_NO_COLUMN);
    for (size_t i = 0; i < flat->count; i++) {
        flat->columns[i].first = flat->count;
        lay_out(flat, &flat->columns[i].column->type, i);
    }
}

/* What is no name (in an adopted document) counts for nothing. */
static tarn_code take_renames(struct tarn_flat_schema *flat, const char *text, struct tarn_err *err)
{
    json_auto_t *renames = text ? json_loads(text, 0, NULL) : NULL;
    const char *old;
    json_t *name;

    if (!renames)
        return TARN_OK;
    flat->new_names = json_object();
    flat->old_names = json_object();
    json_object_foreach (renames, old, name) {
        if (!json_is_string(name))
            continue;
        if (json_object_set(flat->new_names, old, name) != 0 ||
            json_object_set_new(flat->old_names, json_string_value(name), json_string(old)) != 0)
            return tarn_fail_oom(err);
    }
    return TARN_OK;
}

static tarn_code flatten(const struct tarn_schema_row *row, struct tarn_flat_schema *out,
                         struct tarn_err *err)
{
    __attribute__((cleanup(flat_done))) struct tarn_flat_schema flat = { .version = row->version };
    json_auto_t *json = NULL;
    tarn_code code = tarn_json_parse(row->schema, strlen(row->schema), NULL, &json, err);

    if (code == TARN_OK)
        code = tarn_schema_parse(json, "schema", &flat.schema, err);
    if (code == TARN_OK)
        code = take_renames(&flat, row->renames, err);
    if (code != TARN_OK)
        return code;
    flat.columns = calloc(count_columns(&flat.schema->root) + 1, sizeof *flat.columns);
    if (!flat.columns)
        return tarn_fail_oom(err);
    lay_out_all(&flat);
    *out = flat;
    flat = (struct tarn_flat_schema){ 0 };
    return TARN_OK;
}

void tarn_flat_path(const struct tarn_flat_schema *flat, size_t at, struct tarn_buf *out)
{
    size_t way[TARN_SCHEMA_DEPTH_MAX + 1], depth = 0;

    for (; at != TARN_NO_COLUMN && depth < TARN_COUNT(way); at = flat->columns[at].parent)
        way[depth++] = at;
    while (depth > 0) {
        tarn_buf_adds(out, flat->columns[way[--depth]].column->name);
        if (depth > 0)
            tarn_buf_addc(out, '.');
    }
}

/* ---- one step ---- */

/* The old name of the column `name` of `next`; NULL when it is new: a rename gave its name away. */
static const char *name_before(const struct tarn_flat_schema *next, const char *name)
{
    const char *old = json_string_value(json_object_get(next->old_names, name));

    if (old)
        return old;
    return json_object_get(next->new_names, name) ? NULL : name;
}

/* The column of `before` that column `i` of `next` comes from, when their holders (or both
 * schemas) are `a` and `b`, columns of one kind; `first` is where b's columns stand. */
static size_t find_before(const struct tarn_flat_schema *next, size_t i, size_t ordinal,
                          const struct tarn_type *b, size_t first)
{
    bool is_top = next->columns[i].parent == TARN_NO_COLUMN;
    const char *name = next->columns[i].column->name;

    if (b->kind != TARN_T_STRUCT)
        return first + ordinal;
    if (is_top)
        name = name_before(next, name);
    size_t at = name ? tarn_struct_find(b, name, ordinal) : TARN_NO_COLUMN;
    return at == TARN_NO_COLUMN ? at : first + at;
}

/* step[i]: where column `i` of `next` comes from. Holders stand before what they hold, so theirs is known. */
static void take_step(const struct tarn_flat_schema *next, const struct tarn_flat_schema *before,
                      size_t *step)
{
    for (size_t i = 0; i < next->count; i++) {
        size_t parent = next->columns[i].parent;
        if (parent == TARN_NO_COLUMN) {
            step[i] = find_before(next, i, i, &before->schema->root, 0);
            continue;
        }
        const struct tarn_flat_column *holder = &next->columns[parent], *was = NULL;
        step[i] = TARN_NO_COLUMN;
        if (step[parent] != TARN_NO_COLUMN)
            was = &before->columns[step[parent]];
        if (was && was->column->type.kind == holder->column->type.kind)
            step[i] = find_before(next, i, i - holder->first, &was->column->type, was->first);
    }
}

/* ---- the map ---- */

void tarn_schema_map_free(struct tarn_schema_map *map)
{
    if (!map)
        return;
    for (size_t i = 0; map->defaults && i < map->newest.count; i++)
        json_decref(map->defaults[i]);
    free(map->defaults);
    free(map->origins);
    flat_done(&map->newest);
    flat_done(&map->reached);
    free(map);
}

tarn_code tarn_schema_map_new(const struct tarn_schema_row *newest, struct tarn_schema_map **out,
                              struct tarn_err *err)
{
    TARN_AUTO(schema_map) struct tarn_schema_map *map = calloc(1, sizeof *map);

    if (!map)
        return tarn_fail_oom(err);
    tarn_code code = flatten(newest, &map->newest, err);
    if (code == TARN_OK)
        code = flatten(newest, &map->reached, err);
    if (code != TARN_OK)
        return code;
    map->origins = calloc(map->newest.count + 1, sizeof *map->origins);
    map->defaults = calloc(map->newest.count + 1, sizeof *map->defaults);
    if (!map->origins || !map->defaults)
        return tarn_fail_oom(err);
    for (size_t i = 0; i < map->newest.count; i++)
        map->origins[i] = i;
    *out = tarn_take(&map);
    return TARN_OK;
}

tarn_code tarn_schema_map_back(struct tarn_schema_map *map, const struct tarn_schema_row *row,
                               struct tarn_err *err)
{
    __attribute__((cleanup(flat_done))) struct tarn_flat_schema before = { 0 };
    tarn_code code = flatten(row, &before, err);

    if (code != TARN_OK)
        return code;
    TARN_AUTO(mem) size_t *step = calloc(map->reached.count + 1, sizeof *step);
    if (!step)
        return tarn_fail_oom(err);
    take_step(&map->reached, &before, step);
    for (size_t i = 0; i < map->newest.count; i++) {
        size_t at = map->origins[i];
        if (at == TARN_NO_COLUMN)
            continue;
        map->origins[i] = step[at];
        if (step[at] == TARN_NO_COLUMN)
            map->defaults[i] = json_incref(map->reached.columns[at].column->default_value);
    }
    flat_done(&map->reached);
    map->reached = before;
    before = (struct tarn_flat_schema){ 0 };
    return TARN_OK;
}

tarn_code tarn_schema_map_of(const struct tarn_schema_row *rows, size_t count, int64_t from,
                             struct tarn_schema_map **out, struct tarn_err *err)
{
    TARN_AUTO(schema_map) struct tarn_schema_map *map = NULL;
    tarn_code code =
        count > 0 ? tarn_schema_map_new(&rows[count - 1], &map, err) : TARN_SCHEMA_VERSION_NOT_FOUND;

    for (size_t i = count; code == TARN_OK && i > 1 && rows[i - 1].version > from; i--)
        code = tarn_schema_map_back(map, &rows[i - 2], err);
    if (code == TARN_OK && map->reached.version != from)
        code = TARN_SCHEMA_VERSION_NOT_FOUND;
    if (code == TARN_SCHEMA_VERSION_NOT_FOUND)
        return tarn_fail(err, code, "the table has no schema version %lld", (long long)from);
    if (code == TARN_OK)
        *out = tarn_take(&map);
    return code;
}

int64_t tarn_schema_map_from(const struct tarn_schema_map *map) { return map->reached.version; }

/* The column of `newest` by its dotted path. */
static size_t find_newest(const struct tarn_schema_map *map, const char *name)
{
    TARN_AUTO_DONE(buf) struct tarn_buf path = { 0 };

    for (size_t i = 0; i < map->newest.count; i++) {
        tarn_buf_clear(&path);
        tarn_flat_path(&map->newest, i, &path);
        if (!path.failed && strcmp(path.data, name) == 0)
            return i;
    }
    return TARN_NO_COLUMN;
}

bool tarn_schema_map_source(const struct tarn_schema_map *map, const char *name, bool *known,
                            struct tarn_buf *out)
{
    size_t at = find_newest(map, name);

    *known = at != TARN_NO_COLUMN;
    if (!*known || map->origins[at] == TARN_NO_COLUMN)
        return false;
    tarn_flat_path(&map->reached, map->origins[at], out);
    return true;
}

bool tarn_schema_map_bounds(const struct tarn_schema_map *map, const char *name, bool *known,
                            struct tarn_buf *out)
{
    size_t at = find_newest(map, name);

    if (!tarn_schema_map_source(map, name, known, out))
        return false;
    const struct tarn_type *was = &map->reached.columns[map->origins[at]].column->type;
    return tarn_type_step(was, &map->newest.columns[at].column->type) <= TARN_STEP_LOOSE;
}
