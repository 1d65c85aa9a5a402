/* store_contract_history.c - the port's promises about commits, keys, schemas and meta values. */
#include "base/buf.h"
#include "tests/catalog/store_contract.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#define S(text) ((char *)(text))

struct find {
    int64_t table_id, version;
    const char *transaction; /* NULL: by version */
    bool adopted;
    struct tarn_commit_row row;
};
static tarn_code find_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct find *f = ctx;
    if (f->adopted)
        return tx->ops->commits.adopted_by_transaction(tx, f->table_id, f->transaction, &f->row, err);
    if (f->transaction)
        return tx->ops->commits.by_transaction(tx, f->table_id, f->transaction, &f->row, err);
    return tx->ops->commits.get(tx, f->table_id, f->version, &f->row, err);
}

struct put {
    int64_t table_id;
    struct tarn_commit_row row;
};
static tarn_code put_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct put *p = ctx;
    return tx->ops->commits.insert(tx, p->table_id, &p->row, err);
}

void tarn_contract_a_commit_is_found_by_version_and_by_transaction(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    struct put p = { fx_make(store, "default", "orders"),
                     { .version = 9,
                       .transaction = S("txn-9"),
                       .committed_at = 77,
                       .schema_version = 2,
                       .metadata = S("{\"author\":\"x\"}"),
                       .data_change = true,
                       .files_added = 1,
                       .files_removed = 2,
                       .bytes_added = 3,
                       .bytes_removed = 4,
                       .file_count = 5,
                       .total_bytes = 6,
                       .batch_ids = S("[\"a\",\"b\"]") } };
    memset(p.row.body_hash, 'c', 64);
    fx_write(store, put_tx, &p, TARN_OK);
    for (int by_id = 0; by_id < 2; by_id++) {
        struct find f = { .table_id = p.table_id, .version = 9, .transaction = by_id ? "txn-9" : NULL };
        fx_read(store, find_tx, &f, TARN_OK);
        cr_expect(eq(i64, f.row.version, 9));
        cr_expect(eq(str, f.row.transaction, S("txn-9")));
        cr_expect(eq(i64, f.row.committed_at, 77));
        cr_expect(eq(i64, f.row.schema_version, 2));
        cr_expect(eq(str, f.row.metadata, S("{\"author\":\"x\"}")));
        cr_expect(f.row.data_change);
        cr_expect(eq(i64, f.row.files_added, 1));
        cr_expect(eq(i64, f.row.files_removed, 2));
        cr_expect(eq(i64, f.row.bytes_added, 3));
        cr_expect(eq(i64, f.row.bytes_removed, 4));
        cr_expect(eq(i64, f.row.file_count, 5));
        cr_expect(eq(i64, f.row.total_bytes, 6));
        cr_expect(eq(str, f.row.batch_ids, S("[\"a\",\"b\"]")));
        cr_expect(eq(str, f.row.body_hash, p.row.body_hash));
        tarn_commit_row_done(&f.row);
    }
    struct find none = { .table_id = p.table_id, .version = 8 };
    fx_read(store, find_tx, &none, TARN_VERSION_NOT_FOUND);
    none.transaction = "txn-8";
    fx_read(store, find_tx, &none, TARN_TRANSACTION_NOT_FOUND);
    none = (struct find){ .table_id = p.table_id + 1, .transaction = "txn-9" };
    fx_read(store, find_tx, &none, TARN_TRANSACTION_NOT_FOUND);
}

void tarn_contract_a_transaction_id_is_taken_once_a_table(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t id = fx_make(store, "default", "orders"), other = fx_make(store, "default", "other");
    (void)fx_commit(store, id, "txn-1", "a", NULL);
    struct fx_commit again = { id, "txn-1", "b", NULL, -1, 0 };
    fx_write(store, fx_commit_tx, &again, TARN_TRANSACTION_EXISTS);
    (void)fx_commit(store, other, "txn-1", "a", NULL);
}

