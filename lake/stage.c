/* stage.c - adoption may bring a million rows; the writer must never be held by one transaction for so long.
 * Rows are written in chunks under an id that no table has yet, and become visible with the table's own row.
 */
#include "base/text.h"
#include "formats/manifest/manifest.h"
#include "lake/adopt.h"
#include "lake/lease.h"
#include "lake/pace.h"
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
    size_t from, to; /* of the step at hand */
    struct tarn_pace pace;
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

static tarn_code write_file(struct tarn_tx *tx, const struct tarn_stage *stage, size_t i,
                            struct tarn_err *err)
{
    TARN_ERR(twice);
    tarn_code code =
        tx->ops->files.add(tx, stage->id, stage->files[i].version, &stage->files[i].file, &twice);

    return code == TARN_OK || code == TARN_FILE_CONFLICT ? TARN_OK : tarn_err_move(err, &twice);
}

/* The i-th of all that waits. */
static tarn_code write_one(struct tarn_tx *tx, const struct tarn_stage *stage, size_t i, struct tarn_err *err)
{
    if (i < stage->file_count)
        return write_file(tx, stage, i, err);
    i -= stage->file_count;
    if (i < stage->entry_count)
        return tx->ops->commits.insert_adopted(tx, stage->id, stage->entries[i].position,
                                               &stage->entries[i].row, err);
    return tx->ops->commits.take_id(tx, stage->id, stage->ids[i - stage->entry_count], err);
}

static tarn_code write_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_stage *stage = ctx;
    tarn_code code = TARN_OK;

    tarn_pace_begin(&stage->pace);
    for (size_t i = stage->from; i < stage->to && code == TARN_OK; i++)
        code = write_one(tx, stage, i, err);
    tarn_pace_end(&stage->pace, (int64_t)(stage->to - stage->from));
    return code;
}

/* In steps that are short in time: what others commit meanwhile goes with each of them. */
static tarn_code flush(struct tarn_stage *stage, struct tarn_err *err)
{
    size_t count = stage->file_count + stage->entry_count + stage->id_count;
    tarn_code code = TARN_OK;

    for (stage->from = 0; stage->from < count && code == TARN_OK && !stage->dry_run;
         stage->from = stage->to) {
        size_t rows = (size_t)tarn_pace_rows(&stage->pace), left = count - stage->from;
        stage->to = stage->from + (rows < left ? rows : left);
        code = tarn_lake_goes_on(stage->lake, err);
        if (code == TARN_OK)
            code = tarn_store_write(stage->lake->store, write_tx, stage, err);
    }
    clear(stage);
    return code;
}

tarn_code tarn_stage_file(struct tarn_stage *stage, int64_t version, const struct tarn_file *file,
                          struct tarn_err *err)
{
    bool failed = false;

    if (stage->dry_run)
        return TARN_OK;
    struct staged_file *s = &stage->files[stage->file_count++];
    *s = (struct staged_file){ .file = *file, .version = version };
    s->file.path = s->path = tarn_text_copy(file->path, &failed);
    s->file.partition_values = s->values = tarn_text_copy(file->partition_values, &failed);
    s->file.column_stats = s->stats = tarn_text_copy(file->column_stats, &failed);
    if (failed)
        return tarn_fail_oom(err);
    return stage->file_count < CHUNK_ROWS ? TARN_OK : flush(stage, err);
}

tarn_code tarn_stage_entry(struct tarn_stage *stage, int64_t position, const char *transaction,
                           const struct tarn_entry_head *head, int64_t mtime_ms, struct tarn_err *err)
{
    bool failed = false;

    if (stage->dry_run)
        return TARN_OK;
    struct staged_entry *s = &stage->entries[stage->entry_count++];
    *s = (struct staged_entry){ .position = position,
                                .row = { .version = -1,
                                         .transaction = tarn_text_copy(transaction, &failed),
                                         .committed_at = head->timestamp >= 0 ? head->timestamp : mtime_ms,
                                         .metadata = tarn_text_copy(head->metadata, &failed),
                                         .data_change = head->data_change,
                                         .files_added = head->adds,
                                         .files_removed = head->removes,
                                         .bytes_added = head->bytes_added } };
    if (failed)
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
