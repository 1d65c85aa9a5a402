/* publish_run.c - one publication: what the row says is missing on storage, in the order in which a reader
 * may meet it, and last the note of it in the catalog. It may end anywhere and be run again. */
#include "lake/publish_run.h"
#include "lake/look.h"
#include "lake/publish.h"
#include <string.h>

void tarn_publish_run_done(struct tarn_publish_run *run)
{
    tarn_table_free(tarn_take(&run->table));
    tarn_place_free(tarn_take(&run->place));
    tarn_commit_row_done(&run->commit);
    run->commit = (struct tarn_commit_row){ 0 };
    tarn_err_done(&run->side);
}

/* *row stays empty when there is none of that version. */
static tarn_code find_commit(struct tarn_tx *tx, int64_t table_id, int64_t version,
                             struct tarn_commit_row *row, struct tarn_err *err)
{
    TARN_ERR(fault);
    tarn_code code = tx->ops->commits.get(tx, table_id, version, row, &fault);
    return code == TARN_OK || code == TARN_VERSION_NOT_FOUND ? TARN_OK : tarn_err_move(err, &fault);
}

static tarn_code load_commits(struct tarn_tx *tx, struct tarn_publish_run *run, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_commit_row_done))) struct tarn_commit_row shown = { 0 };
    tarn_code code = TARN_OK;
    if (run->table->published_version > 0)
        code = find_commit(tx, run->table_id, run->table->published_version, &shown, err);
    run->published_by_tarn = shown.transaction != NULL;
    if (code == TARN_OK && run->table->version > 0)
        code = find_commit(tx, run->table_id, run->table->version, &run->commit, err);
    if (code == TARN_OK)
        code = tx->ops->history.checkpoint_at(tx, run->table_id, run->table->version, &run->checkpoint, err);
    if (run->checkpoint < run->table->first_version)
        run->checkpoint = run->table->first_version;
    return code;
}

static tarn_code see_batch(void *ctx, const struct tarn_batch *batch, struct tarn_err *err)
{
    (void)batch;
    (void)err;
    ((struct tarn_publish_run *)ctx)->wants_batches = true;
    return TARN_OK;
}

static tarn_code load_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_publish_run *run = ctx;
    tarn_publish_run_done(run);
    run->wants_batches = false;
    TARN_ERR(fault);
    tarn_code code = tx->ops->tables.get_by_id(tx, run->table_id, &run->table, &fault);
    if (code == TARN_TABLE_NOT_FOUND)
        return TARN_OK;
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    code = tx->ops->publications.get(tx, run->table_id, &run->pub, err);
    if (code == TARN_OK)
        code = tx->ops->publications.schema_published(tx, run->table_id, &run->published_schema, err);
    if (code == TARN_OK)
        code = tx->ops->batches.pending(tx, run->table_id, run->table->version, "", 1, see_batch, run, err);
    return code == TARN_OK ? load_commits(tx, run, err) : code;
}

static void judge(struct tarn_publish_run *run)
{
    const struct tarn_table *t = run->table;
    run->is_off =
        !t || t->dropped_at >= 0 || t->mode != TARN_MANAGED || !t->publish || t->block != TARN_BLOCK_NONE;
    run->published = t ? t->published_version : -1;
    run->links = !run->is_off && tarn_links_wanted(t->properties);
    run->wants_version = !run->is_off && (t->published_version < t->version || run->pub.marks > 0 ||
                                          (t->published_version >= 0 && run->links != run->pub.links));
    run->wants_schema = !run->is_off && run->published_schema < t->schema_version;
    run->wants_batches &= !run->is_off;
}

/* --- the note --- */

static tarn_code record_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_publish_run *run = ctx;
    tarn_code code = tx->ops->publications.put(tx, run->table_id, &run->pub, run->published_schema, err);
    if (code == TARN_OK && run->has_checkpoint)
        code = tx->ops->history.add_checkpoint(tx, run->table_id, run->commit.version,
                                               run->commit.transaction, err);
    return code;
}

static tarn_code record(struct tarn_publish_run *run, struct tarn_err *err)
{
    if (!run->wants_version && !run->wants_schema)
        return TARN_OK;
    if (run->wants_version)
        run->pub.links = run->links && !run->links_failed;
    if (run->links_failed) /* it stays marked: a crash must not forget it */
        run->pub.marks = run->pub.marks > 0 ? 0 : -1;
    if (!run->wants_version)
        run->pub.marks = 0;
    run->pub.version = run->wants_version ? run->table->version : run->table->published_version;
    tarn_code code = tarn_store_write(run->lake->store, record_tx, run, err);
    if (code == TARN_OK)
        run->published = run->pub.version;
    return code;
}

struct blocking {
    int64_t table_id;
    const char *document; /* NULL: not known */
};

static tarn_code block_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct blocking *blocking = ctx;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    tarn_code code = tx->ops->tables.get_by_id(tx, blocking->table_id, &table, err);
    if (code != TARN_OK || table->block != TARN_BLOCK_NONE)
        return code;
    table->block = TARN_BLOCK_FOREIGN_WRITE;
    free(table->block_document);
    table->block_document = blocking->document ? strdup(blocking->document) : NULL;
    return tx->ops->tables.update(tx, table, err);
}

/* --- the run --- */

tarn_code tarn_publish_read(const struct tarn_publish_run *run, tarn_tx_fn *page, void *ctx,
                            struct tarn_err *err)
{
    if (run->cancelled && run->cancelled(run->ctx))
        return tarn_fail(err, TARN_OVERLOADED, "the server stops");
    return tarn_store_read(run->lake->store, page, ctx, err);
}

