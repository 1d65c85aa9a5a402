/* store_contract_monitors.c - the port's promises about scans, findings, publications and tokens. */
#include "base/buf.h"
#include "tests/catalog/store_contract.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#define S(text) ((char *)(text))

struct ids {
    int64_t at, limit; /* now, or the id to come after */
    int64_t ids[16], count, next_due;
};
static tarn_code due_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct ids *d = ctx;
    return tx->ops->monitors.due(tx, d->at, d->limit, d->ids, &d->count, &d->next_due, err);
}

struct scan {
    int64_t table_id;
    struct tarn_scan_row row;
};
static tarn_code scan_get_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct scan *s = ctx;
    return tx->ops->monitors.get(tx, s->table_id, &s->row, err);
}
static tarn_code scan_put_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return tx->ops->monitors.put(tx, &((struct scan *)ctx)->row, err);
}

static void put_due(struct tarn_store *store, int64_t table_id, int64_t next_probe_at)
{
    struct scan s = { table_id,
                      { .table_id = table_id,
                        .checked_at = -1,
                        .next_probe_at = next_probe_at,
                        .first_failed_at = 5,
                        .failures = 1,
                        .version = -1,
                        .last_updated = -1,
                        .file_count = -1,
                        .total_bytes = -1,
                        .schema_version = -1,
                        .last_data_commit = -1,
                        .verdict = TARN_SEV_UNKNOWN } };
    fx_write(store, scan_put_tx, &s, TARN_OK);
}

void tarn_contract_a_new_table_is_due_at_once_and_not_yet_scanned(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    struct ids d = { .at = 1000, .limit = 10 };
    fx_read(store, due_tx, &d, TARN_OK);
    cr_expect(eq(i64, d.count, 0));
    cr_expect(eq(i64, d.next_due, INT64_MAX));
    int64_t id = fx_make(store, "default", "orders");
    fx_read(store, due_tx, &d, TARN_OK);
    cr_expect(eq(i64, d.count, 1));
    cr_expect(eq(i64, d.ids[0], id));
    cr_expect(eq(i64, d.next_due, INT64_MAX));
    struct scan s = { .table_id = id };
    fx_read(store, scan_get_tx, &s, TARN_NOT_FOUND);
}

void tarn_contract_what_is_due_comes_earliest_first_and_tells_when_to_look_again(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    static const int64_t k_at[] = { 300, 100, 200, 400 };
    int64_t ids[4];
    for (int i = 0; i < 4; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%d", i);
        ids[i] = fx_make(store, "default", name);
        put_due(store, ids[i], k_at[i]);
    }
    struct ids d = { .at = 300, .limit = 10 };
    fx_read(store, due_tx, &d, TARN_OK);
    cr_assert(eq(i64, d.count, 3));
    cr_expect(eq(i64, d.ids[0], ids[1]));
    cr_expect(eq(i64, d.ids[1], ids[2]));
    cr_expect(eq(i64, d.ids[2], ids[0]));
    cr_expect(eq(i64, d.next_due, 400));

    d = (struct ids){ .at = 300, .limit = 2 };
    fx_read(store, due_tx, &d, TARN_OK);
    cr_expect(eq(i64, d.count, 2));
    cr_expect(eq(i64, d.next_due, 300)); /* it waits already */

    d = (struct ids){ .at = 99, .limit = 2 };
    fx_read(store, due_tx, &d, TARN_OK);
    cr_expect(eq(i64, d.count, 0));
    cr_expect(eq(i64, d.next_due, 100));
}

void tarn_contract_a_dropped_table_is_never_due(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    TARN_AUTO(table) struct tarn_table *table = fx_get(store, fx_make(store, "default", "orders"));
    put_due(store, table->id, 100);
    table->dropped_at = 50;
    fx_update(store, table);
    put_due(store, table->id, 100); /* a scan that was under way */
    struct ids d = { .at = 1000, .limit = 10 };
    fx_read(store, due_tx, &d, TARN_OK);
    cr_expect(eq(i64, d.count, 0));
    cr_expect(eq(i64, d.next_due, INT64_MAX));
    table->dropped_at = -1;
    fx_update(store, table);
    fx_read(store, due_tx, &d, TARN_OK);
    cr_expect(eq(i64, d.count, 1));
    put_due(store, table->id + 99, 100); /* a table that went: nothing to note, nothing left behind */
    fx_read(store, due_tx, &d, TARN_OK);
    cr_expect(eq(i64, d.count, 1));
}

