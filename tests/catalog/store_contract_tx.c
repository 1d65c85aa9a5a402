/* store_contract_tx.c - the port's promises about transactions: all or nothing, each on its own, told once.
 */
#include "tests/catalog/store_contract.h"
#include "tests/support/hold.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define S(text) ((char *)(text))

struct named {
    const char *name;
    bool refuse;
    struct tarn_table *table;
};

/* Makes the table, and refuses afterwards where the case asks for it. */
static tarn_code make_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct named *n = ctx;
    struct tarn_table table = fx_table("default", n->name);
    TARN_TRY(fx_insert(tx, &table, err));
    if (n->refuse) {
        (void)tarn_fail(err, TARN_TABLE_PROTECTED, "no");
        return tarn_err_add(err, "owner", json_string("me"));
    }
    return TARN_OK;
}
static tarn_code find_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct named *n = ctx;
    return tx->ops->tables.get(tx, "default", n->name, &n->table, err);
}
static bool is_there(struct tarn_store *store, const char *name)
{
    struct named n = { .name = name };
    TARN_ERR(err);
    bool there = tarn_store_read(store, find_tx, &n, &err) == TARN_OK;
    tarn_table_free(n.table);
    return there;
}

void tarn_contract_a_refusal_undoes_what_it_wrote_and_nothing_else(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    fx_write(store, make_tx, &(struct named){ .name = "a" }, TARN_OK);
    fx_write(store, make_tx, &(struct named){ .name = "b", .refuse = true }, TARN_TABLE_PROTECTED);
    cr_expect(is_there(store, "a"));
    cr_expect(not(is_there(store, "b")));
    fx_write(store, make_tx, &(struct named){ .name = "b" }, TARN_OK);
    cr_expect(is_there(store, "b"));
}

void tarn_contract_an_error_keeps_its_members_on_the_way_to_the_caller(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    struct named n = { .name = "a", .refuse = true };
    TARN_ERR(err);
    cr_expect(eq(int, tarn_store_write(store, make_tx, &n, &err), TARN_TABLE_PROTECTED));
    cr_expect(eq(int, err.code, TARN_TABLE_PROTECTED));
    cr_expect(eq(str, err.detail, S("no")));
    cr_expect(eq(str, S(json_string_value(json_object_get(err.more, "owner"))), S("me")));
}

static tarn_code write_in_read_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    (void)ctx;
    cr_expect(not(tx->writes));
    return tx->ops->meta.set(tx, "k", "v", err);
}

void tarn_contract_a_read_cannot_write(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    fx_read(store, write_in_read_tx, NULL, TARN_INTERNAL);
}

void tarn_contract_a_thread_that_rested_reads_again(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    tarn_store_rest(store); /* before it ever read */
    fx_write(store, make_tx, &(struct named){ .name = "a" }, TARN_OK);
    cr_expect(is_there(store, "a"));
    tarn_store_rest(store);
    fx_write(store, make_tx, &(struct named){ .name = "b" }, TARN_OK);
    cr_expect(is_there(store, "b"));
}

/* --- one group: the writer is held until everything waits --- */

#define GROUP 40
struct group {
    struct tarn_store *store;
    struct tarn_hold hold;
    sem_t told;
    struct member {
        struct group *group;
        struct named named;
        char name[16];
        _Atomic int runs, told;
        tarn_code code;
        bool last_was_there; /* when this one was told */
    } members[GROUP];
};

static tarn_code member_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct member *m = ctx;
    atomic_fetch_add(&m->runs, 1);
    return make_tx(tx, &m->named, err);
}
static void member_done(void *ctx, tarn_code code, struct tarn_err *err)
{
    (void)err;
    struct member *m = ctx;
    m->code = code;
    m->last_was_there = is_there(m->group->store, m->group->members[GROUP - 1].name);
    atomic_fetch_add(&m->told, 1);
    sem_post(&m->group->told);
}

