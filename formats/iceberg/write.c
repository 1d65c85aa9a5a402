/* write.c - a value to a metadata document, members in the reference's order, the unknown ones last. */
#include "base/jsonw.h"
#include "formats/iceberg/parts.h"

#define ARRAY(w, key, list, write_item)                                                                           \
    do {                                                                                                          \
        tarn_jsonw_key(w, key);                                                                                   \
        tarn_jsonw_array(w);                                                                                      \
        for (size_t i = 0; i < (list)->count; i++)                                                                \
            write_item(w, &(list)->items[i]);                                                                     \
        tarn_jsonw_array_end(w);                                                                                  \
    } while (0)

static void write_schema(struct tarn_jsonw *w, const struct tarn_iceberg_schema *item) { tarn_jsonw_json(w, item->doc); }
static void write_spec(struct tarn_jsonw *w, const struct tarn_iceberg_spec *item) { tarn_jsonw_json(w, item->doc); }
static void write_order(struct tarn_jsonw *w, const struct tarn_iceberg_order *item) { tarn_jsonw_json(w, item->doc); }

static void write_json(struct tarn_jsonw *w, const char *key, const json_t *value)
{
    tarn_jsonw_key(w, key);
    tarn_jsonw_json(w, value);
}

/* What version 1 readers look for. */
static void write_schemas(struct tarn_jsonw *w, const struct tarn_iceberg_meta *meta)
{
    const struct tarn_iceberg_schema *current = tarn_iceberg_schema_of(meta, meta->current_schema_id);

    if (meta->format_version == 1 && current)
        write_json(w, "schema", current->doc);
    tarn_jsonw_ki64(w, "current-schema-id", meta->current_schema_id);
    ARRAY(w, "schemas", &meta->schemas, write_schema);
}

static void write_specs(struct tarn_jsonw *w, const struct tarn_iceberg_meta *meta)
{
    const struct tarn_iceberg_spec *spec = tarn_iceberg_spec_of(meta, meta->default_spec_id);

    if (meta->format_version == 1 && spec)
        write_json(w, "partition-spec", json_object_get(spec->doc, "fields"));
    tarn_jsonw_ki64(w, "default-spec-id", meta->default_spec_id);
    ARRAY(w, "partition-specs", &meta->specs, write_spec);
    tarn_jsonw_ki64(w, "last-partition-id", meta->last_partition_id);
}

static bool is_referenced(const struct tarn_iceberg_meta *meta, int64_t id)
{
    for (size_t i = 0; i < meta->refs.count; i++)
        if (meta->refs.items[i].snapshot_id == id)
            return true;
    return false;
}

static void write_snapshots(struct tarn_jsonw *w, const struct tarn_iceberg_meta *meta, enum tarn_iceberg_form form)
{
    tarn_jsonw_key(w, "refs");
    tarn_jsonw_object(w);
    for (size_t i = 0; i < meta->refs.count; i++)
        write_json(w, meta->refs.items[i].name, meta->refs.items[i].doc);
    tarn_jsonw_object_end(w);
    tarn_jsonw_key(w, "snapshots");
    tarn_jsonw_array(w);
    for (size_t i = 0; i < meta->snapshots.count; i++)
        if (form == TARN_ICEBERG_ALL || is_referenced(meta, meta->snapshots.items[i].id))
            tarn_jsonw_raw(w, meta->snapshots.items[i].text);
    tarn_jsonw_array_end(w);
}

static void write_log(struct tarn_jsonw *w, const struct tarn_iceberg_log_entry *entry)
{
    if (entry->more) {
        tarn_jsonw_json(w, entry->more);
        return;
    }
    tarn_jsonw_object(w);
    tarn_jsonw_ki64(w, "timestamp-ms", entry->timestamp_ms);
    tarn_jsonw_ki64(w, "snapshot-id", entry->snapshot_id);
    tarn_jsonw_object_end(w);
}

