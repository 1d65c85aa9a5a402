/* store_contract_findings.c - the port's promises about findings: their order, what is said of them, and how the closed ones go. */
#include "base/buf.h"
#include "tests/catalog/store_contract.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define S(text) ((char *)(text))

static tarn_code delete_finding_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return tx->ops->monitors.delete_finding(tx, ctx, err);
}
static tarn_code get_finding_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_finding *f = ctx;
    return tx->ops->monitors.get_finding(tx, f->table_id, f->id, f, err);
}
struct live {
    int64_t table_id;
    struct tarn_findings list;
};
static tarn_code live_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct live *l = ctx;
    return tx->ops->monitors.findings(tx, l->table_id, &l->list, err);
}
static void expect_live(struct tarn_store *store, int64_t table_id, const char *expected)
{
    struct live l = { .table_id = table_id };
    struct tarn_buf ids = { 0 };
    fx_read(store, live_tx, &l, TARN_OK);
    for (size_t i = 0; i < l.list.count; i++)
        tarn_buf_addf(&ids, "%s%s", i ? " " : "", l.list.items[i].id);
    cr_expect(eq(str, ids.data ? ids.data : S(""), S(expected)));
    tarn_buf_done(&ids);
    tarn_findings_done(&l.list);
}
struct reopen {
    int64_t table_id, since;
    struct tarn_finding row;
};
static tarn_code reopenable_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct reopen *r = ctx;
    return tx->ops->monitors.reopenable(tx, r->table_id, "a", "x", r->since, &r->row, err);
}

void tarn_contract_findings_are_ordered_worst_first_and_closed_ones_may_reopen(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t id = fx_make(store, "default", "orders"), other = fx_make(store, "default", "other");
    struct tarn_finding rows[] = {
        fx_finding(id, "f1", "b", "y", TARN_SEV_WARNING), fx_finding(id, "f2", "b", "x", TARN_SEV_WARNING),
        fx_finding(id, "f3", "c", "x", TARN_SEV_ERROR),   fx_finding(id, "f4", "a", "x", TARN_SEV_INFO),
        fx_finding(id, "f5", "a", "z", TARN_SEV_WARNING), fx_finding(other, "f6", "a", "x", TARN_SEV_ERROR),
    };
    rows[4].opened_at = -1; /* a suspect */
    for (size_t i = 0; i < TARN_COUNT(rows); i++)
        fx_write(store, fx_put_finding_tx, &rows[i], TARN_OK);
    expect_live(store, id, "f3 f5 f2 f1 f4");

    struct tarn_finding twice = fx_finding(id, "f7", "a", "x", TARN_SEV_INFO); /* one live finding an identity */
    fx_write(store, fx_put_finding_tx, &twice, TARN_INTERNAL);
    rows[3].closed_at = 500;
    rows[3].evidence = S("{\"count\":1}");
    fx_write(store, fx_put_finding_tx, &rows[3], TARN_OK);
    expect_live(store, id, "f3 f5 f2 f1");
    struct reopen r = { id, 500, { .code = NULL } };
    fx_read(store, reopenable_tx, &r, TARN_OK);
    cr_expect(eq(str, r.row.id, S("f4")));
    cr_expect(eq(str, r.row.evidence, S("{\"count\":1}")));
    fx_same(r.row.cure, NULL);
    cr_expect(eq(i64, r.row.closed_at, 500));
    tarn_finding_done(&r.row);
    r.since = 501;
    fx_read(store, reopenable_tx, &r, TARN_NOT_FOUND);

    twice.closed_at = 600; /* the newest of two closed ones */
    fx_write(store, fx_put_finding_tx, &twice, TARN_OK);
    r.since = 400;
    fx_read(store, reopenable_tx, &r, TARN_OK);
    cr_expect(eq(str, r.row.id, S("f7")));
    tarn_finding_done(&r.row);
    fx_write(store, delete_finding_tx, S("f3"), TARN_OK);
    expect_live(store, id, "f5 f2 f1");
}

struct spans { int64_t table_id, since; size_t limit; struct tarn_span out[4]; size_t count; };
static tarn_code spans_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct spans *s = ctx;
    return tx->ops->monitors.spans(tx, s->table_id, "a", s->since, s->limit, s->out, &s->count, err);
}

