/* store_contract_iceberg.c - the port's promises to the Iceberg face: documents of tables, views, answers by key, purges,
 * reports, and a dropped table that gives way. */
#include "base/buf.h"
#include "tests/catalog/store_contract.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#define S(text) ((char *)(text))

static tarn_code note_text(void *ctx, const char *text, size_t len, struct tarn_err *err)
{
    (void)err;
    cr_expect(eq(sz, len, strlen(text)));
    tarn_buf_clear(ctx);
    tarn_buf_add(ctx, text, len);
    return TARN_OK;
}

/* --- documents --- */

struct document { int64_t id; bool refs; struct tarn_buf text; const char *metadata, *short_form; };

static tarn_code get_document_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct document *d = ctx;
    return tx->ops->iceberg.get(tx, d->id, d->refs, note_text, &d->text, err);
}

static tarn_code put_document_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct document *d = ctx;
    return tx->ops->iceberg.put(tx, d->id, d->metadata, d->short_form, err);
}

static void expect_document(struct tarn_store *store, int64_t id, bool refs, const char *expected)
{
    struct document d = { .id = id, .refs = refs };
    fx_read(store, get_document_tx, &d, expected ? TARN_OK : TARN_TABLE_NOT_FOUND);
    fx_same(d.text.data, expected);
    tarn_buf_done(&d.text);
}

void tarn_contract_a_document_of_an_iceberg_table_reads_back_in_both_forms(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t id = fx_make(store, "ice", "a");
    struct document one = { .id = id, .metadata = "{\"a\":1}" }, two = { .id = id, .metadata = "{\"b\":22}", .short_form = "{}" };

    expect_document(store, id, false, NULL);
    expect_document(store, id, true, NULL);
    fx_write(store, put_document_tx, &one, TARN_OK);
    expect_document(store, id, false, "{\"a\":1}");
    expect_document(store, id, true, "{\"a\":1}");
    fx_write(store, put_document_tx, &two, TARN_OK);
    expect_document(store, id, false, "{\"b\":22}");
    expect_document(store, id, true, "{}");
    fx_write(store, put_document_tx, &one, TARN_OK);
    expect_document(store, id, true, "{\"a\":1}");
}

/* --- giving way --- */

static tarn_code give_way_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return tx->ops->tables.give_way(tx, ctx, err);
}

static tarn_code sweep_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    bool *left = ctx;
    return tx->ops->tables.purge(tx, 0, 100, left, err);
}

static tarn_code gone_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_table *table = NULL;
    tarn_code code = tx->ops->tables.get_by_id(tx, *(int64_t *)ctx, &table, err);
    tarn_table_free(table);
    return code;
}

void tarn_contract_a_dropped_table_gives_way_to_itself_and_a_live_one_does_not(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t id = fx_make(store, "ice", "a"), other = fx_make(store, "ice", "b");
    TARN_AUTO(table) struct tarn_table *table = fx_get(store, id);
    struct document d = { .id = id, .metadata = "{}" };
    bool left = true;

    fx_write(store, put_document_tx, &d, TARN_OK);
    fx_write(store, give_way_tx, S("no such uuid"), TARN_OK);
    fx_write(store, give_way_tx, table->uuid, TARN_UUID_TAKEN);
    table->dropped_at = 5000;
    fx_update(store, table);
    fx_write(store, give_way_tx, table->uuid, TARN_OK);
    fx_read(store, gone_tx, &id, TARN_TABLE_NOT_FOUND);
    fx_read(store, gone_tx, &other, TARN_OK);
    while (left)
        fx_write(store, sweep_tx, &left, TARN_OK);
    expect_document(store, id, false, NULL);
}

/* --- views --- */

static struct tarn_view view_row(const char *namespace_, const char *name)
{
    struct tarn_view view = { .namespace_ = S(namespace_), .name = S(name), .location = S("/lake/v"),
                              .metadata_location = S("/lake/v/00000.json"), .metadata = S("{\"v\":1}"), .created_at = 10,
                              .changed_at = 11 };
    snprintf(view.uuid, sizeof view.uuid, "%s-%s", namespace_, name);
    return view;
}

