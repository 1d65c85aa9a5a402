/* update_schema.c - schemas added, made current, removed. A schema that the table had before keeps its old id. */
#include "formats/iceberg/build.h"
#include "formats/iceberg/value.h"

struct place { int64_t id; bool is_old; };

static struct place place_of(const struct tarn_iceberg_meta *meta, const json_t *schema)
{
    struct place place = { meta->current_schema_id == TARN_ICEBERG_NONE ? 0 : meta->current_schema_id, false };

    for (size_t i = 0; i < meta->schemas.count; i++) {
        const struct tarn_iceberg_schema *item = &meta->schemas.items[i];
        if (tarn_iceberg_schema_same(item->doc, schema))
            return (struct place){ item->id, true };
        if (item->id >= place.id)
            place.id = item->id + 1;
    }
    return place;
}

static tarn_code put_schema(struct tarn_iceberg_build *build, const json_t *schema, int64_t id, struct tarn_err *err)
{
    struct tarn_iceberg_schema item = { .id = id, .doc = tarn_iceberg_with_i64(schema, "schema-id", id) };

    if (!item.doc || (!json_object_get(item.doc, "type") &&
                      json_object_set_new(item.doc, "type", json_string("struct")) != 0)) {
        json_decref(item.doc);
        return tarn_fail_oom(err);
    }
    tarn_code code = tarn_iceberg_add_schema(build->meta, item, err);
    return code == TARN_OK ? tarn_iceberg_ids_add(&build->schemas, id, err) : code;
}

tarn_code tarn_iceberg_add_schema_update(struct tarn_iceberg_build *build, const json_t *doc, struct tarn_err *err)
{
    struct tarn_iceberg_meta *meta = build->meta;
    const json_t *schema = NULL;
    tarn_code code = tarn_iceberg_need_object(doc, "schema", &schema, err);

    if (code == TARN_OK)
        code = tarn_iceberg_schema_check(schema, meta->format_version, err);
    if (code != TARN_OK)
        return code;
    int64_t highest = tarn_iceberg_schema_highest(schema), last = meta->last_column_id;
    if (highest > meta->last_column_id)
        meta->last_column_id = highest;
    struct place place = place_of(meta, schema);
    if (place.is_old && last == meta->last_column_id) {
        build->last_schema = tarn_iceberg_ids_have(&build->schemas, place.id) ? place.id : TARN_ICEBERG_NONE;
        return TARN_OK;
    }
    if (!place.is_old)
        code = put_schema(build, schema, place.id, err);
    build->last_schema = place.id;
    build->changed = true;
    return code;
}

tarn_code tarn_iceberg_set_current_schema(struct tarn_iceberg_build *build, const json_t *doc, struct tarn_err *err)
{
    int64_t id = 0;
    tarn_code code = tarn_iceberg_need_i64(doc, "schema-id", &id, err);

    if (code != TARN_OK)
        return code;
    if (id == -1 && build->last_schema == TARN_ICEBERG_NONE)
        return tarn_fail_field(err, "schema-id", "Cannot set last added schema: no schema has been added");
    if (id == -1)
        id = build->last_schema;
    if (id == build->meta->current_schema_id)
        return TARN_OK;
    if (!tarn_iceberg_schema_of(build->meta, id))
        return tarn_fail_field(err, "schema-id", "Cannot set current schema to unknown schema: %lld", (long long)id);
    build->meta->current_schema_id = id;
    build->changed = true;
    return TARN_OK;
}

static bool is_kept(const void *ctx, int64_t id) { return !tarn_iceberg_ids_have(ctx, id); }

tarn_code tarn_iceberg_remove_schemas(struct tarn_iceberg_build *build, const json_t *doc, struct tarn_err *err)
{
    struct tarn_iceberg_ids gone = { 0 };
    tarn_code code = tarn_iceberg_ids_read(doc, "schema-ids", &gone, err);

    if (code == TARN_OK && tarn_iceberg_ids_have(&gone, build->meta->current_schema_id))
        code = tarn_fail_field(err, "schema-ids", "Cannot remove the current schema");
    if (code == TARN_OK && gone.count > 0) {
        tarn_iceberg_keep_schemas(build->meta, is_kept, &gone);
        build->changed = true;
    }
    free(gone.items);
    return code;
}
