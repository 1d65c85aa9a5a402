/* Commits over the API: every refusal with its code and field, replays, conflicts, replacement, history. */
#include "tests/support/lake.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#define ADD(path) "{\"type\":\"add_file\",\"path\":\"" path "\",\"size\":10}"
#define REMOVE(path) "{\"type\":\"remove_file\",\"path\":\"" path "\"}"
#define URL "/api/table/t/commits"

static void setup(void)
{
    tarn_lake_setup();
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\",\"partition_keys\":[\"date\"]}"), 201), "%s",
              tarn_answer_text());
}
TestSuite(commits, .init = setup, .fini = tarn_lake_teardown, .timeout = 60);

static void expect_problem(unsigned status, unsigned want, const char *code, const char *field, const char *of)
{
    cr_expect(status == want && strcmp(tarn_answer_str("code"), code) == 0 &&
                  strcmp(tarn_answer_str("field"), field) == 0,
              "%.300s\n  gives %u %s, want %u %s %s", of, status, tarn_answer_text(), want, code, field);
}

static void commit(const char *body)
{
    cr_assert(tarn_ask("POST", URL, "%s", body) == 201, "%s gives %s", body, tarn_answer_text());
}

Test(commits, what_is_wrong_with_a_body_is_named)
{
    static const struct { const char *body, *field; } k_rows[] = {
        { "{}", "operations" },
        { "{\"operations\":[]}", "operations" },
        { "{\"operations\":{}}", "operations" },
        { "{\"operations\":[1]}", "operations[0]" },
        { "{\"operations\":[{}]}", "operations[0].type" },
        { "{\"operations\":[{\"type\":\"add\"}]}", "operations[0].type" },
        { "{\"operations\":[{\"type\":\"add_file\",\"size\":1}]}", "operations[0].path" },
        { "{\"operations\":[" ADD("a.parquet") "," ADD("../b.parquet") "]}", "operations[1].path" },
        { "{\"operations\":[" ADD("/b.parquet") "]}", "operations[0].path" },
        { "{\"operations\":[" ADD("") "]}", "operations[0].path" },
        { "{\"operations\":[" ADD("a//b.parquet") "]}", "operations[0].path" },
        { "{\"operations\":[" ADD("_x/b.parquet") "]}", "operations[0].path" },
        { "{\"operations\":[" ADD("staging/b.parquet") "]}", "operations[0].path" },
        { "{\"operations\":[" ADD("manifest.json") "]}", "operations[0].path" },
        { "{\"operations\":[{\"type\":\"add_file\",\"path\":\"a\"}]}", "operations[0].size" },
        { "{\"operations\":[{\"type\":\"add_file\",\"path\":\"a\",\"size\":-1}]}", "operations[0].size" },
        { "{\"operations\":[{\"type\":\"add_file\",\"path\":\"a\",\"size\":1.5}]}", "operations[0].size" },
        { "{\"operations\":[{\"type\":\"add_file\",\"path\":\"a\",\"size\":1,\"extra\":1}]}", "operations[0].extra" },
        { "{\"operations\":[{\"type\":\"add_file\",\"path\":\"a\",\"size\":1,\"partitionValues\":{\"d\":[]}}]}",
          "operations[0].partitionValues.d" },
        { "{\"operations\":[{\"type\":\"add_file\",\"path\":\"a\",\"size\":1,\"columnStats\":{\"d\":1}}]}",
          "operations[0].columnStats.d" },
        { "{\"operations\":[{\"type\":\"add_file\",\"path\":\"a\",\"size\":1,\"numRecords\":-1}]}",
          "operations[0].numRecords" },
        { "{\"operations\":[" ADD("a") "," ADD("a") "]}", "operations[1].path" },
        { "{\"expected_version\":0,\"operations\":[" REMOVE("a") "," REMOVE("a") "]}", "operations[1].path" },
        { "{\"operations\":[" REMOVE("a") "]}", "expected_version" },
        { "{\"expected_version\":-1,\"operations\":[" ADD("a") "]}", "expected_version" },
        { "{\"expected_version\":\"0\",\"operations\":[" ADD("a") "]}", "expected_version" },
        { "{\"transaction_id\":\"\",\"operations\":[" ADD("a") "]}", "transaction_id" },
        { "{\"transaction_id\":\".a\",\"operations\":[" ADD("a") "]}", "transaction_id" },
        { "{\"transaction_id\":\"a/b\",\"operations\":[" ADD("a") "]}", "transaction_id" },
        { "{\"verify\":\"deep\",\"operations\":[" ADD("a") "]}", "verify" },
        { "{\"commitMetadata\":1,\"operations\":[" ADD("a") "]}", "commitMetadata" },
        { "{\"dataChange\":\"no\",\"operations\":[" ADD("a") "]}", "dataChange" },
        { "{\"batch\":1,\"operations\":[" ADD("a") "]}", "batch" },
    };

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++)
        expect_problem(tarn_ask("POST", URL, "%s", k_rows[i].body), 400, "invalid_request", k_rows[i].field,
                       k_rows[i].body);
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t", NULL), 200));
    cr_expect(eq(i64, tarn_answer_i64("version"), 0));
}

