/* create.c - the first metadata of a table, from what a client asks for: ids are the table's own, names decide what the
 * specs and orders mean. Source: the reference's TableMetadata.newTableMetadata. */
#include "formats/iceberg/parts.h"
#include "formats/iceberg/value.h"
#include <errno.h>
#include <string.h>

static const char *const k_reserved[] = { "format-version", "uuid", "snapshot-count", "current-snapshot-id",
                                          "current-snapshot-summary", "current-snapshot-timestamp-ms", "current-schema",
                                          "default-partition-spec", "default-sort-order" };

static bool is_reserved(const char *key)
{
    for (size_t i = 0; i < TARN_COUNT(k_reserved); i++)
        if (strcmp(k_reserved[i], key) == 0)
            return true;
    return false;
}

static tarn_code wanted_version(const json_t *properties, int64_t *out, struct tarn_err *err)
{
    const char *text = json_string_value(json_object_get(properties, "format-version"));
    char *end = NULL;

    *out = TARN_ICEBERG_FORMAT_DEFAULT;
    if (!text)
        return TARN_OK;
    errno = 0;
    *out = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || *out < TARN_ICEBERG_FORMAT_MIN || *out > TARN_ICEBERG_FORMAT_MAX)
        return tarn_fail_field(err, "properties", "Unsupported format version: v%.40s (supported: v%d)", text,
                               TARN_ICEBERG_FORMAT_MAX);
    return TARN_OK;
}

static tarn_code take_properties(struct tarn_iceberg_meta *meta, const json_t *properties, struct tarn_err *err)
{
    const char *key;
    json_t *value;
    tarn_code code = properties ? tarn_iceberg_check_texts(properties, "properties", err) : TARN_OK;

    if (code != TARN_OK)
        return code;
    json_object_foreach((json_t *)(uintptr_t)properties, key, value)
        if (!is_reserved(key) && json_object_set(meta->properties, key, value) != 0)
            return tarn_fail_oom(err);
    return TARN_OK;
}

static tarn_code take_schema(struct tarn_iceberg_meta *meta, const json_t *schema, json_t **map, struct tarn_err *err)
{
    struct tarn_iceberg_schema item = { .id = 0 };
    tarn_code code = tarn_iceberg_schema_check(schema, meta->format_version, err);

    if (code == TARN_OK)
        code = tarn_iceberg_schema_fresh(schema, 0, &item.doc, &meta->last_column_id, map, err);
    if (code != TARN_OK)
        return code;
    meta->current_schema_id = 0;
    return tarn_iceberg_add_schema(meta, item, err);
}

/* --- what a property promises --- */

static tarn_code check_retries(const char *key, const char *value, struct tarn_err *err)
{
    static const char *const k_keys[] = { "commit.retry.num-retries", "commit.retry.min-wait-ms", "commit.retry.max-wait-ms",
                                          "commit.retry.total-timeout-ms" };
    char *end = NULL;

    for (size_t i = 0; i < TARN_COUNT(k_keys); i++) {
        if (strcmp(key, k_keys[i]) != 0)
            continue;
        errno = 0;
        long number = strtol(value, &end, 10);
        if (errno != 0 || end == value || *end != '\0' || number > INT32_MAX || number < INT32_MIN)
            return tarn_fail_field(err, "properties", "Table property %s must have integer value", key);
        if (number < 0)
            return tarn_fail_field(err, "properties", "Table property %s must have non negative integer value", key);
    }
    return TARN_OK;
}

static tarn_code check_metrics(const char *key, const json_t *schema, struct tarn_err *err)
{
    static const char k_column[] = "write.metadata.metrics.column.";
    const char *column = key + sizeof k_column - 1;

    if (strncmp(key, k_column, sizeof k_column - 1) != 0 || tarn_iceberg_field_id_of(schema, column) != TARN_ICEBERG_NONE)
        return TARN_OK;
    return tarn_fail_field(err, "properties", "Invalid metrics config, could not find column %.100s from table prop %.150s", column, key);
}

/* At a create alone: a change of properties or of the schema later on is not held to it. */
static tarn_code check_properties(const struct tarn_iceberg_meta *meta, struct tarn_err *err)
{
    const char *key;
    json_t *value;

    json_object_foreach(meta->properties, key, value) {
        TARN_TRY(check_retries(key, json_string_value(value), err));
        TARN_TRY(check_metrics(key, meta->schemas.items[0].doc, err));
        if (meta->format_version < 3 && strncmp(key, "encryption.", strlen("encryption.")) == 0)
            return tarn_fail_field(err, "properties", "Invalid properties for v%lld: [%.150s]", (long long)meta->format_version, key);
    }
    return TARN_OK;
}

