/* Tables over the API: registration, settings, drop and restore, lists. */
#include "tests/support/lake.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

TestSuite(tables, .init = tarn_lake_setup, .fini = tarn_lake_teardown, .timeout = 60);

static void expect_problem(unsigned status, unsigned want, const char *code, const char *field, const char *of)
{
    cr_expect(status == want && strcmp(tarn_answer_str("code"), code) == 0 &&
                  strcmp(tarn_answer_str("field"), field) == 0,
              "%.300s\n  gives %u %s, want %u %s %s", of, status, tarn_answer_text(), want, code, field);
}

/* The entity tag of the table that was answered last, were it at `state` ("<version>.<revision>"). */
static char *tag_of(const char *state)
{
    static char tag[64];
    snprintf(tag, sizeof tag, "\"%s.%.8s\"", state, tarn_answer_str("uuid"));
    return tag;
}

static bool is_null(const char *key) { return json_is_null(json_object_get(tarn_answer(), key)) != 0; }

static void make(const char *name)
{
    cr_assert(tarn_ask("POST", "/api/tables", "{\"name\":\"%s\"}", name) == 201, "%s: %s", name, tarn_answer_text());
}

/* --- registration --- */

Test(tables, a_registered_table_is_at_version_0_and_found_by_its_name)
{
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"sales.orders\",\"owner\":\"web\"}"), 201), "%s",
              tarn_answer_text());
    cr_expect(eq(str, (char *)tarn_answer_header("Location"), "/api/table/sales.orders"));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/sales.orders", NULL), 200), "%s", tarn_answer_text());
    cr_expect(eq(str, (char *)tarn_answer_str("name"), "sales.orders"));
    cr_expect(eq(str, (char *)tarn_answer_str("namespace"), "sales"));
    cr_expect(eq(str, (char *)tarn_answer_str("owner"), "web"));
    cr_expect(eq(i64, tarn_answer_i64("version"), 0));
    cr_expect(eq(i64, tarn_answer_i64("schema_version"), 0));
    cr_expect(eq(int, is_null("latest_transaction"), true));
    cr_expect(eq(str, (char *)tarn_answer_str("mode"), "managed"));
    cr_expect(eq(str, (char *)tarn_answer_str("format"), "manifest"));
    cr_expect(eq(str, (char *)tarn_answer_header("ETag"), tag_of("0.1")));
}

Test(tables, a_name_may_hold_dots_and_quotes)
{
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"namespace\":[\"sales\"],\"name\":\"a.b\\\"c\"}"), 201));
    cr_expect(eq(str, (char *)tarn_answer_header("Location"), "/api/table/sales.%22a.b%22%22c%22"));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/sales.%22a.b%22%22c%22", NULL), 200), "%s", tarn_answer_text());
    cr_expect(eq(str, (char *)tarn_answer_str("name"), "sales.\"a.b\"\"c\""));
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"namespace\":\"sales.eu\",\"name\":\"t\"}"), 201));
    cr_expect(eq(str, (char *)tarn_answer_str("name"), "sales.eu.t"));
}

Test(tables, what_is_wrong_with_a_registration_is_named)
{
    static const struct { const char *body, *field; } k_rows[] = {
        { "{}", "name" },
        { "{\"name\":\"\"}", "name" },
        { "{\"name\":\"a..b\"}", "name" },
        { "{\"name\":\"t\",\"namespace\":1}", "namespace" },
        { "{\"name\":\"t\",\"namespace\":[1]}", "namespace[0]" },
        { "{\"name\":\"t\",\"location\":\"relative\"}", "location" },
        { "{\"name\":\"t\",\"format\":\"csv\"}", "format" },
        { "{\"name\":\"t\",\"mode\":\"owned\"}", "mode" },
        { "{\"name\":\"t\",\"format\":\"delta\",\"mode\":\"managed\"}", "mode" },
        { "{\"name\":\"t\",\"schema\":{\"type\":\"list\"}}", "schema.type" },
        { "{\"name\":\"t\",\"partition_keys\":[\"a\",\"a\"]}", "partition_keys[1]" },
        { "{\"name\":\"t\",\"partition_keys\":[1]}", "partition_keys[0]" },
        { "{\"name\":\"t\",\"properties\":{\"a\":[]}}", "properties.a" },
        { "{\"name\":\"t\",\"schema_enforcement\":\"maybe\"}", "schema_enforcement" },
        { "{\"name\":\"t\",\"verify\":\"all\"}", "verify" },
        { "{\"name\":\"t\",\"colour\":\"red\"}", "colour" },
        { "{\"name\":\"t\",\"monitors\":{\"no_such_code\":{}}}", "monitors.no_such_code" },
    };

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++)
        expect_problem(tarn_ask("POST", "/api/tables", "%s", k_rows[i].body), 400, "invalid_request", k_rows[i].field,
                       k_rows[i].body);
    cr_expect(eq(uint, tarn_ask("GET", "/api/table/t", NULL), 404));
}

