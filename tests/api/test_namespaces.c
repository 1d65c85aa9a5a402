/* Namespaces over the API: made, changed, listed and removed; and what their tables inherit from them. */
#include "monitors/monitors.h"
#include "tests/support/lake.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

TestSuite(namespaces, .init = tarn_lake_setup, .fini = tarn_lake_teardown, .timeout = 60);

static void add(const char *namespace_, const char *settings)
{
    cr_assert(eq(uint, tarn_ask("POST", "/api/namespaces", "{\"namespace\":\"%s\"%s}", namespace_, settings), 201), "%s",
              tarn_answer_text());
}

static void patch(const char *namespace_, const char *body)
{
    char target[128];

    snprintf(target, sizeof target, "/api/namespaces/%s", namespace_);
    cr_assert(eq(uint, tarn_ask("PATCH", target, "%s", body), 200), "%s", tarn_answer_text());
}

static void make(const char *name, const char *more)
{
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"%s\"%s}", name, more), 201), "%s",
              tarn_answer_text());
}

static unsigned commit(const char *table)
{
    char target[128];
    static int serial;

    snprintf(target, sizeof target, "/api/table/%s/commits", table);
    return tarn_ask("POST", target, "{\"operations\":[{\"type\":\"add_file\",\"path\":\"f%d\",\"size\":1}]}", serial++);
}

static void expect_problem(unsigned status, unsigned want, const char *code, const char *field)
{
    cr_expect(status == want && strcmp(tarn_answer_str("code"), code) == 0 &&
                  strcmp(tarn_answer_str("field"), field) == 0,
              "%u %s, want %u %s %s", status, tarn_answer_text(), want, code, field);
}

static void expect_shown(const char *table, const char *enforcement, const char *verify, const char *owner)
{
    char target[128];

    snprintf(target, sizeof target, "/api/table/%s", table);
    cr_assert(eq(uint, tarn_ask("GET", target, NULL), 200));
    cr_expect(strcmp(tarn_answer_str("schema_enforcement"), enforcement) == 0 &&
                  strcmp(tarn_answer_str("verify"), verify) == 0 && strcmp(tarn_answer_str("owner"), owner) == 0,
              "%s: %s", table, tarn_answer_text());
}

Test(namespaces, one_is_made_shown_changed_and_removed)
{
    add("sales.eu", ",\"properties\":{\"team\":\"a\",\"size\":3},\"owner\":\"me\",\"verify\":\"size\","
                    "\"history\":{\"retention\":\"7d\"}");
    cr_expect(eq(str, (char *)tarn_answer_str("namespace"), (char *)"sales.eu"));
    cr_expect(eq(sz, json_array_size(json_object_get(tarn_answer(), "levels")), 2));
    cr_assert(eq(uint, tarn_ask("GET", "/api/namespaces/sales.eu", NULL), 200));
    cr_expect(eq(str, (char *)tarn_answer_str("verify"), (char *)"size"));
    cr_expect(eq(str, (char *)tarn_answer_str("owner"), (char *)"me"));
    cr_expect(eq(int, json_is_null(json_object_get(tarn_answer(), "schema_enforcement")), 1));
    cr_expect(eq(str, (char *)json_string_value(json_object_get(json_object_get(tarn_answer(), "history"), "retention")),
                 (char *)"7d"));
    patch("sales.eu", "{\"properties\":{\"team\":null,\"x\":true},\"owner\":null,\"history\":{\"retention\":null}}");
    const json_t *properties = json_object_get(tarn_answer(), "properties");
    cr_expect(eq(sz, json_object_size(properties), 2));
    cr_expect(json_object_get(properties, "team") == NULL);
    cr_expect(eq(int, json_is_null(json_object_get(tarn_answer(), "owner")), 1));
    cr_expect(eq(str, (char *)tarn_answer_str("verify"), (char *)"size"));
    cr_expect(eq(uint, tarn_ask("DELETE", "/api/namespaces/sales.eu", NULL), 204));
    expect_problem(tarn_ask("GET", "/api/namespaces/sales.eu", NULL), 404, "namespace_not_found", "");
}

