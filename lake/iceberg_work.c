/* iceberg_work.c - one table's change on its way: judged against the newest metadata, built, written; iceberg_land.c lets it land. */
#include "base/hash.h"
#include "base/text.h"
#include "lake/iceberg.h"
#include "lake/iceberg_bases.h"
#include "lake/iceberg_names.h"
#include "lake/iceberg_place.h"
#include <string.h>

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
    const struct tarn_iceberg_change change = { tarn_iceberg_now(work), work->base_file };
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
