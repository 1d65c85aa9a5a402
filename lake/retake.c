/* retake.c - one table, in an order that a crash may cut anywhere: the
 * block first, then schemas, then version by version, last the note of what
 * storage shows, which ends the block. Run again it finds the rest. */
#include "lake/retake.h"
#include "base/time.h"
#include "lake/event.h"
#include "lake/lease.h"
#include "lake/replay.h"
#include <stdio.h>
#include <string.h>

static void let_go(struct tarn_retaking *r)
{
    if (r->claimed)
        tarn_lease_release(r->lake->leases, r->table_id);
    r->claimed = false;
}

void tarn_retaking_done(struct tarn_retaking *r)
{
    let_go(r);
    tarn_table_free(tarn_take(&r->table));
    tarn_place_free(tarn_take(&r->place));
    tarn_traces_done(&r->traces);
    tarn_retake_done(&r->plan);
    tarn_schema_rows_done(&r->rows);
    tarn_schema_doc_done(&r->doc);
}

/* --- what is missing --- */

static tarn_code load_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_retaking *r = ctx;
    tarn_code code = TARN_OK;

    tarn_table_free(tarn_take(&r->table));
    code = tx->ops->tables.get_by_id(tx, r->table_id, &r->table, err);
    return code == TARN_OK ? tx->ops->publications.get(tx, r->table_id, &r->pub, err) : code;
}

/* The name in a manifest that Tarn wrote after the one noted,
 * when no change of the row still waits to be shown. */
static void find_name(struct tarn_retaking *r)
{
    const struct tarn_manifest_head *head = &r->traces.manifest;
    struct tarn_ident ident;

    r->name[0] = '\0';
    if (!r->traces.manifest_own || !head->table || r->pub.marks > 0 || head->version < r->pub.version ||
        strcmp(r->traces.manifest_sha256, r->pub.manifest_sha256) == 0)
        return;
    if (tarn_ident_parse(head->table, "table", &ident, NULL) != TARN_OK ||
        (strcmp(ident.namespace_, r->table->namespace_) == 0 && strcmp(ident.name, r->table->name) == 0))
        return;
    tarn_ident_format(ident.namespace_, ident.name, r->name);
}

static int64_t lowest_of(const struct tarn_table *table)
{
    return table->first_version + 1 > table->log_from ? table->first_version + 1 : table->log_from;
}

static tarn_code look(struct tarn_retaking *r, struct tarn_err *err)
{
    const struct tarn_traces_ask ask = { .lake = r->lake, .table_id = r->table_id, .since_ms = INT64_MIN };
    tarn_code code = tarn_store_read(r->lake->store, load_tx, r, err);

    if (code != TARN_OK)
        return code;
    r->version = r->table->version;
    tarn_traces_done(&r->traces);
    r->traces = (struct tarn_traces){ .catalog = r->lake->catalog_id, .uuid = r->table->uuid };
    code = tarn_traces_log(r->place, &ask, &r->traces, err);
    if (code == TARN_OK) /* after the log, so that it is never older */
        code = tarn_traces_manifest(r->place, &r->traces, err);
    if (code == TARN_OK)
        code = tarn_retake_plan(&r->traces, r->table->version, lowest_of(r->table), true, &r->plan, err);
    if (code == TARN_OK)
        code = tarn_retake_schemas_look(r, err);
    if (code == TARN_OK)
        find_name(r);
    return code;
}

/* --- taking it --- */

static tarn_code block_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct tarn_retaking *r = ctx;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    tarn_code code = tx->ops->tables.get_by_id(tx, r->table_id, &table, err);

    if (code != TARN_OK || table->block != TARN_BLOCK_NONE)
        return code;
    table->block = TARN_BLOCK_STORAGE_AHEAD;
    return tx->ops->tables.update(tx, table, err);
}

static tarn_code claim(struct tarn_retaking *r, struct tarn_err *err)
{
    r->claimed = tarn_lease_claim(r->lake->leases, r->table_id);
    if (!r->claimed)
        return tarn_fail(err, TARN_OVERLOADED, "a large commit to the table is under way: try again");
    tarn_code code = tarn_lease_undo(r->lake, r->table_id, err);
    return code == TARN_OK ? tarn_store_write(r->lake->store, block_tx, r, err) : code;
}