Test(namespaces, what_is_wrong_is_named)
{
    static const struct { const char *body, *field; } k_rows[] = {
        { "{}", "namespace" },
        { "{\"namespace\":1}", "namespace" },
        { "{\"namespace\":\"\"}", "namespace" },
        { "{\"namespace\":[]}", "namespace" },
        { "{\"namespace\":[\"\"]}", "namespace[0]" },
        { "{\"namespace\":\"a\",\"more\":1}", "more" },
        { "{\"namespace\":\"a\",\"owner\":1}", "owner" },
        { "{\"namespace\":\"a\",\"verify\":\"all\"}", "verify" },
        { "{\"namespace\":\"a\",\"schema_enforcement\":true}", "schema_enforcement" },
        { "{\"namespace\":\"a\",\"properties\":{\"x\":[]}}", "properties.x" },
        { "{\"namespace\":\"a\",\"monitors\":{\"nothing\":{}}}", "monitors.nothing" },
        { "{\"namespace\":\"a\",\"history\":{\"retention\":5}}", "history.retention" },
        { "{\"namespace\":\"a\",\"history\":{\"versions\":5}}", "history.versions" },
        { "{\"namespace\":\"a\",\"history\":\"7d\"}", "history" },
    };

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++)
        expect_problem(tarn_ask("POST", "/api/namespaces", "%s", k_rows[i].body), 400, "invalid_request",
                       k_rows[i].field);
    add("a", "");
    expect_problem(tarn_ask("POST", "/api/namespaces", "{\"namespace\":[\"a\"]}"), 409, "namespace_exists", "");
    expect_problem(tarn_ask("PATCH", "/api/namespaces/b", "{}"), 404, "namespace_not_found", "");
}

Test(namespaces, one_comes_with_its_first_table_and_stays_until_it_is_empty)
{
    make("sales.eu.t", "");
    cr_assert(eq(uint, tarn_ask("GET", "/api/namespaces/sales.eu", NULL), 200));
    expect_problem(tarn_ask("DELETE", "/api/namespaces/sales.eu", NULL), 409, "namespace_not_empty", "");
    add("sales", "");
    expect_problem(tarn_ask("DELETE", "/api/namespaces/sales", NULL), 409, "namespace_not_empty", "");
    cr_assert(eq(uint, tarn_ask("DELETE", "/api/table/sales.eu.t", NULL), 204));
    cr_expect(eq(uint, tarn_ask("DELETE", "/api/namespaces/sales.eu", NULL), 204));
    cr_expect(eq(uint, tarn_ask("DELETE", "/api/namespaces/sales", NULL), 204));
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/sales.eu.t/restore", NULL), 200), "%s", tarn_answer_text());
    cr_expect(eq(uint, tarn_ask("GET", "/api/namespaces/sales.eu", NULL), 200));
}

Test(namespaces, one_that_is_there_through_those_inside_says_nothing_until_it_is_changed)
{
    static const char *const k_outer[] = { "deep", "deep.er", "sales", "\"a.b\"" };
    static const char *const k_none[] = { "dee", "deep.e", "eu", "sales.e", "\"a", "b", "a" };
    char target[128];

    make("deep.er.in.t", "");
    make("sales.eu.t", "");
    make("sales.eu-x.t", "");
    add("\\\"a.b\\\".c", "");
    for (size_t i = 0; i < TARN_COUNT(k_outer); i++) {
        snprintf(target, sizeof target, "/api/namespaces/%s", k_outer[i]);
        cr_assert(eq(uint, tarn_ask("GET", target, NULL), 200), "%s: %s", target, tarn_answer_text());
        cr_expect(eq(str, (char *)tarn_answer_str("namespace"), (char *)k_outer[i]));
        cr_expect(json_object_size(json_object_get(tarn_answer(), "properties")) == 0 && *tarn_answer_str("created_at"), "%s",
                  tarn_answer_text());
        expect_problem(tarn_ask("DELETE", target, NULL), 409, "namespace_not_empty", "");
        patch(k_outer[i], "{\"owner\":\"me\"}");
        cr_assert(eq(uint, tarn_ask("GET", target, NULL), 200));
        cr_expect(eq(str, (char *)tarn_answer_str("owner"), (char *)"me"));
    }
    for (size_t i = 0; i < TARN_COUNT(k_none); i++) {
        snprintf(target, sizeof target, "/api/namespaces/%s", k_none[i]);
        cr_expect(tarn_ask("GET", target, NULL) != 200, "%s: %s", target, tarn_answer_text());
    }
    expect_shown("deep.er.in.t", "off", "off", "me");
}

