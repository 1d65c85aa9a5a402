/* Tables over the API: registration, settings, drop and restore, lists. */
#include "tests/support/lake.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

TestSuite(tables, .init = tarn_lake_setup, .fini = tarn_lake_teardown, .timeout = 30);

Test(tables, a_registered_table_is_at_version_0_and_found_by_its_name)
{
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"sales.orders\",\"owner\":\"web\"}"), 201),
              "%s", tarn_answer_text());
    cr_expect(eq(str, (char *)tarn_answer_header("Location"), "/api/table/sales.orders"));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/sales.orders", NULL), 200), "%s", tarn_answer_text());
    cr_expect(eq(str, (char *)tarn_answer_str("name"), "sales.orders"));
    cr_expect(eq(str, (char *)tarn_answer_str("namespace"), "sales"));
    cr_expect(eq(i64, tarn_answer_i64("version"), 0));
    cr_expect(eq(str, (char *)tarn_answer_str("mode"), "managed"));
    cr_expect(eq(str, (char *)tarn_answer_header("ETag"), "\"0.1\""));
}

Test(tables, a_commit_makes_version_1)
{
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\"}"), 201), "%s", tarn_answer_text());
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/commits",
                                "{\"operations\":[{\"type\":\"add_file\",\"path\":\"a/1.parquet\",\"size\":10}]}"), 201),
              "%s", tarn_answer_text());
}
