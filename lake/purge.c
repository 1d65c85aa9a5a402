/* purge.c - see purge.h. A manifest is foreign bytes and may name any file: only
 * files in the table's own folder, or in folders that its properties name and no
 * other table owns, are taken away. With gc.enabled=false the data files stay. */
#include "lake/purge.h"
#include "base/log.h"
#include "formats/fileset.h"
#include "formats/iceberg/manifests.h"
#include "lake/iceberg.h"
#include <stdio.h>
#include <string.h>

enum { RETRY_MS = 60 * 1000, RETRY_MAX_MS = 24 * 3600 * 1000, FOLDERS_MAX = 4 };

struct purge {
    struct tarn_lake *lake;
    struct tarn_purge row;
    struct tarn_iceberg_meta *meta;
    bool (*is_over)(void *ctx);
    void *ctx;
    char *folders[FOLDERS_MAX];  /* canonical, owned: what lies there may go */
    size_t folder_count;
    bool keeps_data;             /* gc.enabled is false */
    struct tarn_fileset done;    /* manifests that were read */
    struct tarn_place *place;    /* the folder removed from last: files of one folder come together */
    char *place_folder;
};

static tarn_code check_over(const struct purge *p, struct tarn_err *err)
{
    return p->is_over && p->is_over(p->ctx) ? tarn_fail(err, TARN_OVERLOADED, "the server stops") : TARN_OK;
}

/* --- which folders --- */

struct owner_ctx { const struct purge *purge; const char *location; bool is_free; };

static tarn_code owner_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct owner_ctx *c = ctx;
    TARN_AUTO(table) struct tarn_table *owner = NULL;
    /* Live ones alone: what was dropped keeps no files, and one that is only observed owns none. */
    tarn_code code = tx->ops->tables.at_location(tx, c->location, INT64_MAX, 0, true, &owner, err);

    c->is_free = !owner;
    return code;
}

/* Takes a folder that no table owns; another one is left out. */
static tarn_code add_folder(struct purge *p, const char *location, struct tarn_err *err)
{
    struct owner_ctx c = { .purge = p };
    char *canonical = NULL;
    TARN_ERR(bad);

    if (!location || p->folder_count == FOLDERS_MAX ||
        tarn_iceberg_locate(location, &canonical, &bad) != TARN_OK)
        return TARN_OK;
    c.location = canonical;
    tarn_code code = tarn_store_read(p->lake->store, owner_tx, &c, err);
    if (code == TARN_OK && c.is_free)
        p->folders[p->folder_count++] = canonical;
    else
        free(canonical);
    return code;
}

static tarn_code find_folders(struct purge *p, struct tarn_err *err)
{
    tarn_code code = add_folder(p, p->meta->location, err);

    if (code == TARN_OK)
        code = add_folder(p, tarn_iceberg_property(p->meta, "write.data.path"), err);
    if (code == TARN_OK)
        code = add_folder(p, tarn_iceberg_property(p->meta, "write.metadata.path"), err);
    return code == TARN_OK ? add_folder(p, tarn_iceberg_property(p->meta, "write.object-storage.path"), err)
                           : code;
}

/* --- taking away --- */

static bool is_ours(const struct purge *p, const char *canonical)
{
    for (size_t i = 0; i < p->folder_count; i++)
        if (strcmp(canonical, p->folders[i]) != 0 && tarn_location_within(canonical, p->folders[i]))
            return true;
    return false;
}

static tarn_code open_folder(struct purge *p, const char *folder, struct tarn_err *err)
{
    if (p->place && strcmp(p->place_folder, folder) == 0)
        return TARN_OK;
    tarn_place_free(tarn_take(&p->place));
    free(p->place_folder);
    p->place_folder = strdup(folder);
    return p->place_folder ? tarn_place_open(p->lake->storage, folder, false, &p->place, err)
                           : tarn_fail_oom(err);
}

/* Can there be no object of this name (a folder, a name that is too long, below a file),
 * although storage answers? A manifest may name such, and nothing takes it away. */
static bool is_no_object(const struct purge *p, const char *name)
{
    TARN_AUTO(place) struct tarn_place *own = NULL;
    struct tarn_object object = { 0 };
    TARN_ERR(fault);

    if (p->place && tarn_place_stat(p->place, name, &object, &fault) == TARN_OK)
        return false;
    return tarn_place_open(p->lake->storage, p->folders[0], false, &own, &fault) == TARN_OK;
}

/* A file of the folder at hand; one that is not there any more is passed over. */
static tarn_code remove_file(struct purge *p, const char *name, struct tarn_err *err)
{
    TARN_ERR(fault);
    tarn_code code = tarn_place_remove(p->place, name, &fault);

    if (code == TARN_OK || code == TARN_NOT_FOUND || is_no_object(p, name))
        return TARN_OK;
    return tarn_err_move(err, &fault);
}

