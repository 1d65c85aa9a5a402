/* test_store_sqlite.c - the port's contract over SQLite, and what only this adapter promises: plans that find by a key, a
 * bounded queue, private files, a backup. */
#include "catalog/sqlite/sqlite.h"
#include "tests/catalog/store_contract.h"
#include "tests/support/hold.h"
#include "tests/support/sqlite_store.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <semaphore.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>

#define S(text) ((char *)(text))

#define X(name)                                                                                              \
    Test(store_sqlite, name) { tarn_contract_##name(tarn_sqlite_store); }
TARN_STORE_CONTRACT(X)
#undef X

Test(store_sqlite, what_is_no_database_is_refused_without_sql_in_the_error)
{
    const char *folder = tarn_tmp();
    char path[4096];
    snprintf(path, sizeof path, "%s", tarn_path(folder, "catalog.db"));
    tarn_write_text(
        path, "this is not a database, but it is long enough to be taken for one by its size ............");
    const char *paths[] = { path, "/nonexistent/folder/catalog.db" };
    for (size_t i = 0; i < TARN_COUNT(paths); i++) {
        struct tarn_sqlite_options options = { .path = paths[i], .migrate = true };
        struct tarn_store *store = NULL;
        TARN_ERR(err);
        cr_expect(eq(int, tarn_sqlite_open(&options, &store, &err), TARN_INTERNAL));
        cr_expect(tarn_has(err.detail, "(sqlite ") && tarn_has(err.detail, paths[i]), "%s", err.detail);
        cr_expect(not(tarn_has(err.detail, "PRAGMA")), "%s", err.detail);
    }
}

Test(store_sqlite, the_database_is_private)
{
    const char *folder = tarn_tmp();
    TARN_AUTO(store) struct tarn_store *store = tarn_sqlite_store(folder);
    (void)fx_make(store, "default", "orders");
    static const char *const k_files[] = { "catalog.db", "catalog.db-wal" };
    for (size_t i = 0; i < TARN_COUNT(k_files); i++) {
        struct stat st;
        cr_assert(eq(int, stat(tarn_path(folder, k_files[i]), &st), 0));
        cr_expect(eq(int, st.st_mode & 0777, 0600), "%s", k_files[i]);
    }
}

/* --- the plans --- */

/* Of catalog/sqlite/internal.h, which is its folder's alone. */
extern const char *const tarn_sqlite_files_sql[], *const tarn_sqlite_bulk_sql[];

/* One line a step; a sorter is told as "USE TEMP B-TREE". */
static char *plan_of(sqlite3 *db, const char *sql)
{
    struct tarn_buf plan = { 0 };
    sqlite3_stmt *st = NULL;
    char *text = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", sql);
    cr_assert(eq(int, sqlite3_prepare_v2(db, text, -1, &st, NULL), SQLITE_OK), "%s", sqlite3_errmsg(db));
    while (sqlite3_step(st) == SQLITE_ROW)
        tarn_buf_addf(&plan, "%s\n", (const char *)sqlite3_column_text(st, 3));
    sqlite3_finalize(st);
    sqlite3_free(text);
    return tarn_buf_take(&plan);
}

/* A page must cost its rows, whatever the size of the table: found by a key, never by a scan; sorted is only what
 * was removed since the version of S_PAGE, and nothing at all in the order of the key. */
Test(store_sqlite, no_statement_on_files_scans_and_pages_come_in_the_order_of_an_index)
{
    static const struct {
        const char *part, *plan;
    } k_pages[] = {
        { "ORDER BY 1 LIMIT",
          "SEARCH f USING INDEX files_live (table_id=? AND path>?)\n" },
        { "(f.added_version, f.path) >",
          "SEARCH f USING PRIMARY KEY (table_id=? AND (added_version,path)>(?,?) AND added_version<?)\n" },
    };
    const char *folder = tarn_tmp();
    tarn_store_free(tarn_sqlite_store(folder));
    sqlite3 *db = NULL;
    cr_assert(eq(int, sqlite3_open(tarn_path(folder, "catalog.db"), &db), SQLITE_OK));
    for (size_t i = 0; tarn_sqlite_files_sql[i]; i++) {
        const char *sql = tarn_sqlite_files_sql[i];
        char *plan = plan_of(db, sql);
        cr_expect(not(tarn_has(plan, "SCAN f")), "%s\n%s", sql, plan);
        for (size_t k = 0; k < TARN_COUNT(k_pages); k++)
            if (tarn_has(sql, k_pages[k].part))
                cr_expect(tarn_has(plan, k_pages[k].plan), "%s\n%s", sql, plan);
        if (tarn_has(sql, k_pages[1].part))
            cr_expect(not(tarn_has(plan, "TEMP B-TREE")), "%s\n%s", sql, plan);
        free(plan);
    }
    sqlite3_close(db);
}

/* A step of a large commit costs its rows: it goes by all columns of an index that it names, never by a part. */
Test(store_sqlite, a_step_of_a_large_commit_finds_its_rows_by_the_whole_key)
{
    static const char *const k_plans[] = {
        "SEARCH files USING PRIMARY KEY (table_id=? AND (added_version,path)>(?,?) AND added_version<?)\n",
        "SEARCH files USING PRIMARY KEY (table_id=? AND (added_version,path)>(?,?) AND (added_version,path)<(?,?))\n",
        "SEARCH files USING COVERING INDEX files_removed "
        "(table_id=? AND (removed_version,added_version,path)>(?,?,?) AND removed_version<?)\n",
        "SEARCH files USING INDEX files_removed (table_id=? AND (removed_version,added_version,path)>(?,?,?) "
        "AND (removed_version,added_version,path)<(?,?,?))\n",
        "SEARCH files USING PRIMARY KEY (table_id=? AND added_version=? AND path=?)\n",
        "SEARCH files USING PRIMARY KEY (table_id=? AND added_version=? AND path=?)\n",
    };
    const char *folder = tarn_tmp();
    tarn_store_free(tarn_sqlite_store(folder));
    sqlite3 *db = NULL;
    cr_assert(eq(int, sqlite3_open(tarn_path(folder, "catalog.db"), &db), SQLITE_OK));
    for (size_t i = 0; tarn_sqlite_bulk_sql[i]; i++) {
        char *plan = plan_of(db, tarn_sqlite_bulk_sql[i]);
        cr_expect(i < TARN_COUNT(k_plans) && tarn_has(plan, k_plans[i]), "%s\n%s", tarn_sqlite_bulk_sql[i], plan);
        free(plan);
    }
    sqlite3_close(db);
}

/* --- the queue --- */

struct told {
    sem_t one;
    int codes[8];
    int next;
};
static tarn_code nothing_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    (void)tx;
    (void)ctx;
    (void)err;
    return TARN_OK;
}
static void note_done(void *ctx, tarn_code code, struct tarn_err *err)
{
    (void)err;
    struct told *told = ctx;
    told->codes[told->next++] = code;
    sem_post(&told->one);
}

