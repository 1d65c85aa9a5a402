/* Added files against the schema, over the API: what is refused, what is warned of, and what footers fill in. */
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
#define BASE R("user_id", "int64") "," R("event_type", "string") "," C("day", "string")
/* The seed's three versions, day being a partition key. */
#define V1 STRUCT(BASE)
#define V2 STRUCT(BASE "," C("duration", "int32"))
#define V3 STRUCT(BASE "," C("duration_seconds", "double"))

#define F1 "2; opt i64 user_id; opt ba event_type str"
#define F2 "3; opt i64 user_id; opt ba event_type str; opt i32 duration"
#define F3 "3; opt i64 user_id; opt ba event_type str; opt f64 duration_seconds"

static void setup(void)
{
    tarn_lake_setup();
    tarn_make_folder(tarn_path(g_lake->root, "t"));
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\",\"location\":\"%s/t\",\"partition_keys\":[\"day\"],"
                                "\"schema\":" V1 "}", g_lake->root), 201), "%s", tarn_answer_text());
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/schemas", "{\"expected_version\":1,\"schema\":" V2 "}"), 201), "%s",
              tarn_answer_text());
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/schemas", "{\"expected_version\":2,\"schema\":" V3
                                ",\"renames\":{\"duration\":\"duration_seconds\"},\"compatibility\":\"none\"}"), 201), "%s",
              tarn_answer_text());
}
TestSuite(enforcement, .init = setup, .fini = tarn_lake_teardown, .timeout = 60);

static void enforce(const char *word)
{
    cr_assert(eq(uint, tarn_ask("PATCH", "/api/table/t", "{\"schema_enforcement\":\"%s\"}", word), 200));
}

/* Commits a file of 10 rows; its path is the row's number. */
static unsigned commit(const char *path, const char *spec, int64_t nulls, const char *more, const char *verify)
{
    char file[128];

    snprintf(file, sizeof file, "t/%s", path);
    int64_t size = parquet_file(tarn_path(g_lake->root, file), spec, 10, nulls);
    return tarn_ask("POST", "/api/table/t/commits", "{\"operations\":[{\"type\":\"add_file\",\"path\":\"%s\",\"size\":%lld%s}]%s}",
                    path, (long long)size, more, verify);
}

/* "kind:column kind:column" of changes, or of warnings ("schema_drift." dropped), all of them naming `path`. */
static void tell(const char *member, const char *path, char *out, size_t size)
{
    size_t i, len = 0;
    json_t *row;

    out[0] = '\0';
    json_array_foreach(json_object_get(tarn_answer(), member), i, row) {
        const char *kind = json_string_value(json_object_get(row, "kind"));
        const char *code = json_string_value(json_object_get(row, "code"));
        const char *column = json_string_value(json_object_get(row, "column"));
        if (code) {
            kind = strncmp(code, "schema_drift.", 13) == 0 ? code + 13 : code;
            cr_expect(eq(str, (char *)json_string_value(json_object_get(row, "path")), (char *)path));
            cr_expect(tarn_has(json_string_value(json_object_get(row, "message")), path));
        }
        len += (size_t)snprintf(out + len, size - len, "%s%s:%s", i ? " " : "", kind, column ? column : "");
    }
}

