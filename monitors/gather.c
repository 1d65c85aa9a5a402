/* gather.c - the facts of a registered table: of a managed one the catalog's word first, then what lies there. Commits and
 * their publication go on meanwhile: where the two differ and the catalog has moved since, both are read again. */
#include "monitors/gather.h"
#include "base/json.h"
#include "monitors/catalog_facts.h"
#include "monitors/judge.h"
#include <stdio.h>
#include <string.h>

enum { ATTEMPTS = 3 };

static int64_t grace_of(const struct tarn_gather_ask *ask, const char *code)
{
    return tarn_settings_of(ask->settings, code)->grace_ms;
}

/* The folder may be gone, storage silent, or the root taken from the configuration: facts, no errors. */
static tarn_code open_place(struct tarn_lake *lake, const struct tarn_table *table, struct tarn_place **place,
                            struct tarn_facts *facts, struct tarn_err *err)
{
    TARN_ERR(fault);
    tarn_code code = tarn_place_open(lake->storage, table->location, false, place, &fault);

    if (code == TARN_OK || code == TARN_INTERNAL)
        return code == TARN_OK ? code : tarn_err_move(err, &fault);
    tarn_facts_init(facts);
    facts->state = TARN_FACTS_UNREACHABLE;
    facts->not_allowed = code == TARN_LOCATION_NOT_ALLOWED;
    facts->format = table->format;
    facts->managed = table->mode == TARN_MANAGED;
    facts->block = table->block;
    facts->block_document = table->block_document ? strdup(table->block_document) : NULL;
    snprintf(facts->why, sizeof facts->why, "%.511s", fault.detail);
    if (facts->not_allowed || !tarn_storage_root_is_lost(lake->storage, table->location))
        return TARN_OK;
    facts->lost_root = strdup(tarn_storage_root(lake->storage, table->location));
    return facts->lost_root ? TARN_OK : tarn_fail_oom(err);
}

/* --- the schema that an observed table's files are held to, when it is not the one that lies there --- */

/* Plain folders have no schema of their own; of others a data contract is what somebody promised. A table that was managed
 * once has one in the catalog too: what lies there may have gone on since. */
static bool is_held(const struct tarn_table *table)
{
    if (table->mode == TARN_MANAGED || table->schema_version < 1)
        return false;
    json_auto_t *properties = table->properties ? json_loads(table->properties, 0, NULL) : NULL;
    return table->format != TARN_FORMAT_MANIFEST || json_object_get(properties, "contract.id");
}

struct given {
    const struct tarn_table *table;
    struct tarn_schema_row row;
};

static tarn_code given_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct given *given = ctx;

    tarn_schema_row_done(&given->row);
    given->row = (struct tarn_schema_row){ 0 };
    return tx->ops->schemas.get(tx, given->table->id, given->table->schema_version, &given->row, err);
}

static tarn_code read_given(struct tarn_lake *lake, const struct tarn_table *table, struct tarn_schema **out,
                            struct tarn_err *err)
{
    struct given given = { .table = table };
    json_auto_t *json = NULL;

    if (!is_held(table))
        return TARN_OK;
    tarn_code code = tarn_store_read(lake->store, given_tx, &given, err);
    if (code == TARN_OK)
        code = tarn_json_parse(given.row.schema, strlen(given.row.schema), NULL, &json, err);
    if (code == TARN_OK)
        code = tarn_schema_parse(json, "schema", out, err);
    tarn_schema_row_done(&given.row);
    return code;
}

static tarn_code gather_once(struct tarn_lake *lake, const struct tarn_gather_ask *ask,
                             struct tarn_catalog_facts *catalog, const struct tarn_fileset *doubted,
                             struct tarn_facts *facts, struct tarn_err *err)
{
    TARN_AUTO(schema) struct tarn_schema *given = NULL;
    const struct tarn_table *table = ask->table;
    TARN_AUTO(place) struct tarn_place *place = NULL;
    bool has_keys = strcmp(table->partition_keys, "[]") != 0;
    struct tarn_facts_options options = {
        .now_ms = ask->now_ms,
        .sweep = ask->sweep,
        .unregistered_grace_ms = grace_of(ask, "unregistered_data_file"),
        .leftover_grace_ms = grace_of(ask, "leftover_temp"),
        .corrupt_grace_ms = grace_of(ask, "corrupt_data_file"),
        .processed_grace_ms = grace_of(ask, "processed_without_result"),
        .unexpected_grace_ms = grace_of(ask, "unexpected_file_format"),
        .small_files_least = tarn_small_files_least(ask->settings),
        .small_files_grace_ms = grace_of(ask, "small_files"),
        .partition_keys = has_keys ? table->partition_keys : NULL,
        .before = ask->before,
        .catalog = catalog ? &catalog->facts : NULL,
        .stops = &lake->stopping,
        .doubted = doubted,
        .asked = ask->asked,
        .recall = ask->recall,
        .full = ask->full,
        .full_every_ms = ask->full_interval_ms,
        .files_expected = ask->files_expected,
        .last_data_known = ask->last_data_known,
        .revision = table->revision,
        .settled_ms = ask->settled_ms,
    };

