/* store_contract_batches.c - the port's promises about the checkpoints of staged batches. */
#include "tests/catalog/store_contract.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#define S(text) ((char *)(text))

struct one {
    int64_t table_id;
    const char *id;
    struct tarn_batch batch;
};
static tarn_code put_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct one *o = ctx;
    return tx->ops->batches.put(tx, o->table_id, &o->batch, err);
}
static tarn_code get_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct one *o = ctx;
    return tx->ops->batches.get(tx, o->table_id, o->id, &o->batch, err);
}

static struct tarn_batch batch_of(const char *id, enum tarn_batch_status status, int64_t version)
{
    return (struct tarn_batch){ .batch_id = S(id),
                                .status = status,
                                .start_time = -1,
                                .end_time = -1,
                                .num_records = -1,
                                .size = -1,
                                .version = version,
                                .updated_at = 7,
                                .shown_from = version < 0 ? 0 : version };
}

static void put(struct tarn_store *store, int64_t table_id, const char *id, enum tarn_batch_status status,
                int64_t version)
{
    fx_write(store, put_tx, &(struct one){ .table_id = table_id, .batch = batch_of(id, status, version) },
             TARN_OK);
}

void tarn_contract_a_batch_reads_back_with_its_commit(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t id = fx_make(store, "default", "orders"), other = fx_make(store, "default", "others");
    fx_commit(store, id, "load-1", "a", NULL);
    fx_write(store, put_tx,
             &(struct one){ .table_id = id,
                            .batch = { .batch_id = S("d/b.parquet"),
                                       .status = TARN_BATCH_IS_COMPLETED,
                                       .start_time = 1,
                                       .end_time = 2,
                                       .num_records = 3,
                                       .size = 4,
                                       .version = 1,
                                       .updated_at = 5,
                                       .shown_from = 1 } },
             TARN_OK);
    struct one got = { .table_id = id, .id = "d/b.parquet" };
    fx_read(store, get_tx, &got, TARN_OK);
    cr_expect(eq(str, got.batch.batch_id, S("d/b.parquet")));
    cr_expect(eq(int, (int)got.batch.status, TARN_BATCH_IS_COMPLETED));
    cr_expect(eq(i64, got.batch.start_time, 1));
    cr_expect(eq(i64, got.batch.end_time, 2));
    cr_expect(eq(i64, got.batch.num_records, 3));
    cr_expect(eq(i64, got.batch.size, 4));
    cr_expect(eq(i64, got.batch.version, 1));
    cr_expect(eq(i64, got.batch.updated_at, 5));
    cr_expect(eq(i64, got.batch.revision, 1));
    cr_expect(eq(i64, got.batch.published, 0));
    cr_expect(not(got.batch.foreign));
    fx_same(got.batch.transaction, "load-1");
    cr_expect(got.batch.committed_at > 0);
    tarn_batch_done(&got.batch);

    put(store, id, "d/b.parquet", TARN_BATCH_IS_FAILED, -1);
    fx_read(store, get_tx, &got, TARN_OK);
    cr_expect(eq(int, (int)got.batch.status, TARN_BATCH_IS_FAILED));
    cr_expect(eq(i64, got.batch.version, -1));
    cr_expect(eq(i64, got.batch.num_records, -1));
    cr_expect(eq(i64, got.batch.committed_at, -1));
    cr_expect(eq(i64, got.batch.revision, 2));
    fx_same(got.batch.transaction, NULL);
    tarn_batch_done(&got.batch);
    fx_read(store, get_tx, &(struct one){ .table_id = other, .id = "d/b.parquet" }, TARN_NOT_FOUND);
    fx_read(store, get_tx, &(struct one){ .table_id = id, .id = "d/b" }, TARN_NOT_FOUND);
}

/* --- lists --- */

