/* test_schema_doc.c - schema.json in and out; the founding text's example stands here. */
#include "formats/manifest/manifest.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#define STRUCT(fields) "{\"type\":\"struct\",\"fields\":[" fields "]}"
#define USER           "{\"name\":\"user_id\",\"type\":\"int64\",\"nullable\":false}"
#define EVENT          "{\"name\":\"event_type\",\"type\":\"string\",\"nullable\":false}"
#define DURATION_1     "{\"name\":\"duration\",\"type\":\"int32\",\"nullable\":true}"
#define DURATION_2     "{\"name\":\"duration_seconds\",\"type\":\"double\",\"nullable\":true}"
#define V1             STRUCT(USER "," EVENT)
#define V2             STRUCT(USER "," EVENT "," DURATION_1)
#define V3             STRUCT(USER "," EVENT "," DURATION_2)

static tarn_code parse(const char *json, struct tarn_schema_doc *doc, struct tarn_err *err)
{
    return tarn_schema_doc_parse(json, strlen(json), doc, err);
}

Test(schema_doc, the_seed_document_holds_three_versions)
{
    struct tarn_schema_doc doc = { 0 };
    cr_assert(
        eq(int,
           parse("{\"current_version\":3,\"schema\":" V3 ",\"versions\":[{\"version\":1,\"schema\":" V1 "},"
                 "{\"version\":2,\"schema\":" V2 "}]}",
                 &doc, NULL),
           TARN_OK));
    cr_expect(eq(i64, doc.current_version, 3));
    cr_assert(eq(sz, doc.count, 3));
    for (size_t i = 0; i < 3; i++)
        cr_expect(eq(i64, doc.versions[i].version, (int64_t)i + 1));
    const struct tarn_schema *current = tarn_schema_doc_current(&doc);
    cr_assert(current != NULL);
    cr_expect(eq(str, current->root.fields[2].name, "duration_seconds"));
    tarn_schema_doc_done(&doc);
}

Test(schema_doc, odd_but_clear_forms_are_read)
{
    static const struct {
        const char *json;
        int64_t current;
        size_t count;
        bool has_current;
    } k_rows[] = {
        { "{\"current_version\":1,\"schema\":" V1 "}", 1, 1, true },
        { "{\"current_version\":1,\"schema\":" V1 ",\"versions\":null}", 1, 1, true },
        { "{\"current_version\":1,\"schema\":" V1 ",\"versions\":[{\"version\":1,\"schema\":" V1 "}]}", 1, 1,
          true },
        { "{\"current_version\":1,\"versions\":[{\"version\":2,\"schema\":" V2
          "},{\"version\":1,\"schema\":" V1 "}]}",
          1, 2, true },
        { "{\"current_version\":3,\"versions\":[{\"version\":1,\"schema\":" V1 "}]}", 3, 1, false },
        { V2, 1, 1, true },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct tarn_schema_doc doc = { 0 };
        cr_assert(eq(int, parse(k_rows[i].json, &doc, NULL), TARN_OK), "%s", k_rows[i].json);
        cr_expect(eq(i64, doc.current_version, k_rows[i].current), "%s", k_rows[i].json);
        cr_expect(eq(sz, doc.count, k_rows[i].count), "%s", k_rows[i].json);
        cr_expect(eq(int, tarn_schema_doc_current(&doc) != NULL, k_rows[i].has_current), "%s",
                  k_rows[i].json);
        tarn_schema_doc_done(&doc);
    }
}

Test(schema_doc, nonsense_is_refused_with_its_place)
{
    static const struct {
        const char *json, *field;
    } k_rows[] = {
        { "", "" },
        { "[]", "" },
        { "{}", "current_version" },
        { "{\"current_version\":0,\"schema\":" V1 "}", "current_version" },
        { "{\"current_version\":\"1\",\"schema\":" V1 "}", "current_version" },
        { "{\"current_version\":1,\"versions\":{}}", "versions" },
        { "{\"current_version\":1,\"versions\":[3]}", "versions[0].version" },
        { "{\"current_version\":2,\"schema\":" V2 ",\"versions\":[{\"version\":2,\"schema\":" V1 "}]}",
          "versions[0].schema" },
        { "{\"current_version\":2,\"versions\":[{\"version\":1,\"schema\":" V1
          "},{\"version\":1,\"schema\":" V1 "}]}",
          "versions[1].schema" },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        TARN_ERR(err);
        struct tarn_schema_doc doc = { .current_version = 77 };
        cr_expect(eq(int, parse(k_rows[i].json, &doc, &err), TARN_INVALID), "%s", k_rows[i].json);
        cr_expect(eq(str, err.field, (char *)k_rows[i].field), "%s", k_rows[i].json);
        cr_expect(eq(i64, doc.current_version, 77));
    }
}

Test(schema_doc, what_is_written_reads_back_with_renames_and_times)
{
    const struct tarn_schema_row rows[] = {
        { 1, (char *)V1, NULL, 1706797800000 },
        { 2, (char *)V2, NULL, 1706797801000 },
        { 3, (char *)V3, (char *)"{\"duration\":\"duration_seconds\"}", 1706797802000 },
    };
    TARN_AUTO_DONE(buf) struct tarn_buf out = { 0 };
    cr_assert(eq(int, tarn_schema_doc_write(rows, 3, &out, NULL), TARN_OK));
    cr_expect(eq(str, out.data,
                 "{\"current_version\":3,\"schema\":" V3 ",\"renames\":{\"duration\":\"duration_seconds\"},"
                 "\"created_at\":\"2024-02-01T14:30:02Z\",\"versions\":["
                 "{\"version\":1,\"schema\":" V1 ",\"created_at\":\"2024-02-01T14:30:00Z\"},"
                 "{\"version\":2,\"schema\":" V2 ",\"created_at\":\"2024-02-01T14:30:01Z\"}]}\n"));
    struct tarn_schema_doc doc = { 0 };
    cr_assert(eq(int, parse(out.data, &doc, NULL), TARN_OK));
    cr_expect(eq(sz, doc.count, 3));
    tarn_schema_doc_done(&doc);
}
