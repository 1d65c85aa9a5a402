/* update_snapshot.c - snapshots and the names that point at them. Sequence numbers and row ids only rise: who is behind
 * reads the table again and tries once more (409). */
#include "formats/iceberg/build.h"
#include "formats/iceberg/value.h"
#include <string.h>

#define AGAIN(err, ...) tarn_fail(err, TARN_VERSION_CONFLICT, "Validation failed, please retry: " __VA_ARGS__)

static tarn_code check_ready(const struct tarn_iceberg_meta *meta, struct tarn_err *err)
{
    if (meta->schemas.count == 0)
        return tarn_fail_field(err, "snapshot", "Attempting to add a snapshot before a schema is added");
    if (meta->specs.count == 0)
        return tarn_fail_field(err, "snapshot", "Attempting to add a snapshot before a partition spec is added");
    if (meta->orders.count == 0)
        return tarn_fail_field(err, "snapshot", "Attempting to add a snapshot before a sort order is added");
    return TARN_OK;
}

static tarn_code check_sequence(const struct tarn_iceberg_meta *meta, const struct tarn_iceberg_snapshot *snapshot,
                                struct tarn_err *err)
{
    if (tarn_iceberg_snapshot_of(meta, snapshot->id))
        return tarn_fail_field(err, "snapshot", "Snapshot already exists for id: %lld", (long long)snapshot->id);
    if (meta->format_version >= 2 && snapshot->parent_id != TARN_ICEBERG_NONE &&
        snapshot->sequence_number <= meta->last_sequence_number)
        return AGAIN(err, "Cannot add snapshot with sequence number %lld older than last sequence number %lld",
                     (long long)snapshot->sequence_number, (long long)meta->last_sequence_number);
    return TARN_OK;
}

/* Version 3: each row has an id, given in one run a snapshot. */
static tarn_code take_rows(struct tarn_iceberg_meta *meta, const struct tarn_iceberg_snapshot *snapshot,
                           struct tarn_err *err)
{
    if (meta->format_version < 3)
        return TARN_OK;
    if (snapshot->first_row_id < 0)
        return tarn_fail_field(err, "snapshot", "Cannot add a snapshot: first-row-id is null");
    if (snapshot->first_row_id < meta->next_row_id)
        return AGAIN(err, "Cannot add a snapshot, first-row-id is behind table next-row-id: %lld < %lld",
                     (long long)snapshot->first_row_id, (long long)meta->next_row_id);
    if (snapshot->added_rows < 0)
        return tarn_fail_field(err, "snapshot", "Cannot add a snapshot: added-rows is null");
    if (__builtin_add_overflow(meta->next_row_id, snapshot->added_rows, &meta->next_row_id))
        return tarn_fail_field(err, "snapshot", "Cannot add a snapshot: next-row-id overflows");
    return TARN_OK;
}

tarn_code tarn_iceberg_add_snapshot_update(struct tarn_iceberg_build *build, const json_t *doc, struct tarn_err *err)
{
    struct tarn_iceberg_meta *meta = build->meta;
    const json_t *value = tarn_iceberg_member(doc, "snapshot");
    struct tarn_iceberg_snapshot snapshot = { .text = NULL };

    if (!value)
        return TARN_OK;
    tarn_code code = check_ready(meta, err);
    if (code == TARN_OK)
        code = tarn_iceberg_snapshot_read(value, &snapshot, err);
    if (code == TARN_OK)
        code = tarn_iceberg_snapshot_form(value, &snapshot, err);
    if (code == TARN_OK)
        code = check_sequence(meta, &snapshot, err);
    if (code == TARN_OK)
        code = take_rows(meta, &snapshot, err);
    if (code != TARN_OK) {
        tarn_iceberg_snapshot_done(&snapshot);
        return code;
    }
    if (meta->format_version >= 2 && snapshot.sequence_number > meta->last_sequence_number)
        meta->last_sequence_number = snapshot.sequence_number;
    meta->last_updated_ms = snapshot.timestamp_ms;
    build->is_dated = build->changed = true;
    code = tarn_iceberg_add_snapshot(meta, snapshot, err);
    return code == TARN_OK ? tarn_iceberg_ids_add(&build->snapshots, snapshot.id, err) : code;
}

