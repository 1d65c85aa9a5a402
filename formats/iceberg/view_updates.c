/* view_updates.c - a view created and changed: one row an action. */
#include "formats/iceberg/value.h"
#include "formats/iceberg/view_build.h"
#include <string.h>
#include <strings.h>

/* --- head --- */

static tarn_code set_text(char **member, const char *text, size_t len, struct tarn_iceberg_view_build *build,
                          struct tarn_err *err)
{
    char *copy = strndup(text, len);

    if (!copy)
        return tarn_fail_oom(err);
    free(*member);
    *member = copy;
    build->changed = true;
    return TARN_OK;
}

static tarn_code assign_uuid(struct tarn_iceberg_view_build *build, const json_t *doc, struct tarn_err *err)
{
    const char *uuid = NULL;
    tarn_code code = tarn_iceberg_need_str(doc, "uuid", &uuid, err);

    if (code != TARN_OK)
        return code;
    if (!build->view->uuid)
        return set_text(&build->view->uuid, uuid, strlen(uuid), build, err);
    return strcasecmp(build->view->uuid, uuid) == 0 ? TARN_OK : tarn_fail_field(err, "uuid", "Cannot reassign uuid");
}

static tarn_code upgrade(struct tarn_iceberg_view_build *build, const json_t *doc, struct tarn_err *err)
{
    int64_t version = 0;
    tarn_code code = tarn_iceberg_need_i64(doc, "format-version", &version, err);

    (void)build;
    if (code == TARN_OK && version != 1)
        return tarn_fail_field(err, "format-version", "Cannot upgrade view to unsupported format version: v%lld (supported: v1)",
                               (long long)version);
    return code;
}

static tarn_code set_location(struct tarn_iceberg_view_build *build, const json_t *doc, struct tarn_err *err)
{
    const char *location = NULL;
    tarn_code code = tarn_iceberg_need_str(doc, "location", &location, err);

    if (code != TARN_OK)
        return code;
    size_t len = tarn_iceberg_location_len(location);
    const char *old = build->view->location;
    if (old && strlen(old) == len && strncmp(old, location, len) == 0)
        return TARN_OK;
    return set_text(&build->view->location, location, len, build, err);
}

static tarn_code own_properties(struct tarn_iceberg_view_build *build, struct tarn_err *err)
{
    json_t *copy = json_copy(build->view->properties);

    if (!copy)
        return tarn_fail_oom(err);
    json_decref(build->view->properties);
    build->view->properties = copy;
    build->changed = true;
    return TARN_OK;
}

static tarn_code set_properties(struct tarn_iceberg_view_build *build, const json_t *doc, struct tarn_err *err)
{
    const json_t *updates = NULL;
    tarn_code code = tarn_iceberg_need_object(doc, "updates", &updates, err);

    if (code == TARN_OK)
        code = tarn_iceberg_check_texts(updates, "updates", err);
    if (code != TARN_OK || json_object_size(updates) == 0)
        return code;
    code = own_properties(build, err);
    if (code == TARN_OK && json_object_update(build->view->properties, (json_t *)(uintptr_t)updates) != 0)
        code = tarn_fail_oom(err);
    return code;
}

static tarn_code remove_properties(struct tarn_iceberg_view_build *build, const json_t *doc, struct tarn_err *err)
{
    const json_t *removals = NULL;
    size_t i;
    json_t *name;
    tarn_code code = tarn_iceberg_need_array(doc, "removals", &removals, err);

    if (code != TARN_OK || json_array_size(removals) == 0)
        return code;
    code = own_properties(build, err);
    json_array_foreach((json_t *)(uintptr_t)removals, i, name)
        if (code == TARN_OK && json_is_string(name))
            (void)json_object_del(build->view->properties, json_string_value(name));
    return code;
}

/* --- schemas --- */

static tarn_code put_schema(struct tarn_iceberg_view_build *build, const json_t *schema, struct tarn_err *err)
{
    struct tarn_iceberg_schema item = { .id = 0 };

    for (size_t i = 0; i < build->view->schemas.count; i++) {
        if (tarn_iceberg_schema_same(build->view->schemas.items[i].doc, schema)) {
            build->last_schema = build->view->schemas.items[i].id;
            return TARN_OK;
        }
        if (build->view->schemas.items[i].id >= item.id)
            item.id = build->view->schemas.items[i].id + 1;
    }
    TARN_TRY(tarn_iceberg_check_id("schema-id", item.id, err));
    item.doc = tarn_iceberg_with_i64(schema, "schema-id", item.id);
    if (!item.doc)
        return tarn_fail_oom(err);
    build->last_schema = item.id;
    build->changed = true;
    return tarn_iceberg_view_add_schema(build->view, item, err);
}

static tarn_code add_schema(struct tarn_iceberg_view_build *build, const json_t *doc, struct tarn_err *err)
{
    const json_t *schema = NULL;
    tarn_code code = tarn_iceberg_need_object(doc, "schema", &schema, err);

    if (code == TARN_OK)
        code = tarn_iceberg_schema_check(schema, TARN_ICEBERG_FORMAT_MAX, err);
    return code == TARN_OK ? put_schema(build, schema, err) : code;
}

