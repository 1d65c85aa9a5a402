/* settings.c - PATCH of a table: a row a member. Objects are merged (RFC 7396), words are parsed, and the
 * whole is one change of the row under its entity tag. */
#include "lake/settings.h"
#include "base/text.h"
#include "base/time.h"
#include "lake/event.h"
#include "lake/inherit.h"
#include "lake/mode.h"
#include "lake/publish.h"
#include "lake/setting.h"
#include <string.h>

typedef tarn_code apply_fn(const struct tarn_settings_use *use, struct tarn_table *table, const json_t *value,
                           struct tarn_err *err);

/* --- members --- */

static tarn_code set_properties(const struct tarn_settings_use *use, struct tarn_table *table,
                                const json_t *value, struct tarn_err *err)
{
    (void)use;
    return tarn_setting_properties(&table->properties, value, err);
}

static tarn_code set_monitors(const struct tarn_settings_use *use, struct tarn_table *table,
                              const json_t *value, struct tarn_err *err)
{
    return tarn_setting_merge("monitors", &table->monitors, value, use->check_monitors, err);
}

static tarn_code set_owner(const struct tarn_settings_use *use, struct tarn_table *table, const json_t *value,
                           struct tarn_err *err)
{
    (void)use;
    return tarn_setting_owner(&table->owner, value, err);
}

static tarn_code set_name(const struct tarn_settings_use *use, struct tarn_table *table, const json_t *value,
                          struct tarn_err *err)
{
    struct tarn_ident ident;

    if (!json_is_string(value))
        return tarn_fail_field(err, "name", "must be a string");
    tarn_code code = tarn_ident_parse(json_string_value(value), "name", &ident, err);
    if (code != TARN_OK)
        return code;
    if (use->may_see && !use->may_see(use->who, ident.namespace_, ident.name))
        return tarn_fail_code_field(err, TARN_FORBIDDEN, "name",
                                    "the token does not reach tables of this name");
    code = tarn_text_own(&table->namespace_, strdup(ident.namespace_), err);
    return code == TARN_OK ? tarn_text_own(&table->name, strdup(ident.name), err) : code;
}

static tarn_code set_bool(const char *key, bool *target, const json_t *value, struct tarn_err *err)
{
    if (!json_is_boolean(value))
        return tarn_fail_field(err, key, "must be true or false");
    *target = json_is_true(value);
    return TARN_OK;
}

static tarn_code set_protected(const struct tarn_settings_use *use, struct tarn_table *table,
                               const json_t *value, struct tarn_err *err)
{
    (void)use;
    return set_bool("protected", &table->protected_, value, err);
}

static tarn_code set_publish(const struct tarn_settings_use *use, struct tarn_table *table,
                             const json_t *value, struct tarn_err *err)
{
    (void)use;
    return set_bool("publish", &table->publish, value, err);
}

static tarn_code set_enforcement(const struct tarn_settings_use *use, struct tarn_table *table,
                                 const json_t *value, struct tarn_err *err)
{
    (void)use;
    return tarn_setting_enforcement(&table->enforcement, &table->enforcement_given, value, err);
}

static tarn_code set_verify(const struct tarn_settings_use *use, struct tarn_table *table,
                            const json_t *value, struct tarn_err *err)
{
    (void)use;
    return tarn_setting_verify(&table->verify, &table->verify_given, value, err);
}

/* Only parsed here: what a change of mode needs beside the word is in mode.c. */
static tarn_code set_mode(const struct tarn_settings_use *use, struct tarn_table *table, const json_t *value,
                          struct tarn_err *err)
{
    (void)use;
    if (!json_is_string(value) || !tarn_mode_parse(json_string_value(value), &table->mode))
        return tarn_fail_field(err, "mode", "must be \"managed\" or \"observed\"");
    return TARN_OK;
}

static const struct {
    const char *key;
    apply_fn *apply;
} k_members[] = {
    { "properties", set_properties },
    { "monitors", set_monitors },
    { "owner", set_owner },
    { "name", set_name },
    { "protected", set_protected },
    { "publish", set_publish },
    { "schema_enforcement", set_enforcement },
    { "verify", set_verify },
    { "mode", set_mode },
};

static tarn_code apply_member(const struct tarn_settings_use *use, struct tarn_table *table, const char *key,
                              const json_t *value, struct tarn_err *err)
{
    for (size_t i = 0; i < TARN_COUNT(k_members); i++)
        if (strcmp(k_members[i].key, key) == 0)
            return k_members[i].apply(use, table, value, err);
    return tarn_fail_field(err, key, "is not a known member");
}

static tarn_code apply(const struct tarn_settings_use *use, struct tarn_table *table, struct tarn_err *err)
{
    const char *key;
    json_t *value;

    json_object_foreach (use->patch, key, value) {
        tarn_code code = apply_member(use, table, key, value, err);
        if (code != TARN_OK)
            return code;
    }
    return TARN_OK;
}

/* --- steps --- */

static bool needs_check(const struct tarn_lake *lake, const void *state)
{
    (void)lake;
    return ((const struct tarn_settings_use *)state)->must_check;
}

