/* Staged batches over the API: how a checkpoint changes, what a commit completes, and that no batch is
 * applied twice. */
#include "tests/support/lake.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#define ADD(path) "{\"type\":\"add_file\",\"path\":\"" path "\",\"size\":10}"
#define OPS(path) "\"operations\":[" ADD(path) "]"
#define COMMITS   "/api/table/t/commits"
#define BATCHES   "/api/table/t/batches"
#define S(text)   ((char *)(text))

static void setup(void)
{
    tarn_lake_setup();
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\"}"), 201), "%s", tarn_answer_text());
}
TestSuite(batches, .init = setup, .fini = tarn_lake_teardown, .timeout = 60);

static void expect(const char *url, const char *body, unsigned status, const char *code, const char *field)
{
    unsigned got = tarn_ask("POST", url, "%s", body);
    cr_expect(got == status, "%s\n  gives %u %s", body, got, tarn_answer_text());
    if (code) {
        cr_expect(eq(str, S(tarn_answer_str("code")), S(code)), "%s\n %s", body, tarn_answer_text());
        cr_expect(eq(str, S(tarn_answer_str("field")), S(field)), "%s\n %s", body, tarn_answer_text());
    }
}

static void tell(const char *id, const char *status, unsigned want)
{
    unsigned got = tarn_ask("POST", BATCHES, "{\"batch_id\":\"%s\",\"status\":\"%s\"}", id, status);
    cr_assert(got == want, "%s %s gives %u %s", id, status, got, tarn_answer_text());
}

/* The batch as the list shows it, borrowed from the answer. */
static const json_t *batch(const char *id)
{
    char url[256];
    snprintf(url, sizeof url, BATCHES "?prefix=%s", id);
    cr_assert(eq(uint, tarn_ask("GET", url, NULL), 200), "%s", tarn_answer_text());
    const json_t *first = json_array_get(json_object_get(tarn_answer(), "batches"), 0);
    cr_assert(not(zero(ptr, (void *)first)), "%s is not there", id);
    return first;
}
static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "(none)";
}
/* Criterion's macros do not take Jansson's. */
static bool is_null(const json_t *value) { return json_is_null(value); }
static bool is_false(const json_t *value) { return json_is_false(value); }
static bool is_string(const json_t *value) { return json_is_string(value); }
static int64_t version_of_table(void)
{
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t", NULL), 200));
    return tarn_answer_i64("version");
}

