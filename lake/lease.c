/* lease.c - see lease.h. The claims are few: a list is enough. */
#include "lake/lease.h"
#include "lake/pace.h"
#include <pthread.h>
#include <stdlib.h>

#define SWEEP_PAGE 100

struct tarn_leases {
    pthread_mutex_t lock;
    int64_t *ids; /* owned */
    size_t count, cap;
};

struct tarn_leases *tarn_leases_new(void)
{
    struct tarn_leases *leases = calloc(1, sizeof *leases);

    if (leases)
        pthread_mutex_init(&leases->lock, NULL);
    return leases;
}

void tarn_leases_free(struct tarn_leases *leases)
{
    if (!leases)
        return;
    pthread_mutex_destroy(&leases->lock);
    free(leases->ids);
    free(leases);
}

static size_t find(const struct tarn_leases *leases, int64_t table_id)
{
    size_t at = 0;

    while (at < leases->count && leases->ids[at] != table_id)
        at++;
    return at;
}

static bool make_room(struct tarn_leases *leases)
{
    if (leases->count < leases->cap)
        return true;
    int64_t *ids = realloc(leases->ids, (leases->cap + 16) * sizeof *ids);
    if (!ids)
        return false;
    leases->ids = ids;
    leases->cap += 16;
    return true;
}

bool tarn_lease_claim(struct tarn_leases *leases, int64_t table_id)
{
    if (!leases)
        return true;
    pthread_mutex_lock(&leases->lock);
    bool is_free = find(leases, table_id) == leases->count && make_room(leases);
    if (is_free)
        leases->ids[leases->count++] = table_id;
    pthread_mutex_unlock(&leases->lock);
    return is_free;
}

void tarn_lease_release(struct tarn_leases *leases, int64_t table_id)
{
    if (!leases)
        return;
    pthread_mutex_lock(&leases->lock);
    size_t at = find(leases, table_id);
    if (at < leases->count)
        leases->ids[at] = leases->ids[--leases->count];
    pthread_mutex_unlock(&leases->lock);
}

bool tarn_lease_is_claimed(struct tarn_leases *leases, int64_t table_id)
{
    if (!leases)
        return false;
    pthread_mutex_lock(&leases->lock);
    bool is_claimed = find(leases, table_id) < leases->count;
    pthread_mutex_unlock(&leases->lock);
    return is_claimed;
}

tarn_code tarn_staging_check(const struct tarn_table *table, struct tarn_err *err)
{
    if (table->staging == 0)
        return TARN_OK;
    return tarn_fail(err, TARN_OVERLOADED, "a large commit to the table is under way: try again");
}

tarn_code tarn_lake_goes_on(const struct tarn_lake *lake, struct tarn_err *err)
{
    if (!atomic_load_explicit(&lake->stopping, memory_order_relaxed))
        return TARN_OK;
    return tarn_fail(err, TARN_OVERLOADED, "the server stops");
}

/* --- undoing --- */

struct undo {
    int64_t table_id;
    struct tarn_pace pace;
    bool left;
};

/* A table that is gone, or whose version was made, has nothing to undo. */
static tarn_code undo_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct undo *u = ctx;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    TARN_ERR(gone);
    tarn_code code = tx->ops->tables.get_by_id(tx, u->table_id, &table, &gone);

    u->left = false;
    if (code == TARN_TABLE_NOT_FOUND || (code == TARN_OK && table->staging == 0))
        return TARN_OK;
    if (code != TARN_OK)
        return tarn_err_move(err, &gone);
    tarn_pace_begin(&u->pace);
    int64_t rows = tarn_pace_rows(&u->pace);
    code = tx->ops->bulk.undo(tx, table->id, table->staging, rows, &u->left, err);
    tarn_pace_end(&u->pace, rows);
    return code == TARN_OK && !u->left ? tx->ops->tables.stage(tx, table->id, 0, err) : code;
}

tarn_code tarn_lease_undo(struct tarn_lake *lake, int64_t table_id, struct tarn_err *err)
{
    struct undo u = { .table_id = table_id, .left = true };
    tarn_code code = TARN_OK;

    while (code == TARN_OK && u.left) {
        code = tarn_lake_goes_on(lake, err);
        if (code == TARN_OK)
            code = tarn_store_write(lake->store, undo_tx, &u, err);
        tarn_pace_rest(&u.pace);
    }
    return code;
}

struct sweep {
    int64_t after, count;
    int64_t ids[SWEEP_PAGE];
};

static tarn_code sweep_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct sweep *s = ctx;

    return tx->ops->tables.staged(tx, s->after, SWEEP_PAGE, s->ids, &s->count, err);
}

static tarn_code sweep_one(struct tarn_lake *lake, int64_t table_id, struct tarn_err *err)
{
    if (!tarn_lease_claim(lake->leases, table_id))
        return TARN_OK; /* somebody is at it */
    tarn_code code = tarn_lease_undo(lake, table_id, err);
    tarn_lease_release(lake->leases, table_id);
    return code;
}

tarn_code tarn_leases_sweep(struct tarn_lake *lake, struct tarn_err *err)
{
    struct sweep s = { .count = SWEEP_PAGE };
    tarn_code code = TARN_OK;

    while (code == TARN_OK && s.count == SWEEP_PAGE) {
        code = tarn_store_read(lake->store, sweep_tx, &s, err);
        for (int64_t i = 0; code == TARN_OK && i < s.count; i++)
            code = sweep_one(lake, s.ids[i], err);
        if (s.count > 0)
            s.after = s.ids[s.count - 1];
    }
    return code;
}