struct listing {
    int64_t table_id, version; /* version: of `pending` */
    struct tarn_batch_filter filter;
    char ids[256];
};
static tarn_code keep(void *ctx, const struct tarn_batch *batch, struct tarn_err *err)
{
    struct listing *l = ctx;
    size_t len = strlen(l->ids);
    (void)err;
    snprintf(l->ids + len, sizeof l->ids - len, "%s%s", len ? " " : "", batch->batch_id);
    return TARN_OK;
}
static tarn_code page_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct listing *l = ctx;
    l->ids[0] = '\0';
    return tx->ops->batches.page(tx, l->table_id, &l->filter, keep, l, err);
}
static tarn_code pending_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct listing *l = ctx;
    l->ids[0] = '\0';
    return tx->ops->batches.pending(tx, l->table_id, l->version, l->filter.after ? l->filter.after : "",
                                    l->filter.limit, keep, l, err);
}

void tarn_contract_batches_are_listed_by_id_status_and_prefix(tarn_store_opener *open)
{
    static const struct {
        struct tarn_batch_filter filter;
        const char *ids;
    } k_rows[] = {
        { { -1, NULL, NULL, 10 }, "a/1 a/2 a/3 b/1 b/2" },
        { { -1, NULL, NULL, 2 }, "a/1 a/2" },
        { { -1, NULL, "a/2", 2 }, "a/3 b/1" },
        { { -1, NULL, "b/2", 2 }, "" },
        { { -1, "a/", NULL, 10 }, "a/1 a/2 a/3" },
        { { -1, "a/", "a/2", 10 }, "a/3" },
        { { -1, "c", NULL, 10 }, "" },
        { { TARN_BATCH_IS_RUNNING, NULL, NULL, 10 }, "a/1 b/1" },
        { { TARN_BATCH_IS_RUNNING, "b", NULL, 10 }, "b/1" },
        { { TARN_BATCH_IS_RUNNING, NULL, "a/1", 10 }, "b/1" },
        { { TARN_BATCH_IS_COMPLETED, NULL, NULL, 1 }, "a/2" },
        { { TARN_BATCH_IS_ROLLED_BACK, NULL, NULL, 1 }, "" },
    };
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t id = fx_make(store, "default", "orders"), other = fx_make(store, "default", "others");
    put(store, id, "b/2", TARN_BATCH_IS_FAILED, -1);
    put(store, id, "b/1", TARN_BATCH_IS_RUNNING, -1);
    put(store, id, "a/3", TARN_BATCH_IS_COMPLETED, -1);
    put(store, id, "a/2", TARN_BATCH_IS_COMPLETED, -1);
    put(store, id, "a/1", TARN_BATCH_IS_RUNNING, -1);
    put(store, other, "a/4", TARN_BATCH_IS_RUNNING, -1);
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct listing l = { .table_id = id, .filter = k_rows[i].filter };
        fx_read(store, page_tx, &l, TARN_OK);
        cr_expect(eq(str, l.ids, S(k_rows[i].ids)), "row %zu", i);
    }
}

struct undo {
    int64_t table_id, from, to, limit;
    bool left, again;
};
static tarn_code undo_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct undo *u = ctx;
    if (u->again)
        return tx->ops->batches.count_again(tx, u->table_id, u->from, u->to, 11, 60, u->limit, &u->left, err);
    return tx->ops->batches.roll_back(tx, u->table_id, u->from, u->to, 9, 50, u->limit, &u->left, err);
}