static const struct row {
    const char *spec;
    int64_t nulls;       /* of the first column */
    const char *claims;  /* schemaVersion, "": left out */
    const char *refused; /* "": taken */
    const char *warned;
} k_rows[] = {
    { F3, 0, "", "", "" },
    { F3, 0, "3", "", "" },
    { F2, 0, "2", "", "" },
    { F1, 0, "1", "", "" },
    { F2, 0, "", "", "" }, /* told to be version 2 by the footer */
    { F1, 0, "", "", "" },
    { "3; req i64 user_id; req ba event_type str; req f64 duration_seconds", 0, "", "", "" },
    { F3, -1, "", "", "" }, /* nobody counted the nulls */
    /* the surprise null: data that no reader will see */
    { "4; opt i64 user_id; opt ba event_type str; opt f64 duration_seconds; opt i32 extra", 0, "", "extra_column:extra",
      "extra_column:extra" },
    { F3, 0, "1", "extra_column:duration_seconds", "extra_column:duration_seconds" },
    { F3, 0, "2", "extra_column:duration_seconds", "extra_column:duration_seconds missing_column:duration" },
    { F2, 0, "3", "extra_column:duration", "extra_column:duration missing_column:duration_seconds" },
    /* a required column without values */
    { "2; opt i64 user_id; opt f64 duration_seconds", 0, "", "missing_column:event_type", "missing_column:event_type" },
    { F3, 4, "", "null_in_required:user_id", "null_in_required:user_id" },
    { F1, 4, "1", "null_in_required:user_id", "null_in_required:user_id" },
    /* another type */
    { "3; opt i64 user_id; opt ba event_type str; opt ba duration_seconds str", 0, "", "type_changed:duration_seconds",
      "type_changed:duration_seconds" },
    { "3; opt i96 user_id; opt ba event_type str; opt f64 duration_seconds", 0, "", "type_changed:user_id",
      "type_changed:user_id" },
    { "3; opt i64 user_id; opt ba event_type str; opt i64 duration", 0, "2", "narrowed:duration", "narrowed:duration" },
    /* what readers can make of it */
    { "3; opt i32 user_id; opt ba event_type str; opt f32 duration_seconds", 0, "", "", "" },
    { "3; opt i64 user_id; opt ba event_type str; opt i32 duration_seconds", 0, "", "", "widened:duration_seconds" },
    { "3; opt i64 user_id; opt ba event_type; opt f64 duration_seconds", 0, "", "", "type_changed:event_type" },
    { "2; opt i64 user_id; opt ba event_type str", 0, "3", "", "missing_column:duration_seconds" },
    { "3; opt i64 User_Id; opt ba event_type str; opt f64 duration_seconds", 0, "", "renamed_case:user_id",
      "renamed_case:user_id" },
    /* a partition key inside the file as well */
    { "4; opt i64 user_id; opt ba event_type str; opt f64 duration_seconds; opt ba day str", 0, "", "", "" },
};

static void name(size_t i, char out[32], char more[48])
{
    snprintf(out, 32, "f%zu.parquet", i);
    snprintf(more, 48, k_rows[i].claims[0] ? ",\"schemaVersion\":%s" : "%s", k_rows[i].claims);
}

Test(enforcement, reject_names_path_and_changes_and_takes_what_fits)
{
    char path[32], more[48], told[256];

    enforce("reject");
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        name(i, path, more);
        unsigned status = commit(path, k_rows[i].spec, k_rows[i].nulls, more, "");
        cr_expect(status == (k_rows[i].refused[0] ? 422u : 201u), "row %zu: %s", i, tarn_answer_text());
        tell("changes", path, told, sizeof told);
        cr_expect(eq(str, told, (char *)k_rows[i].refused), "row %zu", i);
        if (status == 201)
            continue;
        cr_expect(eq(str, (char *)tarn_answer_str("code"), "incompatible_schema"));
        cr_expect(eq(str, (char *)tarn_answer_str("path"), path));
        cr_expect(eq(str, (char *)tarn_answer_str("field"), "operations[0].path"));
    }
}

Test(enforcement, warn_takes_all_and_names_path_and_column)
{
    char path[32], more[48], told[256];

    enforce("warn");
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        name(i, path, more);
        cr_expect(commit(path, k_rows[i].spec, k_rows[i].nulls, more, "") == 201, "row %zu: %s", i, tarn_answer_text());
        tell("warnings", path, told, sizeof told);
        cr_expect(eq(str, told, (char *)k_rows[i].warned), "row %zu", i);
    }
}

Test(enforcement, off_looks_at_nothing)
{
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/commits",
                                "{\"operations\":[{\"type\":\"add_file\",\"path\":\"none.parquet\",\"size\":1}]}"), 201), "%s",
              tarn_answer_text());
    cr_expect(json_object_get(tarn_answer(), "warnings") == NULL);
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        char path[32], more[48];
        name(i, path, more);
        cr_expect(commit(path, k_rows[i].spec, k_rows[i].nulls, more, ",\"verify\":\"footer\"") == 201, "row %zu: %s", i,
                  tarn_answer_text());
        cr_expect(json_object_get(tarn_answer(), "warnings") == NULL);
    }
}

