/* store_contract_tables.c - the port's promises about tables: names, versions, lists. */
#include "base/buf.h"
#include "tests/catalog/store_contract.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#define S(text) ((char *)(text))

struct by_name {
    const char *namespace_, *name, *uuid;
    struct tarn_table *table; /* owned */
};

static tarn_code get_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct by_name *g = ctx;
    return tx->ops->tables.get(tx, g->namespace_, g->name, &g->table, err);
}

static tarn_code get_dropped_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct by_name *g = ctx;
    return tx->ops->tables.get_dropped(tx, g->namespace_, g->name, g->uuid, &g->table, err);
}

static tarn_code insert_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return fx_insert(tx, ctx, err);
}

static tarn_code update_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return tx->ops->tables.update(tx, ctx, err);
}

static void expect_same(const struct tarn_table *a, const struct tarn_table *b)
{
    cr_expect(eq(str, S(a->uuid), S(b->uuid)));
    cr_expect(eq(str, a->namespace_, b->namespace_));
    cr_expect(eq(str, a->name, b->name));
    cr_expect(eq(int, (int)a->format, (int)b->format));
    cr_expect(eq(int, (int)a->mode, (int)b->mode));
    cr_expect(eq(str, a->location, b->location));
    fx_same(a->metadata_location, b->metadata_location);
    cr_expect(eq(i64, a->version, b->version));
    cr_expect(eq(i64, a->published_version, b->published_version));
    cr_expect(eq(i64, a->oldest_version, b->oldest_version));
    fx_same(a->latest_transaction, b->latest_transaction);
    cr_expect(eq(i64, a->schema_version, b->schema_version));
    cr_expect(eq(i64, a->file_count, b->file_count));
    cr_expect(eq(i64, a->total_bytes, b->total_bytes));
    cr_expect(eq(str, a->partition_keys, b->partition_keys));
    cr_expect(eq(str, a->properties, b->properties));
    fx_same(a->owner, b->owner);
    cr_expect(eq(str, a->monitors, b->monitors));
    cr_expect(eq(int, (int)a->enforcement, (int)b->enforcement));
    cr_expect(eq(int, (int)a->verify, (int)b->verify));
    cr_expect(a->enforcement_given == b->enforcement_given);
    cr_expect(a->verify_given == b->verify_given);
    cr_expect(eq(int, a->publish, b->publish));
    cr_expect(eq(int, a->protected_, b->protected_));
    cr_expect(eq(int, (int)a->block, (int)b->block));
    cr_expect(eq(i64, a->created_at, b->created_at));
    cr_expect(eq(i64, a->committed_at, b->committed_at));
    cr_expect(eq(i64, a->dropped_at, b->dropped_at));
}

/* Every member other than what fx_table gives. */
static struct tarn_table full_table(void)
{
    struct tarn_table t = fx_table("sales.\"a.b\"", "Übung 1");
    t.format = TARN_FORMAT_ICEBERG;
    t.mode = TARN_OBSERVED;
    t.metadata_location = S("s3://b/meta.json");
    t.version = 122;
    t.published_version = 121;
    t.oldest_version = 7;
    t.latest_transaction = S("txn-12345");
    t.schema_version = 3;
    t.file_count = 456;
    t.total_bytes = INT64_C(2100000000000);
    t.properties = S("{\"k\":\"v\"}");
    t.owner = S("team");
    t.monitors = S("{\"interval\":\"60s\"}");
    t.enforcement = TARN_ENFORCE_REJECT;
    t.verify = TARN_VERIFY_FOOTER;
    t.enforcement_given = t.verify_given = true;
    t.publish = true;
    t.protected_ = true;
    t.block = TARN_BLOCK_STORAGE_AHEAD;
    t.committed_at = 1001;
    return t;
}

void tarn_contract_a_table_reads_back_as_it_was_inserted(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    struct tarn_table table = full_table();
    fx_write(store, insert_tx, &table, TARN_OK);

    struct by_name g = { .namespace_ = table.namespace_, .name = table.name };
    fx_read(store, get_tx, &g, TARN_OK);
    expect_same(g.table, &table);
    cr_expect(eq(i64, g.table->id, table.id));
    cr_expect(eq(i64, g.table->revision, 1));
    tarn_table_free(g.table);

    g = (struct by_name){ .namespace_ = "default", .name = table.name };
    fx_read(store, get_tx, &g, TARN_TABLE_NOT_FOUND);
    cr_expect(eq(ptr, g.table, NULL));
}

