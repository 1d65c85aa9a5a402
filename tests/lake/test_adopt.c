/* A folder that is there already: adopted with manifest, log and schema, or refused, and what it is at then. */
#include "lake/publish.h"
#include "tests/support/lake.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

TestSuite(adopt, .init = tarn_lake_setup, .fini = tarn_lake_teardown, .timeout = 60);

#define SCHEMA                                                                                                        \
    "{\"current_version\":2,\"schema\":{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"int64\","         \
    "\"nullable\":false},{\"name\":\"b\",\"type\":\"string\",\"nullable\":true}]},\"versions\":[{\"version\":1,"     \
    "\"schema\":{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"int64\",\"nullable\":false}]}}]}"

static void put(const char *name, const char *fmt, ...) TARN_PRINTF(2, 3);
static void put(const char *name, const char *fmt, ...)
{
    char path[256], text[4096];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    snprintf(path, sizeof path, "t/%s", name);
    tarn_write_text(tarn_path(g_lake->root, path), text);
}

static void put_entry(int n, const char *ops)
{
    char name[64];

    snprintf(name, sizeof name, "_transactions/txn-%d.json", n);
    put(name, "{\"id\":\"txn-%d\",\"timestamp\":\"2026-01-01T00:0%d:00Z\",\"operations\":[%s],"
        "\"commitMetadata\":{\"author\":\"batch\"}}", n, n, ops);
}

#define ADD(p) "{\"type\":\"add_file\",\"path\":\"" p "\",\"size\":4}"
#define FILE_OF(p) "{\"path\":\"" p "\",\"size\":4,\"partitionValues\":{\"date\":\"2026-01-01\",\"hour\":1}}"

/* Two transactions, three files, manifest version 2. */
static void put_table(void)
{
    put("d/a.parquet", "PAR1");
    put("d/b.parquet", "PAR1");
    put("d/c.parquet", "PAR1");
    put_entry(1, ADD("d/a.parquet") "," ADD("d/b.parquet"));
    put_entry(2, ADD("d/c.parquet"));
    put("schema.json", SCHEMA);
    put("manifest.json", "{\"version\":2,\"last_updated\":\"2026-01-01T00:03:00Z\",\"files\":[" FILE_OF("d/a.parquet") ","
        FILE_OF("d/b.parquet") "," FILE_OF("d/c.parquet") "]}");
    put("last_committed_txn", "txn-2\n");
}

static unsigned adopt(const char *more)
{
    return tarn_ask("POST", "/api/tables", "{\"name\":\"t\",\"location\":\"%s/t\"%s}", g_lake->root, more);
}

static bool found(const char *code)
{
    size_t i;
    json_t *remark;

    json_array_foreach(json_object_get(tarn_answer(), "found"), i, remark)
        if (strcmp(json_string_value(json_object_get(remark, "code")), code) == 0)
            return true;
    return false;
}

static size_t count_of(const char *url, const char *key)
{
    cr_assert(tarn_ask("GET", url, NULL) == 200, "%s: %s", url, tarn_answer_text());
    return json_array_size(json_object_get(tarn_answer(), key));
}

Test(adopt, a_table_is_taken_as_its_documents_say)
{
    put_table();
    cr_assert(eq(uint, adopt(""), 201), "%s", tarn_answer_text());
    cr_expect(eq(i64, tarn_answer_i64("version"), 2));
    cr_expect(eq(i64, tarn_answer_i64("oldest_version"), 2));
    cr_expect(eq(i64, tarn_answer_i64("published_version"), 2));
    cr_expect(eq(str, (char *)tarn_answer_str("latest_transaction"), "txn-2"));
    cr_expect(eq(i64, tarn_answer_i64("schema_version"), 2));
    cr_expect(eq(i64, tarn_answer_i64("files"), 3));
    cr_expect(eq(i64, tarn_answer_i64("total_size_bytes"), 12));
    cr_expect(eq(str, (char *)tarn_answer_str("last_updated"), "2026-01-01T00:03:00Z"));
    const json_t *keys = json_object_get(tarn_answer(), "partition_keys");
    cr_expect(eq(sz, json_array_size(keys), 2));
    cr_expect(eq(str, (char *)json_string_value(json_array_get(keys, 0)), "date"));
    cr_expect(eq(sz, count_of("/api/table/t/files", "files"), 3));
    cr_expect(eq(sz, count_of("/api/table/t/schemas", "versions"), 2));
    cr_expect(eq(sz, count_of("/api/table/t/commits", "commits"), 2));
    const json_t *newest = json_array_get(json_object_get(tarn_answer(), "commits"), 0);
    cr_expect(eq(int, json_is_null(json_object_get(newest, "version")), true));
    cr_expect(eq(str, (char *)json_string_value(json_object_get(newest, "transaction")), "txn-2"));
    cr_expect(eq(str, (char *)json_string_value(json_object_get(newest, "author")), "batch"));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/commits/txn-1", NULL), 200), "%s", tarn_answer_text());
    cr_expect(eq(str, (char *)tarn_answer_str("timestamp"), "2026-01-01T00:01:00Z"));
}

