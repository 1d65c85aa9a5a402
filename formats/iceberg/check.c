/* check.c - what must hold of every document, read or built. Source: the reference's TableMetadata (constructor, build). */
#include "formats/iceberg/parts.h"
#include "formats/iceberg/value.h"
#include <ctype.h>
#include <string.h>

/* Clocks of writers differ: so much disorder between entries of a log is let pass. */
enum { TOLERANCE_MS = 60 * 1000 };

static tarn_code check_current(const struct tarn_iceberg_meta *meta, struct tarn_err *err)
{
    const struct tarn_iceberg_schema *schema = tarn_iceberg_schema_of(meta, meta->current_schema_id);
    const struct tarn_iceberg_spec *spec = tarn_iceberg_spec_of(meta, meta->default_spec_id);
    const struct tarn_iceberg_order *order = tarn_iceberg_order_of(meta, meta->default_order_id);

    if (!schema)
        return tarn_fail_field(err, "current-schema-id", "Cannot find schema with current-schema-id=%lld from schemas",
                               (long long)meta->current_schema_id);
    if (meta->specs.count == 0)
        return tarn_fail_field(err, "partition-specs", "Partition specs cannot be null or empty");
    if (meta->orders.count == 0)
        return tarn_fail_field(err, "sort-orders", "Sort orders cannot be null or empty");
    if (!spec)
        return tarn_fail_field(err, "default-spec-id", "Cannot find the default partition spec: %lld",
                               (long long)meta->default_spec_id);
    if (!order)
        return tarn_fail_field(err, "default-sort-order-id", "Cannot find the default sort order: %lld",
                               (long long)meta->default_order_id);
    tarn_code code = tarn_iceberg_spec_check(spec->doc, schema->doc, err);
    return code == TARN_OK ? tarn_iceberg_order_check(order->doc, schema->doc, err) : code;
}

static tarn_code check_spec_ids(const struct tarn_iceberg_spec *spec, struct tarn_err *err)
{
    tarn_code code = tarn_iceberg_check_id("spec-id", spec->id, err);
    size_t i;
    json_t *field;

    json_array_foreach(json_object_get(spec->doc, "fields"), i, field)
        if (code == TARN_OK)
            code = tarn_iceberg_check_id("field-id", json_integer_value(json_object_get(field, "field-id")), err);
    return code;
}

static tarn_code check_ids(const struct tarn_iceberg_meta *meta, struct tarn_err *err)
{
    tarn_code code = tarn_iceberg_check_id("last-column-id", meta->last_column_id, err);

    if (code == TARN_OK)
        code = tarn_iceberg_check_id("last-partition-id", meta->last_partition_id, err);
    for (size_t i = 0; i < meta->schemas.count && code == TARN_OK; i++)
        code = tarn_iceberg_check_id("schema-id", meta->schemas.items[i].id, err);
    for (size_t i = 0; i < meta->specs.count && code == TARN_OK; i++)
        code = check_spec_ids(&meta->specs.items[i], err);
    for (size_t i = 0; i < meta->orders.count && code == TARN_OK; i++)
        code = tarn_iceberg_check_id("order-id", meta->orders.items[i].id, err);
    return code;
}

static tarn_code check_snapshots(const struct tarn_iceberg_meta *meta, struct tarn_err *err)
{
    if (meta->format_version == 1 && meta->last_sequence_number != 0)
        return tarn_fail_field(err, "last-sequence-number", "Last sequence number must be 0 in v1. Found %lld",
                               (long long)meta->last_sequence_number);
    for (size_t i = 0; i < meta->snapshots.count; i++)
        if (meta->snapshots.items[i].sequence_number > meta->last_sequence_number)
            return tarn_fail_field(err, "snapshots",
                                   "Invalid snapshot with sequence number %lld greater than last sequence number %lld",
                                   (long long)meta->snapshots.items[i].sequence_number,
                                   (long long)meta->last_sequence_number);
    return TARN_OK;
}

