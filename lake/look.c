/* look.c - storage against the row. Ahead: a manifest, a log entry or a schema of this very
 * table above what the row knows; it is taken back (retake.h) as far as nothing is missing.
 * Foreign: a manifest that neither is this table's nor is the one that was adopted or
 * published last. Entries of others are no fault, but no commit may take their ids. */
#include "lake/look.h"
#include "base/time.h"
#include "lake/lease.h"
#include "lake/publish_run.h"
#include "lake/retake.h"
#include <string.h>

#define ATTEMPTS       3                     /* while the manifest is replaced under the reader */
#define ENTRY_SLACK_MS (10 * TARN_MINUTE_MS) /* clocks of storage and server may differ */

struct look {
    struct tarn_lake *lake;
    struct tarn_table *table; /* owned: fresh */
    struct tarn_publication pub;
    struct tarn_place *place; /* owned */
    struct tarn_traces traces;
    struct tarn_schema_rows rows;
    enum tarn_block block;
    bool schema_ahead;
};

static void look_done(struct look *look)
{
    tarn_table_free(look->table);
    tarn_place_free(look->place);
    tarn_traces_done(&look->traces);
    tarn_schema_rows_done(&look->rows);
}

static tarn_code load_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct look *look = ctx;
    int64_t id = look->table->id;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    tarn_code code = tx->ops->tables.get_by_id(tx, id, &table, err);

    if (code == TARN_OK)
        code = tx->ops->publications.get(tx, id, &look->pub, err);
    if (code != TARN_OK)
        return code;
    tarn_table_free(look->table);
    look->table = tarn_take(&table);
    return TARN_OK;
}

/* The manifest that was noted last needs no reading. One that is not by its own
 * words the table's may be the one that was adopted: same token or same bytes. */
static tarn_code look_at_manifest(struct look *look, struct tarn_err *err)
{
    struct tarn_traces *t = &look->traces;
    struct tarn_object object = { 0 };
    TARN_ERR(fault);
    tarn_code code = tarn_place_stat(look->place, TARN_DOC_MANIFEST, &object, &fault);

    if (code != TARN_OK && code != TARN_NOT_FOUND)
        return tarn_err_move(err, &fault);
    if (code == TARN_NOT_FOUND || strcmp(object.token, look->pub.manifest_token) == 0)
        return TARN_OK; /* publication writes it; or wrote it */
    code = tarn_traces_manifest(look->place, t, err);
    if (code != TARN_OK || t->manifest_is == TARN_TRACE_NONE ||
        strcmp(t->manifest_sha256, look->pub.manifest_sha256) == 0)
        return code;
    if (t->manifest_is == TARN_TRACE_BAD || !t->manifest_own)
        look->block = TARN_BLOCK_FOREIGN_WRITE;
    else if (t->manifest.version > look->table->version)
        look->block = TARN_BLOCK_STORAGE_AHEAD;
    return TARN_OK;
}

static tarn_code look_at_log(struct look *look, struct tarn_err *err)
{
    const struct tarn_traces_ask ask = { .lake = look->lake,
                                         .table_id = look->table->id,
                                         .since_ms = look->table->committed_at - ENTRY_SLACK_MS,
                                         .entries_only = true };
    const struct tarn_trace_list *entries = &look->traces.entries;
    tarn_code code = tarn_traces_log(look->place, &ask, &look->traces, err);

    if (entries->count > 0 && entries->items[entries->count - 1].version > look->table->version)
        look->block = TARN_BLOCK_STORAGE_AHEAD;
    return code;
}

static tarn_code look_at_schema(struct look *look, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_schema_doc_done))) struct tarn_schema_doc doc = { 0 };
    TARN_ERR(fault);
    tarn_code code = tarn_schema_doc_read_at(look->place, &doc, NULL, &fault);

    if (code == TARN_OK && doc.current_version > look->table->schema_version)
        look->schema_ahead = true;
    if (code == TARN_OK || code == TARN_NOT_FOUND || code == TARN_INVALID || code == TARN_PAYLOAD_TOO_LARGE)
        return TARN_OK;
    return tarn_err_move(err, &fault);
}

static tarn_code look_once(struct look *look, struct tarn_err *err)
{
    look->block = TARN_BLOCK_NONE;
    look->schema_ahead = false;
    tarn_traces_done(&look->traces);
    look->traces = (struct tarn_traces){ .catalog = look->lake->catalog_id, .uuid = look->table->uuid };
    tarn_code code = look_at_manifest(look, err);
    if (code == TARN_OK && look->block == TARN_BLOCK_NONE)
        code = look_at_log(look, err);
    return code == TARN_OK && look->block == TARN_BLOCK_NONE ? look_at_schema(look, err) : code;
}

