/* updates.c - every change that a client may ask for, one row an action, and what closes a list of them. Source: REST
 * specification, TableUpdate; the rules are the reference's (TableMetadata.Builder). */
#include "formats/iceberg/build.h"
#include "formats/iceberg/value.h"
#include <string.h>
#include <strings.h>

static const struct update {
    const char *action;
    tarn_iceberg_update_fn *apply;
} k_updates[] = {
    { "assign-uuid", tarn_iceberg_assign_uuid },
    { "upgrade-format-version", tarn_iceberg_upgrade_format },
    { "add-schema", tarn_iceberg_add_schema_update },
    { "set-current-schema", tarn_iceberg_set_current_schema },
    { "remove-schemas", tarn_iceberg_remove_schemas },
    { "add-spec", tarn_iceberg_add_spec_update },
    { "set-default-spec", tarn_iceberg_set_default_spec },
    { "remove-partition-specs", tarn_iceberg_remove_specs },
    { "add-sort-order", tarn_iceberg_add_order_update },
    { "set-default-sort-order", tarn_iceberg_set_default_order },
    { "add-snapshot", tarn_iceberg_add_snapshot_update },
    { "set-snapshot-ref", tarn_iceberg_set_ref },
    { "remove-snapshot-ref", tarn_iceberg_remove_ref_update },
    { "remove-snapshots", tarn_iceberg_remove_snapshots },
    { "set-location", tarn_iceberg_set_location },
    { "set-properties", tarn_iceberg_set_properties },
    { "remove-properties", tarn_iceberg_remove_properties },
    { "set-statistics", tarn_iceberg_set_statistics },
    { "remove-statistics", tarn_iceberg_remove_statistics },
    { "set-partition-statistics", tarn_iceberg_set_partition_statistics },
    { "remove-partition-statistics", tarn_iceberg_remove_partition_statistics },
    { "add-encryption-key", tarn_iceberg_add_key },
    { "remove-encryption-key", tarn_iceberg_remove_key },
};

tarn_code tarn_iceberg_ids_add(struct tarn_iceberg_ids *ids, int64_t id, struct tarn_err *err)
{
    if (ids->count == ids->cap) {
        size_t cap = ids->cap == 0 ? 8 : 2 * ids->cap;
        int64_t *items = realloc(ids->items, cap * sizeof *items);
        if (!items)
            return tarn_fail_oom(err);
        ids->items = items;
        ids->cap = cap;
    }
    ids->items[ids->count++] = id;
    return TARN_OK;
}

tarn_code tarn_iceberg_ids_read(const json_t *doc, const char *key, struct tarn_iceberg_ids *ids, struct tarn_err *err)
{
    const json_t *array = NULL;
    size_t i;
    json_t *id;
    tarn_code code = tarn_iceberg_need_array(doc, key, &array, err);

    json_array_foreach((json_t *)(uintptr_t)array, i, id) {
        if (code == TARN_OK && !json_is_integer(id))
            code = tarn_fail_field(err, key, "Cannot parse %s: it must be an array of whole numbers", key);
        if (code == TARN_OK)
            code = tarn_iceberg_ids_add(ids, json_integer_value(id), err);
    }
    return code;
}

bool tarn_iceberg_ids_have(const struct tarn_iceberg_ids *ids, int64_t id)
{
    for (size_t i = 0; i < ids->count; i++)
        if (ids->items[i] == id)
            return true;
    return false;
}

/* --- closing --- */

static int compare_ids(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return left < right ? -1 : left > right;
}

static tarn_code sorted_snapshots(const struct tarn_iceberg_meta *meta, int64_t **out, struct tarn_err *err)
{
    *out = malloc((meta->snapshots.count + 1) * sizeof **out);
    if (!*out)
        return tarn_fail_oom(err);
    for (size_t i = 0; i < meta->snapshots.count; i++)
        (*out)[i] = meta->snapshots.items[i].id;
    qsort(*out, meta->snapshots.count, sizeof **out, compare_ids);
    return TARN_OK;
}

/* Heads of main that this very commit replaced again were never seen; what came before a removed one is not told any more. */
static tarn_code close_snapshot_log(struct tarn_iceberg_build *build, struct tarn_err *err)
{
    struct tarn_iceberg_meta *meta = build->meta;
    int64_t *known = NULL;
    size_t kept = 0;
    bool has_passing = false;

    for (size_t i = 0; i < build->heads.count; i++)
        has_passing = has_passing || build->heads.items[i] != meta->current_snapshot_id;
    if (!has_passing && !build->removed_snapshots)
        return TARN_OK;
    tarn_code code = sorted_snapshots(meta, &known, err);
    if (code != TARN_OK)
        return code;
    for (size_t i = 0; i < meta->snapshot_log.count; i++) {
        int64_t id = meta->snapshot_log.items[i].snapshot_id;
        bool exists = bsearch(&id, known, meta->snapshots.count, sizeof *known, compare_ids) != NULL;
        bool passed = id != meta->current_snapshot_id && tarn_iceberg_ids_have(&build->heads, id);
        if (exists && !passed) {
            meta->snapshot_log.items[kept++] = meta->snapshot_log.items[i];
            continue;
        }
        tarn_iceberg_log_done(&meta->snapshot_log.items[i]);
        while (!exists && build->removed_snapshots && kept > 0)
            tarn_iceberg_log_done(&meta->snapshot_log.items[--kept]);
    }
    free(known);
    meta->snapshot_log.count = kept;
    if (meta->current_snapshot_id != TARN_ICEBERG_NONE &&
        (kept == 0 || meta->snapshot_log.items[kept - 1].snapshot_id != meta->current_snapshot_id))
        return tarn_fail_field(err, "snapshot-log",
                               "Cannot set invalid snapshot log: latest entry is not the current snapshot");
    return TARN_OK;
}

