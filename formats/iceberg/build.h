/* build.h - inside formats/iceberg/: what a list of updates has done so far. One update, one function; updates.c has the
 * table of them. Each works on build->meta in place and says by `changed` whether it did anything. */
#ifndef TARN_FORMATS_ICEBERG_BUILD_H
#define TARN_FORMATS_ICEBERG_BUILD_H
#include "formats/iceberg/parts.h"

/* Ids that this commit added, in order. */
struct tarn_iceberg_ids { int64_t *items; size_t count, cap; };
TARN_MUST tarn_code tarn_iceberg_ids_add(struct tarn_iceberg_ids *ids, int64_t id, struct tarn_err *err);
/* An array of numbers; what *ids holds is the caller's to free, also after an error. */
TARN_MUST tarn_code tarn_iceberg_ids_read(const json_t *doc, const char *key, struct tarn_iceberg_ids *ids, struct tarn_err *err);
bool tarn_iceberg_ids_have(const struct tarn_iceberg_ids *ids, int64_t id);

struct tarn_iceberg_build {
    struct tarn_iceberg_meta *meta;
    const struct tarn_iceberg_change *change;
    bool changed;
    bool removed_snapshots;
    bool is_dated;              /* last-updated-ms was set by a snapshot of this commit */
    int64_t last_schema, last_spec, last_order; /* what -1 means; TARN_ICEBERG_NONE: nothing was added */
    struct tarn_iceberg_ids schemas, specs, orders, snapshots;
    struct tarn_iceberg_ids heads; /* of main, one after the other, added by this commit */
};
typedef tarn_code tarn_iceberg_update_fn(struct tarn_iceberg_build *build, const json_t *doc, struct tarn_err *err);

/* update_head.c */
tarn_iceberg_update_fn tarn_iceberg_assign_uuid, tarn_iceberg_upgrade_format, tarn_iceberg_set_location,
    tarn_iceberg_set_properties, tarn_iceberg_remove_properties;
/* update_schema.c */
tarn_iceberg_update_fn tarn_iceberg_add_schema_update, tarn_iceberg_set_current_schema, tarn_iceberg_remove_schemas;
/* update_spec.c */
tarn_iceberg_update_fn tarn_iceberg_add_spec_update, tarn_iceberg_set_default_spec, tarn_iceberg_remove_specs,
    tarn_iceberg_add_order_update, tarn_iceberg_set_default_order;
/* update_snapshot.c */
tarn_iceberg_update_fn tarn_iceberg_add_snapshot_update, tarn_iceberg_set_ref, tarn_iceberg_remove_ref_update,
    tarn_iceberg_remove_snapshots;
/* update_extra.c */
tarn_iceberg_update_fn tarn_iceberg_set_statistics, tarn_iceberg_remove_statistics, tarn_iceberg_set_partition_statistics,
    tarn_iceberg_remove_partition_statistics, tarn_iceberg_add_key, tarn_iceberg_remove_key;
#endif
