/* schema_map_write.c - a mapping as JSON, the form of .../schemas/{n}/mapping and of schema_cache.json. */
#include "catalog/schema_map.h"
#include "catalog/schema_map_internal.h"
#include <stdio.h>
#include <string.h>

#define TYPE_TEXT 96

struct writing {
    const struct tarn_schema_map *map;
    struct tarn_jsonw *w;
    struct tarn_buf path, source;
};

/* A leaf's spelling; of others the word alone, their columns follow. */
static void format_type(const struct tarn_type *type, char out[TYPE_TEXT])
{
    tarn_type_format(type, out, TYPE_TEXT);
    if (type->kind >= TARN_T_STRUCT)
        out[strcspn(out, "<")] = '\0';
}

static bool is_cast(const struct tarn_type *from, const struct tarn_type *to)
{
    if (from->kind != to->kind)
        return true;
    return to->kind < TARN_T_STRUCT && !tarn_type_equal(from, to);
}

static void write_cast(struct tarn_jsonw *w, const struct tarn_type *from, const struct tarn_type *to)
{
    char before[TYPE_TEXT], after[TYPE_TEXT], cast[2 * TYPE_TEXT + 2];

    if (!is_cast(from, to)) {
        tarn_jsonw_null(w);
        return;
    }
    format_type(from, before);
    format_type(to, after);
    snprintf(cast, sizeof cast, "%s->%s", before, after);
    tarn_jsonw_str(w, cast);
}

static void write_source(struct writing *c, const struct tarn_type *type, size_t origin)
{
    tarn_jsonw_key(c->w, "source");
    if (origin == TARN_NO_COLUMN) {
        tarn_jsonw_null(c->w);
        tarn_jsonw_kstr(c->w, "cast", NULL);
        return;
    }
    tarn_buf_clear(&c->source);
    tarn_flat_path(&c->map->reached, origin, &c->source);
    c->w->out->failed |= c->source.failed;
    tarn_jsonw_str(c->w, c->source.data);
    tarn_jsonw_key(c->w, "cast");
    write_cast(c->w, &c->map->reached.columns[origin].column->type, type);
}

static void write_column(struct writing *c, size_t at)
{
    const struct tarn_type *type = &c->map->newest.columns[at].column->type;
    char text[TYPE_TEXT];

    tarn_buf_clear(&c->path);
    tarn_flat_path(&c->map->newest, at, &c->path);
    c->w->out->failed |= c->path.failed;
    format_type(type, text);
    tarn_jsonw_object(c->w);
    tarn_jsonw_kstr(c->w, "name", c->path.data);
    tarn_jsonw_kstr(c->w, "type", text);
    write_source(c, type, c->map->origins[at]);
    tarn_jsonw_key(c->w, "default");
    c->map->defaults[at] ? tarn_jsonw_json(c->w, c->map->defaults[at]) : tarn_jsonw_null(c->w);
    tarn_jsonw_object_end(c->w);
}

/* Depth first; what cannot be written any more is not looked at. */
static void write_columns(struct writing *c, size_t first, size_t count)
{
    for (size_t i = first; i < first + count && !c->w->out->failed; i++) {
        const struct tarn_flat_column *column = &c->map->newest.columns[i];
        write_column(c, i);
        write_columns(c, column->first, column->column->type.field_count);
    }
}

void tarn_schema_map_write(const struct tarn_schema_map *map, struct tarn_jsonw *w)
{
    struct writing c = { .map = map, .w = w };

    tarn_jsonw_object(w);
    tarn_jsonw_ki64(w, "from", map->reached.version);
    tarn_jsonw_ki64(w, "to", map->newest.version);
    tarn_jsonw_key(w, "fields");
    tarn_jsonw_array(w);
    write_columns(&c, 0, map->newest.schema->root.field_count);
    tarn_jsonw_array_end(w);
    tarn_jsonw_object_end(w);
    tarn_buf_done(&c.path);
    tarn_buf_done(&c.source);
}
