/* iceberg_gather.c - the facts of an Iceberg table that Tarn owns. The catalog keeps its metadata, so nothing is guessed from
 * file names; of storage it is asked whether the documents are there that a reader opens first: the metadata file, and the
 * manifest list of each snapshot that a ref names. */
#include "base/text.h"
#include "lake/iceberg.h"
#include "monitors/catalog_facts.h"
#include "monitors/gather.h"
#include "monitors/judge.h"
#include <string.h>

struct gather {
    struct tarn_lake *lake;
    const struct tarn_gather_ask *ask;
    struct tarn_catalog_facts *catalog; /* its life alone */
    struct tarn_iceberg_meta *meta;     /* with the snapshots that a ref names */
    struct tarn_table *table;           /* as it was read together with them */
};

static tarn_code parse(void *ctx, const char *text, size_t len, struct tarn_err *err)
{
    struct gather *g = ctx;

    return tarn_iceberg_parse(text, len, &g->meta, err);
}

static tarn_code read_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct gather *g = ctx;

    tarn_table_free(tarn_take(&g->table));
    tarn_iceberg_free(tarn_take(&g->meta));
    tarn_table_free(tarn_take(&g->catalog->table));
    tarn_code code = tx->ops->tables.get_by_id(tx, g->ask->table->id, &g->table, err);
    if (code == TARN_OK)
        code = tx->ops->tables.get_by_id(tx, g->ask->table->id, &g->catalog->table, err);
    if (code == TARN_OK)
        code = tarn_catalog_life(tx, g->catalog, err);
    return code == TARN_OK ? tx->ops->iceberg.get(tx, g->table->id, true, parse, g, err) : code;
}

/* --- what lies there --- */

/* The table is where its metadata file is: when nobody may look there, nothing is known of it. */
static tarn_code look_for_file(struct gather *g, struct tarn_facts *facts, struct tarn_err *err)
{
    TARN_ERR(fault);
    tarn_code code = tarn_iceberg_file_stat(g->lake, g->table->metadata_location, &fault);

    if (code == TARN_NOT_FOUND) /* with its root all tables of it are gone: that is one fault, which no plan cures */
        TARN_TRY(tarn_iceberg_file_check_root(g->lake, g->table->metadata_location, err));
    if (code == TARN_NOT_FOUND)
        return tarn_suspects_add(&facts->metadata_missing, g->table->metadata_location, NULL, -1, -1, -1, err);
    return code == TARN_OK ? TARN_OK : tarn_err_move(err, &fault);
}

/* Two snapshots may share a list: it is one file. */
static bool is_another(const struct tarn_iceberg_meta *meta, size_t at)
{
    const char *list = meta->snapshots.items[at].manifest_list;

    for (size_t i = 0; i < at; i++)
        if (meta->snapshots.items[i].manifest_list && strcmp(meta->snapshots.items[i].manifest_list, list) == 0)
            return false;
    return true;
}

/* Engines lay their files where they want: a list outside the roots keeps nobody from telling the rest. */
static tarn_code look_for_all(struct gather *g, struct tarn_facts *facts, struct tarn_err *err)
{
    tarn_code code = look_for_file(g, facts, err);

    for (size_t i = 0; i < g->meta->snapshots.count && code == TARN_OK; i++) {
        const char *list = g->meta->snapshots.items[i].manifest_list;
        bool is_missed = false;
        code = list ? tarn_iceberg_file_is_missed(g->lake, list, &is_missed, err) : TARN_OK;
        if (code == TARN_OK && is_missed && is_another(g->meta, i))
            code = tarn_suspects_add(&facts->manifest_lists_missing, list, NULL, -1, -1, -1, err);
    }
    return code;
}

/* --- the facts --- */

static tarn_code fill(struct gather *g, struct tarn_facts *facts, struct tarn_err *err)
{
    struct tarn_iceberg_summary summary;

    tarn_iceberg_summarise(g->meta, &summary);
    facts->state = TARN_FACTS_READ;
    facts->version = g->table->version;
    facts->file_count = summary.files;
    facts->total_bytes = summary.bytes;
    facts->rows = summary.records;
    facts->schema_version = summary.schema_id;
    facts->last_updated = g->meta->last_updated_ms;
    facts->last_data_commit = facts->life.last_data;
    facts->saw = TARN_SAW_STORAGE | TARN_SAW_DOCUMENTS | TARN_SAW_MANIFEST | TARN_SAW_SCHEMA | TARN_SAW_NO_LOG |
                 (g->ask->sweep ? TARN_SAW_LISTING : 0);
    return tarn_text_set(&facts->latest_transaction, g->table->latest_transaction) &&
                   tarn_text_set(&facts->partition_keys, g->table->partition_keys)
               ? TARN_OK
               : tarn_fail_oom(err);
}

static void begin(const struct gather *g, struct tarn_facts *facts)
{
    tarn_facts_done(facts);
    tarn_facts_init(facts);
    facts->format = TARN_FORMAT_ICEBERG;
    facts->managed = true;
    facts->gathered_at = g->ask->now_ms;
    facts->behind_since = -1;
    facts->before = g->ask->before;
}

static tarn_code note_lost_root(const struct gather *g, struct tarn_facts *facts, struct tarn_err *err)
{
    TARN_AUTO(mem) char *file = NULL;
    tarn_code code = tarn_iceberg_locate(g->table->metadata_location, &file, err);

    if (code == TARN_OK && tarn_storage_root_is_lost(g->lake->storage, file))
        code = tarn_text_set(&facts->lost_root, tarn_storage_root(g->lake->storage, file)) ? TARN_OK : tarn_fail_oom(err);
    return code;
}

/* Storage that does not answer is a fact about the table. */
static tarn_code as_fact(const struct gather *g, tarn_code code, struct tarn_facts *facts, struct tarn_err *fault, struct tarn_err *err)
{
    if (code == TARN_INTERNAL || code == TARN_OVERLOADED)
        return tarn_err_move(err, fault);
    facts->state = TARN_FACTS_UNREACHABLE;
    facts->saw = 0;
    facts->not_allowed = code == TARN_LOCATION_NOT_ALLOWED;
    snprintf(facts->why, sizeof facts->why, "%.511s", fault->detail);
    return facts->not_allowed ? TARN_OK : note_lost_root(g, facts, err);
}

static tarn_code gather(struct gather *g, struct tarn_facts *facts, struct tarn_err *err)
{
    TARN_ERR(fault);
    tarn_code code = tarn_store_read(g->lake->store, read_tx, g, err);

    if (code != TARN_OK)
        return code;
    begin(g, facts);
    facts->life = g->catalog->life;
    tarn_life_end(&facts->life, g->ask->now_ms);
    code = look_for_all(g, facts, &fault);
    if (code == TARN_OK && g->ask->sweep)
        code = tarn_iceberg_newer(g->lake, g->ask, g->table, facts, &fault);
    if (code != TARN_OK)
        return as_fact(g, code, facts, &fault, err);
    return fill(g, facts, err);
}

tarn_code tarn_iceberg_gather(struct tarn_lake *lake, const struct tarn_gather_ask *ask, struct tarn_facts *facts,
                              struct tarn_err *err)
{
    struct gather g = { .lake = lake, .ask = ask, .catalog = calloc(1, sizeof(struct tarn_catalog_facts)) };
    tarn_code code = g.catalog ? gather(&g, facts, err) : tarn_fail_oom(err);

    tarn_iceberg_free(g.meta);
    tarn_table_free(g.table);
    if (g.catalog)
        tarn_table_free(g.catalog->table);
    free(g.catalog);
    return code;
}
