/* parts.h - inside formats/iceberg/: schemas, specs and sort orders as the metadata builder needs them. All pure. */
#ifndef TARN_FORMATS_ICEBERG_PARTS_H
#define TARN_FORMATS_ICEBERG_PARTS_H
#include "formats/iceberg/iceberg.h"

/* --- read.c --- */
TARN_MUST tarn_code tarn_iceberg_ref_read(const char *name, const json_t *doc, struct tarn_iceberg_ref *out, struct tarn_err *err);

/* --- snapshot.c --- */
/* What *out owns is freed by tarn_iceberg_snapshot_done (meta.c), after a failure too. */
TARN_MUST tarn_code tarn_iceberg_snapshot_read(const json_t *doc, struct tarn_iceberg_snapshot *out, struct tarn_err *err);
/* What readers ask of one beside what tarn_iceberg_snapshot_read asks. */
TARN_MUST tarn_code tarn_iceberg_snapshot_form(const json_t *doc, const struct tarn_iceberg_snapshot *snapshot, struct tarn_err *err);
/* A whole document in one pass: its snapshots go to `meta`, one by one, the other members to `rest`. */
TARN_MUST tarn_code tarn_iceberg_split(const char *text, size_t len, struct tarn_iceberg_meta *meta, struct tarn_buf *rest,
                                       struct tarn_err *err);

/* --- update_snapshot.c, update_extra.c: what readers ask of a ref's retention, a statistics file, a key --- */
TARN_MUST tarn_code tarn_iceberg_ref_form(const json_t *doc, bool is_tag, struct tarn_err *err);
TARN_MUST tarn_code tarn_iceberg_statistics_form(const json_t *doc, struct tarn_err *err);
TARN_MUST tarn_code tarn_iceberg_partition_statistics_form(const json_t *doc, struct tarn_err *err);
TARN_MUST tarn_code tarn_iceberg_key_form(const json_t *doc, struct tarn_err *err);

/* --- types.c --- */
/* The format version that brought a primitive type; 0: there is no such type. */
int64_t tarn_iceberg_type_since(const char *text);
bool tarn_iceberg_transform_fits(const char *transform, const char *type);
bool tarn_iceberg_transform_valid(const char *transform);

/* --- schema.c, fresh.c --- */
/* A struct type in JSON: every field with id, name, type; ids and names unique; types known to this format version;
 * identifier fields that can be ones. TARN_INVALID. */
TARN_MUST tarn_code tarn_iceberg_schema_check(const json_t *doc, int64_t format_version, struct tarn_err *err);
bool tarn_iceberg_default_fits(const json_t *type, const json_t *value); /* types.c; `value` is not null */
int64_t tarn_iceberg_schema_highest(const json_t *doc); /* of nested ids too; 0: no field */
/* Equal fields (ids, names, types, docs, optionality, defaults) and equal identifier-field-ids; schema-id does not count. */
bool tarn_iceberg_schema_same(const json_t *a, const json_t *b);
/* All ids from 1; `doc` was checked. *map (owned): each old id as text to the new one. */
TARN_MUST tarn_code tarn_iceberg_schema_fresh(const json_t *doc, int64_t schema_id, json_t **out, int64_t *last_id,
                                              json_t **map, struct tarn_err *err);
/* The field with that id, or NULL (also: an element, a key, a value); *path (may be NULL): its dotted name, owned. */
const json_t *tarn_iceberg_field_of(const json_t *schema, int64_t id, char **path);
int64_t tarn_iceberg_field_id_of(const json_t *schema, const char *dotted); /* TARN_ICEBERG_NONE */

/* --- spec.c --- */
/* Bound to `schema`: sources exist and fit their transforms, names are unique, field ids given (or all missing: then given from
 * `specs` of equal fields, else after *last_id). *last_id rises. Owned. */
TARN_MUST tarn_code tarn_iceberg_spec_bind(const json_t *doc, const struct tarn_iceberg_meta *meta, const json_t *schema,
                                           int64_t *last_id, json_t **out, struct tarn_err *err);
bool tarn_iceberg_spec_compatible(const json_t *a, const json_t *b); /* same sources, transforms, names in order; field ids do not count */
/* Every field with source, name, transform; names and field ids unique. */
TARN_MUST tarn_code tarn_iceberg_spec_form(const json_t *doc, struct tarn_err *err);
/* Does the default spec still fit the current schema? "Cannot find source column for partition field: ..." */
TARN_MUST tarn_code tarn_iceberg_spec_check(const json_t *doc, const json_t *schema, struct tarn_err *err);

/* --- order.c --- */
TARN_MUST tarn_code tarn_iceberg_order_bind(const json_t *doc, const json_t *schema, json_t **out, struct tarn_err *err);
/* Every field with source, transform, direction, order of nulls; id 0 without a field, and only then. */
TARN_MUST tarn_code tarn_iceberg_order_form(const json_t *doc, struct tarn_err *err);
bool tarn_iceberg_order_same(const json_t *a, const json_t *b);
TARN_MUST tarn_code tarn_iceberg_order_check(const json_t *doc, const json_t *schema, struct tarn_err *err);

/* --- meta.c: the lists of a meta; items are taken over, also on failure --- */
void tarn_iceberg_snapshot_done(struct tarn_iceberg_snapshot *item);
void tarn_iceberg_log_done(struct tarn_iceberg_log_entry *item);
/* Nothing in it yet but its version. */
TARN_MUST tarn_code tarn_iceberg_blank(int64_t format_version, struct tarn_iceberg_meta **out, struct tarn_err *err);
typedef bool tarn_iceberg_keep_fn(const void *ctx, int64_t id);
void tarn_iceberg_keep_schemas(struct tarn_iceberg_meta *meta, tarn_iceberg_keep_fn *test, const void *ctx);
void tarn_iceberg_keep_specs(struct tarn_iceberg_meta *meta, tarn_iceberg_keep_fn *test, const void *ctx);
void tarn_iceberg_keep_snapshots(struct tarn_iceberg_meta *meta, tarn_iceberg_keep_fn *test, const void *ctx);
void tarn_iceberg_cut_files(struct tarn_iceberg_meta *meta, size_t keep); /* metadata-log: the newest `keep` */
TARN_MUST tarn_code tarn_iceberg_add_schema(struct tarn_iceberg_meta *meta, struct tarn_iceberg_schema item, struct tarn_err *err);
TARN_MUST tarn_code tarn_iceberg_add_spec(struct tarn_iceberg_meta *meta, struct tarn_iceberg_spec item, struct tarn_err *err);
TARN_MUST tarn_code tarn_iceberg_add_order(struct tarn_iceberg_meta *meta, struct tarn_iceberg_order item, struct tarn_err *err);
TARN_MUST tarn_code tarn_iceberg_add_snapshot(struct tarn_iceberg_meta *meta, struct tarn_iceberg_snapshot item, struct tarn_err *err);
/* Over the old one of that name. */
TARN_MUST tarn_code tarn_iceberg_put_ref(struct tarn_iceberg_meta *meta, struct tarn_iceberg_ref item, struct tarn_err *err);
void tarn_iceberg_remove_ref(struct tarn_iceberg_meta *meta, const char *name);
TARN_MUST tarn_code tarn_iceberg_add_log(struct tarn_iceberg_meta *meta, struct tarn_iceberg_log_entry item, struct tarn_err *err);
TARN_MUST tarn_code tarn_iceberg_add_file(struct tarn_iceberg_meta *meta, struct tarn_iceberg_file_entry item, struct tarn_err *err);
#endif
