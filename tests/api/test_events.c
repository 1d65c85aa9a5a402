/* The feed of events over the API: what each change tells, order and pages, what is no longer kept, who sees what. */
#include "base/time.h"
#include "lake/sweep.h"
#include "tests/support/lake.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

TestSuite(events, .init = tarn_lake_setup, .fini = tarn_lake_teardown, .timeout = 60);

#define ADD(path) "{\"operations\":[{\"type\":\"add_file\",\"path\":\"" path "\",\"size\":10}]}"
#define SCHEMA                                                                                                   \
    "{\"expected_version\":0,\"schema\":{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"int32\","     \
    "\"nullable\":true,\"metadata\":{}}]}}"

static void make(const char *name)
{
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"%s\"}", name), 201), "%s", tarn_answer_text());
}

static const json_t *feed(const char *query)
{
    char target[128];

    snprintf(target, sizeof target, "/api/events%s", query);
    cr_assert(eq(uint, tarn_ask("GET", target, NULL), 200), "%s", tarn_answer_text());
    return json_object_get(tarn_answer(), "events");
}

static const char *text_of(const json_t *event, const char *key)
{
    const char *text = json_string_value(json_object_get(event, key));

    return text ? text : "";
}

/* "type:table type:table ..." */
static void expect_feed(const char *query, const char *want)
{
    TARN_AUTO_DONE(buf) struct tarn_buf got = { 0 };
    size_t i;
    json_t *event;

    json_array_foreach(feed(query), i, event)
        tarn_buf_addf(&got, "%s%s:%s", i ? " " : "", text_of(event, "type"), text_of(event, "table"));
    cr_expect(strcmp(got.data ? got.data : "", want) == 0, "%s gives %s", query, tarn_answer_text());
}

Test(events, every_change_of_a_table_is_told_once)
{
    make("a");
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/a/commits", ADD("x")), 201));
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/a/commits", "{\"expected_version\":7,\"operations\":[{\"type\":"
                                "\"add_file\",\"path\":\"y\",\"size\":1}]}"), 409));
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/a/schemas", SCHEMA), 201), "%s", tarn_answer_text());
    cr_assert(eq(uint, tarn_ask("PATCH", "/api/table/a", "{\"owner\":\"me\",\"name\":\"sales.b\"}"), 200));
    cr_assert(eq(uint, tarn_ask("PATCH", "/api/table/sales.b", "{}"), 200));
    cr_assert(eq(uint, tarn_ask("DELETE", "/api/table/sales.b", NULL), 204));
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/sales.b/restore", NULL), 200));
    expect_feed("", "table.registered:a table.committed:a schema.added:a table.renamed:sales.b table.updated:sales.b "
                    "table.dropped:sales.b table.restored:sales.b");

    const json_t *events = feed("");
    cr_expect(eq(str, (char *)text_of(json_array_get(events, 3), "from"), (char *)"a"));
    const json_t *commit = json_array_get(events, 1);
    cr_expect(eq(i64, json_integer_value(json_object_get(commit, "version")), 1));
    cr_expect(eq(str, (char *)text_of(commit, "transaction"), (char *)"txn-1"));
    cr_expect(eq(i64, json_integer_value(json_object_get(commit, "sequence")), 2));
    const json_t *members = json_object_get(json_array_get(events, 4), "members");
    cr_expect(eq(sz, json_array_size(members), 1));
    cr_expect(eq(str, (char *)json_string_value(json_array_get(members, 0)), (char *)"owner"));
}

Test(events, findings_open_and_close_in_the_feed)
{
    char location[512], path[640];

    make("a");
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/a/commits", ADD("x.parquet")), 201));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/a", NULL), 200));
    snprintf(location, sizeof location, "%s", tarn_answer_str("location"));
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/a/check?depth=sweep", NULL), 200));
    const json_t *events = feed("?after=2");
    bool found = false;
    size_t i;
    json_t *event;
    json_array_foreach(events, i, event)
        found = found || (strcmp(text_of(event, "type"), "finding.opened") == 0 &&
                          strcmp(text_of(event, "code"), "missing_data_file") == 0 &&
                          strcmp(text_of(event, "subject"), "x.parquet") == 0);
    cr_expect(found, "%s", tarn_answer_text());

    snprintf(path, sizeof path, "%s/x.parquet", location);
    tarn_write_text(path, "0123456789");
    int64_t next = tarn_answer_i64("next");
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/a/check?depth=sweep", NULL), 200));
    char query[64];
    snprintf(query, sizeof query, "?after=%lld", (long long)next);
    found = false;
    json_array_foreach(feed(query), i, event)
        found = found || (strcmp(text_of(event, "type"), "finding.closed") == 0 &&
                          strcmp(text_of(event, "code"), "missing_data_file") == 0);
    cr_expect(found, "%s", tarn_answer_text());
}