Test(enforcement, a_version_that_the_table_lacks_is_refused)
{
    enforce("reject");
    cr_expect(eq(uint, commit("a.parquet", F3, 0, ",\"schemaVersion\":4", ""), 404), "%s", tarn_answer_text());
    cr_expect(eq(str, (char *)tarn_answer_str("code"), "schema_version_not_found"));
    cr_expect(eq(str, (char *)tarn_answer_str("field"), "operations[0].schemaVersion"));
}

/* What became required without a default is required of files of every version. */
Test(enforcement, old_files_are_seen_through_the_mapping)
{
    char told[256];

    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/schemas", "{\"expected_version\":3,\"compatibility\":\"none\",\"schema\":"
                                STRUCT(BASE "," C("duration_seconds", "double") "," R("region", "string")) "}"), 201));
    enforce("reject");
    cr_expect(eq(uint, commit("a.parquet", F2, 0, ",\"schemaVersion\":2", ""), 422), "%s", tarn_answer_text());
    tell("changes", "a.parquet", told, sizeof told);
    cr_expect(eq(str, told, "missing_column:region"));
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/schemas", "{\"expected_version\":4,\"compatibility\":\"none\",\"schema\":"
                                STRUCT(BASE "," C("duration_seconds", "double")) "}"), 201));
    cr_expect(eq(uint, commit("a.parquet", F2, 0, ",\"schemaVersion\":2", ""), 201), "%s", tarn_answer_text());
}

Test(enforcement, nothing_of_a_refused_commit_lands)
{
    enforce("reject");
    parquet_file(tarn_path(g_lake->root, "t/good.parquet"), F3, 10, 0);
    parquet_file(tarn_path(g_lake->root, "t/bad.parquet"), F3, 10, 5);
    cr_expect(eq(uint, tarn_ask("POST", "/api/table/t/commits",
                                "{\"operations\":[{\"type\":\"add_file\",\"path\":\"good.parquet\"},"
                                "{\"type\":\"add_file\",\"path\":\"bad.parquet\"}]}"), 422));
    cr_expect(eq(str, (char *)tarn_answer_str("field"), "operations[1].path"));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t", NULL), 200));
    cr_expect(eq(i64, tarn_answer_i64("version"), 0));
}

/* Nobody asked to verify: a table that only warns lets pass what cannot be read, one that rejects does not. */
Test(enforcement, a_file_that_cannot_be_read_is_warned_of_or_refused)
{
    static const char k_body[] = "{\"operations\":[{\"type\":\"add_file\",\"path\":\"%s\",\"size\":17}]%s}";
    char told[256];

    tarn_write_text(tarn_path(g_lake->root, "t/text.parquet"), "no parquet at all");
    enforce("warn");
    cr_expect(eq(uint, tarn_ask("POST", "/api/table/t/commits", k_body, "none.parquet", ""), 201), "%s", tarn_answer_text());
    tell("warnings", "none.parquet", told, sizeof told);
    cr_expect(eq(str, told, "verification_failed:"));
    cr_expect(eq(uint, tarn_ask("POST", "/api/table/t/commits", k_body, "text.parquet", ",\"verify\":\"footer\""), 422));
    cr_expect(eq(uint, tarn_ask("POST", "/api/table/t/commits", k_body, "text.parquet", ",\"verify\":\"size\""), 201));
    tell("warnings", "text.parquet", told, sizeof told);
    cr_expect(eq(str, told, "verification_failed:"));
    enforce("reject");
    cr_expect(eq(uint, tarn_ask("POST", "/api/table/t/commits", k_body, "gone.parquet", ""), 422));
    cr_expect(eq(str, (char *)tarn_answer_str("code"), "verification_failed"));
}

static const json_t *file_at(size_t i) { return json_array_get(json_object_get(tarn_answer(), "files"), i); }

