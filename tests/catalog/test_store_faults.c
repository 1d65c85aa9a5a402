/* test_store_faults.c - the SQLite store on a disk that fails. Whatever happens: what was acknowledged is
 * there whole, what was refused is not there at all, what is said to be unknown is one of the two and stays
 * it, and the store goes on when the disk does. */
#include "base/time.h"
#include "catalog/sqlite/sqlite.h"
#include "tests/catalog/store_contract.h"
#include "tests/support/faultvfs.h"
#include "tests/support/hold.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <limits.h>
#include <semaphore.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#define S(text) ((char *)(text))

static struct tarn_store *open_at(const char *folder, int64_t cache_kib, const char *vfs)
{
    struct tarn_sqlite_options options = {
        .path = tarn_path(folder, "catalog.db"), .migrate = true, .cache_kib = cache_kib, .vfs = vfs
    };
    struct tarn_store *store = NULL;
    TARN_ERR(err);
    tarn_fault_install();
    cr_assert(eq(int, tarn_sqlite_open(&options, &store, &err), TARN_OK), "%s", err.detail);
    return store;
}

/* --- a group of commits, each to a table of its own --- */

#define GROUP 12
struct member {
    struct group *group;
    struct fx_commit commit;
    char transaction[16];
    int files;   /* added in this commit */
    bool refuse; /* after having written */
    tarn_code code;
    char detail[512];
};
struct group {
    struct tarn_hold hold;
    sem_t told;
    struct member members[GROUP];
};

static tarn_code member_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct member *m = ctx;
    TARN_TRY(fx_commit_tx(tx, &m->commit, err));
    for (int i = 0; i < m->files; i++) {
        char path[300];
        snprintf(path, sizeof path, "file-%05d-%0200d", i, i);
        struct tarn_file file = { .path = path, .size = 1, .records = -1 };
        TARN_TRY(tx->ops->files.add(tx, m->commit.table_id, m->commit.version, &file, err));
    }
    return m->refuse ? tarn_fail(err, TARN_TABLE_PROTECTED, "no") : TARN_OK;
}
static void member_done(void *ctx, tarn_code code, struct tarn_err *err)
{
    struct member *m = ctx;
    m->code = code;
    snprintf(m->detail, sizeof m->detail, "%s", err->detail);
    sem_post(&m->group->told);
}

static void make_group(struct tarn_store *store, struct group *g)
{
    memset(g, 0, sizeof *g);
    sem_init(&g->told, 0, 0);
    for (int i = 0; i < GROUP; i++) {
        struct member *m = &g->members[i];
        char name[16];
        snprintf(name, sizeof name, "t%02d", i);
        m->group = g;
        m->commit =
            (struct fx_commit){ .table_id = fx_make(store, "default", name), .add = "first", .expected = -1 };
        m->refuse = i % 4 == 3;
        m->files = 3;
    }
}

/* All members in one group, the fault armed when they wait. `round` makes the transaction ids. */
static void run_group(struct tarn_store *store, struct group *g, int round, enum tarn_fault_op op, int after,
                      int count, int rc)
{
    tarn_hold_begin(&g->hold, store);
    for (int i = 0; i < GROUP; i++) {
        struct member *m = &g->members[i];
        snprintf(m->transaction, sizeof m->transaction, "txn-%d", round);
        m->commit.transaction = m->transaction;
        tarn_store_submit(store, member_tx, m, member_done);
    }
    tarn_fault_arm(op, TARN_FAULT_WAL, after, count, rc);
    tarn_hold_end(&g->hold);
    for (int i = 0; i < GROUP; i++)
        sem_wait(&g->told);
    tarn_fault_disarm();
}

struct count {
    int64_t table_id, version, files, commits;
};
static tarn_code one_file(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    (void)file;
    (void)err;
    ((struct count *)ctx)->files++;
    return TARN_OK;
}
static tarn_code one_commit(void *ctx, const struct tarn_commit_row *row, struct tarn_err *err)
{
    (void)row;
    (void)err;
    ((struct count *)ctx)->commits++;
    return TARN_OK;
}
static tarn_code count_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct count *c = ctx;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    c->files = c->commits = 0;
    TARN_TRY(tx->ops->tables.get_by_id(tx, c->table_id, &table, err));
    c->version = table->version;
    TARN_TRY(tx->ops->files.page(tx, c->table_id, INT64_MAX, "", 1000000, one_file, c, err));
    return tx->ops->commits.list(tx, c->table_id, INT64_MAX, 1000000, one_commit, c, err);
}