Test(tables, a_taken_name_and_a_place_outside_the_roots_are_refused)
{
    make("t");
    expect_problem(tarn_ask("POST", "/api/tables", "{\"name\":\"t\"}"), 409, "table_exists", "name", "twice");
    expect_problem(tarn_ask("POST", "/api/tables", "{\"name\":\"u\",\"location\":\"/etc\"}"), 403,
                   "location_not_allowed", "location", "/etc");
    expect_problem(tarn_ask("POST", "/api/tables", "{\"name\":\"u\",\"location\":\"%s/../x\"}", g_lake->root), 403,
                   "location_not_allowed", "location", "..");
}

Test(tables, no_two_tables_lie_at_in_or_around_one_place)
{
    static const struct { const char *place; unsigned status; } k_rows[] = {
        { "a/b", 409 }, { "a", 409 }, { "a/b/c", 409 }, { "a/b/", 409 }, { "a/bc", 201 }, { "a/c", 201 },
    };

    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\",\"location\":\"%s/a/b\"}", g_lake->root), 201));
    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++)
        cr_expect(tarn_ask("POST", "/api/tables", "{\"name\":\"t%zu\",\"location\":\"%s/%s\"}", i, g_lake->root,
                           k_rows[i].place) == k_rows[i].status, "%s: %s", k_rows[i].place, tarn_answer_text());
    /* Observing what Tarn manages makes no sense either; two may observe one place. */
    expect_problem(tarn_ask("POST", "/api/tables", "{\"name\":\"o\",\"mode\":\"observed\",\"location\":\"%s/a/b\"}",
                            g_lake->root), 409, "location_taken", "location", "observed");
    tarn_make_folder(tarn_path(g_lake->root, "z"));
    for (int i = 0; i < 2; i++)
        cr_expect(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"z%d\",\"mode\":\"observed\",\"location\":\"%s/z\"}",
                                    i, g_lake->root), 201), "%s", tarn_answer_text());
    expect_problem(tarn_ask("POST", "/api/tables", "{\"name\":\"m\",\"location\":\"%s/z\"}", g_lake->root), 409,
                   "location_taken", "location", "managed over observed");
}

Test(tables, the_default_place_is_made_unique)
{
    make("sales.orders");
    char first[600], second[620];
    snprintf(first, sizeof first, "%s/sales/orders", g_lake->root);
    cr_expect(eq(str, (char *)tarn_answer_str("location"), first));
    cr_assert(eq(uint, tarn_ask("DELETE", "/api/table/sales.orders", NULL), 204));
    make("sales.orders");
    snprintf(second, sizeof second, "%s-2", first);
    cr_expect(eq(str, (char *)tarn_answer_str("location"), second));
}

Test(tables, the_default_place_of_a_table_below_a_table_s_name_is_beside_it)
{
    static const struct { const char *name, *place; } k_rows[] = {
        { "a.b", "a/b" },       { "a.b.c", "a/b-2/c" },     { "a.b.d", "a/b-2/d" }, { "a.b.c.e", "a/b-3/c/e" },
        { "p.q.r", "p/q/r" },   { "p.q", "p/q-2" },
    };
    char place[700];

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        make(k_rows[i].name);
        snprintf(place, sizeof place, "%s/%s", g_lake->root, k_rows[i].place);
        cr_expect(eq(str, (char *)tarn_answer_str("location"), place), "%s", k_rows[i].name);
    }
}