void tarn_contract_a_rollback_takes_the_batches_of_its_versions(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t id = fx_make(store, "default", "orders"), other = fx_make(store, "default", "others");
    const char *names[] = { "v1", "v2", "v3", "v4" };
    for (int i = 0; i < 4; i++)
        put(store, id, names[i], TARN_BATCH_IS_COMPLETED, i + 1);
    put(store, id, "alive", TARN_BATCH_IS_COMPLETED, -1);
    put(store, id, "again", TARN_BATCH_IS_RUNNING, 3);
    put(store, other, "v2", TARN_BATCH_IS_COMPLETED, 2);

    struct undo u = { id, 1, 3, 1, false, false };
    fx_write(store, undo_tx, &u, TARN_OK);
    cr_expect(u.left);
    u.limit = 10;
    fx_write(store, undo_tx, &u, TARN_OK);
    cr_expect(not(u.left));
    struct listing l = { .table_id = id, .filter = { TARN_BATCH_IS_ROLLED_BACK, NULL, NULL, 10 } };
    fx_read(store, page_tx, &l, TARN_OK);
    cr_expect(eq(str, l.ids, S("v2 v3")));
    struct one got = { .table_id = id, .id = "v3" };
    fx_read(store, get_tx, &got, TARN_OK);
    cr_expect(eq(i64, got.batch.version, 3));
    cr_expect(eq(i64, got.batch.shown_from, 9));
    cr_expect(eq(i64, got.batch.updated_at, 50));
    cr_expect(eq(i64, got.batch.revision, 2));
    tarn_batch_done(&got.batch);
    l.table_id = other;
    fx_read(store, page_tx, &l, TARN_OK);
    cr_expect(eq(str, l.ids, S("")));

    u = (struct undo){ id, 2, 4, 10, true, true };
    fx_write(store, undo_tx, &u, TARN_OK);
    cr_expect(not(u.left));
    l = (struct listing){ .table_id = id, .filter = { TARN_BATCH_IS_COMPLETED, NULL, NULL, 10 } };
    fx_read(store, page_tx, &l, TARN_OK);
    cr_expect(eq(str, l.ids, S("alive v1 v3 v4")));
}

/* --- documents --- */

struct show {
    int64_t table_id, revision;
    const char *id;
    bool foreign;
};
static tarn_code show_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct show *s = ctx;
    return tx->ops->batches.shown(tx, s->table_id, s->id, s->revision, s->foreign, err);
}
struct tables {
    int64_t after, limit, ids[4], count;
};
static tarn_code tables_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tables *t = ctx;
    return tx->ops->batches.pending_tables(tx, t->after, t->limit, t->ids, &t->count, err);
}

static void expect_pending(struct tarn_store *store, int64_t table_id, int64_t version, const char *ids)
{
    struct listing l = { .table_id = table_id, .version = version, .filter = { .limit = 10 } };
    fx_read(store, pending_tx, &l, TARN_OK);
    cr_expect(eq(str, l.ids, S(ids)), "at version %d", (int)version);
}

void tarn_contract_documents_of_batches_are_pending_until_they_are_shown(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t a = fx_make(store, "default", "a"), b = fx_make(store, "default", "b"),
            c = fx_make(store, "default", "c");
    put(store, a, "1", TARN_BATCH_IS_RUNNING, -1);
    put(store, a, "2", TARN_BATCH_IS_COMPLETED, 4);
    put(store, c, "1", TARN_BATCH_IS_RUNNING, -1);
    put(store, c, "2", TARN_BATCH_IS_RUNNING, -1);
    expect_pending(store, a, 3, "1"); /* storage does not show version 4 yet */
    expect_pending(store, a, 4, "1 2");
    expect_pending(store, b, 4, "");
    struct tables t = { .limit = 4 };
    fx_read(store, tables_tx, &t, TARN_OK);
    cr_assert(eq(i64, t.count, 2));
    cr_expect(t.ids[0] == a && t.ids[1] == c);
    t = (struct tables){ .after = a, .limit = 1 };
    fx_read(store, tables_tx, &t, TARN_OK);
    cr_expect(t.count == 1 && t.ids[0] == c);

    put(store, a, "1", TARN_BATCH_IS_FAILED, -1);
    fx_write(store, show_tx, &(struct show){ a, 1, "1", false }, TARN_OK); /* a revision behind */
    expect_pending(store, a, 4, "1 2");
    fx_write(store, show_tx, &(struct show){ a, 2, "1", false }, TARN_OK);
    fx_write(store, show_tx, &(struct show){ a, 1, "1", false }, TARN_OK); /* late: changes nothing */
    fx_write(store, show_tx, &(struct show){ a, 1, "2", true }, TARN_OK);
    expect_pending(store, a, 4, "");
    struct one got = { .table_id = a, .id = "2" };
    fx_read(store, get_tx, &got, TARN_OK);
    cr_expect(got.batch.foreign && got.batch.published == 1);
    tarn_batch_done(&got.batch);
}