Test(batches, what_is_wrong_with_a_body_is_named)
{
    static const struct {
        const char *url, *body, *field;
    } k_rows[] = {
        { BATCHES, "{}", "batch_id" },
        { BATCHES, "{\"batch_id\":\"a\"}", "status" },
        { BATCHES, "{\"batch_id\":\"\",\"status\":\"running\"}", "batch_id" },
        { BATCHES, "{\"batch_id\":\"../a\",\"status\":\"running\"}", "batch_id" },
        { BATCHES, "{\"batch_id\":\"a\",\"status\":\"done\"}", "status" },
        { BATCHES, "{\"batch_id\":\"a\",\"status\":\"rolled_back\"}", "status" },
        { BATCHES, "{\"batch_id\":\"a\",\"status\":\"running\",\"start_time\":\"noon\"}", "start_time" },
        { BATCHES, "{\"batch_id\":\"a\",\"status\":\"running\",\"start_time\":\"2024-02-01T14:30:00\"}",
          "start_time" },
        { BATCHES, "{\"batch_id\":\"a\",\"status\":\"running\",\"end_time\":1}", "end_time" },
        { BATCHES, "{\"batch_id\":\"a\",\"status\":\"running\",\"num_records\":-1}", "num_records" },
        { BATCHES, "{\"batch_id\":\"a\",\"status\":\"running\",\"size\":1.5}", "size" },
        { BATCHES, "{\"batch_id\":\"a\",\"status\":\"running\",\"rows\":1}", "rows" },
        { COMMITS, "{\"batch_id\":\"\"," OPS("a") "}", "batch_id" },
        { COMMITS, "{\"batch_id\":\"/a\"," OPS("a") "}", "batch_id" },
        { COMMITS, "{\"batch_id\":[\"a\"]," OPS("a") "}", "batch_id" },
        { COMMITS, "{\"batch_ids\":\"a\"," OPS("a") "}", "batch_ids" },
        { COMMITS, "{\"batch_ids\":[]," OPS("a") "}", "batch_ids" },
        { COMMITS, "{\"batch_ids\":[\"a\",1]," OPS("a") "}", "batch_ids[1]" },
        { COMMITS, "{\"batch_ids\":[\"a\",\"b//c\"]," OPS("a") "}", "batch_ids[1]" },
        { COMMITS, "{\"batch_ids\":[\"a\",\"b\",\"a\"]," OPS("a") "}", "batch_ids" },
        { COMMITS, "{\"batch_id\":\"a\",\"batch_ids\":[\"b\"]," OPS("a") "}", "batch_id" },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++)
        expect(k_rows[i].url, k_rows[i].body, 400, "invalid_request", k_rows[i].field);
    cr_expect(eq(uint, tarn_ask("GET", BATCHES "?status=done", NULL), 400));
    cr_expect(eq(uint, tarn_ask("GET", BATCHES "?page_token=x", NULL), 400));
    cr_expect(eq(uint, tarn_ask("GET", "/api/table/none/batches", NULL), 404));
    cr_expect(eq(uint,
                 tarn_ask("POST", "/api/table/none/batches", "{\"batch_id\":\"a\",\"status\":\"running\"}"),
                 404));
    cr_expect(eq(i64, version_of_table(), 0));
}

Test(batches, a_checkpoint_reads_back_as_it_was_told)
{
    expect(BATCHES,
           "{\"batch_id\":\"2024-02-01/14/batch-000123.parquet\",\"status\":\"completed\","
           "\"start_time\":\"2024-02-01T15:30:00+01:00\",\"end_time\":\"2024-02-01T14:32:15Z\","
           "\"num_records\":12345,\"size\":124387}",
           201, NULL, NULL);
    const json_t *b = batch("2024-02-01/");
    cr_expect(eq(str, S(text_of(b, "batch_id")), S("2024-02-01/14/batch-000123.parquet")));
    cr_expect(eq(str, S(text_of(b, "status")), S("completed")));
    cr_expect(eq(str, S(text_of(b, "start_time")), S("2024-02-01T14:30:00Z")));
    cr_expect(eq(str, S(text_of(b, "end_time")), S("2024-02-01T14:32:15Z")));
    cr_expect(eq(i64, json_integer_value(json_object_get(b, "num_records")), 12345));
    cr_expect(eq(i64, json_integer_value(json_object_get(b, "size")), 124387));
    cr_expect(is_null(json_object_get(b, "version")));
    cr_expect(is_null(json_object_get(b, "transaction")));
    cr_expect(is_false(json_object_get(b, "published")));
}

/* From each status to each one that may be told. */
Test(batches, only_a_completed_batch_does_not_reopen)
{
    static const struct {
        const char *from, *to;
        unsigned status;
    } k_rows[] = {
        { "running", "running", 200 },   { "running", "completed", 200 }, { "running", "failed", 200 },
        { "failed", "running", 200 },    { "failed", "failed", 200 },     { "failed", "completed", 200 },
        { "completed", "running", 409 }, { "completed", "failed", 409 },  { "completed", "completed", 200 },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        char id[32];
        snprintf(id, sizeof id, "b-%02zu", i);
        tell(id, k_rows[i].from, 201);
        tell(id, k_rows[i].to, k_rows[i].status);
        if (k_rows[i].status == 409)
            cr_expect(eq(str, S(tarn_answer_str("code")), S("batch_completed")));
        const char *now = k_rows[i].status == 200 ? k_rows[i].to : k_rows[i].from;
        cr_expect(eq(str, S(text_of(batch(id), "status")), S(now)));
    }
}