struct history {
    int64_t table_id, below, limit;
    bool adopted;
    struct tarn_buf text;
};
static tarn_code note_commit(void *ctx, const struct tarn_commit_row *row, struct tarn_err *err)
{
    (void)err;
    struct history *h = ctx;
    tarn_buf_addf(&h->text, "%s%s:%lld", h->text.len ? " " : "", row->transaction, (long long)row->version);
    return TARN_OK;
}
static tarn_code history_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct history *h = ctx;
    return h->adopted
               ? tx->ops->commits.list_adopted(tx, h->table_id, h->below, h->limit, note_commit, h, err)
               : tx->ops->commits.list(tx, h->table_id, h->below, h->limit, note_commit, h, err);
}
static void expect_history(struct tarn_store *store, struct history h, const char *expected)
{
    fx_read(store, history_tx, &h, TARN_OK);
    cr_expect(eq(str, h.text.data ? h.text.data : S(""), S(expected)));
    tarn_buf_done(&h.text);
}

void tarn_contract_the_history_is_listed_newest_first(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t id = fx_make(store, "default", "orders");
    for (int i = 1; i <= 5; i++) {
        char text[16];
        snprintf(text, sizeof text, "txn-%d", i);
        (void)fx_commit(store, id, text, text, NULL);
    }
    expect_history(store, (struct history){ .table_id = id, .below = INT64_MAX, .limit = 3 },
                   "txn-5:5 txn-4:4 txn-3:3");
    expect_history(store, (struct history){ .table_id = id, .below = 3, .limit = 3 }, "txn-2:2 txn-1:1");
    expect_history(store, (struct history){ .table_id = id, .below = 1, .limit = 3 }, "");
}

struct instants { int64_t table_id, below, limit; char text[256]; };
static tarn_code note_instant(void *ctx, const struct tarn_commit_row *row, struct tarn_err *err)
{
    struct instants *i = ctx;
    size_t len = strlen(i->text);

    (void)err;
    snprintf(i->text + len, sizeof i->text - len, "%lld@%lld%s ", (long long)row->version, (long long)row->committed_at,
             row->data_change ? "" : "-");
    return TARN_OK;
}
static tarn_code instants_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct instants *i = ctx;
    i->text[0] = '\0';
    return tx->ops->commits.instants(tx, i->table_id, i->below, i->limit, note_instant, i, err);
}

void tarn_contract_the_instants_of_commits_are_listed_newest_first(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    struct put p = { fx_make(store, "default", "orders"), { .body_hash = "" } };
    struct instants i = { .table_id = p.table_id, .below = INT64_MAX, .limit = 10 };
    static const char *const k_ids[] = { "a", "b", "c" };

    fx_read(store, instants_tx, &i, TARN_OK);
    cr_expect(eq(str, i.text, S("")));
    for (int64_t v = 1; v <= 3; v++) {
        p.row = (struct tarn_commit_row){ .version = v, .transaction = S(k_ids[v - 1]), .committed_at = 100 * v,
                                          .data_change = v != 2 };
        fx_write(store, put_tx, &p, TARN_OK);
    }
    fx_read(store, instants_tx, &i, TARN_OK);
    cr_expect(eq(str, i.text, S("3@300 2@200- 1@100 ")));
    i.below = 3;
    i.limit = 1;
    fx_read(store, instants_tx, &i, TARN_OK);
    cr_expect(eq(str, i.text, S("2@200- ")));
}

static tarn_code adopt_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    static const char *const k_ids[] = { "old-1", "old-2", "old-3" };
    for (int64_t i = 0; i < 3; i++) {
        struct tarn_commit_row row = { .transaction = S(k_ids[i]),
                                       .committed_at = i,
                                       .files_added = i,
                                       .metadata = S("{}"),
                                       .data_change = true };
        TARN_TRY(tx->ops->commits.insert_adopted(tx, *(int64_t *)ctx, i + 1, &row, err));
    }
    return TARN_OK;
}

