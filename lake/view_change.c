/* view_change.c - a view created, replaced or registered. */
#include "base/hash.h"
#include "base/text.h"
#include "base/time.h"
#include "lake/iceberg_names.h"
#include "lake/iceberg_place.h"
#include "lake/views.h"
#include <string.h>

enum { ATTEMPTS_MAX = 4 };

static int64_t now_of(const struct tarn_view_use *use) { return use->now_ms ? use->now_ms : tarn_now_ms(); }

/* What an earlier round left goes; the file first, while its name is known. */
static void start_again(struct tarn_lake *lake, struct tarn_view_use *use)
{
    if (use->is_written)
        tarn_iceberg_file_remove(lake, use->row->metadata_location);
    use->is_written = use->is_same = false;
    use->attempts++;
    tarn_view_free(tarn_take(&use->row));
    tarn_iceberg_view_free(tarn_take(&use->view));
}

static tarn_code new_row(struct tarn_view_use *use, struct tarn_err *err)
{
    use->row = calloc(1, sizeof *use->row);
    if (!use->row)
        return tarn_fail_oom(err);
    use->row->created_at = now_of(use);
    use->row->revision = 1;
    tarn_code code = tarn_text_own(&use->row->namespace_, strdup(use->ident.namespace_), err);
    return code == TARN_OK ? tarn_text_own(&use->row->name, strdup(use->ident.name), err) : code;
}

/* The document and what the row repeats of it. */
static tarn_code fill_row(struct tarn_view_use *use, struct tarn_err *err)
{
    struct tarn_buf text = { 0 };
    struct tarn_view *row = use->row;

    row->changed_at = now_of(use);
    snprintf(row->uuid, sizeof row->uuid, "%.39s", use->view->uuid);
    tarn_code code = tarn_text_own(&row->location, strdup(use->view->location), err);
    if (code == TARN_OK)
        code = tarn_iceberg_view_write(use->view, &text, err);
    if (code == TARN_OK)
        return tarn_text_own(&row->metadata, tarn_buf_take(&text), err);
    tarn_buf_done(&text);
    return code;
}

static tarn_code write_file(struct tarn_lake *lake, struct tarn_view_use *use, struct tarn_err *err)
{
    char uuid[TARN_UUID_TEXT], *name = NULL;
    tarn_code code = tarn_uuid(uuid, err);

    if (code == TARN_OK)
        code = tarn_iceberg_view_file_name(use->view, use->row->metadata_location, uuid, &name, err);
    if (code == TARN_OK)
        code = tarn_text_own(&use->row->metadata_location, name, err);
    if (code != TARN_OK)
        return code;
    code = tarn_iceberg_allowed(lake, name, &use->who, err);
    if (code != TARN_OK)
        return code;
    const struct tarn_buf text = { .data = use->row->metadata, .len = strlen(use->row->metadata) };
    code = tarn_iceberg_file_write(lake, use->row->metadata_location, &text, err);
    use->is_written = code == TARN_OK;
    return code;
}

static tarn_code free_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct tarn_view_use *use = ctx;

    return tarn_name_free(tx, use->ident.namespace_, use->ident.name, err);
}

/* --- create --- */

static tarn_code create_check(struct tarn_lake *lake, void *state, struct tarn_err *err)
{
    struct tarn_view_use *use = state;
    TARN_AUTO(mem) char *place = NULL;
    char uuid[TARN_UUID_TEXT];

    start_again(lake, use);
    tarn_code code = tarn_store_read(lake->store, free_tx, use, err);
    if (code == TARN_OK)
        code = tarn_iceberg_place(lake, &use->ident, use->location, &use->who, &place, err);
    if (code == TARN_OK)
        code = tarn_uuid(uuid, err);
    if (code != TARN_OK)
        return code;
    use->ask.uuid = uuid;
    use->ask.location = place;
    use->ask.now_ms = now_of(use);
    code = tarn_iceberg_judged(tarn_iceberg_view_create(&use->ask, &use->view, err), err);
    use->ask.uuid = use->ask.location = NULL;
    if (code == TARN_OK)
        code = new_row(use, err);
    if (code == TARN_OK)
        code = fill_row(use, err);
    return code == TARN_OK ? write_file(lake, use, err) : code;
}

static tarn_code insert_change(struct tarn_tx *tx, void *state, struct tarn_err *err)
{
    struct tarn_view_use *use = state;
    tarn_code code = tarn_namespace_ensure(tx, use->ident.namespace_, err);

    if (code == TARN_OK)
        code = tarn_name_free(tx, use->ident.namespace_, use->ident.name, err);
    return code == TARN_OK ? tx->ops->views.insert(tx, use->row, err) : code;
}

