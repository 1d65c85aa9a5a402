/* Status, check, findings and the overview over the API: who may ask, and what is refused. */
#include "tests/support/lake.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>

TestSuite(status_api, .init = tarn_lake_setup, .fini = tarn_lake_teardown, .timeout = 30);
TestSuite(status_doors, .init = tarn_lake_setup_tokens, .fini = tarn_lake_teardown, .timeout = 30);

static void make_tables(void)
{
    static const char *const k_names[] = { "sales.orders", "hr.people" };
    for (size_t i = 0; i < 2; i++)
        cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"%s\"}", k_names[i]), 201), "%s", tarn_answer_text());
}

static void make_token(const char *scope, const char *tables, char out[80])
{
    cr_assert(eq(uint, tarn_ask("POST", "/api/tokens", "{\"name\":\"t-%s-%s\",\"scope\":\"%s\"%s%s%s}", scope, tables ? "n" : "w", scope,
                                tables ? ",\"tables\":\"" : "", tables ? tables : "", tables ? "\"" : ""), 201),
              "%s", tarn_answer_text());
    snprintf(out, 80, "%s", tarn_answer_str("token"));
}

Test(status_api, what_is_not_known_is_refused_by_name)
{
    static const struct { const char *method, *target; unsigned status; const char *code, *field; } k_rows[] = {
        { "GET", "/api/table/nobody/status", 404, "table_not_found", NULL },
        { "GET", "/api/table/nobody/findings", 404, "table_not_found", NULL },
        { "POST", "/api/table/nobody/check", 404, "table_not_found", NULL },
        { "POST", "/api/table/sales.orders/check?depth=deep", 400, "invalid_request", "depth" },
        { "GET", "/api/table/sales.orders/findings?state=acked", 400, "invalid_request", "state" },
        { "GET", "/api/table/sales.orders/findings?page_token=x", 400, "invalid_request", "page_token" },
        { "GET", "/api/table/sales.orders/status?fresh=1", 400, "invalid_request", "fresh" },
        { "GET", "/api/status?status=sick", 400, "invalid_request", "status" },
        { "GET", "/api/status?severity=info", 400, "invalid_request", "severity" },
        { "GET", "/api/status?format=csv", 400, "invalid_request", "format" },
        { "GET", "/api/status?page_size=0", 400, "invalid_request", "page_size" },
        { "GET", "/api/status?page_token=abc", 400, "invalid_request", "page_token" },
    };
    make_tables();
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        cr_expect(eq(uint, tarn_ask(k_rows[i].method, k_rows[i].target, NULL), k_rows[i].status), "%s", k_rows[i].target);
        cr_expect(eq(str, (char *)(uintptr_t)tarn_answer_str("code"), (char *)(uintptr_t)k_rows[i].code), "%s", k_rows[i].target);
        if (k_rows[i].field)
            cr_expect(eq(str, (char *)(uintptr_t)tarn_answer_str("field"), (char *)(uintptr_t)k_rows[i].field), "%s", k_rows[i].target);
    }
}

Test(status_api, the_overview_is_an_empty_array_where_nothing_fits)
{
    make_tables();
    cr_assert(eq(uint, tarn_ask("GET", "/api/status?namespace=nowhere", NULL), 200));
    cr_expect(eq(sz, json_array_size(tarn_answer()), 0));
    cr_expect(eq(int, json_is_array(tarn_answer()), 1));
    cr_assert(eq(uint, tarn_ask("GET", "/api/status?namespace=sales", NULL), 200));
    cr_expect(eq(sz, json_array_size(tarn_answer()), 1));
    cr_assert(eq(uint, tarn_ask("GET", "/api/status?status=healthy", NULL), 200));
    cr_expect(eq(sz, json_array_size(tarn_answer()), 0), "never scanned is unknown");
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/sales.orders/check", NULL), 200));
    cr_assert(eq(uint, tarn_ask("GET", "/api/status?status=healthy,degraded", NULL), 200));
    cr_expect(eq(sz, json_array_size(tarn_answer()), 1));
}

Test(status_doors, a_scope_of_status_reads_status_and_checks_nothing)
{
    static const struct { const char *method, *target; unsigned status; } k_rows[] = {
        { "GET", "/api/table/sales.orders/status", 200 },
        { "GET", "/api/table/sales.orders/findings", 200 },
        { "GET", "/api/status", 200 },
        { "POST", "/api/table/sales.orders/check", 403 },
    };
    char token[80];

    make_tables();
    make_token("status:read", NULL, token);
    tarn_ask_token(token);
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++)
        cr_expect(eq(uint, tarn_ask(k_rows[i].method, k_rows[i].target, NULL), k_rows[i].status), "%s", k_rows[i].target);
}

Test(status_doors, a_narrowed_token_sees_its_tables_alone)
{
    char token[80];

    make_tables();
    make_token("catalog:read", "sales.*", token);
    tarn_ask_token(token);
    cr_expect(eq(uint, tarn_ask("GET", "/api/table/sales.orders/status", NULL), 200));
    cr_expect(eq(uint, tarn_ask("GET", "/api/table/hr.people/status", NULL), 404));
    cr_expect(eq(uint, tarn_ask("POST", "/api/table/hr.people/check", NULL), 404));
    cr_assert(eq(uint, tarn_ask("GET", "/api/status", NULL), 200));
    cr_assert(eq(sz, json_array_size(tarn_answer()), 1));
    cr_expect(eq(str, (char *)(uintptr_t)json_string_value(json_object_get(json_array_get(tarn_answer(), 0), "table")), "sales.orders"));
    cr_assert(eq(uint, tarn_ask("GET", "/api/status?page_size=1", NULL), 200));
    cr_expect(eq(sz, json_array_size(tarn_answer()), 1));
    cr_expect(tarn_answer_header("Link") == NULL, "what it may not see is no next page");
}