Test(namespaces, the_list_goes_by_name_in_pages)
{
    add("b", "");
    add("a.x", "");
    add("a", "");
    cr_assert(eq(uint, tarn_ask("GET", "/api/namespaces?page_size=2", NULL), 200));
    const json_t *list = json_object_get(tarn_answer(), "namespaces");
    cr_assert(eq(sz, json_array_size(list), 2));
    cr_expect(eq(str, (char *)json_string_value(json_object_get(json_array_get(list, 1), "namespace")), (char *)"a.x"));
    char target[256];
    snprintf(target, sizeof target, "/api/namespaces?page_size=2&page_token=%s", tarn_answer_str("next_page_token"));
    cr_assert(eq(uint, tarn_ask("GET", target, NULL), 200));
    list = json_object_get(tarn_answer(), "namespaces");
    cr_assert(eq(sz, json_array_size(list), 1));
    cr_expect(eq(str, (char *)json_string_value(json_object_get(json_array_get(list, 0), "namespace")), (char *)"b"));
    cr_expect(eq(int, json_is_null(json_object_get(tarn_answer(), "next_page_token")), 1));
}

/* --- what tables inherit --- */

Test(namespaces, the_nearest_setting_wins)
{
    make("a.b.t", "");
    expect_shown("a.b.t", "off", "off", "");
    add("a", ",\"verify\":\"footer\",\"schema_enforcement\":\"reject\",\"owner\":\"outer\"");
    expect_shown("a.b.t", "reject", "footer", "outer");
    patch("a.b", "{\"verify\":\"size\",\"owner\":\"inner\"}");
    expect_shown("a.b.t", "reject", "size", "inner");
    cr_assert(eq(uint, tarn_ask("PATCH", "/api/table/a.b.t", "{\"verify\":\"off\",\"owner\":\"mine\"}"), 200));
    cr_expect(eq(str, (char *)tarn_answer_str("schema_enforcement"), (char *)"reject"));
    expect_shown("a.b.t", "reject", "off", "mine");
    cr_assert(eq(uint, tarn_ask("PATCH", "/api/table/a.b.t", "{\"verify\":null,\"owner\":null}"), 200));
    expect_shown("a.b.t", "reject", "size", "inner");
    patch("a", "{\"schema_enforcement\":null}");
    expect_shown("a.b.t", "off", "size", "inner");
    make("a.b.u", ",\"verify\":\"off\"");
    cr_expect(eq(str, (char *)tarn_answer_str("verify"), (char *)"off"));
    make("a.b.v", "");
    cr_expect(eq(str, (char *)tarn_answer_str("verify"), (char *)"size"));
    make("other.t", "");
    expect_shown("other.t", "off", "off", "");

    cr_assert(eq(uint, tarn_ask("GET", "/api/tables?namespace=a.b", NULL), 200));
    const json_t *tables = json_object_get(tarn_answer(), "tables");
    static const char *const k_verify[] = { "size", "off", "size" };
    for (size_t i = 0; i < 3; i++)
        cr_expect(eq(str, (char *)json_string_value(json_object_get(json_array_get(tables, i), "verify")),
                     (char *)k_verify[i]));
}

Test(namespaces, a_commit_is_held_to_what_its_table_inherits)
{
    make("a.b.t", "");
    make("a.b.own", ",\"verify\":\"off\"");
    cr_assert(eq(uint, commit("a.b.t"), 201));
    add("a", ",\"verify\":\"size\"");
    cr_expect(eq(uint, commit("a.b.t"), 422), "%s", tarn_answer_text());
    cr_expect(eq(uint, commit("a.b.own"), 201));
    cr_expect(eq(uint, tarn_ask("POST", "/api/transactions", "{\"tables\":[{\"table\":\"a.b.t\",\"operations\":[{\"type\":"
                                "\"add_file\",\"path\":\"g\",\"size\":1}]}]}"), 422));
    patch("a.b", "{\"verify\":\"off\"}");
    cr_expect(eq(uint, commit("a.b.t"), 201));
    cr_assert(eq(uint, tarn_ask("PATCH", "/api/table/a.b.t", "{\"name\":\"c.t\"}"), 200));
    cr_expect(eq(uint, commit("c.t"), 201));
    cr_assert(eq(uint, tarn_ask("PATCH", "/api/table/c.t", "{\"name\":\"a.t\"}"), 200));
    cr_expect(eq(str, (char *)tarn_answer_str("verify"), (char *)"size"));
    cr_expect(eq(uint, commit("a.t"), 422));
}

