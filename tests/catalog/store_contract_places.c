/* store_contract_places.c - the port's promises about where tables lie and how they end. */
#include "tests/catalog/store_contract.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#define S(text) ((char *)(text))

static tarn_code insert_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return fx_insert(tx, ctx, err);
}

struct by_name {
    const char *name;
    struct tarn_table *table; /* owned */
};

static tarn_code get_dropped_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct by_name *g = ctx;
    return tx->ops->tables.get_dropped(tx, "default", g->name, NULL, &g->table, err);
}

/* --- locations --- */

struct at {
    const char *location;
    int64_t dropped_since, except_id;
    bool managed_only;
    struct tarn_table *table;
};

static tarn_code at_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct at *a = ctx;
    return tx->ops->tables.at_location(tx, a->location, a->dropped_since, a->except_id, a->managed_only,
                                       &a->table, err);
}

static int64_t owner_of(struct tarn_store *store, struct at at)
{
    fx_read(store, at_tx, &at, TARN_OK);
    int64_t id = at.table ? at.table->id : 0;
    tarn_table_free(at.table);
    return id;
}

static int64_t make_at(struct tarn_store *store, const char *name, const char *location, enum tarn_mode mode)
{
    struct tarn_table table = fx_table("default", name);
    table.location = S(location);
    table.mode = mode;
    fx_write(store, insert_tx, &table, TARN_OK);
    return table.id;
}

void tarn_contract_a_location_is_found_by_its_equals_ancestors_and_descendants(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t orders = make_at(store, "orders", "/lake/warehouse/orders", TARN_MANAGED);
    int64_t bucket = make_at(store, "bucket", "s3://bucket/a/b", TARN_MANAGED);
    int64_t seen = make_at(store, "seen", "/seen/x", TARN_OBSERVED);
    struct {
        const char *location;
        int64_t owner, owner_managed;
    } cases[] = {
        { "/lake/warehouse/orders", orders, orders },
        { "/lake/warehouse/orders/2024", orders, orders },
        { "/lake/warehouse/orders/2024/02/01", orders, orders },
        { "/lake/warehouse", orders, orders },
        { "/lake", orders, orders },
        { "/", orders, orders },
        { "/lake/warehouse/orders2", 0, 0 },
        { "/lake/warehouse/order", 0, 0 },
        { "/lake/warehouse/orders-old/x", 0, 0 },
        { "/lake/warehouse/orders.x", 0, 0 },
        { "s3://bucket/a/b/c", bucket, bucket },
        { "s3://bucket", bucket, bucket },
        { "s3://bucket2/a", 0, 0 },
        { "/seen", seen, 0 },
        { "/seen/x/y", seen, 0 },
    };
    for (size_t i = 0; i < TARN_COUNT(cases); i++) {
        bool any = cases[i].location[1] == '\0'; /* at the top, one of several */
        int64_t all = owner_of(store, (struct at){ .location = cases[i].location });
        cr_expect(any ? all != 0 : all == cases[i].owner, "%s: %lld", cases[i].location, (long long)all);
        int64_t managed = owner_of(store, (struct at){ .location = cases[i].location, .managed_only = true });
        cr_expect(eq(i64, managed, cases[i].owner_managed), "%s", cases[i].location);
    }
    cr_expect(eq(
        i64, owner_of(store, (struct at){ .location = "/lake/warehouse/orders", .except_id = orders }), 0));

    TARN_AUTO(table) struct tarn_table *table = fx_get(store, orders);
    table->dropped_at = 5000;
    fx_update(store, table);
    cr_expect(eq(i64, owner_of(store, (struct at){ .location = "/lake/warehouse", .dropped_since = 4999 }),
                 orders));
    cr_expect(
        eq(i64, owner_of(store, (struct at){ .location = "/lake/warehouse", .dropped_since = 5000 }), 0));
}

/* --- ends --- */

struct cut {
    int64_t before, limit;
    bool left;
    bool sweep; /* files.sweep instead of tables.purge */
};

static tarn_code cut_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct cut *c = ctx;
    return c->sweep ? tx->ops->files.sweep(tx, c->limit, &c->left, err)
                    : tx->ops->tables.purge(tx, c->before, c->limit, &c->left, err);
}

void tarn_contract_a_purge_takes_the_rows_in_pieces_and_hides_the_table_at_once(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t gone = fx_make(store, "default", "gone"), kept = fx_make(store, "default", "kept");
    for (int i = 0; i < 20; i++) {
        char transaction[16], path[16];
        snprintf(transaction, sizeof transaction, "txn-%d", i);
        snprintf(path, sizeof path, "f%02d", i);
        (void)fx_commit(store, gone, transaction, path, NULL);
        (void)fx_commit(store, kept, transaction, path, NULL);
    }
    int64_t ids[] = { gone, kept };
    for (size_t i = 0; i < TARN_COUNT(ids); i++) {
        TARN_AUTO(table) struct tarn_table *table = fx_get(store, ids[i]);
        table->dropped_at = i == 0 ? 100 : 200;
        fx_update(store, table);
    }
    struct cut c = { .before = 200, .limit = 7 };
    fx_write(store, cut_tx, &c, TARN_OK);
    cr_expect(c.left);
    struct by_name g = { .name = "gone" };
    fx_read(store, get_dropped_tx, &g, TARN_TABLE_NOT_FOUND);

    int calls = 1;
    for (; c.left && calls < 20; calls++)
        fx_write(store, cut_tx, &c, TARN_OK);
    cr_expect(not(c.left));
    cr_expect(ge(int, calls, 40 / 7)); /* 20 files and 20 commits, 7 rows a call */

    char *paths = fx_paths(store, gone, 20, 100);
    cr_expect(eq(str, paths, S("")));
    free(paths);
    paths = fx_paths(store, kept, 20, 100);
    cr_expect(eq(sz, strlen(paths), (size_t)(20 * 4 - 1)));
    free(paths);
}

struct staged {
    int64_t id;
};
static tarn_code stage_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct staged *s = ctx;
    TARN_TRY(tx->ops->tables.reserve_id(tx, &s->id, err));
    struct tarn_file file = { .path = "a", .size = 1, .records = -1 };
    return tx->ops->files.add(tx, s->id, 1, &file, err);
}

void tarn_contract_a_sweep_takes_only_what_an_earlier_process_left_loose(tarn_store_opener *open)
{
    struct staged old = { 0 }, new = { 0 };
    const char *folder = tarn_tmp();
    struct tarn_store *store = open(folder);
    int64_t table = fx_make(store, "default", "orders");
    (void)fx_commit(store, table, "txn-1", "a", NULL);
    fx_write(store, stage_tx, &old, TARN_OK);
    tarn_store_free(store);

    store = open(folder);
    fx_write(store, stage_tx, &new, TARN_OK);
    cr_expect(gt(i64, new.id, old.id));
    struct cut c = { .limit = 100, .sweep = true, .left = true };
    fx_write(store, cut_tx, &c, TARN_OK);
    cr_expect(not(c.left));
    struct {
        int64_t id;
        const char *paths;
    } cases[] = { { old.id, "" }, { new.id, "a" }, { table, "a" } };
    for (size_t i = 0; i < TARN_COUNT(cases); i++) {
        char *paths = fx_paths(store, cases[i].id, 1, 10);
        cr_expect(eq(str, paths, S(cases[i].paths)), "case %zu", i);
        free(paths);
    }
    tarn_store_free(store);
}
