/* Kept answers: found again word for word, until the table is written, the clock turns them, or room is needed. */
#include "api/answers.h"
#include "catalog/sqlite/sqlite.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

static struct tarn_store *store;
static struct tarn_answers *answers;
static const struct tarn_ident k_orders = { "sales", "orders" };

static void set_up(void)
{
    TARN_ERR(err);
    const struct tarn_sqlite_options options = { .path = tarn_path(tarn_tmp(), "tarn.sqlite"), .migrate = true };
    cr_assert(eq(int, (int)tarn_sqlite_open(&options, &store, &err), (int)TARN_OK));
    cr_assert(eq(int, (int)tarn_answers_new(store, 1u << 20, &answers, &err), (int)TARN_OK));
}
static void tear_down(void)
{
    tarn_answers_free(answers);
    tarn_store_free(store);
    tarn_tmp_remove();
}

static void keep(const struct tarn_ident *ident, int64_t table_id, const char *text, int64_t until_ms)
{
    TARN_AUTO_DONE(buf) struct tarn_buf body = { 0 };
    tarn_buf_adds(&body, text);
    tarn_answers_keep(answers, TARN_ANSWER_STATUS, ident, table_id, tarn_store_clock(store), until_ms, &body, "\"1.2\"");
}

/* The kept text, "" when there is none. */
static const char *find(enum tarn_answer_kind kind, const struct tarn_ident *ident, int64_t now_ms)
{
    static char text[64];
    char tag[TARN_ANSWER_TAG];
    TARN_AUTO_DONE(buf) struct tarn_buf out = { 0 };
    text[0] = '\0';
    if (tarn_answers_find(answers, kind, ident, now_ms, &out, tag)) {
        snprintf(text, sizeof text, "%s", out.data);
        cr_expect(eq(str, tag, "\"1.2\""));
    }
    return text;
}

static struct tarn_table table_row(int64_t id)
{
    static char namespace_[] = "sales", name[] = "orders", location[] = "/lake/orders", keys[] = "[]", object[] = "{}";
    struct tarn_table table = { .id = id, .namespace_ = namespace_, .name = name, .location = location,
                                .partition_keys = keys, .properties = object, .monitors = object,
                                .published_version = -1, .dropped_at = -1 };
    snprintf(table.uuid, sizeof table.uuid, "00000000-0000-4000-8000-%012d", (int)id);
    return table;
}

static tarn_code insert_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return tx->ops->tables.insert(tx, ctx, err);
}
static tarn_code update_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return tx->ops->tables.update(tx, ctx, err);
}
static tarn_code scan_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_scan_row row = { .table_id = *(int64_t *)ctx, .checked_at = 1, .manifest_age_ms = -1 };
    return tx->ops->monitors.put(tx, &row, err);
}
static tarn_code finding_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    static char code[] = "manifest_age", subject[] = "manifest.json", message[] = "old";
    struct tarn_finding finding = { .id = "f1", .table_id = *(int64_t *)ctx, .code = code, .subject = subject,
                                    .message = message, .severity = TARN_SEV_WARNING, .opened_at = 1, .closed_at = -1 };
    return tx->ops->monitors.put_finding(tx, &finding, err);
}
static tarn_code forget_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    (void)ctx;
    return tx->ops->monitors.delete_finding(tx, "f1", err);
}

static void write(tarn_tx_fn *fn, void *ctx)
{
    TARN_ERR(err);
    cr_assert(eq(int, (int)tarn_store_write(store, fn, ctx, &err), (int)TARN_OK), "%s", err.detail);
}

TestSuite(answers, .init = set_up, .fini = tear_down);

Test(answers, one_is_found_under_its_kind_and_name_alone)
{
    static const struct tarn_ident k_other = { "sales", "order" }, k_split = { "sale", "sorders" };
    keep(&k_orders, 7, "{\"a\":1}", INT64_MAX);
    cr_expect(eq(str, (char *)find(TARN_ANSWER_STATUS, &k_orders, 0), "{\"a\":1}"));
    cr_expect(eq(str, (char *)find(TARN_ANSWER_TABLE, &k_orders, 0), ""));
    cr_expect(eq(str, (char *)find(TARN_ANSWER_STATUS, &k_other, 0), ""));
    cr_expect(eq(str, (char *)find(TARN_ANSWER_STATUS, &k_split, 0), ""));
}

Test(answers, the_clock_turns_one)
{
    keep(&k_orders, 7, "x", 1000);
    cr_expect(eq(str, (char *)find(TARN_ANSWER_STATUS, &k_orders, 999), "x"));
    cr_expect(eq(str, (char *)find(TARN_ANSWER_STATUS, &k_orders, 1000), ""));
}

