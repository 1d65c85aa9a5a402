/* test_store_migrations.c - a database of an earlier shape is carried over with what it holds; one of another history, or one
 * that may not be migrated, is refused. */
#include "base/hash.h"
#include "catalog/sqlite/sqlite.h"
#include "catalog/store.h"
#include "tests/support/sqlite_store.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#define S(text) ((char *)(text))

static void alter(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    cr_assert(eq(int, sqlite3_open(path, &db), SQLITE_OK));
    cr_assert(eq(int, sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK), "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

Test(store_migrations, a_database_of_another_history_is_refused)
{
    static const struct {
        const char *sql, *part;
    } k_cases[] = {
        { "INSERT INTO schema_migrations VALUES ('9999_later', 'x', 1)",
          "newer Tarn: it has the migration 9999_later" },
        { "UPDATE schema_migrations SET checksum = 'x'", "0001_catalog was applied in another form" },
        { "UPDATE schema_migrations SET name = '0001_other' WHERE name = '0001_catalog'",
          "has the migration 0001_other where this Tarn has 0001_catalog" },
        { "DROP TABLE schema_migrations", "not one of Tarn's" },
    };
    for (size_t i = 0; i < TARN_COUNT(k_cases); i++) {
        const char *folder = tarn_tmp();
        tarn_store_free(tarn_sqlite_store(folder));
        alter(tarn_path(folder, "catalog.db"), k_cases[i].sql);
        struct tarn_sqlite_options options = { .path = tarn_path(folder, "catalog.db"), .migrate = true };
        struct tarn_store *store = NULL;
        TARN_ERR(err);
        cr_expect(eq(int, tarn_sqlite_open(&options, &store, &err), TARN_INVALID));
        cr_expect(tarn_has(err.detail, k_cases[i].part), "%s", err.detail);
        cr_expect(eq(ptr, store, NULL));
    }
}

/* A database as the first migration left it, with rows. */
static void make_first_database(const char *path, const char *rows)
{
    static const unsigned char k_first[] = {
#include "embed/migrations/0001_catalog.sqlite.sql.inc"
    };
    char hash[TARN_SHA256_HEX], record[512];
    sqlite3 *db = NULL;

    tarn_sha256_hex(k_first, strlen((const char *)k_first), hash);
    snprintf(record, sizeof record,
             "CREATE TABLE schema_migrations (name TEXT PRIMARY KEY, checksum TEXT NOT NULL, applied_at INTEGER NOT "
             "NULL) STRICT, WITHOUT ROWID; INSERT INTO schema_migrations VALUES ('0001_catalog', '%s', 1)", hash);
    cr_assert(eq(int, sqlite3_open(path, &db), SQLITE_OK));
    const char *const steps[] = { "PRAGMA journal_mode = WAL", (const char *)k_first, record, rows };
    for (size_t i = 0; i < TARN_COUNT(steps); i++)
        cr_assert(eq(int, sqlite3_exec(db, steps[i], NULL, NULL, NULL), SQLITE_OK), "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

struct carried { struct tarn_findings live, closed; };
static tarn_code carried_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct carried *c = ctx;
    tarn_code code = tx->ops->monitors.findings(tx, 1, &c->live, err);
    return code == TARN_OK ? tx->ops->monitors.closed(tx, 1, INT64_MAX, "", 10, &c->closed, err) : code;
}

Test(store_migrations, findings_of_the_first_shape_are_carried_over)
{
    const char *folder = tarn_tmp();
    struct carried c = { 0 };
    TARN_ERR(err);

    make_first_database(tarn_path(folder, "catalog.db"),
        "INSERT INTO findings VALUES "
        "('open', 1, 'a', 'x', 'error', 'm', '1', NULL, NULL, NULL, NULL, 10, 20, NULL, 30, 2, 0, 1), "
        "('suspect', 1, 'a', 'y', 'info', 'm', NULL, NULL, NULL, NULL, NULL, 10, NULL, NULL, 30, 1, 0, 0), "
        "('closed', 1, 'a', 'z', 'info', 'm', NULL, NULL, NULL, NULL, NULL, 10, 20, 40, 30, 2, 2, 0)");
    TARN_AUTO(store) struct tarn_store *store = tarn_sqlite_store(folder);
    cr_assert(eq(int, tarn_store_read(store, carried_tx, &c, &err), TARN_OK), "%s", err.detail);
    cr_assert(eq(sz, c.live.count, 2));
    cr_expect(eq(str, c.live.items[0].id, S("open")));
    cr_expect(eq(i64, c.live.items[0].told_at, 20), "somebody was told of it when it opened");
    cr_expect(eq(i64, c.live.items[1].told_at, 0));
    cr_expect(c.live.items[0].ack.by == NULL && c.live.items[0].accept.reason == NULL);
    cr_assert(eq(sz, c.closed.count, 1));
    cr_expect(eq(str, c.closed.items[0].closed_reason, S("cleared")));
    tarn_findings_done(&c.live);
    tarn_findings_done(&c.closed);
}

/* The rows of one table at version 3. */
#define TABLE_OF_THE_FIRST_SHAPE(files_and_bytes, properties, block)                                         \
    "INSERT INTO namespaces (name, created_at) VALUES ('default', 1); "                                      \
    "INSERT INTO tables (id, uuid, namespace_id, name, format, mode, location, version, published_version, " \
    "oldest_version, schema_version, published_schema, file_count, total_bytes, partition_keys, "            \
    "properties, monitors, publish, protected, block, created_at, committed_at, revision, first_version, "   \
    "staging, log_from) "                                                                                    \
    "SELECT 7, 'u', id, 't', 'manifest', 'managed', '/t', 3, 2, 0, 0, 0, " files_and_bytes ", '[]', "        \
    "'" properties "', '{}', 1, 0, " block ", 1, 2, 3, 0, 0, 0 FROM namespaces WHERE name = 'default'"

static tarn_code blocked_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return tx->ops->tables.get_by_id(tx, 7, ctx, err);
}

Test(store_migrations, a_blocked_table_of_the_first_shape_is_carried_over)
{
    const char *folder = tarn_tmp();
    TARN_AUTO(table) struct tarn_table *table = NULL;
    TARN_ERR(err);

    make_first_database(tarn_path(folder, "catalog.db"), TABLE_OF_THE_FIRST_SHAPE("0, 0", "{}", "'foreign_write'"));
    TARN_AUTO(store) struct tarn_store *store = tarn_sqlite_store(folder);
    cr_assert(eq(int, tarn_store_read(store, blocked_tx, &table, &err), TARN_OK), "%s", err.detail);
    cr_expect(eq(int, table->block, TARN_BLOCK_FOREIGN_WRITE));
    cr_expect(table->block_document == NULL, "nobody noted it");
    cr_expect(eq(i64, table->version, 3));
}

static tarn_code scan_row_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return tx->ops->monitors.get(tx, 1, ctx, err);
}

Test(store_migrations, scans_of_the_first_shape_are_carried_over)
{
    const char *folder = tarn_tmp();
    struct tarn_scan_row row = { 0 };
    TARN_ERR(err);

    make_first_database(tarn_path(folder, "catalog.db"),
        "INSERT INTO scans VALUES (1, 1, 0, 10, 4, 20, 30, 3, 15, 5, 'txn-5', 11, 6, 7, 2, NULL, -8, 9, '{}', 'warning', 1, 12)");
    TARN_AUTO(store) struct tarn_store *store = tarn_sqlite_store(folder);
    cr_assert(eq(int, tarn_store_read(store, scan_row_tx, &row, &err), TARN_OK), "%s", err.detail);
    cr_expect(eq(str, row.latest_transaction, S("txn-5")));
    cr_expect(eq(i64, row.manifest_age_ms, -8));
    cr_expect(eq(i64, row.verdict_since, 12));
    cr_expect(eq(i64, row.failures_total, 3), "those of the run that goes on");
    cr_expect(eq(i64, row.duration_ms, -1));
    cr_expect(eq(i64, row.last_run, 9), "the newest commit that changed data");
    cr_expect(eq(i64, row.top_version, 5));
    cr_expect(eq(str, row.top_transaction, S("txn-5")));
    cr_expect(eq(i64, row.top_files, 6));
    tarn_scan_row_done(&row);
}

struct iceberg { struct tarn_table *table; bool is_taken; };

static tarn_code iceberg_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct iceberg *i = ctx;
    const struct tarn_view view = { .uuid = "v", .namespace_ = S("default"), .name = S("v"), .location = S("/v"),
                                    .metadata_location = S("/v/m"), .metadata = S("{}") };
    tarn_code code = tx->ops->tables.get_by_id(tx, 7, &i->table, err);
    if (code == TARN_OK)
        code = tx->ops->iceberg.put(tx, 7, "{}", NULL, err);
    if (code == TARN_OK)
        code = tx->ops->views.insert(tx, &view, err);
    return code == TARN_OK ? tx->ops->views.taken(tx, "default", "v", &i->is_taken, err) : code;
}