static struct tarn_scan_row full_scan(int64_t table_id)
{
    return (struct tarn_scan_row){
        .table_id = table_id,
        .checked_at = 10,
        .checked_version = 11,
        .next_probe_at = 12,
        .next_sweep_at = 13,
        .failures = 14,
        .first_failed_at = 15,
        .version = 16,
        .latest_transaction = S("txn-7"),
        .last_updated = 17,
        .file_count = 18,
        .total_bytes = 19,
        .schema_version = 20,
        .partition_keys = S("[\"d\"]"),
        .has_manifest_age = true,
        .manifest_age_ms = -21,
        .last_data_commit = 22,
        .details = S("{\"x\":1}"),
        .verdict = TARN_SEV_WARNING,
        .judged = true,
        .verdict_since = 23,
    };
}

static void expect_scan(const struct tarn_scan_row *a, const struct tarn_scan_row *b)
{
    cr_expect(eq(i64, a->table_id, b->table_id));
    cr_expect(eq(i64, a->checked_at, b->checked_at));
    cr_expect(eq(i64, a->checked_version, b->checked_version));
    cr_expect(eq(i64, a->next_probe_at, b->next_probe_at));
    cr_expect(eq(i64, a->next_sweep_at, b->next_sweep_at));
    cr_expect(eq(i64, a->failures, b->failures));
    cr_expect(eq(i64, a->first_failed_at, b->first_failed_at));
    cr_expect(eq(i64, a->version, b->version));
    fx_same(a->latest_transaction, b->latest_transaction);
    cr_expect(eq(i64, a->last_updated, b->last_updated));
    cr_expect(eq(i64, a->file_count, b->file_count));
    cr_expect(eq(i64, a->total_bytes, b->total_bytes));
    cr_expect(eq(i64, a->schema_version, b->schema_version));
    fx_same(a->partition_keys, b->partition_keys);
    cr_expect(eq(int, a->has_manifest_age, b->has_manifest_age));
    cr_expect(eq(i64, a->manifest_age_ms, b->manifest_age_ms));
    cr_expect(eq(i64, a->last_data_commit, b->last_data_commit));
    cr_expect(eq(str, a->details, b->details));
    cr_expect(eq(int, (int)a->verdict, (int)b->verdict));
    cr_expect(eq(int, a->judged, b->judged));
    cr_expect(eq(i64, a->verdict_since, b->verdict_since));
}

void tarn_contract_a_scan_row_reads_back_as_it_was_put(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t id = fx_make(store, "default", "orders");
    struct scan put = { id, full_scan(id) }, got = { .table_id = id };
    fx_write(store, scan_put_tx, &put, TARN_OK);
    fx_read(store, scan_get_tx, &got, TARN_OK);
    expect_scan(&got.row, &put.row);
    tarn_scan_row_done(&got.row);

    put.row = (struct tarn_scan_row){ .table_id = id,
                                      .checked_at = -1,
                                      .first_failed_at = -1,
                                      .version = -1,
                                      .last_updated = -1,
                                      .file_count = -1,
                                      .total_bytes = -1,
                                      .schema_version = -1,
                                      .last_data_commit = -1,
                                      .details = S("{}"),
                                      .verdict = TARN_SEV_UNKNOWN };
    fx_write(store, scan_put_tx, &put, TARN_OK);
    fx_read(store, scan_get_tx, &got, TARN_OK);
    expect_scan(&got.row, &put.row);
    tarn_scan_row_done(&got.row);
}

struct look {
    const char *name;
    struct tarn_table *table;
    struct tarn_scan_row scan;
    bool scanned;
};
static tarn_code look_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct look *l = ctx;
    return tx->ops->monitors.look(tx, "default", l->name, &l->table, &l->scan, &l->scanned, err);
}

