/* Which version an ask means: by number, by transaction, by instant; of tables that expired, were adopted, came back. */
#include "lake/snapshot.h"
#include "tests/support/managed.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define S(text)     ((char *)(text))
#define AT(seconds) (MANAGED_T0 + (int64_t)1000 * (seconds))

struct row {
    struct tarn_snapshot_ask ask;
    tarn_code code;
    int64_t version;
    const char *transaction; /* NULL: none */
};
#define VERSION(n)                                                                                           \
    {                                                                                                        \
        .by = TARN_ASK_VERSION, .version = (n)                                                               \
    }
#define TRANSACTION(t)                                                                                       \
    {                                                                                                        \
        .by = TARN_ASK_TRANSACTION, .transaction = (t)                                                       \
    }
#define AS_OF(ms)                                                                                            \
    {                                                                                                        \
        .by = TARN_ASK_AS_OF, .as_of = (ms)                                                                  \
    }
#define NEWEST                                                                                               \
    {                                                                                                        \
        .by = TARN_ASK_NEWEST                                                                                \
    }

struct find {
    const struct tarn_table *table;
    const struct tarn_snapshot_ask *ask;
    struct tarn_snapshot out;
};

static tarn_code find_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct find *f = ctx;

    return tarn_snapshot_find(tx, f->table, f->ask, &f->out, err);
}

static void expect_rows(struct managed *m, int64_t id, const struct row *rows, size_t count)
{
    TARN_AUTO(table) struct tarn_table *table = managed_row(m, id);

    for (size_t i = 0; i < count; i++) {
        struct find f = { .table = table, .ask = &rows[i].ask };
        TARN_ERR(err);
        tarn_code code = tarn_store_read(m->lake.store, find_tx, &f, &err);
        cr_expect(eq(int, code, rows[i].code), "row %zu: %s", i, err.detail);
        if (code == TARN_VERSION_EXPIRED)
            cr_expect(eq(i64, json_integer_value(json_object_get(err.more, "oldest_version")),
                         table->oldest_version));
        if (code != TARN_OK || rows[i].code != TARN_OK)
            continue;
        cr_expect(eq(i64, f.out.version, rows[i].version), "row %zu", i);
        cr_expect(eq(int, f.out.transaction != NULL, rows[i].transaction != NULL), "row %zu", i);
        if (f.out.transaction && rows[i].transaction)
            cr_expect(eq(str, f.out.transaction, S(rows[i].transaction)), "row %zu", i);
        tarn_snapshot_done(&f.out);
    }
}

/* Version n was committed at AT(n). */
static void commits(struct managed *m, int64_t id, int count)
{
    static int number;
    char path[16];

    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "c%d", number++);
        managed_commit(m, id, path, NULL);
    }
}

Test(snapshot, a_table_born_in_tarn_is_found_at_every_version_from_0_on)
{
    static const struct row k_rows[] = {
        { NEWEST, TARN_OK, 5, "txn-5" },
        { VERSION(0), TARN_OK, 0, NULL },
        { VERSION(3), TARN_OK, 3, "txn-3" },
        { VERSION(5), TARN_OK, 5, "txn-5" },
        { VERSION(6), TARN_VERSION_NOT_FOUND, 0, NULL },
        { VERSION(INT64_MAX - 1), TARN_VERSION_NOT_FOUND, 0, NULL },
        { TRANSACTION("txn-1"), TARN_OK, 1, "txn-1" },
        { TRANSACTION("txn-5"), TARN_OK, 5, "txn-5" },
        { TRANSACTION("txn-6"), TARN_TRANSACTION_NOT_FOUND, 0, NULL },
        { AS_OF(INT64_C(0)), TARN_OK, 0, NULL },
        { AS_OF(AT(1) - 1), TARN_OK, 0, NULL },
        { AS_OF(AT(1)), TARN_OK, 1, "txn-1" },
        { AS_OF(AT(3) - 1), TARN_OK, 2, "txn-2" },
        { AS_OF(AT(3)), TARN_OK, 3, "txn-3" },
        { AS_OF(AT(3) + 1), TARN_OK, 3, "txn-3" },
        { AS_OF(AT(5)), TARN_OK, 5, "txn-5" },
        { AS_OF(AT(999999)), TARN_OK, 5, "txn-5" },
    };
    MANAGED(m);
    int64_t id = managed_table(&m, "t"), other = managed_table(&m, "u");
    commits(&m, other, 7);
    commits(&m, id, 5);
    expect_rows(&m, id, k_rows, TARN_COUNT(k_rows));
}

