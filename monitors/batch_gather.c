/* batch_gather.c - batches that two commits of a managed table applied. The catalog refuses one that it is told of twice; what
 * only stands in commitMetadata, or was done before Tarn, is found here. */
#include "formats/batch_links.h"
#include "lake/lineage.h"
#include "monitors/gather.h"
#include <string.h>

enum { PAGE = 500, ROWS_MAX = 2000 }; /* newest commits looked at */

struct back {
    const struct tarn_gather_ask *ask;
    struct tarn_facts *facts;
    struct tarn_batch_links links;
    struct tarn_tx *tx;
    int64_t below, count;
    bool has_rollbacks;
};

static tarn_code note_commit(void *ctx, const struct tarn_commit_row *row, struct tarn_err *err)
{
    struct back *b = ctx;
    int64_t undone_by = 0;
    tarn_code code = TARN_OK;

    b->below = row->version;
    b->count++;
    if (!row->data_change || row->files_added == 0 || (!row->metadata && !row->batch_ids))
        return TARN_OK;
    if (b->has_rollbacks && row->version > 0)
        code = tarn_undone_by(b->tx, b->ask->table->id, b->ask->table->version, row->version, &undone_by, err);
    if (code != TARN_OK || undone_by > 0)
        return code;
    return tarn_batch_links_note(&b->links, row->transaction, true, row->batch_ids, row->metadata, err);
}

static tarn_code page_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct back *b = ctx;

    b->tx = tx;
    b->count = 0;
    return tx->ops->commits.list(tx, b->ask->table->id, b->below, PAGE, note_commit, b, err);
}

static tarn_code adopted_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct back *b = ctx;

    b->tx = tx;
    return tx->ops->commits.list_adopted(tx, b->ask->table->id, INT64_MAX, PAGE, note_commit, b, err);
}

static tarn_code begin_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct back *b = ctx;
    int64_t found = 0, to = 0;
    tarn_code code = tx->ops->commits.rollback_at(tx, b->ask->table->id, b->ask->table->version, &found, &to, err);

    b->has_rollbacks = found > 0;
    return code;
}

/* --- does the data of a commit still count? --- */

struct alive { struct tarn_tx *tx; int64_t table_id, version; bool is_alive; };

static tarn_code note_remover(void *ctx, const struct tarn_commit_row *row, struct tarn_err *err)
{
    (void)err;
    *(bool *)ctx = !row->data_change;
    return TARN_OK;
}

static tarn_code note_file(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    struct alive *a = ctx;
    bool was_rewritten = false;

    if (a->is_alive || file->added_version != a->version)
        return TARN_OK;
    if (file->removed_version < 0) {
        a->is_alive = true;
        return TARN_OK;
    }
    tarn_code code = a->tx->ops->commits.instants(a->tx, a->table_id, file->removed_version + 1, 1, note_remover, &was_rewritten, err);
    a->is_alive = was_rewritten;
    return code;
}

/* Of one from before Tarn it is not known what became of its files: it counts. */
static tarn_code is_alive(struct tarn_tx *tx, int64_t table_id, const char *transaction, bool *out, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_commit_row_done))) struct tarn_commit_row row = { 0 };
    TARN_ERR(fault);
    tarn_code code = tx->ops->commits.by_transaction(tx, table_id, transaction, &row, &fault);

    *out = true;
    if (code == TARN_TRANSACTION_NOT_FOUND)
        return TARN_OK;
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    struct alive alive = { tx, table_id, row.version, false };
    code = tx->ops->files.of_version(tx, table_id, row.version, note_file, &alive, err);
    *out = alive.is_alive;
    return code;
}

static tarn_code are_alive(struct tarn_tx *tx, int64_t table_id, const char *pair, bool *out, struct tarn_err *err)
{
    char first[TARN_TXN_ID_MAX + 1];
    size_t len = strcspn(pair, ",");
    bool second = false;

    snprintf(first, sizeof first, "%.*s", (int)len, pair);
    tarn_code code = is_alive(tx, table_id, first, out, err);
    if (code == TARN_OK && *out)
        code = is_alive(tx, table_id, pair + len + 2, &second, err);
    *out = *out && second;
    return code;
}

static tarn_code keep_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct back *b = ctx;
    struct tarn_suspects *twice = &b->facts->duplicate_batches;
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < twice->count && code == TARN_OK;) {
        bool counts = true;
        code = are_alive(tx, b->ask->table->id, twice->items[i].note, &counts, err);
        if (counts || code != TARN_OK) {
            i++;
            continue;
        }
        free(twice->items[i].subject);
        free(twice->items[i].note);
        twice->items[i] = twice->items[--twice->count];
        twice->total--;
    }
    return code;
}

tarn_code tarn_batches_gather(struct tarn_lake *lake, const struct tarn_gather_ask *ask, struct tarn_facts *facts,
                              struct tarn_err *err)
{
    struct back b = { .ask = ask, .facts = facts, .below = INT64_MAX, .count = PAGE };
    tarn_code code = tarn_store_read(lake->store, begin_tx, &b, err);

    for (int64_t rows = 0; code == TARN_OK && rows < ROWS_MAX && b.count == PAGE; rows += PAGE)
        code = tarn_store_read(lake->store, page_tx, &b, err);
    if (code == TARN_OK && b.count < PAGE)
        code = tarn_store_read(lake->store, adopted_tx, &b, err);
    if (code == TARN_OK) {
        tarn_batch_links_take(&b.links, &facts->duplicate_batches);
        code = facts->duplicate_batches.count > 0 ? tarn_store_read(lake->store, keep_tx, &b, err) : TARN_OK;
    }
    if (code == TARN_OK)
        facts->saw |= TARN_SAW_BATCHES;
    tarn_batch_links_done(&b.links);
    return code;
}