/* --- what follows --- */

/* Commits and their publication may have gone on meanwhile. */
static tarn_code block_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct look *look = ctx;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    tarn_code code = tx->ops->tables.get_by_id(tx, look->table->id, &table, err);

    if (code != TARN_OK || table->block != TARN_BLOCK_NONE || tarn_looked_has(look->lake->looked, table->id))
        return code;
    table->block = look->block;
    if (table->block == TARN_BLOCK_FOREIGN_WRITE) {
        free(table->block_document);
        table->block_document = strdup(TARN_DOC_MANIFEST);
    }
    code = tx->ops->tables.update(tx, table, err);
    return code == TARN_OK ? tx->ops->monitors.hurry(tx, table->id, err) : code; /* what readers are told is not true any more */
}

static bool has_moved(struct look *look)
{
    struct tarn_object object = { 0 };
    TARN_ERR(ignored);

    return tarn_place_stat(look->place, TARN_DOC_MANIFEST, &object, &ignored) == TARN_OK &&
           strcmp(object.token, look->traces.manifest_token) != 0;
}

static tarn_code compare(struct look *look, struct tarn_err *err)
{
    bool again = true;
    TARN_ERR(fault);
    tarn_code code = tarn_place_open(look->lake->storage, look->table->location, false, &look->place, &fault);

    if (code == TARN_NOT_FOUND)
        return tarn_fail(err, TARN_STORAGE_UNAVAILABLE, "the table's folder %s is not there", look->table->location);
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    for (int i = 0; i < ATTEMPTS && again && code == TARN_OK; i++) {
        code = look_once(look, err);
        again = code == TARN_OK && look->block == TARN_BLOCK_FOREIGN_WRITE && has_moved(look);
    }
    if (code == TARN_OK)
        code = tarn_traces_take_ids(look->lake, look->table->id, &look->traces, err);
    return code == TARN_OK && look->block == TARN_BLOCK_FOREIGN_WRITE
               ? tarn_store_write(look->lake->store, block_tx, look, err)
               : code;
}

/* A version that does not follow from the one before leaves
 * the table blocked: that is the answer, no fault. */
static tarn_code retake(struct look *look, bool is_thorough, struct tarn_look_name *taken,
                        struct tarn_err *err)
{
    __attribute__((cleanup(tarn_retaking_done))) struct tarn_retaking retaking = {
        .lake = look->lake, .table_id = look->table->id, .is_thorough = is_thorough
    };
    TARN_ERR(fault);
    tarn_code code = tarn_retake_run(&retaking, &fault);

    if (taken && retaking.name_taken)
        memcpy(taken->name, retaking.name, sizeof taken->name);
    return code == TARN_OK || code == TARN_STORAGE_AHEAD ? TARN_OK : tarn_err_move(err, &fault);
}

tarn_code tarn_look_in_turn(struct tarn_lake *lake, const struct tarn_table *table, bool is_thorough,
                            struct tarn_look_name *taken, struct tarn_err *err)
{
    __attribute__((cleanup(look_done))) struct look look = { .lake = lake,
                                                             .table = calloc(1, sizeof *look.table) };

    if (!look.table)
        return tarn_fail_oom(err);
    look.table->id = table->id;
    if (!table->publish || !lake->storage || tarn_looked_has(lake->looked, table->id))
        return TARN_OK;
    tarn_code code = tarn_store_read(lake->store, load_tx, &look, err);
    if (code == TARN_OK &&
        (look.table->block == TARN_BLOCK_NONE || look.table->block == TARN_BLOCK_STORAGE_AHEAD))
        code = compare(&look, err);
    bool is_ahead = look.block == TARN_BLOCK_STORAGE_AHEAD || look.schema_ahead ||
                    look.table->block == TARN_BLOCK_STORAGE_AHEAD;
    if (code == TARN_OK && look.block != TARN_BLOCK_FOREIGN_WRITE && (is_ahead || is_thorough))
        code = retake(&look, is_thorough, taken, err);
    if (code == TARN_OK)
        tarn_looked_set(lake->looked, table->id, true);
    return code;
}

tarn_code tarn_look(struct tarn_lake *lake, const struct tarn_table *table, struct tarn_err *err)
{
    struct tarn_publish_turn turn = { lake, table->id, NULL };

    if (tarn_lease_is_claimed(lake->leases, table->id))
        return tarn_fail(err, TARN_OVERLOADED, "the table is being compared with its storage: try again");
    tarn_publish_turn_begin(&turn);
    tarn_code code = tarn_look_in_turn(lake, table, false, NULL, err);
    tarn_publish_turn_end(&turn);
    return code;
}
