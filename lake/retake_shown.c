/* retake_shown.c - manifest.json against the version that it says it is. Ids prove nothing: an old writer
 * that adds a file and writes the document back keeps them. The bytes do, else the files one by one. */
#include "formats/fileset.h"
#include "lake/lease.h"
#include "lake/publish_run.h"
#include "lake/retake.h"
#include <stdio.h>
#include <string.h>

enum { PAGE_FILES = 5000 };

struct compare {
    struct tarn_lake *lake;
    int64_t table_id, version;
    struct tarn_commit_row commit; /* owned: of that version; transaction NULL: it has none */
    struct tarn_fileset files;     /* of the document */
    char after[TARN_PATH_MAX + 1];
    int64_t rows, total;
    bool differs;
};

static void compare_done(struct compare *c)
{
    tarn_commit_row_done(&c->commit);
    tarn_fileset_done(&c->files);
}

static tarn_code commit_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct compare *c = ctx;
    TARN_ERR(fault);

    tarn_commit_row_done(&c->commit);
    c->commit = (struct tarn_commit_row){ 0 };
    tarn_code code = tx->ops->commits.get(tx, c->table_id, c->version, &c->commit, &fault);
    return code == TARN_OK || code == TARN_VERSION_NOT_FOUND ? TARN_OK : tarn_err_move(err, &fault);
}

/* --- by its bytes --- */

static tarn_code same_bytes(struct compare *c, const struct tarn_table *table, const char *catalog,
                            const struct tarn_traces *traces, bool *is_so, struct tarn_err *err)
{
    struct tarn_lake lake = { .store = c->lake->store }; /* what renders needs no more */
    struct tarn_table copy = *table;                     /* borrows */
    struct tarn_publish_run run = { .lake = &lake, .table_id = table->id, .table = &copy };
    const struct tarn_manifest_head *head = &traces->manifest;
    const struct tarn_commit_row own = { .version = c->version,
                                         .transaction = head->transaction,
                                         .committed_at = head->last_updated,
                                         .schema_version =
                                             head->schema_version > 0 ? head->schema_version : 0 };

    *is_so = false;
    snprintf(lake.catalog_id, sizeof lake.catalog_id, "%s", catalog);
    if (c->commit.transaction &&
        (!head->transaction || strcmp(head->transaction, c->commit.transaction) != 0))
        return TARN_OK;
    return tarn_publish_manifest_is(&run, c->commit.transaction ? &c->commit : &own, head,
                                    traces->manifest_sha256, is_so, err);
}

/* --- by its files --- */

static tarn_code note_listed(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct compare *c = ctx;
    struct tarn_fileset_entry *entry = tarn_fileset_put(&c->files, file->path);

    if (!entry)
        return tarn_fail_oom(err);
    entry->size = file->size < 0 ? TARN_FILE_NO_SIZE : (uint64_t)file->size & TARN_FILE_NO_SIZE;
    return TARN_OK;
}

static tarn_code note_row(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct compare *c = ctx;
    const struct tarn_fileset_entry *listed = tarn_fileset_find(&c->files, file->path);

    (void)err;
    c->differs |= !listed || (listed->size != TARN_FILE_NO_SIZE && listed->size != (uint64_t)file->size);
    snprintf(c->after, sizeof c->after, "%s", file->path);
    c->rows++;
    return TARN_OK;
}

static tarn_code page_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct compare *c = ctx;
    char after[TARN_PATH_MAX + 1];

    memcpy(after, c->after, sizeof after);
    c->rows = 0;
    return tx->ops->files.page(tx, c->table_id, c->version, after, PAGE_FILES, note_row, c, err);
}

static tarn_code same_files(struct compare *c, struct tarn_place *place, bool *is_so, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_manifest_head_done))) struct tarn_manifest_head head = { .version = -1 };
    TARN_ERR(fault);
    tarn_code code = tarn_manifest_read_at(place, &head, NULL, note_listed, c, &fault);

    *is_so = false;
    if (code == TARN_INVALID || code == TARN_NOT_FOUND)
        return TARN_OK;
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    do {
        code = tarn_lake_goes_on(c->lake, err);
        if (code == TARN_OK)
            code = tarn_store_read(c->lake->store, page_tx, c, err);
        c->total += c->rows;
    } while (code == TARN_OK && !c->differs && c->rows == PAGE_FILES);
    *is_so = !c->differs && c->total == (int64_t)c->files.count;
    return code;
}

tarn_code tarn_retake_shown(struct tarn_lake *lake, struct tarn_place *place, const struct tarn_table *table,
                            const char *catalog, const struct tarn_traces *traces,
                            struct tarn_publication *pub, bool *is_so, struct tarn_err *err)
{
    __attribute__((cleanup(compare_done))) struct compare c = { .lake = lake, .table_id = table->id };

    c.version = traces->manifest.version;
    tarn_code code = tarn_store_read(lake->store, commit_tx, &c, err);
    if (code == TARN_OK)
        code = same_bytes(&c, table, catalog, traces, is_so, err);
    if (code == TARN_OK && !*is_so)
        code = same_files(&c, place, is_so, err);
    pub->version = c.version;
    memcpy(pub->manifest_sha256, traces->manifest_sha256, sizeof pub->manifest_sha256);
    memcpy(pub->manifest_token, traces->manifest_token, sizeof pub->manifest_token);
    return code;
}