struct named { const char *namespace_, *name; struct tarn_view *found; bool taken; };

static tarn_code insert_view_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err) { return tx->ops->views.insert(tx, ctx, err); }
static tarn_code update_view_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err) { return tx->ops->views.update(tx, ctx, err); }
static tarn_code remove_view_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return tx->ops->views.remove(tx, *(int64_t *)ctx, err);
}
static tarn_code get_view_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct named *n = ctx;
    TARN_TRY(tx->ops->views.taken(tx, n->namespace_, n->name, &n->taken, err));
    return tx->ops->views.get(tx, n->namespace_, n->name, &n->found, err);
}
static tarn_code drop_namespace_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return tx->ops->namespaces.remove(tx, ctx, err);
}

/* Owned; NULL: there is none. */
static struct tarn_view *find_view(struct tarn_store *store, const char *namespace_, const char *name, bool there)
{
    struct named n = { .namespace_ = namespace_, .name = name };
    fx_read(store, get_view_tx, &n, there ? TARN_OK : TARN_VIEW_NOT_FOUND);
    cr_expect(eq(int, n.taken, there));
    return n.found;
}

void tarn_contract_a_view_reads_back_and_changes_only_from_its_own_revision(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    struct tarn_view row = view_row("ice", "v"), other = view_row("ice", "w");

    (void)find_view(store, "ice", "v", false);
    fx_write(store, insert_view_tx, &row, TARN_OK);
    fx_write(store, insert_view_tx, &row, TARN_VIEW_EXISTS);
    fx_write(store, insert_view_tx, &other, TARN_OK);
    TARN_AUTO(view) struct tarn_view *view = find_view(store, "ice", "v", true);
    cr_expect(eq(str, view->uuid, S("ice-v")));
    cr_expect(eq(str, view->location, S("/lake/v")));
    cr_expect(eq(str, view->metadata_location, S("/lake/v/00000.json")));
    cr_expect(eq(str, view->metadata, S("{\"v\":1}")));
    cr_expect(eq(i64, view->created_at, 10));
    cr_expect(eq(i64, view->changed_at, 11));

    struct tarn_view next = *view;
    next.namespace_ = S("elsewhere");
    next.metadata = S("{\"v\":2}");
    next.changed_at = 12;
    fx_write(store, update_view_tx, &next, TARN_OK);
    fx_write(store, update_view_tx, &next, TARN_VERSION_CONFLICT);
    (void)find_view(store, "ice", "v", false);
    TARN_AUTO(view) struct tarn_view *moved = find_view(store, "elsewhere", "v", true);
    cr_expect(eq(str, moved->metadata, S("{\"v\":2}")));
    cr_expect(eq(i64, moved->created_at, 10));
    cr_expect(eq(i64, moved->revision, view->revision + 1));
    next = *moved;
    next.namespace_ = S("ice");
    next.name = S("w");
    fx_write(store, update_view_tx, &next, TARN_VIEW_EXISTS);

    fx_write(store, drop_namespace_tx, S("elsewhere"), TARN_NAMESPACE_NOT_EMPTY);
    fx_write(store, remove_view_tx, &moved->id, TARN_OK);
    (void)find_view(store, "elsewhere", "v", false);
    fx_write(store, drop_namespace_tx, S("elsewhere"), TARN_OK);
}

struct list { const char *after; struct tarn_buf text; };

static tarn_code note_view(void *ctx, const struct tarn_view *view, struct tarn_err *err)
{
    (void)err;
    tarn_buf_addf(ctx, "%s ", view->name);
    return TARN_OK;
}

static tarn_code list_views_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct list *l = ctx;
    return tx->ops->views.list(tx, "ice", l->after, 2, note_view, &l->text, err);
}

