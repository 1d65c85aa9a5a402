/* view_updates.c - a view created and changed: one row an action, what a version must be, and which old ones go. */
#include "formats/iceberg/build.h"
#include "formats/iceberg/value.h"
#include "formats/iceberg/view_parts.h"
#include <errno.h>
#include <string.h>
#include <strings.h>

struct build {
    struct tarn_iceberg_view *view;
    int64_t now_ms;
    bool changed;
    int64_t last_schema, last_version; /* what -1 means; TARN_ICEBERG_NONE: nothing was added */
    struct tarn_iceberg_ids schemas, versions; /* added by this commit */
    int64_t base_version;              /* current before, TARN_ICEBERG_NONE: a new view */
    bool moved;                        /* another version became current */
};
typedef tarn_code update_fn(struct build *build, const json_t *doc, struct tarn_err *err);

/* --- head --- */

static tarn_code set_text(char **member, const char *text, struct build *build, struct tarn_err *err)
{
    char *copy = strdup(text);

    if (!copy)
        return tarn_fail_oom(err);
    free(*member);
    *member = copy;
    build->changed = true;
    return TARN_OK;
}

static tarn_code assign_uuid(struct build *build, const json_t *doc, struct tarn_err *err)
{
    const char *uuid = NULL;
    tarn_code code = tarn_iceberg_need_str(doc, "uuid", &uuid, err);

    if (code != TARN_OK)
        return code;
    if (!build->view->uuid)
        return set_text(&build->view->uuid, uuid, build, err);
    return strcasecmp(build->view->uuid, uuid) == 0 ? TARN_OK : tarn_fail_field(err, "uuid", "Cannot reassign uuid");
}

static tarn_code upgrade(struct build *build, const json_t *doc, struct tarn_err *err)
{
    int64_t version = 0;
    tarn_code code = tarn_iceberg_need_i64(doc, "format-version", &version, err);

    (void)build;
    if (code == TARN_OK && version != 1)
        return tarn_fail_field(err, "format-version", "Cannot upgrade view to unsupported format version: v%lld (supported: v1)",
                               (long long)version);
    return code;
}

static tarn_code set_location(struct build *build, const json_t *doc, struct tarn_err *err)
{
    const char *location = NULL;
    tarn_code code = tarn_iceberg_need_str(doc, "location", &location, err);

    if (code != TARN_OK || (build->view->location && strcmp(build->view->location, location) == 0))
        return code;
    return set_text(&build->view->location, location, build, err);
}

static tarn_code own_properties(struct build *build, struct tarn_err *err)
{
    json_t *copy = json_copy(build->view->properties);

    if (!copy)
        return tarn_fail_oom(err);
    json_decref(build->view->properties);
    build->view->properties = copy;
    build->changed = true;
    return TARN_OK;
}

static tarn_code set_properties(struct build *build, const json_t *doc, struct tarn_err *err)
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

static tarn_code remove_properties(struct build *build, const json_t *doc, struct tarn_err *err)
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

static tarn_code put_schema(struct build *build, const json_t *schema, struct tarn_err *err)
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
    item.doc = tarn_iceberg_with_i64(schema, "schema-id", item.id);
    if (!item.doc)
        return tarn_fail_oom(err);
    build->last_schema = item.id;
    build->changed = true;
    return tarn_iceberg_view_add_schema(build->view, item, err);
}

static tarn_code add_schema(struct build *build, const json_t *doc, struct tarn_err *err)
{
    const json_t *schema = NULL;
    tarn_code code = tarn_iceberg_need_object(doc, "schema", &schema, err);

    if (code == TARN_OK)
        code = tarn_iceberg_schema_check(schema, TARN_ICEBERG_FORMAT_MAX, err);
    return code == TARN_OK ? put_schema(build, schema, err) : code;
}

/* --- versions --- */

static const char *dialect_of(const json_t *representation)
{
    const char *type = json_string_value(json_object_get(representation, "type"));

    return type && strcasecmp(type, "sql") == 0 ? json_string_value(json_object_get(representation, "dialect")) : NULL;
}

static tarn_code check_representations(const json_t *version, struct tarn_err *err)
{
    const json_t *list = json_object_get(version, "representations");

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        const char *type = NULL, *text = NULL, *dialect = dialect_of(one);
        tarn_code code = tarn_iceberg_need_str(one, "type", &type, err);
        if (code == TARN_OK && strcasecmp(type, "sql") == 0)
            code = tarn_iceberg_need_str(one, "sql", &text, err);
        if (code == TARN_OK && strcasecmp(type, "sql") == 0)
            code = tarn_iceberg_need_str(one, "dialect", &text, err);
        if (code != TARN_OK)
            return code;
        for (size_t j = 0; j < i && dialect; j++) {
            const char *other = dialect_of(json_array_get(list, j));
            if (other && strcasecmp(dialect, other) == 0)
                return tarn_fail_field(err, "view-version",
                                       "Invalid view version: Cannot add multiple queries for dialect %.100s", other);
        }
    }
    return TARN_OK;
}