/* --- replace --- */

static tarn_code base_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_view_use *use = ctx;

    tarn_view_free(tarn_take(&use->row));
    return tx->ops->views.get(tx, use->ident.namespace_, use->ident.name, &use->row, err);
}

static tarn_code replace_check(struct tarn_lake *lake, void *state, struct tarn_err *err)
{
    struct tarn_view_use *use = state;
    bool changed = false;

    start_again(lake, use);
    tarn_code code = tarn_store_read(lake->store, base_tx, use, err);
    if (code == TARN_OK)
        code = tarn_iceberg_view_parse(use->row->metadata, strlen(use->row->metadata), &use->view, err);
    if (code == TARN_OK)
        code = tarn_iceberg_view_require(use->view, use->requirements, err);
    if (code == TARN_OK)
        code = tarn_iceberg_judged(
            tarn_iceberg_view_update(use->view, use->updates, now_of(use), &changed, err), err);
    use->is_same = code == TARN_OK && !changed;
    if (code != TARN_OK || use->is_same)
        return code;
    code = tarn_iceberg_allowed(lake, use->view->location, &use->who, err);
    if (code == TARN_OK)
        code = fill_row(use, err);
    return code == TARN_OK ? write_file(lake, use, err) : code;
}

static tarn_code replace_change(struct tarn_tx *tx, void *state, struct tarn_err *err)
{
    struct tarn_view_use *use = state;
    TARN_ERR(fault);
    tarn_code code = use->is_same ? TARN_OK : tx->ops->views.update(tx, use->row, &fault);

    if (code == TARN_VERSION_CONFLICT && use->attempts < ATTEMPTS_MAX)
        return tarn_fail(err, TARN_RECHECK, "the view changed since it was read");
    return code == TARN_OK ? TARN_OK : tarn_err_move(err, &fault);
}

/* --- register --- */

static tarn_code register_check(struct tarn_lake *lake, void *state, struct tarn_err *err)
{
    struct tarn_view_use *use = state;
    TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };

    start_again(lake, use);
    tarn_code code = tarn_store_read(lake->store, free_tx, use, err);
    if (code == TARN_OK)
        code = tarn_iceberg_allowed(lake, use->metadata_location, &use->who, err);
    if (code == TARN_OK)
        code = tarn_iceberg_file_read(lake, use->metadata_location, &text, err);
    if (code == TARN_OK)
        code = tarn_iceberg_judged(
            tarn_iceberg_view_parse(text.data ? text.data : "", text.len, &use->view, err), err);
    if (code == TARN_OK)
        code = tarn_iceberg_judged(tarn_iceberg_view_check_offered(use->view, err), err);
    if (code == TARN_OK)
        code = tarn_iceberg_allowed(lake, use->view->location, &use->who, err);
    if (code == TARN_OK)
        code = new_row(use, err);
    if (code == TARN_OK)
        code = fill_row(use, err);
    return code == TARN_OK ? tarn_text_own(&use->row->metadata_location, strdup(use->metadata_location), err)
                           : code;
}

/* --- ends --- */

static tarn_code after(struct tarn_lake *lake, void *state, struct tarn_err *err)
{
    (void)lake;
    (void)err;
    ((struct tarn_view_use *)state)->is_landed = true;
    return TARN_OK;
}

static void withdraw(struct tarn_lake *lake, void *state, tarn_code code)
{
    struct tarn_view_use *use = state;

    if (use->is_written && !use->is_landed && code != TARN_COMMIT_STATE_UNKNOWN)
        tarn_iceberg_file_remove(lake, use->row->metadata_location);
    use->is_written = false;
}

static void done(void *state)
{
    struct tarn_view_use *use = state;

    tarn_view_free(use->row);
    tarn_iceberg_view_free(use->view);
}

#define USE(name_, check_, change_)                                                                               \
    {                                                                                                             \
        .name = (name_), .size = sizeof(struct tarn_view_use), .check = (check_), .change = (change_),            \
        .after = after, .withdraw = withdraw, .done = done                                                        \
    }
const struct tarn_use tarn_view_create = USE("view create", create_check, insert_change);
const struct tarn_use tarn_view_replace = USE("view replace", replace_check, replace_change);
const struct tarn_use tarn_view_register = USE("view register", register_check, insert_change);