    tarn_facts_done(facts);
    tarn_code code = catalog ? tarn_catalog_facts_read(lake, table->id, catalog, err) : TARN_OK;
    if (code == TARN_OK)
        code = read_given(lake, table, &given, err);
    if (code == TARN_OK)
        code = open_place(lake, table, &place, facts, err);
    if (code != TARN_OK || !place)
        return code;
    options.schema = given;
    return tarn_facts_gather(place, table->format, &options, facts, err);
}

/* --- did the catalog move meanwhile? --- */

struct now {
    int64_t table_id, version, published_version;
    struct tarn_publication publication;
};

static tarn_code now_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct now *now = ctx;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    tarn_code code = tx->ops->tables.get_by_id(tx, now->table_id, &table, err);

    if (code == TARN_OK)
        code = tx->ops->publications.get(tx, now->table_id, &now->publication, err);
    if (code != TARN_OK)
        return code;
    now->version = table->version;
    now->published_version = table->published_version;
    return TARN_OK;
}

static tarn_code has_moved(const struct tarn_catalog_facts *catalog, bool *moved, struct tarn_err *err)
{
    struct now now = { .table_id = catalog->table->id };
    tarn_code code = tarn_store_read(catalog->lake->store, now_tx, &now, err);

    if (code == TARN_OK)
        *moved = now.version != catalog->table->version || now.published_version != catalog->table->published_version ||
                 strcmp(now.publication.manifest_token, catalog->publication.manifest_token) != 0;
    return code;
}

static bool differs(const struct tarn_facts *facts)
{
    return facts->state == TARN_FACTS_READ && (facts->pointer_differs || facts->foreign_manifest || facts->foreign_schema);
}

/* Where somebody committed meanwhile, a suspect counts when it is one by the newer version too. */
static tarn_code gather_managed(struct tarn_lake *lake, const struct tarn_gather_ask *ask,
                                struct tarn_catalog_facts *catalog, struct tarn_facts *facts, struct tarn_err *err)
{
    TARN_AUTO_DONE(fileset) struct tarn_fileset doubts = { 0 };
    tarn_code code = TARN_OK;
    bool moved = true;

    for (int i = 0; i < ATTEMPTS && moved && code == TARN_OK; i++) {
        bool is_again = i > 0;
        tarn_fileset_done(&doubts);
        doubts = facts->doubts;
        facts->doubts = (struct tarn_fileset){ 0 };
        moved = false;
        code = gather_once(lake, ask, catalog, is_again ? &doubts : NULL, facts, err);
        if (code == TARN_OK && (differs(facts) || (!is_again && facts->doubts.count > 0)))
            code = has_moved(catalog, &moved, err);
    }
    if (code == TARN_OK)
        code = tarn_taken_ids_read(lake->store, &facts->log, ask->table->id, err);
    if (moved) /* too busy to be told apart; the next scan asks again */
        facts->pointer_differs = facts->foreign_manifest = facts->foreign_schema = false;
    return code;
}

static void catalog_facts_freep(struct tarn_catalog_facts **facts)
{
    if (*facts)
        tarn_catalog_facts_done(*facts);
    free(*facts);
}

tarn_code tarn_scan_gather(struct tarn_lake *lake, const struct tarn_gather_ask *ask, struct tarn_facts *facts,
                           struct tarn_err *err)
{
    __attribute__((cleanup(catalog_facts_freep))) struct tarn_catalog_facts *catalog = NULL;
    bool is_managed = ask->table->mode == TARN_MANAGED && ask->table->format == TARN_FORMAT_MANIFEST;

    if (ask->table->mode == TARN_MANAGED && ask->table->format == TARN_FORMAT_ICEBERG) {
        tarn_code gathered = tarn_iceberg_gather(lake, ask, facts, err);
        return gathered == TARN_OK ? tarn_life_gather(lake, ask, facts, err) : gathered;
    }
    if (is_managed) {
        catalog = calloc(1, sizeof *catalog);
        if (!catalog)
            return tarn_fail_oom(err);
    }
    tarn_code code = is_managed ? gather_managed(lake, ask, catalog, facts, err) : gather_once(lake, ask, NULL, NULL, facts, err);
    if (code == TARN_OK && is_managed && ask->sweep && facts->state == TARN_FACTS_READ)
        code = tarn_batches_gather(lake, ask, facts, err);
    return code == TARN_OK ? tarn_life_gather(lake, ask, facts, err) : code;
}