static bool is_same_version(const json_t *a, const json_t *b)
{
    static const char *const keys[] = { "summary", "representations", "default-catalog", "default-namespace", "schema-id" };

    for (size_t i = 0; i < TARN_COUNT(keys); i++) {
        const json_t *one = tarn_iceberg_member(a, keys[i]), *other = tarn_iceberg_member(b, keys[i]);
        if ((one || other) && !json_equal(one, other))
            return false;
    }
    return true;
}

static tarn_code resolve_schema(const struct build *build, int64_t *schema_id, struct tarn_err *err)
{
    if (*schema_id == -1 && build->last_schema == TARN_ICEBERG_NONE)
        return tarn_fail_field(err, "schema-id", "Cannot set last added schema: no schema has been added");
    if (*schema_id == -1)
        *schema_id = build->last_schema;
    for (size_t i = 0; i < build->view->schemas.count; i++)
        if (build->view->schemas.items[i].id == *schema_id)
            return TARN_OK;
    return tarn_fail_field(err, "schema-id", "Cannot add version with unknown schema: %lld", (long long)*schema_id);
}

/* Takes `version.doc` over. */
static tarn_code place_version(struct build *build, struct tarn_iceberg_view_version version, struct tarn_err *err)
{
    for (size_t i = 0; i < build->view->versions.count; i++) {
        if (is_same_version(build->view->versions.items[i].doc, version.doc)) {
            json_decref(version.doc);
            build->last_version = build->view->versions.items[i].id;
            return TARN_OK;
        }
    }
    for (size_t i = 0; i < build->view->versions.count; i++)
        if (build->view->versions.items[i].id >= version.id)
            version.id = build->view->versions.items[i].id + 1;
    if (json_object_set_new(version.doc, "version-id", json_integer(version.id)) != 0) {
        json_decref(version.doc);
        return tarn_fail_oom(err);
    }
    build->last_version = version.id;
    build->changed = true;
    tarn_code code = tarn_iceberg_view_add_version(build->view, version, err);
    return code == TARN_OK ? tarn_iceberg_ids_add(&build->versions, version.id, err) : code;
}

static tarn_code put_version(struct build *build, const json_t *doc, struct tarn_err *err)
{
    struct tarn_iceberg_view_version version;
    tarn_code code = tarn_iceberg_view_version_read(doc, &version, err);

    if (code != TARN_OK)
        return code;
    json_decref(version.doc);
    code = check_representations(doc, err);
    if (code == TARN_OK)
        code = resolve_schema(build, &version.schema_id, err);
    if (code != TARN_OK)
        return code;
    version.doc = tarn_iceberg_with_i64(doc, "schema-id", version.schema_id);
    return version.doc ? place_version(build, version, err) : tarn_fail_oom(err);
}

static tarn_code add_version(struct build *build, const json_t *doc, struct tarn_err *err)
{
    const json_t *version = NULL;
    tarn_code code = tarn_iceberg_need_object(doc, "view-version", &version, err);

    return code == TARN_OK ? put_version(build, version, err) : code;
}

static tarn_code set_current(struct build *build, const json_t *doc, struct tarn_err *err)
{
    int64_t id = 0;
    tarn_code code = tarn_iceberg_need_i64(doc, "view-version-id", &id, err);

    if (code != TARN_OK)
        return code;
    if (id == -1 && build->last_version == TARN_ICEBERG_NONE)
        return tarn_fail_field(err, "view-version-id", "Cannot set last version id: no current version id has been set");
    if (id == -1)
        id = build->last_version;
    if (!tarn_iceberg_view_version_of(build->view, id))
        return tarn_fail_field(err, "view-version-id", "Cannot set current version to unknown version: %lld", (long long)id);
    if (id == build->view->current_version_id)
        return TARN_OK;
    build->view->current_version_id = id;
    build->changed = build->moved = true;
    return TARN_OK;
}

/* --- closing --- */

static tarn_code log_current(struct build *build, struct tarn_err *err)
{
    const struct tarn_iceberg_view_version *current =
        tarn_iceberg_view_version_of(build->view, build->view->current_version_id);
    bool is_new = current && tarn_iceberg_ids_have(&build->versions, current->id);

    if (!build->moved || !current)
        return TARN_OK;
    return tarn_iceberg_view_add_entry(build->view, is_new ? current->timestamp_ms : build->now_ms, current->id, err);
}

static bool has_dialect(const json_t *version, const char *dialect)
{
    const json_t *list = json_object_get(version, "representations");

    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *other = dialect_of(json_array_get(list, i));
        if (other && strcasecmp(other, dialect) == 0)
            return true;
    }
    return false;
}