static tarn_code check(struct tarn_lake *lake, void *state, struct tarn_err *err)
{
    struct tarn_settings_use *use = state;

    (void)lake;
    use->must_check = false;
    return tarn_mode_plan(use, err);
}

/* A new name is told by itself; the other members by their names alone,
 * since some hold what not every reader of the feed should keep for ever. */
static tarn_code tell(struct tarn_tx *tx, const struct tarn_settings_use *use, const struct tarn_table *table,
                      struct tarn_err *err)
{
    int64_t now = use->now_ms ? use->now_ms : tarn_now_ms();
    char from[TARN_DOTTED_MAX];
    const char *key;
    json_t *value, *members = json_array();
    tarn_code code = TARN_OK;

    json_object_foreach (use->patch, key, value)
        if (strcmp(key, "name") != 0)
            (void)json_array_append_new(members, json_string(key));
    json_auto_t *data = json_pack("{s:o}", "members", members);
    if (strcmp(use->ident.name, table->name) != 0 || strcmp(use->ident.namespace_, table->namespace_) != 0) {
        tarn_ident_format(use->ident.namespace_, use->ident.name, from);
        code = tarn_event_add(tx, TARN_EVENT_RENAMED, table, now, json_pack("{s:s}", "from", from), err);
    }
    if (code != TARN_OK || json_array_size(members) == 0)
        return code;
    return tarn_event_add(tx, TARN_EVENT_UPDATED, table, now, tarn_take(&data), err);
}

static tarn_code update(struct tarn_tx *tx, const struct tarn_settings_use *use, struct tarn_table *table,
                        struct tarn_err *err)
{
    tarn_code code = tx->ops->tables.update(tx, table, err);

    if (code == TARN_TABLE_EXISTS)
        (void)tarn_err_prefix(err, "name");
    table->revision++; /* as the store bumped it */
    return code == TARN_OK ? tell(tx, use, table, err) : code;
}

/* Name and lists of files stand in documents of the table. */
static bool shows(const struct tarn_settings_use *use, const struct tarn_table *table, bool had_links)
{
    return strcmp(use->ident.name, table->name) != 0 ||
           strcmp(use->ident.namespace_, table->namespace_) != 0 ||
           tarn_links_wanted(table->properties) != had_links;
}

/* What an Iceberg table says of itself stands in its metadata, which its own protocol changes. */
static tarn_code refuse_of_iceberg(const struct tarn_settings_use *use, const struct tarn_table *table,
                                   struct tarn_err *err)
{
    static const char *const k_theirs[] = { "properties", "mode", "publish", "verify", "schema_enforcement" };

    for (size_t i = 0; i < TARN_COUNT(k_theirs); i++)
        if (json_object_get(use->patch, k_theirs[i]) && table->format == TARN_FORMAT_ICEBERG &&
            table->mode == TARN_MANAGED)
            return tarn_fail_code_field(err, TARN_TABLE_NOT_MANAGED, k_theirs[i],
                                        "an Iceberg table is changed through the Iceberg REST catalog (/iceberg)");
    return TARN_OK;
}

static tarn_code change(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_settings_use *use = ctx;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    tarn_code code = tx->ops->tables.get(tx, use->ident.namespace_, use->ident.name, &table, err);

    if (code == TARN_OK)
        code = tarn_if_match(table, use->if_match, err);
    if (code == TARN_OK)
        code = refuse_of_iceberg(use, table, err);
    if (code != TARN_OK)
        return code;
    enum tarn_mode mode = table->mode;
    bool had_links = tarn_links_wanted(table->properties);
    code = apply(use, table, err);
    if (code == TARN_OK && table->mode != mode)
        code = tarn_mode_change(tx, use, table, err);
    if (code == TARN_OK && json_object_size(use->patch) > 0)
        code = update(tx, use, table, err);
    if (code == TARN_OK && shows(use, table, had_links))
        code = tx->ops->publications.mark(tx, table->id, err);
    if (code == TARN_OK)
        code = tarn_inherit_shown(tx, table, err);
    if (code != TARN_OK)
        return code;
    tarn_table_free(use->table);
    use->table = tarn_take(&table);
    return TARN_OK;
}

static bool publishes(const void *state, int64_t *table_id, int64_t *version)
{
    const struct tarn_settings_use *use = state;
    static const char *const k_shown[] = { "publish", "mode", "name", "properties" };
    bool may_be_behind = false;

    for (size_t i = 0; i < TARN_COUNT(k_shown); i++)
        may_be_behind |= json_object_get(use->patch, k_shown[i]) != NULL;
    if (!use->lake->publisher || !may_be_behind || !use->table->publish || use->table->mode != TARN_MANAGED)
        return false;
    *table_id = use->table->id;
    *version = use->table->version;
    return true;
}

static void done(void *state)
{
    struct tarn_settings_use *use = state;

    tarn_table_free(use->table);
    tarn_mode_plan_free(use->plan);
}

const struct tarn_use tarn_settings = {
    .name = "settings",
    .size = sizeof(struct tarn_settings_use),
    .needs_check = needs_check,
    .check = check,
    .change = change,
    .publishes = publishes,
    .done = done,
};