/* --- refs --- */

tarn_code tarn_iceberg_ref_form(const json_t *doc, bool is_tag, struct tarn_err *err)
{
    static const char *const keys[] = { "min-snapshots-to-keep", "max-snapshot-age-ms", "max-ref-age-ms" };

    for (size_t i = 0; i < TARN_COUNT(keys); i++) {
        int64_t value = 1;
        bool is_given = tarn_iceberg_member(doc, keys[i]) != NULL;
        tarn_code code = tarn_iceberg_opt_i64(doc, keys[i], &value, err);
        if (code != TARN_OK)
            return code;
        if (is_given && is_tag && i < 2)
            return tarn_fail_field(err, keys[i], "Tags do not support setting %s", keys[i]);
        if (value <= 0)
            return tarn_fail_field(err, keys[i], "%s must be greater than 0", keys[i]);
    }
    return TARN_OK;
}

/* The update without what is the update's own. */
static json_t *ref_document(const json_t *doc)
{
    json_t *copy = json_copy((json_t *)(uintptr_t)doc);
    const char *key;
    json_t *value;
    void *next;

    if (!copy)
        return NULL;
    (void)json_object_del(copy, "action");
    (void)json_object_del(copy, "ref-name");
    json_object_foreach_safe(copy, next, key, value)
        if (json_is_null(value))
            (void)json_object_del(copy, key);
    return copy;
}

/* A reader takes the log's order for the order of things: an entry is not dated before the last one. */
static tarn_code move_main(struct tarn_iceberg_build *build, int64_t snapshot_id, struct tarn_err *err)
{
    struct tarn_iceberg_meta *meta = build->meta;
    const struct tarn_iceberg_snapshot *snapshot = tarn_iceberg_snapshot_of(meta, snapshot_id);
    bool is_new = tarn_iceberg_ids_have(&build->snapshots, snapshot_id);
    int64_t at = is_new ? snapshot->timestamp_ms : build->change->now_ms;
    int64_t last = meta->snapshot_log.count > 0 ? meta->snapshot_log.items[meta->snapshot_log.count - 1].timestamp_ms : at;

    if (last > INT64_MIN / 2 && at < last - 60 * 1000) /* what lies below, no log may hold */
        at = last;
    if (!is_new || meta->last_updated_ms < at)
        meta->last_updated_ms = at;
    build->is_dated = true;
    meta->current_snapshot_id = snapshot_id;
    tarn_code code = tarn_iceberg_add_log(meta, (struct tarn_iceberg_log_entry){ at, snapshot_id, NULL }, err);
    return code == TARN_OK && is_new ? tarn_iceberg_ids_add(&build->heads, snapshot_id, err) : code;
}

static tarn_code check_ref(const struct tarn_iceberg_build *build, const struct tarn_iceberg_ref *ref, const json_t *doc,
                           struct tarn_err *err)
{
    tarn_code code = tarn_iceberg_ref_form(doc, ref->is_tag, err);

    if (code == TARN_OK && !tarn_iceberg_snapshot_of(build->meta, ref->snapshot_id))
        code = tarn_fail_field(err, "snapshot-id", "Cannot set %.100s to unknown snapshot: %lld", ref->name,
                               (long long)ref->snapshot_id);
    if (code == TARN_OK && ref->is_tag && strcmp(ref->name, "main") == 0)
        code = tarn_fail_field(err, "type", "Cannot set main to a tag, it must be a branch");
    return code;
}

