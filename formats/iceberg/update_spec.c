/* update_spec.c - partition specs and sort orders added, made the default, removed. One that the table had before keeps its
 * old id. */
#include "formats/iceberg/build.h"
#include "formats/iceberg/value.h"

/* Clients that create a table may add its spec and order before they make its schema current, or even before they add it:
 * then the newest one counts, and what has no fields needs none. */
static const json_t *current_schema(const struct tarn_iceberg_meta *meta)
{
    const struct tarn_iceberg_schema *schema = tarn_iceberg_schema_of(meta, meta->current_schema_id);

    if (!schema && meta->schemas.count > 0)
        schema = &meta->schemas.items[meta->schemas.count - 1];
    return schema ? schema->doc : NULL;
}

/* Which id does it get? *is_old: the table has it. */
static int64_t spec_id(const struct tarn_iceberg_meta *meta, const json_t *spec, bool *is_old)
{
    int64_t id = 0;

    *is_old = false;
    for (size_t i = 0; i < meta->specs.count; i++) {
        if (tarn_iceberg_spec_compatible(meta->specs.items[i].doc, spec)) {
            *is_old = true;
            return meta->specs.items[i].id;
        }
        if (meta->specs.items[i].id >= id)
            id = meta->specs.items[i].id + 1;
    }
    return id;
}

static tarn_code put_spec(struct tarn_iceberg_build *build, json_t *bound, int64_t id, struct tarn_err *err)
{
    struct tarn_iceberg_spec item = { id, bound };

    if (json_object_set_new(bound, "spec-id", json_integer(id)) != 0) {
        json_decref(bound);
        return tarn_fail_oom(err);
    }
    tarn_code code = tarn_iceberg_add_spec(build->meta, item, err);
    if (code == TARN_OK)
        code = tarn_iceberg_ids_add(&build->specs, id, err);
    build->last_spec = id;
    build->changed = true;
    return code;
}

tarn_code tarn_iceberg_add_spec_update(struct tarn_iceberg_build *build, const json_t *doc, struct tarn_err *err)
{
    struct tarn_iceberg_meta *meta = build->meta;
    const json_t *spec = NULL, *schema = current_schema(meta);
    json_t *bound = NULL;
    int64_t last_id = meta->last_partition_id;
    bool is_old = false;
    tarn_code code = tarn_iceberg_need_object(doc, "spec", &spec, err);

    if (code == TARN_OK && !schema && json_array_size(json_object_get(spec, "fields")) > 0)
        code = tarn_fail_field(err, "spec", "Cannot add a partition spec before a schema is added");
    if (code == TARN_OK)
        code = tarn_iceberg_spec_bind(spec, meta, schema, &last_id, &bound, err);
    if (code != TARN_OK)
        return code;
    int64_t id = spec_id(meta, bound, &is_old);
    if (is_old) {
        json_decref(bound);
        build->last_spec = tarn_iceberg_ids_have(&build->specs, id) ? id : TARN_ICEBERG_NONE;
        return TARN_OK;
    }
    meta->last_partition_id = last_id;
    return put_spec(build, bound, id, err);
}

tarn_code tarn_iceberg_set_default_spec(struct tarn_iceberg_build *build, const json_t *doc, struct tarn_err *err)
{
    int64_t id = 0;
    tarn_code code = tarn_iceberg_need_i64(doc, "spec-id", &id, err);

    if (code != TARN_OK)
        return code;
    if (id == -1 && build->last_spec == TARN_ICEBERG_NONE)
        return tarn_fail_field(err, "spec-id", "Cannot set last added spec: no spec has been added");
    if (id == -1)
        id = build->last_spec;
    if (id == build->meta->default_spec_id)
        return TARN_OK;
    if (!tarn_iceberg_spec_of(build->meta, id))
        return tarn_fail_field(err, "spec-id", "Cannot set default partition spec to unknown spec: %lld", (long long)id);
    build->meta->default_spec_id = id;
    build->changed = true;
    return TARN_OK;
}

