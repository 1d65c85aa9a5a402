/* store_contract_publications.c - the port's promises about publications and tokens. */
#include "tests/catalog/store_contract.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define S(text) ((char *)(text))

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
    TARN_TRY(tx->ops->publications.schema_published(tx, p->table_id, &p->schema, err));
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

struct pending {
    int64_t at, limit; /* the id to come after */
    int64_t ids[16], count;
};
static tarn_code pending_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct pending *p = ctx;
    return tx->ops->publications.pending(tx, p->at, p->limit, p->ids, &p->count, err);
}

static tarn_code mark_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return tx->ops->publications.mark(tx, *(int64_t *)ctx, err);
}

void tarn_contract_a_marked_table_is_pending_until_every_mark_is_shown(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t id = make_published(store, "orders");
    struct publish put = { id, 0, { .version = 0, .links = true } }, got = { .table_id = id };
    struct pending p = { .limit = 16 };
    fx_write(store, publish_tx, &put, TARN_OK);
    fx_write(store, mark_tx, &id, TARN_OK);
    fx_write(store, mark_tx, &id, TARN_OK);
    for (int64_t marks = 2; marks >= 0; marks--) {
        fx_read(store, published_tx, &got, TARN_OK);
        cr_expect(eq(i64, got.pub.marks, marks));
        cr_expect(got.pub.links == (marks == 2));
        fx_read(store, pending_tx, &p, TARN_OK);
        cr_expect(eq(i64, p.count, marks > 0));
        put.pub.marks = 1;
        put.pub.links = false;
        fx_write(store, publish_tx, &put, TARN_OK);
    }
    fx_read(store, published_tx, &got, TARN_OK);
    cr_expect(eq(i64, got.pub.marks, 0));
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
    struct tarn_table *t1 = fx_get(store, schema), *t2 = fx_get(store, blocked),
                      *t3 = fx_get(store, observed), *t4 = fx_get(store, dropped);
    t1->schema_version = 1;
    t2->block = TARN_BLOCK_FOREIGN_WRITE;
    t3->mode = TARN_OBSERVED;
    t4->dropped_at = 1;
    fx_update(store, t1);
    fx_update(store, t2);
    fx_update(store, t3);
    fx_update(store, t4);
    struct pending p = { .limit = 16 };
    fx_read(store, pending_tx, &p, TARN_OK);
    cr_assert(eq(i64, p.count, 3));
    cr_expect(eq(i64, p.ids[0], fresh));
    cr_expect(eq(i64, p.ids[1], behind));
    cr_expect(eq(i64, p.ids[2], schema));
    p = (struct pending){ .at = fresh, .limit = 1 };
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