static tarn_code open_place(struct tarn_publish_run *run, struct tarn_err *err)
{
    /* A folder that was there and is gone is not made anew: perhaps only its file system is not mounted. */
    bool create = run->table->published_version < 0;
    TARN_ERR(fault);
    tarn_code code = tarn_place_open(run->lake->storage, run->table->location, create, &run->place, &fault);
    if (code == TARN_NOT_FOUND)
        return tarn_fail(err, TARN_STORAGE_UNAVAILABLE, "the table's folder %s is not there",
                         run->table->location);
    return code == TARN_OK ? TARN_OK : tarn_err_move(err, &fault);
}

static tarn_code all_steps(struct tarn_publish_run *run, struct tarn_err *err)
{
    static tarn_code (*const k_steps[])(struct tarn_publish_run * run, struct tarn_err * err) = {
        [TARN_STEP_SCHEMA] = tarn_publish_schema,
        [TARN_STEP_LOG] = tarn_publish_log,
        [TARN_STEP_MANIFEST] = tarn_publish_manifest,
        [TARN_STEP_POINTER] = tarn_publish_pointer,
        [TARN_STEP_LINKS] = tarn_publish_links,
        [TARN_STEP_BATCHES] = tarn_publish_batches,
        [TARN_STEP_RECORD] = record,
    };
    unsigned last = run->pausing && run->wants_version ? TARN_STEP_LOG : run->last_step;
    tarn_code code = open_place(run, err);
    if (code == TARN_OK && run->wants_version)
        code = tarn_publish_owned(run, err);
    for (unsigned i = 0; code == TARN_OK && i <= last; i++)
        code = k_steps[i](run, err);
    return code;
}

tarn_code tarn_publish_begin(struct tarn_publish_run *run, struct tarn_err *err)
{
    tarn_code code = tarn_store_read(run->lake->store, load_tx, run, err);
    if (code == TARN_OK && !run->table)
        return tarn_fail(err, TARN_TABLE_NOT_FOUND, "the table no longer exists");
    if (code != TARN_OK)
        return code;
    judge(run);
    run->links = tarn_links_wanted(run->table->properties);
    return open_place(run, err);
}

/* A catalog from a backup must not write over what storage knows and it does not:
 * since the start the table was not compared. Afterwards its row may be another. */
static tarn_code look_first(struct tarn_publish_run *run, struct tarn_err *err)
{
    tarn_code code = tarn_look_in_turn(run->lake, run->table, false, NULL, err);
    if (code == TARN_OK)
        code = tarn_store_read(run->lake->store, load_tx, run, err);
    if (code == TARN_OK)
        judge(run);
    return code;
}

tarn_code tarn_publish_run(struct tarn_publish_run *run, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_publish_turn_end))) struct tarn_publish_turn turn = { run->lake,
                                                                                      run->table_id, NULL };
    tarn_publish_turn_begin(&turn);
    run->manifest_bytes = run->foreign_batches = 0;
    run->links_failed = false;
    run->has_checkpoint = false;
    tarn_code code = tarn_store_read(run->lake->store, load_tx, run, err);
    if (code != TARN_OK)
        return code;
    judge(run);
    if (!run->wants_version && !run->wants_schema && !run->wants_batches)
        return TARN_OK;
    if (!run->is_off && tarn_look_is_due(run->lake, run->table)) {
        code = look_first(run, err);
        if (code != TARN_OK || run->is_off ||
            !(run->wants_version || run->wants_schema || run->wants_batches))
            return code;
    }
    code = all_steps(run, err);
    if (code != TARN_FOREIGN_WRITE)
        return code;
    run->is_off = true;
    struct blocking blocking = { run->table_id,
                                 err ? json_string_value(json_object_get(err->more, TARN_FOREIGN_DOCUMENT))
                                     : NULL };
    code = tarn_store_write(run->lake->store, block_tx, &blocking, NULL);
    return code == TARN_OK ? TARN_FOREIGN_WRITE : tarn_fail(err, code, "a foreign write could not be noted");
}

/* Why the table is blocked, as an error. */
static tarn_code blocked(const struct tarn_publish_run *run, struct tarn_err *err)
{
    static const struct {
        enum tarn_block block;
        tarn_code code;
    } k_blocks[] = {
        { TARN_BLOCK_FOREIGN_WRITE, TARN_FOREIGN_WRITE },
        { TARN_BLOCK_ADOPTION, TARN_ADOPTION_CONFLICT },
        { TARN_BLOCK_STORAGE_AHEAD, TARN_STORAGE_AHEAD },
    };
    for (size_t i = 0; run->table && i < TARN_COUNT(k_blocks); i++) {
        if (run->table->block == k_blocks[i].block)
            return tarn_fail(err, k_blocks[i].code, "publication of the table is stopped until a repair");
    }
    return TARN_OK;
}

tarn_code tarn_publish_table(struct tarn_lake *lake, int64_t table_id, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_publish_run_done))) struct tarn_publish_run run = {
        .lake = lake, .table_id = table_id, .last_step = TARN_STEP_RECORD
    };
    for (;;) {
        TARN_ERR(fault);
        tarn_code code = tarn_publish_run(&run, &fault);
        if (code != TARN_OK && code != TARN_RECHECK)
            return tarn_err_move(err, &fault);
        if (code == TARN_OK && run.is_off)
            return blocked(&run, err);
        if (code == TARN_OK && run.side.code != TARN_OK)
            return tarn_err_move(err, &run.side);
        if (code == TARN_OK && !run.wants_version && !run.wants_schema && !run.wants_batches)
            return TARN_OK;
    }
}