/* Hadoop's local file system keeps the sums of a file beside it, and no document names them. */
static tarn_code remove_sums(struct purge *p, const char *name, struct tarn_err *err)
{
    char sums[256];

    if ((size_t)snprintf(sums, sizeof sums, ".%s.crc", name) >= sizeof sums)
        return TARN_OK;
    return remove_file(p, sums, err);
}

/* A file that is not ours is passed over. */
static tarn_code take_away(struct purge *p, const char *file, struct tarn_err *err)
{
    TARN_AUTO(mem) char *canonical = NULL;
    TARN_ERR(fault);

    if (tarn_iceberg_locate(file, &canonical, &fault) != TARN_OK || !is_ours(p, canonical))
        return TARN_OK;
    tarn_code code = check_over(p, err);
    if (code != TARN_OK)
        return code;
    char *name = strrchr(canonical, '/');
    *name++ = '\0';
    code = open_folder(p, canonical, &fault);
    if (code != TARN_OK)
        return code == TARN_NOT_FOUND || is_no_object(p, name) ? TARN_OK : tarn_err_move(err, &fault);
    code = remove_file(p, name, err);
    return code == TARN_OK && canonical[0] == '/' ? remove_sums(p, name, err) : code;
}

static tarn_code take_data(void *ctx, const struct tarn_iceberg_file *file, struct tarn_err *err)
{
    struct purge *p = ctx;

    return p->keeps_data ? TARN_OK : take_away(p, file->path, err);
}

/* *found false: it is not there any more. */
static tarn_code open_file(struct purge *p, const char *file, struct tarn_place **place,
                           struct tarn_reader **reader, bool *found, struct tarn_err *err)
{
    TARN_AUTO(mem) char *canonical = NULL;
    TARN_ERR(fault);
    tarn_code code = tarn_iceberg_locate(file, &canonical, &fault);

    *found = false;
    if (code != TARN_OK || !is_ours(p, canonical))
        return TARN_OK;
    char *name = strrchr(canonical, '/');
    *name++ = '\0';
    code = tarn_place_open(p->lake->storage, canonical, false, place, &fault);
    if (code == TARN_OK)
        code = tarn_place_reader(*place, name, reader, NULL, &fault);
    *found = code == TARN_OK;
    return code == TARN_OK || code == TARN_NOT_FOUND ? TARN_OK : tarn_err_move(err, &fault);
}

/* A document that cannot be read will not be readable later either: what it names stays, the rest goes. */
static tarn_code pass_over(tarn_code code, struct tarn_err *fault, struct tarn_err *err)
{
    if (code != TARN_INVALID)
        return code == TARN_OK ? TARN_OK : tarn_err_move(err, fault);
    tarn_log_err(TARN_LOG_WARN, "purge_unreadable", fault);
    return TARN_OK;
}

static tarn_code purge_manifest(void *ctx, const struct tarn_iceberg_manifest *manifest, struct tarn_err *err)
{
    struct purge *p = ctx;
    TARN_AUTO(place) struct tarn_place *place = NULL;
    TARN_AUTO(reader) struct tarn_reader *reader = NULL;
    bool found = false;
    TARN_ERR(fault);

    if (tarn_fileset_find(&p->done, manifest->path))
        return TARN_OK;
    if (!tarn_fileset_put(&p->done, manifest->path))
        return tarn_fail_oom(err);
    tarn_code code = open_file(p, manifest->path, &place, &reader, &found, err);
    if (code != TARN_OK || !found)
        return code;
    return pass_over(tarn_iceberg_manifest_files(tarn_reader_fill, reader, take_data, p, &fault), &fault,
                     err);
}

/* Manifests go after all of them were read: a list that is read again still finds them. */
static tarn_code remove_manifest(void *ctx, const struct tarn_iceberg_manifest *manifest,
                                 struct tarn_err *err)
{
    return take_away(ctx, manifest->path, err);
}

static tarn_code each_manifest(struct purge *p, const struct tarn_iceberg_snapshot *snapshot,
                               tarn_iceberg_manifest_fn *fn, struct tarn_err *err)
{
    TARN_AUTO(place) struct tarn_place *place = NULL;
    TARN_AUTO(reader) struct tarn_reader *reader = NULL;
    json_auto_t *tree = snapshot->manifest_list ? NULL : tarn_iceberg_snapshot_tree(snapshot);
    bool found = false;
    size_t i;
    json_t *path;
    tarn_code code = TARN_OK;
    TARN_ERR(fault);

    if (!snapshot->manifest_list && !tree)
        return tarn_fail_oom(err);
    json_array_foreach(json_object_get(tree, "manifests"), i, path) {
        const struct tarn_iceberg_manifest manifest = { .path = json_string_value(path) };
        if (code == TARN_OK && manifest.path)
            code = fn(p, &manifest, err);
    }
    if (code == TARN_OK && snapshot->manifest_list)
        code = open_file(p, snapshot->manifest_list, &place, &reader, &found, err);
    if (code != TARN_OK || !found)
        return code;
    return pass_over(tarn_iceberg_manifest_list(tarn_reader_fill, reader, fn, p, &fault), &fault, err);
}