/* The table has its one commit whole, or nothing of it. */
static bool is_committed(struct tarn_store *store, const struct member *m)
{
    struct count c = { .table_id = m->commit.table_id };
    fx_read(store, count_tx, &c, TARN_OK);
    cr_expect(eq(i64, c.commits, c.version));
    cr_expect(eq(i64, c.files, c.version * (m->files + 1)));
    cr_expect(le(i64, c.version, 1));
    return c.version == 1;
}

/* What a crash at this moment would leave: the database and its log, recovered elsewhere. */
static struct tarn_store *crashed_copy(const char *folder)
{
    const char *copy = tarn_tmp();
    static const char *const k_files[] = { "catalog.db", "catalog.db-wal" };
    for (size_t i = 0; i < TARN_COUNT(k_files); i++) {
        size_t len = 0;
        char *data = tarn_read_file(tarn_path(folder, k_files[i]), &len);
        tarn_write_file(tarn_path(copy, k_files[i]), data, len);
        free(data);
    }
    return open_at(copy, 0, NULL);
}

/* Every member's answer against what is there, now and after a crash. */
static void expect_truth(struct tarn_store *store, const char *folder, struct group *g)
{
    TARN_AUTO(store) struct tarn_store *crashed = crashed_copy(folder);
    for (int i = 0; i < GROUP; i++) {
        struct member *m = &g->members[i];
        bool there = is_committed(store, m), recovered = is_committed(crashed, m);
        cr_expect(eq(int, recovered, there), "member %d", i);
        if (m->code == TARN_COMMIT_STATE_UNKNOWN)
            continue;
        cr_expect(eq(int, there, m->code == TARN_OK), "member %d: %s", i, m->detail);
        if (m->refuse && m->code != TARN_INSUFFICIENT_STORAGE && m->code != TARN_INTERNAL)
            cr_expect(eq(int, m->code, TARN_TABLE_PROTECTED));
    }
}

/* The store goes on: those that are not there yet come now. */
static void expect_going_on(struct tarn_store *store, struct group *g)
{
    for (int i = 0; i < GROUP; i++) {
        struct member *m = &g->members[i];
        m->refuse = false;
        if (!is_committed(store, m))
            fx_write(store, member_tx, m, TARN_OK);
        cr_expect(is_committed(store, m));
    }
}

static int count_codes(const struct group *g, tarn_code code)
{
    int count = 0;
    for (int i = 0; i < GROUP; i++)
        count += g->members[i].code == code;
    return count;
}

Test(store_faults, a_full_disk_refuses_what_does_not_fit_and_keeps_what_it_acknowledged)
{
    static const int k_counts[] = { 1, 2, 5, INT_MAX };
    static struct group g;
    for (int after = 0; after < 60; after += 4) {
        for (size_t c = 0; c < TARN_COUNT(k_counts); c++) {
            const char *folder = tarn_tmp();
            TARN_AUTO(store) struct tarn_store *store = open_at(folder, 0, TARN_FAULT_VFS);
            make_group(store, &g);
            run_group(store, &g, 1, TARN_FAULT_WRITE, after, k_counts[c], SQLITE_FULL);
            if (tarn_fault_hits() > 0 && k_counts[c] == 1) /* there was space again for the second try */
                cr_expect(eq(int, count_codes(&g, TARN_OK), GROUP - GROUP / 4), "after %d", after);
            if (k_counts[c] == INT_MAX && after == 0)
                cr_expect(eq(int, count_codes(&g, TARN_INSUFFICIENT_STORAGE), GROUP - GROUP / 4));
            cr_expect(eq(int, count_codes(&g, TARN_COMMIT_STATE_UNKNOWN), 0));
            expect_truth(store, folder, &g);
            expect_going_on(store, &g);
            tarn_store_free(store);
            store = NULL;
            tarn_tmp_remove();
        }
    }
}

/* With a small cache SQLite writes before COMMIT, meets the full disk there and drops the whole transaction.
 */
Test(store_faults, a_transaction_that_sqlite_drops_half_way_is_run_again_one_by_one)
{
    static struct group g;
    for (int after = 0; after < 200; after += 25) {
        const char *folder = tarn_tmp();
        TARN_AUTO(store) struct tarn_store *store = open_at(folder, 64, TARN_FAULT_VFS);
        make_group(store, &g);
        g.members[5].files = 1500;
        run_group(store, &g, 1, TARN_FAULT_WRITE, after, 1, SQLITE_FULL);
        cr_expect(eq(int, tarn_fault_hits(), 1));
        cr_expect(eq(int, count_codes(&g, TARN_OK), GROUP - GROUP / 4));
        expect_truth(store, folder, &g);
        tarn_store_free(store);
        store = NULL;
        tarn_tmp_remove();
    }
}