static bool is_kept(const void *ctx, int64_t id) { return !tarn_iceberg_ids_have(ctx, id); }

tarn_code tarn_iceberg_remove_specs(struct tarn_iceberg_build *build, const json_t *doc, struct tarn_err *err)
{
    struct tarn_iceberg_ids gone = { 0 };
    tarn_code code = tarn_iceberg_ids_read(doc, "spec-ids", &gone, err);

    if (code == TARN_OK && tarn_iceberg_ids_have(&gone, build->meta->default_spec_id))
        code = tarn_fail_field(err, "spec-ids", "Cannot remove the default partition spec");
    if (code == TARN_OK && gone.count > 0) {
        tarn_iceberg_keep_specs(build->meta, is_kept, &gone);
        build->changed = true;
    }
    free(gone.items);
    return code;
}

/* --- sort orders --- */

/* The unsorted order is always 0. */
static int64_t order_id(const struct tarn_iceberg_meta *meta, const json_t *order, bool *is_old)
{
    int64_t id = json_array_size(json_object_get(order, "fields")) == 0 ? 0 : 1;
    bool is_sorted = id == 1;

    *is_old = false;
    for (size_t i = 0; i < meta->orders.count; i++) {
        if (tarn_iceberg_order_same(meta->orders.items[i].doc, order)) {
            *is_old = true;
            return meta->orders.items[i].id;
        }
        if (is_sorted && meta->orders.items[i].id >= id)
            id = meta->orders.items[i].id + 1;
    }
    return id;
}

static tarn_code put_order(struct tarn_iceberg_build *build, json_t *bound, int64_t id, struct tarn_err *err)
{
    struct tarn_iceberg_order item = { id, bound };

    if (json_object_set_new(bound, "order-id", json_integer(id)) != 0) {
        json_decref(bound);
        return tarn_fail_oom(err);
    }
    tarn_code code = tarn_iceberg_add_order(build->meta, item, err);
    if (code == TARN_OK)
        code = tarn_iceberg_ids_add(&build->orders, id, err);
    build->last_order = id;
    build->changed = true;
    return code;
}

tarn_code tarn_iceberg_add_order_update(struct tarn_iceberg_build *build, const json_t *doc, struct tarn_err *err)
{
    const json_t *order = NULL, *schema = current_schema(build->meta);
    json_t *bound = NULL;
    bool is_old = false;
    tarn_code code = tarn_iceberg_need_object(doc, "sort-order", &order, err);

    if (code == TARN_OK && !schema && json_array_size(json_object_get(order, "fields")) > 0)
        code = tarn_fail_field(err, "sort-order", "Cannot add a sort order before a schema is added");
    if (code == TARN_OK)
        code = tarn_iceberg_order_bind(order, schema, &bound, err);
    if (code != TARN_OK)
        return code;
    int64_t id = order_id(build->meta, bound, &is_old);
    if (!is_old)
        return put_order(build, bound, id, err);
    json_decref(bound);
    build->last_order = tarn_iceberg_ids_have(&build->orders, id) ? id : TARN_ICEBERG_NONE;
    return TARN_OK;
}

tarn_code tarn_iceberg_set_default_order(struct tarn_iceberg_build *build, const json_t *doc, struct tarn_err *err)
{
    int64_t id = 0;
    tarn_code code = tarn_iceberg_need_i64(doc, "sort-order-id", &id, err);

    if (code != TARN_OK)
        return code;
    if (id == -1 && build->last_order == TARN_ICEBERG_NONE)
        return tarn_fail_field(err, "sort-order-id", "Cannot set last added sort order: no sort order has been added");
    if (id == -1)
        id = build->last_order;
    if (id == build->meta->default_order_id)
        return TARN_OK;
    if (!tarn_iceberg_order_of(build->meta, id))
        return tarn_fail_field(err, "sort-order-id", "Cannot set default sort order to unknown sort order: %lld",
                               (long long)id);
    build->meta->default_order_id = id;
    build->changed = true;
    return TARN_OK;
}
