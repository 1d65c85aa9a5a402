/* Schema versions over the API. */
#include "tests/support/lake.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
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

#define SEED_1 COLUMN("user_id", "int64", "false") "," COLUMN("event_type", "string", "false")
#define SEED_2 STRUCT(SEED_1 "," COLUMN("duration", "int32", "true"))
#define SEED_3 STRUCT(SEED_1 "," COLUMN("duration_seconds", "double", "true"))

Test(schemas, old_files_are_mapped_to_the_current_version)
{
    static const struct { const char *version, *source, *cast; } k_rows[] = {
        { "1", NULL, NULL }, { "2", "duration", "int32->double" }, { "3", "duration_seconds", NULL },
    };
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"seed\",\"schema\":" STRUCT(SEED_1) "}"), 201));
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/seed/schemas", "{\"expected_version\":1,\"schema\":" SEED_2 "}"), 201));
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/seed/schemas", "{\"expected_version\":2,\"schema\":" SEED_3
                                ",\"renames\":{\"duration\":\"duration_seconds\"},\"compatibility\":\"none\"}"), 201));

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        char url[128];
        snprintf(url, sizeof url, "/api/table/seed/schemas/%s/mapping", k_rows[i].version);
        cr_assert(eq(uint, tarn_ask("GET", url, NULL), 200), "%s", tarn_answer_text());
        cr_expect(eq(i64, tarn_answer_i64("from"), (int64_t)i + 1));
        cr_expect(eq(i64, tarn_answer_i64("to"), 3));
        const json_t *fields = json_object_get(tarn_answer(), "fields"), *field = json_array_get(fields, 2);
        json_auto_t *want = json_pack("{s:s, s:s, s:s?, s:s?, s:n}", "name", "duration_seconds", "type", "double",
                                      "source", k_rows[i].source, "cast", k_rows[i].cast, "default");
        cr_expect(eq(sz, json_array_size(fields), 3));
        cr_expect(json_equal(field, want), "%s", tarn_answer_text());
    }
    cr_expect(eq(uint, tarn_ask("GET", "/api/table/seed/schemas/4/mapping", NULL), 404));
    cr_expect(eq(str, (char *)tarn_answer_str("code"), "schema_version_not_found"));
    cr_expect(eq(uint, tarn_ask("GET", "/api/table/seed/schemas/x/mapping", NULL), 400));
    cr_expect(eq(str, (char *)tarn_answer_str("field"), "version"));
    cr_expect(eq(uint, tarn_ask("GET", "/api/table/nobody/schemas/1/mapping", NULL), 404));
}

Test(schemas, a_mapping_to_an_older_version_is_for_snapshots_of_the_past)
{
    static const struct { const char *ask; unsigned status; const char *is; } k_rows[] = {
        { "1/mapping?to=2", 200, NULL },
        { "1/mapping?to=1", 200, NULL },
        { "2/mapping?to=1", 400, "to" },
        { "1/mapping?to=0", 400, "to" },
        { "1/mapping?to=9", 404, "schema_version_not_found" },
    };
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"past\",\"schema\":"
                                STRUCT(COLUMN("a", "int32", "true")) "}"), 201), "%s", tarn_answer_text());
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/past/schemas", "{\"expected_version\":1,\"schema\":"
                                STRUCT(COLUMN("a", "int64", "true")) "}"), 201), "%s", tarn_answer_text());
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/past/schemas", "{\"expected_version\":2,\"schema\":"
                                STRUCT(COLUMN("b", "int64", "true")) ",\"renames\":{\"a\":\"b\"}}"), 201),
              "%s", tarn_answer_text());
    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        char url[128];
        snprintf(url, sizeof url, "/api/table/past/schemas/%s", k_rows[i].ask);
        cr_assert(eq(uint, tarn_ask("GET", url, NULL), k_rows[i].status), "%s: %s", url, tarn_answer_text());
        const char *is = tarn_answer_str(k_rows[i].status == 400 ? "field" : "code");
        cr_expect(k_rows[i].is == NULL || strcmp(is, k_rows[i].is) == 0, "%s: %s", url, tarn_answer_text());
    }
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/past/schemas/1/mapping?to=2", NULL), 200));
    const json_t *field = json_array_get(json_object_get(tarn_answer(), "fields"), 0);
    cr_expect(eq(i64, tarn_answer_i64("to"), 2));
    cr_expect(eq(str, (char *)json_string_value(json_object_get(field, "name")), "a"), "%s", tarn_answer_text());
    cr_expect(eq(str, (char *)json_string_value(json_object_get(field, "cast")), "int32->int64"), "%s", tarn_answer_text());
}