tarn_code tarn_iceberg_set_ref(struct tarn_iceberg_build *build, const json_t *doc, struct tarn_err *err)
{
    const char *name = NULL;
    struct tarn_iceberg_ref ref = { 0 };
    tarn_code code = tarn_iceberg_need_str(doc, "ref-name", &name, err);
    json_t *value = code == TARN_OK ? ref_document(doc) : NULL;

    if (code == TARN_OK)
        code = value ? tarn_iceberg_ref_read(name, value, &ref, err) : tarn_fail_oom(err);
    json_decref(value);
    if (code == TARN_OK)
        code = check_ref(build, &ref, doc, err);
    const struct tarn_iceberg_ref *old = code == TARN_OK ? tarn_iceberg_ref_of(build->meta, name) : NULL;
    if (code != TARN_OK || (old && json_equal(old->doc, ref.doc))) {
        free(ref.name);
        json_decref(ref.doc);
        return code;
    }
    build->changed = true;
    code = tarn_iceberg_put_ref(build->meta, ref, err);
    return code == TARN_OK && strcmp(name, "main") == 0 ? move_main(build, ref.snapshot_id, err) : code;
}

tarn_code tarn_iceberg_remove_ref_update(struct tarn_iceberg_build *build, const json_t *doc, struct tarn_err *err)
{
    const char *name = NULL;
    tarn_code code = tarn_iceberg_need_str(doc, "ref-name", &name, err);

    if (code != TARN_OK || !tarn_iceberg_ref_of(build->meta, name))
        return code;
    if (strcmp(name, "main") == 0)
        build->meta->current_snapshot_id = TARN_ICEBERG_NONE;
    tarn_iceberg_remove_ref(build->meta, name);
    build->changed = true;
    return TARN_OK;
}

/* --- removal --- */

static int compare_ids(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return left < right ? -1 : left > right;
}

static bool is_gone(const struct tarn_iceberg_ids *sorted, int64_t id)
{
    return sorted->count > 0 && bsearch(&id, sorted->items, sorted->count, sizeof id, compare_ids) != NULL;
}

static bool is_kept(const void *ctx, int64_t id) { return !is_gone(ctx, id); }

/* Entries about a snapshot that is gone; the array may be shared with another document. */
static tarn_code drop_of(json_t **array, const struct tarn_iceberg_ids *gone, struct tarn_err *err)
{
    json_t *kept = json_array(), *entry;
    size_t i;
    bool failed = !kept;

    json_array_foreach(*array, i, entry)
        if (!is_gone(gone, json_integer_value(json_object_get(entry, "snapshot-id"))))
            failed = json_array_append(kept, entry) != 0 || failed;
    if (failed) {
        json_decref(kept);
        return tarn_fail_oom(err);
    }
    json_decref(*array);
    *array = kept;
    return TARN_OK;
}

static void drop_refs(struct tarn_iceberg_meta *meta, const struct tarn_iceberg_ids *gone)
{
    for (size_t i = meta->refs.count; i-- > 0;)
        if (is_gone(gone, meta->refs.items[i].snapshot_id))
            tarn_iceberg_remove_ref(meta, meta->refs.items[i].name);
    if (is_gone(gone, meta->current_snapshot_id))
        meta->current_snapshot_id = TARN_ICEBERG_NONE;
}

tarn_code tarn_iceberg_remove_snapshots(struct tarn_iceberg_build *build, const json_t *doc, struct tarn_err *err)
{
    struct tarn_iceberg_meta *meta = build->meta;
    struct tarn_iceberg_ids gone = { 0 };
    tarn_code code = tarn_iceberg_ids_read(doc, "snapshot-ids", &gone, err);

    if (gone.count > 0)
        qsort(gone.items, gone.count, sizeof gone.items[0], compare_ids);
    size_t before = meta->snapshots.count;
    if (code == TARN_OK)
        tarn_iceberg_keep_snapshots(meta, is_kept, &gone);
    if (code == TARN_OK && meta->snapshots.count < before) {
        build->removed_snapshots = build->changed = true;
        drop_refs(meta, &gone);
        code = drop_of(&meta->statistics, &gone, err);
        if (code == TARN_OK)
            code = drop_of(&meta->partition_statistics, &gone, err);
    }
    free(gone.items);
    return code;
}
