/* catalog_life.c - when the commits of a managed table came: a bounded look back, the newest first, over its own history
 * and then over what it had before Tarn. */
#include "lake/lineage.h"
#include "monitors/catalog_facts.h"

enum { PAGE = 500, ROWS_MAX = 5000 }; /* commits looked at */

struct back {
    struct tarn_tx *tx;
    struct tarn_catalog_facts *out;
    int64_t below, count;      /* of the page at hand */
    size_t data;               /* commits that changed data, as far as they are runs of their own */
    int64_t run_at;            /* the last of those */
};

static tarn_code note_data(struct back *b, const struct tarn_commit_row *row, struct tarn_err *err)
{
    struct tarn_life *life = &b->out->life;
    int64_t undone_by = 0;
    tarn_code code = TARN_OK;

    if (b->data == 0 || b->run_at - row->committed_at >= TARN_LIFE_STEP_MS) {
        tarn_life_add(life, row->committed_at);
        b->run_at = row->committed_at;
        b->data++;
    }
    if (life->last_data >= 0)
        return TARN_OK;
    if (row->version >= 0)
        code = tarn_undone_by(b->tx, b->out->table->id, b->out->table->version, row->version, &undone_by, err);
    if (code == TARN_OK && undone_by == 0)
        life->last_data = row->committed_at;
    return code;
}

static tarn_code note_row(void *ctx, const struct tarn_commit_row *row, struct tarn_err *err)
{
    struct back *b = ctx;
    struct tarn_life *life = &b->out->life;

    b->below = row->version;
    b->count++;
    if (life->last_commit < 0)
        life->last_commit = row->committed_at;
    if (row->data_change)
        return note_data(b, row, err);
    life->idle_commits += b->data == 0;
    return TARN_OK;
}

static tarn_code note_adopted(void *ctx, const struct tarn_commit_row *row, struct tarn_err *err)
{
    struct tarn_commit_row entry = *row;
    struct back *b = ctx;

    entry.version = -1; /* of an adopted one it is a position */
    return b->data < TARN_LIFE_MAX ? note_row(b, &entry, err) : TARN_OK;
}

tarn_code tarn_catalog_life(struct tarn_tx *tx, struct tarn_catalog_facts *out, struct tarn_err *err)
{
    struct back b = { .tx = tx, .out = out, .below = INT64_MAX, .count = PAGE };
    int64_t id = out->table->id, rows = 0;
    tarn_code code = TARN_OK;

    tarn_life_init(&out->life);
    for (; code == TARN_OK && b.count == PAGE && rows < ROWS_MAX && b.data < TARN_LIFE_MAX; rows += PAGE) {
        b.count = 0;
        code = tx->ops->commits.instants(tx, id, b.below, PAGE, note_row, &b, err);
    }
    bool is_end = b.count < PAGE;
    if (code == TARN_OK && is_end)
        code = tx->ops->commits.list_adopted(tx, id, INT64_MAX, PAGE, note_adopted, &b, err);
    out->facts.knows_all = is_end;
    out->facts.life = &out->life;
    out->life.was_cut = !is_end;
    return code;
}
