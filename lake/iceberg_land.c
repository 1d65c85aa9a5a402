/* iceberg_land.c - one table's change takes effect: compare-and-swap of the row, with the pointer, the kept document and the history. */
#include "base/text.h"
#include "base/time.h"
#include "lake/event.h"
#include "lake/iceberg.h"
#include "lake/iceberg_history.h"
#include "lake/iceberg_names.h"
#include "lake/register.h"
#include <string.h>

int64_t tarn_iceberg_now(const struct tarn_iceberg_work *work) { return work->now_ms ? work->now_ms : tarn_now_ms(); }

static tarn_code insert_commit(struct tarn_tx *tx, struct tarn_iceberg_work *work, struct tarn_err *err)
{
    const struct tarn_table *table = work->table;
    char transaction[TARN_TXN_ID_MAX + 1];
    struct tarn_commit_row row = { .transaction = transaction };
    tarn_code code = tarn_iceberg_commit_row(tx, table, work->meta, work->base_snapshot, &row, err);

    if (code == TARN_OK)
        code = tx->ops->commits.insert(tx, table->id, &row, err);
    return code == TARN_OK ? tarn_event_committed(tx, table, &row, err) : code;
}

static tarn_code put_documents(struct tarn_tx *tx, const struct tarn_iceberg_work *work, struct tarn_err *err)
{
    return tx->ops->iceberg.put(tx, work->table->id, work->metadata.data, work->refs.len > 0 ? work->refs.data : NULL, err);
}

/* The row of the table as it was read; when it is another by now, the work is done again. */
static tarn_code find_base(struct tarn_tx *tx, const struct tarn_iceberg_work *work, struct tarn_table **out, struct tarn_err *err)
{
    TARN_AUTO(table) struct tarn_table *table = NULL;
    TARN_ERR(fault);
    tarn_code code = tarn_iceberg_find(tx, &work->ident, &table, &fault);

    if (code == TARN_TABLE_NOT_FOUND || (code == TARN_OK && (table->id != work->table->id ||
                                                             strcmp(table->metadata_location, work->base_file) != 0)))
        return tarn_fail(err, TARN_RECHECK, "the table changed since it was read");
    *out = tarn_take(&table);
    return code == TARN_OK ? TARN_OK : tarn_err_move(err, &fault);
}

/* A table that was dropped and could be restored gives its place away; a live one does not. */
static tarn_code judge_place(struct tarn_tx *tx, struct tarn_lake *lake, const struct tarn_table *table,
                             struct tarn_err *err)
{
    TARN_AUTO(table) struct tarn_table *owner = NULL;
    tarn_code code = tarn_location_owner(tx, lake, table->location, true, table->id, tarn_now_ms(), &owner, err);

    if (code != TARN_OK || !owner || owner->dropped_at >= 0)
        return code;
    return tarn_location_taken(owner, table->location, err);
}

/* The row goes by the uuid of its document: a commit may assign another, or a file that has one takes the place of what was. */
static tarn_code take_uuid(struct tarn_tx *tx, struct tarn_table *table, const struct tarn_iceberg_meta *meta, struct tarn_err *err)
{
    if (!meta->uuid || strlen(meta->uuid) >= sizeof table->uuid || strcmp(meta->uuid, table->uuid) == 0)
        return TARN_OK;
    tarn_code code = tx->ops->tables.take_uuid(tx, table->id, meta->uuid, err);
    if (code == TARN_OK)
        snprintf(table->uuid, sizeof table->uuid, "%s", meta->uuid);
    return code;
}

/* The next version of the row: what the document says. `is_owned`: its place is the table's alone as long as it does not move. */
static tarn_code next_row(struct tarn_tx *tx, struct tarn_lake *lake, const struct tarn_iceberg_work *work, struct tarn_table *table,
                          bool is_owned, struct tarn_err *err)
{
    TARN_AUTO(mem) char *before = strdup(table->location);
    tarn_code code = before ? tarn_iceberg_row(table, work->meta, work->metadata_location, err) : tarn_fail_oom(err);

    if (code == TARN_OK && !(is_owned && strcmp(before, table->location) == 0))
        code = judge_place(tx, lake, table, err);
    if (code == TARN_OK)
        code = take_uuid(tx, table, work->meta, err);
    if (code != TARN_OK)
        return code;
    int64_t now = tarn_iceberg_now(work);
    table->version++;
    table->published_version = table->version;
    table->committed_at = now > table->committed_at ? now : table->committed_at;
    code = tx->ops->tables.update(tx, table, err);
    table->revision++; /* as the store bumped it */
    return code;
}

/* Takes `row` over: it is the work's from then on. */
static tarn_code put_version(struct tarn_tx *tx, struct tarn_iceberg_work *work, struct tarn_table *row, struct tarn_err *err)
{
    tarn_table_free(work->table);
    work->table = row;
    tarn_code code = put_documents(tx, work, err);
    return code == TARN_OK ? insert_commit(tx, work, err) : code;
}

static tarn_code land_commit(struct tarn_tx *tx, struct tarn_lake *lake, struct tarn_iceberg_work *work,
                             struct tarn_err *err)
{
    TARN_AUTO(table) struct tarn_table *table = NULL;
    tarn_code code = find_base(tx, work, &table, err);