Test(batches, what_is_not_told_again_stays)
{
    expect(BATCHES,
           "{\"batch_id\":\"a\",\"status\":\"running\",\"start_time\":\"2024-02-01T14:30:00Z\",\"num_"
           "records\":5}",
           201, NULL, NULL);
    tell("a", "running", 200);
    expect(BATCHES, "{\"batch_id\":\"a\",\"status\":\"failed\",\"size\":7}", 200, NULL, NULL);
    const json_t *b = batch("a");
    cr_expect(eq(str, S(text_of(b, "start_time")), S("2024-02-01T14:30:00Z")));
    cr_expect(is_string(json_object_get(b, "end_time")));
    cr_expect(eq(i64, json_integer_value(json_object_get(b, "num_records")), 5));
    cr_expect(eq(i64, json_integer_value(json_object_get(b, "size")), 7));
    tell("a", "running", 200); /* another attempt */
    b = batch("a");
    cr_expect(strcmp(text_of(b, "start_time"), "2024-02-01T14:30:00Z") != 0);
    cr_expect(is_null(json_object_get(b, "end_time")));
    cr_expect(eq(i64, json_integer_value(json_object_get(b, "size")), 7));
}

Test(batches, one_id_is_one_file)
{
    expect(BATCHES, "{\"batch_id\":\"a.parquet\",\"status\":\"running\",\"size\":10}", 201, NULL, NULL);
    expect(BATCHES, "{\"batch_id\":\"a.parquet\",\"status\":\"running\",\"size\":10}", 200, NULL, NULL);
    expect(BATCHES, "{\"batch_id\":\"a.parquet\",\"status\":\"running\",\"size\":11}", 409, "batch_mismatch",
           "size");
    cr_expect(eq(i64, tarn_answer_i64("size"), 10));
    /* Both would be processed/a.json. */
    expect(BATCHES, "{\"batch_id\":\"a\",\"status\":\"running\"}", 409, "batch_mismatch", "batch_id");
    expect(COMMITS, "{\"batch_id\":\"a\"," OPS("x") "}", 409, "batch_mismatch", "batch_id");
    expect(BATCHES, "{\"batch_id\":\"b\",\"status\":\"running\"}", 201, NULL, NULL);
    expect(BATCHES, "{\"batch_id\":\"b.parquet\",\"status\":\"running\"}", 409, "batch_mismatch", "batch_id");
    cr_expect(eq(i64, version_of_table(), 0));
}

Test(batches, a_commit_completes_its_batches_in_its_own_transaction)
{
    tell("a", "running", 201);
    expect(
        COMMITS,
        "{\"transaction_id\":\"load\",\"batch_ids\":[\"b\",\"a\"],\"commitMetadata\":{\"author\":\"m\"}," OPS(
            "x") "}",
        201, NULL, NULL);
    static const char *const k_ids[] = { "a", "b" };
    for (size_t i = 0; i < 2; i++) {
        const json_t *b = batch(k_ids[i]);
        cr_expect(eq(str, S(text_of(b, "status")), S("completed")));
        cr_expect(eq(str, S(text_of(b, "transaction")), S("load")));
        cr_expect(eq(i64, json_integer_value(json_object_get(b, "version")), 1));
        cr_expect(eq(str, S(text_of(b, "end_time")), S(text_of(b, "committed_at"))));
        cr_expect(is_string(json_object_get(b, "start_time")));
    }
    cr_assert(eq(uint, tarn_ask("GET", COMMITS "/load", NULL), 200));
    json_auto_t *ids = json_pack("[ss]", "b", "a"), *metadata = json_pack("{ss}", "author", "m");
    cr_expect(json_equal(json_object_get(tarn_answer(), "batch_ids"), ids), "%s", tarn_answer_text());
    cr_expect(json_equal(json_object_get(tarn_answer(), "commitMetadata"), metadata), "%s",
              tarn_answer_text());
    cr_assert(eq(uint, tarn_ask("GET", COMMITS, NULL), 200));
    const json_t *first = json_array_get(json_object_get(tarn_answer(), "commits"), 0);
    cr_expect(json_equal(json_object_get(first, "batch_ids"), ids), "%s", tarn_answer_text());

    /* Its times and records may be told afterwards. */
    expect(BATCHES, "{\"batch_id\":\"a\",\"status\":\"completed\",\"num_records\":3}", 200, NULL, NULL);
    cr_expect(eq(i64, tarn_answer_i64("version"), 1));
    expect(BATCHES, "{\"batch_id\":\"a\",\"status\":\"running\"}", 409, "batch_completed", "batch_id");
    cr_expect(eq(i64, tarn_answer_i64("version"), 1));
    cr_expect(eq(str, S(tarn_answer_str("transaction")), S("load")));
}

