/* Files and manifest of a table that others commit to: what the document on storage says. */
#include "tests/support/lake.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

static const char k_manifest[] =
    "{\"files\":[{\"path\":\"date=1/a.parquet\",\"size\":10,\"partitionValues\":{\"date\":\"1\"}},\n"
    " {\"path\":\"date=2/b.parquet\",\"size\":20,\"partitionValues\":{\"date\":\"2\"},\"unknown\":[1]},\n"
    " {\"path\":\"date=2/c.parquet\",\"partitionValues\":{\"date\":\"2\"}}],\"version\":7,\"last_updated\":1706797800}";

static char s_root[600];

static void write_manifest(const char *text) { tarn_write_text(tarn_path(s_root, "manifest.json"), text); }

static void setup(void)
{
    tarn_lake_setup();
    snprintf(s_root, sizeof s_root, "%s/t", g_lake->root);
    write_manifest(k_manifest);
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\",\"mode\":\"observed\",\"location\":\"%s\","
                                "\"partition_keys\":[\"date\"]}", s_root), 201), "%s", tarn_answer_text());
}
TestSuite(observed, .init = setup, .fini = tarn_lake_teardown, .timeout = 60);

static void expect_paths(const char *query, const char *want)
{
    TARN_AUTO_DONE(buf) struct tarn_buf got = { 0 };
    char target[256];
    size_t i;
    json_t *file;

    snprintf(target, sizeof target, "/api/table/t/files%s", query);
    cr_assert(eq(uint, tarn_ask("GET", target, NULL), 200), "%s", tarn_answer_text());
    json_array_foreach(json_object_get(tarn_answer(), "files"), i, file)
        tarn_buf_addf(&got, "%s%s", i ? " " : "", json_string_value(json_object_get(file, "path")));
    cr_expect(strcmp(got.data ? got.data : "", want) == 0, "%s gives %s", query, tarn_answer_text());
}

Test(observed, files_are_those_of_the_document_in_its_order)
{
    expect_paths("", "date=1/a.parquet date=2/b.parquet date=2/c.parquet");
    cr_expect(eq(i64, tarn_answer_i64("version"), 7));
    cr_expect(eq(int, json_is_null(json_object_get(tarn_answer(), "transaction")), 1));
    expect_paths("?partition.date=2", "date=2/b.parquet date=2/c.parquet");
    expect_paths("?version=7", "date=1/a.parquet date=2/b.parquet date=2/c.parquet");
    cr_expect(eq(uint, tarn_ask("GET", "/api/table/t/files?version=6", NULL), 404));
    cr_expect(eq(uint, tarn_ask("GET", "/api/table/t/files?as_of=2024-02-01T00:00:00Z", NULL), 409));
    cr_expect(eq(uint, tarn_ask("GET", "/api/table/t/files?partition.hour=2", NULL), 400));
}

Test(observed, a_chain_of_pages_is_of_one_document)
{
    char target[256];

    expect_paths("?page_size=2", "date=1/a.parquet date=2/b.parquet");
    snprintf(target, sizeof target, "?page_size=2&page_token=%s", tarn_answer_str("next_page_token"));
    expect_paths(target, "date=2/c.parquet");
    cr_expect(eq(int, json_is_null(json_object_get(tarn_answer(), "next_page_token")), 1));
    tarn_set_mtime(tarn_path(s_root, "manifest.json"), 1706797900000);
    char whole[320];
    snprintf(whole, sizeof whole, "/api/table/t/files%s", target);
    cr_expect(eq(uint, tarn_ask("GET", whole, NULL), 400));
    cr_expect(eq(str, (char *)tarn_answer_str("field"), (char *)"page_token"));
}

Test(observed, files_come_as_lines_and_as_uris_too)
{
    tarn_ask_header("Accept", "text/uri-list");
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/files", NULL), 200));
    cr_expect(tarn_has(tarn_answer_text(), "/t/date=2/b.parquet\r\n"));
    tarn_ask_header("Accept", "application/x-ndjson");
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/files", NULL), 200));
    cr_expect(tarn_has(tarn_answer_text(), "{\"path\":\"date=1/a.parquet\",\"size\":10,"), "%s", tarn_answer_text());
}

Test(observed, the_manifest_is_the_document_byte_for_byte)
{
    char etag[128];

    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/manifest", NULL), 200));
    cr_expect(eq(str, (char *)tarn_answer_text(), (char *)k_manifest));
    snprintf(etag, sizeof etag, "%s", tarn_answer_header("ETag"));
    tarn_ask_header("If-None-Match", etag);
    cr_expect(eq(uint, tarn_ask("GET", "/api/table/t/manifest", NULL), 304));
    write_manifest("{\"files\":[],\"version\":8}");
    tarn_ask_header("If-None-Match", etag);
    cr_expect(eq(uint, tarn_ask("GET", "/api/table/t/manifest", NULL), 200));
    expect_paths("", "");
    cr_expect(eq(i64, tarn_answer_i64("version"), 8));
}

Test(observed, a_document_that_is_none_is_told_before_the_answer_begins)
{
    static const char *const k_texts[] = { "", "[]", "{\"files\":[{\"path\":1}]}", "{\"version\":1}",
                                           "{\"files\":[{\"path\":\"a\"}" };

    for (size_t i = 0; i < sizeof k_texts / sizeof k_texts[0]; i++) {
        write_manifest(k_texts[i]);
        cr_expect(eq(uint, tarn_ask("GET", "/api/table/t/files", NULL), 422), "%s", k_texts[i]);
        cr_expect(eq(str, (char *)tarn_answer_str("code"), (char *)"location_unreachable"));
    }
    tarn_remove_tree(s_root);
    cr_expect(eq(uint, tarn_ask("GET", "/api/table/t/files", NULL), 422));
    cr_expect(eq(uint, tarn_ask("GET", "/api/table/t/manifest", NULL), 422));
}

/* More files than one read of the list takes. */
Test(observed, a_long_document_is_told_whole)
{
    TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };

    tarn_buf_adds(&text, "{\"version\":9,\"files\":[");
    for (int i = 0; i < 2345; i++)
        tarn_buf_addf(&text, "%s{\"path\":\"f%d.parquet\",\"size\":1}", i ? "," : "", i);
    tarn_buf_adds(&text, "]}");
    write_manifest(text.data);
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/files", NULL), 200));
    cr_expect(eq(sz, json_array_size(json_object_get(tarn_answer(), "files")), 2345));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/files?page_size=1000", NULL), 200));
    cr_expect(eq(sz, json_array_size(json_object_get(tarn_answer(), "files")), 1000));
}

Test(observed, of_another_format_only_its_engine_knows_the_files)
{
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"d\",\"mode\":\"observed\",\"format\":\"delta\","
                                "\"location\":\"%s\"}", s_root), 201), "%s", tarn_answer_text());
    cr_expect(eq(uint, tarn_ask("GET", "/api/table/d/files", NULL), 409));
    cr_expect(eq(uint, tarn_ask("GET", "/api/table/d/manifest", NULL), 409));
}
