/* mode.c - see mode.h. */
#include "lake/mode.h"
#include "base/time.h"
#include "lake/adopt.h"
#include "lake/lease.h"
#include "lake/look.h"
#include "lake/publish.h"
#include "lake/register.h"
#include <string.h>

struct tarn_settings_plan {
    int64_t table_id;
    enum tarn_mode to;
    struct tarn_adopted *adopted; /* owned; to managed */
};

void tarn_mode_plan_free(struct tarn_settings_plan *plan)
{
    if (!plan)
        return;
    tarn_adopted_free(plan->adopted);
    free(plan);
}

struct get_ctx {
    const struct tarn_ident *ident;
    struct tarn_table *table;
};

static tarn_code get_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct get_ctx *c = ctx;

    tarn_table_free(c->table);
    c->table = NULL;
    return tx->ops->tables.get(tx, c->ident->namespace_, c->ident->name, &c->table, err);
}

static tarn_code plan_managed(struct tarn_settings_use *use, const struct tarn_table *table,
                              struct tarn_settings_plan *plan, struct tarn_err *err)
{
    TARN_AUTO(place) struct tarn_place *place = NULL;
    struct tarn_site site = { 0 };
    tarn_code code = tarn_site_look(use->lake->storage, table->location, &site, err);

    if (code != TARN_OK)
        return code;
    if (!site.has_manifest)
        return tarn_fail_code_field(err, TARN_LOCATION_UNREACHABLE, "mode", "%s holds no manifest to adopt",
                                    table->location);
    plan->adopted = tarn_adopted_new();
    if (!plan->adopted)
        return tarn_fail_oom(err);
    code = tarn_place_open(use->lake->storage, table->location, false, &place, err);
    return code == TARN_OK ? tarn_readopt(use->lake, place, table, plan->adopted, err) : code;
}

tarn_code tarn_mode_plan(struct tarn_settings_use *use, struct tarn_err *err)
{
    struct get_ctx c = { .ident = &use->ident };
    tarn_code code = tarn_store_read(use->lake->store, get_tx, &c, err);
    TARN_AUTO(table) struct tarn_table *table = c.table;

    if (code != TARN_OK)
        return code;
    tarn_mode_plan_free(use->plan);
    use->plan = calloc(1, sizeof *use->plan);
    if (!use->plan)
        return tarn_fail_oom(err);
    use->plan->table_id = table->id;
    use->plan->to = table->mode == TARN_MANAGED ? TARN_OBSERVED : TARN_MANAGED;
    if (use->plan->to == TARN_MANAGED)
        return plan_managed(use, table, use->plan, err);
    return table->publish ? tarn_publish_table(use->lake, table->id, err) : TARN_OK;
}

static tarn_code ask_plan(struct tarn_settings_use *use, struct tarn_err *err)
{
    use->must_check = true;
    return tarn_fail(err, TARN_RECHECK, "storage is to be looked at first");
}

static tarn_code become_observed(struct tarn_settings_use *use, struct tarn_table *table,
                                 struct tarn_err *err)
{
    if (table->publish && table->published_version < table->version && table->block == TARN_BLOCK_NONE)
        return ask_plan(use, err);
    table->block = TARN_BLOCK_NONE;
    tarn_looked_set(use->lake->looked, table->id, false);
    return TARN_OK;
}

static tarn_code take_text(char **target, const char *text, struct tarn_err *err)
{
    char *made = text ? strdup(text) : NULL;

    if (text && !made)
        return tarn_fail_oom(err);
    free(*target);
    *target = made;
    return TARN_OK;
}

static tarn_code take_schemas(struct tarn_tx *tx, const struct tarn_adopted *a, struct tarn_table *table,
                              struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < a->schema_count && code == TARN_OK; i++)
        if (a->schemas[i].version > table->schema_version)
            code = tx->ops->schemas.insert(tx, table->id, &a->schemas[i], err);
    if (a->schema_version > table->schema_version)
        table->schema_version = a->schema_version;
    return code;
}

static tarn_code judge_location(struct tarn_tx *tx, const struct tarn_settings_use *use,
                                const struct tarn_table *table, struct tarn_err *err)
{
    TARN_AUTO(table) struct tarn_table *owner = NULL;
    int64_t now = use->now_ms ? use->now_ms : tarn_now_ms();
    tarn_code code = tarn_location_owner(tx, use->lake, table->location, true, table->id, now, &owner, err);

    return code == TARN_OK && owner ? tarn_location_taken(owner, table->location, err) : code;
}

static tarn_code become_managed(struct tarn_tx *tx, struct tarn_settings_use *use, struct tarn_table *table,
                                struct tarn_err *err)
{
    const struct tarn_settings_plan *plan = use->plan;

    if (table->format != TARN_FORMAT_MANIFEST || table->metadata_location)
        return tarn_register_observed_only(table->format, err);
    if (!plan || plan->table_id != table->id || plan->to != TARN_MANAGED)
        return ask_plan(use, err);
    const struct tarn_adopted *a = plan->adopted;
    tarn_code code = judge_location(tx, use, table, err);
    if (code == TARN_OK)
        code = take_text(&table->latest_transaction, a->transaction, err);
    if (code == TARN_OK && a->partition_keys)
        code = take_text(&table->partition_keys, a->partition_keys, err);
    if (code == TARN_OK)
        code = take_schemas(tx, a, table, err);
    if (code != TARN_OK)
        return code;
    table->version = table->oldest_version = table->first_version = table->published_version = a->version;
    table->file_count = a->file_count;
    table->total_bytes = a->total_bytes;
    table->block = a->block;
    if (a->committed_at > table->committed_at)
        table->committed_at = a->committed_at;
    return tx->ops->publications.put(tx, table->id, &a->publication, a->published_schema, err);
}

tarn_code tarn_mode_change(struct tarn_tx *tx, struct tarn_settings_use *use, struct tarn_table *table,
                           struct tarn_err *err)
{
    tarn_code code = tarn_staging_check(table, err);

    if (code != TARN_OK)
        return code;
    if (table->mode == TARN_OBSERVED)
        return become_observed(use, table, err);
    return become_managed(tx, use, table, err);
}