void tarn_contract_one_look_gives_the_table_and_its_scan(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t id = fx_make(store, "default", "orders");
    struct look l = { .name = "orders", .scanned = true };
    fx_read(store, look_tx, &l, TARN_OK);
    cr_expect(eq(i64, l.table->id, id));
    cr_expect(not(l.scanned));
    tarn_table_free(l.table);

    struct scan put = { id, full_scan(id) };
    fx_write(store, scan_put_tx, &put, TARN_OK);
    fx_read(store, look_tx, &l, TARN_OK);
    cr_expect(eq(str, l.table->name, S("orders")));
    cr_expect(l.scanned);
    expect_scan(&l.scan, &put.row);
    tarn_scan_row_done(&l.scan);
    tarn_table_free(l.table);
    l.name = "none";
    fx_read(store, look_tx, &l, TARN_TABLE_NOT_FOUND);
}

/* --- findings --- */

static struct tarn_finding finding(int64_t table_id, const char *id, const char *code, const char *subject,
                                   enum tarn_severity severity)
{
    struct tarn_finding f = { .table_id = table_id,
                              .code = S(code),
                              .subject = S(subject),
                              .message = S("m"),
                              .severity = severity,
                              .since = 1,
                              .opened_at = 2,
                              .closed_at = -1,
                              .last_bad_at = 3,
                              .bad_looks = 2 };
    snprintf(f.id, sizeof f.id, "%s", id);
    return f;
}
static tarn_code put_finding_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return tx->ops->monitors.put_finding(tx, ctx, err);
}
static tarn_code delete_finding_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return tx->ops->monitors.delete_finding(tx, ctx, err);
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
        finding(id, "f1", "b", "y", TARN_SEV_WARNING), finding(id, "f2", "b", "x", TARN_SEV_WARNING),
        finding(id, "f3", "c", "x", TARN_SEV_ERROR),   finding(id, "f4", "a", "x", TARN_SEV_INFO),
        finding(id, "f5", "a", "z", TARN_SEV_WARNING), finding(other, "f6", "a", "x", TARN_SEV_ERROR),
    };
    rows[4].opened_at = -1; /* a suspect */
    for (size_t i = 0; i < TARN_COUNT(rows); i++)
        fx_write(store, put_finding_tx, &rows[i], TARN_OK);
    expect_live(store, id, "f3 f5 f2 f1 f4");

    struct tarn_finding twice = finding(id, "f7", "a", "x", TARN_SEV_INFO); /* one live finding an identity */
    fx_write(store, put_finding_tx, &twice, TARN_INTERNAL);
    rows[3].closed_at = 500;
    rows[3].evidence = S("{\"count\":1}");
    fx_write(store, put_finding_tx, &rows[3], TARN_OK);
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
    fx_write(store, put_finding_tx, &twice, TARN_OK);
    r.since = 400;
    fx_read(store, reopenable_tx, &r, TARN_OK);
    cr_expect(eq(str, r.row.id, S("f7")));
    tarn_finding_done(&r.row);
    fx_write(store, delete_finding_tx, S("f3"), TARN_OK);
    expect_live(store, id, "f5 f2 f1");
}

struct status {
    struct tarn_table_filter filter;
    struct tarn_buf text;
};
static tarn_code note_status(void *ctx, const struct tarn_status_row *row, struct tarn_err *err)
{
    (void)err;
    struct status *s = ctx;
    tarn_buf_addf(&s->text, "%s:%s:%lld/%lld:%s ", row->table->name,
                  row->scan ? row->scan->latest_transaction : "-", (long long)row->open_errors,
                  (long long)row->open_warnings, row->worst ? row->worst->id : "-");
    return TARN_OK;
}
static tarn_code status_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct status *s = ctx;
    return tx->ops->monitors.status(tx, &s->filter, note_status, s, err);
}