static tarn_code purge_snapshots(struct purge *p, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < p->meta->snapshots.count && code == TARN_OK; i++)
        code = each_manifest(p, &p->meta->snapshots.items[i], purge_manifest, err);
    for (size_t i = 0; i < p->meta->snapshots.count && code == TARN_OK; i++)
        code = each_manifest(p, &p->meta->snapshots.items[i], remove_manifest, err);
    for (size_t i = 0; i < p->meta->snapshots.count && code == TARN_OK; i++) {
        const char *list = p->meta->snapshots.items[i].manifest_list;
        if (list)
            code = take_away(p, list, err);
    }
    return code;
}

static tarn_code purge_statistics(struct purge *p, const json_t *files, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < json_array_size(files) && code == TARN_OK; i++) {
        const char *path = json_string_value(json_object_get(json_array_get(files, i), "statistics-path"));
        if (path)
            code = take_away(p, path, err);
    }
    return code;
}

static tarn_code purge_metadata(struct purge *p, struct tarn_err *err)
{
    tarn_code code = purge_statistics(p, p->meta->statistics, err);

    if (code == TARN_OK)
        code = purge_statistics(p, p->meta->partition_statistics, err);
    for (size_t i = 0; i < p->meta->metadata_log.count && code == TARN_OK; i++)
        code = take_away(p, p->meta->metadata_log.items[i].file, err);
    return code == TARN_OK ? take_away(p, p->row.metadata_location, err) : code;
}

/* --- one purge --- */

static void purge_done(struct purge *p)
{
    tarn_iceberg_free(p->meta);
    tarn_fileset_done(&p->done);
    tarn_place_free(p->place);
    free(p->place_folder);
    for (size_t i = 0; i < p->folder_count; i++)
        free(p->folders[i]);
    tarn_purge_done(&p->row);
}

static tarn_code run_one(struct purge *p, struct tarn_err *err)
{
    tarn_code code = tarn_iceberg_parse(p->row.metadata, strlen(p->row.metadata), &p->meta, err);

    if (code == TARN_OK)
        code = find_folders(p, err);
    if (code != TARN_OK)
        return code;
    const char *collects = tarn_iceberg_property(p->meta, "gc.enabled");
    p->keeps_data = collects && strcasecmp(collects, "false") == 0;
    code = purge_snapshots(p, err);
    return code == TARN_OK ? purge_metadata(p, err) : code;
}

struct due_ctx { int64_t now_ms; struct tarn_purge *row; bool found; };

static tarn_code due_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct due_ctx *c = ctx;
    TARN_ERR(none);

    tarn_purge_done(c->row);
    tarn_code code = tx->ops->purges.due(tx, c->now_ms, c->row, &none);
    c->found = code == TARN_OK;
    return code == TARN_OK || code == TARN_NOT_FOUND ? TARN_OK : tarn_err_move(err, &none);
}

struct end_ctx { int64_t id, due_at; };

static tarn_code remove_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return tx->ops->purges.remove(tx, ((struct end_ctx *)ctx)->id, err);
}

static tarn_code postpone_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct end_ctx *c = ctx;

    return tx->ops->purges.postpone(tx, c->id, c->due_at, err);
}

static int64_t retry_after(int64_t failures)
{
    int64_t pause_ms = RETRY_MS;

    for (int64_t i = 0; i < failures && pause_ms < RETRY_MAX_MS; i++)
        pause_ms *= 2;
    return pause_ms < RETRY_MAX_MS ? pause_ms : RETRY_MAX_MS;
}

static tarn_code finish(struct tarn_lake *lake, const struct purge *p, tarn_code code, struct tarn_err *fault,
                        int64_t now_ms, struct tarn_err *err)
{
    struct end_ctx end = { p->row.id, now_ms + retry_after(p->row.failures) };

    if (code == TARN_OK)
        return tarn_store_write(lake->store, remove_tx, &end, err);
    if (code == TARN_OVERLOADED)
        return tarn_err_move(err, fault);
    tarn_log_err(TARN_LOG_WARN, "purge", fault);
    return tarn_store_write(lake->store, postpone_tx, &end, err);
}

tarn_code tarn_purges_run(struct tarn_lake *lake, int64_t now_ms, bool (*is_over)(void *ctx), void *ctx,
                          struct tarn_err *err)
{
    for (;;) {
        __attribute__((
            cleanup(purge_done))) struct purge p = { .lake = lake, .is_over = is_over, .ctx = ctx };
        struct due_ctx due = { .now_ms = now_ms, .row = &p.row };
        TARN_ERR(fault);
        tarn_code code = tarn_store_read(lake->store, due_tx, &due, err);
        if (code != TARN_OK || !due.found)
            return code;
        code = finish(lake, &p, run_one(&p, &fault), &fault, now_ms, err);
        if (code != TARN_OK)
            return code;
    }
}
