/* Pointed tables over the API: swaps by compare-and-swap, replays, what is refused, and where the swaps show. */
#include "tests/support/lake.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#define URL "/api/table/t/pointer"

static char s_file[700];

static void make(const char *more)
{
    snprintf(s_file, sizeof s_file, "%s/t/metadata/v1.json", g_lake->root);
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\",\"format\":\"iceberg\",\"location\":\"%s/t\","
                                "\"metadata_location\":\"%s\"%s}", g_lake->root, s_file, more), 201), "%s",
              tarn_answer_text());
}
TestSuite(pointer, .init = tarn_lake_setup, .fini = tarn_lake_teardown, .timeout = 60);

static unsigned put(int expected, const char *file, const char *transaction)
{
    char more[160] = "";

    if (transaction)
        snprintf(more, sizeof more, ",\"transaction\":\"%s\"", transaction);
    return tarn_ask("PUT", URL, "{\"expected_version\":%d,\"metadata_location\":\"%s/t/metadata/%s\"%s}", expected,
                    g_lake->root, file, more);
}

static void expect_problem(unsigned status, unsigned want, const char *code, const char *field)
{
    cr_expect(status == want && strcmp(tarn_answer_str("code"), code) == 0 &&
                  strcmp(tarn_answer_str("field"), field) == 0,
              "%u %s, want %u %s %s", status, tarn_answer_text(), want, code, field);
}

static void expect_pointer(int64_t version, const char *file, const char *transaction)
{
    cr_expect(eq(i64, tarn_answer_i64("version"), version), "%s", tarn_answer_text());
    const char *slash = strrchr(tarn_answer_str("metadata_location"), '/');
    cr_expect(eq(str, (char *)(slash ? slash + 1 : ""), (char *)file));
    cr_expect(eq(str, (char *)tarn_answer_str("latest_transaction"), (char *)transaction));
}

Test(pointer, a_swap_moves_version_file_and_transaction)
{
    make("");
    cr_expect(eq(i64, tarn_answer_i64("version"), 0));
    cr_assert(eq(uint, put(0, "v2.json", "8731"), 200), "%s", tarn_answer_text());
    expect_pointer(1, "v2.json", "8731");
    cr_expect(tarn_answer_header("ETag") != NULL);
    cr_assert(eq(uint, put(1, "v3.json", NULL), 200));
    expect_pointer(2, "v3.json", "8732");
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t", NULL), 200));
    expect_pointer(2, "v3.json", "8732");
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/status", NULL), 200));
    cr_expect(eq(i64, tarn_answer_i64("version"), 2));
    cr_expect(eq(str, (char *)tarn_answer_str("latest_transaction"), (char *)"8732"));
}

Test(pointer, the_swaps_stand_in_history_and_feed)
{
    make("");
    cr_assert(eq(uint, put(0, "v2.json", "a"), 200));
    cr_assert(eq(uint, put(1, "v3.json", "b"), 200));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/commits", NULL), 200));
    const json_t *commits = json_object_get(tarn_answer(), "commits");
    cr_assert(eq(sz, json_array_size(commits), 2));
    cr_expect(eq(i64, json_integer_value(json_object_get(json_array_get(commits, 0), "version")), 2));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/commits/b", NULL), 200));
    const json_t *metadata = json_object_get(tarn_answer(), "commitMetadata");
    cr_expect(tarn_has(json_string_value(json_object_get(metadata, "metadata_location")), "/v3.json"));
    cr_assert(eq(uint, tarn_ask("GET", "/api/events?after=1", NULL), 200));
    cr_expect(eq(sz, json_array_size(json_object_get(tarn_answer(), "events")), 2));
}

