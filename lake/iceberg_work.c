/* iceberg_work.c - one table's change: judged against the newest metadata, built, written, and landed by compare-and-swap of
 * the row. */
#include "base/hash.h"
#include "base/text.h"
#include "base/time.h"
#include "lake/event.h"
#include "lake/iceberg.h"
#include "lake/iceberg_bases.h"
#include "lake/iceberg_history.h"
#include "lake/iceberg_names.h"
#include "lake/iceberg_place.h"
#include "lake/register.h"
#include <string.h>

static int64_t now_of(const struct tarn_iceberg_work *work) { return work->now_ms ? work->now_ms : tarn_now_ms(); }

static void forget(struct tarn_iceberg_work *work)
{
    tarn_table_free(tarn_take(&work->table));
    free(tarn_take(&work->metadata_location));
    free(tarn_take(&work->base_file));
    tarn_iceberg_free(tarn_take(&work->meta));
    tarn_buf_clear(&work->metadata);
    tarn_buf_clear(&work->refs);
    tarn_buf_clear(&work->gone);
    work->is_same = work->is_changed = work->is_written = work->is_landed = false;
}

void tarn_iceberg_work_done(struct tarn_iceberg_work *work)
{
    forget(work);
    free(work->steps);
    tarn_buf_done(&work->metadata);
    tarn_buf_done(&work->refs);
    tarn_buf_done(&work->gone);
}

/* --- the base --- */

struct base {
    struct tarn_lake *lake;
    struct tarn_iceberg_work *work;
};

static tarn_code parse_base(void *ctx, const char *text, size_t len, struct tarn_err *err)
{
    struct tarn_iceberg_work *work = ctx;
    tarn_code code = tarn_iceberg_parse(text, len, &work->meta, err);

    if (code == TARN_OK)
        work->base_bytes = tarn_iceberg_weight(work->meta, len);
    return code;
}

static tarn_code base_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct base *base = ctx;
    struct tarn_iceberg_work *work = base->work;
    TARN_ERR(fault);

    forget(work);
    tarn_code code = tarn_iceberg_find(tx, &work->ident, &work->table, &fault);
    if (code == TARN_TABLE_NOT_FOUND && work->creates)
        return tarn_name_free(tx, work->ident.namespace_, work->ident.name, err);
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    code = tarn_text_own(&work->base_file, strdup(work->table->metadata_location), err);
    if (code == TARN_OK)
        work->meta = tarn_iceberg_bases_take(base->lake->bases, work->table->id, work->table->revision, &work->base_bytes);
    return code != TARN_OK || work->meta ? code : tx->ops->iceberg.get(tx, work->table->id, false, parse_base, work, err);
}

/* Whether the steps begin with a create decides what is read. */
static bool wants_create(const struct tarn_iceberg_work *work)
{
    for (size_t i = 0; i < work->step_count; i++) {
        const json_t *list = work->steps[i].requirements;
        for (size_t j = 0; j < json_array_size(list); j++) {
            const char *type = json_string_value(json_object_get(json_array_get(list, j), "type"));
            if (type && strcasecmp(type, "assert-create") == 0)
                return true;
        }
    }
    return false;
}

static tarn_code read_base(struct tarn_lake *lake, struct tarn_iceberg_work *work, struct tarn_err *err)
{
    struct base base = { lake, work };
    TARN_ERR(fault);

    work->creates = wants_create(work);
    tarn_code code = tarn_store_read(lake->store, base_tx, &base, &fault);
    if (code == TARN_TABLE_EXISTS && work->creates) /* of another format: to this face it exists all the same */
        return tarn_fail(err, TARN_VERSION_CONFLICT, "Requirement failed: table already exists");
    return code == TARN_OK ? TARN_OK : tarn_err_move(err, &fault);
}

/* --- building --- */

static tarn_code apply_step(struct tarn_iceberg_work *work, const struct tarn_iceberg_step *step, bool *changed,
                            struct tarn_err *err)
{
    const struct tarn_iceberg_change change = { now_of(work), work->base_file };
    bool creates = false;
    tarn_code code = tarn_iceberg_require(work->meta, step->requirements, &creates, err);

    if (code == TARN_OK && !work->meta)
        code = creates ? tarn_iceberg_empty(step->updates, &work->meta, err)
                       : tarn_fail(err, TARN_TABLE_NOT_FOUND, "the table does not exist");
    if (code != TARN_OK)
        return code;
    work->is_changed = true;
    return tarn_iceberg_update(work->meta, step->updates, &change, changed, err);
}

/* Who lost a race leaves the base as it was to the next one. */
static void give_base_back(struct tarn_lake *lake, struct tarn_iceberg_work *work)
{
    if (work->table && work->meta && !work->is_changed)
        tarn_iceberg_bases_give(lake->bases, work->table->id, work->table->revision, work->base_bytes, tarn_take(&work->meta));
}

/* What the log names now may have left it afterwards. */
static tarn_code note_files(struct tarn_iceberg_work *work, struct tarn_err *err)
{
    for (size_t i = 0; work->meta && i < work->meta->metadata_log.count; i++)
        tarn_buf_add(&work->gone, work->meta->metadata_log.items[i].file, strlen(work->meta->metadata_log.items[i].file) + 1);
    return tarn_buf_check(&work->gone, err);
}

static tarn_code apply_steps(struct tarn_iceberg_work *work, struct tarn_err *err)
{
    bool any = false, changed = false;
    tarn_code code = note_files(work, err);

    work->base_snapshot = work->meta ? work->meta->current_snapshot_id : TARN_ICEBERG_NONE;
    for (size_t i = 0; i < work->step_count && code == TARN_OK; i++) {
        code = apply_step(work, &work->steps[i], &changed, err);
        any = any || changed;
    }
    work->is_same = !any && !work->creates;
    return code;
}