Test(store_sqlite, a_full_queue_refuses_at_once_and_takes_again_when_it_is_drained)
{
    struct tarn_sqlite_options options = { .path = tarn_path(tarn_tmp(), "catalog.db"),
                                           .migrate = true,
                                           .queue_max = 2 };
    TARN_AUTO(store) struct tarn_store *store = NULL;
    cr_assert(eq(int, tarn_sqlite_open(&options, &store, NULL), TARN_OK));
    struct told told = { .next = 0 };
    struct tarn_hold hold;
    sem_init(&told.one, 0, 0);
    tarn_hold_begin(&hold, store); /* the writer is busy; two may wait */
    for (int i = 0; i < 3; i++)
        tarn_store_submit(store, nothing_tx, &told, note_done);
    cr_expect(eq(int, told.next, 1), "the third one, on this thread");
    cr_expect(eq(int, told.codes[0], TARN_OVERLOADED));
    tarn_hold_end(&hold);
    for (int i = 0; i < 3; i++)
        sem_wait(&told.one);
    for (int i = 1; i < 3; i++)
        cr_expect(eq(int, told.codes[i], TARN_OK));
    fx_write(store, nothing_tx, NULL, TARN_OK);
    int64_t groups = 0, transactions = 0;
    tarn_sqlite_counters(store, &groups, &transactions);
    cr_expect(eq(i64, groups, 3));
    cr_expect(eq(i64, transactions, 4));
}

/* --- the backup --- */

Test(store_sqlite, a_backup_is_a_whole_database_of_its_own)
{
    const char *folder = tarn_tmp(), *other = tarn_tmp();
    TARN_AUTO(store) struct tarn_store *store = tarn_sqlite_store(folder);
    int64_t id = fx_make(store, "default", "orders");
    for (int i = 0; i < 50; i++) {
        char text[16];
        snprintf(text, sizeof text, "txn-%d", i);
        (void)fx_commit(store, id, text, text, NULL);
    }
    TARN_ERR(err);
    cr_assert(eq(int, tarn_sqlite_backup(store, tarn_path(other, "catalog.db"), &err), TARN_OK), "%s",
              err.detail);
    (void)fx_commit(store, id, "later", "later", NULL);
    cr_expect(eq(sz, tarn_count_entries(other), 1)); /* no log beside it */

    TARN_AUTO(store) struct tarn_store *copy = tarn_sqlite_store(other);
    TARN_AUTO(table) struct tarn_table *table = fx_get(copy, id);
    cr_expect(eq(i64, table->version, 50));
    cr_expect(eq(int, tarn_sqlite_backup(store, tarn_path(other, "catalog.db"), &err), TARN_INVALID));
    cr_expect(eq(int, tarn_sqlite_backup(store, "/nonexistent/copy", &err), TARN_INTERNAL));
}
