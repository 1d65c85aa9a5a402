/* store_contract_monitors.c - the port's promises about scans and the status list. */
#include "base/buf.h"
#include "tests/catalog/store_contract.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#define S(text) ((char *)(text))

struct ids {
    int64_t at, limit; /* at: now */
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
                                      .last_run = -1,
                                      .top_version = -1,
                                      .top_files = -1,
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
        .last_run = 24,
        .top_version = 25,
        .top_transaction = S("txn-8"),
        .top_uuid = S("u"),
        .top_files = 26,
        .details = S("{\"x\":1}"),
        .verdict = TARN_SEV_WARNING,
        .judged = true,
        .verdict_since = 23,
        .duration_ms = 24,
        .failures_total = 25,
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
    cr_expect(eq(i64, a->last_run, b->last_run));
    cr_expect(eq(i64, a->top_version, b->top_version));
    fx_same(a->top_transaction, b->top_transaction);
    fx_same(a->top_uuid, b->top_uuid);
    cr_expect(eq(i64, a->top_files, b->top_files));
    cr_expect(eq(str, a->details, b->details));
    cr_expect(eq(int, (int)a->verdict, (int)b->verdict));
    cr_expect(eq(int, a->judged, b->judged));
    cr_expect(eq(i64, a->verdict_since, b->verdict_since));
    cr_expect(eq(i64, a->duration_ms, b->duration_ms));
    cr_expect(eq(i64, a->failures_total, b->failures_total));
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
                                      .duration_ms = -1,
                                      .last_run = -1,
                                      .top_version = -1,
                                      .top_files = -1,
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

/* --- the status list --- */

struct status {
    struct tarn_table_filter filter;
    struct tarn_buf text;
};
static tarn_code note_status(void *ctx, const struct tarn_status_row *row, struct tarn_err *err)
{
    (void)err;
    struct status *s = ctx;
    tarn_buf_addf(&s->text, "%s:%s:%lld/%lld/%lld:%s", row->table->name,
                  row->scan ? row->scan->latest_transaction : "-", (long long)row->open_errors,
                  (long long)row->open_warnings, (long long)row->open_infos, row->worst ? row->worst->id : "-");
    for (size_t i = 0; i < row->code_count; i++)
        tarn_buf_addf(&s->text, ":%s.%s=%lld/%lld/%lld", row->codes[i].code, tarn_severity_text(row->codes[i].severity),
                      (long long)row->codes[i].count, (long long)row->codes[i].quiet, (long long)row->codes[i].heard);
    tarn_buf_adds(&s->text, " ");
    return TARN_OK;
}
static tarn_code status_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct status *s = ctx;
    return tx->ops->monitors.status(tx, &s->filter, note_status, s, err);
}

static bool is_k(const char *code) { return strcmp(code, "k") == 0; }

void tarn_contract_the_status_list_counts_what_is_open_and_names_the_worst(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t a = fx_make(store, "default", "a"), b = fx_make(store, "default", "b"),
            c = fx_make(store, "default", "c");
    struct tarn_finding rows[] = {
        fx_finding(a, "a1", "k", "x", TARN_SEV_WARNING), fx_finding(a, "a2", "z", "x", TARN_SEV_ERROR),
        fx_finding(a, "a3", "y", "x", TARN_SEV_ERROR),   fx_finding(a, "a4", "b", "x", TARN_SEV_ERROR),
        fx_finding(a, "a5", "a", "x", TARN_SEV_ERROR),   fx_finding(b, "b1", "k", "x", TARN_SEV_INFO),
        fx_finding(a, "a6", "k", "y", TARN_SEV_INFO),    fx_finding(a, "a7", "k", "z", TARN_SEV_WARNING),
        fx_finding(a, "a8", "w", "x", TARN_SEV_ERROR),
    };
    rows[3].opened_at = -1;  /* a suspect */
    rows[4].closed_at = 100; /* over */
    rows[7].suppressed_by = S("silence");
    rows[8].suppressed_by = S("maintenance"); /* and so it never opened */
    rows[8].opened_at = -1;
    for (size_t i = 0; i < TARN_COUNT(rows); i++)
        fx_write(store, fx_put_finding_tx, &rows[i], TARN_OK);
    struct scan put = { a, full_scan(a) };
    fx_write(store, scan_put_tx, &put, TARN_OK);
    (void)c;
    struct status s = { .filter = { .format = -1, .mode = -1, .limit = 10 } };
    fx_read(store, status_tx, &s, TARN_OK);
    cr_expect(eq(str, s.text.data, S("a:txn-7:2/2/1:a3:k.warning=2/1/1:k.info=1/0/1:w.error=0/1/0:y.error=1/0/1:z.error=1/0/1 "
                               "b:-:0/0/1:b1:k.info=1/0/1 c:-:0/0/0:- ")));
    tarn_buf_clear(&s.text);
    s.filter.comes_first = is_k;
    fx_read(store, status_tx, &s, TARN_OK);
    cr_expect(tarn_has(s.text.data, "a:txn-7:2/2/1:a1:"), "the first of those that come before all: %s", s.text.data);
    tarn_buf_done(&s.text);
}
