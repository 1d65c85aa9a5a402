/* store_contract_quiet.c - the port's promises about silences. */
#include "base/buf.h"
#include "tests/catalog/store_contract.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>

#define S(text) ((char *)(text))

static tarn_code insert_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return tx->ops->silences.insert(tx, ctx, err);
}
static tarn_code remove_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return tx->ops->silences.remove(tx, ctx, err);
}
struct got {
    const char *id;
    struct tarn_silence row;
};
static tarn_code get_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct got *got = ctx;
    return tx->ops->silences.get(tx, got->id, &got->row, err);
}

static void put(struct tarn_store *store, const char *id, int64_t starts_at, int64_t ends_at, int64_t created_at)
{
    struct tarn_silence row = { .matchers = S("[]"), .starts_at = starts_at, .ends_at = ends_at, .created_by = S("anna"),
                                .created_at = created_at };
    snprintf(row.id, sizeof row.id, "%s", id);
    fx_write(store, insert_tx, &row, TARN_OK);
}

void tarn_contract_a_silence_reads_back_and_goes(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    struct tarn_silence row = { .id = "s1", .matchers = S("[1]"), .tables = S("sales.*"), .starts_at = 1, .ends_at = 2,
                                .created_by = S("anna"), .comment = S("c"), .created_at = 3 };
    struct got got = { .id = "s1" };
    int64_t table = fx_make(store, "default", "orders");
    uint64_t clock = tarn_store_clock(store);

    fx_write(store, insert_tx, &row, TARN_OK);
    cr_expect(tarn_store_touched(store, table, clock), "what is shown of every table may have changed");
    fx_read(store, get_tx, &got, TARN_OK);
    cr_expect(eq(str, got.row.id, S("s1")));
    cr_expect(eq(str, got.row.matchers, S("[1]")));
    cr_expect(eq(str, got.row.tables, S("sales.*")));
    cr_expect(eq(i64, got.row.starts_at, 1));
    cr_expect(eq(i64, got.row.ends_at, 2));
    cr_expect(eq(str, got.row.created_by, S("anna")));
    cr_expect(eq(str, got.row.comment, S("c")));
    cr_expect(eq(i64, got.row.created_at, 3));
    tarn_silence_done(&got.row);
    clock = tarn_store_clock(store);
    fx_write(store, remove_tx, S("s1"), TARN_OK);
    cr_expect(tarn_store_touched(store, table, clock));
    fx_read(store, get_tx, &got, TARN_NOT_FOUND);
    fx_write(store, remove_tx, S("s1"), TARN_NOT_FOUND);
}

struct listed {
    int64_t at, limit, now;
    const char *after;
    struct tarn_buf ids;
    bool left;
};
static tarn_code note(void *ctx, const struct tarn_silence *row, struct tarn_err *err)
{
    struct listed *l = ctx;
    (void)err;
    tarn_buf_addf(&l->ids, "%s ", row->id);
    return TARN_OK;
}
static tarn_code list_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct listed *l = ctx;
    return tx->ops->silences.list(tx, l->at, l->after, l->limit, note, l, err);
}
static tarn_code from_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    TARN_AUTO_DONE(silences) struct tarn_silences found = { 0 };
    struct listed *l = ctx;
    TRY(tx->ops->silences.from(tx, l->now, &found, err));
    for (size_t i = 0; i < found.count; i++)
        TRY(note(l, &found.items[i], err));
    return TARN_OK;
}
static tarn_code expire_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct listed *l = ctx;
    return tx->ops->silences.expire(tx, l->now, l->limit, &l->left, err);
}

static void expect(struct tarn_store *store, tarn_tx_fn *fn, struct listed l, const char *expected)
{
    fx_read(store, fn, &l, TARN_OK);
    cr_expect(eq(str, l.ids.data ? l.ids.data : S(""), S(expected)));
    tarn_buf_done(&l.ids);
}

void tarn_contract_silences_come_newest_first_or_by_the_end_of_their_time(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    struct listed sweep = { .now = 100, .limit = 1 };

    put(store, "a", 10, 90, 10);
    put(store, "b", 200, 300, 20);
    put(store, "c", 10, 100, 20);
    put(store, "d", 10, 95, 30);
    expect(store, list_tx, (struct listed){ .at = INT64_MAX, .after = "", .limit = 2 }, "d b ");
    expect(store, list_tx, (struct listed){ .at = 20, .after = "b", .limit = 9 }, "c a ");
    expect(store, from_tx, (struct listed){ .now = 95 }, "c b ");
    expect(store, from_tx, (struct listed){ .now = 99 }, "c b ");
    expect(store, from_tx, (struct listed){ .now = 100 }, "b ");
    fx_write(store, expire_tx, &sweep, TARN_OK);
    cr_expect(eq(int, sweep.left, 1));
    fx_write(store, expire_tx, &sweep, TARN_OK);
    fx_write(store, expire_tx, &sweep, TARN_OK);
    cr_expect(eq(int, sweep.left, 0));
    expect(store, list_tx, (struct listed){ .at = INT64_MAX, .after = "", .limit = 9 }, "b c ");
}
