/* update_head.c - updates of uuid, format version, location and properties. */
#include "formats/iceberg/build.h"
#include "formats/iceberg/value.h"
#include <string.h>

static tarn_code replace(char **member, const char *text, size_t len, struct tarn_iceberg_build *build, struct tarn_err *err)
{
    char *copy = strndup(text, len);

    if (!copy)
        return tarn_fail_oom(err);
    free(*member);
    *member = copy;
    build->changed = true;
    return TARN_OK;
}

tarn_code tarn_iceberg_assign_uuid(struct tarn_iceberg_build *build, const json_t *doc, struct tarn_err *err)
{
    const char *uuid = NULL;
    tarn_code code = tarn_iceberg_need_str(doc, "uuid", &uuid, err);

    if (code == TARN_OK && !*uuid)
        code = tarn_fail_field(err, "uuid", "Cannot set uuid to an empty text");
    if (code != TARN_OK || (build->meta->uuid && strcmp(build->meta->uuid, uuid) == 0))
        return code;
    return replace(&build->meta->uuid, uuid, strlen(uuid), build, err);
}

tarn_code tarn_iceberg_upgrade_format(struct tarn_iceberg_build *build, const json_t *doc, struct tarn_err *err)
{
    struct tarn_iceberg_meta *meta = build->meta;
    int64_t version = 0;
    tarn_code code = tarn_iceberg_need_i64(doc, "format-version", &version, err);

    if (code != TARN_OK || version == meta->format_version)
        return code;
    if (version > TARN_ICEBERG_FORMAT_MAX)
        return tarn_fail_field(err, "format-version",
                               "Cannot upgrade table to unsupported format version: v%lld (supported: v%d)",
                               (long long)version, TARN_ICEBERG_FORMAT_MAX);
    if (version < meta->format_version)
        return tarn_fail_field(err, "format-version", "Cannot downgrade v%lld table to v%lld",
                               (long long)meta->format_version, (long long)version);
    meta->format_version = version;
    if (version >= 3 && meta->next_row_id < 0)
        meta->next_row_id = 0;
    build->changed = true;
    return TARN_OK;
}

tarn_code tarn_iceberg_set_location(struct tarn_iceberg_build *build, const json_t *doc, struct tarn_err *err)
{
    const char *location = NULL;
    tarn_code code = tarn_iceberg_need_str(doc, "location", &location, err);

    if (code != TARN_OK)
        return code;
    size_t len = tarn_iceberg_location_len(location);
    const char *old = build->meta->location;
    if (old && strlen(old) == len && strncmp(old, location, len) == 0)
        return TARN_OK;
    return replace(&build->meta->location, location, len, build, err);
}

/* What is shared with another document is not written into. */
static tarn_code own_properties(struct tarn_iceberg_meta *meta, struct tarn_err *err)
{
    json_t *copy = json_copy(meta->properties);

    if (!copy)
        return tarn_fail_oom(err);
    json_decref(meta->properties);
    meta->properties = copy;
    return TARN_OK;
}

tarn_code tarn_iceberg_set_properties(struct tarn_iceberg_build *build, const json_t *doc, struct tarn_err *err)
{
    const char *key = tarn_iceberg_member(doc, "updates") ? "updates" : "updated"; /* as old clients spell it */
    const json_t *updates = NULL;
    tarn_code code = tarn_iceberg_need_object(doc, key, &updates, err);

    if (code == TARN_OK)
        code = tarn_iceberg_check_texts(updates, key, err);
    if (code != TARN_OK || json_object_size(updates) == 0)
        return code;
    code = own_properties(build->meta, err);
    if (code == TARN_OK && json_object_update(build->meta->properties, (json_t *)(uintptr_t)updates) != 0)
        code = tarn_fail_oom(err);
    build->changed = true;
    return code;
}

tarn_code tarn_iceberg_remove_properties(struct tarn_iceberg_build *build, const json_t *doc, struct tarn_err *err)
{
    const char *key = tarn_iceberg_member(doc, "removals") ? "removals" : "removed";
    const json_t *removals = NULL;
    size_t i;
    json_t *name;
    tarn_code code = tarn_iceberg_need_array(doc, key, &removals, err);

    if (code != TARN_OK || json_array_size(removals) == 0)
        return code;
    code = own_properties(build->meta, err);
    json_array_foreach((json_t *)(uintptr_t)removals, i, name) {
        if (code == TARN_OK && !json_is_string(name))
            code = tarn_fail_field(err, key, "Cannot parse %s: it must be an array of text", key);
        if (code == TARN_OK)
            (void)json_object_del(build->meta->properties, json_string_value(name));
    }
    build->changed = true;
    return code;
}