static tarn_code name_file(struct tarn_iceberg_work *work, struct tarn_err *err)
{
    char uuid[TARN_UUID_TEXT];
    tarn_code code = tarn_uuid(uuid, err);

    return code == TARN_OK ? tarn_iceberg_file_name(work->meta, work->base_file, uuid, &work->metadata_location, err) : code;
}

static tarn_code write_file(struct tarn_lake *lake, struct tarn_iceberg_work *work, struct tarn_err *err)
{
    tarn_code code = work->base_file ? tarn_iceberg_file_check_root(lake, work->base_file, err) : TARN_OK;

    if (code == TARN_OK)
        code = tarn_iceberg_file_write(lake, work->metadata_location, &work->metadata, err);
    work->is_written = code == TARN_OK;
    return code;
}

tarn_code tarn_iceberg_prepare(struct tarn_lake *lake, struct tarn_iceberg_work *work, struct tarn_err *err)
{
    if (work->is_written)
        tarn_iceberg_file_remove(lake, work->metadata_location);
    work->is_written = false;
    work->attempts++;
    tarn_code code = read_base(lake, work, err);
    if (code == TARN_OK)
        code = tarn_iceberg_judged(apply_steps(work, err), err);
    if (code != TARN_OK)
        give_base_back(lake, work);
    if (code == TARN_OK)
        code = tarn_iceberg_write_forms(work->meta, &work->metadata, &work->refs, err);
    if (code == TARN_OK && work->is_same)
        return tarn_text_own(&work->metadata_location, strdup(work->base_file), err);
    if (code == TARN_OK)
        code = tarn_iceberg_allowed(lake, work->meta->location, &work->who, err);
    if (code == TARN_OK)
        code = name_file(work, err);
    if (code == TARN_OK)
        code = tarn_iceberg_check_paths(lake, work->meta, work->metadata_location, &work->who, work->table ? work->table->id : 0,
                                        work->table ? work->table->properties : NULL, err);
    return code == TARN_OK ? write_file(lake, work, err) : code;
}

/* --- landing --- */

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

static tarn_code land_commit(struct tarn_tx *tx, struct tarn_lake *lake, struct tarn_iceberg_work *work,
                             struct tarn_err *err)
{
    TARN_AUTO(table) struct tarn_table *table = NULL;
    tarn_code code = find_base(tx, work, &table, err);

    if (code != TARN_OK)
        return code;
    bool moves = false;
    TARN_AUTO(mem) char *before = strdup(table->location);
    code = before ? tarn_iceberg_row(table, work->meta, work->metadata_location, err) : tarn_fail_oom(err);
    moves = code == TARN_OK && strcmp(before, table->location) != 0;
    if (moves)
        code = judge_place(tx, lake, table, err);
    if (code == TARN_OK)
        code = take_uuid(tx, table, work->meta, err);
    if (code != TARN_OK)
        return code;
    int64_t now = now_of(work);
    table->version++;
    table->published_version = table->version;
    table->committed_at = now > table->committed_at ? now : table->committed_at;
    code = tx->ops->tables.update(tx, table, err);
    table->revision++; /* as the store bumped it */
    tarn_table_free(work->table);
    work->table = tarn_take(&table);
    if (code == TARN_OK)
        code = put_documents(tx, work, err);
    return code == TARN_OK ? insert_commit(tx, work, err) : code;
}

static tarn_code new_row(struct tarn_iceberg_work *work, struct tarn_table **out, struct tarn_err *err)
{
    TARN_AUTO(table) struct tarn_table *table = NULL;
    tarn_code code = tarn_iceberg_blank_row(&work->ident, &table, err);

    if (code != TARN_OK)
        return code;
    table->created_at = table->committed_at = now_of(work);
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

/* --- afterwards --- */

static bool is_in_log(const struct tarn_iceberg_meta *meta, const char *file)
{
    for (size_t i = 0; i < meta->metadata_log.count; i++)
        if (strcmp(meta->metadata_log.items[i].file, file) == 0)
            return true;
    return false;
}

static bool has_gone(const struct tarn_iceberg_work *work)
{
    const char *wanted = tarn_iceberg_property(work->meta, "write.metadata.delete-after-commit.enabled");

    return work->gone.len > 0 && wanted && strcasecmp(wanted, "true") == 0;
}

/* For the next commit. */
static void keep_base(struct tarn_lake *lake, struct tarn_iceberg_work *work)
{
    size_t bytes = tarn_iceberg_weight(work->meta, work->metadata.len);

    tarn_iceberg_bases_give(lake->bases, work->table->id, work->table->revision, bytes, tarn_take(&work->meta));
}

void tarn_iceberg_landed(struct tarn_lake *lake, struct tarn_iceberg_work *work)
{
    work->is_landed = true;
    if (!has_gone(work))
        keep_base(lake, work);
}

void tarn_iceberg_remove_gone(struct tarn_lake *lake, struct tarn_iceberg_work *work)
{
    for (size_t at = 0; work->meta && at < work->gone.len; at += strlen(work->gone.data + at) + 1)
        if (!is_in_log(work->meta, work->gone.data + at) &&
            tarn_iceberg_owns_file(lake, work->meta, work->table->id, work->gone.data + at))
            tarn_iceberg_file_remove(lake, work->gone.data + at);
    if (work->meta)
        keep_base(lake, work);
}

void tarn_iceberg_withdraw(struct tarn_lake *lake, struct tarn_iceberg_work *work, tarn_code code)
{
    if (work->is_written && !work->is_landed && code != TARN_COMMIT_STATE_UNKNOWN)
        tarn_iceberg_file_remove(lake, work->metadata_location);
    work->is_written = false;
}