void tarn_contract_the_status_list_counts_what_is_open_and_names_the_worst(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t a = fx_make(store, "default", "a"), b = fx_make(store, "default", "b"),
            c = fx_make(store, "default", "c");
    struct tarn_finding rows[] = {
        finding(a, "a1", "k", "x", TARN_SEV_WARNING), finding(a, "a2", "z", "x", TARN_SEV_ERROR),
        finding(a, "a3", "y", "x", TARN_SEV_ERROR),   finding(a, "a4", "b", "x", TARN_SEV_ERROR),
        finding(a, "a5", "a", "x", TARN_SEV_ERROR),   finding(b, "b1", "k", "x", TARN_SEV_INFO),
    };
    rows[3].opened_at = -1;  /* a suspect */
    rows[4].closed_at = 100; /* over */
    for (size_t i = 0; i < TARN_COUNT(rows); i++)
        fx_write(store, put_finding_tx, &rows[i], TARN_OK);
    struct scan put = { a, full_scan(a) };
    fx_write(store, scan_put_tx, &put, TARN_OK);
    (void)c;
    struct status s = { .filter = { .format = -1, .mode = -1, .limit = 10 } };
    fx_read(store, status_tx, &s, TARN_OK);
    cr_expect(eq(str, s.text.data, S("a:txn-7:2/1:a3 b:-:0/0:b1 c:-:0/0:- ")));
    tarn_buf_done(&s.text);
}

/* --- publications, tokens --- */

struct publish {
    int64_t table_id, schema;
    struct tarn_publication pub;
};
static tarn_code publish_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct publish *p = ctx;
    return tx->ops->publications.put(tx, p->table_id, &p->pub, p->schema, err);
}
static tarn_code published_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct publish *p = ctx;
    TRY(tx->ops->publications.schema_published(tx, p->table_id, &p->schema, err));
    return tx->ops->publications.get(tx, p->table_id, &p->pub, err);
}

static int64_t make_published(struct tarn_store *store, const char *name)
{
    TARN_AUTO(table) struct tarn_table *table = fx_get(store, fx_make(store, "default", name));
    table->publish = true;
    fx_update(store, table);
    return table->id;
}

void tarn_contract_a_publication_moves_the_published_version_without_a_revision(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t id = make_published(store, "orders");
    struct publish got = { .table_id = id };
    fx_read(store, published_tx, &got, TARN_OK);
    cr_expect(eq(i64, got.pub.version, -1));
    cr_expect(eq(str, got.pub.manifest_sha256, S("")));
    cr_expect(eq(i64, got.schema, 0));

    struct publish put = { id, 2, { .version = 5, .manifest_sha256 = "abc", .manifest_token = "t-1" } };
    for (int again = 0; again < 2; again++) {
        put.pub.version++;
        fx_write(store, publish_tx, &put, TARN_OK);
        fx_read(store, published_tx, &got, TARN_OK);
        cr_expect(eq(i64, got.pub.version, put.pub.version));
        cr_expect(eq(str, got.pub.manifest_sha256, S("abc")));
        cr_expect(eq(str, got.pub.manifest_token, S("t-1")));
        cr_expect(eq(i64, got.schema, 2));
    }
    TARN_AUTO(table) struct tarn_table *table = fx_get(store, id);
    cr_expect(eq(i64, table->published_version, 7));
    cr_expect(eq(i64, table->revision, 2)); /* the update of make_published */

    table->publish = false;
    table->published_version = -1;
    fx_update(store, table);
    fx_write(store, publish_tx, &put, TARN_OK); /* a publication that was under way */
    TARN_AUTO(table) struct tarn_table *off = fx_get(store, id);
    cr_expect(eq(i64, off->published_version, -1));
    put.table_id = id + 1;
    fx_write(store, publish_tx, &put, TARN_TABLE_NOT_FOUND);
}

static tarn_code pending_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct ids *p = ctx;
    return tx->ops->publications.pending(tx, p->at, p->limit, p->ids, &p->count, err);
}