Test(answers, every_write_of_what_a_table_shows_ends_its_answers)
{
    int64_t id = 7;
    struct tarn_table table = table_row(id);
    static const struct { const char *name; tarn_tx_fn *fn; bool of_table; } k_rows[] = {
        { "insert", insert_tx, true }, { "update", update_tx, true },      { "scan", scan_tx, false },
        { "finding", finding_tx, false }, { "forget", forget_tx, false },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        keep(&k_orders, id, "x", INT64_MAX);
        cr_expect(eq(str, (char *)find(TARN_ANSWER_STATUS, &k_orders, 0), "x"), "before %s", k_rows[i].name);
        write(k_rows[i].fn, k_rows[i].of_table ? (void *)&table : (void *)&id);
        cr_expect(eq(str, (char *)find(TARN_ANSWER_STATUS, &k_orders, 0), ""), "after %s", k_rows[i].name);
    }
}

Test(answers, a_write_of_another_table_leaves_them)
{
    static const struct tarn_ident k_other = { "sales", "other" };
    struct tarn_table table = table_row(7);
    keep(&k_other, 8, "x", INT64_MAX);
    write(insert_tx, &table);
    cr_expect(eq(str, (char *)find(TARN_ANSWER_STATUS, &k_other, 0), "x"));
}

Test(answers, a_read_that_began_before_a_write_is_never_kept_for_good)
{
    TARN_AUTO_DONE(buf) struct tarn_buf body = { 0 };
    struct tarn_table table = table_row(7);
    uint64_t clock = tarn_store_clock(store); /* the reader looks now and is slow */
    write(insert_tx, &table);
    tarn_buf_adds(&body, "old");
    tarn_answers_keep(answers, TARN_ANSWER_STATUS, &k_orders, 7, clock, INT64_MAX, &body, NULL);
    cr_expect(eq(str, (char *)find(TARN_ANSWER_STATUS, &k_orders, 0), ""));
}

Test(answers, one_comes_with_its_tag_and_what_is_too_long_is_not_kept)
{
    static const struct {
        size_t body, tag;
        bool is_kept;
    } k_rows[] = {
        { 0, 0, true }, { 1, TARN_ANSWER_TAG - 1, true }, { 1, TARN_ANSWER_TAG, false }, { 8192, 1, true }, { 8193, 1, false },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        TARN_AUTO_DONE(buf) struct tarn_buf body = { 0 }, out = { 0 };
        char tag[TARN_ANSWER_TAG + 1] = "", found[TARN_ANSWER_TAG] = "";
        struct tarn_ident ident = { "n", "" };
        snprintf(ident.name, sizeof ident.name, "t%zu", i);
        memset(tag, 't', k_rows[i].tag);
        memset(tarn_buf_reserve(&body, k_rows[i].body + 1), 'b', k_rows[i].body);
        body.len = k_rows[i].body;
        tarn_answers_keep(answers, TARN_ANSWER_LOAD, &ident, 7, tarn_store_clock(store), INT64_MAX, &body, tag);
        bool is_kept = tarn_answers_find(answers, TARN_ANSWER_LOAD, &ident, 0, &out, found);
        cr_expect(eq(int, is_kept, k_rows[i].is_kept), "row %zu", i);
        if (is_kept) {
            cr_expect(eq(sz, out.len, k_rows[i].body), "row %zu", i);
            cr_expect(eq(str, found, tag), "row %zu", i);
        }
    }
}

Test(answers, room_is_made_by_dropping_the_oldest)
{
    struct tarn_ident ident = { "n", "" };
    char text[2001];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    for (int i = 0; i < 3000; i++) {
        snprintf(ident.name, sizeof ident.name, "t%d", i);
        keep(&ident, i, text, INT64_MAX);
    }
    int found = 0;
    for (int i = 0; i < 3000; i++) {
        snprintf(ident.name, sizeof ident.name, "t%d", i);
        found += find(TARN_ANSWER_STATUS, &ident, 0)[0] == 'x';
    }
    cr_expect(found > 300 && found <= (1 << 20) / 2000, "%d", found);
    cr_expect(eq(str, (char *)find(TARN_ANSWER_STATUS, &(struct tarn_ident){ "n", "t0" }, 0), ""));
    cr_expect(ne(str, (char *)find(TARN_ANSWER_STATUS, &(struct tarn_ident){ "n", "t2999" }, 0), ""));
}