Test(store_migrations, a_table_of_the_first_shape_shares_its_namespace_with_views)
{
    const char *folder = tarn_tmp();
    struct iceberg i = { 0 };
    TARN_ERR(err);

    make_first_database(tarn_path(folder, "catalog.db"), TABLE_OF_THE_FIRST_SHAPE("5, 600", "{\"a\":\"b\"}", "NULL"));
    TARN_AUTO(store) struct tarn_store *store = tarn_sqlite_store(folder);
    cr_assert(eq(int, tarn_store_write(store, iceberg_tx, &i, &err), TARN_OK), "%s", err.detail);
    cr_expect(eq(str, i.table->properties, S("{\"a\":\"b\"}")));
    cr_expect(eq(i64, i.table->file_count, 5));
    cr_expect(eq(i64, i.table->total_bytes, 600));
    cr_expect(i.is_taken);
    tarn_table_free(i.table);
}

Test(store_migrations, without_leave_to_migrate_a_database_that_lacks_something_is_refused)
{
    struct tarn_sqlite_options options = { .path = tarn_path(tarn_tmp(), "catalog.db") };
    struct tarn_store *store = NULL;
    TARN_ERR(err);
    cr_expect(eq(int, tarn_sqlite_open(&options, &store, &err), TARN_INVALID));
    cr_expect(tarn_has(err.detail, "lacks the migration 0001_catalog"), "%s", err.detail);
}
