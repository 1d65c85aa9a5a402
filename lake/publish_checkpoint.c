/* publish_checkpoint.c - a copy of the manifest beside the log, about every 1,000 commits:
 * whoever replays the log may begin there, and older entries can go. It is written with a
 * manifest and at the pace of the manifests, so that it costs its bytes only. */
#include "formats/manifest/manifest.h"
#include "lake/publish_run.h"
#include "lake/source.h"
#include <stdio.h>
#include <string.h>

#define EVERY_COMMITS 1000

static void path_at(const char *transaction, char out[TARN_PATH_MAX])
{
    snprintf(out, TARN_PATH_MAX, TARN_DIR_LOG "/%.*s" TARN_CHECKPOINT_SUFFIX, TARN_TXN_ID_MAX, transaction);
}

static void path_of(const struct tarn_publish_run *run, char out[TARN_PATH_MAX])
{
    path_at(run->commit.transaction, out);
}

static bool is_due(const struct tarn_publish_run *run)
{
    int64_t every = run->lake->checkpoint_every > 0 ? run->lake->checkpoint_every : EVERY_COMMITS;
    return run->commit.transaction && run->commit.version - run->checkpoint >= every;
}

tarn_code tarn_publish_checkpoint_begin(struct tarn_publish_run *run, struct tarn_sink *manifest,
                                        struct tarn_err *err)
{
    char path[TARN_PATH_MAX];
    if (!is_due(run))
        return TARN_OK;
    path_of(run, path);
    return tarn_place_writer(run->place, path, &manifest->copy, err);
}

/* One that is there already: of a run that a crash cut short. It may hold another name of the table. */
static tarn_code is_ours(struct tarn_publish_run *run, const char *path, struct tarn_err *err)
{
    TARN_AUTO(hashed) struct tarn_hashed *source = NULL;
    __attribute__((cleanup(tarn_manifest_head_done))) struct tarn_manifest_head head = { .version = -1 };
    TARN_ERR(fault);
    tarn_code code = tarn_hashed_open(run->place, path, &source, NULL, err);
    if (code != TARN_OK)
        return code;
    code = tarn_manifest_read(tarn_hashed_fill, source, &head, NULL, NULL, &fault);
    if (code != TARN_OK && code != TARN_INVALID)
        return tarn_err_move(err, &fault);
    if (code == TARN_OK && head.catalog && strcmp(head.catalog, run->lake->catalog_id) == 0 &&
        head.table_uuid && strcmp(head.table_uuid, run->table->uuid) == 0 &&
        head.version == run->commit.version)
        return TARN_OK;
    return tarn_publish_foreign_entry(run, path, err);
}

tarn_code tarn_publish_checkpoint_end(struct tarn_publish_run *run, struct tarn_sink *manifest,
                                      struct tarn_err *err)
{
    char path[TARN_PATH_MAX];
    TARN_ERR(fault);
    if (!manifest->copy)
        return TARN_OK;
    path_of(run, path);
    tarn_code code = tarn_writer_commit(manifest->copy, TARN_PUT_CREATE, NULL, &fault);
    if (code == TARN_PRECONDITION_FAILED)
        code = is_ours(run, path, err);
    else if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    run->has_checkpoint = code == TARN_OK;
    return code;
}

/* --- one alone --- */

static void write_file(struct tarn_sink *sink, const struct tarn_file *file, int64_t version)
{
    (void)version;
    tarn_manifest_write_file(&sink->w, file);
}

tarn_code tarn_publish_checkpoint_write(struct tarn_publish_run *run, const struct tarn_commit_row *commit,
                                        struct tarn_err *err)
{
    __attribute__((cleanup(tarn_sink_done))) struct tarn_sink sink = { 0 };
    char path[TARN_PATH_MAX];
    path_at(commit->transaction, path);
    tarn_code code = tarn_sink_open(&sink, run->place, path, err);
    if (code != TARN_OK)
        return code;
    tarn_manifest_write_head(&sink.w, run->table, run->lake->catalog_id, commit->version, commit->transaction,
                             commit->committed_at, commit->schema_version);
    code = tarn_sink_snapshot(&sink, run, commit->version, write_file, err);
    if (code != TARN_OK)
        return code;
    tarn_manifest_write_end(&sink.w);
    code = tarn_sink_end(&sink, err);
    return code == TARN_OK ? tarn_writer_commit(sink.writer, TARN_PUT_REPLACE, NULL, err) : code;
}