Test(tables, a_table_with_a_schema_starts_at_schema_version_1)
{
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables",
                                "{\"name\":\"t\",\"schema\":{\"type\":\"struct\",\"fields\":[{\"name\":\"a\","
                                "\"type\":\"int64\",\"nullable\":true}]}}"), 201), "%s", tarn_answer_text());
    cr_expect(eq(i64, tarn_answer_i64("schema_version"), 1));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/schemas/1", NULL), 200));
    cr_expect(eq(i64, tarn_answer_i64("version"), 1));
}

Test(tables, data_without_a_manifest_is_not_taken_unasked)
{
    tarn_write_text(tarn_path(g_lake->root, "d/x=1/a.parquet"), "PAR1");
    expect_problem(tarn_ask("POST", "/api/tables", "{\"name\":\"d\",\"location\":\"%s/d\"}", g_lake->root), 409,
                   "location_not_empty", "location", "data");
    cr_expect(eq(str, (char *)tarn_answer_str("path"), "x=1/a.parquet"));
    tarn_write_text(tarn_path(g_lake->root, "l/_transactions/txn-1.json"), "{}");
    expect_problem(tarn_ask("POST", "/api/tables", "{\"name\":\"l\",\"location\":\"%s/l\",\"import\":true}", g_lake->root),
                   409, "location_not_empty", "location", "a log alone");
    tarn_write_text(tarn_path(g_lake->root, "delta/_delta_log/00000000000000000000.json"), "{}");
    expect_problem(tarn_ask("POST", "/api/tables", "{\"name\":\"x\",\"location\":\"%s/delta\",\"import\":true}",
                            g_lake->root), 409, "location_not_empty", "location", "delta");
    tarn_write_text(tarn_path(g_lake->root, "ice/metadata/v1.metadata.json"), "{}");
    expect_problem(tarn_ask("POST", "/api/tables", "{\"name\":\"x\",\"location\":\"%s/ice\"}", g_lake->root), 409,
                   "location_not_empty", "location", "iceberg");
    cr_expect(ne(ptr, (void *)strstr(tarn_answer_str("detail"), "register_table"), NULL));
}

Test(tables, auto_finds_the_format)
{
    static const struct { const char *file, *format, *mode; } k_rows[] = {
        { "_delta_log/00000000000000000000.json", "delta", "observed" },
        { "metadata/v1.metadata.json", "iceberg", "observed" },
        { ".hoodie/hoodie.properties", "hudi", "observed" },
        { "x=1/a.parquet", "parquet", "observed" },
        { "readme.txt", "manifest", "managed" },
    };

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        char place[128];
        snprintf(place, sizeof place, "f%zu/%s", i, k_rows[i].file);
        tarn_write_text(tarn_path(g_lake->root, place), "{}");
        cr_assert(tarn_ask("POST", "/api/tables", "{\"name\":\"f%zu\",\"format\":\"auto\",\"location\":\"%s/f%zu\"}", i,
                           g_lake->root, i) == 201, "%s", tarn_answer_text());
        cr_expect(eq(str, (char *)tarn_answer_str("format"), (char *)k_rows[i].format));
        cr_expect(eq(str, (char *)tarn_answer_str("mode"), (char *)k_rows[i].mode));
    }
}

Test(tables, a_dry_run_changes_nothing)
{
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\",\"dry_run\":true}"), 200), "%s",
              tarn_answer_text());
    cr_expect(eq(uint, tarn_ask("GET", "/api/table/t", NULL), 404));
    cr_expect(eq(sz, tarn_count_entries(g_lake->root), 0));
}

/* --- settings --- */

Test(tables, settings_are_merged)
{
    make("t");
    cr_assert(eq(uint, tarn_ask("PATCH", "/api/table/t", "{\"properties\":{\"team\":\"web\",\"tier\":1},\"owner\":\"a\"}"),
                 200), "%s", tarn_answer_text());
    cr_assert(eq(uint, tarn_ask("PATCH", "/api/table/t", "{\"properties\":{\"tier\":null,\"x\":true},\"owner\":null}"), 200));
    const json_t *p = json_object_get(tarn_answer(), "properties");
    cr_expect(eq(sz, json_object_size(p), 2));
    cr_expect(eq(str, (char *)json_string_value(json_object_get(p, "team")), "web"));
    cr_expect(eq(int, is_null("owner"), true));
    cr_assert(eq(uint, tarn_ask("PATCH", "/api/table/t",
                                "{\"monitors\":{\"manifest_age\":{\"warning\":\"5m\"}},\"verify\":\"size\","
                                "\"schema_enforcement\":\"warn\",\"publish\":false,\"protected\":true}"), 200), "%s",
              tarn_answer_text());
    cr_expect(eq(str, (char *)tarn_answer_str("verify"), "size"));
    cr_expect(eq(str, (char *)tarn_answer_str("schema_enforcement"), "warn"));
}

