/* Several tables in one request over the API: all or none, whose fault it was, replays, and what the log says. */
#include "lake/publish.h"
#include "tests/support/lake.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#define URL "/api/transactions"
#define ADD(path) "{\"type\":\"add_file\",\"path\":\"" path "\",\"size\":10}"
#define REMOVE(path) "{\"type\":\"remove_file\",\"path\":\"" path "\"}"
#define ONE(table, head, ops) "{\"table\":\"" table "\"" head ",\"operations\":[" ops "]}"
#define TWO(one, two) "{\"tables\":[" one "," two "]}"

static void make(const char *name)
{
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"%s\"}", name), 201), "%s", tarn_answer_text());
}

static void setup(void)
{
    tarn_lake_setup();
    make("a");
    make("b");
    make("sales.c");
}
TestSuite(transactions, .init = setup, .fini = tarn_lake_teardown, .timeout = 60);

static int64_t version_of(const char *table)
{
    char target[64];

    snprintf(target, sizeof target, "/api/table/%s", table);
    cr_assert(eq(uint, tarn_ask("GET", target, NULL), 200));
    return tarn_answer_i64("version");
}

static const json_t *commit_at(size_t i)
{
    return json_array_get(json_object_get(tarn_answer(), "commits"), i);
}

static int64_t number(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static void expect_versions(int64_t a, int64_t b)
{
    cr_expect(eq(i64, version_of("a"), a));
    cr_expect(eq(i64, version_of("b"), b));
}

Test(transactions, several_tables_move_together_and_share_a_group)
{
    static const char *const k_tables[] = { "a", "b", "sales.c" };
    char group[64] = "";

    cr_assert(eq(uint, tarn_ask("POST", URL, "%s",
                                "{\"tables\":[" ONE("a", "", ADD("x")) "," ONE("b", ",\"expected_version\":0", ADD("x"))
                                "," ONE("sales.c", ",\"transaction_id\":\"t-9\"", ADD("x") "," ADD("y")) "]}"),
                 201), "%s", tarn_answer_text());
    cr_expect(eq(sz, json_array_size(json_object_get(tarn_answer(), "commits")), 3));
    cr_expect(eq(str, (char *)json_string_value(json_object_get(commit_at(0), "table")), (char *)"a"));
    cr_expect(eq(str, (char *)json_string_value(json_object_get(commit_at(2), "table")), (char *)"sales.c"));
    cr_expect(eq(str, (char *)json_string_value(json_object_get(commit_at(2), "transaction")), (char *)"t-9"));
    cr_expect(eq(i64, number(commit_at(2), "files"), 2));
    for (size_t i = 0; i < 3; i++) {
        char target[64];
        snprintf(target, sizeof target, "/api/table/%s/commits", k_tables[i]);
        cr_assert(eq(uint, tarn_ask("GET", target, NULL), 200));
        const char *now = json_string_value(json_object_get(commit_at(0), "group"));
        cr_assert(now != NULL, "%s", tarn_answer_text());
        cr_expect(i == 0 || strcmp(group, now) == 0);
        snprintf(group, sizeof group, "%s", now);
    }
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/a/commits/txn-1", NULL), 200));
    cr_expect(eq(str, (char *)tarn_answer_str("group"), group));
}

Test(transactions, a_commit_alone_has_no_group)
{
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/a/commits", "{\"operations\":[" ADD("x") "]}"), 201));
    cr_assert(eq(uint, tarn_ask("POST", URL, "{\"tables\":[" ONE("a", "", ADD("y")) "]}"), 201));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/a/commits", NULL), 200));
    cr_expect(eq(int, json_is_null(json_object_get(commit_at(0), "group")), 1));
    cr_expect(eq(int, json_is_null(json_object_get(commit_at(1), "group")), 1));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/a/commits/txn-1", NULL), 200));
    cr_expect(json_object_get(tarn_answer(), "group") == NULL);
}