static const json_t *finding(const char *table, const char *code)
{
    char target[128];
    size_t i;
    json_t *one;

    snprintf(target, sizeof target, "/api/table/%s/check?depth=sweep", table);
    cr_assert(eq(uint, tarn_ask("POST", target, NULL), 200), "%s", tarn_answer_text());
    json_array_foreach(json_object_get(tarn_answer(), "findings"), i, one)
        if (strcmp(json_string_value(json_object_get(one, "code")), code) == 0)
            return one;
    return NULL;
}

static void expect_severity(const char *table, const char *severity)
{
    const json_t *found = finding(table, "missing_data_file");
    const char *text = found ? json_string_value(json_object_get(found, "severity")) : "none";

    cr_expect(strcmp(text, severity) == 0, "%s: %s", table, tarn_answer_text());
}

Test(namespaces, monitors_are_inherited_member_by_member)
{
    struct tarn_monitor_defaults defaults = { .interval_ms = 60000, .sweep_interval_ms = 600000 };

    g_lake->app.monitors = &defaults;
    make("a.b.t", "");
    cr_assert(eq(uint, commit("a.b.t"), 201));
    expect_severity("a.b.t", "error");
    cr_expect(eq(str, (char *)tarn_answer_str("status"), (char *)"unhealthy"));
    add("a", ",\"monitors\":{\"missing_data_file\":{\"severity\":\"info\"},\"status_policy\":\"strict\"}");
    expect_severity("a.b.t", "info");
    patch("a.b", "{\"monitors\":{\"missing_data_file\":{\"severity\":\"warning\"}}}");
    expect_severity("a.b.t", "warning");
    cr_expect(eq(str, (char *)tarn_answer_str("status"), (char *)"degraded")); /* the outer one's policy */
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/a.b.t/status", NULL), 200));
    cr_expect(eq(str, (char *)tarn_answer_str("status"), (char *)"degraded"));
    cr_assert(eq(uint, tarn_ask("GET", "/api/status", NULL), 200));
    cr_expect(eq(str, (char *)json_string_value(json_object_get(json_array_get(tarn_answer(), 0), "status")),
                 (char *)"degraded"));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/a.b.t", NULL), 200));
    cr_expect(eq(sz, json_object_size(json_object_get(tarn_answer(), "monitors")), 0)); /* its own */
    cr_assert(eq(uint, tarn_ask("PATCH", "/api/table/a.b.t", "{\"monitors\":{\"status_policy\":\"default\"}}"), 200));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/a.b.t/status", NULL), 200));
    cr_expect(eq(str, (char *)tarn_answer_str("status"), (char *)"healthy"));
}

Test(namespaces, a_narrowed_token_sees_those_that_it_reaches_whole, .init = tarn_lake_setup_tokens)
{
    char token[128];

    add("sales", "");
    add("sales.eu", "");
    add("other", "");
    cr_assert(eq(uint, tarn_ask("POST", "/api/tokens",
                                "{\"name\":\"n\",\"scope\":\"catalog:write\",\"tables\":\"sales.*\"}"), 201));
    snprintf(token, sizeof token, "%s", tarn_answer_str("token"));
    cr_assert(eq(uint, tarn_ask("POST", "/api/tokens",
                                "{\"name\":\"m\",\"scope\":\"catalog:write\",\"tables\":\"sales.t*x\"}"), 201));
    char some[128];
    snprintf(some, sizeof some, "%s", tarn_answer_str("token"));
    tarn_ask_token(token);
    cr_assert(eq(uint, tarn_ask("GET", "/api/namespaces", NULL), 200));
    cr_expect(eq(sz, json_array_size(json_object_get(tarn_answer(), "namespaces")), 2));
    cr_expect(eq(uint, tarn_ask("PATCH", "/api/namespaces/sales.eu", "{\"owner\":\"me\"}"), 200));
    expect_problem(tarn_ask("GET", "/api/namespaces/other", NULL), 404, "namespace_not_found", "");
    expect_problem(tarn_ask("DELETE", "/api/namespaces/other", NULL), 404, "namespace_not_found", "");
    expect_problem(tarn_ask("POST", "/api/namespaces", "{\"namespace\":\"more\"}"), 403, "forbidden", "namespace");
    tarn_ask_token(some);
    expect_problem(tarn_ask("PATCH", "/api/namespaces/sales", "{\"verify\":\"off\"}"), 404, "namespace_not_found", "");
}