void tarn_contract_a_name_is_unique_among_live_tables_of_its_namespace(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    (void)fx_make(store, "default", "orders");
    (void)fx_make(store, "default", "Orders");
    (void)fx_make(store, "sales", "orders");
    struct tarn_table again = fx_table("default", "orders");
    fx_write(store, insert_tx, &again, TARN_TABLE_EXISTS);

    struct tarn_table same_uuid = fx_table("default", "other");
    snprintf(same_uuid.uuid, sizeof same_uuid.uuid, "%s", again.uuid);
    again.name = S("third");
    fx_write(store, insert_tx, &again, TARN_OK);
    fx_write(store, insert_tx, &same_uuid, TARN_INTERNAL); /* nobody asks for a uuid: our own fault */
}

void tarn_contract_a_dropped_name_is_free_and_restorable_until_it_is_taken(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    TARN_AUTO(table) struct tarn_table *first = fx_get(store, fx_make(store, "default", "orders"));
    first->dropped_at = 5000;
    fx_update(store, first);

    struct by_name g = { .namespace_ = "default", .name = "orders" };
    fx_read(store, get_tx, &g, TARN_TABLE_NOT_FOUND);
    (void)fx_make(store, "default", "orders");
    first->dropped_at = -1;
    fx_write(store, update_tx, first, TARN_TABLE_EXISTS);
}

void tarn_contract_the_newest_dropped_table_or_the_one_with_the_uuid_is_found(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t ids[3];
    static const int64_t k_dropped_at[] = { 100, 300, 200 };
    for (int i = 0; i < 3; i++) {
        ids[i] = fx_make(store, "default", "orders");
        TARN_AUTO(table) struct tarn_table *table = fx_get(store, ids[i]);
        table->dropped_at = k_dropped_at[i];
        fx_update(store, table);
    }
    struct by_name g = { .namespace_ = "default", .name = "orders" };
    fx_read(store, get_dropped_tx, &g, TARN_OK);
    cr_expect(eq(i64, g.table->id, ids[1]));
    tarn_table_free(g.table);

    TARN_AUTO(table) struct tarn_table *third = fx_get(store, ids[2]);
    g = (struct by_name){ .namespace_ = "default", .name = "orders", .uuid = third->uuid };
    fx_read(store, get_dropped_tx, &g, TARN_OK);
    cr_expect(eq(i64, g.table->id, ids[2]));
    tarn_table_free(g.table);

    g = (struct by_name){ .namespace_ = "default", .name = "orders", .uuid = "other" };
    fx_read(store, get_dropped_tx, &g, TARN_TABLE_NOT_FOUND);
}

void tarn_contract_an_update_writes_every_setting_and_raises_the_revision(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t id = fx_make(store, "default", "orders");
    struct tarn_table table = full_table();
    TARN_AUTO(table) struct tarn_table *before = fx_get(store, id);
    memcpy(table.uuid, before->uuid, sizeof table.uuid);
    table.id = id;
    fx_update(store, &table);

    TARN_AUTO(table) struct tarn_table *after = fx_get(store, id);
    expect_same(after, &table);
    cr_expect(eq(i64, after->revision, 2));
}

void tarn_contract_a_rename_onto_a_live_name_is_refused(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    (void)fx_make(store, "default", "taken");
    int64_t id = fx_make(store, "default", "orders");
    struct tarn_table row = fx_table("default", "taken");
    TARN_AUTO(table) struct tarn_table *now = fx_get(store, id);
    memcpy(row.uuid, now->uuid, sizeof row.uuid);
    row.id = id;
    fx_write(store, update_tx, &row, TARN_TABLE_EXISTS);
    row.name = S("ORDERS"); /* only the case changes: the same table, allowed */
    fx_write(store, update_tx, &row, TARN_OK);
    row.id = id + 1000;
    fx_write(store, update_tx, &row, TARN_TABLE_NOT_FOUND);
}

