/* store_contract_namespaces.c - the port's promises about namespaces. */
#include "tests/catalog/store_contract.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#define S(text) ((char *)(text))

static struct tarn_namespace plain(const char *name)
{
    return (struct tarn_namespace){ .name = S(name), .created_at = 7, .properties = S("{}"), .monitors = S("{}"),
                                    .history_retention_ms = -1 };
}

static tarn_code insert_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return tx->ops->namespaces.insert(tx, ctx, err);
}
static tarn_code update_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return tx->ops->namespaces.update(tx, ctx, err);
}
static tarn_code remove_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return tx->ops->namespaces.remove(tx, ctx, err);
}

struct seen {
    const char *name, *after;
    int64_t limit;
    char text[512];
};
static tarn_code note(void *ctx, const struct tarn_namespace *row, struct tarn_err *err)
{
    struct seen *seen = ctx;
    size_t len = strlen(seen->text);
    (void)err;
    snprintf(seen->text + len, sizeof seen->text - len, "%s|%lld|%s|%s|%s|%s|%s|%lld ", row->name,
             (long long)row->created_at, row->properties, row->owner ? row->owner : "-", row->monitors,
             row->enforcement_given ? tarn_enforcement_text(row->enforcement) : "-",
             row->verify_given ? tarn_verify_text(row->verify) : "-", (long long)row->history_retention_ms);
    return TARN_OK;
}
static tarn_code get_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct seen *seen = ctx;
    return tx->ops->namespaces.get(tx, seen->name, note, seen, err);
}
static tarn_code list_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct seen *seen = ctx;
    return tx->ops->namespaces.list(tx, seen->after, seen->limit, note, seen, err);
}

static void expect_one(struct tarn_store *store, const char *name, const char *text)
{
    struct seen seen = { .name = name };
    fx_read(store, get_tx, &seen, TARN_OK);
    cr_expect(eq(str, seen.text, S(text)));
}

void tarn_contract_a_namespace_comes_back_as_it_was_written(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    struct tarn_namespace row = plain("sales"), other = plain("sales.\"a.b\"");
    fx_write(store, insert_tx, &row, TARN_OK);
    fx_write(store, insert_tx, &other, TARN_OK);
    fx_write(store, insert_tx, &row, TARN_NAMESPACE_EXISTS);
    expect_one(store, "sales", "sales|7|{}|-|{}|-|-|-1 ");

    row.properties = S("{\"a\":1}");
    row.owner = S("me");
    row.monitors = S("{\"b\":{}}");
    row.enforcement = TARN_ENFORCE_WARN;
    row.verify = TARN_VERIFY_OFF;
    row.enforcement_given = row.verify_given = true;
    row.history_retention_ms = 5;
    fx_write(store, update_tx, &row, TARN_OK);
    expect_one(store, "sales", "sales|7|{\"a\":1}|me|{\"b\":{}}|warn|off|5 ");
    struct tarn_namespace none = plain("none");
    fx_write(store, update_tx, &none, TARN_NAMESPACE_NOT_FOUND);
    fx_read(store, get_tx, &(struct seen){ .name = "none" }, TARN_NAMESPACE_NOT_FOUND);

    struct seen page = { .after = "", .limit = 1 };
    fx_read(store, list_tx, &page, TARN_OK);
    cr_expect(eq(str, page.text, S("sales|7|{\"a\":1}|me|{\"b\":{}}|warn|off|5 ")));
    page = (struct seen){ .after = "sales", .limit = 9 };
    fx_read(store, list_tx, &page, TARN_OK);
    cr_expect(eq(str, page.text, S("sales.\"a.b\"|7|{}|-|{}|-|-|-1 ")));
}

void tarn_contract_a_table_makes_its_namespace_and_a_used_one_stays(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    struct tarn_namespace outer = plain("outer");
    (void)fx_make(store, "outer.inner", "t");
    expect_one(store, "outer.inner", "outer.inner|1000|{}|-|{}|-|-|-1 ");
    fx_read(store, get_tx, &(struct seen){ .name = "outer" }, TARN_NAMESPACE_NOT_FOUND);
    fx_write(store, insert_tx, &outer, TARN_OK);
    fx_write(store, remove_tx, S("outer.inner"), TARN_NAMESPACE_NOT_EMPTY);
    fx_write(store, remove_tx, S("outer"), TARN_NAMESPACE_NOT_EMPTY);
    fx_write(store, remove_tx, S("none"), TARN_NAMESPACE_NOT_FOUND);
    /* beside it, not inside */
    struct tarn_namespace beside = plain("lone"), alike = plain("lone-b");
    fx_write(store, insert_tx, &beside, TARN_OK);
    fx_write(store, insert_tx, &alike, TARN_OK);
    fx_write(store, remove_tx, S("lone"), TARN_OK);
    fx_write(store, remove_tx, S("lone"), TARN_NAMESPACE_NOT_FOUND);
}

void tarn_contract_a_namespace_with_dropped_tables_goes_and_comes_back_with_them(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    TARN_AUTO(table) struct tarn_table *table = fx_get(store, fx_make(store, "ns", "t"));
    struct tarn_namespace row = plain("ns");
    row.owner = S("me");
    fx_write(store, update_tx, &row, TARN_OK);
    table->dropped_at = 5000;
    fx_update(store, table);
    fx_write(store, remove_tx, S("ns"), TARN_OK);
    fx_read(store, get_tx, &(struct seen){ .name = "ns" }, TARN_NAMESPACE_NOT_FOUND);
    struct seen page = { .after = "", .limit = 9 };
    fx_read(store, list_tx, &page, TARN_OK);
    cr_expect(eq(str, page.text, S("")));
    fx_update(store, table); /* a change of the dropped table does not bring it back */
    fx_read(store, get_tx, &(struct seen){ .name = "ns" }, TARN_NAMESPACE_NOT_FOUND);
    table->dropped_at = -1;
    fx_update(store, table);
    expect_one(store, "ns", "ns|1000|{}|-|{}|-|-|-1 "); /* without settings */

    table->dropped_at = 5000;
    fx_update(store, table);
    fx_write(store, remove_tx, S("ns"), TARN_OK);
    row.created_at = 9;
    fx_write(store, insert_tx, &row, TARN_OK); /* the name is free for a new one */
    expect_one(store, "ns", "ns|9|{}|me|{}|-|-|-1 ");
}

void tarn_contract_a_change_of_a_namespace_touches_every_table(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    struct tarn_namespace row = plain("ns");
    int64_t id = fx_make(store, "ns.inner", "t");
    uint64_t clock = tarn_store_clock(store);
    cr_expect(not(tarn_store_touched(store, id, clock)));
    fx_write(store, insert_tx, &row, TARN_OK);
    cr_expect(tarn_store_touched(store, id, clock));
    clock = tarn_store_clock(store);
    fx_write(store, update_tx, &row, TARN_OK);
    cr_expect(tarn_store_touched(store, id, clock));
}