Test(enforcement, footers_and_paths_fill_in_the_facts)
{
    static const struct { const char *spec; int64_t version; } k_facts[] = {
        { F1, 1 }, { F2, 2 }, { F3, 3 },
        { "3; opt i64 user_id; opt i64 user; opt ba event_type str", 3 },   /* none: the current one */
        { "3; opt i32 user_id; opt ba event_type str; opt i32 duration", 3 }, /* nearly version 2 */
        { "3; opt ba event_type str; opt i64 user_id; opt i32 duration", 2 }, /* another order */
    };
    int64_t sizes[TARN_COUNT(k_facts)];

    for (size_t i = 0; i < TARN_COUNT(k_facts); i++) {
        char path[64];
        snprintf(path, sizeof path, "t/day=2024-02-0%zu/a.parquet", i + 1);
        sizes[i] = parquet_file(tarn_path(g_lake->root, path), k_facts[i].spec, 10, 0);
        cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/commits", "{\"verify\":\"footer\",\"operations\":[{\"type\":\"add_file\","
                                    "\"path\":\"%s\"}]}", path + 2), 201), "%s", tarn_answer_text());
    }
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/files", NULL), 200));
    for (size_t i = 0; i < TARN_COUNT(k_facts); i++) {
        char day[16];
        snprintf(day, sizeof day, "2024-02-0%zu", i + 1);
        const json_t *file = file_at(i), *stats = json_object_get(file, "columnStats");
        cr_expect(eq(i64, json_integer_value(json_object_get(file, "size")), sizes[i]));
        cr_expect(eq(i64, json_integer_value(json_object_get(file, "numRecords")), 10));
        cr_expect(eq(i64, json_integer_value(json_object_get(file, "schemaVersion")), k_facts[i].version), "file %zu", i);
        cr_expect(eq(str, (char *)json_string_value(json_object_get(json_object_get(file, "partitionValues"), "day")), day));
        json_auto_t *want = json_loads("{\"min\":1,\"max\":10,\"nullCount\":0}", 0, NULL);
        cr_expect(json_equal(json_object_get(stats, "user_id"), want), "%s", tarn_answer_text());
    }
}

Test(enforcement, what_the_operation_says_stays)
{
    parquet_file(tarn_path(g_lake->root, "t/day=1/a.parquet"), F3, 10, 0);
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/commits",
                                "{\"verify\":\"footer\",\"operations\":[{\"type\":\"add_file\",\"path\":\"day=1/a.parquet\","
                                "\"schemaVersion\":1,\"partitionValues\":{\"day\":\"one\"},\"columnStats\":{}}]}"), 201), "%s",
              tarn_answer_text());
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/files", NULL), 200));
    cr_expect(eq(i64, json_integer_value(json_object_get(file_at(0), "schemaVersion")), 1));
    cr_expect(eq(str, (char *)json_string_value(json_object_get(json_object_get(file_at(0), "partitionValues"), "day")), "one"));
    cr_expect(eq(sz, json_object_size(json_object_get(file_at(0), "columnStats")), 0));
    parquet_file(tarn_path(g_lake->root, "t/b.parquet"), F3, 10, 0);
    cr_expect(eq(uint, tarn_ask("POST", "/api/table/t/commits", "{\"verify\":\"footer\",\"operations\":[{\"type\":\"add_file\","
                                "\"path\":\"b.parquet\",\"numRecords\":9}]}"), 422));
    cr_expect(eq(str, (char *)tarn_answer_str("code"), "verification_failed"));
}

Test(enforcement, very_many_warnings_are_counted)
{
    enum { FILES = 1100 };
    TARN_AUTO_DONE(buf) struct tarn_buf body = { 0 };

    enforce("warn");
    tarn_buf_adds(&body, "{\"operations\":[");
    for (int i = 0; i < FILES; i++)
        tarn_buf_addf(&body, "%s{\"type\":\"add_file\",\"path\":\"f%d\",\"size\":1}", i ? "," : "", i);
    tarn_buf_adds(&body, "]}");
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/commits", "%s", body.data), 201), "%s", tarn_answer_text());
    const json_t *warnings = json_object_get(tarn_answer(), "warnings");
    cr_expect(eq(sz, json_array_size(warnings), 1001));
    cr_expect(eq(str, (char *)json_string_value(json_object_get(json_array_get(warnings, 1000), "message")),
                 "100 more warnings"));
}
