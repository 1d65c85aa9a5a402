/* rebuild_table.c - one table from its folder: all of its rows under an id that nobody knows yet,
 * last the table's own row. A run that is cut short leaves rows that the next start sweeps. */
#include "base/time.h"
#include "lake/event.h"
#include "lake/publish.h"
#include "lake/rebuild_run.h"
#include "lake/retake.h"
#include <stdio.h>
#include <string.h>

enum { STEPS_A_LINE = 5000 };

static void rebuilding_freep(struct tarn_rebuilding **pb)
{
    struct tarn_rebuilding *b = *pb;

    if (!b)
        return;
    tarn_replay_done(&b->replay);
    tarn_table_free(b->table);
    tarn_place_free(b->place);
    tarn_traces_done(&b->traces);
    tarn_retake_done(&b->plan);
    tarn_schema_rows_done(&b->schemas);
    free(b);
}

static void tell(struct tarn_rebuilding *b, const char *message)
{
    tarn_rebuild_tell(b->rebuild, b->candidate->location, b->dotted, "%s", message);
}

/* --- what lies there --- */

static tarn_code read_schemas(struct tarn_rebuilding *b, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_schema_doc_done))) struct tarn_schema_doc doc = { 0 };
    struct tarn_object object = { .mtime_ms = -1 };
    TARN_ERR(fault);
    tarn_code code = tarn_schema_doc_read_at(b->place, &doc, &object, &fault);

    if (code == TARN_INVALID || code == TARN_PAYLOAD_TOO_LARGE)
        tarn_rebuild_tell(b->rebuild, b->candidate->location, b->dotted, "%s cannot be read: its schemas are lost: %s",
                          TARN_DOC_SCHEMA, fault.detail);
    else if (code != TARN_OK && code != TARN_NOT_FOUND)
        return tarn_err_move(err, &fault);
    if (code != TARN_OK)
        return TARN_OK;
    b->published_schema = doc.current_version;
    return tarn_schema_rows_of(&doc, 1, object.mtime_ms, &b->schemas, err);
}

static tarn_code look(struct tarn_rebuilding *b, struct tarn_err *err)
{
    const struct tarn_traces_ask ask = { .lake = b->rebuild->lake, .since_ms = INT64_MIN };
    tarn_code code =
        tarn_place_open(b->rebuild->lake->storage, b->candidate->location, false, &b->place, err);

    b->traces = (struct tarn_traces){ .catalog = b->candidate->catalog, .uuid = b->candidate->uuid };
    if (code == TARN_OK)
        code = tarn_traces_log(b->place, &ask, &b->traces, err);
    if (code == TARN_OK)
        code = tarn_traces_manifest(b->place, &b->traces, err);
    return code == TARN_OK ? read_schemas(b, err) : code;
}

/* --- its versions --- */

static tarn_code schemas_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct tarn_rebuilding *b = ctx;
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < b->schemas.count && code == TARN_OK; i++)
        code = tx->ops->schemas.insert(tx, b->table->id, &b->schemas.rows[i], err);
    return code;
}

/* The lowest snapshot up to which every entry is there: it tells what of the adopted files was left. */
static bool find_end(const struct tarn_rebuilding *b, struct tarn_retake_step *out)
{
    const struct tarn_traces *t = &b->traces;
    int64_t version = b->table->first_version, last = version;

    while (tarn_traces_entry(t, last + 1))
        last++;
    *out = (struct tarn_retake_step){ .is_snapshot = true };
    for (size_t i = 0; i < t->checkpoints.count; i++) {
        if (t->checkpoints.items[i].version < version || t->checkpoints.items[i].version > last)
            continue;
        out->version = t->checkpoints.items[i].version;
        out->id = tarn_trace_id(t, &t->checkpoints.items[i]);
        return true;
    }
    out->version = t->manifest.version;
    out->is_manifest = true;
    return t->manifest_own && out->version >= version && out->version <= last;
}