Test(events, the_feed_is_read_in_pieces_and_taken_up_again)
{
    make("a");
    make("b");
    make("c");
    expect_feed("?limit=2", "table.registered:a table.registered:b");
    cr_expect(eq(i64, tarn_answer_i64("next"), 2));
    expect_feed("?limit=2&after=2", "table.registered:c");
    cr_expect(eq(i64, tarn_answer_i64("next"), 3));
    expect_feed("?after=3", "");
    cr_expect(eq(i64, tarn_answer_i64("next"), 3));
    expect_feed("?after=3&wait=5", ""); /* no server behind this call: it does not wait */
}

Test(events, what_is_wrong_with_a_question_is_named)
{
    static const struct { const char *query, *field; } k_rows[] = {
        { "?after=-1", "after" }, { "?after=x", "after" }, { "?wait=61", "wait" }, { "?wait=-1", "wait" },
        { "?limit=0", "limit" },  { "?limit=10001", "limit" }, { "?more=1", "more" },
    };
    char target[64];

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        snprintf(target, sizeof target, "/api/events%s", k_rows[i].query);
        cr_expect(eq(uint, tarn_ask("GET", target, NULL), 400));
        cr_expect(eq(str, (char *)tarn_answer_str("field"), (char *)k_rows[i].field));
    }
}

Test(events, what_is_no_longer_kept_is_gone_and_says_from_where_to_go_on)
{
    TARN_ERR(err);

    expect_feed("", "");
    cr_expect(eq(uint, tarn_ask("GET", "/api/events?after=1", NULL), 410)); /* of another catalog */
    make("a");
    make("b");
    cr_assert(eq(int, tarn_lake_sweep(&g_lake->lake, tarn_now_ms() + 29 * TARN_DAY_MS, &err), TARN_OK));
    expect_feed("", "table.registered:a table.registered:b");
    cr_assert(eq(int, tarn_lake_sweep(&g_lake->lake, tarn_now_ms() + 31 * TARN_DAY_MS, &err), TARN_OK));
    cr_assert(eq(uint, tarn_ask("GET", "/api/events?after=1", NULL), 410));
    cr_expect(eq(str, (char *)tarn_answer_str("code"), (char *)"events_expired"));
    cr_expect(eq(i64, tarn_answer_i64("oldest"), 2));
    cr_expect(eq(i64, tarn_answer_i64("newest"), 2));
    expect_feed("?after=2", "");
    make("c");
    expect_feed("?after=2", "table.registered:c");
    cr_expect(eq(i64, tarn_answer_i64("next"), 3));
}

Test(events, a_narrowed_token_sees_the_events_of_its_tables_and_still_moves_on, .init = tarn_lake_setup_tokens)
{
    char token[128];

    make("sales.a");
    cr_assert(eq(uint, tarn_ask("POST", "/api/tokens",
                                "{\"name\":\"n\",\"scope\":\"catalog:read\",\"tables\":\"sales.*\"}"), 201));
    snprintf(token, sizeof token, "%s", tarn_answer_str("token"));
    make("other");
    make("sales.b");
    make("more");
    tarn_ask_token(token);
    expect_feed("", "table.registered:sales.a table.registered:sales.b");
    cr_expect(eq(i64, tarn_answer_i64("next"), 4));
    expect_feed("?limit=1&after=1", "table.registered:sales.b");
    cr_expect(eq(i64, tarn_answer_i64("next"), 3));
    expect_feed("?after=3", "");
    cr_expect(eq(i64, tarn_answer_i64("next"), 4));
}

Test(events, status_alone_does_not_open_the_feed, .init = tarn_lake_setup_tokens)
{
    char token[128];

    cr_assert(eq(uint, tarn_ask("POST", "/api/tokens", "{\"name\":\"n\",\"scope\":\"status:read\"}"), 201));
    snprintf(token, sizeof token, "%s", tarn_answer_str("token"));
    tarn_ask_token(token);
    cr_expect(eq(uint, tarn_ask("GET", "/api/events", NULL), 403));
}