Test(commits, what_does_not_fit_the_table_is_refused_and_changes_nothing)
{
    static const struct { const char *body, *code, *field; unsigned status; } k_rows[] = {
        { "{\"expected_version\":0,\"operations\":[" ADD("x") "]}", "version_conflict", "expected_version", 409 },
        { "{\"expected_version\":2,\"operations\":[" ADD("x") "]}", "version_conflict", "expected_version", 409 },
        { "{\"operations\":[" ADD("x") "," ADD("a.parquet") "]}", "file_conflict", "operations[1].path", 409 },
        { "{\"expected_version\":1,\"operations\":[" REMOVE("x") "]}", "file_conflict", "operations[0].path", 409 },
        { "{\"dataChange\":false,\"operations\":[" ADD("y") "," REMOVE("x") "]}", "file_conflict", "operations[1].path",
          409 },
        { "{\"transaction_id\":\"txn-1\",\"operations\":[" ADD("x") "]}", "transaction_exists", "transaction_id", 409 },
        { "{\"operations\":[{\"type\":\"add_file\",\"path\":\"x\",\"size\":1,\"schemaVersion\":1}]}",
          "schema_version_not_found", "operations[0].schemaVersion", 404 },
    };

    commit("{\"operations\":[" ADD("a.parquet") "]}");
    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++)
        expect_problem(tarn_ask("POST", URL, "%s", k_rows[i].body), k_rows[i].status, k_rows[i].code, k_rows[i].field,
                       k_rows[i].body);
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t", NULL), 200));
    cr_expect(eq(i64, tarn_answer_i64("version"), 1));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/files", NULL), 200));
    cr_expect(eq(sz, json_array_size(json_object_get(tarn_answer(), "files")), 1));
}

Test(commits, a_version_conflict_tells_where_the_table_is)
{
    commit("{\"operations\":[" ADD("a") "]}");
    cr_expect(eq(uint, tarn_ask("POST", URL, "{\"expected_version\":0,\"operations\":[" ADD("b") "]}"), 409));
    cr_expect(eq(i64, tarn_answer_i64("expected_version"), 0));
    cr_expect(eq(i64, tarn_answer_i64("current_version"), 1));
    cr_expect(eq(str, (char *)tarn_answer_str("latest_transaction"), "txn-1"));
}

Test(commits, a_file_conflict_tells_the_path_and_who_added_it)
{
    commit("{\"transaction_id\":\"load-7\",\"operations\":[" ADD("a") "]}");
    cr_expect(eq(uint, tarn_ask("POST", URL, "{\"operations\":[" ADD("a") "]}"), 409));
    cr_expect(eq(str, (char *)tarn_answer_str("path"), "a"));
    cr_expect(eq(str, (char *)tarn_answer_str("transaction"), "load-7"));
}

