/* stage.c - adoption may bring a million rows; the writer must never be held by one transaction for so long.
 * Rows are written in chunks under an id that no table has yet, and become visible with the table's own row.
 */
#include "lake/adopt.h"
#include <string.h>

#define CHUNK_ROWS 5000

struct staged_file {
    struct tarn_file file;
    char *path, *values, *stats;
    int64_t version;
};
struct staged_entry {
    struct tarn_commit_row row;
    int64_t position;
};

struct tarn_stage {
    struct tarn_lake *lake;
    bool dry_run;
    int64_t id;
    struct staged_file *files; /* CHUNK_ROWS */
    struct staged_entry *entries;
    char *ids[CHUNK_ROWS]; /* owned */
    size_t file_count, entry_count, id_count;
};

static tarn_code reserve_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return tx->ops->tables.reserve_id(tx, &((struct tarn_stage *)ctx)->id, err);
}

tarn_code tarn_stage_into(struct tarn_lake *lake, int64_t table_id, struct tarn_stage **out,
                          struct tarn_err *err)
{
    TARN_AUTO(stage) struct tarn_stage *stage = calloc(1, sizeof *stage);

    if (!stage)
        return tarn_fail_oom(err);
    stage->lake = lake;
    stage->id = table_id;
    stage->files = calloc(CHUNK_ROWS, sizeof *stage->files);
    stage->entries = calloc(CHUNK_ROWS, sizeof *stage->entries);
    if (!stage->files || !stage->entries)
        return tarn_fail_oom(err);
    *out = tarn_take(&stage);
    return TARN_OK;
}

tarn_code tarn_stage_new(struct tarn_lake *lake, bool dry_run, struct tarn_stage **out, struct tarn_err *err)
{
    TARN_AUTO(stage) struct tarn_stage *stage = NULL;
    tarn_code code = tarn_stage_into(lake, 0, &stage, err);

    if (code == TARN_OK && !dry_run)
        code = tarn_store_write(lake->store, reserve_tx, stage, err);
    if (code != TARN_OK)
        return code;
    stage->dry_run = dry_run;
    *out = tarn_take(&stage);
    return TARN_OK;
}

static void clear(struct tarn_stage *stage)
{
    for (size_t i = 0; i < stage->file_count; i++) {
        free(stage->files[i].path);
        free(stage->files[i].values);
        free(stage->files[i].stats);
    }
    for (size_t i = 0; i < stage->entry_count; i++)
        tarn_commit_row_done(&stage->entries[i].row);
    for (size_t i = 0; i < stage->id_count; i++)
        free(stage->ids[i]);
    stage->file_count = stage->entry_count = stage->id_count = 0;
}

void tarn_stage_free(struct tarn_stage *stage)
{
    if (!stage)
        return;
    clear(stage);
    free(stage->files);
    free(stage->entries);
    free(stage);
}

static tarn_code write_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct tarn_stage *stage = ctx;
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < stage->file_count && code == TARN_OK; i++) {
        TARN_ERR(twice);
        code = tx->ops->files.add(tx, stage->id, stage->files[i].version, &stage->files[i].file, &twice);
        if (code == TARN_FILE_CONFLICT)
            code = TARN_OK;
        if (code != TARN_OK)
            return tarn_err_move(err, &twice);
    }
    for (size_t i = 0; i < stage->entry_count && code == TARN_OK; i++)
        code = tx->ops->commits.insert_adopted(tx, stage->id, stage->entries[i].position,
                                               &stage->entries[i].row, err);
    for (size_t i = 0; i < stage->id_count && code == TARN_OK; i++)
        code = tx->ops->commits.take_id(tx, stage->id, stage->ids[i], err);
    return code;
}

static tarn_code flush(struct tarn_stage *stage, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    if (!stage->dry_run && stage->file_count + stage->entry_count + stage->id_count > 0)
        code = tarn_store_write(stage->lake->store, write_tx, stage, err);
    clear(stage);
    return code;
}

static char *copy(const char *text, bool *ok)
{
    char *made = text ? strdup(text) : NULL;

    *ok = *ok && (made || !text);
    return made;
}

tarn_code tarn_stage_file(struct tarn_stage *stage, int64_t version, const struct tarn_file *file,
                          struct tarn_err *err)
{
    bool ok = true;

    if (stage->dry_run)
        return TARN_OK;
    struct staged_file *s = &stage->files[stage->file_count++];
    *s = (struct staged_file){ .file = *file, .version = version };
    s->file.path = s->path = copy(file->path, &ok);
    s->file.partition_values = s->values = copy(file->partition_values, &ok);
    s->file.column_stats = s->stats = copy(file->column_stats, &ok);
    if (!ok)
        return tarn_fail_oom(err);
    return stage->file_count < CHUNK_ROWS ? TARN_OK : flush(stage, err);
}

tarn_code tarn_stage_entry(struct tarn_stage *stage, int64_t position, const struct tarn_commit_row *row,
                           struct tarn_err *err)
{
    bool ok = true;

    if (stage->dry_run)
        return TARN_OK;
    struct staged_entry *s = &stage->entries[stage->entry_count++];
    *s = (struct staged_entry){ .row = *row, .position = position };
    s->row.transaction = copy(row->transaction, &ok);
    s->row.metadata = copy(row->metadata, &ok);
    if (!ok)
        return tarn_fail_oom(err);
    return stage->entry_count < CHUNK_ROWS ? TARN_OK : flush(stage, err);
}

tarn_code tarn_stage_id(struct tarn_stage *stage, const char *id, struct tarn_err *err)
{
    if (stage->dry_run)
        return TARN_OK;
    stage->ids[stage->id_count] = strdup(id);
    if (!stage->ids[stage->id_count])
        return tarn_fail_oom(err);
    return ++stage->id_count < CHUNK_ROWS ? TARN_OK : flush(stage, err);
}

tarn_code tarn_stage_end(struct tarn_stage *stage, int64_t *id, struct tarn_err *err)
{
    tarn_code code = flush(stage, err);

    if (code == TARN_OK)
        *id = stage->id;
    return code;
}
