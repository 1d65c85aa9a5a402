/* drop.c - a dropped table keeps its rows until retention ends, and its name is free at once. */
#include "lake/drop.h"
#include "base/time.h"
#include "lake/event.h"
#include "lake/inherit.h"
#include "lake/look.h"
#include "lake/register.h"
#include "lake/settings.h"

static tarn_code drop_change(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct tarn_drop_use *use = ctx;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    tarn_code code = tx->ops->tables.get(tx, use->ident.namespace_, use->ident.name, &table, err);

    if (code == TARN_OK)
        code = tarn_if_match(table, use->if_match, err);
    if (code != TARN_OK)
        return code;
    if (table->protected_)
        return tarn_fail(err, TARN_TABLE_PROTECTED,
                         "the table is protected: PATCH \"protected\": false first");
    table->dropped_at = use->now_ms ? use->now_ms : tarn_now_ms();
    code = tx->ops->tables.update(tx, table, err);
    if (code == TARN_OK)
        code = tarn_event_add(tx, TARN_EVENT_DROPPED, table, table->dropped_at,
                              json_pack("{s:s, s:I}", "uuid", table->uuid, "version",
                                        (json_int_t)table->version),
                              err);
    /* Who restores it may have restored its folder too. */
    if (code == TARN_OK)
        tarn_looked_set(use->lake->looked, table->id, false);
    return code;
}

const struct tarn_use tarn_drop = { .name = "drop",
                                    .size = sizeof(struct tarn_drop_use),
                                    .change = drop_change };

static tarn_code judge_restore(struct tarn_tx *tx, const struct tarn_restore_use *use,
                               const struct tarn_table *table, int64_t now, struct tarn_err *err)
{
    TARN_AUTO(table) struct tarn_table *owner = NULL;
    tarn_code code = tarn_location_owner(tx, use->lake, table->location, table->mode == TARN_MANAGED,
                                         table->id, now, &owner, err);

    if (code != TARN_OK || !owner)
        return code;
    return tarn_location_taken(owner, table->location, err);
}

static tarn_code restore_change(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_restore_use *use = ctx;
    int64_t now = use->now_ms ? use->now_ms : tarn_now_ms();

    tarn_table_free(use->table);
    use->table = NULL;
    tarn_code code =
        tx->ops->tables.get_dropped(tx, use->ident.namespace_, use->ident.name, use->uuid, &use->table, err);
    if (code == TARN_OK)
        code = judge_restore(tx, use, use->table, now, err);
    if (code != TARN_OK)
        return code;
    use->table->dropped_at = -1;
    code = tx->ops->tables.update(tx, use->table, err);
    if (code != TARN_OK)
        return code;
    use->table->revision++; /* as the store bumped it */
    code = tarn_event_add(tx, TARN_EVENT_RESTORED, use->table, now,
                          json_pack("{s:s, s:I}", "uuid", use->table->uuid, "version",
                                    (json_int_t)use->table->version),
                          err);
    return code == TARN_OK ? tarn_inherit_shown(tx, use->table, err) : code;
}

static void restore_done(void *state) { tarn_table_free(((struct tarn_restore_use *)state)->table); }

const struct tarn_use tarn_restore = {
    .name = "restore",
    .size = sizeof(struct tarn_restore_use),
    .change = restore_change,
    .done = restore_done,
};
