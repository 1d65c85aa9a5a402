/* A token that is narrowed to some tables sees and touches those alone. */
#include "tests/support/lake.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

static char s_narrow[128];

static void setup(void)
{
    tarn_lake_setup_tokens();
    static const char *const k_names[] = { "sales.a", "sales.b", "hr.c" };
    for (size_t i = 0; i < 3; i++)
        cr_assert(tarn_ask("POST", "/api/tables", "{\"name\":\"%s\"}", k_names[i]) == 201, "%s", tarn_answer_text());
    cr_assert(tarn_ask("POST", "/api/tokens",
                       "{\"name\":\"n\",\"scope\":\"catalog:write\",\"tables\":\"sales.*\",\"roots\":\"%s/sales*\"}",
                       g_lake->root) == 201, "%s", tarn_answer_text());
    snprintf(s_narrow, sizeof s_narrow, "%s", tarn_answer_str("token"));
    tarn_ask_token(s_narrow);
}
TestSuite(narrowed, .init = setup, .fini = tarn_lake_teardown, .timeout = 30);

Test(narrowed, others_are_not_found)
{
    static const struct { const char *method, *url, *body; } k_rows[] = {
        { "GET", "/api/table/hr.c", NULL },          { "PATCH", "/api/table/hr.c", "{}" },
        { "DELETE", "/api/table/hr.c", NULL },       { "POST", "/api/table/hr.c/restore", NULL },
        { "GET", "/api/table/hr.c/commits", NULL },  { "GET", "/api/table/hr.c/commits/txn-1", NULL },
        { "GET", "/api/table/hr.c/files", NULL },    { "GET", "/api/table/hr.c/manifest", NULL },
        { "GET", "/api/table/hr.c/schemas", NULL },  { "GET", "/api/table/hr.c/schemas/1", NULL },
        { "POST", "/api/table/hr.c/commits", "{\"operations\":[{\"type\":\"add_file\",\"path\":\"a\",\"size\":1}]}" },
    };

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        unsigned status = k_rows[i].body ? tarn_ask(k_rows[i].method, k_rows[i].url, "%s", k_rows[i].body)
                                         : tarn_ask(k_rows[i].method, k_rows[i].url, NULL);
        cr_expect(status == 404 && strcmp(tarn_answer_str("code"), "table_not_found") == 0, "%s %s: %u %s",
                  k_rows[i].method, k_rows[i].url, status, tarn_answer_text());
    }
}

Test(narrowed, lists_leave_them_out)
{
    cr_assert(eq(uint, tarn_ask("GET", "/api/tables", NULL), 200));
    cr_expect(eq(sz, json_array_size(json_object_get(tarn_answer(), "tables")), 2));
    cr_assert(eq(uint, tarn_ask("GET", "/api/tables?page_size=1", NULL), 200));
    cr_expect(eq(sz, json_array_size(json_object_get(tarn_answer(), "tables")), 1));
}

Test(narrowed, it_registers_and_renames_within_its_rights_alone)
{
    cr_expect(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"hr.d\"}"), 403), "%s", tarn_answer_text());
    cr_expect(eq(str, (char *)tarn_answer_str("code"), "forbidden"));
    cr_expect(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"sales.d\",\"location\":\"%s/hr/d\"}", g_lake->root),
                 403));
    cr_expect(eq(str, (char *)tarn_answer_str("code"), "location_not_allowed"));
    cr_expect(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"sales.d\"}"), 201), "%s", tarn_answer_text());
    cr_expect(eq(uint, tarn_ask("PATCH", "/api/table/sales.d", "{\"name\":\"hr.d\"}"), 403), "%s", tarn_answer_text());
}

Test(narrowed, whose_a_taken_folder_is_it_learns_only_of_tables_that_it_sees)
{
    static const struct { const char *name, *owner; } k_rows[] = { { "hr.x", NULL }, { "sales.x", "sales.x" } };

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        tarn_ask_token(g_lake->admin);
        cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"%s\",\"location\":\"%s/sales%zu\"}",
                                    k_rows[i].name, g_lake->root, i), 201), "%s", tarn_answer_text());
        tarn_ask_token(s_narrow);
        cr_expect(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"sales.y\",\"location\":\"%s/sales%zu/in\"}",
                                    g_lake->root, i), 409));
        cr_expect(eq(str, (char *)tarn_answer_str("code"), "location_taken"));
        cr_expect(eq(str, (char *)tarn_answer_str("field"), "location"));
        const char *told = json_string_value(json_object_get(tarn_answer(), "table"));
        cr_expect(k_rows[i].owner ? told && strcmp(told, k_rows[i].owner) == 0 : !told, "%s", tarn_answer_text());
        cr_expect(k_rows[i].owner || !strstr(tarn_answer_text(), "hr."), "%s", tarn_answer_text());
    }
}
