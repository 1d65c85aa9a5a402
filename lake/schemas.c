/* schemas.c - the next schema version: compare-and-swap on the schema's own version, and a rule of what may
 * follow. */
#include "lake/schemas.h"
#include "base/json.h"
#include "base/time.h"
#include "lake/commit.h"
#include "lake/event.h"
#include "lake/look.h"
#include <string.h>

static tarn_code conflict(const struct tarn_schema_use *use, const struct tarn_table *table,
                          struct tarn_err *err)
{
    tarn_fail_code_field(err, TARN_SCHEMA_CONFLICT, "expected_version",
                         "the schema is at version %lld, not %lld", (long long)table->schema_version,
                         (long long)use->expected_version);
    (void)tarn_err_add(err, "expected_version", json_integer(use->expected_version));
    return tarn_err_add(err, "current_version", json_integer(table->schema_version));
}

static bool same_json(const json_t *a, const char *text)
{
    json_auto_t *b = text ? json_loads(text, 0, NULL) : NULL;

    return a ? b && json_equal(a, b) : !b;
}

/* Is the current version what this request asks for? Then it was answered before. */
static bool is_again(const struct tarn_schema_use *use, const struct tarn_schema_row *current)
{
    bool follows = use->expected_version == current->version - 1 || use->expected_version == current->version;

    return follows && same_json(use->schema, current->schema) && same_json(use->renames, current->renames);
}

static bool is_partition_key(const json_t *keys, const char *name)
{
    size_t i;
    json_t *key;

    json_array_foreach (keys, i, key)
        if (strcmp(json_string_value(key), name) == 0)
            return true;
    return false;
}

/* Files carry the name of a partition key in their paths: it cannot change. */
static tarn_code judge_keys(const struct tarn_schema_use *use, const struct tarn_table *table,
                            struct tarn_err *err)
{
    json_auto_t *keys = json_loads(table->partition_keys, 0, NULL);
    const char *old;
    json_t *name;

    json_object_foreach (use->renames, old, name) {
        if (!is_partition_key(keys, old) && !is_partition_key(keys, json_string_value(name)))
            continue;
        tarn_fail_field(err, old, "is a partition key, or becomes one: files carry its name in their paths");
        return tarn_err_prefix(err, "renames");
    }
    return TARN_OK;
}

static tarn_code judge(const struct tarn_schema_use *use, const struct tarn_table *table,
                       const struct tarn_schema_row *current, struct tarn_err *err)
{
    TARN_AUTO(schema) struct tarn_schema *now = NULL;
    json_auto_t *json = NULL;
    tarn_code code = TARN_OK;

    if (current->schema)
        code = tarn_json_parse(current->schema, strlen(current->schema), NULL, &json, err);
    if (code == TARN_OK && json)
        code = tarn_schema_parse(json, "schema", &now, err);
    if (code == TARN_OK)
        code = tarn_schema_renames_check(now, use->parsed, use->renames, err);
    if (code == TARN_OK)
        code = judge_keys(use, table, err);
    if (code == TARN_OK && now && !use->any)
        code = tarn_schema_backward(now, use->parsed, use->renames, err);
    return code;
}

static tarn_code insert(struct tarn_tx *tx, struct tarn_schema_use *use, struct tarn_table *table,
                        struct tarn_err *err)
{
    int64_t now = use->now_ms ? use->now_ms : tarn_now_ms();

    tarn_schema_row_done(&use->row);
    use->row = (struct tarn_schema_row){ .version = table->schema_version + 1, .created_at = now };
    use->row.schema = tarn_json_text(use->schema);
    use->row.renames = json_object_size(use->renames) > 0 ? tarn_json_text(use->renames) : NULL;
    if (!use->row.schema || (json_object_size(use->renames) > 0 && !use->row.renames))
        return tarn_fail_oom(err);
    tarn_code code = tx->ops->schemas.insert(tx, table->id, &use->row, err);
    table->schema_version = use->row.version;
    if (code == TARN_OK)
        code = tx->ops->tables.update(tx, table, err);
    if (code != TARN_OK)
        return code;
    return tarn_event_add(tx, TARN_EVENT_SCHEMA_ADDED, table, now,
                          json_pack("{s:I}", "schema_version", (json_int_t)table->schema_version), err);
}

static tarn_code change(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_schema_use *use = ctx;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    __attribute__((cleanup(tarn_schema_row_done))) struct tarn_schema_row current = { 0 };
    tarn_code code = tx->ops->tables.get(tx, use->ident.namespace_, use->ident.name, &table, err);

    if (code == TARN_OK)
        code = tarn_managed_check(table, err);
    if (code == TARN_OK && table->schema_version > 0)
        code = tx->ops->schemas.get(tx, table->id, table->schema_version, &current, err);
    if (code != TARN_OK)
        return code;
    use->table_id = table->id;
    use->table_version = table->version;
    use->replayed = current.schema && is_again(use, &current);
    if (use->replayed) {
        tarn_schema_row_done(&use->row);
        use->row = current;
        current = (struct tarn_schema_row){ 0 };
        return TARN_OK;
    }
    use->must_look = !tarn_looked_has(use->lake->looked, table->id);
    if (use->must_look)
        return tarn_fail(err, TARN_RECHECK, "storage is to be looked at first");
    code = tarn_block_check(table, err);
    if (code != TARN_OK)
        return code;
    if (use->expected_version != table->schema_version)
        return conflict(use, table, err);
    code = judge(use, table, &current, err);
    if (code == TARN_OK)
        code = insert(tx, use, table, err);
    use->publishes = table->publish && use->lake->publisher;
    return code;
}

/* --- the look before the first write --- */

struct looking {
    const struct tarn_ident *ident;
    struct tarn_table *table; /* owned */
};

static tarn_code table_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct looking *l = ctx;

    tarn_table_free(tarn_take(&l->table));
    return tx->ops->tables.get(tx, l->ident->namespace_, l->ident->name, &l->table, err);
}

static bool needs_look(const struct tarn_lake *lake, const void *state)
{
    (void)lake;
    return ((const struct tarn_schema_use *)state)->must_look;
}

/* A database from a backup would number a schema that storage already has. */
static tarn_code look_first(struct tarn_lake *lake, void *state, struct tarn_err *err)
{
    struct tarn_schema_use *use = state;
    struct looking l = { .ident = &use->ident };
    tarn_code code = tarn_store_read(lake->store, table_tx, &l, err);
    TARN_AUTO(table) struct tarn_table *table = l.table;

    use->must_look = false;
    if (code != TARN_OK || table->mode != TARN_MANAGED)
        return code;
    code = tarn_look(lake, table, err);
    if (code == TARN_OK)
        tarn_looked_set(lake->looked, table->id, true);
    return code;
}

/* --- its publication --- */

/* The publisher shows a new schema with, or without, new commits: waiting for the version it has implies a
 * nudge. */
static bool publishes(const void *state, int64_t *table_id, int64_t *version)
{
    const struct tarn_schema_use *use = state;

    if (use->replayed || !use->publishes)
        return false;
    *table_id = use->table_id;
    *version = use->table_version;
    return true;
}

static void published(void *state, bool done) { ((struct tarn_schema_use *)state)->published = done; }

static void done(void *state)
{
    struct tarn_schema_use *use = state;

    tarn_schema_row_done(&use->row);
    tarn_schema_free(use->parsed);
}

const struct tarn_use tarn_schema_add = {
    .name = "schema",
    .size = sizeof(struct tarn_schema_use),
    .needs_check = needs_look,
    .check = look_first,
    .change = change,
    .publishes = publishes,
    .published = published,
    .done = done,
};
