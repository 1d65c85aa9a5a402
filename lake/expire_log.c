/* expire_log.c - the log before the last checkpoint that every kept version can be
 * replayed from. The documents go first and the rows that name them after, so that a round
 * that is cut short is done again; a document that is not Tarn's own stays where it is. */
#include "formats/manifest/manifest.h"
#include "lake/expire_run.h"
#include "lake/lease.h"
#include <stdio.h>
#include <string.h>

enum {
    CHUNK_ENTRIES = 500,
    HEAD_BYTES = 4096 /* where an entry of Tarn's own names its catalog and table */
};

struct names {
    struct tarn_expiry *x;
    int64_t from, below; /* commits: the range; checkpoints: below */
    int64_t last;        /* version of the last one met */
    struct tarn_buf ids; /* NUL-terminated, one after the other */
    int64_t versions[CHUNK_ENTRIES];
    size_t count;
};

static void names_done(struct names *names) { tarn_buf_done(&names->ids); }

static tarn_code note_name(void *ctx, const struct tarn_commit_row *row, struct tarn_err *err)
{
    struct names *names = ctx;

    names->versions[names->count++] = row->version;
    tarn_buf_add(&names->ids, row->transaction, strlen(row->transaction) + 1);
    return tarn_buf_check(&names->ids, err);
}

static void names_clear(struct names *names)
{
    names->count = 0;
    tarn_buf_clear(&names->ids);
}

static tarn_code commits_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct names *names = ctx;

    names_clear(names);
    return tx->ops->history.commits(tx, names->x->table_id, names->from, names->below, CHUNK_ENTRIES,
                                    note_name, names, err);
}

static tarn_code checkpoints_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct names *names = ctx;

    names_clear(names);
    return tx->ops->history.checkpoints(tx, names->x->table_id, names->below, CHUNK_ENTRIES, note_name, names,
                                        err);
}

/* --- on storage --- */

static tarn_code remove_document(const struct tarn_expiry *x, struct tarn_place *place, const char *path,
                                 struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf head = { 0 };
    TARN_ERR(fault);
    tarn_code code = tarn_place_read(place, path, 0, HEAD_BYTES, &head, &fault);

    if (code == TARN_OK && (!strstr(head.data, x->lake->catalog_id) || !strstr(head.data, x->table->uuid)))
        return TARN_OK;
    if (code == TARN_OK)
        code = tarn_place_remove(place, path, &fault);
    return code == TARN_OK || code == TARN_NOT_FOUND ? TARN_OK : tarn_err_move(err, &fault);
}

static tarn_code remove_documents(const struct names *names, const char *suffix, struct tarn_err *err)
{
    TARN_AUTO(place) struct tarn_place *place = NULL;
    const char *id = names->ids.data;
    char path[TARN_TXN_ID_MAX + 48];
    TARN_ERR(fault);

    if (names->count == 0 || !names->x->table->publish || !names->x->lake->storage)
        return TARN_OK;
    tarn_code code =
        tarn_place_open(names->x->lake->storage, names->x->table->location, false, &place, &fault);
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    for (size_t i = 0; i < names->count && code == TARN_OK; i++, id += strlen(id) + 1) {
        snprintf(path, sizeof path, TARN_DIR_LOG "/%s%s", id, suffix);
        code = remove_document(names->x, place, path, err);
    }
    return code;
}

/* --- in the catalog --- */

/* The table may have been dropped or given away meanwhile; nothing is lost then, and its rows stay. */
static tarn_code forget_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct names *names = ctx;

    return tx->ops->history.forget(tx, names->x->table_id, names->from, names->last + 1, err);
}

static tarn_code drop_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct names *names = ctx;
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < names->count && code == TARN_OK; i++)
        code = tx->ops->history.drop_checkpoint(tx, names->x->table_id, names->versions[i], err);
    return code;
}

static tarn_code expire_entries(struct names *names, struct tarn_err *err)
{
    tarn_code code = tarn_store_read(names->x->lake->store, commits_tx, names, err);

    if (code == TARN_OK)
        code = remove_documents(names, ".json", err);
    bool is_last = names->count < CHUNK_ENTRIES;
    names->last = is_last ? names->below - 1 : names->versions[names->count - 1];
    if (code == TARN_OK)
        code = tarn_store_write(names->x->lake->store, forget_tx, names, err);
    names->from = names->last + 1;
    return code;
}

static tarn_code expire_checkpoints(struct names *names, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    do {
        code = tarn_store_read(names->x->lake->store, checkpoints_tx, names, err);
        if (code == TARN_OK)
            code = remove_documents(names, TARN_CHECKPOINT_SUFFIX, err);
        if (code == TARN_OK && names->count > 0)
            code = tarn_store_write(names->x->lake->store, drop_tx, names, err);
    } while (code == TARN_OK && names->count == CHUNK_ENTRIES);
    return code;
}

/* The checkpoint that comes last before the oldest version.
 * A table that publishes nothing has no log to begin. */
tarn_code tarn_expire_begin(struct tarn_tx *tx, const struct tarn_table *table, int64_t oldest,
                            int64_t *begin, struct tarn_err *err)
{
    *begin = oldest;
    return table->publish ? tx->ops->history.checkpoint_at(tx, table->id, oldest, begin, err) : TARN_OK;
}

static tarn_code begin_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct names *names = ctx;

    return tarn_expire_begin(tx, names->x->table, names->x->table->oldest_version, &names->below, err);
}

tarn_code tarn_expire_log(struct tarn_expiry *x, struct tarn_err *err)
{
    __attribute__((cleanup(names_done))) struct names names = { .x = x, .from = x->table->log_from };
    tarn_code code = tarn_store_read(x->lake->store, begin_tx, &names, err);

    if (code != TARN_OK || names.from >= names.below)
        return code;
    while (code == TARN_OK && names.from < names.below) {
        code = tarn_lake_goes_on(x->lake, err);
        if (code == TARN_OK)
            code = expire_entries(&names, err);
    }
    return code == TARN_OK ? expire_checkpoints(&names, err) : code;
}
