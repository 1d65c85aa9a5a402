/* read.c - a metadata document to a value. What later versions of the specification made mandatory is filled in from what
 * earlier ones wrote instead; members that are not known are kept. */
#include "base/json.h"
#include "base/text.h"
#include "formats/iceberg/parts.h"
#include "formats/iceberg/value.h"
#include <string.h>

static const char *const k_known[] = {
    "format-version", "table-uuid", "location", "last-sequence-number", "last-updated-ms", "last-column-id", "schema",
    "current-schema-id", "schemas", "partition-spec", "default-spec-id", "partition-specs", "last-partition-id",
    "default-sort-order-id", "sort-orders", "properties", "current-snapshot-id", "next-row-id", "encryption-keys", "refs",
    "snapshots", "statistics", "partition-statistics", "snapshot-log", "metadata-log",
};

static bool is_known(const char *key)
{
    for (size_t i = 0; i < TARN_COUNT(k_known); i++)
        if (strcmp(k_known[i], key) == 0)
            return true;
    return false;
}

static tarn_code read_rest(struct tarn_iceberg_meta *meta, json_t *doc, struct tarn_err *err)
{
    const char *key;
    json_t *value;

    json_object_foreach(doc, key, value)
        if (!is_known(key) && json_object_set(meta->rest, key, value) != 0)
            return tarn_fail_oom(err);
    return TARN_OK;
}

static tarn_code read_head(struct tarn_iceberg_meta *meta, const json_t *doc, struct tarn_err *err)
{
    const char *uuid = NULL, *location = NULL;

    TARN_TRY(meta->format_version >= 2 ? tarn_iceberg_need_str(doc, "table-uuid", &uuid, err)
                                       : tarn_iceberg_opt_str(doc, "table-uuid", &uuid, err));
    TARN_TRY(tarn_iceberg_need_str(doc, "location", &location, err));
    if (uuid)
        TARN_TRY(tarn_text_own(&meta->uuid, strdup(uuid), err));
    TARN_TRY(tarn_text_own(&meta->location, strdup(location), err));
    if (meta->format_version >= 2)
        TARN_TRY(tarn_iceberg_need_i64(doc, "last-sequence-number", &meta->last_sequence_number, err));
    TARN_TRY(tarn_iceberg_need_i64(doc, "last-updated-ms", &meta->last_updated_ms, err));
    TARN_TRY(tarn_iceberg_need_i64(doc, "last-column-id", &meta->last_column_id, err));
    if (meta->format_version >= 3)
        TARN_TRY(tarn_iceberg_need_i64(doc, "next-row-id", &meta->next_row_id, err));
    return tarn_iceberg_opt_i64(doc, "current-snapshot-id", &meta->current_snapshot_id, err);
}

/* --- schemas, specs, orders --- */

static tarn_code add_schema(struct tarn_iceberg_meta *meta, const json_t *doc, struct tarn_err *err)
{
    struct tarn_iceberg_schema item = { .id = 0 };

    TARN_TRY(tarn_iceberg_opt_i64(doc, "schema-id", &item.id, err));
    if (!json_is_array(json_object_get(doc, "fields")))
        return tarn_fail_field(err, "schemas", "Cannot parse a schema: fields must be an array");
    item.doc = tarn_iceberg_with_i64(doc, "schema-id", item.id);
    return item.doc ? tarn_iceberg_add_schema(meta, item, err) : tarn_fail_oom(err);
}

static tarn_code read_schemas(struct tarn_iceberg_meta *meta, const json_t *doc, struct tarn_err *err)
{
    const json_t *schemas = NULL, *one = NULL;
    size_t i;
    json_t *schema;

    TARN_TRY(meta->format_version >= 2 ? tarn_iceberg_need_array(doc, "schemas", &schemas, err)
                                       : tarn_iceberg_opt_array(doc, "schemas", &schemas, err));
    if (!schemas) { /* version 1 */
        TARN_TRY(tarn_iceberg_need_object(doc, "schema", &one, err));
        TARN_TRY(add_schema(meta, one, err));
        meta->current_schema_id = meta->schemas.items[0].id;
        return TARN_OK;
    }
    json_array_foreach((json_t *)(uintptr_t)schemas, i, schema)
        TARN_TRY(add_schema(meta, schema, err));
    return tarn_iceberg_need_i64(doc, "current-schema-id", &meta->current_schema_id, err);
}