Test(batches, a_batch_is_applied_once_whatever_the_second_commit_looks_like)
{
    static const struct {
        const char *body;
        unsigned status;
        const char *field; /* NULL: batch_id */
    } k_rows[] = {
        { "{\"batch_id\":\"a\"," OPS("x") "}", 200, NULL },                    /* the same */
        { "{\"expected_version\":0,\"batch_id\":\"a\"," OPS("x") "}", 200, NULL },   /* the same, stale */
        { "{\"batch_id\":\"a\"," OPS("y") "}", 409, NULL },                          /* another file */
        { "{\"batch_ids\":[\"a\"]," OPS("x") "}", 409, "batch_ids[0]" },                       /* other words */
        { "{\"batch_ids\":[\"c\",\"a\"]," OPS("y") "}", 409, "batch_ids[1]" },                 /* one of two */
        { "{\"transaction_id\":\"n\",\"batch_id\":\"a\"," OPS("y") "}", 409, NULL }, /* another id */
        { "{\"expected_version\":0,\"batch_id\":\"a\"," OPS("y") "}",
          409, NULL }, /* stale and again: the batch counts */
    };
    expect(COMMITS, "{\"batch_id\":\"a\"," OPS("x") "}", 201, NULL, NULL);
    char committed_at[64];
    snprintf(committed_at, sizeof committed_at, "%s", tarn_answer_str("committed_at"));
    expect(COMMITS, "{" OPS("z") "}", 201, NULL, NULL);
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        bool again = k_rows[i].status == 200;
        expect(COMMITS, k_rows[i].body, k_rows[i].status, again ? NULL : "batch_completed",
               k_rows[i].field ? k_rows[i].field : "batch_id");
        cr_expect(eq(i64, tarn_answer_i64("version"), 1), "%s", k_rows[i].body);
        cr_expect(eq(str, S(tarn_answer_str("transaction")), S("txn-1")), "%s", k_rows[i].body);
        cr_expect(eq(str, S(tarn_answer_str("committed_at")), committed_at), "%s", k_rows[i].body);
    }
    cr_expect(eq(i64, version_of_table(), 2));
    cr_assert(eq(uint, tarn_ask("GET", BATCHES "?prefix=c", NULL), 200));
    cr_expect(eq(sz, json_array_size(json_object_get(tarn_answer(), "batches")),
                 0)); /* nothing is left of a refusal */
}

Test(batches, a_refusal_tells_which_of_a_list_are_done)
{
    expect(COMMITS, "{\"batch_ids\":[\"a\",\"b\"]," OPS("x") "}", 201, NULL, NULL);
    tell("c", "running", 201);
    expect(COMMITS, "{\"batch_ids\":[\"c\",\"b\",\"d\",\"a\"]," OPS("y") "}", 409, "batch_completed",
           "batch_ids[1]");
    json_auto_t *done = json_pack("[ss]", "b", "a");
    cr_expect(json_equal(json_object_get(tarn_answer(), "completed"), done), "%s", tarn_answer_text());
    expect(COMMITS, "{\"batch_ids\":[\"c\",\"d\"]," OPS("y") "}", 201, NULL, NULL);
}