void tarn_contract_a_commit_needs_the_expected_version_and_a_live_table(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t id = fx_make(store, "default", "orders");
    cr_expect(eq(i64, fx_commit(store, id, "txn-1", "a", NULL), 1));

    struct fx_commit stale = { id, "txn-2", "b", NULL, 0, 0 };
    fx_write(store, fx_commit_tx, &stale, TARN_VERSION_CONFLICT);
    stale.expected = 5;
    fx_write(store, fx_commit_tx, &stale, TARN_VERSION_CONFLICT);

    TARN_AUTO(table) struct tarn_table *table = fx_get(store, id);
    cr_expect(eq(i64, table->version, 1));
    cr_expect(eq(str, table->latest_transaction, S("txn-1")));
    cr_expect(eq(i64, table->file_count, 1));
    cr_expect(eq(i64, table->total_bytes, 100));
    cr_expect(eq(i64, table->committed_at, 2000));
    cr_expect(eq(i64, table->revision, 2));

    table->dropped_at = 9000;
    fx_update(store, table);
    struct fx_commit late = { id, "txn-3", "c", NULL, 1, 0 };
    fx_write(store, fx_commit_tx, &late, TARN_VERSION_CONFLICT);
}

/* --- lists --- */

struct list {
    struct tarn_table_filter filter;
    struct tarn_buf text; /* "namespace/name ..." */
    int64_t seen;
    char namespace_[64], name[64];
};

static tarn_code note_table(void *ctx, const struct tarn_table *table, struct tarn_err *err)
{
    (void)err;
    struct list *l = ctx;
    tarn_buf_addf(&l->text, "%s%s/%s", l->text.len ? " " : "", table->namespace_, table->name);
    snprintf(l->namespace_, sizeof l->namespace_, "%s", table->namespace_);
    snprintf(l->name, sizeof l->name, "%s", table->name);
    l->filter.after_id = table->id;
    l->seen++;
    return TARN_OK;
}

static tarn_code list_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct list *l = ctx;
    struct tarn_table_filter page = l->filter; /* the texts change under the walk: it gets copies */
    char namespace_[64], name[64];
    snprintf(namespace_, sizeof namespace_, "%s", l->namespace_);
    snprintf(name, sizeof name, "%s", l->name);
    if (l->namespace_[0]) {
        page.after_namespace = namespace_;
        page.after_name = name;
    }
    return tx->ops->tables.list(tx, &page, note_table, l, err);
}

/* All pages of a filter. */
static void expect_list(struct tarn_store *store, struct tarn_table_filter filter, int64_t page,
                        const char *expected)
{
    struct list l = { .filter = filter };
    l.filter.limit = page;
    do {
        l.seen = 0;
        fx_read(store, list_tx, &l, TARN_OK);
    } while (l.seen == page);
    cr_expect(eq(str, l.text.data ? l.text.data : S(""), S(expected)), "pages of %lld", (long long)page);
    tarn_buf_done(&l.text);
}

void tarn_contract_pages_of_tables_join_without_gap_or_repetition(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    static const char *const k_tables[][2] = { { "sales", "b" },    { "default", "z" }, { "default", "a" },
                                               { "sales.eu", "x" }, { "default", "m" }, { "sales", "a" },
                                               { "default", "B" } };
    for (size_t i = 0; i < TARN_COUNT(k_tables); i++)
        (void)fx_make(store, k_tables[i][0], k_tables[i][1]);
    struct tarn_table_filter all = { .format = -1, .mode = -1 };
    for (int64_t page = 1; page <= 8; page++)
        expect_list(store, all, page, "default/B default/a default/m default/z sales/a sales/b sales.eu/x");
}

