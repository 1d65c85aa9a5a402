/* test_republish.c - a log entry never changes and never comes back: a republish beside the end of history, before it, and
 * after one that a crash cut short. */
#include "base/time.h"
#include "lake/expire.h"
#include "lake/publish.h"
#include "lake/publish_run.h"
#include "tests/support/lake.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

/* Checkpoints at 5 and 10. When the history ends, 11 is the oldest version, and the log begins with the checkpoint of 10. */
enum { EVERY = 5, KEEP = 3, NEWEST = 13, OLDEST = 11, BEGIN = 10 };

static char s_location[600];

static const char *entry(int n)
{
    static char path[64];

    snprintf(path, sizeof path, "_transactions/txn-%d.json", n);
    return tarn_path(s_location, path);
}

/* Version n adds f<n> and removes f<n-1>. */
static void commit(int n)
{
    TARN_ERR(err);
    char remove[80] = "";

    if (n > 1)
        snprintf(remove, sizeof remove, ",{\"type\":\"remove_file\",\"path\":\"f%d\"}", n - 1);
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/commits",
                                "{\"expected_version\":%d,\"operations\":[{\"type\":\"add_file\",\"path\":\"f%d\",\"size\":3}%s]}",
                                n - 1, n, remove), 201), "%s", tarn_answer_text());
    cr_assert(eq(int, tarn_publish_table(&g_lake->lake, 1, &err), TARN_OK), "%s", err.detail);
}

static void setup(void)
{
    tarn_lake_setup();
    g_lake->lake.checkpoint_every = EVERY;
    g_lake->lake.history_versions = KEEP;
    g_lake->lake.history_retention_ms = TARN_DAY_MS;
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\"}"), 201));
    snprintf(s_location, sizeof s_location, "%s", tarn_answer_str("location"));
    for (int n = 1; n <= NEWEST; n++)
        commit(n);
}
TestSuite(republish, .init = setup, .fini = tarn_lake_teardown, .timeout = 60);

static tarn_code end_history(void)
{
    TARN_ERR(ignored);
    return tarn_expire_table(&g_lake->lake, 1, tarn_now_ms() + 2 * TARN_DAY_MS, &ignored);
}

static int64_t oldest(void)
{
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t", NULL), 200));
    return tarn_answer_i64("oldest_version");
}

/* `only`: the entry that it writes, 0: none. */
static void expect_republish_writes(int only)
{
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/repair", "{\"plan\":\"republish\",\"dry_run\":false}"), 200), "%s",
              tarn_answer_text());
    const json_t *writes = json_object_get(tarn_answer(), "writes");
    cr_assert(eq(sz, json_array_size(writes), only > 0), "%s", tarn_answer_text());
    if (only > 0)
        cr_expect(tarn_has(entry(only), json_string_value(json_array_get(writes, 0))), "%s", tarn_answer_text());
}

static void expect_entries_from(int first)
{
    for (int n = 1; n <= NEWEST; n++)
        cr_expect(eq(int, tarn_file_exists(entry(n)), n >= first), "txn-%d", n);
}

static tarn_code move_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    TARN_AUTO(table) struct tarn_table *table = NULL;
    tarn_code code = tx->ops->tables.get_by_id(tx, 1, &table, err);

    (void)ctx;
    if (code != TARN_OK)
        return code;
    table->oldest_version = OLDEST;
    return tx->ops->tables.update(tx, table, err);
}

/* Between the documents and the rows, which would be enough to make every entry again. */
Test(republish, brings_nothing_back_of_an_end_of_history_that_was_cut_short)
{
    cr_assert(eq(int, tarn_store_write(g_lake->store, move_tx, NULL, NULL), TARN_OK));
    for (int n = 1; n <= 6; n++)
        remove(entry(n));
    remove(entry(12));
    expect_republish_writes(12);
    expect_entries_from(7);
    cr_assert(eq(int, end_history(), TARN_OK));
    expect_republish_writes(0);
    expect_entries_from(BEGIN);
}

/* A catalog that was put back remembers what the one after it had ended, until its own sweep. */
Test(republish, brings_nothing_back_that_the_next_sweep_takes)
{
    g_lake->lake.history_retention_ms = 0;
    for (int n = 1; n < BEGIN; n++)
        remove(entry(n));
    remove(entry(11));
    expect_republish_writes(11);
    expect_entries_from(BEGIN);
    cr_expect(eq(i64, oldest(), 0));
}

/* What nobody can read is in the way of whoever reads the log. */
Test(republish, puts_aside_what_is_damaged_of_a_history_that_ends)
{
    g_lake->lake.history_retention_ms = 0;
    tarn_write_text(entry(4), "{\"id\":");
    expect_republish_writes(0);
    cr_expect(not(tarn_file_exists(entry(4))));
    cr_expect(tarn_file_exists(entry(3)));
    cr_expect(tarn_file_exists(entry(5)));
}

static void *end_beside(void *ctx)
{
    *(tarn_code *)ctx = end_history();
    return NULL;
}

/* Whoever walks over the documents writes again what was kept when the walk began; it has the table's turn of publication. */
Test(republish, history_does_not_end_while_the_documents_are_walked)
{
    struct tarn_publish_turn turn = { &g_lake->lake, 1, NULL };
    tarn_code code = TARN_INTERNAL;
    pthread_t thread;

    tarn_publish_turn_begin(&turn);
    cr_assert(eq(int, pthread_create(&thread, NULL, end_beside, &code), 0));
    usleep(100000);
    cr_expect(eq(i64, oldest(), 0));
    expect_entries_from(1);
    tarn_publish_turn_end(&turn);
    pthread_join(thread, NULL);
    cr_expect(eq(int, code, TARN_OK));
    cr_expect(eq(i64, oldest(), OLDEST));
    expect_entries_from(BEGIN);
}

Test(republish, beside_the_end_of_history_it_leaves_a_whole_log)
{
    tarn_code code = TARN_INTERNAL;
    pthread_t thread;

    cr_assert(eq(int, pthread_create(&thread, NULL, end_beside, &code), 0));
    for (int i = 0; i < 20; i++)
        expect_republish_writes(0);
    pthread_join(thread, NULL);
    cr_expect(eq(int, code, TARN_OK));
    expect_entries_from(BEGIN);
}
