/* store_contract_quiet.c - the port's promises about silences and samples. */
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
    TARN_TRY(tx->ops->silences.from(tx, l->now, &found, err));
    for (size_t i = 0; i < found.count; i++)
        TARN_TRY(note(l, &found.items[i], err));
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

/* --- samples --- */

struct sample {
    int64_t table_id, at;
    const char *numbers;
};
static tarn_code sample_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct sample *s = ctx;
    return tx->ops->samples.put(tx, s->table_id, s->at, s->numbers, err);
}
static void sample(struct tarn_store *store, int64_t table_id, int64_t at, const char *numbers)
{
    struct sample s = { table_id, at, numbers };
    fx_write(store, sample_tx, &s, TARN_OK);
}

struct runs {
    int64_t table_id, from, to, limit;
    struct tarn_buf text;
};
static tarn_code note_run(void *ctx, const struct tarn_sample *run, struct tarn_err *err)
{
    (void)err;
    tarn_buf_addf(&((struct runs *)ctx)->text, "%lld-%lld%s ", (long long)run->at, (long long)run->until, run->numbers);
    return TARN_OK;
}
static tarn_code runs_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct runs *r = ctx;
    return tx->ops->samples.list(tx, r->table_id, r->from, r->to, r->limit, note_run, r, err);
}
static void expect_runs(struct tarn_store *store, struct runs r, const char *expected)
{
    fx_read(store, runs_tx, &r, TARN_OK);
    cr_expect(eq(str, r.text.data ? r.text.data : S(""), S(expected)));
    tarn_buf_done(&r.text);
}

void tarn_contract_samples_of_scans_that_saw_the_same_are_one_run(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t id = fx_make(store, "default", "orders"), other = fx_make(store, "default", "other");

    sample(store, id, 10, "[1]");
    sample(store, id, 20, "[1]");
    sample(store, other, 25, "[9]");
    sample(store, id, 30, "[2]");
    sample(store, id, 29, "[3]"); /* the clock went back */
    sample(store, id, 30, "[3]");
    sample(store, id, 40, "[1]");
    sample(store, id, 50, "[1]");
    expect_runs(store, (struct runs){ id, 0, 99, 9, { 0 } }, "10-20[1] 30-30[2] 40-50[1] ");
    expect_runs(store, (struct runs){ id, 25, 99, 9, { 0 } }, "10-20[1] 30-30[2] 40-50[1] ");
    expect_runs(store, (struct runs){ id, 30, 39, 9, { 0 } }, "30-30[2] ");
    expect_runs(store, (struct runs){ id, 45, 99, 9, { 0 } }, "40-50[1] ");
    expect_runs(store, (struct runs){ id, 0, 99, 2, { 0 } }, "10-20[1] 30-30[2] ");
    expect_runs(store, (struct runs){ id, 0, 9, 9, { 0 } }, "");
}

struct thin {
    struct tarn_thinning at;
    int64_t limit;
    bool left;
};
static tarn_code thin_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct thin *t = ctx;
    return tx->ops->samples.thin(tx, &t->at, t->limit, &t->left, err);
}

void tarn_contract_old_samples_are_thinned_to_one_an_hour_and_go(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    enum { HOUR = 3600000 };
    static const struct { int64_t at; const char *numbers; } k_rows[] = {
        { 100, "[1]" },            { 200, "[2]" },            { 300, "[3]" },     /* the first hour: the last one stays */
        { HOUR + 100, "[4]" },     { 2 * HOUR + 100, "[4]" },                    /* a run over two hours stays */
        { 2 * HOUR + 200, "[5]" }, { 2 * HOUR + 300, "[6]" },
        { 3 * HOUR + 100, "[7]" }, { 3 * HOUR + 200, "[8]" },                    /* too young */
    };
    int64_t id = fx_make(store, "default", "orders"), other = fx_make(store, "default", "other");
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        sample(store, id, k_rows[i].at, k_rows[i].numbers);
        sample(store, other, k_rows[i].at, k_rows[i].numbers);
    }
    static const char k_after[] = "300-300[3] 3600100-7200100[4] 7200300-7200300[6] 10800100-10800100[7] 10800200-10800200[8] ";
    struct thin t = { .at = { .hourly_before = 3 * HOUR }, .limit = 2, .left = true };
    int calls = 0;
    for (; t.left && calls < 20; calls++)
        fx_write(store, thin_tx, &t, TARN_OK);
    cr_expect(gt(int, calls, 2), "a few rows a call");
    expect_runs(store, (struct runs){ id, 0, INT64_MAX, 99, { 0 } }, k_after);
    expect_runs(store, (struct runs){ other, 0, INT64_MAX, 99, { 0 } }, k_after);

    t = (struct thin){ .at = { .expired_before = 2 * HOUR + 101 }, .limit = 99 };
    fx_write(store, thin_tx, &t, TARN_OK);
    cr_expect(eq(int, t.left, 0));
    expect_runs(store, (struct runs){ id, 0, INT64_MAX, 99, { 0 } }, "7200300-7200300[6] 10800100-10800100[7] 10800200-10800200[8] ");
}
