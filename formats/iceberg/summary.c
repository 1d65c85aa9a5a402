/* summary.c - the few facts that the catalog's row and the monitors keep of a table. Source: Iceberg table specification,
 * "Snapshots" (operations), "Optional Snapshot Summary Fields". */
#include "formats/iceberg/iceberg.h"
#include <errno.h>
#include <string.h>

/* Numbers of a summary are text; one that is missing or none is not told. */
static int64_t number_of(const json_t *summary, const char *key)
{
    const char *text = json_string_value(json_object_get(summary, key));
    char *end = NULL;

    if (!text)
        return -1;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && value >= 0 ? value : -1;
}

/* Newest first along the parents of main: what a branch holds is not what readers get. */
static int64_t last_data_change(const struct tarn_iceberg_meta *meta)
{
    int64_t id = meta->current_snapshot_id;

    for (size_t steps = 0; steps <= meta->snapshots.count && id != TARN_ICEBERG_NONE; steps++) {
        const struct tarn_iceberg_snapshot *snapshot = tarn_iceberg_snapshot_of(meta, id);
        if (!snapshot)
            return -1;
        if (!snapshot->is_replace)
            return snapshot->timestamp_ms;
        id = snapshot->parent_id;
    }
    return -1;
}

void tarn_iceberg_summarise(const struct tarn_iceberg_meta *meta, struct tarn_iceberg_summary *out)
{
    const struct tarn_iceberg_snapshot *snapshot = tarn_iceberg_snapshot_of(meta, meta->current_snapshot_id);
    json_auto_t *tree = tarn_iceberg_snapshot_tree(snapshot);
    const json_t *summary = json_object_get(tree, "summary");

    *out = (struct tarn_iceberg_summary){
        .snapshot_id = meta->current_snapshot_id,
        .files = number_of(summary, "total-data-files"),
        .bytes = number_of(summary, "total-files-size"),
        .records = number_of(summary, "total-records"),
        .delete_files = number_of(summary, "total-delete-files"),
        .last_data_change_ms = last_data_change(meta),
        .schema_id = meta->current_schema_id,
        .snapshots = (int64_t)meta->snapshots.count,
    };
    if (!snapshot)
        out->files = out->bytes = out->records = out->delete_files = 0;
}

tarn_code tarn_iceberg_partition_keys(const struct tarn_iceberg_meta *meta, char **out, struct tarn_err *err)
{
    const struct tarn_iceberg_spec *spec = tarn_iceberg_spec_of(meta, meta->default_spec_id);
    json_t *names = json_array(), *field;
    size_t i;

    json_array_foreach(json_object_get(spec ? spec->doc : NULL, "fields"), i, field) {
        const char *transform = json_string_value(json_object_get(field, "transform"));
        if (transform && strcmp(transform, "void") != 0)
            (void)json_array_append(names, json_object_get(field, "name"));
    }
    *out = names ? json_dumps(names, JSON_COMPACT) : NULL;
    json_decref(names);
    return *out ? TARN_OK : tarn_fail_oom(err);
}
