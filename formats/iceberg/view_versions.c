/* view_versions.c - the versions of a view: what one must be, which one is current, and which old ones go. */
#include "formats/iceberg/value.h"
#include "formats/iceberg/view_build.h"
#include <string.h>
#include <strings.h>

static const char *dialect_of(const json_t *representation)
{
    const char *type = json_string_value(json_object_get(representation, "type"));

    return type && strcasecmp(type, "sql") == 0 ? json_string_value(json_object_get(representation, "dialect")) : NULL;
}

static tarn_code check_representations(const json_t *list, struct tarn_err *err)
{
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

tarn_code tarn_iceberg_view_version_form(const json_t *doc, struct tarn_err *err)
{
    const json_t *levels = json_object_get(doc, "default-namespace");

    TARN_TRY(tarn_iceberg_check_texts(json_object_get(doc, "summary"), "summary", err));
    for (size_t i = 0; i < json_array_size(levels); i++)
        if (!json_is_string(json_array_get(levels, i)))
            return tarn_fail_field(err, "default-namespace", "Cannot parse default-namespace: it must be an array of text");
    return check_representations(json_object_get(doc, "representations"), err);
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

static tarn_code resolve_schema(const struct tarn_iceberg_view_build *build, int64_t *schema_id, struct tarn_err *err)
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
static tarn_code place_version(struct tarn_iceberg_view_build *build, struct tarn_iceberg_view_version version, struct tarn_err *err)
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
    tarn_code code = tarn_iceberg_check_id("version-id", version.id, err);
    if (code == TARN_OK && json_object_set_new(version.doc, "version-id", json_integer(version.id)) != 0)
        code = tarn_fail_oom(err);
    if (code != TARN_OK) {
        json_decref(version.doc);
        return code;
    }
    build->last_version = version.id;
    build->changed = true;
    code = tarn_iceberg_view_add_version(build->view, version, err);
    return code == TARN_OK ? tarn_iceberg_ids_add(&build->versions, version.id, err) : code;
}

static tarn_code put_version(struct tarn_iceberg_view_build *build, const json_t *doc, struct tarn_err *err)
{
    struct tarn_iceberg_view_version version;
    tarn_code code = tarn_iceberg_view_version_read(doc, &version, err);

    if (code != TARN_OK)
        return code;
    json_decref(version.doc);
    code = tarn_iceberg_view_version_form(doc, err);
    if (code == TARN_OK)
        code = resolve_schema(build, &version.schema_id, err);
    if (code != TARN_OK)
        return code;
    version.doc = tarn_iceberg_with_i64(doc, "schema-id", version.schema_id);
    return version.doc ? place_version(build, version, err) : tarn_fail_oom(err);
}

tarn_code tarn_iceberg_view_add_version_update(struct tarn_iceberg_view_build *build, const json_t *doc, struct tarn_err *err)
{
    const json_t *version = NULL;
    tarn_code code = tarn_iceberg_need_object(doc, "view-version", &version, err);

    return code == TARN_OK ? put_version(build, version, err) : code;
}

tarn_code tarn_iceberg_view_set_current(struct tarn_iceberg_view_build *build, const json_t *doc, struct tarn_err *err)
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

static tarn_code log_current(struct tarn_iceberg_view_build *build, struct tarn_err *err)
{
    const struct tarn_iceberg_view_version *current =
        tarn_iceberg_view_version_of(build->view, build->view->current_version_id);
    bool is_new = current && tarn_iceberg_ids_have(&build->versions, current->id);

    if (!build->moved || !current)
        return TARN_OK;
    struct tarn_iceberg_view_entry item = { is_new ? current->timestamp_ms : build->now_ms, current->id, NULL };
    return tarn_iceberg_view_add_entry(build->view, item, err);
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
static tarn_code check_dialects(const struct tarn_iceberg_view_build *build, const json_t *before, struct tarn_err *err)
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

static tarn_code wanted_versions(const struct tarn_iceberg_view_build *build, size_t *out, struct tarn_err *err)
{
    const char *text = json_string_value(json_object_get(build->view->properties, "version.history.num-entries"));
    long wanted = text ? strtol(text, NULL, 10) : 10;

    if (wanted <= 0)
        return tarn_fail_field(err, "properties", "version.history.num-entries must be positive but was %ld", wanted);
    size_t fresh = build->versions.count; /* what this commit adds stays, and so does the current one */
    if (!tarn_iceberg_ids_have(&build->versions, build->view->current_version_id))
        fresh++;
    *out = (size_t)wanted > fresh ? (size_t)wanted : fresh;
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
        if (tarn_iceberg_view_version_of(view, view->log.items[i].version_id)) {
            view->log.items[kept++] = view->log.items[i];
            continue;
        }
        tarn_iceberg_view_entry_done(&view->log.items[i]);
        while (kept > 0)
            tarn_iceberg_view_entry_done(&view->log.items[--kept]);
    }
    view->log.count = kept;
}

static tarn_code expire(struct tarn_iceberg_view_build *build, struct tarn_err *err)
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

tarn_code tarn_iceberg_view_close(struct tarn_iceberg_view_build *build, const json_t *before, struct tarn_err *err)
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
