/* readopt.c - an observed table comes (back) under Tarn's management. Its rows are brought to what the
 * manifest says, as one new version: what is no longer listed is removed, what is new is added. Until the
 * table's row names that version nobody sees it, and a run that was cut short is simply run again. */
#include "lake/adopt_run.h"
#include <string.h>

#define CHUNK_ROWS 1000

struct walk {
    struct tarn_adoption *a;
    const struct tarn_table *table;
    char after[TARN_PATH_MAX + 1];
    int64_t rows;
    char *gone[CHUNK_ROWS]; /* owned */
    size_t gone_count;
};

static void walk_clear(struct walk *w)
{
    for (size_t i = 0; i < w->gone_count; i++)
        free(w->gone[i]);
    w->gone_count = 0;
}

static tarn_code note_row(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct walk *w = ctx;
    const struct tarn_fileset_entry *listed = tarn_fileset_find(&w->a->files, file->path);

    w->rows++;
    memcpy(w->after, file->path, strlen(file->path) + 1);
    if (listed && listed->size == (uint64_t)file->size)
        return TARN_OK;
    w->gone[w->gone_count] = strdup(file->path);
    return w->gone[w->gone_count++] ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code page_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct walk *w = ctx;
    char after[TARN_PATH_MAX + 1];

    walk_clear(w);
    w->rows = 0;
    memcpy(after, w->after, sizeof after);
    return tx->ops->files.page(tx, w->table->id, INT64_MAX - 1, after, CHUNK_ROWS, note_row, w, err);
}

static tarn_code remove_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct walk *w = ctx;
    int64_t size = 0;

    for (size_t i = 0; i < w->gone_count; i++) {
        tarn_code code = tx->ops->files.remove(tx, w->table->id, w->a->out->version, w->gone[i], &size, err);
        if (code != TARN_OK)
            return code;
    }
    return TARN_OK;
}

static tarn_code remove_unlisted(struct tarn_adoption *a, const struct tarn_table *table,
                                 struct tarn_err *err)
{
    __attribute__((cleanup(walk_clear))) struct walk w = { .a = a, .table = table, .rows = CHUNK_ROWS };
    tarn_code code = TARN_OK;

    while (code == TARN_OK && w.rows == CHUNK_ROWS) {
        code = tarn_store_read(a->lake->store, page_tx, &w, err);
        if (code == TARN_OK && w.gone_count > 0)
            code = tarn_store_write(a->lake->store, remove_tx, &w, err);
    }
    return code;
}

struct history {
    int64_t table_id;
    bool is_empty;
};

static tarn_code note_history(void *ctx, const struct tarn_commit_row *row, struct tarn_err *err)
{
    (void)row;
    (void)err;
    ((struct history *)ctx)->is_empty = false;
    return TARN_OK;
}

static tarn_code history_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct history *h = ctx;

    h->is_empty = true;
    tarn_code code = tx->ops->commits.list(tx, h->table_id, INT64_MAX, 1, note_history, h, err);
    return code == TARN_OK
               ? tx->ops->commits.list_adopted(tx, h->table_id, INT64_MAX, 1, note_history, h, err)
               : code;
}

tarn_code tarn_readopt(struct tarn_lake *lake, struct tarn_place *place, const struct tarn_table *table,
                       struct tarn_adopted *adopted, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_adoption_done))) struct tarn_adoption a = { .lake = lake,
                                                                            .place = place,
                                                                            .out = adopted,
                                                                            .own_uuid = table->uuid };
    struct history history = { .table_id = table->id };
    tarn_code code = tarn_adoption_begin(&a, err);

    if (code == TARN_OK && table->version > 0 && adopted->version <= table->version)
        adopted->version = table->version + 1;
    if (code == TARN_OK)
        code = tarn_adoption_schemas(&a, err);
    if (code == TARN_OK)
        code = tarn_store_read(lake->store, history_tx, &history, err);
    if (code == TARN_OK)
        code = tarn_stage_new(lake, true, &a.stage, err);
    if (code == TARN_OK)
        code = tarn_adoption_files(&a, err); /* only counted: the set of what is listed */
    if (code == TARN_OK)
        code = remove_unlisted(&a, table, err);
    tarn_stage_free(tarn_take(&a.stage));
    if (code == TARN_OK)
        code = tarn_stage_into(lake, table->id, &a.stage, err);
    if (code == TARN_OK && history.is_empty)
        code = tarn_adoption_entries(&a, err);
    if (code == TARN_OK)
        code = tarn_adoption_ids(&a, err);
    if (code == TARN_OK)
        code = tarn_adoption_files(&a, err);
    return code == TARN_OK ? tarn_stage_end(a.stage, &adopted->id, err) : code;
}