Test(tables, what_is_wrong_with_a_patch_is_named)
{
    static const struct { const char *body, *field; } k_rows[] = {
        { "{\"owner\":1}", "owner" },
        { "{\"owner\":\"\"}", "owner" },
        { "{\"properties\":1}", "properties" },
        { "{\"properties\":{\"a\":{}}}", "properties.a" },
        { "{\"monitors\":{\"nonsense\":{}}}", "monitors.nonsense" },
        { "{\"protected\":1}", "protected" },
        { "{\"publish\":null}", "publish" },
        { "{\"verify\":\"x\"}", "verify" },
        { "{\"mode\":\"x\"}", "mode" },
        { "{\"schema_enforcement\":\"x\"}", "schema_enforcement" },
        { "{\"name\":\"a..b\"}", "name" },
        { "{\"version\":3}", "version" },
    };

    make("t");
    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++)
        expect_problem(tarn_ask("PATCH", "/api/table/t", "%s", k_rows[i].body), 400, "invalid_request", k_rows[i].field,
                       k_rows[i].body);
}

Test(tables, a_patch_and_a_drop_honour_if_match)
{
    char first[64], second[64];

    make("t");
    snprintf(first, sizeof first, "%s", tag_of("0.1"));
    snprintf(second, sizeof second, "%s", tag_of("0.2"));
    tarn_ask_header("If-Match", first);
    cr_assert(eq(uint, tarn_ask("PATCH", "/api/table/t", "{\"owner\":\"a\"}"), 200));
    cr_expect(eq(str, (char *)tarn_answer_header("ETag"), second));
    tarn_ask_header("If-Match", first);
    expect_problem(tarn_ask("PATCH", "/api/table/t", "{\"owner\":\"b\"}"), 412, "precondition_failed", "If-Match", "stale");
    tarn_ask_header("If-Match", first);
    cr_expect(eq(uint, tarn_ask("DELETE", "/api/table/t", NULL), 412));
    tarn_ask_header("If-None-Match", second);
    cr_expect(eq(uint, tarn_ask("GET", "/api/table/t", NULL), 304));
    cr_expect(eq(str, (char *)tarn_answer_text(), ""));
    tarn_ask_header("If-None-Match", first);
    cr_expect(eq(uint, tarn_ask("GET", "/api/table/t", NULL), 200));
}

Test(tables, a_tag_does_not_fit_a_later_table_of_the_same_name)
{
    char tag[64];

    make("t");
    snprintf(tag, sizeof tag, "%s", tarn_answer_header("ETag"));
    cr_assert(eq(uint, tarn_ask("DELETE", "/api/table/t", NULL), 204));
    make("t");
    tarn_ask_header("If-None-Match", tag);
    cr_expect(eq(uint, tarn_ask("GET", "/api/table/t", NULL), 200));
    tarn_ask_header("If-Match", tag);
    cr_expect(eq(uint, tarn_ask("DELETE", "/api/table/t", NULL), 412));
}

Test(tables, a_rename_moves_the_name_alone)
{
    make("a.t");
    make("taken");
    expect_problem(tarn_ask("PATCH", "/api/table/a.t", "{\"name\":\"taken\"}"), 409, "table_exists", "name", "taken");
    cr_assert(eq(uint, tarn_ask("PATCH", "/api/table/a.t", "{\"name\":\"b.c.u\"}"), 200), "%s", tarn_answer_text());
    cr_expect(eq(uint, tarn_ask("GET", "/api/table/a.t", NULL), 404));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/b.c.u", NULL), 200));
}

/* --- drop and restore --- */