Test(store_faults, a_large_transaction_that_never_fits_leaves_its_neighbours_alone)
{
    static struct group g;
    const char *folder = tarn_tmp();
    TARN_AUTO(store) struct tarn_store *store = open_at(folder, 64, TARN_FAULT_VFS);
    make_group(store, &g);
    g.members[0].files = 1500; /* some hundred pages; the others need few */
    run_group(store, &g, 1, TARN_FAULT_WRITE, 60, 2, SQLITE_FULL);
    cr_expect(eq(int, g.members[0].code, TARN_INSUFFICIENT_STORAGE));
    cr_expect(eq(int, count_codes(&g, TARN_OK), GROUP - GROUP / 4 - 1));
    expect_truth(store, folder, &g);
    expect_going_on(store, &g);
}

/* The log cannot be synced, or not be written: nobody can say whether the commit is on the disk. */
Test(store_faults, a_commit_that_cannot_be_synced_is_unknown_and_the_store_goes_on_truthfully)
{
    static const struct {
        enum tarn_fault_op op;
        int rc;
    } k_faults[] = { { TARN_FAULT_SYNC, SQLITE_IOERR_FSYNC }, { TARN_FAULT_WRITE, SQLITE_IOERR_WRITE } };
    static struct group g;
    for (size_t i = 0; i < TARN_COUNT(k_faults); i++) {
        const char *folder = tarn_tmp();
        TARN_AUTO(store) struct tarn_store *store = open_at(folder, 0, TARN_FAULT_VFS);
        make_group(store, &g);
        run_group(store, &g, 1, k_faults[i].op, 0, 1, k_faults[i].rc);
        cr_expect(eq(int, tarn_fault_hits(), 1));
        cr_expect(eq(int, count_codes(&g, TARN_COMMIT_STATE_UNKNOWN), GROUP - GROUP / 4));
        cr_expect(eq(int, count_codes(&g, TARN_TABLE_PROTECTED), GROUP / 4)); /* judged anew, so it is true */
        cr_expect(tarn_has(g.members[0].detail, "(sqlite "), "%s", g.members[0].detail);
        expect_truth(store, folder, &g);
        expect_going_on(store, &g);
    }
}

Test(store_faults, a_single_commit_that_cannot_be_synced_is_unknown)
{
    const char *folder = tarn_tmp();
    TARN_AUTO(store) struct tarn_store *store = open_at(folder, 0, TARN_FAULT_VFS);
    int64_t id = fx_make(store, "default", "orders");
    for (int i = 0; i < 10; i++) {
        char text[16];
        snprintf(text, sizeof text, "txn-%d", i);
        struct fx_commit commit = { id, text, text, NULL, -1, 0 };
        tarn_fault_arm(TARN_FAULT_SYNC, TARN_FAULT_WAL, 0, 1, SQLITE_IOERR_FSYNC);
        fx_write(store, fx_commit_tx, &commit, TARN_COMMIT_STATE_UNKNOWN);
        tarn_fault_disarm();
        struct count now = { .table_id = id }, later = { .table_id = id };
        fx_read(store, count_tx, &now, TARN_OK);
        TARN_AUTO(store) struct tarn_store *crashed = crashed_copy(folder);
        fx_read(crashed, count_tx, &later, TARN_OK);
        cr_expect(eq(i64, now.version, later.version));
        if (now.version == i) /* the client looks, and finds that it has to commit again */
            fx_write(store, fx_commit_tx, &commit, TARN_OK);
    }
    struct count c = { .table_id = id };
    fx_read(store, count_tx, &c, TARN_OK);
    cr_expect(eq(i64, c.version, 10));
    cr_expect(eq(i64, c.files, 10));
}