void tarn_contract_adopted_entries_have_a_position_and_no_version(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t id = fx_make(store, "default", "orders");
    fx_write(store, adopt_tx, &id, TARN_OK);
    struct history h = { .table_id = id, .below = INT64_MAX, .limit = 2, .adopted = true };
    expect_history(store, h, "old-3:-3 old-2:-2");
    h.below = 2;
    expect_history(store, h, "old-1:-1");
    struct find f = { .table_id = id, .transaction = "old-2", .adopted = true };
    fx_read(store, find_tx, &f, TARN_OK);
    cr_expect(eq(i64, f.row.version, -1));
    cr_expect(eq(i64, f.row.files_added, 1));
    tarn_commit_row_done(&f.row);
    f.transaction = "old-4";
    fx_read(store, find_tx, &f, TARN_TRANSACTION_NOT_FOUND);
    f = (struct find){ .table_id = id, .transaction = "old-2" };
    fx_read(store, find_tx, &f, TARN_TRANSACTION_NOT_FOUND);
}

/* --- idempotency keys --- */

/* --- ids that no commit may take --- */

struct take {
    int64_t table_id;
    const char *id;
    bool taken;
    int64_t number; /* of the prefix `id` */
};
static tarn_code take_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct take *t = ctx;
    return tx->ops->commits.take_id(tx, t->table_id, t->id, err);
}
static tarn_code taken_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct take *t = ctx;
    return tx->ops->commits.id_taken(tx, t->table_id, t->id, &t->taken, err);
}
static tarn_code highest_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct take *t = ctx;
    return tx->ops->commits.highest_taken(tx, t->table_id, t->id, &t->number, err);
}

void tarn_contract_taken_ids_are_found_by_name_and_by_the_highest_number(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    static const char *const k_taken[] = { "txn-4", "txn-0010", "txn-9", "txn-4", "word", "77", "txn-x2", "txn-" };
    static const struct {
        const char *prefix;
        int64_t number;
    } k_highest[] = { { "txn-", 10 }, { "", 77 }, { "txn-x", 2 }, { "word", -1 }, { "TXN-", -1 }, { "txn", -1 } };
    static const struct {
        const char *id;
        bool taken;
    } k_ids[] = { { "txn-4", true }, { "txn-0010", true }, { "txn-10", false }, { "word", true }, { "txn-", true } };
    int64_t id = fx_make(store, "default", "orders"), other = fx_make(store, "default", "other");
    for (size_t i = 0; i < TARN_COUNT(k_taken); i++)
        fx_write(store, take_tx, &(struct take){ .table_id = id, .id = k_taken[i] }, TARN_OK);
    for (size_t i = 0; i < TARN_COUNT(k_ids); i++) {
        struct take t = { .table_id = id, .id = k_ids[i].id };
        fx_read(store, taken_tx, &t, TARN_OK);
        cr_expect(t.taken == k_ids[i].taken, "%s", t.id);
        t.table_id = other;
        fx_read(store, taken_tx, &t, TARN_OK);
        cr_expect(t.taken == false, "%s of another table", t.id);
    }
    for (size_t i = 0; i < TARN_COUNT(k_highest); i++) {
        struct take t = { .table_id = id, .id = k_highest[i].prefix };
        fx_read(store, highest_tx, &t, TARN_OK);
        cr_expect(t.number == k_highest[i].number, "'%s': %lld", t.id, (long long)t.number);
    }
}

struct key {
    struct tarn_key key;
    int64_t version, now_ms;
    char hash[65];
};
static tarn_code key_put_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct key *k = ctx;
    return tx->ops->commits.key_put(tx, &k->key, k->version, k->hash, k->now_ms, err);
}
static tarn_code key_get_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct key *k = ctx;
    return tx->ops->commits.key_get(tx, &k->key, &k->version, k->hash, err);
}
static tarn_code expire_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    bool left = false;
    return tx->ops->commits.keys_expire(tx, *(int64_t *)ctx, 100, &left, err);
}

