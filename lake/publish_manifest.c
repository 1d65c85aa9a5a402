/* publish_manifest.c - manifest.json of the version at hand, then the pointer to its transaction. */
#include "lake/publish_cache.h"
#include "formats/manifest/manifest.h"
#include <string.h>

struct manifest {
    struct tarn_sink sink; /* first */
    struct tarn_versions_used used;
};

static void manifest_done(struct manifest *m)
{
    tarn_sink_done(&m->sink);
    tarn_versions_used_done(&m->used);
}

static void write_file(struct tarn_sink *sink, const struct tarn_file *file, int64_t version)
{
    (void)version;
    tarn_manifest_write_file(&sink->w, file);
    tarn_versions_used_add(&((struct manifest *)sink)->used, file->schema_version);
}

static void write_head(struct tarn_sink *sink, const struct tarn_publish_run *run)
{
    const struct tarn_table *t = run->table;
    const struct tarn_commit_row *c = &run->commit;
    if (c->transaction)
        tarn_manifest_write_head(&sink->w, t, run->lake->catalog_id, c->version, c->transaction,
                                 c->committed_at, c->schema_version);
    else /* version 0, or adopted before its first commit */
        tarn_manifest_write_head(&sink->w, t, run->lake->catalog_id, t->version, t->latest_transaction,
                                 t->committed_at, t->schema_version);
}

struct reread {
    int64_t id;
    struct tarn_table *now; /* owned */
};

static tarn_code reread_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct reread *r = ctx;
    tarn_table_free(tarn_take(&r->now));
    return tx->ops->tables.get_by_id(tx, r->id, &r->now, err);
}

/* A long manifest takes its time: the table may have been dropped or given away meanwhile. */
static tarn_code still_ours(struct tarn_publish_run *run, struct tarn_err *err)
{
    struct reread r = { .id = run->table_id };
    tarn_code code = tarn_store_read(run->lake->store, reread_tx, &r, err);
    TARN_AUTO(table) struct tarn_table *now = r.now;
    if (code != TARN_OK)
        return code;
    if (now->dropped_at >= 0 || now->mode != TARN_MANAGED || !now->publish || now->block != TARN_BLOCK_NONE ||
        strcmp(now->location, run->table->location) != 0)
        return tarn_fail(err, TARN_RECHECK, "the table changed while it was published");
    return tarn_publish_manifest_owned(run, err);
}

tarn_code tarn_publish_manifest(struct tarn_publish_run *run, struct tarn_err *err)
{
    if (!run->wants_version)
        return TARN_OK;
    __attribute__((cleanup(manifest_done))) struct manifest m = { 0 };
    tarn_code code = tarn_sink_open(&m.sink, run->place, TARN_DOC_MANIFEST, err);
    if (code != TARN_OK)
        return code;
    code = tarn_publish_checkpoint_begin(run, &m.sink, err);
    if (code != TARN_OK)
        return code;
    write_head(&m.sink, run);
    code = tarn_sink_snapshot(&m.sink, run, run->table->version, write_file, err);
    if (code != TARN_OK)
        return code;
    tarn_manifest_write_end(&m.sink.w);
    code = tarn_sink_end(&m.sink, err);
    if (code == TARN_OK) /* before the files that need it */
        code = tarn_publish_cache(run, &m.used, err);
    if (code == TARN_OK)
        code = still_ours(run, err);
    if (code == TARN_OK)
        code = tarn_publish_checkpoint_end(run, &m.sink, err);
    if (code == TARN_OK)
        code = tarn_writer_commit(m.sink.writer, TARN_PUT_REPLACE, run->pub.manifest_token, err);
    if (code != TARN_OK)
        return code;
    memcpy(run->pub.manifest_sha256, m.sink.digest, sizeof m.sink.digest);
    run->manifest_bytes = m.sink.bytes;
    return TARN_OK;
}

static void hash_file(struct tarn_sink *sink, const struct tarn_file *file, int64_t version)
{
    (void)version;
    tarn_manifest_write_file(&sink->w, file);
}

tarn_code tarn_publish_manifest_is(struct tarn_publish_run *run, const struct tarn_commit_row *commit,
                                   const struct tarn_manifest_head *there, const char *sha256, bool *is_so,
                                   struct tarn_err *err)
{
    __attribute__((cleanup(tarn_sink_done))) struct tarn_sink sink = { 0 };
    struct tarn_table table = *run->table; /* borrows */
    struct tarn_ident ident;

    *is_so = false;
    if (!there->table || tarn_ident_parse(there->table, "table", &ident, NULL) != TARN_OK)
        return TARN_OK;
    if (there->created_at < 0) {
        table.created_at = -1;
        table.first_version = 0;
        table.partition_keys = NULL;
    }
    table.namespace_ = ident.namespace_;
    table.name = ident.name;
    tarn_code code = tarn_sink_open(&sink, NULL, NULL, err);
    if (code != TARN_OK)
        return code;
    tarn_manifest_write_head(&sink.w, &table, run->lake->catalog_id, commit->version, commit->transaction,
                             commit->committed_at, commit->schema_version);
    code = tarn_sink_snapshot(&sink, run, commit->version, hash_file, err);
    if (code != TARN_OK)
        return code;
    tarn_manifest_write_end(&sink.w);
    code = tarn_sink_end(&sink, err);
    *is_so = code == TARN_OK && strcmp(sink.digest, sha256) == 0;
    return code;
}

tarn_code tarn_publish_pointer(struct tarn_publish_run *run, struct tarn_err *err)
{
    const char *id = run->commit.transaction ? run->commit.transaction : run->table->latest_transaction;
    if (!run->wants_version || !id)
        return TARN_OK;
    char text[TARN_TXN_ID_MAX + 2];
    int len = snprintf(text, sizeof text, "%s\n", id);
    return tarn_place_put(run->place, TARN_DOC_POINTER, text, (size_t)len, TARN_PUT_REPLACE, NULL, err);
}
