/* commit_large.c - a commit of more rows than one transaction
 * may write: the lease, the steps, and the way back. */
#include "lake/commit.h"
#include "lake/lease.h"
#include "lake/sweep.h"

/* --- the lease --- */

/* The table must be what the check saw; from here on it stays so. */
static tarn_code lease_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_commit_use *use = ctx;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    tarn_code code = tx->ops->tables.get(tx, use->ident.namespace_, use->ident.name, &table, err);

    use->lease.held = false;
    if (code == TARN_OK)
        code = tarn_commit_find_replay(tx, use, table, err);
    if (code != TARN_OK || use->replayed)
        return code;
    if (table->id != use->lease.table_id)
        return tarn_fail(err, TARN_OVERLOADED, "another table has this name now: try again");
    code = tarn_commit_judge_all(tx, use, table, err);
    if (code != TARN_OK)
        return code;
    use->lease.version = table->version + 1;
    use->lease.held = true;
    return tx->ops->tables.stage(tx, table->id, use->lease.version, err);
}

static tarn_code take_lease(struct tarn_commit_use *use, const struct tarn_table *table, struct tarn_err *err)
{
    use->lease = (struct tarn_commit_lease){ .table_id = table->id };
    if (!tarn_lease_claim(use->lake->leases, table->id)) {
        use->lease.table_id = 0;
        return tarn_fail(err, TARN_OVERLOADED, "a large commit to the table is under way: try again");
    }
    return tarn_store_write(use->lake->store, lease_tx, use, err);
}

void tarn_commit_let_go(struct tarn_commit_use *use)
{
    if (use->lease.table_id == 0)
        return;
    tarn_lease_release(use->lake->leases, use->lease.table_id);
    if (use->lake->sweeper)
        tarn_sweeper_nudge(use->lake->sweeper);
    use->lease = (struct tarn_commit_lease){ 0 };
}

tarn_code tarn_commit_unstage(struct tarn_commit_use *use, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    if (use->lease.table_id != 0)
        code = tarn_lease_undo(use->lake, use->lease.table_id, err);
    tarn_commit_let_go(use);
    return code;
}

/* --- the steps --- */

struct stage {
    struct tarn_commit_use *use;
    const struct tarn_table *table;
    tarn_commit_step_fn *step;
    struct tarn_pace pace;
    struct tarn_commit_lease before; /* as it was before this step, which may run twice */
};

static tarn_code step_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct stage *s = ctx;
    int64_t rows = tarn_pace_rows(&s->pace);

    s->use->lease = s->before;
    tarn_pace_begin(&s->pace);
    tarn_code code = s->step(tx, s->use, s->table, rows, err);
    tarn_pace_end(&s->pace, rows);
    return code;
}

static tarn_code run_steps(struct stage *s, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    while (code == TARN_OK && !s->use->lease.is_whole) {
        s->before = s->use->lease;
        code = tarn_lake_goes_on(s->use->lake, err);
        if (code == TARN_OK)
            code = tarn_store_write(s->use->lake->store, step_tx, s, err);
        tarn_pace_rest(&s->pace);
    }
    return code;
}

tarn_code tarn_commit_stage(struct tarn_commit_use *use, const struct tarn_table *table,
                            tarn_commit_step_fn *step, struct tarn_err *err)
{
    struct stage s = { .use = use, .table = table, .step = step };
    TARN_ERR(fault);
    tarn_code code = take_lease(use, table, &fault);

    if (code == TARN_OK && use->lease.held)
        code = run_steps(&s, &fault);
    if (code == TARN_OK)
        return TARN_OK;
    TARN_ERR(ignored); /* what is left then is the sweeper's */
    tarn_code undone = tarn_commit_unstage(use, &ignored);
    (void)undone;
    return tarn_err_move(err, &fault);
}

/* --- the operations of a commit: all removes, then all adds --- */

enum { REMOVES, ADDS, OVER };

static tarn_code ops_step(struct tarn_tx *tx, struct tarn_commit_use *use, const struct tarn_table *table,
                          int64_t rows, struct tarn_err *err)
{
    struct tarn_commit_lease *lease = &use->lease;
    struct tarn_commit_row sum = { .version = lease->version, .bytes_added = lease->bytes_added };
    size_t left = use->op_count - lease->at;
    size_t to = lease->at + ((size_t)rows < left ? (size_t)rows : left);

    tarn_code code = tarn_commit_files(tx, use, table, lease->phase == ADDS, lease->at, to, &sum, err);
    if (code != TARN_OK)
        return code;
    lease->files_added += sum.files_added;
    lease->files_removed += sum.files_removed;
    lease->bytes_added = sum.bytes_added;
    lease->bytes_removed += sum.bytes_removed;
    lease->at = to < use->op_count ? to : 0;
    lease->phase += to == use->op_count;
    lease->is_whole = lease->phase == OVER;
    return TARN_OK;
}

tarn_code tarn_commit_stage_ops(struct tarn_commit_use *use, const struct tarn_table *table,
                                struct tarn_err *err)
{
    return tarn_commit_stage(use, table, ops_step, err);
}