static void write_file(struct tarn_jsonw *w, const struct tarn_iceberg_file_entry *entry)
{
    if (entry->more) {
        tarn_jsonw_json(w, entry->more);
        return;
    }
    tarn_jsonw_object(w);
    tarn_jsonw_ki64(w, "timestamp-ms", entry->timestamp_ms);
    tarn_jsonw_kstr(w, "metadata-file", entry->file);
    tarn_jsonw_object_end(w);
}

static void write_head(struct tarn_jsonw *w, const struct tarn_iceberg_meta *meta)
{
    tarn_jsonw_ki64(w, "format-version", meta->format_version);
    if (meta->uuid)
        tarn_jsonw_kstr(w, "table-uuid", meta->uuid);
    tarn_jsonw_kstr(w, "location", meta->location);
    if (meta->format_version >= 2)
        tarn_jsonw_ki64(w, "last-sequence-number", meta->last_sequence_number);
    tarn_jsonw_ki64(w, "last-updated-ms", meta->last_updated_ms);
    tarn_jsonw_ki64(w, "last-column-id", meta->last_column_id);
}

/* None is -1 in the first versions, null since the third. */
static void write_current(struct tarn_jsonw *w, const struct tarn_iceberg_meta *meta)
{
    tarn_jsonw_key(w, "current-snapshot-id");
    if (meta->current_snapshot_id == TARN_ICEBERG_NONE && meta->format_version >= 3)
        tarn_jsonw_null(w);
    else
        tarn_jsonw_i64(w, meta->current_snapshot_id);
    if (meta->format_version >= 3)
        tarn_jsonw_ki64(w, "next-row-id", meta->next_row_id);
    if (json_array_size(meta->encryption_keys) > 0)
        write_json(w, "encryption-keys", meta->encryption_keys);
}

static void write_rest(struct tarn_jsonw *w, const struct tarn_iceberg_meta *meta)
{
    const char *key;
    json_t *value;

    json_object_foreach(meta->rest, key, value)
        write_json(w, key, value);
}

tarn_code tarn_iceberg_write(const struct tarn_iceberg_meta *meta, enum tarn_iceberg_form form, struct tarn_buf *out,
                             struct tarn_err *err)
{
    struct tarn_jsonw writer = tarn_jsonw_to(out), *w = &writer;

    tarn_jsonw_object(w);
    write_head(w, meta);
    write_schemas(w, meta);
    write_specs(w, meta);
    tarn_jsonw_ki64(w, "default-sort-order-id", meta->default_order_id);
    ARRAY(w, "sort-orders", &meta->orders, write_order);
    write_json(w, "properties", meta->properties);
    write_current(w, meta);
    write_snapshots(w, meta, form);
    write_json(w, "statistics", meta->statistics);
    write_json(w, "partition-statistics", meta->partition_statistics);
    ARRAY(w, "snapshot-log", &meta->snapshot_log, write_log);
    ARRAY(w, "metadata-log", &meta->metadata_log, write_file);
    write_rest(w, meta);
    tarn_jsonw_object_end(w);
    return tarn_buf_check(out, err);
}

static bool all_are_referenced(const struct tarn_iceberg_meta *meta)
{
    for (size_t i = 0; i < meta->snapshots.count; i++)
        if (!is_referenced(meta, meta->snapshots.items[i].id))
            return false;
    return true;
}

tarn_code tarn_iceberg_write_forms(const struct tarn_iceberg_meta *meta, struct tarn_buf *all, struct tarn_buf *refs,
                                   struct tarn_err *err)
{
    tarn_buf_clear(all);
    tarn_buf_clear(refs);
    tarn_code code = tarn_iceberg_write(meta, TARN_ICEBERG_ALL, all, err);
    return code != TARN_OK || all_are_referenced(meta) ? code : tarn_iceberg_write(meta, TARN_ICEBERG_REFS, refs, err);
}