Test(commits, the_answer_counts_files_and_bytes)
{
    commit("{\"operations\":[" ADD("a") "," ADD("b") "]}");
    cr_expect(eq(i64, tarn_answer_i64("files_added"), 2));
    cr_expect(eq(i64, tarn_answer_i64("total_size_bytes"), 20));
    commit("{\"expected_version\":1,\"operations\":[{\"type\":\"add_file\",\"path\":\"c\",\"size\":7}," REMOVE("a") "]}");
    cr_expect(eq(i64, tarn_answer_i64("version"), 2));
    cr_expect(eq(str, (char *)tarn_answer_str("transaction"), "txn-2"));
    cr_expect(eq(i64, tarn_answer_i64("files_removed"), 1));
    cr_expect(eq(i64, tarn_answer_i64("files"), 2));
    cr_expect(eq(i64, tarn_answer_i64("total_size_bytes"), 17));
    cr_expect(eq(str, (char *)tarn_answer_str("table"), "t"));
}

Test(commits, removing_and_adding_one_path_replaces_the_file)
{
    commit("{\"operations\":[" ADD("a") "]}");
    commit("{\"expected_version\":1,\"operations\":[{\"type\":\"add_file\",\"path\":\"a\",\"size\":33}," REMOVE("a") "]}");
    cr_expect(eq(i64, tarn_answer_i64("files"), 1));
    cr_expect(eq(i64, tarn_answer_i64("total_size_bytes"), 33));
    const json_t *warnings = json_object_get(tarn_answer(), "warnings");
    cr_assert(eq(sz, json_array_size(warnings), 1));
    const json_t *warning = json_array_get(warnings, 0);
    cr_expect(eq(str, (char *)json_string_value(json_object_get(warning, "code")), "file_replaced"));
    cr_expect(eq(str, (char *)json_string_value(json_object_get(warning, "path")), "a"));
}

Test(commits, partition_values_that_contradict_the_path_are_answered_as_warnings)
{
    static const struct { const char *path, *values, *column; } k_rows[] = {
        { "date=2024-02-01/hour=14/a", "{\"date\":\"2024-02-01\",\"hour\":14}", NULL },
        { "date=2024-02-01/hour=05/b", "{\"date\":\"2024-02-01\",\"hour\":5}", NULL },
        { "date=2024-02-01/hour=14/c", "{\"date\":\"2024-02-01\",\"hour\":15}", "hour" },
        { "date=2024-02-01/hour=14/d", "{\"hour\":\"14\",\"date\":\"2024-02-02\"}", "date" },
        { "date=2024-02-01/e", "{\"date\":null}", "date" },
        { "k=__HIVE_DEFAULT_PARTITION__/f", "{\"k\":null}", NULL },
        { "k=__HIVE_DEFAULT_PARTITION__/g", "{\"k\":\"x\"}", "k" },
        { "k=a%3Db/h", "{\"k\":\"a=b\"}", NULL },
        { "k=a%3Db/i", "{\"k\":\"a%3Db\"}", "k" },
        { "data/2024-02-01/j", "{\"date\":\"1999-01-01\"}", NULL }, /* a bare folder names no key */
        { "k=1/k", "{}", NULL },
        { "k=1/l", "{\"other\":2}", NULL }, /* keys that differ are the monitor's to tell */
    };

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        cr_assert(eq(uint, tarn_ask("POST", URL, "{\"operations\":[{\"type\":\"add_file\",\"path\":\"%s\",\"size\":1,"
                                                 "\"partitionValues\":%s}]}", k_rows[i].path, k_rows[i].values), 201));
        const json_t *warning = json_array_get(json_object_get(tarn_answer(), "warnings"), 0);
        const char *column = json_string_value(json_object_get(warning, "column"));
        cr_expect(eq(int, warning != NULL, k_rows[i].column != NULL), "row %zu: %s", i, tarn_answer_text());
        if (!warning || !k_rows[i].column)
            continue;
        cr_expect(eq(str, (char *)json_string_value(json_object_get(warning, "code")), "partition_drift"), "row %zu", i);
        cr_expect(eq(str, (char *)json_string_value(json_object_get(warning, "path")), (char *)k_rows[i].path), "row %zu", i);
        cr_expect(column && strcmp(column, k_rows[i].column) == 0, "row %zu: %s", i, tarn_answer_text());
    }
}