Test(batches, a_batch_without_rows_is_a_proof_of_life_and_no_commit)
{
    expect(BATCHES, "{\"batch_id\":\"empty\",\"status\":\"completed\",\"num_records\":0}", 201, NULL, NULL);
    cr_expect(eq(i64, version_of_table(), 0));
    expect(COMMITS, "{\"batch_id\":\"empty\"," OPS("x") "}", 409, "batch_completed", "batch_id");
    cr_expect(is_null(json_object_get(tarn_answer(), "version")));
    cr_expect(is_null(json_object_get(tarn_answer(), "transaction")));
}

Test(batches, a_failed_or_refused_attempt_leaves_the_batch_to_the_next)
{
    tell("a", "failed", 201);
    expect(COMMITS, "{\"expected_version\":5,\"batch_id\":\"a\"," OPS("x") "}", 409, "version_conflict",
           "expected_version");
    cr_expect(eq(str, S(text_of(batch("a"), "status")), S("failed")));
    expect(COMMITS, "{\"batch_id\":\"a\"," OPS("x") "}", 201, NULL, NULL);
    expect(COMMITS, "{\"batch_id\":\"b\"," OPS("x") "}", 409, "file_conflict", "operations[0].path");
    expect(COMMITS, "{\"batch_id\":\"b\"," OPS("y") "}", 201, NULL, NULL);
}

Test(batches, the_list_pages_by_id_and_filters)
{
    static const char *const k_ids[] = { "d/1", "d/2", "d/3", "e/1", "e/2" };
    for (size_t i = 0; i < TARN_COUNT(k_ids); i++)
        tell(k_ids[i], i % 2 ? "failed" : "running", 201);
    static const struct {
        const char *query;
        size_t count;
    } k_rows[] = {
        { "", 5 },
        { "?status=running", 3 },
        { "?status=failed", 2 },
        { "?status=completed", 0 },
        { "?prefix=d/", 3 },
        { "?prefix=d/&status=failed", 1 },
        { "?page_size=2", 2 },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        char url[128];
        snprintf(url, sizeof url, BATCHES "%s", k_rows[i].query);
        cr_assert(eq(uint, tarn_ask("GET", url, NULL), 200), "%s", tarn_answer_text());
        cr_expect(eq(sz, json_array_size(json_object_get(tarn_answer(), "batches")), k_rows[i].count), "%s",
                  url);
    }
    char token[256] = "", seen[128] = "";
    do {
        char url[512];
        snprintf(url, sizeof url, BATCHES "?status=running&page_size=1%s%s", token[0] ? "&page_token=" : "",
                 token);
        cr_assert(eq(uint, tarn_ask("GET", url, NULL), 200), "%s", tarn_answer_text());
        const json_t *one = json_array_get(json_object_get(tarn_answer(), "batches"), 0);
        size_t len = strlen(seen);
        snprintf(seen + len, sizeof seen - len, "%s ", text_of(one, "batch_id"));
        snprintf(token, sizeof token, "%s", tarn_answer_str("next_page_token"));
    } while (token[0]);
    cr_expect(eq(str, seen, S("d/1 d/3 e/2 ")));
}

Test(batches, checkpoints_and_their_commits_survive_a_restart)
{
    tell("a", "running", 201);
    expect(COMMITS, "{\"batch_id\":\"b\"," OPS("x") "}", 201, NULL, NULL);
    tarn_lake_restart();
    cr_expect(eq(str, S(text_of(batch("a"), "status")), S("running")));
    expect(COMMITS, "{\"batch_id\":\"b\"," OPS("x") "}", 200, NULL, NULL);
    expect(COMMITS, "{\"batch_id\":\"b\"," OPS("y") "}", 409, "batch_completed", "batch_id");
}