Test(schemas, renames_are_judged_whatever_the_compatibility)
{
    static const struct { const char *schema, *renames; } k_rows[] = {
        { STRUCT(COLUMN("z", "int32", "true") "," COLUMN("day", "string", "true")), "{\"a\":\"z\",\"b\":\"z\"}" },
        { STRUCT(COLUMN("z", "int32", "true") "," COLUMN("day", "string", "true")), "{\"day\":\"z\"}" },
        { STRUCT(COLUMN("a", "int32", "true") "," COLUMN("day", "string", "true")), "{\"b\":\"day\"}" },
        { STRUCT(COLUMN("a", "int32", "true") "," COLUMN("day", "string", "true")), "{\"b\":\"x\"}" },
        { STRUCT(COLUMN("a", "int32", "true") "," COLUMN("day", "string", "true")), "{\"b\":null}" },
    };
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"r\",\"partition_keys\":[\"day\"],\"schema\":"
                                STRUCT(COLUMN("a", "int32", "true") "," COLUMN("b", "int32", "true") ","
                                       COLUMN("day", "string", "true")) "}"), 201), "%s", tarn_answer_text());
    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        cr_expect(tarn_ask("POST", "/api/table/r/schemas",
                           "{\"expected_version\":1,\"compatibility\":\"none\",\"schema\":%s,\"renames\":%s}",
                           k_rows[i].schema, k_rows[i].renames) == 400 &&
                      strncmp(tarn_answer_str("field"), "renames.", 8) == 0,
                  "%s: %s", k_rows[i].renames, tarn_answer_text());
    }
}

Test(schemas, an_adopted_document_keeps_its_renames)
{
    tarn_make_folder(tarn_path(g_lake->root, "old"));
    tarn_write_text(tarn_path(g_lake->root, "old/manifest.json"), "{\"version\":1,\"files\":[]}");
    tarn_write_text(tarn_path(g_lake->root, "old/schema.json"),
                    "{\"current_version\":2,\"schema\":" STRUCT(COLUMN("b", "int64", "true"))
                    ",\"renames\":{\"a\":\"b\"},\"versions\":[{\"version\":1,\"schema\":"
                    STRUCT(COLUMN("a", "int32", "true")) "}]}");
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"old\",\"location\":\"%s/old\"}", g_lake->root), 201),
              "%s", tarn_answer_text());
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/old/schemas/1/mapping", NULL), 200), "%s", tarn_answer_text());
    const json_t *field = json_array_get(json_object_get(tarn_answer(), "fields"), 0);
    cr_expect(eq(str, (char *)json_string_value(json_object_get(field, "source")), "a"), "%s", tarn_answer_text());
}

Test(schemas, the_first_write_since_the_start_looks_at_storage)
{
    char path[1024];

    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t", NULL), 200));
    snprintf(path, sizeof path, "%s/manifest.json", tarn_answer_str("location"));
    tarn_lake_restart();
    tarn_write_text(path, "{\"version\":7,\"files\":[]}");
    cr_expect(eq(uint, tarn_ask("POST", URL, "{\"expected_version\":1,\"schema\":%s}",
                                STRUCT(COLUMN("a", "int64", "false"))), 409), "%s", tarn_answer_text());
    cr_expect(eq(str, (char *)tarn_answer_str("code"), "foreign_write"));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t", NULL), 200));
    cr_expect(eq(i64, tarn_answer_i64("schema_version"), 1));
}