    if (code == TARN_OK)
        code = next_row(tx, lake, work, table, true, err);
    return code == TARN_OK ? put_version(tx, work, tarn_take(&table), err) : code;
}

static tarn_code tell_managed(struct tarn_tx *tx, const struct tarn_iceberg_work *work, const struct tarn_table *table, struct tarn_err *err)
{
    tarn_code code = tarn_event_add(tx, TARN_EVENT_UPDATED, table, tarn_iceberg_now(work), json_pack("{s:[s]}", "members", "mode"), err);

    return code == TARN_OK ? tx->ops->monitors.hurry(tx, table->id, err) : code; /* what was judged was another's table */
}

tarn_code tarn_iceberg_take_over(struct tarn_tx *tx, struct tarn_lake *lake, struct tarn_iceberg_work *work, struct tarn_table *row,
                                 struct tarn_err *err)
{
    TARN_AUTO(table) struct tarn_table *table = row;

    /* No member of an Iceberg table: an observed one may have been given them. */
    table->publish = table->enforcement_given = table->verify_given = false;
    table->enforcement = TARN_ENFORCE_OFF;
    table->verify = TARN_VERIFY_OFF;
    work->creates = false;
    work->base_snapshot = TARN_ICEBERG_NONE;
    tarn_code code = next_row(tx, lake, work, table, false, err);
    if (code == TARN_OK) /* its schemas stand in the document */
        code = tx->ops->schemas.clear(tx, table->id, err);
    if (code == TARN_OK)
        code = tell_managed(tx, work, table, err);
    return code == TARN_OK ? put_version(tx, work, tarn_take(&table), err) : code;
}

static tarn_code new_row(struct tarn_iceberg_work *work, struct tarn_table **out, struct tarn_err *err)
{
    TARN_AUTO(table) struct tarn_table *table = NULL;
    tarn_code code = tarn_iceberg_blank_row(&work->ident, &table, err);

    if (code != TARN_OK)
        return code;
    table->created_at = table->committed_at = tarn_iceberg_now(work);
    table->version = table->published_version = work->meta->current_snapshot_id == TARN_ICEBERG_NONE ? 0 : 1;
    code = tarn_iceberg_row(table, work->meta, work->metadata_location, err);
    if (code == TARN_OK && (!work->meta->uuid || strlen(work->meta->uuid) >= sizeof table->uuid))
        code = tarn_fail_field(err, "table-uuid", "the table needs a uuid");
    if (code != TARN_OK)
        return code;
    snprintf(table->uuid, sizeof table->uuid, "%s", work->meta->uuid);
    *out = tarn_take(&table);
    return TARN_OK;
}

static tarn_code tell_registered(struct tarn_tx *tx, const struct tarn_table *table, struct tarn_err *err)
{
    return tarn_event_add(tx, TARN_EVENT_REGISTERED, table, table->created_at,
                          json_pack("{s:s, s:s, s:s, s:I}", "uuid", table->uuid, "format", "iceberg", "mode", "managed",
                                    "version", (json_int_t)table->version),
                          err);
}

static tarn_code land_create(struct tarn_tx *tx, struct tarn_lake *lake, struct tarn_iceberg_work *work,
                             struct tarn_err *err)
{
    TARN_AUTO(table) struct tarn_table *table = NULL;
    TARN_ERR(fault);
    tarn_code code = tarn_namespace_ensure(tx, work->ident.namespace_, err);

    if (code == TARN_OK)
        code = tarn_name_free(tx, work->ident.namespace_, work->ident.name, &fault);
    if (code == TARN_TABLE_EXISTS)
        return tarn_fail(err, TARN_VERSION_CONFLICT, "Requirement failed: table already exists");
    if (fault.code != TARN_OK)
        return tarn_err_move(err, &fault);
    if (code == TARN_OK)
        code = new_row(work, &table, err);
    if (code == TARN_OK)
        code = judge_place(tx, lake, table, err);
    if (code == TARN_OK)
        code = tx->ops->tables.give_way(tx, table->uuid, err);
    if (code == TARN_OK)
        code = tx->ops->tables.reserve_id(tx, &table->id, err);
    if (code == TARN_OK)
        code = tx->ops->tables.insert(tx, table, err);
    if (code != TARN_OK)
        return code;
    tarn_table_free(work->table);
    work->table = tarn_take(&table);
    code = put_documents(tx, work, err);
    if (code == TARN_OK)
        code = tell_registered(tx, work->table, err);
    return code == TARN_OK && work->table->version > 0 ? insert_commit(tx, work, err) : code;
}

tarn_code tarn_iceberg_land(struct tarn_tx *tx, struct tarn_lake *lake, struct tarn_iceberg_work *work, struct tarn_err *err)
{
    TARN_AUTO(table) struct tarn_table *same = NULL;

    if (work->is_same) /* what was required of it must hold beside the changes of other tables */
        return find_base(tx, work, &same, err);
    return work->creates ? land_create(tx, lake, work, err) : land_commit(tx, lake, work, err);
}
