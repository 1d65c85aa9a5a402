/* test_evolution.c - the schema moves on, files of older versions stay: what changed since is no fault of theirs, what
 * their own version forbids is. Over the API: commits, schema changes, a sweep. */
#include "tests/support/lake.h"
#include "tests/support/parquet_file.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#define STRUCT(fields) "{\"type\":\"struct\",\"fields\":[" fields "]}"
#define R(name, type) "{\"name\":\"" name "\",\"type\":\"" type "\",\"nullable\":false}"
#define C(name, type) "{\"name\":\"" name "\",\"type\":\"" type "\",\"nullable\":true}"
#define D(name, type) "{\"name\":\"" name "\",\"type\":\"" type "\",\"nullable\":false,\"default\":0}"

static void commit(const char *path, const char *spec, int64_t nulls, const char *more)
{
    char file[64];

    snprintf(file, sizeof file, "t/%s", path);
    int64_t size = parquet_file(tarn_path(g_lake->root, file), spec, 10, nulls);
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/commits", "{\"operations\":[{\"type\":\"add_file\",\"path\":\"%s\",\"size\":%lld%s}]}",
                                path, (long long)size, more), 201), "%s", tarn_answer_text());
}

static void change(int version, const char *schema, const char *more)
{
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/schemas",
                                "{\"expected_version\":%d,\"compatibility\":\"none\",\"schema\":%s%s}", version, schema, more),
                 201), "%s", tarn_answer_text());
}

static void setup(void)
{
    tarn_lake_setup();
    tarn_make_folder(tarn_path(g_lake->root, "t"));
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\",\"location\":\"%s/t\",\"schema\":"
                                STRUCT(R("id", "int32") "," C("gone", "string")) "}", g_lake->root), 201), "%s",
              tarn_answer_text());
    commit("v1.parquet", "2; req i32 id; opt ba gone str", 0, "");
    change(1, STRUCT(R("user_id", "int64") "," D("score", "int32")), ",\"renames\":{\"id\":\"user_id\"}");
    commit("v2.parquet", "2; req i64 user_id; req i32 score", 0, "");
    change(2, STRUCT(R("user_id", "int64") "," D("score", "double") "," C("region", "string")), "");
}
TestSuite(evolution, .init = setup, .fini = tarn_lake_teardown, .timeout = 60);

/* "code:subject severity" of the schema's findings, in their order. */
static void drifts(char *out, size_t size)
{
    size_t i, len = 0;
    json_t *finding;

    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/check?depth=sweep", NULL), 200), "%s", tarn_answer_text());
    out[0] = '\0';
    json_array_foreach(json_object_get(tarn_answer(), "findings"), i, finding) {
        const char *code = json_string_value(json_object_get(finding, "code"));
        if (strncmp(code, "schema_drift.", 13) == 0)
            len += (size_t)snprintf(out + len, size - len, "%s%s:%s %s", len ? ", " : "", code + 13,
                                    json_string_value(json_object_get(finding, "subject")),
                                    json_string_value(json_object_get(finding, "severity")));
    }
}

Test(evolution, a_rename_a_widening_and_a_default_are_no_findings)
{
    char told[512];

    commit("v3.parquet", "3; req i64 user_id; req f64 score; opt ba region str", 0, "");
    drifts(told, sizeof told);
    cr_expect(eq(str, told, ""), "%s", tarn_answer_text());
    cr_expect(eq(str, (char *)tarn_answer_str("status"), "healthy"));
}

Test(evolution, a_file_that_says_nothing_of_its_version_is_read_as_the_current_one)
{
    char told[512];

    commit("v3.parquet", "2; req i32 id; opt ba gone str", 0, "");
    drifts(told, sizeof told);
    cr_expect(tarn_has(told, "missing_column:user_id error"), "%s", told);
    cr_expect(tarn_has(told, "extra_column:id warning"), "%s", told);
}

Test(evolution, a_new_file_may_name_an_old_version)
{
    char told[512];

    commit("late.parquet", "2; req i32 id; opt ba gone str", 0, ",\"schemaVersion\":1");
    drifts(told, sizeof told);
    cr_expect(eq(str, told, ""), "%s", tarn_answer_text());
}

Test(evolution, a_file_is_held_to_the_version_it_names)
{
    char told[512];

    commit("late.parquet", "3; req i64 id; opt ba gone str; opt i32 more", 0, ",\"schemaVersion\":1");
    drifts(told, sizeof told);
    cr_expect(eq(str, told, "narrowed:id error, extra_column:more warning"));
}

/* Required since without a default: readers of old files find null where there must be a value. */
Test(evolution, what_is_required_now_is_missed_in_old_files)
{
    char told[512];

    change(3, STRUCT(R("user_id", "int64") "," D("score", "double") "," R("region", "string")), "");
    drifts(told, sizeof told);
    cr_expect(eq(str, told, "missing_column:region error"), "%s", tarn_answer_text());
}