/* The documents of others name no schema version for a file; a rename through Tarn must not take its columns away. */
Test(adopt, a_later_rename_finds_the_columns_of_adopted_files)
{
    put_table();
    cr_assert(eq(uint, adopt(""), 201), "%s", tarn_answer_text());
    cr_assert(eq(uint,
                 tarn_ask("POST", "/api/table/t/schemas",
                          "{\"expected_version\":2,\"renames\":{\"b\":\"label\"},\"schema\":{\"type\":\"struct\",\"fields\":["
                          "{\"name\":\"a\",\"type\":\"int64\",\"nullable\":false},"
                          "{\"name\":\"label\",\"type\":\"string\",\"nullable\":true}]}}"),
                 201),
              "%s", tarn_answer_text());
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/files", NULL), 200));
    const json_t *file = json_array_get(json_object_get(tarn_answer(), "files"), 0);
    cr_expect(eq(i64, json_integer_value(json_object_get(file, "schemaVersion")), 2));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/schemas/2/mapping", NULL), 200));
    const json_t *field = json_array_get(json_object_get(tarn_answer(), "fields"), 1);
    cr_expect(eq(str, (char *)json_string_value(json_object_get(field, "source")), "b"));
}

Test(adopt, the_next_commit_goes_on_where_the_log_ends)
{
    TARN_ERR(err);

    put_table();
    cr_assert(eq(uint, adopt(""), 201), "%s", tarn_answer_text());
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/commits", "{\"operations\":[" ADD("d/d.parquet") "]}"), 201), "%s",
              tarn_answer_text());
    cr_expect(eq(i64, tarn_answer_i64("version"), 3));
    cr_expect(eq(str, (char *)tarn_answer_str("transaction"), "txn-3"));
    cr_expect(eq(i64, tarn_answer_i64("files"), 4));
    cr_expect(eq(uint, tarn_ask("POST", "/api/table/t/commits",
                                "{\"transaction_id\":\"txn-1\",\"operations\":[" ADD("d/e.parquet") "]}"), 409));
    cr_expect(eq(str, (char *)tarn_answer_str("code"), "transaction_exists"));
    cr_assert(eq(int, tarn_publish_table(&g_lake->lake, 1, &err), TARN_OK), "%s", err.detail);
    char *pointer = tarn_read_file(tarn_path(g_lake->root, "t/last_committed_txn"), NULL);
    cr_expect(eq(int, strncmp(pointer, "txn-3", 5), 0));
    free(pointer);
}

Test(adopt, a_dry_run_tells_all_and_takes_nothing)
{
    put_table();
    cr_assert(eq(uint, adopt(",\"dry_run\":true"), 200), "%s", tarn_answer_text());
    cr_expect(eq(i64, tarn_answer_i64("version"), 2));
    cr_expect(eq(i64, tarn_answer_i64("files"), 3));
    cr_expect(eq(i64, tarn_answer_i64("transactions"), 2));
    cr_expect(eq(uint, tarn_ask("GET", "/api/table/t", NULL), 404));
}

static int64_t schema_version(void)
{
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t", NULL), 200));
    return tarn_answer_i64("schema_version");
}