void tarn_contract_an_idempotency_key_belongs_to_all_its_parts_and_expires(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    static const struct tarn_key k_other[] = { { "z", "POST", "/x", "u", "k" },
                                               { "p", "z", "/x", "u", "k" },
                                               { "p", "POST", "z", "u", "k" },
                                               { "p", "POST", "/x", "z", "k" },
                                               { "p", "POST", "/x", "u", "z" } };
    struct key put = { { "p", "POST", "/x", "u", "k" }, 7, 1000, "" };
    memset(put.hash, 'd', 64);
    fx_write(store, key_put_tx, &put, TARN_OK);
    struct key got = { .key = put.key };
    fx_read(store, key_get_tx, &got, TARN_OK);
    cr_expect(eq(i64, got.version, 7));
    cr_expect(eq(str, got.hash, put.hash));
    for (size_t i = 0; i < TARN_COUNT(k_other); i++) {
        struct key other = { .key = k_other[i] };
        fx_read(store, key_get_tx, &other, TARN_NOT_FOUND);
    }
    int64_t before = 1000;
    fx_write(store, expire_tx, &before, TARN_OK);
    fx_read(store, key_get_tx, &got, TARN_OK);
    before = 1001;
    fx_write(store, expire_tx, &before, TARN_OK);
    fx_read(store, key_get_tx, &got, TARN_NOT_FOUND);
}

/* --- schemas, meta --- */

static tarn_code schemas_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_schema_row second = {
        .version = 2, .schema = S("{\"v\":2}"), .renames = S("{\"a\":\"b\"}"), .created_at = 20
    };
    struct tarn_schema_row first = { .version = 1, .schema = S("{\"v\":1}"), .created_at = 10 };
    TARN_TRY(tx->ops->schemas.insert(tx, *(int64_t *)ctx, &second, err));
    return tx->ops->schemas.insert(tx, *(int64_t *)ctx, &first, err);
}
struct schemas {
    int64_t table_id, version;
    struct tarn_buf text;
    struct tarn_schema_row row;
};
static tarn_code note_schema(void *ctx, const struct tarn_schema_row *row, struct tarn_err *err)
{
    (void)err;
    struct schemas *s = ctx;
    tarn_buf_addf(&s->text, "%lld=%s@%lld(%s) ", (long long)row->version, row->schema,
                  (long long)row->created_at, row->renames ? row->renames : "");
    return TARN_OK;
}
static tarn_code schema_list_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct schemas *s = ctx;
    return tx->ops->schemas.list(tx, s->table_id, note_schema, s, err);
}
static tarn_code schema_get_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct schemas *s = ctx;
    return tx->ops->schemas.get(tx, s->table_id, s->version, &s->row, err);
}

void tarn_contract_schemas_are_listed_oldest_first(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t id = fx_make(store, "default", "orders");
    fx_write(store, schemas_tx, &id, TARN_OK);
    struct schemas s = { .table_id = id, .version = 2 };
    fx_read(store, schema_list_tx, &s, TARN_OK);
    cr_expect(eq(str, s.text.data, S("1={\"v\":1}@10() 2={\"v\":2}@20({\"a\":\"b\"}) ")));
    tarn_buf_done(&s.text);
    fx_read(store, schema_get_tx, &s, TARN_OK);
    cr_expect(eq(str, s.row.schema, S("{\"v\":2}")));
    cr_expect(eq(str, s.row.renames, S("{\"a\":\"b\"}")));
    tarn_schema_row_done(&s.row);
    s.version = 3;
    fx_read(store, schema_get_tx, &s, TARN_SCHEMA_VERSION_NOT_FOUND);
}

struct meta {
    const char *key, *value;
    char *got;
};
static tarn_code meta_set_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct meta *m = ctx;
    return tx->ops->meta.set(tx, m->key, m->value, err);
}
static tarn_code meta_get_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct meta *m = ctx;
    return tx->ops->meta.get(tx, m->key, &m->got, err);
}

void tarn_contract_meta_values_are_set_and_replaced(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    struct meta m = { .key = "k", .value = "1" };
    fx_read(store, meta_get_tx, &m, TARN_NOT_FOUND);
    static const char *const k_values[] = { "1", "two", "" };
    for (size_t i = 0; i < TARN_COUNT(k_values); i++) {
        m.value = k_values[i];
        fx_write(store, meta_set_tx, &m, TARN_OK);
        fx_read(store, meta_get_tx, &m, TARN_OK);
        cr_expect(eq(str, m.got, S(k_values[i])));
        free(m.got);
        m.got = NULL;
    }
    m.key = "catalog_id"; /* a database has its id from birth */
    fx_read(store, meta_get_tx, &m, TARN_OK);
    cr_expect(eq(sz, strlen(m.got), 36));
    free(m.got);
}