static tarn_code take_step(struct tarn_retaking *r, struct tarn_replay *replay,
                           const struct tarn_retake_step *step, struct tarn_err *err)
{
    const struct tarn_trace *entry = tarn_traces_entry(&r->traces, step->version);
    char path[TARN_TXN_ID_MAX + 48] = TARN_DOC_MANIFEST;

    if (!step->is_snapshot)
        return tarn_replay_entry(replay, step->id, step->version, err);
    if (!step->is_manifest)
        snprintf(path, sizeof path, TARN_DIR_LOG "/%s" TARN_CHECKPOINT_SUFFIX, step->id);
    const struct tarn_replay_snapshot snapshot = { .path = path,
                                                   .version = step->version,
                                                   .entry = entry ? tarn_trace_id(&r->traces, entry) : NULL,
                                                   .in_history = true };
    tarn_code code = tarn_replay_snapshot(replay, &snapshot, err);
    if (code == TARN_OK && step->is_manifest)
        code = tarn_replay_end(replay, err);
    return code == TARN_OK && step->is_manifest
               ? tarn_retake_checkpoint(r, r->table->latest_transaction, step->version, err)
               : code;
}

static tarn_code take_versions(struct tarn_retaking *r, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_replay_done))) struct tarn_replay replay = {
        .lake = r->lake, .place = r->place, .table = r->table, .schemas = &r->rows
    };
    tarn_code code = tarn_replay_begin(&replay, err);

    if (code != TARN_OK)
        return code;
    for (size_t i = 0; i < r->plan.count && code == TARN_OK; i++)
        code = take_step(r, &replay, &r->plan.steps[i], err);
    if (code == TARN_OK)
        code = tarn_replay_end(&replay, err);
    r->changed |= replay.made > 0;
    if (code == TARN_OK)
        return TARN_OK;
    TARN_ERR(ignored); /* the fault is told; what is whole is kept, what is left the sweeper finds */
    tarn_code kept =
        replay.staged ? tarn_lease_undo(r->lake, r->table_id, &ignored) : tarn_replay_end(&replay, &ignored);
    (void)kept;
    return code;
}

static tarn_code take_batches(struct tarn_retaking *r, struct tarn_err *err)
{
    struct tarn_retake_batches ask = { .lake = r->lake,
                                       .place = r->place,
                                       .table = r->table,
                                       .catalog = r->lake->catalog_id,
                                       .dry_run = r->dry_run };
    tarn_code code = tarn_retake_batches(&ask, err);

    r->batches = ask.count;
    r->changed |= ask.count > 0 && !r->dry_run;
    return code;
}

/* The manifest that lies there counts as noted when it holds what its version is. */
static tarn_code judge_shown(struct tarn_retaking *r, struct tarn_err *err)
{
    bool is_so = false;

    r->shown = r->pub;
    if (r->traces.manifest.version == r->pub.version &&
        strcmp(r->traces.manifest_sha256, r->pub.manifest_sha256) == 0)
        return TARN_OK;
    if (!r->traces.manifest_own || r->traces.manifest.version < r->pub.version ||
        r->traces.manifest.version > r->table->version)
        return TARN_OK;
    tarn_code code = tarn_retake_shown(r->lake, r->place, r->table, r->lake->catalog_id, &r->traces,
                                       &r->shown, &is_so, err);
    r->has_shown = code == TARN_OK && is_so;
    r->foreign = code == TARN_OK && !is_so;
    return code;
}

static tarn_code add_checkpoints(struct tarn_tx *tx, const struct tarn_retaking *r, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    if (r->checkpoint > 0)
        code = tx->ops->history.add_checkpoint(tx, r->table_id, r->checkpoint, r->checkpoint_id, err);
    for (size_t i = 0; i < r->traces.checkpoints.count && code == TARN_OK; i++) {
        const struct tarn_trace *trace = &r->traces.checkpoints.items[i];
        if (trace->version > r->version && trace->version <= r->table->version)
            code = tx->ops->history.add_checkpoint(tx, r->table_id, trace->version,
                                                   tarn_trace_id(&r->traces, trace), err);
    }
    return code;
}

/* The other name, when nobody has it, and when the document that tells it is Tarn's. */
static tarn_code rename_table(struct tarn_tx *tx, struct tarn_retaking *r, struct tarn_table *table,
                              struct tarn_err *err)
{
    TARN_AUTO(table) struct tarn_table *same = NULL;
    struct tarn_ident ident;
    char was[TARN_DOTTED_MAX];
    TARN_ERR(none);

