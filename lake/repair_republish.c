/* repair_republish.c - the documents of the table again from the catalog. Whatever of them can be mended
 * beside a publisher is mended before the decision, since it says what the catalog said all along; the
 * decision then ends the block and lets the publisher write over the manifest that lies there. */
#include "formats/manifest/manifest.h"
#include "lake/repair_mend.h"
#include <string.h>

void tarn_mend_done(struct tarn_mend *m)
{
    tarn_publish_run_done(&m->run);
    tarn_fileset_done(&m->ids);
    tarn_buf_done(&m->entries);
    tarn_buf_done(&m->checkpoints);
    tarn_buf_done(&m->foreign);
}

/* --- a commit by its version --- */

struct find { int64_t table_id, version; struct tarn_commit_row *row; };

static tarn_code find_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct find *f = ctx;
    TARN_ERR(none);

    tarn_commit_row_done(f->row);
    *f->row = (struct tarn_commit_row){ 0 };
    tarn_code code = tx->ops->commits.get(tx, f->table_id, f->version, f->row, &none);
    return code == TARN_OK || code == TARN_VERSION_NOT_FOUND ? TARN_OK : tarn_err_move(err, &none);
}

tarn_code tarn_mend_commit(struct tarn_mend *m, int64_t version, struct tarn_commit_row *out,
                           struct tarn_err *err)
{
    const struct tarn_table *t = m->run.table;
    struct find f = { m->run.table_id, version, out };
    tarn_code code = tarn_store_read(m->run.lake->store, find_tx, &f, err);

    if (code != TARN_OK || out->transaction || version != t->version || !t->latest_transaction)
        return code;
    *out = (struct tarn_commit_row){ .version = version,
                                     .transaction = strdup(t->latest_transaction),
                                     .committed_at = t->committed_at,
                                     .schema_version = t->schema_version };
    return out->transaction ? TARN_OK : tarn_fail_oom(err);
}

/* --- the walk --- */

static tarn_code mend_links(struct tarn_mend *m, struct tarn_err *err)
{
    struct tarn_repair_use *use = m->r->use;

    if (!m->run.links || m->run.table->published_version < 0)
        return TARN_OK;
    use->relinks = m->applies;
    return tarn_repair_tell_write(use, TARN_DIR_LINKS "/", err);
}

static tarn_code walk(struct tarn_mend *m, struct tarn_err *err)
{
    static tarn_code (*const k_shown[])(struct tarn_mend *, struct tarn_err *) = {
        tarn_mend_way,     tarn_mend_log,     tarn_mend_schema,     tarn_mend_checkpoints,
        tarn_mend_pointer, tarn_mend_batches, tarn_mend_manifest, mend_links,
    };
    tarn_code code = TARN_OK;

    for (size_t i = 0; code == TARN_OK && i < TARN_COUNT(k_shown); i++)
        code = k_shown[i](m, err);
    return code;
}

tarn_code tarn_mend_all(struct tarn_mend *m, struct tarn_err *err)
{
    const struct tarn_table *table = m->r->table;
    __attribute__((cleanup(tarn_publish_turn_end))) struct tarn_publish_turn turn = { m->r->lake, table->id,
                                                                                      NULL };

    m->run.lake = m->r->lake;
    m->run.table_id = table->id;
    m->lost_version = m->good_checkpoint = -1;
    tarn_publish_turn_begin(&turn);
    tarn_code code = tarn_publish_begin(&m->run, err);
    if (code == TARN_OK && m->run.table->block != table->block)
        return tarn_fail(err, TARN_RECHECK, "the table changed since the look began");
    if (code == TARN_OK)
        code = tarn_repair_known_ids(m->r, &m->ids, &m->adopted, err);
    if (code == TARN_OK)
        memcpy(m->r->use->seen_token, m->run.pub.manifest_token, sizeof m->r->use->seen_token);
    return code == TARN_OK ? walk(m, err) : code;
}

/* --- the plan --- */

tarn_code tarn_repair_republish(struct tarn_repair_run *run, struct tarn_err *err)
{
    struct tarn_repair_use *use = run->use;
    __attribute__((cleanup(tarn_mend_done))) struct tarn_mend m = { .r = run, .applies = use->runs };

    if (run->table->block == TARN_BLOCK_ADOPTION)
        return tarn_block_check(run->table, err);
    use->ends = run->table->block;
    return run->table->publish ? tarn_mend_all(&m, err) : TARN_OK;
}