/* Engines that speak a dialect would lose the view without being told. */
static tarn_code check_dialects(const struct build *build, const json_t *before, struct tarn_err *err)
{
    const struct tarn_iceberg_view_version *now =
        tarn_iceberg_view_version_of(build->view, build->view->current_version_id);
    const char *allowed = json_string_value(json_object_get(build->view->properties, "replace.drop-dialect.allowed"));
    const json_t *list = json_object_get(before, "representations");

    if (!before || !now || (allowed && strcasecmp(allowed, "true") == 0))
        return TARN_OK;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *dialect = dialect_of(json_array_get(list, i));
        if (dialect && !has_dialect(now->doc, dialect))
            return tarn_fail_field(err, "view-version",
                                   "Cannot replace view due to loss of view dialects (replace.drop-dialect.allowed=false): "
                                   "the new version has no query for %.100s",
                                   dialect);
    }
    return TARN_OK;
}

static tarn_code wanted_versions(const struct build *build, size_t *out, struct tarn_err *err)
{
    const char *text = json_string_value(json_object_get(build->view->properties, "version.history.num-entries"));
    long wanted = text ? strtol(text, NULL, 10) : 10;

    if (wanted <= 0)
        return tarn_fail_field(err, "properties", "version.history.num-entries must be positive but was %ld", wanted);
    *out = (size_t)wanted > build->versions.count ? (size_t)wanted : build->versions.count;
    return TARN_OK;
}

/* How many versions have a higher id: the newest ones stay. */
static size_t rank(const struct tarn_iceberg_view *view, int64_t id)
{
    size_t higher = 0;

    for (size_t i = 0; i < view->versions.count; i++)
        higher += view->versions.items[i].id > id ? 1 : 0;
    return higher;
}

static void cut_log(struct tarn_iceberg_view *view)
{
    size_t kept = 0;

    for (size_t i = 0; i < view->log.count; i++) {
        if (tarn_iceberg_view_version_of(view, view->log.items[i].version_id))
            view->log.items[kept++] = view->log.items[i];
        else
            kept = 0;
    }
    view->log.count = kept;
}

static tarn_code expire(struct build *build, struct tarn_err *err)
{
    struct tarn_iceberg_view *view = build->view;
    size_t wanted = 0, kept = 0;
    tarn_code code = wanted_versions(build, &wanted, err);

    if (code != TARN_OK || view->versions.count <= wanted)
        return code;
    size_t others = rank(view, view->current_version_id) < wanted ? wanted : wanted - 1; /* the current one has a place */
    bool *stays = calloc(view->versions.count, sizeof *stays);
    if (!stays)
        return tarn_fail_oom(err);
    for (size_t i = 0; i < view->versions.count; i++)
        stays[i] = view->versions.items[i].id == view->current_version_id || rank(view, view->versions.items[i].id) < others;
    for (size_t i = 0; i < view->versions.count; i++) {
        if (stays[i])
            view->versions.items[kept++] = view->versions.items[i];
        else
            json_decref(view->versions.items[i].doc);
    }
    view->versions.count = kept;
    free(stays);
    cut_log(view);
    return TARN_OK;
}

static tarn_code close(struct build *build, const json_t *before, struct tarn_err *err)
{
    if (build->view->current_version_id == TARN_ICEBERG_NONE)
        return tarn_fail_field(err, "updates", "Cannot find current version: the view has none");
    if (!build->view->uuid || !build->view->location)
        return tarn_fail_field(err, "updates", "Invalid view: it has no uuid or no location");
    tarn_code code = check_dialects(build, before, err);
    if (code == TARN_OK)
        code = log_current(build, err);
    return code == TARN_OK ? expire(build, err) : code;
}

/* --- what the outside calls --- */

static const struct { const char *action; update_fn *apply; } k_updates[] = {
    { "assign-uuid", assign_uuid },          { "upgrade-format-version", upgrade }, { "add-schema", add_schema },
    { "set-location", set_location },        { "set-properties", set_properties },  { "remove-properties", remove_properties },
    { "add-view-version", add_version },     { "set-current-view-version", set_current },
};

static tarn_code apply_one(struct build *build, const json_t *doc, struct tarn_err *err)
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

static struct build build_of(struct tarn_iceberg_view *view, int64_t now_ms)
{
    return (struct build){ .view = view, .now_ms = now_ms, .last_schema = TARN_ICEBERG_NONE,
                           .last_version = TARN_ICEBERG_NONE, .base_version = view->current_version_id };
}

tarn_code tarn_iceberg_view_update(struct tarn_iceberg_view *view, const json_t *updates, int64_t now_ms, bool *changed,
                                   struct tarn_err *err)
{
    struct build build = build_of(view, now_ms);
    const struct tarn_iceberg_view_version *old = tarn_iceberg_view_version_of(view, view->current_version_id);
    json_t *before = old ? json_incref(old->doc) : NULL;
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < json_array_size(updates) && code == TARN_OK; i++)
        code = apply_one(&build, json_array_get(updates, i), err);
    *changed = build.changed;
    if (code == TARN_OK && build.changed)
        code = close(&build, before, err);
    json_decref(before);
    free(build.schemas.items);
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