void tarn_contract_lists_filter_by_namespace_prefix_format_and_mode(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    static const struct {
        const char *namespace_, *name;
        enum tarn_format format;
        enum tarn_mode mode;
    } k_tables[] = {
        { "default", "order", TARN_FORMAT_MANIFEST, TARN_MANAGED },
        { "default", "orders", TARN_FORMAT_DELTA, TARN_OBSERVED },
        { "default", "orderz", TARN_FORMAT_MANIFEST, TARN_OBSERVED },
        { "default", "ordfs", TARN_FORMAT_MANIFEST, TARN_MANAGED },
        { "default", "or", TARN_FORMAT_MANIFEST, TARN_MANAGED },
        { "sales", "orders", TARN_FORMAT_DELTA, TARN_OBSERVED },
    };
    for (size_t i = 0; i < TARN_COUNT(k_tables); i++) {
        struct tarn_table table = fx_table(k_tables[i].namespace_, k_tables[i].name);
        table.format = k_tables[i].format;
        table.mode = k_tables[i].mode;
        fx_write(store, insert_tx, &table, TARN_OK);
    }
    static const struct {
        struct tarn_table_filter filter;
        const char *expected;
    } k_cases[] = {
        { { .namespace_ = "sales", .format = -1, .mode = -1 }, "sales/orders" },
        { { .namespace_ = "nowhere", .format = -1, .mode = -1 }, "" },
        { { .prefix = "order", .format = -1, .mode = -1 },
          "default/order default/orders default/orderz sales/orders" },
        { { .prefix = "order", .namespace_ = "default", .format = -1, .mode = TARN_OBSERVED },
          "default/orders default/orderz" },
        { { .format = TARN_FORMAT_DELTA, .mode = -1 }, "default/orders sales/orders" },
        { { .format = TARN_FORMAT_ICEBERG, .mode = -1 }, "" },
        { { .format = -1, .mode = TARN_MANAGED }, "default/or default/order default/ordfs" },
        { { .prefix = "z", .format = -1, .mode = -1 }, "" },
        { { .format = -1, .mode = -1, .dropped = true }, "" },
    };
    for (size_t i = 0; i < TARN_COUNT(k_cases); i++) {
        for (int64_t page = 1; page <= 7; page += 2)
            expect_list(store, k_cases[i].filter, page, k_cases[i].expected);
    }
}

void tarn_contract_dropped_tables_of_one_name_are_listed_by_id(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    static const char *const k_names[] = { "b", "a", "b", "b", "c" };
    for (size_t i = 0; i < TARN_COUNT(k_names); i++) {
        TARN_AUTO(table) struct tarn_table *table = fx_get(store, fx_make(store, "default", k_names[i]));
        table->dropped_at = 1000 - (int64_t)i;
        fx_update(store, table);
    }
    (void)fx_make(store, "default", "b");
    struct tarn_table_filter dropped = { .format = -1, .mode = -1, .dropped = true };
    for (int64_t page = 1; page <= 6; page++)
        expect_list(store, dropped, page, "default/a default/b default/b default/b default/c");
    struct tarn_table_filter live = { .format = -1, .mode = -1 };
    expect_list(store, live, 10, "default/b");
}

struct taken { int64_t id; const char *uuid; };

static tarn_code take_uuid_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct taken *t = ctx;
    return tx->ops->tables.take_uuid(tx, t->id, t->uuid, err);
}

static tarn_code is_there_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_table *table = NULL;
    tarn_code code = tx->ops->tables.get_by_id(tx, *(int64_t *)ctx, &table, err);
    tarn_table_free(table);
    return code;
}

void tarn_contract_a_table_takes_a_uuid_that_no_other_live_one_has(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t id = fx_make(store, "ice", "a"), live = fx_make(store, "ice", "b"), gone = fx_make(store, "ice", "c");
    TARN_AUTO(table) struct tarn_table *before = fx_get(store, id), *other = fx_get(store, live), *dropped = fx_get(store, gone);
    const struct { const char *uuid; tarn_code code; } k_rows[] = {
        { before->uuid, TARN_UUID_TAKEN }, { other->uuid, TARN_UUID_TAKEN }, { "of nobody", TARN_OK }, { dropped->uuid, TARN_OK },
    };

    dropped->dropped_at = 5000;
    fx_update(store, dropped);
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct taken taken = { id, k_rows[i].uuid };
        fx_write(store, take_uuid_tx, &taken, k_rows[i].code);
        TARN_AUTO(table) struct tarn_table *table = fx_get(store, id);
        cr_expect(eq(str, table->uuid, (char *)(k_rows[i].code == TARN_OK ? k_rows[i].uuid : before->uuid)));
        fx_update(store, table); /* it is found by its new pair */
    }
    fx_read(store, is_there_tx, &gone, TARN_TABLE_NOT_FOUND);
}
