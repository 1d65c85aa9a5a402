/* namespaces.c - a namespace comes into being with its first table, or here, with settings. */
#include "lake/namespaces.h"
#include "base/text.h"
#include "base/time.h"
#include "lake/iceberg_names.h"
#include <string.h>

/* --- the row --- */

static tarn_code take(void *ctx, const struct tarn_namespace *row, struct tarn_err *err)
{
    struct tarn_namespace *out = ctx;
    bool failed = false;

    tarn_namespace_done(out);
    *out = *row;
    out->name = tarn_text_copy(row->name, &failed);
    out->properties = tarn_text_copy(row->properties, &failed);
    out->owner = tarn_text_copy(row->owner, &failed);
    out->monitors = tarn_text_copy(row->monitors, &failed);
    return failed ? tarn_fail_oom(err) : TARN_OK;
}

tarn_code tarn_namespace_read(struct tarn_tx *tx, const char *name, struct tarn_namespace *out,
                              struct tarn_err *err)
{
    return tx->ops->namespaces.get(tx, name, take, out, err);
}

/* --- settings --- */

static tarn_code set_history(struct tarn_namespace *row, const json_t *value, struct tarn_err *err)
{
    const json_t *retention = json_object_get(value, "retention");
    const char *text = json_string_value(retention);
    const char *key;
    json_t *member;

    json_object_foreach ((json_t *)(uintptr_t)value, key, member)
        if (strcmp(key, "retention") != 0) {
            tarn_fail_field(err, key, "is not a known member");
            return tarn_err_prefix(err, "history");
        }
    if (json_is_null(value) || (json_is_object(value) && (json_is_null(retention)))) {
        row->history_retention_ms = -1;
        return TARN_OK;
    }
    if (!json_is_object(value))
        return tarn_fail_field(err, "history", "must be an object");
    if (!retention)
        return TARN_OK;
    if (!text || tarn_duration_parse(text, &row->history_retention_ms, NULL) != TARN_OK)
        return tarn_fail_field(err, "history.retention", "must be a duration such as \"30d\", or null");
    return TARN_OK;
}

static tarn_code apply_member(const struct tarn_namespace_use *use, struct tarn_namespace *row,
                              const char *key, const json_t *value, struct tarn_err *err)
{
    if (strcmp(key, "properties") == 0)
        return tarn_setting_properties(&row->properties, value, err);
    if (strcmp(key, "owner") == 0)
        return tarn_setting_owner(&row->owner, value, err);
    if (strcmp(key, "monitors") == 0)
        return tarn_setting_merge(key, &row->monitors, value, use->check_monitors, err);
    if (strcmp(key, "schema_enforcement") == 0)
        return tarn_setting_enforcement(&row->enforcement, &row->enforcement_given, value, err);
    if (strcmp(key, "verify") == 0)
        return tarn_setting_verify(&row->verify, &row->verify_given, value, err);
    if (strcmp(key, "history") == 0)
        return set_history(row, value, err);
    return tarn_fail_field(err, key, "is not a known member");
}

static tarn_code apply(struct tarn_namespace_use *use, struct tarn_err *err)
{
    const char *key;
    json_t *value;

    json_object_foreach (use->settings, key, value) {
        tarn_code code = apply_member(use, &use->row, key, value, err);
        if (code != TARN_OK)
            return code;
    }
    return TARN_OK;
}

/* --- steps --- */

static tarn_code add_blank(struct tarn_tx *tx, const char *name, int64_t now_ms, struct tarn_err *err)
{
    char row_name[TARN_NAMESPACE_MAX + 1], nothing[] = "{}";
    const struct tarn_namespace row = { .name = row_name,
                                        .created_at = now_ms,
                                        .properties = nothing,
                                        .monitors = nothing,
                                        .history_retention_ms = -1 };
    TARN_ERR(fault);

    snprintf(row_name, sizeof row_name, "%s", name);
    tarn_code code = tx->ops->namespaces.insert(tx, &row, &fault);
    return code == TARN_NAMESPACE_EXISTS ? TARN_OK : code == TARN_OK ? TARN_OK : tarn_err_move(err, &fault);
}

static tarn_code add_outer(struct tarn_tx *tx, const struct tarn_namespace_use *use, struct tarn_err *err)
{
    char name[TARN_NAMESPACE_MAX + 1];
    tarn_code code = TARN_OK;

    snprintf(name, sizeof name, "%s", use->name);
    while (code == TARN_OK && tarn_namespace_outer(name))
        code = add_blank(tx, name, use->row.created_at, err);
    return code;
}

static tarn_code add_change(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_namespace_use *use = ctx;
    bool failed = false;

    tarn_namespace_done(&use->row);
    use->row = (struct tarn_namespace){ .created_at = use->now_ms ? use->now_ms : tarn_now_ms(),
                                        .history_retention_ms = -1 };
    use->row.name = tarn_text_copy(use->name, &failed);
    use->row.properties = tarn_text_copy("{}", &failed);
    use->row.monitors = tarn_text_copy("{}", &failed);
    if (failed)
        return tarn_fail_oom(err);
    tarn_code code = apply(use, err);
    if (code == TARN_OK)
        code = tx->ops->namespaces.insert(tx, &use->row, err);
    return code == TARN_OK && use->makes_outer ? add_outer(tx, use, err) : code;
}

static tarn_code change_change(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_namespace_use *use = ctx;
    tarn_code code = tarn_namespace_ensure(tx, use->name, err);

    if (code == TARN_OK)
        code = tarn_namespace_read(tx, use->name, &use->row, err);
    if (code == TARN_OK)
        code = apply(use, err);
    return code == TARN_OK ? tx->ops->namespaces.update(tx, &use->row, err) : code;
}

static tarn_code remove_change(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct tarn_namespace_use *use = ctx;

    return tx->ops->namespaces.remove(tx, use->name, err);
}

static void done(void *state) { tarn_namespace_done(&((struct tarn_namespace_use *)state)->row); }

#define USE(name_, change_)                                                                                      \
    {                                                                                                            \
        .name = (name_), .size = sizeof(struct tarn_namespace_use), .change = (change_), .done = done            \
    }
const struct tarn_use tarn_namespace_add = USE("namespace_add", add_change);
const struct tarn_use tarn_namespace_change = USE("namespace_change", change_change);
const struct tarn_use tarn_namespace_remove = USE("namespace_remove", remove_change);