Test(transactions, the_first_table_at_fault_gives_the_answer_and_none_moves)
{
    static const struct { unsigned status; const char *code, *field, *table, *body; } k_rows[] = {
        { 400, "invalid_request", "tables", "", "{}" },
        { 400, "invalid_request", "tables", "", "{\"tables\":[]}" },
        { 400, "invalid_request", "tables[0]", "", "{\"tables\":[1]}" },
        { 400, "invalid_request", "tables[0].table", "", "{\"tables\":[{\"operations\":[]}]}" },
        { 400, "invalid_request", "more", "", "{\"tables\":[" ONE("a", "", ADD("x")) "],\"more\":1}" },
        { 400, "invalid_request", "tables[1].table", "", TWO(ONE("a", "", ADD("x")), ONE("default.a", "", ADD("y"))) },
        { 400, "invalid_request", "tables[1].operations[0].path", "",
          TWO(ONE("a", "", ADD("x")), ONE("b", "", ADD("../y"))) },
        { 400, "invalid_request", "tables[1].expected_version", "",
          TWO(ONE("a", "", ADD("x")), ONE("b", "", REMOVE("y"))) },
        { 404, "table_not_found", "tables[1]", "none", TWO(ONE("a", "", ADD("x")), ONE("none", "", ADD("y"))) },
        { 409, "version_conflict", "tables[1].expected_version", "b",
          TWO(ONE("a", "", ADD("x")), ONE("b", ",\"expected_version\":7", ADD("y"))) },
        { 409, "version_conflict", "tables[0].expected_version", "a",
          TWO(ONE("a", ",\"expected_version\":7", ADD("x")), ONE("none", "", ADD("y"))) },
        { 409, "file_conflict", "tables[1].operations[1].path", "b",
          TWO(ONE("a", "", ADD("x")), ONE("b", ",\"expected_version\":0", ADD("y") "," REMOVE("z"))) },
        /* what storage says of the second counts only when the first may land */
        { 409, "version_conflict", "tables[0].expected_version", "a",
          TWO(ONE("a", ",\"expected_version\":7", ADD("x")), ONE("b", ",\"verify\":\"size\"", ADD("y"))) },
        { 422, "verification_failed", "tables[1].operations[0].path", "b",
          TWO(ONE("a", "", ADD("x")), ONE("b", ",\"verify\":\"size\"", ADD("y"))) },
    };

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        unsigned status = tarn_ask("POST", URL, "%s", k_rows[i].body);
        cr_expect(status == k_rows[i].status && strcmp(tarn_answer_str("code"), k_rows[i].code) == 0 &&
                      strcmp(tarn_answer_str("field"), k_rows[i].field) == 0 &&
                      strcmp(tarn_answer_str("table"), k_rows[i].table) == 0,
                  "%s\n  gives %u %s", k_rows[i].body, status, tarn_answer_text());
        expect_versions(0, 0);
    }
}

Test(transactions, the_same_request_again_gives_the_first_answer)
{
    static const char k_body[] = TWO(ONE("a", ",\"transaction_id\":\"t-1\"", ADD("x")),
                                     ONE("b", ",\"transaction_id\":\"t-1\"", ADD("x")));

    cr_assert(eq(uint, tarn_ask("POST", URL, k_body), 201));
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/a/commits", "{\"operations\":[" ADD("y") "]}"), 201));
    cr_assert(eq(uint, tarn_ask("POST", URL, k_body), 200));
    cr_expect(eq(i64, number(commit_at(0), "version"), 1));
    cr_expect(eq(i64, number(commit_at(1), "version"), 1));
    expect_versions(2, 1);
    /* one table's part alone is the same commit too; another body under its id is not */
    cr_expect(eq(uint, tarn_ask("POST", "/api/table/b/commits",
                                "{\"transaction_id\":\"t-1\",\"operations\":[" ADD("x") "]}"), 200));
    cr_expect(eq(uint, tarn_ask("POST", URL, TWO(ONE("a", ",\"transaction_id\":\"u-7\"", ADD("z")),
                                                 ONE("b", ",\"transaction_id\":\"t-1\"", ADD("z")))), 409));
    cr_expect(eq(str, (char *)tarn_answer_str("code"), (char *)"transaction_exists"));
    cr_expect(eq(str, (char *)tarn_answer_str("table"), (char *)"b"), "%s", tarn_answer_text());
    expect_versions(2, 1);
}