static void path_of(const struct tarn_retake_step *step, char out[TARN_TXN_ID_MAX + 48])
{
    if (step->is_manifest)
        snprintf(out, TARN_TXN_ID_MAX + 48, "%s", TARN_DOC_MANIFEST);
    else
        snprintf(out, TARN_TXN_ID_MAX + 48, TARN_DIR_LOG "/%s" TARN_CHECKPOINT_SUFFIX, step->id);
}

/* The beginning of an adopted table. Without it only a later
 * snapshot can be the first version that is kept. */
static tarn_code take_base(struct tarn_rebuilding *b, bool *has_base, struct tarn_err *err)
{
    struct tarn_retake_step end;
    char path[TARN_TXN_ID_MAX + 48];

    *has_base = b->table->first_version == 0;
    if (*has_base || !find_end(b, &end))
        return TARN_OK;
    *has_base = true;
    path_of(&end, path);
    return tarn_rebuild_base(b, path, end.version, err);
}

static tarn_code take_step(struct tarn_rebuilding *b, const struct tarn_retake_step *step,
                           struct tarn_err *err)
{
    const struct tarn_trace *entry = tarn_traces_entry(&b->traces, step->version);
    char path[TARN_TXN_ID_MAX + 48];

    if (!step->is_snapshot)
        return tarn_replay_entry(&b->replay, step->id, step->version, err);
    path_of(step, path);
    const struct tarn_replay_snapshot snapshot = { .path = path,
                                                   .version = step->version,
                                                   .entry = entry ? tarn_trace_id(&b->traces, entry) : NULL,
                                                   .in_history = true };
    return tarn_replay_snapshot(&b->replay, &snapshot, err);
}

static void tell_progress(const struct tarn_rebuilding *b, size_t steps)
{
    const struct tarn_rebuild_line line = { .kind = TARN_REBUILD_PROGRESS, .location = b->candidate->location,
                                            .table = b->dotted, .version = b->plan.steps[steps].version };

    if (steps > 0 && steps % STEPS_A_LINE == 0)
        b->rebuild->tell(b->rebuild->ctx, &line);
}

/* What an entry cannot give ends the history there: what
 * came before it is kept, and a repair settles the rest. */
static tarn_code take_steps(struct tarn_rebuilding *b, struct tarn_err *err)
{
    TARN_ERR(fault);
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < b->plan.count && code == TARN_OK; i++) {
        tell_progress(b, i);
        code = take_step(b, &b->plan.steps[i], &fault);
    }
    if (code == TARN_OK)
        code = tarn_replay_end(&b->replay, &fault);
    if (code != TARN_STORAGE_AHEAD)
        return code == TARN_OK ? TARN_OK : tarn_err_move(err, &fault);
    TARN_ERR(ignored);
    tarn_code kept = tarn_replay_end(&b->replay, &ignored);
    (void)kept;
    tarn_rebuild_tell(b->rebuild, b->candidate->location, b->dotted, "the history ends at version %lld of %lld: %s",
                      (long long)b->table->version, (long long)b->plan.to, fault.detail);
    b->table->block = TARN_BLOCK_STORAGE_AHEAD;
    return TARN_OK;
}

static void tell_gaps(struct tarn_rebuilding *b)
{
    const struct tarn_retake *plan = &b->plan;

    for (size_t i = 0; i < plan->gap_count; i++) {
        bool is_leading = plan->gaps[i].from == plan->from + 1;
        bool is_expired =
            is_leading && plan->count > 0 && plan->steps[0].is_snapshot && !plan->steps[0].is_manifest;
        if (is_expired)
            continue;
        tarn_rebuild_tell(b->rebuild, b->candidate->location, b->dotted,
                          "versions %lld to %lld are lost: their log entries are missing", (long long)plan->gaps[i].from,
                          (long long)plan->gaps[i].to);
    }
    if (plan->gap_count == 0 && !plan->is_clean)
        tell(b, plan->why);
    if (b->traces.manifest_own && b->table->version > b->traces.manifest.version)
        tarn_rebuild_tell(b->rebuild, b->candidate->location, b->dotted,
                          "the log is at version %lld, the manifest at %lld: the log's is taken", (long long)b->table->version,
                          (long long)b->traces.manifest.version);
    if (b->traces.bad.count > 0)
        tarn_rebuild_tell(b->rebuild, b->candidate->location, b->dotted, "%zu log entries cannot be read, one is %s",
                          b->traces.bad.count, tarn_trace_id(&b->traces, &b->traces.bad.items[0]));
}