/* Runs GROUP members in one group; every third is refused. */
static void run_group(struct tarn_store *store, struct group *g)
{
    memset(g, 0, sizeof *g);
    g->store = store;
    sem_init(&g->told, 0, 0);
    tarn_hold_begin(&g->hold, store);
    for (int i = 0; i < GROUP; i++) {
        struct member *m = &g->members[i];
        snprintf(m->name, sizeof m->name, "t%02d", i);
        m->named = (struct named){ .name = m->name, .refuse = i % 3 == 1 };
        m->group = g;
        tarn_store_submit(store, member_tx, m, member_done);
    }
    tarn_hold_end(&g->hold);
    for (int i = 0; i < GROUP; i++)
        sem_wait(&g->told);
}

void tarn_contract_a_refusal_in_a_group_leaves_its_neighbours_alone(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    static struct group g;
    run_group(store, &g);
    for (int i = 0; i < GROUP; i++) {
        struct member *m = &g.members[i];
        cr_expect(eq(int, m->code, m->named.refuse ? TARN_TABLE_PROTECTED : TARN_OK), "%s", m->name);
        cr_expect(eq(int, m->told, 1), "%s", m->name);
        cr_expect(eq(int, is_there(store, m->name), !m->named.refuse), "%s", m->name);
    }
}

void tarn_contract_a_group_is_answered_after_it_is_durable(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    static struct group g;
    run_group(store,
              &g); /* the first of the group is told when the last is there already; the refused ones too */
    for (int i = 0; i < GROUP; i++)
        cr_expect(g.members[i].last_was_there, "%s", g.members[i].name);
}

/* --- many threads --- */

#define THREADS 64
#define COMMITS 4
struct client {
    pthread_t thread;
    struct tarn_store *store;
    int64_t table_id;
    int number;
    int acknowledged, conflicts;
};

static tarn_code version_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct fx_commit *c = ctx;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    TARN_TRY(tx->ops->tables.get_by_id(tx, c->table_id, &table, err));
    c->expected = table->version;
    return TARN_OK;
}

/* Reads the version, commits on top of it, and does it again on a conflict. */
static void *client_main(void *arg)
{
    struct client *c = arg;
    for (int i = 0; i < COMMITS; i++) {
        char name[32];
        snprintf(name, sizeof name, "txn-%d-%d", c->number, i);
        tarn_code code = TARN_VERSION_CONFLICT;
        while (code == TARN_VERSION_CONFLICT) {
            TARN_ERR(err);
            struct fx_commit commit = { .table_id = c->table_id, .transaction = name, .add = name };
            if (tarn_store_read(c->store, version_tx, &commit, &err) != TARN_OK)
                return NULL;
            code = tarn_store_write(c->store, fx_commit_tx, &commit, &err);
            c->conflicts += code == TARN_VERSION_CONFLICT;
        }
        c->acknowledged += code == TARN_OK;
    }
    return NULL;
}

static tarn_code count_commit(void *ctx, const struct tarn_commit_row *row, struct tarn_err *err)
{
    (void)err;
    int64_t *next = ctx; /* newest first: without a gap down to 1 */
    cr_expect(eq(i64, row->version, *next));
    (*next)--;
    return TARN_OK;
}
struct history {
    int64_t table_id, next;
};
static tarn_code history_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct history *h = ctx;
    return tx->ops->commits.list(tx, h->table_id, INT64_MAX, 100000, count_commit, &h->next, err);
}

void tarn_contract_submits_from_many_threads_are_counted_exactly_once(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    int64_t id = fx_make(store, "default", "orders");
    static struct client clients[THREADS];
    for (int i = 0; i < THREADS; i++) {
        clients[i] = (struct client){ .store = store, .table_id = id, .number = i };
        cr_assert(eq(int, pthread_create(&clients[i].thread, NULL, client_main, &clients[i]), 0));
    }
    int acknowledged = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(clients[i].thread, NULL);
        acknowledged += clients[i].acknowledged;
    }
    cr_expect(eq(int, acknowledged, THREADS *COMMITS));
    TARN_AUTO(table) struct tarn_table *table = fx_get(store, id);
    cr_expect(eq(i64, table->version, THREADS * COMMITS));
    cr_expect(eq(i64, table->file_count, THREADS * COMMITS));
    cr_expect(eq(i64, table->total_bytes, THREADS * COMMITS * 100));
    struct history h = { id, THREADS * COMMITS };
    fx_read(store, history_tx, &h, TARN_OK);
    cr_expect(eq(i64, h.next, 0));
}