/* --- what the outside calls --- */

static const struct { const char *action; tarn_iceberg_view_update_fn *apply; } k_updates[] = {
    { "assign-uuid", assign_uuid },          { "upgrade-format-version", upgrade }, { "add-schema", add_schema },
    { "set-location", set_location },        { "set-properties", set_properties },  { "remove-properties", remove_properties },
    { "add-view-version", tarn_iceberg_view_add_version_update },
    { "set-current-view-version", tarn_iceberg_view_set_current },
};

static tarn_code apply_one(struct tarn_iceberg_view_build *build, const json_t *doc, struct tarn_err *err)
{
    const char *action = NULL;
    tarn_code code = tarn_iceberg_need_str(doc, "action", &action, err);

    for (size_t i = 0; i < TARN_COUNT(k_updates) && code == TARN_OK; i++)
        if (strcasecmp(k_updates[i].action, action) == 0)
            return k_updates[i].apply(build, doc, err);
    return code == TARN_OK ? tarn_fail_field(err, "action", "Cannot convert metadata update action to this view: %.100s",
                                             action)
                           : code;
}

static struct tarn_iceberg_view_build build_of(struct tarn_iceberg_view *view, int64_t now_ms)
{
    return (struct tarn_iceberg_view_build){ .view = view, .now_ms = now_ms, .last_schema = TARN_ICEBERG_NONE,
                           .last_version = TARN_ICEBERG_NONE };
}

tarn_code tarn_iceberg_view_update(struct tarn_iceberg_view *view, const json_t *updates, int64_t now_ms, bool *changed,
                                   struct tarn_err *err)
{
    struct tarn_iceberg_view_build build = build_of(view, now_ms);
    const struct tarn_iceberg_view_version *old = tarn_iceberg_view_version_of(view, view->current_version_id);
    json_t *before = old ? json_incref(old->doc) : NULL;
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < json_array_size(updates) && code == TARN_OK; i++)
        code = apply_one(&build, json_array_get(updates, i), err);
    *changed = build.changed;
    if (code == TARN_OK && build.changed)
        code = tarn_iceberg_view_close(&build, before, err);
    json_decref(before);
    free(build.versions.items);
    return code;
}

/* The server numbers and dates the first version. */
static json_t *first_version(const struct tarn_iceberg_view_create *ask)
{
    json_t *version = tarn_iceberg_with_i64(ask->version, "version-id", 1);

    if (version && json_object_set_new(version, "timestamp-ms", json_integer(ask->now_ms)) == 0 &&
        json_object_set_new(version, "schema-id", json_integer(-1)) == 0)
        return version;
    json_decref(version);
    return NULL;
}

tarn_code tarn_iceberg_view_create(const struct tarn_iceberg_view_create *ask, struct tarn_iceberg_view **out,
                                   struct tarn_err *err)
{
    TARN_AUTO(iceberg_view) struct tarn_iceberg_view *view = NULL;
    json_t *version = first_version(ask);
    bool changed = false;
    json_t *updates = json_pack("[{s:s,s:s}, {s:s,s:s}, {s:s,s:O}, {s:s,s:O*}, {s:s,s:o}, {s:s,s:i}]",
                                "action", "assign-uuid", "uuid", ask->uuid, "action", "set-location", "location", ask->location,
                                "action", "add-schema", "schema", ask->schema, "action", "set-properties", "updates",
                                ask->properties, "action", "add-view-version", "view-version", version, "action",
                                "set-current-view-version", "view-version-id", -1);

    if (!updates)
        return tarn_fail_oom(err);
    if (!ask->properties)
        (void)json_array_remove(updates, 3);
    tarn_code code = tarn_iceberg_view_blank(&view, err);
    if (code == TARN_OK)
        code = tarn_iceberg_view_update(view, updates, ask->now_ms, &changed, err);
    json_decref(updates);
    if (code == TARN_OK)
        *out = tarn_take(&view);
    return code;
}

tarn_code tarn_iceberg_view_require(const struct tarn_iceberg_view *base, const json_t *requirements, struct tarn_err *err)
{
    for (size_t i = 0; i < json_array_size(requirements); i++) {
        const json_t *doc = json_array_get(requirements, i);
        const char *type = NULL, *uuid = NULL;
        tarn_code code = tarn_iceberg_need_str(doc, "type", &type, err);
        if (code == TARN_OK && strcasecmp(type, "assert-view-uuid") != 0)
            return tarn_fail_field(err, "requirements", "Cannot parse update requirement: unknown type %.100s", type);
        if (code == TARN_OK)
            code = tarn_iceberg_need_str(doc, "uuid", &uuid, err);
        if (code != TARN_OK)
            return code;
        if (strcasecmp(uuid, base->uuid) != 0)
            return tarn_fail(err, TARN_VERSION_CONFLICT, "Requirement failed: view UUID does not match: expected %s != %.40s",
                             base->uuid, uuid);
    }
    return TARN_OK;
}