    r->renamed = r->name_taken = false;
    if (!r->name[0] || !r->has_shown || tarn_ident_parse(r->name, "table", &ident, NULL) != TARN_OK)
        return TARN_OK;
    tarn_code code = tx->ops->tables.get(tx, ident.namespace_, ident.name, &same, &none);
    r->name_taken = code == TARN_OK;
    if (code == TARN_OK)
        return TARN_OK;
    if (code != TARN_TABLE_NOT_FOUND)
        return tarn_err_move(err, &none);
    tarn_ident_format(table->namespace_, table->name, was);
    free(table->namespace_);
    free(table->name);
    table->namespace_ = strdup(ident.namespace_);
    table->name = strdup(ident.name);
    if (!table->namespace_ || !table->name)
        return tarn_fail_oom(err);
    r->renamed = true;
    return tarn_event_add(tx, TARN_EVENT_RENAMED, table, tarn_now_ms(), json_pack("{s:s}", "from", was), err);
}

static tarn_code tell(struct tarn_tx *tx, const struct tarn_retaking *r, const struct tarn_table *table,
                      struct tarn_err *err)
{
    int64_t lost = 0;

    for (size_t i = 0; i < r->plan.gap_count; i++)
        lost += r->plan.gaps[i].to - r->plan.gaps[i].from + 1;
    return tarn_event_add(tx, TARN_EVENT_RECOVERED, table, tarn_now_ms(),
                          json_pack("{s:s, s:I, s:I, s:I, s:I, s:I}", "uuid", table->uuid, "from_version",
                                    (json_int_t)r->version, "version", (json_int_t)table->version,
                                    "lost_versions", (json_int_t)lost, "schemas", (json_int_t)r->schemas,
                                    "batches", (json_int_t)r->batches),
                          err);
}

static tarn_code end_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_retaking *r = ctx;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    tarn_code code = tx->ops->tables.get_by_id(tx, r->table_id, &table, err);
    bool had = r->changed || r->name[0] || (code == TARN_OK && table->block == TARN_BLOCK_STORAGE_AHEAD);

    if (code != TARN_OK || !had)
        return code;
    if (table->block == TARN_BLOCK_STORAGE_AHEAD)
        table->block = r->foreign ? TARN_BLOCK_FOREIGN_WRITE : TARN_BLOCK_NONE;
    else if (table->block == TARN_BLOCK_FOREIGN_WRITE && r->changed && r->has_shown)
        table->block = TARN_BLOCK_NONE; /* what seemed foreign was the table's own future */
    code = rename_table(tx, r, table, err);
    if (code == TARN_OK)
        code = tx->ops->tables.update(tx, table, err);
    if (code == TARN_OK && r->has_shown && !r->name_taken) /* else the manifest is written again, under the name that stays */
        code = tx->ops->publications.put(tx, r->table_id, &r->shown,
                                         r->schema_conflict ? 0 : r->doc.current_version, err);
    if (code == TARN_OK)
        code = add_checkpoints(tx, r, err);
    return code == TARN_OK && (r->changed || r->renamed) ? tell(tx, r, table, err) : code;
}

static tarn_code take(struct tarn_retaking *r, struct tarn_err *err)
{
    bool is_ahead = r->plan.count > 0 || r->schemas > 0;
    tarn_code code = TARN_OK;

    if (is_ahead || !r->plan.is_clean || r->table->block == TARN_BLOCK_STORAGE_AHEAD)
        code = claim(r, err);
    if (code != TARN_OK || (!r->plan.is_clean && !r->with_gaps))
        return code;
    code = tarn_retake_schemas(r, err);
    if (code == TARN_OK)
        code = tarn_traces_take_ids(r->lake, r->table_id, &r->traces, err);
    if (code == TARN_OK)
        code = take_versions(r, err);
    if (code == TARN_OK && (is_ahead || r->is_thorough))
        code = take_batches(r, err);
    if (code == TARN_OK)
        code = judge_shown(r, err);
    r->shown.marks = 0;
    return code == TARN_OK ? tarn_store_write(r->lake->store, end_tx, r, err) : code;
}

tarn_code tarn_retake_run(struct tarn_retaking *r, struct tarn_err *err)
{
    TARN_ERR(fault);
    tarn_code code = tarn_store_read(r->lake->store, load_tx, r, err);

    if (code != TARN_OK)
        return code;
    code = tarn_place_open(r->lake->storage, r->table->location, false, &r->place, &fault);
    if (code == TARN_NOT_FOUND)
        return tarn_fail(err, TARN_STORAGE_UNAVAILABLE, "the table's folder %s is not there", r->table->location);
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    code = look(r, err);
    if (code != TARN_OK)
        return code;
    if (!r->dry_run) {
        code = take(r, err);
        let_go(r);
        return code;
    }
    return r->is_thorough || r->plan.count > 0 ? take_batches(r, err) : TARN_OK;
}