static tarn_code take_versions(struct tarn_rebuilding *b, struct tarn_err *err)
{
    bool has_base = false;

    b->replay = (struct tarn_replay){
        .lake = b->rebuild->lake, .place = b->place, .table = b->table, .is_new = true, .schemas = &b->schemas
    };
    tarn_code code = tarn_replay_begin(&b->replay, err);
    if (code == TARN_OK)
        code = take_base(b, &has_base, err);
    if (code == TARN_OK)
        code = tarn_retake_plan(&b->traces, b->table->first_version, INT64_MAX, has_base, &b->plan, err);
    if (code != TARN_OK)
        return code;
    if (!has_base && b->plan.count == 0)
        return tarn_fail(err, TARN_SNAPSHOT_INCOMPLETE, "neither manifest nor checkpoint nor log tell its files");
    bool is_cut = b->plan.count > 0 && b->plan.steps[0].is_snapshot;
    if (!has_base || is_cut)
        b->table->oldest_version = is_cut ? b->plan.steps[0].version : b->table->version;
    code = take_steps(b, err);
    if (code == TARN_OK)
        tell_gaps(b);
    return code;
}

/* --- the end --- */

static tarn_code judge_shown(struct tarn_rebuilding *b, struct tarn_err *err)
{
    const struct tarn_traces *t = &b->traces;
    struct tarn_table *table = b->table;
    bool is_so = false;
    tarn_code code = TARN_OK;

    table->published_version = table->oldest_version;
    b->foreign = t->manifest_is == TARN_TRACE_BAD || (t->manifest_is == TARN_TRACE_READ && !t->manifest_own);
    if (t->manifest_own && t->manifest.version <= table->version &&
        t->manifest.version >= table->oldest_version) {
        b->shown.links = tarn_links_wanted(table->properties);
        code = tarn_retake_shown(b->rebuild->lake, b->place, table, b->candidate->catalog, t, &b->shown,
                                 &is_so, err);
        b->has_shown = code == TARN_OK && is_so;
        b->foreign = code == TARN_OK && !is_so;
    }
    if (b->has_shown)
        table->published_version = b->shown.version;
    if (t->manifest_is == TARN_TRACE_NONE)
        tell(b, "manifest.json is missing: the next start writes it");
    else if (b->foreign)
        tell(b, "manifest.json does not hold what the log tells: commits wait for a repair");
    if (b->foreign)
        table->block = TARN_BLOCK_FOREIGN_WRITE;
    return code;
}

static tarn_code take_batches(struct tarn_rebuilding *b, struct tarn_err *err)
{
    struct tarn_retake_batches ask = { .lake = b->rebuild->lake, .place = b->place, .table = b->table,
                                       .catalog = b->candidate->catalog };
    tarn_code code = tarn_retake_batches(&ask, err);

    b->batches = ask.count;
    return code;
}

static tarn_code add_checkpoints(struct tarn_tx *tx, const struct tarn_rebuilding *b, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < b->traces.checkpoints.count && code == TARN_OK; i++) {
        const struct tarn_trace *trace = &b->traces.checkpoints.items[i];
        if (trace->version <= b->table->version)
            code = tx->ops->history.add_checkpoint(tx, b->table->id, trace->version,
                                                   tarn_trace_id(&b->traces, trace), err);
    }
    return code;
}