static size_t previous_versions(const struct tarn_iceberg_meta *meta)
{
    const char *text = tarn_iceberg_property(meta, "write.metadata.previous-versions-max");
    char *end = NULL;
    long wanted = text ? strtol(text, &end, 10) : 100;

    if (text && (end == text || *end != '\0'))
        wanted = 100; /* no number: nothing is cut that the default keeps */
    return wanted < 1 ? 1 : (size_t)wanted;
}

static tarn_code close_metadata_log(struct tarn_iceberg_build *build, int64_t base_updated_ms, struct tarn_err *err)
{
    const struct tarn_iceberg_meta *meta = build->meta;
    const char *base_file = build->change->base_file;
    size_t count = meta->metadata_log.count;

    if (!base_file)
        return TARN_OK;
    if (count > 0 && strcmp(meta->metadata_log.items[count - 1].file, base_file) == 0) { /* a second list on one base */
        tarn_iceberg_cut_files(build->meta, previous_versions(meta));
        return TARN_OK;
    }
    tarn_iceberg_cut_files(build->meta, previous_versions(meta) - 1);
    return tarn_iceberg_add_file(build->meta, (struct tarn_iceberg_file_entry){ base_updated_ms, strdup(base_file), NULL }, err);
}

static tarn_code close(struct tarn_iceberg_build *build, int64_t base_updated_ms, struct tarn_err *err)
{
    if (!build->is_dated)
        build->meta->last_updated_ms = build->change->now_ms;
    if (build->meta->last_updated_ms < base_updated_ms)
        build->meta->last_updated_ms = base_updated_ms;
    tarn_code code = close_snapshot_log(build, err);
    if (code == TARN_OK)
        code = close_metadata_log(build, base_updated_ms, err);
    return code == TARN_OK ? tarn_iceberg_check(build->meta, err) : code;
}

/* --- applying --- */

static tarn_code apply_one(struct tarn_iceberg_build *build, const json_t *doc, struct tarn_err *err)
{
    const char *action = NULL;
    tarn_code code = tarn_iceberg_need_str(doc, "action", &action, err);

    for (size_t i = 0; i < TARN_COUNT(k_updates) && code == TARN_OK; i++)
        if (strcasecmp(k_updates[i].action, action) == 0)
            return k_updates[i].apply(build, doc, err);
    return code == TARN_OK ? tarn_fail_field(err, "action", "Cannot convert metadata update action to this table: %.100s",
                                             action)
                           : code;
}

tarn_code tarn_iceberg_update(struct tarn_iceberg_meta *meta, const json_t *updates,
                              const struct tarn_iceberg_change *change, bool *changed, struct tarn_err *err)
{
    struct tarn_iceberg_build build = { .meta = meta, .change = change, .last_schema = TARN_ICEBERG_NONE,
                                        .last_spec = TARN_ICEBERG_NONE, .last_order = TARN_ICEBERG_NONE };
    int64_t base_updated_ms = meta->last_updated_ms;
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < json_array_size(updates) && code == TARN_OK; i++) {
        code = apply_one(&build, json_array_get(updates, i), err);
        if (code != TARN_OK && err && err->field[0])
            (void)tarn_err_prefix(err, "updates[%zu]", i);
    }
    *changed = build.changed;
    if (code == TARN_OK) /* a create whose updates change nothing leaves no table either */
        code = build.changed ? close(&build, base_updated_ms, err) : tarn_iceberg_check(meta, err);
    free(build.schemas.items);
    free(build.specs.items);
    free(build.orders.items);
    free(build.snapshots.items);
    free(build.heads.items);
    return code;
}

tarn_code tarn_iceberg_empty(const json_t *updates, struct tarn_iceberg_meta **out, struct tarn_err *err)
{
    int64_t version = TARN_ICEBERG_FORMAT_DEFAULT;

    for (size_t i = 0; i < json_array_size(updates); i++) {
        const json_t *doc = json_array_get(updates, i);
        const char *action = json_string_value(json_object_get(doc, "action"));
        if (!action || strcasecmp(action, "upgrade-format-version") != 0)
            continue;
        tarn_code code = tarn_iceberg_need_i64(doc, "format-version", &version, err);
        if (code != TARN_OK)
            return code;
        break;
    }
    if (version < TARN_ICEBERG_FORMAT_MIN || version > TARN_ICEBERG_FORMAT_MAX)
        return tarn_fail_field(err, "format-version", "Unsupported format version: v%lld (supported: v%d)",
                               (long long)version, TARN_ICEBERG_FORMAT_MAX);
    return tarn_iceberg_blank(version, out, err);
}
