/* recover.c - the steps of the cure: all of it on a worker, in the table's turn. */
#include "lake/recover.h"
#include "lake/commit.h"
#include "lake/look.h"
#include "lake/publish.h"
#include "lake/publish_run.h"

/* The start from a restored backup takes back the commits of Iceberg
 * tables; what is left is no other call's but register's. */
static tarn_code owned_check(const struct tarn_table *table, struct tarn_err *err)
{
    if (table->format == TARN_FORMAT_ICEBERG && table->mode == TARN_MANAGED)
        return tarn_fail(err, TARN_TABLE_NOT_MANAGED,
                         "the table's commits come through the Iceberg REST catalog, and so does its newest metadata file: "
                         "POST /iceberg/v1/namespaces/{namespace}/register with \"overwrite\": true");
    return tarn_managed_check(table, err);
}

static tarn_code find_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_recover_use *use = ctx;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    tarn_code code = tx->ops->tables.get(tx, use->ident.namespace_, use->ident.name, &table, err);

    if (code == TARN_OK)
        code = owned_check(table, err);
    if (code == TARN_OK)
        use->table_id = table->id;
    return code;
}

static bool needs_check(const struct tarn_lake *lake, const void *state)
{
    (void)lake;
    return !((const struct tarn_recover_use *)state)->is_done;
}

static tarn_code retake(struct tarn_recover_use *use, struct tarn_err *err)
{
    struct tarn_retaking *r = &use->retaking;

    *r = (struct tarn_retaking){ .lake = use->lake,
                                 .table_id = use->table_id,
                                 .dry_run = !use->runs,
                                 .with_gaps = true,
                                 .is_thorough = true };
    tarn_code code = tarn_retake_run(r, err);
    use->made = r->changed && r->table && r->table->version > r->version;
    if (code == TARN_OK && use->runs && !r->plan.is_clean && r->plan.count == 0)
        return tarn_fail(err, TARN_STORAGE_AHEAD, "nothing can be taken back: %s", r->plan.why);
    return code;
}

static tarn_code check(struct tarn_lake *lake, void *state, struct tarn_err *err)
{
    struct tarn_recover_use *use = state;
    tarn_code code = tarn_store_read(lake->store, find_tx, use, err);
    struct tarn_publish_turn turn = { lake, use->table_id, NULL };

    if (code != TARN_OK)
        return code;
    tarn_publish_turn_begin(&turn);
    code = retake(use, err);
    tarn_publish_turn_end(&turn);
    use->is_done = code == TARN_OK;
    if (code == TARN_OK && use->runs) {
        tarn_looked_set(lake->looked, use->table_id, true);
        if (lake->publisher)
            tarn_publisher_nudge(lake->publisher, use->table_id);
    }
    return code;
}

/* The table as it is for the answer. */
static tarn_code change(struct tarn_tx *tx, void *state, struct tarn_err *err)
{
    struct tarn_recover_use *use = state;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    tarn_code code = tx->ops->tables.get_by_id(tx, use->table_id, &table, err);

    if (code != TARN_OK)
        return code;
    tarn_table_free(use->retaking.table);
    use->retaking.table = tarn_take(&table);
    return TARN_OK;
}

static void done(void *state) { tarn_retaking_done(&((struct tarn_recover_use *)state)->retaking); }

const struct tarn_use tarn_recover = {
    .name = "recover",
    .size = sizeof(struct tarn_recover_use),
    .needs_check = needs_check,
    .check = check,
    .is_slow = true,
    .change = change,
    .done = done,
};