Test(store_faults, while_the_disk_stays_broken_nothing_is_acknowledged)
{
    const char *folder = tarn_tmp();
    TARN_AUTO(store) struct tarn_store *store = open_at(folder, 0, TARN_FAULT_VFS);
    int64_t id = fx_make(store, "default", "orders");
    tarn_fault_arm(TARN_FAULT_SYNC, TARN_FAULT_ANY, 0, INT_MAX, SQLITE_IOERR_FSYNC);
    struct fx_commit commit = { id, "txn-1", "a", NULL, -1, 0 };
    fx_write(store, fx_commit_tx, &commit, TARN_COMMIT_STATE_UNKNOWN);
    for (int i = 0; i < 3; i++)
        fx_write(store, fx_commit_tx, &commit,
                 TARN_INTERNAL); /* not even tried: known not to have happened */
    struct count c = { .table_id = id };
    fx_read(store, count_tx, &c, TARN_OK); /* readers go on, and see one of the two */
    cr_expect(eq(i64, c.files, c.version));
    tarn_fault_disarm();
    fx_write(store, fx_commit_tx, &commit, c.version == 0 ? TARN_OK : TARN_TRANSACTION_EXISTS);
    fx_read(store, count_tx, &c, TARN_OK);
    cr_expect(eq(i64, c.version, 1));
    cr_expect(eq(i64, c.files, 1));
}

Test(store_faults, a_read_that_fails_says_so_and_the_next_one_has_a_fresh_connection)
{
    const char *folder = tarn_tmp();
    int64_t id = 0;
    {
        TARN_AUTO(store) struct tarn_store *store = open_at(folder, 0, TARN_FAULT_VFS);
        id = fx_make(store, "default", "orders");
        (void)fx_commit(store, id, "txn-1", "a", NULL);
    }
    TARN_AUTO(store) struct tarn_store *store = open_at(folder, 0, TARN_FAULT_VFS);
    struct count c = { .table_id = id };
    int refused = 0;
    for (int after = 0; after < 40; after++) {
        TARN_ERR(err);
        tarn_fault_arm(TARN_FAULT_READ, TARN_FAULT_ANY, after, 1, SQLITE_IOERR_READ);
        tarn_code code = tarn_store_read(store, count_tx, &c, &err);
        tarn_fault_disarm();
        refused += code != TARN_OK;
        cr_expect(code == TARN_OK || code == TARN_INTERNAL);
        fx_read(store, count_tx, &c, TARN_OK);
        cr_expect(eq(i64, c.version, 1));
    }
    cr_expect(gt(int, refused, 0));
}

Test(store_faults, a_checkpoint_that_fails_costs_nobody_a_commit)
{
    const char *folder = tarn_tmp();
    TARN_AUTO(store) struct tarn_store *store = open_at(folder, 0, TARN_FAULT_VFS);
    static struct group g;
    make_group(store, &g);
    tarn_fault_arm(TARN_FAULT_WRITE, TARN_FAULT_MAIN, 0, INT_MAX, SQLITE_FULL);
    for (int i = 0; i < GROUP; i++) {
        g.members[i].refuse = false;
        g.members[i].transaction[0] = 't';
        g.members[i].commit.transaction = g.members[i].transaction;
        g.members[i].files = 1000; /* about 130 pages */
        fx_write(store, member_tx, &g.members[i], TARN_OK);
    }
    tarn_hold_begin(&g.hold, store); /* behind the last checkpoint */
    cr_expect(gt(int, tarn_fault_hits(), 0));
    tarn_fault_disarm();
    tarn_hold_end(&g.hold);
    for (int i = 0; i < GROUP; i++)
        cr_expect(is_committed(store, &g.members[i]));
}

/* Somebody's sqlite3 shell in a transaction: the whole group waits once, not each of it. */
Test(store_faults, a_foreign_lock_refuses_the_group_after_one_wait)
{
    const char *folder = tarn_tmp();
    TARN_AUTO(store) struct tarn_store *store = open_at(folder, 0, TARN_FAULT_VFS);
    static struct group g;
    sqlite3 *other = NULL;
    make_group(store, &g);
    cr_assert(eq(int, sqlite3_open(tarn_path(folder, "catalog.db"), &other), SQLITE_OK));
    cr_assert(eq(int, sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK));
    int64_t began = tarn_monotonic_ms();
    for (int i = 0; i < GROUP; i++) { /* the first waits for the lock; the others gather behind it */
        struct member *m = &g.members[i];
        m->commit.transaction = "txn-1";
        tarn_store_submit(store, member_tx, m, member_done);
    }
    for (int i = 0; i < GROUP; i++)
        sem_wait(&g.told);
    int64_t took_ms = tarn_monotonic_ms() - began;
    cr_expect(eq(int, count_codes(&g, TARN_OVERLOADED), GROUP));
    cr_expect(lt(i64, took_ms, 10000));
    (void)sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_close(other);
    expect_going_on(store, &g);
}