void tarn_contract_views_are_listed_by_name_page_by_page(tarn_store_opener *open)
{
    static const char *const names[] = { "c", "a", "B", "d e" };
    static const struct { const char *after, *expected; } pages[] = { { "", "B a " }, { "a", "c d e " }, { "d e", NULL } };
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    struct tarn_view other = view_row("ice.deep", "x");

    fx_write(store, insert_view_tx, &other, TARN_OK);
    for (size_t i = 0; i < TARN_COUNT(names); i++) {
        struct tarn_view row = view_row("ice", names[i]);
        fx_write(store, insert_view_tx, &row, TARN_OK);
    }
    for (size_t i = 0; i < TARN_COUNT(pages); i++) {
        struct list l = { .after = pages[i].after };
        fx_read(store, list_views_tx, &l, TARN_OK);
        fx_same(l.text.data, pages[i].expected);
        tarn_buf_done(&l.text);
    }
}

/* --- answers by key --- */

struct answer { const char *principal, *key; struct tarn_answered row; int64_t at; };

static tarn_code put_answer_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct answer *a = ctx;
    return tx->ops->requests.put(tx, a->principal, a->key, &a->row, a->at, err);
}

static tarn_code get_answer_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct answer *a = ctx;
    return tx->ops->requests.get(tx, a->principal, a->key, &a->row, err);
}

static tarn_code expire_answers_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    bool left = false;
    return tx->ops->requests.expire(tx, *(int64_t *)ctx, 10, &left, err);
}

static void expect_answer(struct tarn_store *store, const char *principal, const char *key, int64_t status, const char *body)
{
    struct answer a = { .principal = principal, .key = key };
    fx_read(store, get_answer_tx, &a, body ? TARN_OK : TARN_NOT_FOUND);
    fx_same(a.row.body, body);
    cr_expect(eq(i64, a.row.status, status));
    if (body)
        cr_expect(eq(str, a.row.fingerprint, S("f1")));
    tarn_answered_done(&a.row);
}

void tarn_contract_an_answer_belongs_to_its_principal_and_key_and_the_first_one_stays(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    struct answer first = { "ada", "k", { .fingerprint = "f1", .status = 409, .body = S("no") }, 100 };
    struct answer again = { "ada", "k", { .fingerprint = "f2", .status = 200, .body = S("yes") }, 200 };
    struct answer other = { "eve", "k", { .fingerprint = "f1", .status = 204, .body = S("") }, 300 };
    int64_t before = 101;

    expect_answer(store, "ada", "k", 0, NULL);
    fx_write(store, put_answer_tx, &first, TARN_OK);
    fx_write(store, put_answer_tx, &again, TARN_OK);
    fx_write(store, put_answer_tx, &other, TARN_OK);
    expect_answer(store, "ada", "k", 409, "no");
    expect_answer(store, "eve", "k", 204, "");
    expect_answer(store, "ada", "j", 0, NULL);
    fx_write(store, expire_answers_tx, &before, TARN_OK);
    expect_answer(store, "ada", "k", 0, NULL);
    expect_answer(store, "eve", "k", 204, "");
}

/* --- purges --- */

struct due { int64_t now; struct tarn_purge row; };

static tarn_code add_purge_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err) { return tx->ops->purges.add(tx, ctx, err); }
static tarn_code due_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct due *d = ctx;
    return tx->ops->purges.due(tx, d->now, &d->row, err);
}
static tarn_code postpone_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct due *d = ctx;
    return tx->ops->purges.postpone(tx, d->row.id, 900, err);
}
static tarn_code done_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct due *d = ctx;
    return tx->ops->purges.remove(tx, d->row.id, err);
}

