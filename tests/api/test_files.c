/* The newest snapshot over the API: JSON, NDJSON, URIs, partitions, pages; and the manifest document. */
#include "tests/support/lake.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#define URL "/api/table/t/files"

static void commit(const char *ops)
{
    cr_assert(tarn_ask("POST", "/api/table/t/commits", "{\"dataChange\":false,\"operations\":[%s]}", ops) == 201, "%s",
              tarn_answer_text());
}

static void setup(void)
{
    tarn_lake_setup();
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables",
                                "{\"name\":\"t\",\"location\":\"%s/my table\",\"partition_keys\":[\"hour\"]}",
                                g_lake->root), 201), "%s", tarn_answer_text());
}
TestSuite(files, .init = setup, .fini = tarn_lake_teardown, .timeout = 60);

static void fill(void)
{
    commit("{\"type\":\"add_file\",\"path\":\"h=1/a b.parquet\",\"size\":5,\"numRecords\":2,"
           "\"partitionValues\":{\"hour\":1},\"columnStats\":{\"u\":{\"min\":1,\"max\":2}}},"
           "{\"type\":\"add_file\",\"path\":\"h=2/\xc3\xa4.parquet\",\"size\":6,\"partitionValues\":{\"hour\":\"2\"}}");
}

static const json_t *files(void) { return json_object_get(tarn_answer(), "files"); }

static unsigned get(const char *url, const char *accept)
{
    if (accept)
        tarn_ask_header("Accept", accept);
    return tarn_ask("GET", url, NULL);
}

Test(files, an_empty_table_has_none_at_version_0)
{
    cr_assert(eq(uint, get(URL, NULL), 200));
    cr_expect(eq(str, (char *)tarn_answer_text(),
                 "{\"version\":0,\"transaction\":null,\"schema_version\":0,\"files\":[],\"next_page_token\":null}"));
}

Test(files, what_was_committed_is_told_in_the_manifests_words)
{
    fill();
    cr_assert(eq(uint, get(URL, NULL), 200));
    cr_expect(eq(i64, tarn_answer_i64("version"), 1));
    cr_expect(eq(str, (char *)tarn_answer_str("transaction"), "txn-1"));
    const json_t *first = json_array_get(files(), 0);
    cr_expect(eq(str, (char *)json_string_value(json_object_get(first, "path")), "h=1/a b.parquet"));
    cr_expect(eq(i64, json_integer_value(json_object_get(first, "size")), 5));
    cr_expect(eq(i64, json_integer_value(json_object_get(first, "numRecords")), 2));
    const json_t *stats = json_object_get(json_object_get(first, "columnStats"), "u");
    cr_expect(eq(i64, json_integer_value(json_object_get(stats, "max")), 2));
}

Test(files, accept_chooses_the_form)
{
    char want[2048];

    fill();
    cr_assert(eq(uint, get(URL, "text/uri-list"), 200));
    snprintf(want, sizeof want, "file://%s/my%%20table/h=1/a%%20b.parquet\r\nfile://%s/my%%20table/h=2/%%C3%%A4.parquet\r\n",
             g_lake->root, g_lake->root);
    cr_expect(eq(str, (char *)tarn_answer_text(), want));
    cr_assert(eq(uint, get(URL, "application/x-ndjson"), 200));
    const char *line = strchr(tarn_answer_text(), '\n');
    cr_assert(line != NULL);
    cr_expect(eq(int, tarn_answer_text()[0], '{'));
    cr_expect(eq(int, line[1], '{'));
    cr_expect(eq(int, tarn_answer_text()[strlen(tarn_answer_text()) - 1], '\n'));
}

Test(files, a_partition_value_is_compared_as_text)
{
    fill();
    cr_assert(eq(uint, get(URL "?partition.hour=1", NULL), 200));
    cr_expect(eq(sz, json_array_size(files()), 1));
    cr_assert(eq(uint, get(URL "?partition.hour=2", NULL), 200));
    cr_expect(eq(sz, json_array_size(files()), 1));
    cr_assert(eq(uint, get(URL "?partition.hour=3", NULL), 200));
    cr_expect(eq(sz, json_array_size(files()), 0));
    cr_expect(eq(uint, get(URL "?partition.day=3", NULL), 400));
    cr_expect(eq(str, (char *)tarn_answer_str("field"), "partition.day"));
}

Test(files, a_partition_value_that_nobody_committed_comes_from_the_path)
{
    fill();
    commit("{\"type\":\"add_file\",\"path\":\"hour=3/a.parquet\",\"size\":1},"
           "{\"type\":\"add_file\",\"path\":\"bare.parquet\",\"size\":1}");
    cr_assert(eq(uint, get(URL "?partition.hour=3", NULL), 200));
    cr_assert(eq(sz, json_array_size(files()), 1));
    cr_expect(eq(str, (char *)json_string_value(json_object_get(json_array_get(files(), 0), "path")),
                 "hour=3/a.parquet"));
}

Test(files, a_chain_of_pages_is_one_snapshot)
{
    char url[4096];

    commit("{\"type\":\"add_file\",\"path\":\"a\",\"size\":1},{\"type\":\"add_file\",\"path\":\"b\",\"size\":1},"
           "{\"type\":\"add_file\",\"path\":\"c\",\"size\":1}");
    cr_assert(eq(uint, get(URL "?page_size=2", NULL), 200));
    cr_expect(eq(sz, json_array_size(files()), 2));
    snprintf(url, sizeof url, URL "?page_size=2&page_token=%s", tarn_answer_str("next_page_token"));
    commit("{\"type\":\"remove_file\",\"path\":\"c\"},{\"type\":\"add_file\",\"path\":\"bb\",\"size\":1}");
    cr_assert(eq(uint, get(url, NULL), 200), "%s", tarn_answer_text());
    cr_expect(eq(i64, tarn_answer_i64("version"), 1));
    cr_expect(eq(str, (char *)tarn_answer_str("transaction"), "txn-1"));
    cr_assert(eq(sz, json_array_size(files()), 1));
    cr_expect(eq(str, (char *)json_string_value(json_object_get(json_array_get(files(), 0), "path")), "c"));
}

Test(files, the_manifest_is_the_document_that_is_published)
{
    fill();
    cr_assert(eq(uint, get("/api/table/t/manifest", NULL), 200), "%s", tarn_answer_text());
    cr_expect(eq(i64, tarn_answer_i64("version"), 1));
    cr_expect(eq(str, (char *)tarn_answer_str("catalog"), g_lake->lake.catalog_id));
    cr_expect(eq(sz, json_array_size(files()), 2));
    tarn_ask_header("If-None-Match", tarn_answer_header("ETag"));
    cr_expect(eq(uint, tarn_ask("GET", "/api/table/t/manifest", NULL), 304));
}

Test(files, ten_thousand_files_in_one_commit_stream_back)
{
    TARN_AUTO_DONE(buf) struct tarn_buf ops = { 0 };

    for (int i = 0; i < 10000; i++)
        tarn_buf_addf(&ops, "%s{\"type\":\"add_file\",\"path\":\"f%05d\",\"size\":1}", i ? "," : "", i);
    commit(ops.data);
    cr_assert(eq(uint, get(URL, NULL), 200));
    cr_expect(eq(sz, json_array_size(files()), 10000));
    cr_assert(eq(uint, get("/api/table/t/manifest", NULL), 200));
    cr_expect(eq(sz, json_array_size(files()), 10000));
}
