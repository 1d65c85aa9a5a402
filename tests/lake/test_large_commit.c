/* A commit of more rows than one transaction writes: whole or not at all, and the table goes on after a refusal or a
 * crash at any step. */
#include "base/buf.h"
#include "lake/commit.h"
#include "lake/publish.h"
#include "lake/sweep.h"
#include "tests/support/lake.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define MANY 10500 /* above TARN_TX_ROWS_MAX */
#define URL "/api/table/t/commits"
#define ONE "{\"operations\":[{\"type\":\"add_file\",\"path\":\"%s\",\"size\":1}]}"

static void setup(void)
{
    tarn_lake_setup();
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\"}"), 201));
}
TestSuite(large_commit, .init = setup, .fini = tarn_lake_teardown, .timeout = 120);

/* Adds of <prefix>0 up to below <prefix>MANY of 2 bytes each, removes of the same of `removes` (NULL: none), and what
 * stands in `last` (operations, or ""). Owned. */
static char *body(const char *head, const char *adds, const char *removes, const char *last)
{
    struct tarn_buf text = { 0 };
    tarn_buf_addf(&text, "{%s\"operations\":[", head);
    for (int i = 0; i < MANY; i++) {
        tarn_buf_addf(&text, "%s{\"type\":\"add_file\",\"path\":\"%s%05d\",\"size\":2}", i ? "," : "", adds, i);
        if (removes)
            tarn_buf_addf(&text, ",{\"type\":\"remove_file\",\"path\":\"%s%05d\"}", removes, i);
    }
    tarn_buf_addf(&text, "%s]}", last);
    return tarn_buf_take(&text);
}

static unsigned post(const char *head, const char *adds, const char *removes, const char *last)
{
    TARN_AUTO(mem) char *text = body(head, adds, removes, last);
    return tarn_ask("POST", URL, "%s", text);
}

static void expect_table(int64_t version, int64_t files)
{
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t", NULL), 200));
    cr_expect(eq(i64, tarn_answer_i64("version"), version));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/files", NULL), 200));
    cr_expect(eq(i64, (int64_t)json_array_size(json_object_get(tarn_answer(), "files")), files));
}

static void publish(void)
{
    TARN_ERR(err);
    cr_assert(eq(int, tarn_publish_table(&g_lake->lake, 1, &err), TARN_OK), "%s", err.detail);
}

Test(large_commit, it_lands_as_one_version_and_its_replay_gives_the_first_answer)
{
    cr_assert(eq(uint, post("\"transaction_id\":\"big\",", "a", NULL, ""), 201), "%.300s", tarn_answer_text());
    cr_expect(eq(i64, tarn_answer_i64("version"), 1));
    cr_expect(eq(i64, tarn_answer_i64("files_added"), MANY));
    cr_expect(eq(i64, tarn_answer_i64("total_size_bytes"), 2 * MANY));
    cr_expect(eq(uint, post("\"transaction_id\":\"big\",", "a", NULL, ""), 200));
    cr_expect(eq(i64, tarn_answer_i64("version"), 1));
    cr_expect(eq(uint, post("\"transaction_id\":\"big\",", "b", NULL, ""), 409));
    expect_table(1, MANY);
    publish();
}

/* Every file replaced by itself and one more by another: removes first, in the rows and in the log. */
Test(large_commit, it_replaces_files_and_its_entry_on_storage_says_so)
{
    cr_assert(eq(uint, post("", "a", NULL, ""), 201));
    cr_assert(eq(uint, post("\"expected_version\":1,", "a", "a", ""), 201), "%.300s", tarn_answer_text());
    cr_expect(eq(i64, tarn_answer_i64("files"), MANY));
    cr_expect(eq(i64, tarn_answer_i64("files_removed"), MANY));
    publish();
    char *entry = tarn_read_file(tarn_path(g_lake->root, "default/t/_transactions/txn-2.json"), NULL);
    json_auto_t *json = json_loads(entry, 0, NULL);
    free(entry);
    const json_t *ops = json_object_get(json, "operations");
    cr_assert(eq(sz, json_array_size(ops), 2 * MANY));
    for (size_t i = 0; i < 2 * MANY; i++) {
        const char *type = json_string_value(json_object_get(json_array_get(ops, i), "type"));
        cr_assert(eq(str, (char *)type, (char *)(i < MANY ? "remove_file" : "add_file")));
    }
    expect_table(2, MANY);
    cr_assert(eq(uint, tarn_ask("GET", URL "/txn-2", NULL), 200)); /* page by page, and the same */
    cr_expect(json_equal((json_t *)tarn_answer(), json));
}

Test(large_commit, one_fault_at_the_end_refuses_it_whole_and_the_table_goes_on)
{
    static const struct { const char *head, *last, *field; } k_rows[] = {
        { "", ",{\"type\":\"add_file\",\"path\":\"taken\",\"size\":1}", "operations[10500].path" },
        { "\"expected_version\":1,", ",{\"type\":\"remove_file\",\"path\":\"absent\"}", "operations[10500].path" },
        { "\"expected_version\":0,", "", "expected_version" },
        { "", ",{\"type\":\"add_file\",\"path\":\"x\",\"size\":1,\"schemaVersion\":7}", "operations[10500].schemaVersion" },
        { "", ",{\"type\":\"add_file\",\"path\":\"x\"}", "operations[10500].size" },
    };

    cr_assert(eq(uint, tarn_ask("POST", URL, ONE, "taken"), 201));
    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        unsigned status = post(k_rows[i].head, "a", NULL, k_rows[i].last);
        cr_expect(status >= 400 && status < 500, "%u", status);
        cr_expect(eq(str, (char *)tarn_answer_str("field"), (char *)k_rows[i].field), "%.300s", tarn_answer_text());
        expect_table(1, 1);
    }
    cr_expect(eq(uint, post("", "a", NULL, ""), 201), "%.300s", tarn_answer_text());
    expect_table(2, 1 + MANY);
}

