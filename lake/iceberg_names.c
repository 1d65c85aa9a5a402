/* iceberg_names.c - drops and renames of Iceberg tables: rows alone, no file moves. */
#include "lake/iceberg_names.h"
#include "base/text.h"
#include "base/time.h"
#include "lake/event.h"
#include "lake/sweep.h"
#include <string.h>

static tarn_code no_matter(void *ctx, const struct tarn_namespace *namespace_, struct tarn_err *err)
{
    (void)ctx;
    (void)namespace_;
    (void)err;
    return TARN_OK;
}

tarn_code tarn_namespace_row(struct tarn_tx *tx, const char *name, struct tarn_err *err)
{
    return tx->ops->namespaces.get(tx, name, no_matter, NULL, err);
}

struct below { char inside[TARN_NAMESPACE_MAX + 2]; bool found; int64_t created_at; };

static tarn_code see_below(void *ctx, const struct tarn_namespace *namespace_, struct tarn_err *err)
{
    struct below *below = ctx;

    (void)err;
    below->found = strncmp(namespace_->name, below->inside, strlen(below->inside)) == 0;
    below->created_at = namespace_->created_at;
    return TARN_OK;
}

/* One that has no row is as old as the first namespace inside, and says nothing. */
static tarn_code give_blank(const struct below *below, const char *name, tarn_namespace_fn *fn, void *ctx, struct tarn_err *err)
{
    char text[TARN_NAMESPACE_MAX + 1], nothing[] = "{}";
    const struct tarn_namespace blank = { .name = text, .created_at = below->created_at, .properties = nothing, .monitors = nothing,
                                          .history_retention_ms = -1 };

    (void)snprintf(text, sizeof text, "%s", name);
    return fn(ctx, &blank, err);
}

tarn_code tarn_namespace_get(struct tarn_tx *tx, const char *name, tarn_namespace_fn *fn, void *ctx, struct tarn_err *err)
{
    struct below below = { .found = false };
    TARN_ERR(fault);
    tarn_code code = tx->ops->namespaces.get(tx, name, fn, ctx, &fault);

    if (code == TARN_NAMESPACE_NOT_FOUND) {
        (void)snprintf(below.inside, sizeof below.inside, "%s.", name);
        code = tx->ops->namespaces.list(tx, below.inside, 1, see_below, &below, err);
        if (code != TARN_OK || below.found)
            return code == TARN_OK ? give_blank(&below, name, fn, ctx, err) : code;
    }
    return fault.code == TARN_OK ? TARN_OK : tarn_err_move(err, &fault);
}

tarn_code tarn_namespace_check(struct tarn_tx *tx, const char *name, struct tarn_err *err)
{
    return tarn_namespace_get(tx, name, no_matter, NULL, err);
}

tarn_code tarn_namespace_ensure(struct tarn_tx *tx, const char *name, struct tarn_err *err)
{
    char text[TARN_NAMESPACE_MAX + 1], nothing[] = "{}";
    const struct tarn_namespace row = { .name = text, .created_at = tarn_now_ms(), .properties = nothing, .monitors = nothing,
                                        .history_retention_ms = -1 };
    TARN_ERR(fault);
    tarn_code code = tarn_namespace_row(tx, name, &fault);

    if (code != TARN_NAMESPACE_NOT_FOUND)
        return code == TARN_OK ? TARN_OK : tarn_err_move(err, &fault);
    code = tarn_namespace_check(tx, name, err);
    (void)snprintf(text, sizeof text, "%s", name);
    return code == TARN_OK ? tx->ops->namespaces.insert(tx, &row, err) : code;
}

/* --- drop --- */


static tarn_code keep_metadata(void *ctx, const char *text, size_t len, struct tarn_err *err)
{
    struct tarn_purge *purge = ctx;

    purge->metadata = strndup(text, len);
    return purge->metadata ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code note_purge(struct tarn_tx *tx, const struct tarn_table *table, int64_t now, struct tarn_err *err)
{
    char dotted[TARN_DOTTED_MAX];
    struct tarn_purge purge = { .name = dotted, .location = table->location, .metadata_location = table->metadata_location,
                                .created_at = now, .due_at = now };

    tarn_ident_format(table->namespace_, table->name, dotted);
    tarn_code code = tx->ops->iceberg.get(tx, table->id, false, keep_metadata, &purge, err);
    if (code == TARN_OK)
        code = tx->ops->purges.add(tx, &purge, err);
    free(purge.metadata);
    return code;
}

static tarn_code drop_change(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct tarn_iceberg_drop_use *use = ctx;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    tarn_code code = tarn_iceberg_find(tx, &use->ident, &table, err);

    if (code != TARN_OK)
        return code;
    if (table->protected_)
        return tarn_fail(err, TARN_TABLE_PROTECTED, "the table is protected");
    table->dropped_at = use->now_ms ? use->now_ms : tarn_now_ms();
    if (use->purge)
        code = note_purge(tx, table, table->dropped_at, err);
    if (code == TARN_OK)
        code = tx->ops->tables.update(tx, table, err);
    if (code == TARN_OK)
        code = tarn_event_add(tx, TARN_EVENT_DROPPED, table, table->dropped_at,
                              json_pack("{s:s, s:I}", "uuid", table->uuid, "version", (json_int_t)table->version), err);
    return code == TARN_OK && use->purge ? tx->ops->tables.give_way(tx, table->uuid, err) : code;
}

static bool drop_needs_after(const void *state) { return ((const struct tarn_iceberg_drop_use *)state)->purge; }

static tarn_code drop_after(struct tarn_lake *lake, void *state, struct tarn_err *err)
{
    (void)state;
    (void)err;
    if (lake->sweeper)
        tarn_sweeper_nudge(lake->sweeper);
    return TARN_OK;
}

const struct tarn_use tarn_iceberg_drop = { .name = "iceberg drop",
                                            .size = sizeof(struct tarn_iceberg_drop_use),
                                            .change = drop_change,
                                            .needs_after = drop_needs_after,
                                            .after = drop_after };

/* --- rename --- */

static tarn_code rename_change(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct tarn_iceberg_rename_use *use = ctx;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    char from[TARN_DOTTED_MAX];
    tarn_code code = tarn_iceberg_find(tx, &use->from, &table, err);

    if (code == TARN_OK)
        code = tarn_namespace_ensure(tx, use->to.namespace_, err);
    if (code == TARN_OK)
        code = tarn_name_free(tx, use->to.namespace_, use->to.name, err);
    if (code == TARN_OK)
        code = tarn_text_own(&table->namespace_, strdup(use->to.namespace_), err);
    if (code == TARN_OK)
        code = tarn_text_own(&table->name, strdup(use->to.name), err);
    if (code == TARN_OK)
        code = tx->ops->tables.update(tx, table, err);
    if (code != TARN_OK)
        return code;
    tarn_ident_format(use->from.namespace_, use->from.name, from);
    return tarn_event_add(tx, TARN_EVENT_RENAMED, table, use->now_ms ? use->now_ms : tarn_now_ms(),
                          json_pack("{s:s}", "from", from), err);
}

const struct tarn_use tarn_iceberg_rename = { .name = "iceberg rename",
                                              .size = sizeof(struct tarn_iceberg_rename_use),
                                              .change = rename_change };