void tarn_contract_the_spans_of_closed_findings_of_a_code_come_newest_first(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t id = fx_make(store, "default", "orders"), other = fx_make(store, "default", "other");
    struct tarn_finding rows[] = {
        fx_finding(id, "f1", "a", "x", TARN_SEV_WARNING), fx_finding(id, "f2", "a", "x", TARN_SEV_WARNING),
        fx_finding(id, "f3", "a", "x", TARN_SEV_WARNING), fx_finding(id, "f4", "b", "x", TARN_SEV_WARNING),
        fx_finding(other, "f5", "a", "x", TARN_SEV_WARNING), fx_finding(id, "f6", "a", "x", TARN_SEV_WARNING),
    };
    for (size_t i = 0; i < TARN_COUNT(rows); i++) {
        rows[i].since = (int64_t)(100 + i);
        rows[i].closed_at = i == 5 ? -1 : (int64_t)(200 + i);
        rows[i].opened_at = i == 1 ? -1 : 150; /* a suspect was no incident */
        fx_write(store, fx_put_finding_tx, &rows[i], TARN_OK);
    }
    struct spans s = { .table_id = id, .since = 200, .limit = 4 };
    fx_read(store, spans_tx, &s, TARN_OK);
    cr_assert(eq(sz, s.count, 2));
    cr_expect(eq(i64, s.out[0].from, 102));
    cr_expect(eq(i64, s.out[0].to, 202));
    cr_expect(eq(i64, s.out[1].to, 200));
    s.since = 201;
    fx_read(store, spans_tx, &s, TARN_OK);
    cr_expect(eq(sz, s.count, 1));
    s = (struct spans){ .table_id = id, .limit = 1 };
    fx_read(store, spans_tx, &s, TARN_OK);
    cr_expect(eq(sz, s.count, 1));
}

static struct tarn_finding get_finding(struct tarn_store *store, struct tarn_finding wanted, tarn_code expected)
{
    struct tarn_finding ctx = wanted;
    fx_read(store, get_finding_tx, &ctx, expected);
    return ctx;
}

void tarn_contract_what_is_said_of_a_finding_reads_back(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t id = fx_make(store, "default", "orders"), other = fx_make(store, "default", "other");
    struct tarn_finding row = fx_finding(id, "f1", "a", "x", TARN_SEV_WARNING), none = row;
    fx_write(store, fx_put_finding_tx, &row, TARN_OK);
    struct tarn_finding plain = get_finding(store, row, TARN_OK);
    fx_same(plain.ack.by, NULL);
    fx_same(plain.accept.reason, NULL);
    fx_same(plain.suppressed_by, NULL);
    cr_expect(eq(i64, plain.told_at, 0));
    tarn_finding_done(&plain);

    row.ack.by = S("anna");
    row.ack.at = 5;
    row.ack.until = -1;
    row.accept.reason = S("old");
    row.accept.by = S("bert");
    row.accept.at = 6;
    row.suppressed_by = S("maintenance");
    row.told_at = 7;
    fx_write(store, fx_put_finding_tx, &row, TARN_OK);
    struct tarn_finding said = get_finding(store, row, TARN_OK);
    cr_expect(eq(str, said.ack.by, S("anna")));
    fx_same(said.ack.comment, NULL);
    cr_expect(eq(i64, said.ack.at, 5));
    cr_expect(eq(i64, said.ack.until, -1));
    cr_expect(eq(str, said.accept.reason, S("old")));
    cr_expect(eq(str, said.accept.by, S("bert")));
    cr_expect(eq(i64, said.accept.at, 6));
    cr_expect(eq(str, said.suppressed_by, S("maintenance")));
    cr_expect(eq(i64, said.told_at, 7));
    fx_same(said.closed_reason, NULL);
    tarn_finding_done(&said);

    row.ack.until = 9;
    row.ack.comment = S("c");
    row.closed_at = 10;
    row.closed_reason = S("cleared");
    fx_write(store, fx_put_finding_tx, &row, TARN_OK);
    struct tarn_finding closed = get_finding(store, row, TARN_OK);
    cr_expect(eq(i64, closed.ack.until, 9));
    cr_expect(eq(str, closed.ack.comment, S("c")));
    cr_expect(eq(str, closed.closed_reason, S("cleared")));
    tarn_finding_done(&closed);
    none.table_id = other; /* a finding belongs to its table */
    (void)get_finding(store, none, TARN_NOT_FOUND);
}

