/* meta.c - the value itself: its lists grow, give their items by id, and let go of their memory. */
#include "formats/iceberg/list.h"
#include "formats/iceberg/parts.h"
#include <string.h>

static void schema_done(struct tarn_iceberg_schema *item) { json_decref(item->doc); }
static void spec_done(struct tarn_iceberg_spec *item) { json_decref(item->doc); }
static void order_done(struct tarn_iceberg_order *item) { json_decref(item->doc); }
void tarn_iceberg_snapshot_done(struct tarn_iceberg_snapshot *item)
{
    free(item->manifest_list);
    free(item->text);
}

static void file_done(struct tarn_iceberg_file_entry *item)
{
    free(item->file);
    json_decref(item->more);
}

void tarn_iceberg_log_done(struct tarn_iceberg_log_entry *item) { json_decref(item->more); }
static void ref_done(struct tarn_iceberg_ref *item)
{
    free(item->name);
    json_decref(item->doc);
}

void tarn_iceberg_free(struct tarn_iceberg_meta *meta)
{
    if (!meta)
        return;
    free(meta->uuid);
    free(meta->location);
    TARN_ICEBERG_DROP_ALL(&meta->schemas, schema_done);
    TARN_ICEBERG_DROP_ALL(&meta->specs, spec_done);
    TARN_ICEBERG_DROP_ALL(&meta->orders, order_done);
    TARN_ICEBERG_DROP_ALL(&meta->snapshots, tarn_iceberg_snapshot_done);
    TARN_ICEBERG_DROP_ALL(&meta->refs, ref_done);
    TARN_ICEBERG_DROP_ALL(&meta->snapshot_log, tarn_iceberg_log_done);
    TARN_ICEBERG_DROP_ALL(&meta->metadata_log, file_done);
    json_decref(meta->properties);
    json_decref(meta->statistics);
    json_decref(meta->partition_statistics);
    json_decref(meta->encryption_keys);
    json_decref(meta->rest);
    free(meta);
}

size_t tarn_iceberg_weight(const struct tarn_iceberg_meta *meta, size_t len)
{
    const size_t tree = 10; /* times its text */
    size_t texts = 0, items = meta->snapshots.count * (sizeof meta->snapshots.items[0] + 32);

    for (size_t i = 0; i < meta->snapshots.count; i++)
        texts += strlen(meta->snapshots.items[i].text);
    return items + texts + (len > texts ? tree * (len - texts) : 0);
}

tarn_code tarn_iceberg_blank(int64_t format_version, struct tarn_iceberg_meta **out, struct tarn_err *err)
{
    struct tarn_iceberg_meta *meta = calloc(1, sizeof *meta);

    if (!meta)
        return tarn_fail_oom(err);
    meta->format_version = format_version;
    meta->last_partition_id = TARN_ICEBERG_PARTITION_ID_FIRST - 1;
    meta->current_schema_id = meta->default_spec_id = meta->default_order_id = TARN_ICEBERG_NONE;
    meta->current_snapshot_id = TARN_ICEBERG_NONE;
    meta->next_row_id = format_version >= 3 ? 0 : TARN_ICEBERG_NONE;
    meta->properties = json_object();
    meta->statistics = json_array();
    meta->partition_statistics = json_array();
    meta->encryption_keys = json_array();
    meta->rest = json_object();
    if (!meta->properties || !meta->statistics || !meta->partition_statistics || !meta->encryption_keys || !meta->rest) {
        tarn_iceberg_free(meta);
        return tarn_fail_oom(err);
    }
    *out = meta;
    return TARN_OK;
}

/* --- adding --- */

tarn_code tarn_iceberg_add_schema(struct tarn_iceberg_meta *meta, struct tarn_iceberg_schema item, struct tarn_err *err)
{
    return TARN_ICEBERG_ADD(&meta->schemas, item, schema_done, err);
}

tarn_code tarn_iceberg_add_spec(struct tarn_iceberg_meta *meta, struct tarn_iceberg_spec item, struct tarn_err *err)
{
    return TARN_ICEBERG_ADD(&meta->specs, item, spec_done, err);
}

tarn_code tarn_iceberg_add_order(struct tarn_iceberg_meta *meta, struct tarn_iceberg_order item, struct tarn_err *err)
{
    return TARN_ICEBERG_ADD(&meta->orders, item, order_done, err);
}

tarn_code tarn_iceberg_add_snapshot(struct tarn_iceberg_meta *meta, struct tarn_iceberg_snapshot item, struct tarn_err *err)
{
    return TARN_ICEBERG_ADD(&meta->snapshots, item, tarn_iceberg_snapshot_done, err);
}