Test(transactions, what_was_committed_alone_before_counts_as_done)
{
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/a/commits",
                                "{\"transaction_id\":\"t-1\",\"operations\":[" ADD("x") "]}"), 201));
    cr_expect(eq(uint, tarn_ask("POST", URL, TWO(ONE("a", ",\"transaction_id\":\"t-1\"", ADD("x")),
                                                 ONE("b", ",\"transaction_id\":\"t-1\"", ADD("x")))), 201));
    expect_versions(1, 1);
}

Test(transactions, an_idempotency_key_stands_for_the_whole_request)
{
    static const struct { unsigned status; const char *body; } k_rows[] = {
        { 201, TWO(ONE("a", "", ADD("x")), ONE("b", "", ADD("x"))) },
        { 200, TWO(ONE("a", ",\"expected_version\":0", ADD("x")), ONE("b", "", ADD("x"))) },
        { 409, "{\"tables\":[" ONE("a", "", ADD("x")) "]}" },
        { 409, TWO(ONE("a", "", ADD("x")), ONE("b", "", ADD("y"))) },
        { 409, TWO(ONE("a", "", ADD("x")), ONE("sales.c", "", ADD("x"))) },
    };

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        tarn_ask_header("Idempotency-Key", "k1");
        unsigned status = tarn_ask("POST", URL, "%s", k_rows[i].body);
        cr_expect(eq(uint, status, k_rows[i].status), "%s: %s", k_rows[i].body, tarn_answer_text());
    }
    expect_versions(1, 1);
    cr_expect(eq(i64, version_of("sales.c"), 0));
}

Test(transactions, ten_thousand_operations_together_are_the_limit)
{
    TARN_AUTO_DONE(buf) struct tarn_buf body = { 0 };

    for (int table = 0; table < 2; table++) {
        tarn_buf_adds(&body, table == 0 ? "{\"tables\":[{\"table\":\"a\",\"operations\":["
                                        : "]},{\"table\":\"b\",\"operations\":[");
        for (int i = 0; i < 5000 + table; i++)
            tarn_buf_addf(&body, "%s{\"type\":\"add_file\",\"path\":\"f%d\",\"size\":1}", i ? "," : "", i);
    }
    tarn_buf_adds(&body, "]}]}");
    cr_expect(eq(uint, tarn_ask("POST", URL, "%s", body.data), 400));
    cr_expect(eq(str, (char *)tarn_answer_str("field"), (char *)"tables"));
    expect_versions(0, 0);
}

Test(transactions, the_answer_waits_for_the_publication_of_all)
{
    struct tarn_publisher_options options = { .wait_ms = 20000, .backlog_max = 1000 };
    TARN_ERR(err);

    cr_assert(eq(int, tarn_publisher_start(&g_lake->lake, &options, &g_lake->lake.publisher, &err), TARN_OK));
    unsigned status = tarn_ask("POST", URL, TWO(ONE("a", "", ADD("x")), ONE("b", "", ADD("x"))));
    tarn_publisher_stop(g_lake->lake.publisher, 10000);
    g_lake->lake.publisher = NULL;
    cr_assert(eq(uint, status, 201));
    for (size_t i = 0; i < 2; i++)
        cr_expect(eq(int, json_is_true(json_object_get(commit_at(i), "published")), 1), "%s", tarn_answer_text());
}

Test(transactions, a_narrowed_token_reaches_its_own_tables_alone, .init = NULL)
{
    tarn_lake_setup_tokens();
    make("a");
    make("b");
    cr_assert(eq(uint, tarn_ask("POST", "/api/tokens",
                                "{\"name\":\"n\",\"scope\":\"catalog:write\",\"tables\":\"a\"}"), 201));
    char token[128];
    snprintf(token, sizeof token, "%s", tarn_answer_str("token"));
    tarn_ask_token(token);
    cr_expect(eq(uint, tarn_ask("POST", URL, TWO(ONE("a", "", ADD("x")), ONE("b", "", ADD("x")))), 404));
    cr_expect(eq(str, (char *)tarn_answer_str("table"), (char *)"b"));
    tarn_ask_token(g_lake->admin);
    expect_versions(0, 0);
}
