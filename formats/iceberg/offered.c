/* offered.c - a document that another writer made: each part must be one that readers open, and be known by an id of its own. What the
 * catalog holds was judged as it came, so this is asked once. Source: the reference's parsers, which refuse the whole document. */
#include "formats/iceberg/parts.h"
#include "formats/iceberg/value.h"
#include "formats/iceberg/view_parts.h"
#include <stdlib.h>
#include <string.h>

/* Says which item of which list it was. */
static tarn_code place(tarn_code code, const char *list, size_t i, struct tarn_err *err)
{
    char detail[sizeof err->detail];

    if (code != TARN_INVALID || !err)
        return code;
    memcpy(detail, err->detail, sizeof detail);
    return tarn_fail_field(err, list, "%s[%zu]: %s", list, i, detail);
}

/* --- lists whose items have a number --- */

static tarn_code check_schema(const struct tarn_iceberg_meta *meta, size_t i, struct tarn_err *err)
{
    return tarn_iceberg_schema_check(meta->schemas.items[i].doc, TARN_ICEBERG_FORMAT_MAX, err); /* a later type in an earlier version is read */
}

static tarn_code check_spec(const struct tarn_iceberg_meta *meta, size_t i, struct tarn_err *err)
{
    return tarn_iceberg_spec_form(meta->specs.items[i].doc, err);
}

static tarn_code check_order(const struct tarn_iceberg_meta *meta, size_t i, struct tarn_err *err)
{
    return tarn_iceberg_order_form(meta->orders.items[i].doc, err);
}

static tarn_code check_snapshot(const struct tarn_iceberg_meta *meta, size_t i, struct tarn_err *err)
{
    json_auto_t *doc = tarn_iceberg_snapshot_tree(&meta->snapshots.items[i]);

    return doc ? tarn_iceberg_snapshot_form(doc, &meta->snapshots.items[i], err) : tarn_fail_oom(err);
}

#define NUMBERED(name)                                                                                            \
    static size_t count_##name(const struct tarn_iceberg_meta *meta) { return meta->name.count; }                 \
    static int64_t id_##name(const struct tarn_iceberg_meta *meta, size_t i) { return meta->name.items[i].id; }
NUMBERED(schemas)
NUMBERED(specs)
NUMBERED(orders)
NUMBERED(snapshots)

static const struct numbered {
    const char *list, *key;
    size_t (*count)(const struct tarn_iceberg_meta *meta);
    int64_t (*id)(const struct tarn_iceberg_meta *meta, size_t i);
    tarn_code (*check)(const struct tarn_iceberg_meta *meta, size_t i, struct tarn_err *err);
} k_numbered[] = {
    { "schemas", "schema-id", count_schemas, id_schemas, check_schema },
    { "partition-specs", "spec-id", count_specs, id_specs, check_spec },
    { "sort-orders", "order-id", count_orders, id_orders, check_order },
    { "snapshots", "snapshot-id", count_snapshots, id_snapshots, check_snapshot },
};

static tarn_code check_numbered(const struct tarn_iceberg_meta *meta, const struct numbered *list, struct tarn_err *err)
{
    size_t count = list->count(meta);
    TARN_AUTO(mem) int64_t *ids = malloc((count + 1) * sizeof *ids);

    if (!ids)
        return tarn_fail_oom(err);
    for (size_t i = 0; i < count; i++) {
        ids[i] = list->id(meta, i);
        TARN_TRY(place(list->check(meta, i, err), list->list, i, err));
    }
    return tarn_iceberg_check_unique(list->list, list->key, ids, count, err);
}

/* --- the others --- */

static tarn_code check_all(const json_t *items, const char *list, tarn_code (*check)(const json_t *doc, struct tarn_err *err),
                           struct tarn_err *err)
{
    for (size_t i = 0; i < json_array_size(items); i++)
        TARN_TRY(place(check(json_array_get(items, i), err), list, i, err));
    return TARN_OK;
}

static tarn_code check_keys(const json_t *keys, struct tarn_err *err)
{
    TARN_TRY(check_all(keys, "encryption-keys", tarn_iceberg_key_form, err));
    for (size_t i = 0; i < json_array_size(keys); i++)
        for (size_t j = 0; j < i; j++)
            if (json_equal(json_object_get(json_array_get(keys, i), "key-id"), json_object_get(json_array_get(keys, j), "key-id")))
                return tarn_fail_field(err, "encryption-keys", "Cannot parse encryption-keys: two have the key-id %.100s",
                                       json_string_value(json_object_get(json_array_get(keys, i), "key-id")));
    return TARN_OK;
}

tarn_code tarn_iceberg_check_offered(const struct tarn_iceberg_meta *meta, struct tarn_err *err)
{
    for (size_t i = 0; i < TARN_COUNT(k_numbered); i++)
        TARN_TRY(check_numbered(meta, &k_numbered[i], err));
    for (size_t i = 0; i < meta->refs.count; i++)
        TARN_TRY(tarn_iceberg_ref_form(meta->refs.items[i].doc, meta->refs.items[i].is_tag, err));
    TARN_TRY(check_keys(meta->encryption_keys, err));
    TARN_TRY(check_all(meta->statistics, "statistics", tarn_iceberg_statistics_form, err));
    return check_all(meta->partition_statistics, "partition-statistics", tarn_iceberg_partition_statistics_form, err);
}

/* --- views --- */

static bool has_schema(const struct tarn_iceberg_view *view, int64_t id)
{
    for (size_t i = 0; i < view->schemas.count; i++)
        if (view->schemas.items[i].id == id)
            return true;
    return false;
}

static tarn_code check_versions(const struct tarn_iceberg_view *view, int64_t *ids, struct tarn_err *err)
{
    const struct tarn_iceberg_view_version *current = tarn_iceberg_view_version_of(view, view->current_version_id);

    for (size_t i = 0; i < view->versions.count; i++) {
        ids[i] = view->versions.items[i].id;
        TARN_TRY(place(tarn_iceberg_view_version_form(view->versions.items[i].doc, err), "versions", i, err));
    }
    if (current && !has_schema(view, current->schema_id))
        return tarn_fail_field(err, "schemas", "Cannot find current schema with id %lld in schemas", (long long)current->schema_id);
    return tarn_iceberg_check_unique("versions", "version-id", ids, view->versions.count, err);
}

tarn_code tarn_iceberg_view_check_offered(const struct tarn_iceberg_view *view, struct tarn_err *err)
{
    TARN_AUTO(mem) int64_t *ids = malloc((view->versions.count + view->schemas.count + 1) * sizeof *ids);

    if (!ids)
        return tarn_fail_oom(err);
    TARN_TRY(check_versions(view, ids, err));
    for (size_t i = 0; i < view->schemas.count; i++) {
        ids[i] = view->schemas.items[i].id;
        TARN_TRY(place(tarn_iceberg_schema_check(view->schemas.items[i].doc, TARN_ICEBERG_FORMAT_MAX, err), "schemas", i, err));
    }
    return tarn_iceberg_check_unique("schemas", "schema-id", ids, view->schemas.count, err);
}