Test(adopt, a_committed_file_that_the_manifest_lacks_stops_commits_and_schemas)
{
    put_table();
    put("manifest.json", "{\"version\":2,\"last_updated\":\"2026-01-01T00:03:00Z\",\"files\":[" FILE_OF("d/a.parquet") ","
        FILE_OF("d/c.parquet") "]}");
    cr_assert(eq(uint, adopt(""), 201), "%s", tarn_answer_text());
    cr_expect(found("committed_file_not_in_manifest"), "%s", tarn_answer_text());
    cr_expect(eq(str, (char *)tarn_answer_str("block"), "adoption_conflict"));
    cr_expect(eq(uint, tarn_ask("POST", "/api/table/t/commits", "{\"operations\":[" ADD("d/d.parquet") "]}"), 409));
    cr_expect(eq(str, (char *)tarn_answer_str("code"), "adoption_conflict"));
    int64_t version = schema_version();
    cr_expect(eq(uint, tarn_ask("POST", "/api/table/t/schemas", "{\"expected_version\":%lld,\"schema\":{\"type\":\"struct\","
                                "\"fields\":[{\"name\":\"n\",\"type\":\"int64\",\"nullable\":true}]}}", (long long)version), 409));
    cr_expect(eq(str, (char *)tarn_answer_str("code"), "adoption_conflict"));
    cr_expect(eq(i64, schema_version(), version));
}

Test(adopt, a_removed_file_that_the_manifest_lists_stops_commits)
{
    put_table();
    put_entry(3, "{\"type\":\"remove_file\",\"path\":\"d/a.parquet\"}");
    put("last_committed_txn", "txn-3");
    cr_assert(eq(uint, adopt(""), 201), "%s", tarn_answer_text());
    cr_expect(eq(str, (char *)tarn_answer_str("block"), "adoption_conflict"));
}

Test(adopt, a_version_below_the_number_of_entries_is_no_counter)
{
    put_table();
    put("manifest.json", "{\"version\":1,\"files\":[" FILE_OF("d/a.parquet") "," FILE_OF("d/b.parquet") ","
        FILE_OF("d/c.parquet") "]}");
    cr_assert(eq(uint, adopt(""), 201), "%s", tarn_answer_text());
    cr_expect(eq(i64, tarn_answer_i64("version"), 2));
    cr_expect(found("manifest_version_not_a_counter"), "%s", tarn_answer_text());
}

Test(adopt, a_version_that_leaves_no_room_is_no_counter)
{
    put_table();
    put("manifest.json", "{\"version\":9223372036854775807,\"files\":[" FILE_OF("d/a.parquet") "," FILE_OF("d/b.parquet") ","
        FILE_OF("d/c.parquet") "]}");
    cr_assert(eq(uint, adopt(""), 201), "%s", tarn_answer_text());
    cr_expect(eq(i64, tarn_answer_i64("version"), 2));
    cr_expect(found("manifest_version_not_a_counter"), "%s", tarn_answer_text());
}

Test(adopt, an_entry_above_the_pointer_is_no_history)
{
    put_table();
    put_entry(3, ADD("d/x.parquet"));
    cr_assert(eq(uint, adopt(""), 201), "%s", tarn_answer_text());
    cr_expect(eq(str, (char *)tarn_answer_str("latest_transaction"), "txn-2"));
    cr_expect(eq(i64, tarn_answer_i64("transactions"), 2));
    cr_expect(eq(str, (char *)tarn_answer_str("block"), ""));
}

Test(adopt, a_document_that_cannot_be_read_is_named)
{
    static const struct { const char *name, *text; } k_rows[] = {
        { "manifest.json", "{\"version\":2,\"files\":[" },
        { "manifest.json", "{\"version\":2,\"files\":[{\"path\":\"../up.parquet\"}]}" },
        { "manifest.json", "{\"version\":2,\"files\":[{\"path\":\"/etc/passwd\"}]}" },
        { "schema.json", "{\"current_version\":1}" },
        { "schema.json", "[" },
    };

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        put_table();
        put(k_rows[i].name, "%s", k_rows[i].text);
        cr_expect(adopt("") == 422 && strcmp(tarn_answer_str("code"), "location_unreachable") == 0 &&
                      strcmp(tarn_answer_str("document"), k_rows[i].name) == 0,
                  "%s: %s", k_rows[i].text, tarn_answer_text());
    }
    cr_expect(eq(uint, tarn_ask("GET", "/api/table/t", NULL), 404));
}

