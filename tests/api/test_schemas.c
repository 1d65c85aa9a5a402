/* Schema versions over the API. */
#include "tests/support/lake.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#define STRUCT(fields) "{\"type\":\"struct\",\"fields\":[" fields "]}"
#define COLUMN(name, type, nullable) "{\"name\":\"" name "\",\"type\":\"" type "\",\"nullable\":" nullable "}"
#define ONE STRUCT(COLUMN("a", "int32", "false"))
#define URL "/api/table/t/schemas"

static void setup(void)
{
    tarn_lake_setup();
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\",\"schema\":" ONE "}"), 201), "%s",
              tarn_answer_text());
}
TestSuite(schemas, .init = setup, .fini = tarn_lake_teardown, .timeout = 30);

Test(schemas, what_may_follow_follows)
{
    static const char *const k_rows[] = {
        STRUCT(COLUMN("a", "int64", "false")), /* widened */
        STRUCT(COLUMN("a", "int64", "false") "," COLUMN("b", "string", "true")),
        STRUCT(COLUMN("b", "string", "true") "," COLUMN("a", "int64", "true")),
    };

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        cr_assert(tarn_ask("POST", URL, "{\"expected_version\":%zu,\"schema\":%s}", i + 1, k_rows[i]) == 201, "%s: %s",
                  k_rows[i], tarn_answer_text());
        cr_expect(eq(i64, tarn_answer_i64("version"), (int64_t)i + 2));
    }
    cr_assert(eq(uint, tarn_ask("GET", URL, NULL), 200));
    cr_expect(eq(i64, tarn_answer_i64("current_version"), 4));
    cr_expect(eq(sz, json_array_size(json_object_get(tarn_answer(), "versions")), 4));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t", NULL), 200));
    cr_expect(eq(i64, tarn_answer_i64("schema_version"), 4));
    cr_expect(eq(i64, tarn_answer_i64("version"), 0));
}

Test(schemas, refusals_have_their_code_and_field)
{
    static const struct { const char *body, *code, *field; unsigned status; } k_rows[] = {
        { "{\"schema\":" ONE "}", "invalid_request", "expected_version", 400 },
        { "{\"expected_version\":1}", "invalid_request", "schema", 400 },
        { "{\"expected_version\":1,\"schema\":{}}", "invalid_request", "schema.fields", 400 },
        { "{\"expected_version\":1,\"schema\":" STRUCT(COLUMN("a", "nonsense", "true")) "}", "invalid_request",
          "schema.fields[0].type", 400 },
        { "{\"expected_version\":1,\"schema\":" ONE ",\"compatibility\":\"full\"}", "invalid_request", "compatibility", 400 },
        { "{\"expected_version\":1,\"schema\":" STRUCT(COLUMN("z", "int32", "false")) ",\"renames\":{\"a\":\"y\"}}",
          "invalid_request", "renames.a", 400 },
        { "{\"expected_version\":1,\"schema\":" STRUCT(COLUMN("z", "int32", "false")) ",\"renames\":{\"q\":\"z\"}}",
          "invalid_request", "renames.q", 400 },
        { "{\"expected_version\":0,\"schema\":" STRUCT(COLUMN("b", "int32", "true")) "}", "schema_conflict",
          "expected_version", 409 },
        { "{\"expected_version\":1,\"schema\":" STRUCT(COLUMN("a", "string", "false")) "}", "incompatible_schema", "", 422 },
        { "{\"expected_version\":1,\"schema\":" STRUCT(COLUMN("b", "int32", "true")) "}", "incompatible_schema", "", 422 },
        { "{\"expected_version\":1,\"schema\":" ONE ",\"x\":1}", "invalid_request", "x", 400 },
    };

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        unsigned status = tarn_ask("POST", URL, "%s", k_rows[i].body);
        bool field_fits = !k_rows[i].field[0] || strcmp(tarn_answer_str("field"), k_rows[i].field) == 0;
        cr_expect(status == k_rows[i].status && strcmp(tarn_answer_str("code"), k_rows[i].code) == 0 && field_fits,
                  "%s: %s", k_rows[i].body, tarn_answer_text());
    }
}

Test(schemas, a_rename_and_an_open_break_are_possible)
{
    cr_assert(eq(uint, tarn_ask("POST", URL, "{\"expected_version\":1,\"schema\":" STRUCT(COLUMN("z", "int32", "false"))
                                ",\"renames\":{\"a\":\"z\"}}"), 201), "%s", tarn_answer_text());
    cr_assert(eq(uint, tarn_ask("POST", URL, "{\"expected_version\":2,\"compatibility\":\"none\",\"schema\":"
                                STRUCT(COLUMN("z", "string", "false")) "}"), 201), "%s", tarn_answer_text());
}

Test(schemas, the_same_request_again_adds_nothing)
{
    for (int i = 0; i < 2; i++) {
        cr_expect(eq(uint, tarn_ask("POST", URL, "{\"expected_version\":1,\"schema\":"
                                    STRUCT(COLUMN("a", "int64", "false")) "}"), i == 0 ? 201 : 200));
        cr_expect(eq(i64, tarn_answer_i64("version"), 2));
    }
}

Test(schemas, one_version_is_found_by_its_number)
{
    cr_assert(eq(uint, tarn_ask("GET", URL "/1", NULL), 200));
    cr_expect(eq(int, json_is_object(json_object_get(tarn_answer(), "schema")), true));
    cr_expect(eq(uint, tarn_ask("GET", URL "/2", NULL), 404));
    cr_expect(eq(str, (char *)tarn_answer_str("code"), "schema_version_not_found"));
    cr_expect(eq(uint, tarn_ask("GET", URL "/x", NULL), 400));
}

Test(schemas, adds_name_the_current_version_unless_told_another)
{
    cr_assert(eq(uint, tarn_ask("POST", URL, "{\"expected_version\":1,\"schema\":"
                                STRUCT(COLUMN("a", "int64", "false")) "}"), 201));
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/commits",
                                "{\"operations\":[{\"type\":\"add_file\",\"path\":\"a\",\"size\":1},"
                                "{\"type\":\"add_file\",\"path\":\"b\",\"size\":1,\"schemaVersion\":1}]}"), 201), "%s",
              tarn_answer_text());
    cr_expect(eq(i64, tarn_answer_i64("schema_version"), 2));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/files", NULL), 200));
    const json_t *files = json_object_get(tarn_answer(), "files");
    cr_expect(eq(i64, json_integer_value(json_object_get(json_array_get(files, 0), "schemaVersion")), 2));
    cr_expect(eq(i64, json_integer_value(json_object_get(json_array_get(files, 1), "schemaVersion")), 1));
}