static void expire_until_3(struct tarn_table *table) { table->oldest_version = 3; }

Test(snapshot, what_is_no_longer_kept_is_expired)
{
    static const struct row k_rows[] = {
        { NEWEST, TARN_OK, 5, "txn-5" },
        { VERSION(2), TARN_VERSION_EXPIRED, 0, NULL },
        { VERSION(0), TARN_VERSION_EXPIRED, 0, NULL },
        { VERSION(3), TARN_OK, 3, "txn-3" },
        { TRANSACTION("txn-2"), TARN_VERSION_EXPIRED, 0, NULL },
        { TRANSACTION("txn-3"), TARN_OK, 3, "txn-3" },
        { AS_OF(AT(3) - 1), TARN_VERSION_EXPIRED, 0, NULL },
        { AS_OF(AT(3)), TARN_OK, 3, "txn-3" },
        { AS_OF(INT64_C(5)), TARN_VERSION_EXPIRED, 0, NULL },
    };
    MANAGED(m);
    int64_t id = managed_table(&m, "t");
    commits(&m, id, 5);
    managed_change(&m, id, expire_until_3);
    expect_rows(&m, id, k_rows, TARN_COUNT(k_rows));
}

/* As a registration leaves it: version 7 is what the manifest said, its transaction the newest of the log. */
static void adopt_7(struct tarn_table *table)
{
    table->version = table->oldest_version = table->first_version = 7;
    table->latest_transaction = strdup("old-2");
    table->created_at = AT(6);
}

static tarn_code entries_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    for (int i = 1; i <= 2 && code == TARN_OK; i++) {
        char transaction[16];
        snprintf(transaction, sizeof transaction, "old-%d", i);
        struct tarn_commit_row row = { .version = -1, .transaction = transaction, .committed_at = AT(i) };
        code = tx->ops->commits.insert_adopted(tx, *(int64_t *)ctx, i, &row, err);
    }
    return code;
}

Test(snapshot, of_an_adopted_table_nothing_is_known_before_the_version_that_was_adopted)
{
    static const struct row k_rows[] = {
        { VERSION(6), TARN_VERSION_NOT_FOUND, 0, NULL },
        { VERSION(0), TARN_VERSION_NOT_FOUND, 0, NULL },
        { VERSION(7), TARN_OK, 7, "old-2" },
        { VERSION(8), TARN_OK, 8, "txn-8" },
        { TRANSACTION("old-2"), TARN_OK, 7, "old-2" },
        { TRANSACTION("old-1"), TARN_VERSION_NOT_FOUND, 0, NULL },
        { TRANSACTION("old-3"), TARN_TRANSACTION_NOT_FOUND, 0, NULL },
        { TRANSACTION("txn-9"), TARN_OK, 9, "txn-9" },
        { AS_OF(AT(2) - 1), TARN_VERSION_NOT_FOUND, 0, NULL },
        { AS_OF(AT(2)), TARN_OK, 7, "old-2" },
        { AS_OF(AT(8) - 1), TARN_OK, 7, "old-2" },
        { AS_OF(AT(8)), TARN_OK, 8, "txn-8" },
        { NEWEST, TARN_OK, 9, "txn-9" },
    };
    static const struct row k_before[] = {
        { NEWEST, TARN_OK, 7, "old-2" },
        { TRANSACTION("old-2"), TARN_OK, 7, "old-2" },
        { AS_OF(AT(100)), TARN_OK, 7, "old-2" },
    };
    MANAGED(m);
    int64_t id = managed_table(&m, "t");
    managed_change(&m, id, adopt_7);
    cr_assert(eq(int, tarn_store_write(m.lake.store, entries_tx, &id, NULL), TARN_OK));
    expect_rows(&m, id, k_before, TARN_COUNT(k_before));
    commits(&m, id, 2);
    expect_rows(&m, id, k_rows, TARN_COUNT(k_rows));
}