Test(pointer, what_is_refused_changes_nothing)
{
    make("");
    cr_assert(eq(uint, put(0, "v2.json", "a"), 200));
    expect_problem(put(0, "v3.json", "b"), 409, "version_conflict", "expected_version");
    cr_expect(eq(i64, tarn_answer_i64("current_version"), 1));
    expect_problem(put(1, "v3.json", "a"), 409, "transaction_exists", "transaction");
    expect_problem(put(1, "v3.json", ".a"), 400, "invalid_request", "transaction");
    expect_problem(tarn_ask("PUT", URL, "{\"metadata_location\":\"%s\"}", s_file), 400, "invalid_request",
                   "expected_version");
    expect_problem(tarn_ask("PUT", URL, "{\"expected_version\":1}"), 400, "invalid_request", "metadata_location");
    expect_problem(tarn_ask("PUT", URL, "{\"expected_version\":1,\"metadata_location\":\"a/b\"}"), 400,
                   "invalid_request", "metadata_location");
    expect_problem(tarn_ask("PUT", URL, "{\"expected_version\":1,\"metadata_location\":\"/etc/passwd\"}"), 403,
                   "location_not_allowed", "metadata_location");
    tarn_ask_header("If-Match", "\"9.9\"");
    expect_problem(put(1, "v3.json", "b"), 412, "precondition_failed", "If-Match");
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t", NULL), 200));
    expect_pointer(1, "v2.json", "a");
}

Test(pointer, the_same_swap_again_is_answered_with_the_table_as_it_is)
{
    make("");
    cr_assert(eq(uint, put(0, "v2.json", "a"), 200));
    cr_assert(eq(uint, put(1, "v3.json", "b"), 200));
    cr_assert(eq(uint, put(0, "v2.json", "a"), 200));
    expect_pointer(2, "v3.json", "b");
    for (int i = 0; i < 2; i++) {
        tarn_ask_header("Idempotency-Key", "k");
        cr_assert(eq(uint, put(2, "v4.json", NULL), 200));
        cr_expect(eq(i64, tarn_answer_i64("version"), 3));
    }
    tarn_ask_header("Idempotency-Key", "k");
    expect_problem(put(3, "v5.json", NULL), 409, "transaction_exists", "Idempotency-Key");
}

Test(pointer, only_a_pointed_table_has_a_pointer_and_it_takes_no_commits)
{
    make("");
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"m\"}"), 201));
    expect_problem(tarn_ask("PUT", "/api/table/m/pointer", "{\"expected_version\":0,\"metadata_location\":\"%s\"}",
                            s_file), 409, "table_not_pointed", "");
    expect_problem(tarn_ask("PUT", "/api/table/none/pointer", "{\"expected_version\":0,\"metadata_location\":\"%s\"}",
                            s_file), 404, "table_not_found", "");
    expect_problem(tarn_ask("POST", "/api/table/t/commits",
                            "{\"operations\":[{\"type\":\"add_file\",\"path\":\"a\",\"size\":1}]}"), 409,
                   "table_not_managed", "");
    expect_problem(tarn_ask("GET", "/api/table/t/reclaimable", NULL), 409, "table_not_managed", "");
}

Test(pointer, with_verify_the_file_must_be_there)
{
    make(",\"verify\":\"size\"");
    expect_problem(put(0, "v2.json", "a"), 422, "verification_failed", "metadata_location");
    expect_problem(put(7, "v2.json", "a"), 409, "version_conflict", "expected_version");
    tarn_write_text(tarn_path(g_lake->root, "t/metadata/v2.json"), "{}");
    cr_assert(eq(uint, put(0, "v2.json", "a"), 200), "%s", tarn_answer_text());
    expect_pointer(1, "v2.json", "a");
}

Test(pointer, a_token_points_only_under_its_roots, .init = tarn_lake_setup_tokens)
{
    char token[128];

    make("");
    cr_assert(eq(uint, tarn_ask("POST", "/api/tokens",
                                "{\"name\":\"n\",\"scope\":\"catalog:write\",\"roots\":\"%s/other/*\"}", g_lake->root),
                 201), "%s", tarn_answer_text());
    snprintf(token, sizeof token, "%s", tarn_answer_str("token"));
    tarn_ask_token(token);
    expect_problem(put(0, "v2.json", "a"), 403, "location_not_allowed", "metadata_location");
}