static void raise_partition_id(struct tarn_iceberg_meta *meta, const json_t *fields)
{
    size_t i;
    json_t *field;

    json_array_foreach((json_t *)(uintptr_t)fields, i, field) {
        int64_t id = json_integer_value(json_object_get(field, "field-id"));
        if (id > meta->last_partition_id)
            meta->last_partition_id = id;
    }
}

/* Fields without ids (early version 1) were numbered in order from 1000. */
static tarn_code with_field_ids(const json_t *fields, json_t **out, struct tarn_err *err)
{
    size_t i;
    json_t *field;

    *out = json_array();
    json_array_foreach((json_t *)(uintptr_t)fields, i, field) {
        bool has = json_is_integer(json_object_get(field, "field-id"));
        if (!json_is_object(field)) {
            json_decref(*out);
            return tarn_fail_field(err, "partition-specs", "Cannot parse partition field: it must be an object");
        }
        json_t *one = has ? json_incref(field)
                          : tarn_iceberg_with_i64(field, "field-id", TARN_ICEBERG_PARTITION_ID_FIRST + (int64_t)i);
        if (json_array_append_new(*out, one) != 0) {
            json_decref(*out);
            return tarn_fail_oom(err);
        }
    }
    return *out ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code add_spec(struct tarn_iceberg_meta *meta, const json_t *doc, const json_t *fields, int64_t id,
                          struct tarn_err *err)
{
    struct tarn_iceberg_spec item = { .id = id };
    json_t *numbered = NULL;

    TARN_TRY(with_field_ids(fields, &numbered, err));
    item.doc = doc ? tarn_iceberg_with_i64(doc, "spec-id", id) : json_pack("{s:I}", "spec-id", (json_int_t)id);
    if (!item.doc || json_object_set(item.doc, "fields", numbered) != 0) {
        json_decref(item.doc);
        json_decref(numbered);
        return tarn_fail_oom(err);
    }
    raise_partition_id(meta, numbered);
    json_decref(numbered);
    return tarn_iceberg_add_spec(meta, item, err);
}

static tarn_code read_specs(struct tarn_iceberg_meta *meta, const json_t *doc, struct tarn_err *err)
{
    const json_t *specs = NULL, *fields = NULL;
    size_t i;
    json_t *spec;

    TARN_TRY(meta->format_version >= 2 ? tarn_iceberg_need_array(doc, "partition-specs", &specs, err)
                                       : tarn_iceberg_opt_array(doc, "partition-specs", &specs, err));
    if (!specs) { /* version 1: the fields alone */
        TARN_TRY(tarn_iceberg_need_array(doc, "partition-spec", &fields, err));
        TARN_TRY(add_spec(meta, NULL, fields, 0, err));
        meta->default_spec_id = 0;
    } else {
        json_array_foreach((json_t *)(uintptr_t)specs, i, spec) {
            int64_t id = 0;
            TARN_TRY(tarn_iceberg_opt_i64(spec, "spec-id", &id, err));
            TARN_TRY(tarn_iceberg_need_array(spec, "fields", &fields, err));
            TARN_TRY(add_spec(meta, spec, fields, id, err));
        }
        TARN_TRY(tarn_iceberg_need_i64(doc, "default-spec-id", &meta->default_spec_id, err));
    }
    return tarn_iceberg_opt_i64(doc, "last-partition-id", &meta->last_partition_id, err);
}

static tarn_code add_order(struct tarn_iceberg_meta *meta, json_t *doc, struct tarn_err *err)
{
    struct tarn_iceberg_order item = { .id = 0, .doc = doc };

    if (!doc)
        return tarn_fail_oom(err);
    tarn_code code = tarn_iceberg_opt_i64(doc, "order-id", &item.id, err);
    if (code == TARN_OK && !json_is_array(json_object_get(doc, "fields")))
        code = tarn_fail_field(err, "sort-orders", "Cannot parse a sort order: fields must be an array");
    if (code == TARN_OK)
        return tarn_iceberg_add_order(meta, item, err);
    json_decref(doc);
    return code;
}

static tarn_code read_orders(struct tarn_iceberg_meta *meta, const json_t *doc, struct tarn_err *err)
{
    const json_t *orders = NULL;
    size_t i;
    json_t *order;

    TARN_TRY(meta->format_version >= 2 ? tarn_iceberg_need_array(doc, "sort-orders", &orders, err)
                                       : tarn_iceberg_opt_array(doc, "sort-orders", &orders, err));
    if (!orders) {
        meta->default_order_id = 0;
        return add_order(meta, json_pack("{s:i, s:[]}", "order-id", 0, "fields"), err);
    }
    json_array_foreach((json_t *)(uintptr_t)orders, i, order)
        TARN_TRY(add_order(meta, json_incref(order), err));
    return tarn_iceberg_need_i64(doc, "default-sort-order-id", &meta->default_order_id, err);
}

/* --- refs, logs --- */

tarn_code tarn_iceberg_ref_read(const char *name, const json_t *doc, struct tarn_iceberg_ref *out, struct tarn_err *err)
{
    const char *type = NULL;

    *out = (struct tarn_iceberg_ref){ 0 };
    TARN_TRY(tarn_iceberg_need_i64(doc, "snapshot-id", &out->snapshot_id, err));
    TARN_TRY(tarn_iceberg_need_str(doc, "type", &type, err));
    out->is_tag = strcasecmp(type, "tag") == 0;
    if (!out->is_tag && strcasecmp(type, "branch") != 0)
        return tarn_fail_field(err, "type", "Invalid snapshot ref type: %.100s", type);
    out->name = strdup(name);
    out->doc = tarn_iceberg_keep(doc);
    return out->name ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code put_main(struct tarn_iceberg_meta *meta, struct tarn_err *err)
{
    struct tarn_iceberg_ref item;
    json_t *doc = json_pack("{s:I, s:s}", "snapshot-id", (json_int_t)meta->current_snapshot_id, "type", "branch");

    if (!doc)
        return tarn_fail_oom(err);
    tarn_code code = tarn_iceberg_ref_read("main", doc, &item, err);
    json_decref(doc);
    return code == TARN_OK ? tarn_iceberg_put_ref(meta, item, err) : code;
}

static tarn_code read_refs(struct tarn_iceberg_meta *meta, const json_t *doc, struct tarn_err *err)
{
    const json_t *refs = NULL;
    const char *name;
    json_t *ref;

    TARN_TRY(tarn_iceberg_opt_object(doc, "refs", &refs, err));
    json_object_foreach((json_t *)(uintptr_t)refs, name, ref) {
        struct tarn_iceberg_ref item;
        TARN_TRY(tarn_iceberg_ref_read(name, ref, &item, err));
        TARN_TRY(tarn_iceberg_put_ref(meta, item, err));
    }
    return !refs && meta->current_snapshot_id != TARN_ICEBERG_NONE ? put_main(meta, err) : TARN_OK;
}

static tarn_code read_logs(struct tarn_iceberg_meta *meta, const json_t *doc, struct tarn_err *err)
{
    const json_t *snapshots = NULL, *files = NULL;
    int64_t at = 0, id = 0;
    const char *file = NULL;
    size_t i;
    json_t *entry;

    TARN_TRY(tarn_iceberg_opt_array(doc, "snapshot-log", &snapshots, err));
    TARN_TRY(tarn_iceberg_opt_array(doc, "metadata-log", &files, err));
    json_array_foreach((json_t *)(uintptr_t)snapshots, i, entry) {
        TARN_TRY(tarn_iceberg_need_i64(entry, "timestamp-ms", &at, err));
        TARN_TRY(tarn_iceberg_need_i64(entry, "snapshot-id", &id, err));
        TARN_TRY(tarn_iceberg_add_log(meta, (struct tarn_iceberg_log_entry){ at, id, tarn_iceberg_more(entry, 2) }, err));
    }
    json_array_foreach((json_t *)(uintptr_t)files, i, entry) {
        TARN_TRY(tarn_iceberg_need_i64(entry, "timestamp-ms", &at, err));
        TARN_TRY(tarn_iceberg_need_str(entry, "metadata-file", &file, err));
        TARN_TRY(tarn_iceberg_add_file(meta, (struct tarn_iceberg_file_entry){ at, strdup(file), tarn_iceberg_more(entry, 2) }, err));
    }
    return TARN_OK;
}

/* --- the rest --- */

static tarn_code take(const json_t *value, json_t **member)
{
    if (value) {
        json_decref(*member);
        *member = tarn_iceberg_keep(value);
    }
    return TARN_OK;
}

/* Statistics files: clients read these members of each. */
static tarn_code check_files(const json_t *files, const char *key, struct tarn_err *err)
{
    const char *path = NULL;
    int64_t number = 0;
    size_t i;
    json_t *file;

    json_array_foreach((json_t *)(uintptr_t)files, i, file) {
        if (!json_is_object(file))
            return tarn_fail_field(err, key, "Cannot parse %s: each must be an object", key);
        TARN_TRY(tarn_iceberg_need_i64(file, "snapshot-id", &number, err));
        TARN_TRY(tarn_iceberg_need_str(file, "statistics-path", &path, err));
    }
    return TARN_OK;
}

static tarn_code read_others(struct tarn_iceberg_meta *meta, const json_t *doc, struct tarn_err *err)
{
    const json_t *properties = NULL, *statistics = NULL, *partition_statistics = NULL, *keys = NULL;

    TARN_TRY(tarn_iceberg_opt_object(doc, "properties", &properties, err));
    if (properties)
        TARN_TRY(tarn_iceberg_check_texts(properties, "properties", err));
    TARN_TRY(tarn_iceberg_opt_array(doc, "statistics", &statistics, err));
    TARN_TRY(tarn_iceberg_opt_array(doc, "partition-statistics", &partition_statistics, err));
    TARN_TRY(tarn_iceberg_opt_array(doc, "encryption-keys", &keys, err));
    TARN_TRY(take(properties, &meta->properties));
    TARN_TRY(check_files(statistics, "statistics", err));
    TARN_TRY(check_files(partition_statistics, "partition-statistics", err));
    TARN_TRY(take(statistics, &meta->statistics));
    TARN_TRY(take(partition_statistics, &meta->partition_statistics));
    return take(keys, &meta->encryption_keys);
}

static tarn_code read_all(struct tarn_iceberg_meta *meta, json_t *doc, struct tarn_err *err)
{
    TARN_TRY(read_head(meta, doc, err));
    TARN_TRY(read_schemas(meta, doc, err));
    TARN_TRY(read_specs(meta, doc, err));
    TARN_TRY(read_orders(meta, doc, err));
    TARN_TRY(read_refs(meta, doc, err));
    TARN_TRY(read_logs(meta, doc, err));
    TARN_TRY(read_others(meta, doc, err));
    TARN_TRY(read_rest(meta, doc, err));
    return tarn_iceberg_check(meta, err);
}

/* `held` has the snapshots, `doc` what else the document says. */
static tarn_code read_document(json_t *doc, struct tarn_iceberg_meta *held, struct tarn_iceberg_meta **out, struct tarn_err *err)
{
    TARN_AUTO(iceberg) struct tarn_iceberg_meta *meta = NULL;
    int64_t version = 0;

    TARN_TRY(tarn_iceberg_need_i64(doc, "format-version", &version, err));
    if (version < TARN_ICEBERG_FORMAT_MIN || version > TARN_ICEBERG_FORMAT_MAX)
        return tarn_fail_field(err, "format-version", "Cannot read unsupported version %lld", (long long)version);
    TARN_TRY(tarn_iceberg_blank(version, &meta, err));
    meta->snapshots = held->snapshots;
    held->snapshots.items = NULL;
    held->snapshots.count = held->snapshots.cap = 0;
    TARN_TRY(read_all(meta, doc, err));
    *out = tarn_take(&meta);
    return TARN_OK;
}

tarn_code tarn_iceberg_parse(const char *text, size_t len, struct tarn_iceberg_meta **out, struct tarn_err *err)
{
    static const struct tarn_json_limits limits = { .max_depth = 128, .max_values = 20000000 };
    TARN_AUTO(iceberg) struct tarn_iceberg_meta *held = NULL;
    TARN_AUTO_DONE(buf) struct tarn_buf rest = { 0 };
    json_auto_t *doc = NULL;

    TARN_TRY(tarn_iceberg_blank(TARN_ICEBERG_FORMAT_DEFAULT, &held, err));
    TARN_TRY(tarn_iceberg_split(text, len, held, &rest, err));
    TARN_TRY(tarn_json_parse(rest.data, rest.len, &limits, &doc, err));
    return read_document(doc, held, out, err);
}