Test(adopt, a_given_schema_must_be_the_one_that_is_there)
{
    put_table();
    cr_expect(eq(uint, adopt(",\"schema\":{\"type\":\"struct\",\"fields\":[{\"name\":\"z\",\"type\":\"string\","
                             "\"nullable\":true}]}"), 409));
    cr_expect(eq(str, (char *)tarn_answer_str("code"), "schema_conflict"));
}

Test(adopt, a_file_listed_twice_counts_once)
{
    put_table();
    put("manifest.json", "{\"version\":2,\"files\":[" FILE_OF("d/a.parquet") "," FILE_OF("d/b.parquet") ","
        FILE_OF("d/c.parquet") "," FILE_OF("d/c.parquet") "]}");
    cr_assert(eq(uint, adopt(""), 201), "%s", tarn_answer_text());
    cr_expect(eq(i64, tarn_answer_i64("files"), 3));
    cr_expect(found("duplicate_file"), "%s", tarn_answer_text());
}

Test(adopt, more_files_than_one_chunk_are_all_there)
{
    TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };

    tarn_buf_adds(&text, "{\"version\":1,\"files\":[");
    for (int i = 0; i < 12001; i++)
        tarn_buf_addf(&text, "%s{\"path\":\"d/%d.parquet\",\"size\":1}", i ? "," : "", i);
    tarn_buf_adds(&text, "]}");
    tarn_write_text(tarn_path(g_lake->root, "t/manifest.json"), text.data);
    cr_assert(eq(uint, adopt(""), 201), "%.500s", tarn_answer_text());
    cr_expect(eq(i64, tarn_answer_i64("files"), 12001));
    cr_expect(eq(sz, count_of("/api/table/t/files", "files"), 12001));
}

/* --- mode --- */

Test(adopt, an_observed_table_is_taken_over_by_a_change_of_mode)
{
    put_table();
    cr_assert(eq(uint, adopt(",\"mode\":\"observed\""), 201), "%s", tarn_answer_text());
    cr_expect(eq(int, json_is_null(json_object_get(tarn_answer(), "version")), true));
    cr_assert(eq(uint, tarn_ask("PATCH", "/api/table/t", "{\"mode\":\"managed\"}"), 200), "%s", tarn_answer_text());
    cr_expect(eq(i64, tarn_answer_i64("version"), 2));
    cr_expect(eq(str, (char *)tarn_answer_str("latest_transaction"), "txn-2"));
    cr_expect(eq(i64, tarn_answer_i64("schema_version"), 2));
    cr_expect(eq(sz, count_of("/api/table/t/files", "files"), 3));
    cr_expect(eq(sz, count_of("/api/table/t/commits", "commits"), 2));
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/commits", "{\"operations\":[" ADD("d/d.parquet") "]}"), 201), "%s",
              tarn_answer_text());
}

