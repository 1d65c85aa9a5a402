/* Data files without a manifest taken as version 1, and commits that are verified against storage: with real Parquet
 * files (examples/, flights of 2013). */
#include "lake/footer.h"
#include "tests/support/lake.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

TestSuite(import, .init = tarn_lake_setup, .fini = tarn_lake_teardown, .timeout = 60);

#define REAL "examples/lake/flights/date=2013-07-03/hour=17/flights-0001.parquet"

/* Rows and bytes of the real file, its size being what the file system says. */
static int64_t put_real(const char *name)
{
    size_t len = 0;
    char *data = tarn_read_file(REAL, &len);

    tarn_write_file(tarn_path(g_lake->root, name), data, len);
    free(data);
    return (int64_t)len;
}

static const json_t *file_at(size_t i) { return json_array_get(json_object_get(tarn_answer(), "files"), i); }

Test(import, files_become_version_1_with_what_footers_and_paths_tell)
{
    int64_t size = put_real("t/date=2013-07-03/hour=07/a.parquet");
    put_real("t/date=2013-07-03/hour=08/b%3A.parquet");
    tarn_write_text(tarn_path(g_lake->root, "t/date=2013-07-03/hour=08/broken.parquet"), "no parquet at all");
    tarn_write_text(tarn_path(g_lake->root, "t/_temp/c.parquet"), "not data");
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\",\"location\":\"%s/t\",\"import\":true}",
                                g_lake->root), 201), "%s", tarn_answer_text());
    cr_expect(eq(i64, tarn_answer_i64("version"), 1));
    cr_expect(eq(i64, tarn_answer_i64("files"), 2));
    cr_expect(eq(i64, tarn_answer_i64("total_size_bytes"), 2 * size));
    cr_expect(eq(i64, tarn_answer_i64("schema_version"), 1));
    cr_expect(eq(str, (char *)tarn_answer_str("latest_transaction"), "txn-1"));
    cr_expect(eq(sz, json_array_size(json_object_get(tarn_answer(), "partition_keys")), 2));
    cr_expect(eq(sz, json_array_size(json_object_get(tarn_answer(), "found")), 1)); /* the broken one is told */
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/files", NULL), 200));
    const json_t *values = json_object_get(file_at(0), "partitionValues");
    cr_expect(eq(str, (char *)json_string_value(json_object_get(values, "hour")), "07"));
    cr_expect(eq(int, json_integer_value(json_object_get(file_at(0), "numRecords")) > 0, true));
    cr_expect(eq(int, json_is_object(json_object_get(file_at(0), "columnStats")), true));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/commits", NULL), 200));
    cr_expect(eq(sz, json_array_size(json_object_get(tarn_answer(), "commits")), 1));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/commits/txn-1", NULL), 200));
    cr_expect(eq(sz, json_array_size(json_object_get(tarn_answer(), "operations")), 2));
}

Test(import, a_name_that_is_no_utf8_is_told_and_left_out)
{
    put_real("t/a.parquet");
    put_real("t/\xff\xe2.parquet");
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\",\"location\":\"%s/t\",\"import\":true}",
                                g_lake->root), 201), "%s", tarn_answer_text());
    cr_expect(eq(i64, tarn_answer_i64("files"), 1));
    const json_t *found = json_array_get(json_object_get(tarn_answer(), "found"), 0);
    cr_expect(eq(str, (char *)json_string_value(json_object_get(found, "subject")), "??.parquet"), "%s", tarn_answer_text());
    put_real("u/\xff\xe2.parquet");
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"u\",\"location\":\"%s/u\"}", g_lake->root), 409));
    cr_expect(eq(str, (char *)tarn_answer_str("path"), "??.parquet"), "%s", tarn_answer_text());
}

Test(import, paths_tell_partition_values)
{
    static const struct { const char *path, *values; } k_rows[] = {
        { "a.parquet", NULL },
        { "date=2024-01-01/a.parquet", "{\"date\":\"2024-01-01\"}" },
        { "date=2024-01-01/hour=3/a=b.parquet", "{\"date\":\"2024-01-01\",\"hour\":\"3\"}" },
        { "t=2024-01-01 00%3A00/a.parquet", "{\"t\":\"2024-01-01 00:00\"}" },
        { "d=__HIVE_DEFAULT_PARTITION__/a.parquet", "{\"d\":null}" },
        { "x=100%/a.parquet", "{\"x\":\"100%\"}" },
        { "=1/a.parquet", NULL },
        { "plain/k=v/a.parquet", "{\"k\":\"v\"}" },
    };

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        char *values = NULL;
        TARN_ERR(err);
        cr_assert(eq(int, tarn_hive_values(k_rows[i].path, NULL, &values, &err), TARN_OK));
        cr_expect(k_rows[i].values ? values && strcmp(values, k_rows[i].values) == 0 : !values, "%s: %s", k_rows[i].path,
                  values ? values : "none");
        free(values);
    }
}