static tarn_code check_refs(const struct tarn_iceberg_meta *meta, struct tarn_err *err)
{
    const struct tarn_iceberg_ref *main = tarn_iceberg_ref_of(meta, "main");
    int64_t head = main ? main->snapshot_id : TARN_ICEBERG_NONE;

    for (size_t i = 0; i < meta->refs.count; i++)
        if (!tarn_iceberg_snapshot_of(meta, meta->refs.items[i].snapshot_id))
            return tarn_fail_field(err, "refs", "Snapshot for reference %.100s does not exist in the existing snapshots list",
                                   meta->refs.items[i].name);
    if (meta->current_snapshot_id != TARN_ICEBERG_NONE && !tarn_iceberg_snapshot_of(meta, meta->current_snapshot_id))
        return tarn_fail_field(err, "current-snapshot-id", "Cannot find the current snapshot: %lld",
                               (long long)meta->current_snapshot_id);
    if (head != meta->current_snapshot_id)
        return tarn_fail_field(err, "refs", "Current snapshot ID does not match main branch (%lld != %lld)",
                               (long long)meta->current_snapshot_id, (long long)head);
    return TARN_OK;
}

static tarn_code check_logs(const struct tarn_iceberg_meta *meta, struct tarn_err *err)
{
    int64_t last = INT64_MIN / 2;

    for (size_t i = 0; i < meta->snapshot_log.count; i++) {
        if (meta->snapshot_log.items[i].timestamp_ms < last - TOLERANCE_MS)
            return tarn_fail_field(err, "snapshot-log", "Expected sorted snapshot log entries");
        last = meta->snapshot_log.items[i].timestamp_ms;
    }
    if (meta->last_updated_ms < last - TOLERANCE_MS)
        return tarn_fail_field(err, "last-updated-ms", "Invalid update timestamp %lld: before last snapshot log entry at %lld",
                               (long long)meta->last_updated_ms, (long long)last);
    last = INT64_MIN / 2;
    for (size_t i = 0; i < meta->metadata_log.count; i++) {
        if (meta->metadata_log.items[i].timestamp_ms < last - TOLERANCE_MS)
            return tarn_fail_field(err, "metadata-log", "Expected sorted previous metadata log entries");
        last = meta->metadata_log.items[i].timestamp_ms;
    }
    if (meta->last_updated_ms < last - TOLERANCE_MS)
        return tarn_fail_field(err, "last-updated-ms", "Invalid update timestamp %lld: before the latest metadata log entry timestamp %lld",
                               (long long)meta->last_updated_ms, (long long)last);
    return TARN_OK;
}

/* 8-4-4-4-12 digits; clients refuse to read a table whose id is another text. */
static bool is_uuid(const char *text)
{
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

    if (strlen(text) != sizeof form - 1)
        return false;
    for (size_t i = 0; form[i]; i++)
        if (form[i] == '-' ? text[i] != '-' : !isxdigit((unsigned char)text[i]))
            return false;
    return true;
}

tarn_code tarn_iceberg_check(const struct tarn_iceberg_meta *meta, struct tarn_err *err)
{
    tarn_code code = check_current(meta, err);

    if (code == TARN_OK && meta->format_version >= 2 && !meta->uuid)
        code = tarn_fail_field(err, "table-uuid", "UUID is required in format v%lld", (long long)meta->format_version);
    if (code == TARN_OK && meta->uuid && !is_uuid(meta->uuid))
        code = tarn_fail_field(err, "table-uuid", "Invalid UUID string: %.100s", meta->uuid);
    if (code == TARN_OK && (!meta->location || *meta->location == '\0'))
        code = tarn_fail_field(err, "location", "Location cannot be null");
    if (code == TARN_OK)
        code = check_ids(meta, err);
    if (code == TARN_OK)
        code = check_snapshots(meta, err);
    if (code == TARN_OK)
        code = check_refs(meta, err);
    return code == TARN_OK ? check_logs(meta, err) : code;
}