/* --- snapshots, ends --- */

struct snapshot {
    int64_t table_id;
    int64_t before, after;
};
static tarn_code snapshot_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct snapshot *s = ctx;
    TARN_AUTO(table) struct tarn_table *first = NULL, *second = NULL;
    TARN_TRY(tx->ops->tables.get_by_id(tx, s->table_id, &first, err));
    (void)fx_commit(tx->store, s->table_id, "txn-1", "a", NULL);
    TARN_TRY(tx->ops->tables.get_by_id(tx, s->table_id, &second, err));
    s->before = first->version;
    s->after = second->version;
    return TARN_OK;
}

void tarn_contract_a_read_sees_one_snapshot_while_writes_go_on(tarn_store_opener *open)
{
    TARN_AUTO(store) struct tarn_store *store = open(tarn_tmp());
    struct snapshot s = { .table_id = fx_make(store, "default", "orders") };
    fx_read(store, snapshot_tx, &s, TARN_OK);
    cr_expect(eq(i64, s.before, 0));
    cr_expect(eq(i64, s.after, 0));
    TARN_AUTO(table) struct tarn_table *table = fx_get(store, s.table_id);
    cr_expect(eq(i64, table->version, 1));
}

static void count_done(void *ctx, tarn_code code, struct tarn_err *err)
{
    (void)err;
    if (code == TARN_OK)
        atomic_fetch_add((_Atomic int *)ctx, 1);
}

struct queued {
    struct fx_commit commit;
    char transaction[16];
    _Atomic int *told;
};
static tarn_code queued_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return fx_commit_tx(tx, &((struct queued *)ctx)->commit, err);
}
static void queued_done(void *ctx, tarn_code code, struct tarn_err *err)
{
    count_done(((struct queued *)ctx)->told, code, err);
}

void tarn_contract_what_is_queued_is_finished_before_the_store_closes(tarn_store_opener *open)
{
    enum { QUEUED = 300 };
    static struct queued queued[QUEUED];
    static _Atomic int told;
    const char *folder = tarn_tmp();
    struct tarn_store *store = open(folder);
    int64_t id = fx_make(store, "default", "orders");
    for (int i = 0; i < QUEUED; i++) {
        struct queued *q = &queued[i];
        snprintf(q->transaction, sizeof q->transaction, "txn-%d", i);
        q->told = &told;
        q->commit = (struct fx_commit){ .table_id = id, .transaction = q->transaction, .expected = -1 };
        tarn_store_submit(store, queued_tx, q, queued_done);
    }
    tarn_store_free(store);
    cr_expect(eq(int, told, QUEUED));

    TARN_AUTO(store) struct tarn_store *again = open(folder);
    TARN_AUTO(table) struct tarn_table *table = fx_get(again, id);
    cr_expect(eq(i64, table->version, QUEUED));
}

void tarn_contract_everything_is_there_after_the_store_is_opened_again(tarn_store_opener *open)
{
    const char *folder = tarn_tmp();
    int64_t id = 0;
    for (int i = 0; i < 5; i++) {
        TARN_AUTO(store) struct tarn_store *store = open(folder);
        char text[16];
        if (i == 0)
            id = fx_make(store, "default", "orders");
        snprintf(text, sizeof text, "txn-%d", i);
        cr_expect(eq(i64, fx_commit(store, id, text, text, NULL), i + 1));
    }
    TARN_AUTO(store) struct tarn_store *store = open(folder);
    char *paths = fx_paths(store, id, 5, 2);
    cr_expect(eq(str, paths, S("txn-0 txn-1 txn-2 txn-3 txn-4")));
    free(paths);
}
