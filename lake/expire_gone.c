/* expire_gone.c - a retired file is remembered as long as it lies on storage. Whoever deletes what
 * `reclaimable` lists tells nobody, so it is looked for now and then: whenever the table's history retires
 * more. */
#include "lake/expire_run.h"
#include "lake/lease.h"
#include "storage/storage.h"
#include <stdio.h>
#include <string.h>

enum { FILES_A_ROUND = 1000 };

struct gone {
    const struct tarn_expiry *x;
    char after[TARN_PATH_MAX + 1];
    struct tarn_buf paths; /* NUL-terminated, one after the other: retired, then only those that are gone */
    int64_t count;
};

static void gone_done(struct gone *gone) { tarn_buf_done(&gone->paths); }

static tarn_code note_retired(void *ctx, const struct tarn_retired_file *file, struct tarn_err *err)
{
    struct gone *gone = ctx;

    tarn_buf_add(&gone->paths, file->path, strlen(file->path) + 1);
    snprintf(gone->after, sizeof gone->after, "%s", file->path);
    gone->count++;
    return tarn_buf_check(&gone->paths, err);
}

static tarn_code page_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct gone *gone = ctx;
    char after[TARN_PATH_MAX + 1];

    memcpy(after, gone->after, sizeof after);
    tarn_buf_clear(&gone->paths);
    gone->count = 0;
    return tx->ops->retired.page(tx, gone->x->table_id, after, FILES_A_ROUND, note_retired, gone, err);
}

/* Keeps of the paths those that storage does not have; *left how many. Any other fault ends the search. */
static tarn_code look_for(struct gone *gone, struct tarn_place *place, int64_t *left, struct tarn_err *err)
{
    char *to = gone->paths.data;
    const char *path = to;

    *left = 0;
    for (int64_t i = 0; i < gone->count; i++) {
        size_t bytes = strlen(path) + 1;
        struct tarn_object object;
        TARN_ERR(fault);
        tarn_code code = tarn_place_stat(place, path, &object, &fault);
        if (code != TARN_OK && code != TARN_NOT_FOUND)
            return tarn_err_move(err, &fault);
        if (code == TARN_NOT_FOUND) {
            memmove(to, path, bytes);
            to += bytes;
            (*left)++;
        }
        path += bytes;
    }
    return TARN_OK;
}

static tarn_code forget_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct gone *gone = ctx;
    const char *path = gone->paths.data;
    tarn_code code = TARN_OK;

    for (int64_t i = 0; i < gone->count && code == TARN_OK; i++) {
        code = tx->ops->retired.gone(tx, gone->x->table_id, path, err);
        path += strlen(path) + 1;
    }
    return code;
}

static tarn_code forget_page(struct gone *gone, struct tarn_place *place, struct tarn_err *err)
{
    int64_t left = 0;
    tarn_code code = look_for(gone, place, &left, err);

    gone->count = left;
    if (code == TARN_OK && left > 0)
        code = tarn_store_write(gone->x->lake->store, forget_tx, gone, err);
    return code;
}

tarn_code tarn_expire_gone(const struct tarn_expiry *x, struct tarn_err *err)
{
    __attribute__((cleanup(gone_done))) struct gone gone = { .x = x };
    TARN_AUTO(place) struct tarn_place *place = NULL;
    TARN_ERR(fault);
    bool is_last = false;
    tarn_code code = tarn_place_open(x->lake->storage, x->table->location, false, &place, &fault);

    if (code == TARN_NOT_FOUND)
        return TARN_OK; /* the whole folder: that is for the monitors to tell */
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    while (code == TARN_OK && !is_last) {
        code = tarn_lake_goes_on(x->lake, err);
        if (code == TARN_OK)
            code = tarn_store_read(x->lake->store, page_tx, &gone, err);
        is_last = gone.count < FILES_A_ROUND;
        if (code == TARN_OK)
            code = forget_page(&gone, place, err);
    }
    return code;
}