Test(commits, a_compaction_lands_on_any_version_while_its_files_are_there)
{
    commit("{\"operations\":[" ADD("a") "," ADD("b") "]}");
    commit("{\"operations\":[" ADD("c") "]}");
    commit("{\"dataChange\":false,\"operations\":[" ADD("ab") "," REMOVE("a") "," REMOVE("b") "]}");
    cr_expect(eq(i64, tarn_answer_i64("files"), 2));
}

Test(commits, the_next_id_follows_the_latest_number)
{
    static const struct { const char *given, *next; } k_rows[] = {
        { "load-9", "load-10" }, { "20240131", "20240132" }, { "x-007", "x-008" }, { "abc", "txn-8" },
        { "txn-20", "txn-21" },
    };
    int64_t version = 0;

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        cr_assert(tarn_ask("POST", URL, "{\"transaction_id\":\"%s\",\"operations\":[{\"type\":\"add_file\",\"path\":\"f%d\","
                           "\"size\":1}]}", k_rows[i].given, (int)++version) == 201, "%s", tarn_answer_text());
        cr_assert(tarn_ask("POST", URL, "{\"operations\":[{\"type\":\"add_file\",\"path\":\"f%d\",\"size\":1}]}",
                           (int)++version) == 201, "%s", tarn_answer_text());
        cr_expect(eq(str, (char *)tarn_answer_str("transaction"), (char *)k_rows[i].next));
    }
}

Test(commits, a_number_that_is_taken_is_passed_over)
{
    commit("{\"transaction_id\":\"txn-5\",\"operations\":[" ADD("a") "]}");
    commit("{\"transaction_id\":\"txn-4\",\"operations\":[" ADD("b") "]}");
    commit("{\"operations\":[" ADD("c") "]}");
    cr_expect(eq(str, (char *)tarn_answer_str("transaction"), "txn-6"));
}

Test(commits, the_same_transaction_again_gives_the_first_answer)
{
    commit("{\"transaction_id\":\"x-1\",\"expected_version\":0,\"operations\":[" ADD("a") "]}");
    commit("{\"operations\":[" ADD("b") "]}");
    /* Members in another order, another expected version: the same body. */
    cr_expect(eq(uint, tarn_ask("POST", URL, "{\"operations\":[{\"size\":10,\"path\":\"a\",\"type\":\"add_file\"}],"
                                "\"expected_version\":7,\"transaction_id\":\"x-1\"}"), 200));
    cr_expect(eq(i64, tarn_answer_i64("version"), 1));
    cr_expect(eq(i64, tarn_answer_i64("files"), 1));
    cr_expect(eq(uint, tarn_ask("POST", URL, "{\"transaction_id\":\"x-1\",\"operations\":[" ADD("c") "]}"), 409));
    cr_expect(eq(str, (char *)tarn_answer_str("code"), "transaction_exists"));
}

Test(commits, an_idempotency_key_gives_the_first_answer_again)
{
    tarn_ask_header("Idempotency-Key", "k1");
    commit("{\"operations\":[" ADD("a") "]}");
    tarn_ask_header("Idempotency-Key", "k1");
    cr_expect(eq(uint, tarn_ask("POST", URL, "{\"operations\":[" ADD("a") "]}"), 200), "%s", tarn_answer_text());
    cr_expect(eq(i64, tarn_answer_i64("version"), 1));
    tarn_ask_header("Idempotency-Key", "k1");
    expect_problem(tarn_ask("POST", URL, "{\"operations\":[" ADD("b") "]}"), 409, "transaction_exists",
                   "Idempotency-Key", "another body");
    tarn_ask_header("Idempotency-Key", "k2");
    expect_problem(tarn_ask("POST", URL, "{\"operations\":[" ADD("a") "]}"), 409, "file_conflict",
                   "operations[0].path", "another key");
    /* A refused attempt is not remembered. */
    tarn_ask_header("Idempotency-Key", "k2");
    commit("{\"operations\":[" ADD("b") "]}");
}

Test(commits, a_table_that_is_not_managed_takes_none)
{
    tarn_make_folder(tarn_path(g_lake->root, "o"));
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"o\",\"mode\":\"observed\",\"location\":\"%s/o\"}",
                                g_lake->root), 201), "%s", tarn_answer_text());
    expect_problem(tarn_ask("POST", "/api/table/o/commits", "{\"operations\":[" ADD("a") "]}"), 409,
                   "table_not_managed", "", "observed");
    expect_problem(tarn_ask("POST", "/api/table/none/commits", "{\"operations\":[" ADD("a") "]}"), 404,
                   "table_not_found", "", "unknown");
}