/* --- verification --- */

static unsigned commit(const char *path, const char *size, const char *more)
{
    return tarn_ask("POST", "/api/table/t/commits", "{\"operations\":[{\"type\":\"add_file\",\"path\":\"%s\"%s}]%s}", path,
                    size, more);
}

static void make(const char *more)
{
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\",\"location\":\"%s/t\"%s}", g_lake->root, more), 201),
              "%s", tarn_answer_text());
}

static void expect_unverified(unsigned status, const char *code, const char *path)
{
    cr_expect(status == 422 && strcmp(tarn_answer_str("code"), code) == 0 &&
                  strcmp(tarn_answer_str("path"), path) == 0 &&
                  strcmp(tarn_answer_str("field"), "operations[0].path") == 0,
              "%s: %u %s", path, status, tarn_answer_text());
}

Test(import, verify_size_looks_whether_the_file_is_there_with_its_size)
{
    make("");
    int64_t size = put_real("t/a.parquet");
    char right[64];

    snprintf(right, sizeof right, ",\"size\":%lld", (long long)size);
    expect_unverified(commit("none.parquet", ",\"size\":1", ",\"verify\":\"size\""), "verification_failed", "none.parquet");
    expect_unverified(commit("a.parquet", ",\"size\":1", ",\"verify\":\"size\""), "verification_failed", "a.parquet");
    cr_expect(eq(i64, tarn_answer_i64("size"), size));
    cr_expect(eq(uint, commit("a.parquet", right, ",\"verify\":\"size\""), 201), "%s", tarn_answer_text());
}

Test(import, verify_footer_fills_in_what_was_left_out)
{
    make("");
    int64_t size = put_real("t/date=2013-07-03/a.parquet");
    cr_assert(eq(uint, commit("date=2013-07-03/a.parquet", "", ",\"verify\":\"footer\""), 201), "%s", tarn_answer_text());
    cr_expect(eq(i64, tarn_answer_i64("total_size_bytes"), size));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/files", NULL), 200));
    cr_expect(eq(int, json_integer_value(json_object_get(file_at(0), "numRecords")) > 0, true));
    cr_expect(eq(int, json_object_size(json_object_get(file_at(0), "columnStats")) > 0, true));
    cr_expect(eq(sz, json_object_size(json_object_get(file_at(0), "partitionValues")), 1));
    tarn_write_text(tarn_path(g_lake->root, "t/bad.parquet"), "PAR1 nonsense PAR1");
    expect_unverified(commit("bad.parquet", "", ",\"verify\":\"footer\""), "verification_failed", "bad.parquet");
}

Test(import, a_request_may_only_raise_what_the_table_asks)
{
    make(",\"verify\":\"size\"");
    expect_unverified(commit("none.parquet", ",\"size\":1", ",\"verify\":\"off\""), "verification_failed", "none.parquet");
    expect_unverified(commit("none.parquet", ",\"size\":1", ""), "verification_failed", "none.parquet");
}

Test(import, a_stale_version_is_told_before_a_missing_file)
{
    make("");
    cr_expect(eq(uint, commit("none.parquet", ",\"size\":1", ",\"verify\":\"size\",\"expected_version\":5"), 409));
    cr_expect(eq(str, (char *)tarn_answer_str("code"), "version_conflict"));
}

#define OTHER                                                                                                         \
    ",\"schema\":{\"type\":\"struct\",\"fields\":[{\"name\":\"never_heard_of\",\"type\":\"int64\",\"nullable\":false}]}"

Test(import, enforcement_refuses_or_warns_of_a_file_that_does_not_fit)
{
    make(OTHER ",\"schema_enforcement\":\"reject\"");
    put_real("t/a.parquet");
    expect_unverified(commit("a.parquet", "", ""), "incompatible_schema", "a.parquet");
    cr_expect(eq(int, json_array_size(json_object_get(tarn_answer(), "changes")) > 0, true));
    cr_assert(eq(uint, tarn_ask("PATCH", "/api/table/t", "{\"schema_enforcement\":\"warn\"}"), 200));
    cr_assert(eq(uint, commit("a.parquet", "", ""), 201), "%s", tarn_answer_text());
    cr_expect(eq(int, json_array_size(json_object_get(tarn_answer(), "warnings")) > 0, true));
}