tarn_code tarn_iceberg_put_ref(struct tarn_iceberg_meta *meta, struct tarn_iceberg_ref item, struct tarn_err *err)
{
    for (size_t i = 0; i < meta->refs.count; i++) {
        if (strcmp(meta->refs.items[i].name, item.name) == 0) {
            ref_done(&meta->refs.items[i]);
            meta->refs.items[i] = item;
            return TARN_OK;
        }
    }
    return TARN_ICEBERG_ADD(&meta->refs, item, ref_done, err);
}

void tarn_iceberg_remove_ref(struct tarn_iceberg_meta *meta, const char *name)
{
    for (size_t i = 0; i < meta->refs.count; i++) {
        if (strcmp(meta->refs.items[i].name, name) != 0)
            continue;
        ref_done(&meta->refs.items[i]);
        meta->refs.count--;
        memmove(&meta->refs.items[i], &meta->refs.items[i + 1], (meta->refs.count - i) * sizeof meta->refs.items[0]);
        return;
    }
}

tarn_code tarn_iceberg_add_log(struct tarn_iceberg_meta *meta, struct tarn_iceberg_log_entry item, struct tarn_err *err)
{
    return TARN_ICEBERG_ADD(&meta->snapshot_log, item, tarn_iceberg_log_done, err);
}

tarn_code tarn_iceberg_add_file(struct tarn_iceberg_meta *meta, struct tarn_iceberg_file_entry item, struct tarn_err *err)
{
    if (item.file)
        return TARN_ICEBERG_ADD(&meta->metadata_log, item, file_done, err);
    file_done(&item);
    return tarn_fail_oom(err);
}

/* --- keeping some --- */

#define KEEP(list, test, drop)                                                                                    \
    do {                                                                                                          \
        size_t kept = 0;                                                                                          \
        for (size_t i = 0; i < (list)->count; i++) {                                                              \
            if (test(ctx, (list)->items[i].id))                                                                   \
                (list)->items[kept++] = (list)->items[i];                                                         \
            else                                                                                                  \
                drop(&(list)->items[i]);                                                                          \
        }                                                                                                         \
        (list)->count = kept;                                                                                     \
    } while (0)

void tarn_iceberg_keep_schemas(struct tarn_iceberg_meta *meta, tarn_iceberg_keep_fn *test, const void *ctx)
{
    KEEP(&meta->schemas, test, schema_done);
}

void tarn_iceberg_keep_specs(struct tarn_iceberg_meta *meta, tarn_iceberg_keep_fn *test, const void *ctx)
{
    KEEP(&meta->specs, test, spec_done);
}

void tarn_iceberg_keep_snapshots(struct tarn_iceberg_meta *meta, tarn_iceberg_keep_fn *test, const void *ctx)
{
    KEEP(&meta->snapshots, test, tarn_iceberg_snapshot_done);
}

void tarn_iceberg_cut_files(struct tarn_iceberg_meta *meta, size_t keep)
{
    size_t gone = meta->metadata_log.count > keep ? meta->metadata_log.count - keep : 0;

    for (size_t i = 0; i < gone; i++)
        file_done(&meta->metadata_log.items[i]);
    meta->metadata_log.count -= gone;
    if (gone > 0)
        memmove(meta->metadata_log.items, meta->metadata_log.items + gone,
                meta->metadata_log.count * sizeof meta->metadata_log.items[0]);
}

/* --- looking up --- */

#define FIND(list, wanted)                                                                                        \
    do {                                                                                                          \
        for (size_t i = (list)->count; i-- > 0;)                                                                  \
            if ((list)->items[i].id == (wanted))                                                                  \
                return &(list)->items[i];                                                                         \
        return NULL;                                                                                              \
    } while (0)

const struct tarn_iceberg_schema *tarn_iceberg_schema_of(const struct tarn_iceberg_meta *meta, int64_t id)
{
    FIND(&meta->schemas, id);
}

const struct tarn_iceberg_spec *tarn_iceberg_spec_of(const struct tarn_iceberg_meta *meta, int64_t id)
{
    FIND(&meta->specs, id);
}

const struct tarn_iceberg_order *tarn_iceberg_order_of(const struct tarn_iceberg_meta *meta, int64_t id)
{
    FIND(&meta->orders, id);
}

const struct tarn_iceberg_snapshot *tarn_iceberg_snapshot_of(const struct tarn_iceberg_meta *meta, int64_t id)
{
    FIND(&meta->snapshots, id);
}

const struct tarn_iceberg_ref *tarn_iceberg_ref_of(const struct tarn_iceberg_meta *meta, const char *name)
{
    for (size_t i = 0; i < meta->refs.count; i++)
        if (strcmp(meta->refs.items[i].name, name) == 0)
            return &meta->refs.items[i];
    return NULL;
}

const char *tarn_iceberg_property(const struct tarn_iceberg_meta *meta, const char *key)
{
    return json_string_value(json_object_get(meta->properties, key));
}
