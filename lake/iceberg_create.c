/* iceberg_create.c - a new table: its ids are the catalog's, its first metadata file is written and its row made. A staged
 * one is only worked out, and its metadata folder made: the client comes back with it as a commit that asserts the table's
 * absence. The empty folder of one that is never finished stays, and takes the place from nobody. */
#include "base/hash.h"
#include "base/time.h"
#include "lake/iceberg.h"
#include "lake/iceberg_place.h"

static int64_t now_of(const struct tarn_iceberg_create_use *use) { return use->ask.now_ms ? use->ask.now_ms : tarn_now_ms(); }

static tarn_code free_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct tarn_iceberg_create_use *use = ctx;

    return tarn_name_free(tx, use->ident.namespace_, use->ident.name, err);
}

static tarn_code name_file(struct tarn_lake *lake, const struct tarn_iceberg_create_use *use, char **file, struct tarn_err *err)
{
    const struct tarn_iceberg_meta *meta = use->work.meta;
    char uuid[TARN_UUID_TEXT];
    tarn_code code = tarn_uuid(uuid, err);

    if (code == TARN_OK)
        code = tarn_iceberg_file_name(meta, NULL, uuid, file, err);
    return code == TARN_OK ? tarn_iceberg_check_paths(lake, meta, *file, &use->who, 0, NULL, err) : code;
}

static tarn_code write_file(struct tarn_lake *lake, struct tarn_iceberg_create_use *use, struct tarn_err *err)
{
    struct tarn_iceberg_work *work = &use->work;
    tarn_code code = name_file(lake, use, &work->metadata_location, err);

    if (code == TARN_OK)
        code = tarn_iceberg_file_write(lake, work->metadata_location, &work->metadata, err);
    work->is_written = code == TARN_OK;
    return code;
}

/* The client writes manifests before it commits, and not every one makes their folder (DuckDB does not). */
static tarn_code make_folder(struct tarn_lake *lake, const struct tarn_iceberg_create_use *use, struct tarn_err *err)
{
    TARN_AUTO(mem) char *file = NULL;
    tarn_code code = name_file(lake, use, &file, err);

    return code == TARN_OK ? tarn_iceberg_file_folder(lake, file, err) : code;
}

static void start_again(struct tarn_lake *lake, struct tarn_iceberg_create_use *use)
{
    struct tarn_iceberg_work *work = &use->work;

    if (work->is_written)
        tarn_iceberg_file_remove(lake, work->metadata_location);
    work->is_written = false;
    free(tarn_take(&work->metadata_location));
    tarn_iceberg_free(tarn_take(&work->meta));
    free(tarn_take(&use->place));
}

static tarn_code check(struct tarn_lake *lake, void *state, struct tarn_err *err)
{
    struct tarn_iceberg_create_use *use = state;
    struct tarn_iceberg_work *work = &use->work;
    char uuid[TARN_UUID_TEXT];

    start_again(lake, use);
    work->ident = use->ident;
    work->now_ms = now_of(use);
    work->creates = true;
    tarn_code code = tarn_store_read(lake->store, free_tx, use, err);
    if (code == TARN_OK)
        code = tarn_iceberg_place(lake, &use->ident, use->location, &use->who, &use->place, err);
    if (code == TARN_OK)
        code = tarn_uuid(uuid, err);
    if (code != TARN_OK)
        return code;
    use->ask.uuid = uuid;
    use->ask.location = use->place;
    use->ask.now_ms = work->now_ms;
    code = tarn_iceberg_judged(tarn_iceberg_create(&use->ask, &work->meta, err), err);
    use->ask.uuid = NULL;
    if (code == TARN_OK)
        code = tarn_iceberg_write_forms(work->meta, &work->metadata, &work->refs, err);
    if (code != TARN_OK)
        return code;
    return use->is_staged ? make_folder(lake, use, err) : write_file(lake, use, err);
}

static tarn_code change(struct tarn_tx *tx, void *state, struct tarn_err *err)
{
    struct tarn_iceberg_create_use *use = state;
    tarn_code code = tarn_name_free(tx, use->ident.namespace_, use->ident.name, err);

    if (code != TARN_OK || use->is_staged)
        return code;
    code = tarn_iceberg_land(tx, use->lake, &use->work, err);
    /* A default place is chosen anew; a place that was asked for is refused. */
    if (code == TARN_LOCATION_TAKEN && !use->location)
        return tarn_fail(err, TARN_RECHECK, "the default location was taken meanwhile");
    return code;
}

static tarn_code after(struct tarn_lake *lake, void *state, struct tarn_err *err)
{
    (void)lake;
    (void)err;
    ((struct tarn_iceberg_create_use *)state)->work.is_landed = true;
    return TARN_OK;
}

static void withdraw(struct tarn_lake *lake, void *state, tarn_code code)
{
    tarn_iceberg_withdraw(lake, &((struct tarn_iceberg_create_use *)state)->work, code);
}

static void done(void *state)
{
    struct tarn_iceberg_create_use *use = state;

    tarn_iceberg_work_done(&use->work);
    free(use->place);
}

const struct tarn_use tarn_iceberg_table_create = {
    .name = "iceberg create",
    .size = sizeof(struct tarn_iceberg_create_use),
    .check = check,
    .change = change,
    .after = after,
    .withdraw = withdraw,
    .done = done,
};