/* --- specs and orders --- */

/* The fields of a spec or an order with the new ids of their sources; `drop` (may be NULL) is left out. Owned. */
static tarn_code remap(const json_t *doc, const json_t *map, const char *drop, json_t **out, struct tarn_err *err)
{
    const json_t *fields = json_object_get(doc, "fields");
    json_t *array = json_array();
    size_t i;
    json_t *field;
    char old[24];

    json_array_foreach((json_t *)(uintptr_t)fields, i, field) {
        json_t *copy = json_copy(field);
        int64_t source = json_integer_value(json_object_get(field, "source-id"));
        snprintf(old, sizeof old, "%lld", (long long)source);
        json_t *id = json_object_get(map, old);
        if (copy && id)
            (void)json_object_set(copy, "source-id", id);
        if (copy && drop)
            (void)json_object_del(copy, drop);
        if (copy && !id) {
            json_decref(copy);
            json_decref(array);
            return tarn_fail_field(err, drop ? "partition-spec" : "write-order", "Cannot find source column: %s", old);
        }
        if (json_array_append_new(array, copy) != 0) {
            json_decref(array);
            return tarn_fail_oom(err);
        }
    }
    *out = array ? json_pack("{s:o}", "fields", array) : NULL;
    return *out ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code take_spec(struct tarn_iceberg_meta *meta, const json_t *spec, const json_t *map, struct tarn_err *err)
{
    struct tarn_iceberg_spec item = { .id = 0 };
    json_t *mapped = NULL;
    tarn_code code = remap(spec, map, "field-id", &mapped, err);

    if (code == TARN_OK)
        code = tarn_iceberg_spec_bind(mapped, meta, meta->schemas.items[0].doc, &meta->last_partition_id, &item.doc, err);
    json_decref(mapped);
    if (code != TARN_OK)
        return code;
    meta->default_spec_id = 0;
    return tarn_iceberg_add_spec(meta, item, err);
}

static tarn_code take_order(struct tarn_iceberg_meta *meta, const json_t *order, const json_t *map, struct tarn_err *err)
{
    struct tarn_iceberg_order item = { .id = 0 };
    json_t *mapped = NULL;
    tarn_code code = remap(order, map, NULL, &mapped, err);

    if (code == TARN_OK)
        code = tarn_iceberg_order_bind(mapped, meta->schemas.items[0].doc, &item.doc, err);
    json_decref(mapped);
    if (code != TARN_OK)
        return code;
    item.id = json_integer_value(json_object_get(item.doc, "order-id"));
    meta->default_order_id = item.id;
    return tarn_iceberg_add_order(meta, item, err);
}

static tarn_code fill(struct tarn_iceberg_meta *meta, const struct tarn_iceberg_create *ask, struct tarn_err *err)
{
    json_t *map = NULL;

    meta->uuid = strdup(ask->uuid);
    meta->location = strdup(ask->location);
    meta->last_updated_ms = ask->now_ms;
    if (!meta->uuid || !meta->location)
        return tarn_fail_oom(err);
    tarn_code code = take_properties(meta, ask->properties, err);
    if (code == TARN_OK)
        code = take_schema(meta, ask->schema, &map, err);
    if (code == TARN_OK)
        code = check_properties(meta, err);
    if (code == TARN_OK)
        code = take_spec(meta, ask->spec, map, err);
    if (code == TARN_OK)
        code = take_order(meta, ask->order, map, err);
    json_decref(map);
    return code == TARN_OK ? tarn_iceberg_check(meta, err) : code;
}

tarn_code tarn_iceberg_create(const struct tarn_iceberg_create *ask, struct tarn_iceberg_meta **out, struct tarn_err *err)
{
    TARN_AUTO(iceberg) struct tarn_iceberg_meta *meta = NULL;
    int64_t version = 0;
    tarn_code code = wanted_version(ask->properties, &version, err);

    if (code == TARN_OK)
        code = tarn_iceberg_blank(version, &meta, err);
    if (code == TARN_OK)
        code = fill(meta, ask, err);
    if (code == TARN_OK)
        *out = tarn_take(&meta);
    return code;
}
