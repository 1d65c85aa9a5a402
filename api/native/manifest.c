/* manifest.c - GET .../manifest: the manifest of the newest version from the catalog, whether or not storage
 * shows it yet. Written as it is published, by streaming. */
#include "api/native/native.h"
#include "formats/manifest/manifest.h"
#include "lake/commit.h"
#include "lake/settings.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_A_READ 500

struct manifest {
    struct tarn_store *store;
    struct tarn_table *table; /* owned: at the moment of the question */
    char catalog_id[40];
    char after[TARN_PATH_MAX + 1];
    struct tarn_jsonw w;
    int64_t rows;
    bool begun;
};

static void manifest_free(void *state)
{
    struct manifest *m = state;

    tarn_table_free(m->table);
    free(m);
}

static tarn_code visit(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct manifest *m = ctx;

    (void)err;
    tarn_manifest_write_file(&m->w, file);
    snprintf(m->after, sizeof m->after, "%s", file->path);
    m->rows++;
    return TARN_OK;
}

static tarn_code page(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct manifest *m = ctx;
    char after[TARN_PATH_MAX + 1];

    memcpy(after, m->after, sizeof after);
    return tx->ops->files.page(tx, m->table->id, m->table->version, after, ROWS_A_READ, visit, m, err);
}

static tarn_code produce(void *state, struct tarn_buf *out, bool *end, struct tarn_err *err)
{
    struct manifest *m = state;

    m->w.out = out;
    m->rows = 0;
    if (!m->begun)
        tarn_manifest_write_head(&m->w, m->table, m->catalog_id, m->table->version,
                                 m->table->latest_transaction, m->table->committed_at,
                                 m->table->schema_version);
    m->begun = true;
    tarn_code code = tarn_store_read(m->store, page, m, err);
    if (code != TARN_OK)
        return code;
    *end = m->rows < ROWS_A_READ;
    if (*end)
        tarn_manifest_write_end(&m->w);
    return tarn_buf_check(out, err);
}

tarn_code tarn_native_manifest_get(const struct tarn_request *req, struct tarn_reply *reply,
                                   struct tarn_err *err)
{
    __attribute__((cleanup(tarn_table_seen_done))) struct tarn_table_seen seen = { 0 };
    char etag[TARN_ETAG_TEXT];
    tarn_code code = tarn_native_table_find(req, &seen, err);

    if (code == TARN_OK)
        code = tarn_managed_check(seen.table, err);
    if (code != TARN_OK)
        return code;
    const char *have = tarn_request_header(req, "If-None-Match");
    tarn_table_etag(seen.table, etag);
    tarn_reply_header(reply, "ETag", "%s", etag);
    reply->status = have && tarn_etag_matches(have, etag) ? 304 : 200;
    if (reply->status == 304)
        return TARN_OK;
    struct manifest *m = calloc(1, sizeof *m);
    if (!m)
        return tarn_fail_oom(err);
    m->store = req->app->lake->store;
    m->table = tarn_take(&seen.table);
    snprintf(m->catalog_id, sizeof m->catalog_id, "%s", req->app->lake->catalog_id);
    reply->stream = (struct tarn_stream){ produce, manifest_free, m };
    return TARN_OK;
}