Test(adopt, a_table_let_go_and_taken_back_has_what_others_wrote_meanwhile)
{
    put_table();
    cr_assert(eq(uint, adopt(""), 201), "%s", tarn_answer_text());
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/commits", "{\"operations\":[" ADD("d/d.parquet") "]}"), 201));
    cr_assert(eq(uint, tarn_ask("PATCH", "/api/table/t", "{\"mode\":\"observed\"}"), 200), "%s", tarn_answer_text());
    cr_expect(eq(uint, tarn_ask("POST", "/api/table/t/commits", "{\"operations\":[" ADD("d/e.parquet") "]}"), 409));
    /* Somebody else commits: d goes, f comes. */
    put_entry(4, "{\"type\":\"remove_file\",\"path\":\"d/d.parquet\"}," ADD("d/f.parquet"));
    put("manifest.json", "{\"version\":4,\"files\":[" FILE_OF("d/a.parquet") "," FILE_OF("d/b.parquet") ","
        FILE_OF("d/c.parquet") "," FILE_OF("d/f.parquet") "]}");
    put("last_committed_txn", "txn-4");
    cr_assert(eq(uint, tarn_ask("PATCH", "/api/table/t", "{\"mode\":\"managed\"}"), 200), "%s", tarn_answer_text());
    cr_expect(eq(i64, tarn_answer_i64("version"), 4));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/files", NULL), 200));
    const json_t *files = json_object_get(tarn_answer(), "files");
    cr_assert(eq(sz, json_array_size(files), 4));
    cr_expect(eq(str, (char *)json_string_value(json_object_get(json_array_get(files, 3), "path")), "d/f.parquet"));
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/commits", "{\"operations\":[" ADD("d/g.parquet") "]}"), 201), "%s",
              tarn_answer_text());
    cr_expect(eq(str, (char *)tarn_answer_str("transaction"), "txn-5"));
}

/* --- storage that knows more --- */

Test(adopt, storage_ahead_of_a_restored_catalog_stops_commits)
{
    char uuid[64];

    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\",\"location\":\"%s/t\"}", g_lake->root), 201));
    snprintf(uuid, sizeof uuid, "%s", tarn_answer_str("uuid"));
    put("manifest.json", "{\"version\":7,\"catalog\":\"%s\",\"table_uuid\":\"%s\",\"files\":[]}",
        g_lake->lake.catalog_id, uuid);
    tarn_lake_restart();
    cr_expect(eq(uint, tarn_ask("POST", "/api/table/t/commits", "{\"operations\":[" ADD("a") "]}"), 409));
    cr_expect(eq(str, (char *)tarn_answer_str("code"), "storage_ahead"), "%s", tarn_answer_text());
}

Test(adopt, a_log_entry_ahead_of_the_catalog_stops_commits)
{
    char uuid[64];

    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\",\"location\":\"%s/t\"}", g_lake->root), 201));
    snprintf(uuid, sizeof uuid, "%s", tarn_answer_str("uuid"));
    put("_transactions/txn-9.json", "{\"id\":\"txn-9\",\"version\":9,\"catalog\":\"%s\",\"table_uuid\":\"%s\","
        "\"operations\":[]}", g_lake->lake.catalog_id, uuid);
    tarn_lake_restart();
    cr_expect(eq(uint, tarn_ask("POST", "/api/table/t/commits", "{\"operations\":[" ADD("a") "]}"), 409));
    cr_expect(eq(str, (char *)tarn_answer_str("code"), "storage_ahead"), "%s", tarn_answer_text());
}

Test(adopt, a_manifest_of_somebody_else_stops_commits)
{
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\",\"location\":\"%s/t\"}", g_lake->root), 201));
    put("manifest.json", "{\"version\":1,\"files\":[]}");
    tarn_lake_restart();
    cr_expect(eq(uint, tarn_ask("POST", "/api/table/t/commits", "{\"operations\":[" ADD("a") "]}"), 409));
    cr_expect(eq(str, (char *)tarn_answer_str("code"), "foreign_write"), "%s", tarn_answer_text());
    /* It is no passing state. */
    cr_expect(eq(uint, tarn_ask("POST", "/api/table/t/commits", "{\"operations\":[" ADD("a") "]}"), 409));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t", NULL), 200));
    cr_expect(eq(str, (char *)tarn_answer_str("block"), "foreign_write"));
}

Test(adopt, a_folder_that_is_gone_stops_commits_for_now)
{
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\",\"location\":\"%s/t\"}", g_lake->root), 201));
    tarn_lake_restart();
    tarn_remove_tree(tarn_path(g_lake->root, "t"));
    cr_expect(eq(uint, tarn_ask("POST", "/api/table/t/commits", "{\"operations\":[" ADD("a") "]}"), 503), "%s",
              tarn_answer_text());
    tarn_make_folder(tarn_path(g_lake->root, "t"));
    cr_expect(eq(uint, tarn_ask("POST", "/api/table/t/commits", "{\"operations\":[" ADD("a") "]}"), 201), "%s",
              tarn_answer_text());
}