void tarn_contract_tables_with_something_to_publish_are_pending(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t fresh = make_published(store, "fresh"), behind = make_published(store, "behind"),
            schema = make_published(store, "schema"), even = make_published(store, "even"),
            blocked = make_published(store, "blocked"), observed = make_published(store, "observed"),
            dropped = make_published(store, "dropped");
    (void)fx_make(store, "default", "off");
    struct publish put = { .pub = { .version = 0, .manifest_sha256 = "", .manifest_token = "" } };
    int64_t published[] = { behind, schema, even };
    for (size_t i = 0; i < TARN_COUNT(published); i++) {
        put.table_id = published[i];
        fx_write(store, publish_tx, &put, TARN_OK);
    }
    (void)fx_commit(store, behind, "txn-1", "a", NULL);
    TARN_AUTO(table)
    struct tarn_table *t1 = fx_get(store, schema),
                      *t2 = fx_get(store, blocked), *t3 = fx_get(store, observed),
                      *t4 = fx_get(store, dropped);
    t1->schema_version = 1;
    t2->block = TARN_BLOCK_FOREIGN_WRITE;
    t3->mode = TARN_OBSERVED;
    t4->dropped_at = 1;
    fx_update(store, t1);
    fx_update(store, t2);
    fx_update(store, t3);
    fx_update(store, t4);
    struct ids p = { .limit = 16 };
    fx_read(store, pending_tx, &p, TARN_OK);
    cr_assert(eq(i64, p.count, 3));
    cr_expect(eq(i64, p.ids[0], fresh));
    cr_expect(eq(i64, p.ids[1], behind));
    cr_expect(eq(i64, p.ids[2], schema));
    p = (struct ids){ .at = fresh, .limit = 1 };
    fx_read(store, pending_tx, &p, TARN_OK);
    cr_expect(eq(i64, p.count, 1));
    cr_expect(eq(i64, p.ids[0], behind));
}

static tarn_code token_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return tx->ops->tokens.insert(tx, ctx, err);
}
static tarn_code tokens_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return tx->ops->tokens.list(tx, ctx, err);
}
struct revoke {
    const char *name;
    int64_t now_ms;
};
static tarn_code revoke_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct revoke *r = ctx;
    return tx->ops->tokens.revoke(tx, r->name, r->now_ms, err);
}

void tarn_contract_tokens_are_listed_and_revoked(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    struct tarn_token b = { .name = S("b"),
                            .hash = "h1",
                            .scope = TARN_SCOPE_ADMIN,
                            .created_at = 1,
                            .expires_at = -1,
                            .revoked_at = -1 };
    struct tarn_token a = { .name = S("a"),
                            .hash = "h2",
                            .scope = TARN_SCOPE_READ,
                            .tables = S("sales.*"),
                            .roots = S("/r/*"),
                            .created_at = 2,
                            .expires_at = 99,
                            .revoked_at = -1 };
    fx_write(store, token_tx, &b, TARN_OK);
    fx_write(store, token_tx, &a, TARN_OK);
    snprintf(b.hash, sizeof b.hash, "h3");
    fx_write(store, token_tx, &b, TARN_INVALID);
    fx_write(store, revoke_tx, &(struct revoke){ "b", 50 }, TARN_OK);
    fx_write(store, revoke_tx, &(struct revoke){ "b", 60 },
             TARN_OK); /* revoked already: the first instant stays */
    fx_write(store, revoke_tx, &(struct revoke){ "c", 60 }, TARN_NOT_FOUND);

    struct tarn_tokens list = { 0 };
    fx_read(store, tokens_tx, &list, TARN_OK);
    cr_assert(eq(sz, list.count, 2));
    cr_expect(eq(str, list.items[0].name, S("a")));
    cr_expect(eq(str, list.items[0].hash, S("h2")));
    cr_expect(eq(int, (int)list.items[0].scope, TARN_SCOPE_READ));
    cr_expect(eq(str, list.items[0].tables, S("sales.*")));
    cr_expect(eq(str, list.items[0].roots, S("/r/*")));
    cr_expect(eq(i64, list.items[0].expires_at, 99));
    cr_expect(eq(i64, list.items[0].revoked_at, -1));
    fx_same(list.items[1].tables, NULL);
    cr_expect(eq(i64, list.items[1].expires_at, -1));
    cr_expect(eq(i64, list.items[1].revoked_at, 50));
    tarn_tokens_done(&list);
}
