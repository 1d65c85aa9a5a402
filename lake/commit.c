/* commit.c - the steps of a commit. For a plain append there is one: a short transaction. Only the first
 * commit of a table since the start, and one that asks for verification, go by a worker before it. */
#include "lake/commit.h"
#include "lake/inherit.h"
#include "lake/look.h"

static bool needs_check(const struct tarn_lake *lake, const void *state)
{
    (void)lake;
    return ((const struct tarn_commit_use *)state)->must_check;
}

void tarn_commit_before_done(struct tarn_commit_before *before)
{
    tarn_table_free(before->table);
    tarn_schema_rows_done(&before->schemas);
    before->table = NULL;
}

static tarn_code before_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_commit_before *b = ctx;
    TARN_ERR(ignored); /* a refusal is told by the decision itself */

    tarn_commit_before_done(b);
    tarn_code code = tx->ops->tables.get(tx, b->use->ident.namespace_, b->use->ident.name, &b->table, err);
    if (code == TARN_OK)
        code = tarn_inherit_depth(tx, b->table, err);
    if (code == TARN_OK && tarn_commit_depth(b->use, b->table) == TARN_VERIFY_FOOTER)
        code = tarn_schema_rows_read(tx, b->table->id, &b->schemas, err);
    if (code != TARN_OK)
        return code;
    b->decided = tarn_commit_find_replay(tx, b->use, b->table, &ignored) != TARN_OK || b->use->replayed ||
                 tarn_managed_check(b->table, &ignored) != TARN_OK;
    return TARN_OK;
}

static tarn_code judge_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_commit_before *b = ctx;
    TARN_ERR(ignored);

    (void)err;
    b->decided = tarn_commit_judge_all(tx, b->use, b->table, &ignored) != TARN_OK;
    return TARN_OK;
}

tarn_code tarn_commit_look(struct tarn_lake *lake, struct tarn_commit_before *before, struct tarn_err *err)
{
    tarn_code code = tarn_store_read(lake->store, before_tx, before, err);

    if (code != TARN_OK || before->decided)
        return code;
    if (tarn_look_is_due(lake, before->table)) {
        code = tarn_look(lake, before->table, err);
        if (code != TARN_OK)
            return code;
        tarn_looked_set(lake->looked, before->table->id, true);
    }
    return tarn_store_read(lake->store, judge_tx, before, err);
}

static tarn_code check(struct tarn_lake *lake, void *state, struct tarn_err *err)
{
    struct tarn_commit_use *use = state;
    __attribute__((cleanup(tarn_commit_before_done))) struct tarn_commit_before b = { .use = use };
    tarn_code code = tarn_commit_unstage(use, err); /* of a check before this one */

    use->must_check = false;
    if (code == TARN_OK)
        code = tarn_commit_look(lake, &b, err);
    if (code != TARN_OK || b.decided)
        return code;
    enum tarn_verify depth = tarn_commit_depth(use, b.table);
    if (depth > TARN_VERIFY_OFF)
        code = tarn_commit_verify(use, b.table, &b.schemas, depth, err);
    if (code == TARN_OK)
        use->checked =
            (struct tarn_commit_checked){ b.table->id, b.table->schema_version, depth, b.table->enforcement };
    return code == TARN_OK && use->is_large ? tarn_commit_stage_ops(use, b.table, err) : code;
}

/* Has the check seen all that this row asks for? */
static bool is_checked(const struct tarn_commit_use *use, const struct tarn_table *table)
{
    enum tarn_verify depth = tarn_commit_depth(use, table);

    if (use->is_large && !tarn_commit_is_staged(use, table))
        return false;
    if (depth == TARN_VERIFY_OFF && !use->is_large)
        return true;
    return use->checked.table_id == table->id && use->checked.verify >= depth &&
           use->checked.schema_version == table->schema_version &&
           use->checked.enforcement == table->enforcement;
}

static tarn_code ask_check(struct tarn_commit_use *use, struct tarn_err *err)
{
    use->must_check = true;
    return tarn_fail(err, TARN_RECHECK, "storage is to be looked at first");
}

tarn_code tarn_commit_change(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_commit_use *use = ctx;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    tarn_code code = tx->ops->tables.get(tx, use->ident.namespace_, use->ident.name, &table, err);

    if (code == TARN_OK)
        code = tarn_commit_find_replay(tx, use, table, err);
    if (code == TARN_OK && !use->replayed)
        code = tarn_inherit_depth(tx, table, err);
    if (code != TARN_OK || use->replayed)
        return code;
    code = tarn_managed_check(table, err);
    if (code == TARN_OK && tarn_look_is_due(use->lake, table))
        return ask_check(use, err);
    if (code == TARN_OK)
        code = tarn_commit_judge_all(tx, use, table, err);
    if (code == TARN_OK && !is_checked(use, table))
        return ask_check(use, err);
    if (code == TARN_OK)
        code = tarn_commit_apply(tx, use, table, err);
    if (code != TARN_OK)
        return code;
    use->table_id = table->id;
    use->publishes = table->publish && use->lake->publisher;
    return TARN_OK;
}

static bool publishes(const void *state, int64_t *table_id, int64_t *version)
{
    const struct tarn_commit_use *use = state;

    if (use->replayed || !use->publishes)
        return false;
    *table_id = use->table_id;
    *version = use->row.version;
    return true;
}

static void published(void *state, bool done) { ((struct tarn_commit_use *)state)->published = done; }

void tarn_commit_done(void *state)
{
    struct tarn_commit_use *use = state;

    tarn_commit_let_go(use);
    for (size_t i = 0; i < use->op_count; i++) {
        free(use->ops[i].filled_values);
        free(use->ops[i].filled_stats);
    }
    free(use->ops);
    free(use->batches);
    free(use->batch_ids);
    tarn_buf_done(&use->texts);
    json_decref(use->warnings);
    json_decref(use->remarks);
}

const struct tarn_use tarn_commit = {
    .name = "commit",
    .size = sizeof(struct tarn_commit_use),
    .needs_check = needs_check,
    .check = check,
    .change = tarn_commit_change,
    .publishes = publishes,
    .published = published,
    .done = tarn_commit_done,
};