Test(tables, a_dropped_table_comes_back)
{
    make("t");
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/commits",
                                "{\"operations\":[{\"type\":\"add_file\",\"path\":\"a\",\"size\":1}]}"), 201));
    cr_assert(eq(uint, tarn_ask("DELETE", "/api/table/t", NULL), 204));
    cr_expect(eq(uint, tarn_ask("GET", "/api/table/t", NULL), 404));
    cr_expect(eq(uint, tarn_ask("DELETE", "/api/table/t", NULL), 404));
    cr_assert(eq(uint, tarn_ask("GET", "/api/tables?state=dropped", NULL), 200));
    cr_expect(eq(sz, json_array_size(json_object_get(tarn_answer(), "tables")), 1));
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/restore", NULL), 200), "%s", tarn_answer_text());
    cr_expect(eq(i64, tarn_answer_i64("version"), 1));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/files", NULL), 200));
}

Test(tables, restore_takes_the_newest_or_the_named_one)
{
    char uuid[64];

    make("t");
    snprintf(uuid, sizeof uuid, "%s", tarn_answer_str("uuid"));
    cr_assert(eq(uint, tarn_ask("DELETE", "/api/table/t", NULL), 204));
    make("t");
    expect_problem(tarn_ask("POST", "/api/table/t/restore", NULL), 409, "table_exists", "", "the name is taken");
    cr_assert(eq(uint, tarn_ask("DELETE", "/api/table/t", NULL), 204));
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/restore", "{\"uuid\":\"%s\"}", uuid), 200), "%s",
              tarn_answer_text());
    cr_expect(eq(str, (char *)tarn_answer_str("uuid"), uuid));
    expect_problem(tarn_ask("POST", "/api/table/u/restore", NULL), 404, "table_not_found", "", "never there");
}

Test(tables, a_protected_table_is_not_dropped)
{
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\",\"protected\":true}"), 201));
    expect_problem(tarn_ask("DELETE", "/api/table/t", NULL), 409, "table_protected", "", "protected");
    cr_assert(eq(uint, tarn_ask("PATCH", "/api/table/t", "{\"protected\":false}"), 200));
    cr_expect(eq(uint, tarn_ask("DELETE", "/api/table/t", NULL), 204));
}

/* --- lists --- */

static size_t listed(const char *url)
{
    cr_assert(tarn_ask("GET", url, NULL) == 200, "%s: %s", url, tarn_answer_text());
    return json_array_size(json_object_get(tarn_answer(), "tables"));
}

Test(tables, lists_are_filtered_and_paged)
{
    static const struct { const char *url; size_t count; } k_rows[] = {
        { "/api/tables", 6 }, { "/api/tables?namespace=a", 3 }, { "/api/tables?namespace=none", 0 },
        { "/api/tables?prefix=t1", 2 }, { "/api/tables?mode=observed", 0 }, { "/api/tables?format=manifest", 6 },
        { "/api/tables?state=dropped", 0 },
    };

    for (int i = 0; i < 6; i++)
        cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"%s.t%d\"}", i % 2 ? "a" : "b", i / 2), 201));
    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++)
        cr_expect(listed(k_rows[i].url) == k_rows[i].count, "%s: %s", k_rows[i].url, tarn_answer_text());
    char url[512] = "/api/tables?page_size=4";
    cr_expect(eq(sz, listed(url), 4));
    snprintf(url, sizeof url, "/api/tables?page_size=4&page_token=%s", tarn_answer_str("next_page_token"));
    cr_expect(eq(sz, listed(url), 2));
    cr_expect(eq(int, is_null("next_page_token"), true));
    cr_expect(eq(uint, tarn_ask("GET", "/api/tables?page_size=0", NULL), 400));
    cr_expect(eq(uint, tarn_ask("GET", "/api/tables?page_token=zzz", NULL), 400));
    cr_expect(eq(uint, tarn_ask("GET", "/api/tables?colour=red", NULL), 400));
    cr_expect(eq(uint, tarn_ask("GET", "/api/tables?format=csv", NULL), 400));
    cr_expect(eq(str, (char *)tarn_answer_str("detail"), "must be manifest, iceberg, delta, hudi or parquet"));
}

Test(tables, a_thousand_tables_come_in_one_stream)
{
    for (int i = 0; i < 1200; i++)
        cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t%d\",\"publish\":false}", i), 201));
    cr_expect(eq(sz, listed("/api/tables"), 1200));
}