struct root {
    int64_t table_id;
    bool told;
};
static tarn_code root_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct root *r = ctx;
    return tx->ops->monitors.root_told(tx, "/lake", r->table_id, &r->told, err);
}
static bool root_told(struct tarn_store *store, int64_t table_id)
{
    struct root r = { .table_id = table_id };
    fx_read(store, root_tx, &r, TARN_OK);
    return r.told;
}

void tarn_contract_a_lost_root_is_told_by_one_table_as_long_as_it_lives(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t id = fx_make(store, "default", "orders"), other = fx_make(store, "default", "other");
    struct tarn_finding row = fx_finding(id, "f1", "storage_unreachable", "/lake", TARN_SEV_ERROR);

    fx_write(store, fx_put_finding_tx, &row, TARN_OK);
    cr_expect(eq(int, root_told(store, other), 0), "it is open, but nobody was told");
    row.told_at = 5;
    fx_write(store, fx_put_finding_tx, &row, TARN_OK);
    cr_expect(eq(int, root_told(store, other), 1));
    cr_expect(eq(int, root_told(store, id), 0), "its own does not count");
    row.suppressed_by = S("silence:x");
    fx_write(store, fx_put_finding_tx, &row, TARN_OK);
    cr_expect(eq(int, root_told(store, other), 0));
    row.suppressed_by = NULL;
    fx_write(store, fx_put_finding_tx, &row, TARN_OK);
    struct tarn_table *table = fx_get(store, id);
    table->dropped_at = 9;
    fx_update(store, table);
    tarn_table_free(table);
    cr_expect(eq(int, root_told(store, other), 0), "a dropped table tells nothing");
}

struct closed {
    int64_t table_id, at, before;
    const char *after_id;
    struct tarn_findings list;
    bool left;
};
static tarn_code closed_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct closed *c = ctx;
    return tx->ops->monitors.closed(tx, c->table_id, c->at, c->after_id, 2, &c->list, err);
}
static tarn_code expire_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct closed *c = ctx;
    return tx->ops->monitors.expire_findings(tx, c->before, 2, &c->left, err);
}
static void expect_closed(struct tarn_store *store, int64_t table_id, int64_t at, const char *after_id, const char *expected)
{
    struct closed c = { .table_id = table_id, .at = at, .after_id = after_id };
    struct tarn_buf ids = { 0 };
    fx_read(store, closed_tx, &c, TARN_OK);
    for (size_t i = 0; i < c.list.count; i++)
        tarn_buf_addf(&ids, "%s%s", i ? " " : "", c.list.items[i].id);
    cr_expect(eq(str, ids.data ? ids.data : S(""), S(expected)));
    tarn_buf_done(&ids);
    tarn_findings_done(&c.list);
}

void tarn_contract_closed_findings_come_newest_first_in_pages_and_expire(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t id = fx_make(store, "default", "orders");
    static const struct { const char *id; int64_t closed_at; } k_rows[] = {
        { "f1", 100 }, { "f2", 300 }, { "f3", 300 }, { "f4", 300 }, { "f5", 200 }, { "f6", -1 },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct tarn_finding row = fx_finding(id, k_rows[i].id, "a", k_rows[i].id, TARN_SEV_INFO);
        row.closed_at = k_rows[i].closed_at;
        fx_write(store, fx_put_finding_tx, &row, TARN_OK);
    }
    expect_closed(store, id, INT64_MAX, "", "f2 f3");
    expect_closed(store, id, 300, "f3", "f4 f5");
    expect_closed(store, id, 200, "f5", "f1");
    expect_closed(store, id, 100, "f1", "");

    struct closed c = { .before = 300 };
    fx_write(store, expire_tx, &c, TARN_OK);
    cr_expect(c.left, "as many as one call takes");
    fx_write(store, expire_tx, &c, TARN_OK);
    cr_expect(eq(int, c.left, 0));
    expect_closed(store, id, INT64_MAX, "", "f2 f3");
    expect_closed(store, id, 300, "f3", "f4");
    expect_live(store, id, "f6");
}