static void expire_until_8(struct tarn_table *table) { table->oldest_version = 8; }

Test(snapshot, an_adopted_version_expires_like_any_other)
{
    static const struct row k_rows[] = {
        { VERSION(6), TARN_VERSION_NOT_FOUND, 0, NULL },
        { VERSION(7), TARN_VERSION_EXPIRED, 0, NULL },
        { TRANSACTION("old-1"), TARN_VERSION_NOT_FOUND, 0, NULL },
        { AS_OF(AT(7)), TARN_VERSION_EXPIRED, 0, NULL },
        { VERSION(8), TARN_OK, 8, "txn-8" },
    };
    MANAGED(m);
    int64_t id = managed_table(&m, "t");
    managed_change(&m, id, adopt_7);
    cr_assert(eq(int, tarn_store_write(m.lake.store, entries_tx, &id, NULL), TARN_OK));
    commits(&m, id, 2);
    managed_change(&m, id, expire_until_8);
    expect_rows(&m, id, k_rows, TARN_COUNT(k_rows));
}

Test(snapshot, without_a_log_an_adopted_version_dates_from_the_registration)
{
    static const struct row k_rows[] = {
        { VERSION(7), TARN_OK, 7, NULL },
        { AS_OF(AT(6) - 1), TARN_VERSION_NOT_FOUND, 0, NULL },
        { AS_OF(AT(6)), TARN_OK, 7, NULL },
    };
    MANAGED(m);
    int64_t id = managed_table(&m, "t");
    managed_change(&m, id, adopt_7);
    commits(&m, id, 1);
    expect_rows(&m, id, k_rows, TARN_COUNT(k_rows));
}

static void adopt_again(struct tarn_table *table)
{
    table->version = table->oldest_version = table->first_version = 9;
    free(table->latest_transaction);
    table->latest_transaction = NULL;
}

Test(snapshot, a_table_that_was_given_away_and_taken_back_begins_anew)
{
    static const struct row k_rows[] = {
        { VERSION(3), TARN_VERSION_NOT_FOUND, 0, NULL },
        { TRANSACTION("txn-2"), TARN_VERSION_NOT_FOUND, 0, NULL },
        { AS_OF(AT(2)), TARN_VERSION_NOT_FOUND, 0, NULL },
        { AS_OF(AT(4)), TARN_OK, 9, NULL },
        { VERSION(9), TARN_OK, 9, NULL },
        { VERSION(10), TARN_OK, 10, "txn-10" },
    };
    MANAGED(m);
    int64_t id = managed_table(&m, "t");
    commits(&m, id, 3);
    managed_change(&m, id, adopt_again);
    commits(&m, id, 1);
    expect_rows(&m, id, k_rows, TARN_COUNT(k_rows));
}

Test(snapshot, the_newest_one_is_read_with_the_newest_schema_and_a_named_one_with_its_own)
{
    static const struct {
        struct tarn_snapshot_ask ask;
        int64_t at_commit, reads;
    } k_rows[] = {
        { VERSION(0), 2, 2 }, { VERSION(1), 2, 2 }, { VERSION(2), 2, 2 },
        { VERSION(3), 4, 4 }, { NEWEST, 4, 5 },
    };
    MANAGED(m);
    int64_t id = managed_table(&m, "t");
    managed_schema(&m, id, "{}");
    managed_schema(&m, id, "{}"); /* before the first commit: version 0 has it */
    commits(&m, id, 2);
    managed_schema(&m, id, "{}");
    managed_schema(&m, id, "{}");
    commits(&m, id, 1);
    managed_schema(&m, id, "{}");
    TARN_AUTO(table) struct tarn_table *table = managed_row(&m, id);
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct find f = { .table = table, .ask = &k_rows[i].ask };
        cr_assert(eq(int, tarn_store_read(m.lake.store, find_tx, &f, NULL), TARN_OK));
        cr_expect(eq(i64, f.out.schema_version, k_rows[i].at_commit), "row %zu", i);
        cr_expect(eq(i64, f.out.reads_schema, k_rows[i].reads), "row %zu", i);
        tarn_snapshot_done(&f.out);
    }
}