Test(commits, the_history_is_newest_first_and_pages)
{
    for (int i = 1; i <= 5; i++)
        cr_assert(eq(uint, tarn_ask("POST", URL, "{\"operations\":[{\"type\":\"add_file\",\"path\":\"f%d\",\"size\":%d}],"
                                    "\"commitMetadata\":{\"author\":\"me\",\"description\":\"d%d\"}}", i, i, i), 201));
    char token[256] = "";
    int64_t version = 5;
    for (int page = 0; page < 3; page++) {
        char url[512];
        snprintf(url, sizeof url, URL "?page_size=2%s%s", token[0] ? "&page_token=" : "", token);
        cr_assert(eq(uint, tarn_ask("GET", url, NULL), 200), "%s", tarn_answer_text());
        size_t i;
        json_t *c;
        json_array_foreach(json_object_get(tarn_answer(), "commits"), i, c)
            cr_expect(eq(i64, json_integer_value(json_object_get(c, "version")), version--));
        snprintf(token, sizeof token, "%s", tarn_answer_str("next_page_token"));
    }
    cr_expect(eq(i64, version, 0));
    cr_expect(token[0] == '\0');
    cr_assert(eq(uint, tarn_ask("GET", URL, NULL), 200));
    const json_t *first = json_array_get(json_object_get(tarn_answer(), "commits"), 0);
    cr_expect(eq(str, (char *)json_string_value(json_object_get(first, "author")), "me"));
    cr_expect(eq(str, (char *)json_string_value(json_object_get(first, "description")), "d5"));
}

Test(commits, one_commit_reads_as_the_log_entry_of_the_lake)
{
    commit("{\"operations\":[" ADD("a") "," ADD("b") "]}");
    commit("{\"transaction_id\":\"x\",\"expected_version\":1,\"commitMetadata\":{\"author\":\"me\"},\"operations\":["
           ADD("c") "," REMOVE("a") "]}");
    cr_assert(eq(uint, tarn_ask("GET", URL "/x", NULL), 200), "%s", tarn_answer_text());
    cr_expect(eq(str, (char *)tarn_answer_str("id"), "x"));
    cr_expect(eq(i64, tarn_answer_i64("version"), 2));
    const json_t *ops = json_object_get(tarn_answer(), "operations");
    cr_expect(eq(sz, json_array_size(ops), 2));
    cr_expect(eq(uint, tarn_ask("GET", URL "/nope", NULL), 404));
    cr_expect(eq(str, (char *)tarn_answer_str("code"), "transaction_not_found"));
}

Test(commits, hostile_bodies_are_refused)
{
    static const char *const k_rows[] = {
        "", "{", "[]", "null", "{\"operations\":[],\"operations\":[]}", "{\"expected_version\":9223372036854775808}",
        "{\"a\\u0000\":1}", "{\"operations\":\"\xff\"}",
    };

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++)
        cr_expect(eq(uint, tarn_ask("POST", URL, "%s", k_rows[i]), 400), "%s: %s", k_rows[i], tarn_answer_text());
    char deep[101] = { 0 };
    memset(deep, '[', sizeof deep - 1);
    cr_expect(eq(uint, tarn_ask("POST", URL, "{\"commitMetadata\":%s", deep), 400));
    char path[4200];
    memset(path, 'p', sizeof path);
    path[4096] = '\0';
    expect_problem(tarn_ask("POST", URL, "{\"operations\":[{\"type\":\"add_file\",\"path\":\"%s\",\"size\":1}]}", path), 400,
                   "invalid_request", "operations[0].path", "4 kB");
}

Test(commits, the_first_commit_after_a_restart_is_as_good_as_any)
{
    commit("{\"operations\":[" ADD("a") "]}");
    tarn_lake_restart();
    commit("{\"operations\":[" ADD("b") "]}");
    cr_expect(eq(i64, tarn_answer_i64("version"), 2));
}
