/* requirements.c - what a client may ask to hold before its updates are applied, one row a type. Source: REST specification,
 * TableRequirement; the texts are the reference's (UpdateRequirement), which clients show and tests compare. */
#include "formats/iceberg/parts.h"
#include "formats/iceberg/value.h"
#include <string.h>
#include <strings.h>

typedef tarn_code require_fn(const struct tarn_iceberg_meta *base, const json_t *doc, struct tarn_err *err);

#define FAILED(err, ...) tarn_fail(err, TARN_VERSION_CONFLICT, "Requirement failed: " __VA_ARGS__)

static tarn_code require_create(const struct tarn_iceberg_meta *base, const json_t *doc, struct tarn_err *err)
{
    (void)doc;
    return base ? FAILED(err, "table already exists") : TARN_OK;
}

static tarn_code require_uuid(const struct tarn_iceberg_meta *base, const json_t *doc, struct tarn_err *err)
{
    const char *uuid = NULL;
    tarn_code code = tarn_iceberg_need_str(doc, "uuid", &uuid, err);

    if (code == TARN_OK && (!base->uuid || strcasecmp(uuid, base->uuid) != 0))
        return FAILED(err, "UUID does not match: expected %.40s != %.40s", base->uuid ? base->uuid : "null", uuid);
    return code;
}

static tarn_code require_ref(const struct tarn_iceberg_meta *base, const json_t *doc, struct tarn_err *err)
{
    const char *name = NULL;
    int64_t wanted = 0;
    bool is_wanted = tarn_iceberg_member(doc, "snapshot-id") != NULL;
    tarn_code code = tarn_iceberg_need_str(doc, "ref", &name, err);

    if (code == TARN_OK)
        code = tarn_iceberg_opt_i64(doc, "snapshot-id", &wanted, err);
    if (code != TARN_OK)
        return code;
    const struct tarn_iceberg_ref *ref = tarn_iceberg_ref_of(base, name);
    const char *kind = ref && ref->is_tag ? "tag" : "branch";
    if (!ref)
        return is_wanted ? FAILED(err, "branch or tag %.100s is missing, expected %lld", name, (long long)wanted) : TARN_OK;
    if (!is_wanted)
        return FAILED(err, "%s %.100s was created concurrently", kind, name);
    if (ref->snapshot_id != wanted)
        return FAILED(err, "%s %.100s has changed: expected id %lld != %lld", kind, name, (long long)wanted,
                      (long long)ref->snapshot_id);
    return TARN_OK;
}

/* The five that compare one number. */
static tarn_code require_number(const json_t *doc, const char *key, const char *what, int64_t found, struct tarn_err *err)
{
    int64_t wanted = 0;
    tarn_code code = tarn_iceberg_need_i64(doc, key, &wanted, err);

    if (code == TARN_OK && wanted != found)
        return FAILED(err, "%s changed: expected id %lld != %lld", what, (long long)wanted, (long long)found);
    return code;
}

static tarn_code require_field_id(const struct tarn_iceberg_meta *base, const json_t *doc, struct tarn_err *err)
{
    return require_number(doc, "last-assigned-field-id", "last assigned field id", base->last_column_id, err);
}

static tarn_code require_schema_id(const struct tarn_iceberg_meta *base, const json_t *doc, struct tarn_err *err)
{
    return require_number(doc, "current-schema-id", "current schema", base->current_schema_id, err);
}

static tarn_code require_partition_id(const struct tarn_iceberg_meta *base, const json_t *doc, struct tarn_err *err)
{
    return require_number(doc, "last-assigned-partition-id", "last assigned partition id", base->last_partition_id, err);
}

static tarn_code require_spec_id(const struct tarn_iceberg_meta *base, const json_t *doc, struct tarn_err *err)
{
    return require_number(doc, "default-spec-id", "default partition spec", base->default_spec_id, err);
}

static tarn_code require_order_id(const struct tarn_iceberg_meta *base, const json_t *doc, struct tarn_err *err)
{
    return require_number(doc, "default-sort-order-id", "default sort order", base->default_order_id, err);
}

static const struct requirement {
    const char *type;
    require_fn *require;
} k_requirements[] = {
    { "assert-create", require_create },
    { "assert-table-uuid", require_uuid },
    { "assert-ref-snapshot-id", require_ref },
    { "assert-last-assigned-field-id", require_field_id },
    { "assert-current-schema-id", require_schema_id },
    { "assert-last-assigned-partition-id", require_partition_id },
    { "assert-default-spec-id", require_spec_id },
    { "assert-default-sort-order-id", require_order_id },
};

static tarn_code find(const json_t *doc, const struct requirement **out, struct tarn_err *err)
{
    const char *type = NULL;
    tarn_code code = tarn_iceberg_need_str(doc, "type", &type, err);

    for (size_t i = 0; i < TARN_COUNT(k_requirements) && code == TARN_OK; i++) {
        if (strcasecmp(k_requirements[i].type, type) == 0) {
            *out = &k_requirements[i];
            return TARN_OK;
        }
    }
    return code == TARN_OK ? tarn_fail_field(err, "type", "Cannot parse update requirement: unknown type %.100s", type)
                           : code;
}

/* All types are known; *creates: one of them is assert-create, which stands alone whether the table exists or not. */
static tarn_code look(const json_t *requirements, bool *creates, struct tarn_err *err)
{
    const struct requirement *row = NULL, *other = NULL;
    tarn_code code = TARN_OK;

    *creates = false;
    for (size_t i = 0; i < json_array_size(requirements) && code == TARN_OK; i++) {
        code = find(json_array_get(requirements, i), &row, err);
        if (code != TARN_OK)
            return tarn_err_prefix(err, "requirements[%zu]", i);
        *creates = *creates || row->require == require_create;
        other = row->require == require_create ? other : row;
    }
    if (*creates && other)
        return tarn_fail_field(err, "requirements", "Invalid create requirements: [%s]", other->type);
    return TARN_OK;
}

tarn_code tarn_iceberg_require(const struct tarn_iceberg_meta *base, const json_t *requirements, bool *creates,
                               struct tarn_err *err)
{
    tarn_code code = look(requirements, creates, err);
    const struct requirement *row = NULL;

    if (code == TARN_OK && !base && !*creates && json_array_size(requirements) > 0)
        return tarn_fail(err, TARN_TABLE_NOT_FOUND, "the table does not exist");
    for (size_t i = 0; i < json_array_size(requirements) && code == TARN_OK; i++) {
        const json_t *doc = json_array_get(requirements, i);
        code = find(doc, &row, err);
        if (code == TARN_OK)
            code = row->require(base, doc, err);
    }
    return code;
}
