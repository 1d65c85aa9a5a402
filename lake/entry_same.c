/* entry_same.c - the entry that publication would write, beside the one that lies there: author, batches and
 * paths are seen too, which counts and sizes do not show. */
#include "lake/entry_same.h"
#include "catalog/store.h"
#include "lake/publish_run.h"

enum { OPS_MAX = 1000 };

struct rendering {
    const struct tarn_lake *lake;
    const struct tarn_table *table;
    int64_t version;
    struct tarn_buf text;
    bool is_known; /* what the commit did, and all of it */
};

static void rendering_done(struct rendering *r) { tarn_buf_done(&r->text); }

/* What a commit did follows from the version before it: after one that was lost the rows are a snapshot's. */
static tarn_code follows(struct tarn_tx *tx, const struct rendering *r, bool *out, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_commit_row_done))) struct tarn_commit_row before = { 0 };
    TARN_ERR(fault);

    *out = tarn_table_is_base(r->table, r->version - 1);
    if (*out || r->version == 0)
        return TARN_OK;
    tarn_code code = tx->ops->commits.get(tx, r->table->id, r->version - 1, &before, &fault);
    *out = code == TARN_OK;
    return code == TARN_OK || code == TARN_VERSION_NOT_FOUND ? TARN_OK : tarn_err_move(err, &fault);
}

static tarn_code render_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_commit_row_done))) struct tarn_commit_row row = { 0 };
    struct rendering *r = ctx;
    TARN_ERR(fault);
    bool is_following = false, is_whole = false;

    r->is_known = false;
    tarn_buf_clear(&r->text);
    tarn_code code = tx->ops->commits.get(tx, r->table->id, r->version, &row, &fault);
    if (code == TARN_VERSION_NOT_FOUND)
        return TARN_OK;
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    code = follows(tx, r, &is_following, err);
    if (code != TARN_OK || !is_following || row.files_added + row.files_removed > OPS_MAX)
        return code;
    code = tarn_publish_render(tx, r->table, r->lake->catalog_id, &row, &r->text, &is_whole, err);
    r->is_known = code == TARN_OK && is_whole;
    return code;
}

tarn_code tarn_entry_is_same(struct tarn_lake *lake, const struct tarn_table *table, int64_t version,
                             const struct tarn_buf *text, bool *same, struct tarn_err *err)
{
    __attribute__((
        cleanup(rendering_done))) struct rendering r = { .lake = lake, .table = table, .version = version };
    tarn_code code = tarn_store_read(lake->store, render_tx, &r, err);

    if (code == TARN_OK)
        *same = !r.is_known || tarn_publish_same_entry(text, r.text.data, r.text.len);
    return code;
}