static tarn_code end_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct tarn_rebuilding *b = ctx;
    const struct tarn_table *t = b->table;
    tarn_code code = tx->ops->tables.insert(tx, t, err);

    if (code == TARN_OK && t->oldest_version > t->first_version) /* the log begins there */
        code = tx->ops->history.forget(tx, t->id, 0, t->oldest_version, err);
    if (code == TARN_OK && b->has_shown)
        code = tx->ops->publications.put(tx, t->id, &b->shown, b->published_schema, err);
    if (code == TARN_OK)
        code = add_checkpoints(tx, b, err);
    return code == TARN_OK ? tarn_event_add(tx, TARN_EVENT_RECOVERED, t,
                                            b->rebuild->now_ms ? b->rebuild->now_ms : tarn_now_ms(),
                                            json_pack("{s:s, s:I, s:I}", "uuid", t->uuid, "from_version",
                                                      (json_int_t)0, "version", (json_int_t)t->version),
                                            err)
                           : code;
}

static void tell_done(struct tarn_rebuilding *b)
{
    const struct tarn_table *t = b->table;
    const struct tarn_rebuild_line line = { .kind = TARN_REBUILT,
                                            .location = t->location,
                                            .table = b->dotted,
                                            .format = t->format,
                                            .uuid = t->uuid,
                                            .version = t->version,
                                            .oldest_version = t->oldest_version,
                                            .files = t->file_count,
                                            .commits = b->replay.made,
                                            .schemas = (int64_t)b->schemas.count,
                                            .batches = b->batches };

    b->rebuild->tables++;
    b->rebuild->tell(b->rebuild->ctx, &line);
}

/* A table without a commit of its own is what its manifest says. */
static tarn_code settle_first(struct tarn_rebuilding *b, struct tarn_err *err)
{
    const struct tarn_manifest_head *head = &b->traces.manifest;
    struct tarn_table *t = b->table;
    bool is_shown = b->traces.manifest_own && head->version == t->version;

    if (t->committed_at == 0)
        t->committed_at = is_shown && head->last_updated >= 0 ? head->last_updated : t->created_at;
    if (t->latest_transaction || !is_shown || !head->transaction)
        return TARN_OK;
    t->latest_transaction = strdup(head->transaction);
    return t->latest_transaction ? TARN_OK : tarn_fail_oom(err);
}

tarn_code tarn_rebuild_table(struct tarn_rebuild *rebuild, const struct tarn_rebuild_candidate *candidate,
                             struct tarn_err *err)
{
    __attribute__((cleanup(rebuilding_freep))) struct tarn_rebuilding *b = calloc(1, sizeof *b);

    if (!b)
        return tarn_fail_oom(err);
    b->rebuild = rebuild;
    b->candidate = candidate;
    tarn_ident_format(candidate->ident.namespace_, candidate->ident.name, b->dotted);
    tarn_code code = look(b, err);
    if (code == TARN_OK)
        code = tarn_rebuild_row(b, err);
    if (code == TARN_OK)
        code = tarn_store_write(rebuild->lake->store, schemas_tx, b, err);
    if (code == TARN_OK)
        tarn_rebuild_sort(b);
    if (code == TARN_OK)
        code = take_versions(b, err);
    if (code == TARN_OK)
        code = tarn_rebuild_entries(b, err);
    if (code != TARN_OK)
        return code;
    code = settle_first(b, err);
    if (code == TARN_OK)
        code = take_batches(b, err);
    if (code == TARN_OK)
        code = judge_shown(b, err);
    if (code == TARN_OK && b->table->oldest_version > b->table->first_version)
        code = tarn_rebuild_retired(b, err);
    if (code == TARN_OK)
        code = tarn_store_write(rebuild->lake->store, end_tx, b, err);
    if (code == TARN_OK)
        tell_done(b);
    return code;
}