/* The rows are in place, and then the process is gone. */
static void stage_and_die(const char *head, const char *adds, const char *removes)
{
    TARN_AUTO(mem) char *text = body(head, adds, removes, "");
    json_auto_t *json = json_loads(text, 0, NULL);
    struct tarn_commit_use use = { .lake = &g_lake->lake, .ident = { "default", "t" } };
    TARN_ERR(err);

    cr_assert(eq(int, tarn_commit_parse(json, &use, &err), TARN_OK), "%s", err.detail);
    cr_assert(tarn_commit.needs_check(&g_lake->lake, &use));
    cr_assert(eq(int, tarn_commit.check(&g_lake->lake, &use, &err), TARN_OK), "%s", err.detail);
    cr_assert(use.lease.held);
    cr_expect(eq(uint, tarn_ask("POST", URL, ONE, "other"), 503), "%s", tarn_answer_text());
    cr_expect(eq(str, (char *)tarn_answer_str("code"), "overloaded"));
    cr_expect(eq(uint, tarn_ask("PATCH", "/api/table/t", "{\"mode\":\"observed\"}"), 503), "%s", tarn_answer_text());
    tarn_commit.done(&use);
    tarn_lake_restart();
}

static void sweep(void)
{
    TARN_ERR(err);
    cr_assert(eq(int, tarn_lake_sweep(&g_lake->lake, 1, &err), TARN_OK), "%s", err.detail);
}

Test(large_commit, what_a_crash_left_is_seen_by_nobody_and_undone)
{
    cr_assert(eq(uint, post("", "a", NULL, ""), 201));
    stage_and_die("\"expected_version\":1,", "b", "a");
    expect_table(1, MANY);
    cr_expect(eq(uint, tarn_ask("POST", URL, ONE, "other"), 503));
    sweep();
    cr_expect(eq(uint, tarn_ask("POST", URL, ONE, "other"), 201), "%s", tarn_answer_text());
    expect_table(2, MANY + 1);
    cr_expect(eq(uint, post("\"expected_version\":2,", "a", "a", ""), 201), "%.300s", tarn_answer_text());
    expect_table(3, MANY + 1);
}

Test(large_commit, a_table_dropped_meanwhile_is_tidied_too)
{
    stage_and_die("", "a", NULL);
    cr_assert(eq(uint, tarn_ask("DELETE", "/api/table/t", NULL), 204));
    sweep();
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/restore", NULL), 200));
    cr_expect(eq(uint, post("", "a", NULL, ""), 201), "%.300s", tarn_answer_text());
    expect_table(1, MANY);
}

/* Nobody may undo what somebody is writing. */
Test(large_commit, the_sweeper_leaves_alone_what_is_claimed)
{
    TARN_AUTO(mem) char *text = body("", "a", NULL, "");
    json_auto_t *json = json_loads(text, 0, NULL);
    struct tarn_commit_use use = { .lake = &g_lake->lake, .ident = { "default", "t" } };
    TARN_ERR(err);

    cr_assert(eq(int, tarn_commit_parse(json, &use, &err), TARN_OK));
    cr_assert(eq(int, tarn_commit.check(&g_lake->lake, &use, &err), TARN_OK));
    sweep();
    cr_expect(eq(int, tarn_store_write(g_lake->store, tarn_commit.change, &use, &err), TARN_OK), "%s", err.detail);
    tarn_commit.done(&use);
    sweep();
    expect_table(1, MANY);
}

/* A schema that comes between the check and the decision makes the check run again. */
Test(large_commit, a_new_schema_version_meanwhile_stages_it_anew)
{
    static const char k_schema[] = "{\"expected_version\":0,\"schema\":{\"type\":\"struct\",\"fields\":["
                                   "{\"name\":\"a\",\"type\":\"string\",\"nullable\":true}]}}";
    TARN_AUTO(mem) char *text = body("", "a", NULL, "");
    json_auto_t *json = json_loads(text, 0, NULL);
    struct tarn_commit_use use = { .lake = &g_lake->lake, .ident = { "default", "t" } };
    TARN_ERR(err);

    cr_assert(eq(int, tarn_commit_parse(json, &use, &err), TARN_OK));
    cr_assert(eq(int, tarn_commit.check(&g_lake->lake, &use, &err), TARN_OK));
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/schemas", "%s", k_schema), 201), "%s", tarn_answer_text());
    cr_expect(eq(int, tarn_store_write(g_lake->store, tarn_commit.change, &use, &err), TARN_RECHECK));
    cr_assert(eq(int, tarn_commit.check(&g_lake->lake, &use, &err), TARN_OK), "%s", err.detail);
    cr_expect(eq(int, tarn_store_write(g_lake->store, tarn_commit.change, &use, &err), TARN_OK), "%s", err.detail);
    tarn_commit.done(&use);
    expect_table(1, MANY);
    cr_expect(eq(i64, json_integer_value(json_object_get(
                          json_array_get(json_object_get(tarn_answer(), "files"), 0), "schemaVersion")), 1));
}

Test(large_commit, a_server_that_stops_ends_it_between_two_steps)
{
    atomic_store(&g_lake->lake.stopping, true);
    cr_expect(eq(uint, post("", "a", NULL, ""), 503));
    tarn_lake_restart();
    sweep();
    expect_table(0, 0);
    cr_expect(eq(uint, tarn_ask("POST", URL, ONE, "other"), 201));
}
