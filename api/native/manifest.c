/* manifest.c - GET .../manifest: the manifest of a version from the catalog, whether or not storage shows it
 * (yet or still). Written as it is published, by streaming. */
#include "api/native/native.h"
#include "api/native/observed.h"
#include "api/native/snapshot.h"
#include "base/hash.h"
#include "formats/manifest/manifest.h"
#include "lake/commit.h"
#include "lake/settings.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS_A_READ 500

struct manifest {
    struct tarn_store *store;
    struct tarn_buf head; /* owned until the first piece */
    struct tarn_snapshot_cursor cursor;
    struct tarn_jsonw w;
    int64_t rows;
};

static void manifest_free(void *state)
{
    struct manifest *m = state;

    tarn_buf_done(&m->head);
    free(m);
}

static void manifest_freep(struct manifest **m)
{
    if (*m)
        manifest_free(*m);
}

static bool take_file(void *ctx, const struct tarn_file *file)
{
    struct manifest *m = ctx;

    tarn_manifest_write_file(&m->w, file);
    return true;
}

static tarn_code page(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct manifest *m = ctx;

    return tarn_snapshot_page(tx, &m->cursor, ROWS_A_READ, take_file, m, &m->rows, err);
}

static tarn_code produce(void *state, struct tarn_buf *out, bool *end, struct tarn_err *err)
{
    struct manifest *m = state;

    m->w.out = out;
    if (m->head.len > 0)
        tarn_buf_add(out, m->head.data, m->head.len);
    tarn_buf_done(&m->head);
    tarn_code code = tarn_store_read(m->store, page, m, err);
    if (code != TARN_OK)
        return code;
    *end = m->rows < ROWS_A_READ;
    if (*end)
        tarn_manifest_write_end(&m->w);
    return tarn_buf_check(out, err);
}

/* The bytes are those of the head (which holds the table's name, too) and of the version's files in their
 * order. */
static void make_etag(const struct manifest *m, char out[TARN_ETAG_TEXT])
{
    uint64_t hash = tarn_hash128(m->head.data, m->head.len).lo;

    snprintf(out, TARN_ETAG_TEXT, "\"%" PRId64 ".%016" PRIx64 "%s\"", m->cursor.version, hash,
             m->cursor.by_key ? "k" : "");
}

static tarn_code make_manifest(const struct tarn_request *req, const struct tarn_table *table,
                               struct manifest **out, struct tarn_err *err)
{
    __attribute__((cleanup(manifest_freep))) struct manifest *m = calloc(1, sizeof *m);
    __attribute__((cleanup(tarn_snapshot_done))) struct tarn_snapshot at = { 0 };
    struct tarn_snapshot_ask ask = { 0 };

    if (!m)
        return tarn_fail_oom(err);
    m->store = req->app->lake->store;
    m->w = tarn_jsonw_to(&m->head);
    tarn_code code = tarn_native_snapshot_ask(req, &ask, err);
    if (code == TARN_OK)
        code = tarn_native_snapshot_find(req, table, &ask, &at, &m->cursor, err);
    if (code != TARN_OK)
        return code;
    m->cursor.is_fixed = true;
    tarn_manifest_write_head(&m->w, table, req->app->lake->catalog_id, at.version, at.transaction,
                             at.committed_at, at.schema_version);
    code = tarn_buf_check(&m->head, err);
    if (code == TARN_OK)
        *out = tarn_take(&m);
    return code;
}

tarn_code tarn_native_manifest_get(const struct tarn_request *req, struct tarn_reply *reply,
                                   struct tarn_err *err)
{
    __attribute__((cleanup(tarn_table_seen_done))) struct tarn_table_seen seen = { 0 };
    __attribute__((cleanup(manifest_freep))) struct manifest *m = NULL;
    char etag[TARN_ETAG_TEXT];
    tarn_code code = tarn_native_table_find(req, &seen, err);

    if (code == TARN_OK && tarn_native_is_observed(seen.table))
        return tarn_native_observed_manifest(req, seen.table, reply, err);
    if (code == TARN_OK)
        code = tarn_managed_check(seen.table, err);
    if (code == TARN_OK)
        code = make_manifest(req, seen.table, &m, err);
    if (code != TARN_OK)
        return code;
    const char *have = tarn_request_header(req, "If-None-Match");
    make_etag(m, etag);
    tarn_reply_header(reply, "ETag", "%s", etag);
    reply->status = have && tarn_etag_matches(have, etag) ? 304 : 200;
    if (reply->status == 200)
        reply->stream = (struct tarn_stream){ produce, manifest_free, tarn_take(&m) };
    return TARN_OK;
}