void tarn_contract_the_purge_that_is_due_first_comes_first_and_later_after_a_failure(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    struct tarn_purge rows[] = {
        { .name = S("ice.b"), .location = S("/b"), .metadata_location = S("/b/m"), .metadata = S("{}"), .created_at = 1, .due_at = 200 },
        { .name = S("ice.a"), .location = S("/a"), .metadata_location = S("/a/m"), .metadata = S("{\"a\":1}"), .created_at = 2, .due_at = 100 },
    };
    static const struct { int64_t now; const char *name; int64_t failures; bool fails; } steps[] = {
        { 99, NULL, 0, false }, { 250, "ice.a", 0, true }, { 250, "ice.b", 0, false }, { 899, NULL, 0, false },
        { 900, "ice.a", 1, false }, { 9999, NULL, 0, false },
    };

    for (size_t i = 0; i < TARN_COUNT(rows); i++)
        fx_write(store, add_purge_tx, &rows[i], TARN_OK);
    for (size_t i = 0; i < TARN_COUNT(steps); i++) {
        struct due d = { .now = steps[i].now };
        fx_read(store, due_tx, &d, steps[i].name ? TARN_OK : TARN_NOT_FOUND);
        fx_same(d.row.name, steps[i].name);
        cr_expect(eq(i64, d.row.failures, steps[i].failures));
        if (steps[i].name)
            fx_write(store, steps[i].fails ? postpone_tx : done_tx, &d, TARN_OK);
        tarn_purge_done(&d.row);
    }
}

/* --- reports --- */

struct reports { int64_t id, number; struct tarn_buf text; struct tarn_report_row row; };

static tarn_code note_report(void *ctx, const struct tarn_report_row *row, struct tarn_err *err)
{
    (void)err;
    tarn_buf_addf(ctx, "%lld:%s:%lld:%s ", (long long)row->at, row->kind, (long long)row->snapshot, row->report);
    return TARN_OK;
}
static tarn_code add_report_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct reports *r = ctx;
    return tx->ops->reports.add(tx, r->id, &r->row, err);
}
static tarn_code list_reports_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct reports *r = ctx;
    return tx->ops->reports.list(tx, r->id, r->number, note_report, &r->text, err);
}
static tarn_code trim_reports_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct reports *r = ctx;
    return tx->ops->reports.trim(tx, r->id, r->number, err);
}
static tarn_code expire_reports_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct reports *r = ctx;
    bool left = false;
    return tx->ops->reports.expire(tx, r->number, 10, &left, err);
}

static void expect_reports(struct tarn_store *store, int64_t id, int64_t limit, const char *expected)
{
    struct reports r = { .id = id, .number = limit };
    fx_read(store, list_reports_tx, &r, TARN_OK);
    fx_same(r.text.data, expected);
    tarn_buf_done(&r.text);
}

void tarn_contract_reports_come_newest_first_and_the_old_ones_go(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t id = fx_make(store, "ice", "a"), other = fx_make(store, "ice", "b");
    struct reports rows[] = {
        { .id = id, .row = { 10, "scan", INT64_C(9007199254740993), "{}" } }, { .id = id, .row = { 30, "commit", -1, "{}" } },
        { .id = id, .row = { 20, "scan", 5, "{\"a\":1}" } }, { .id = other, .row = { 5, "scan", 6, "{}" } },
    };
    struct reports keep = { .id = id, .number = 2 }, before = { .number = 25 };

    for (size_t i = 0; i < TARN_COUNT(rows); i++)
        fx_write(store, add_report_tx, &rows[i], TARN_OK);
    expect_reports(store, id, 9, "30:commit:-1:{} 20:scan:5:{\"a\":1} 10:scan:9007199254740993:{} ");
    expect_reports(store, id, 1, "30:commit:-1:{} ");
    fx_write(store, trim_reports_tx, &keep, TARN_OK);
    expect_reports(store, id, 9, "30:commit:-1:{} 20:scan:5:{\"a\":1} ");
    expect_reports(store, other, 9, "5:scan:6:{} ");
    fx_write(store, expire_reports_tx, &before, TARN_OK);
    expect_reports(store, id, 9, "30:commit:-1:{} ");
    expect_reports(store, other, 9, NULL);
}
