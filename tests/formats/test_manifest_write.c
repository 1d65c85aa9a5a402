/* test_manifest_write.c - documents out: their exact bytes, by hand from docs/FORMAT.md. */
#include "formats/manifest/manifest.h"
#include "base/json.h"
#include "base/jsonw.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

static const struct tarn_table k_table = { .uuid = "0e6ab3c1-6a40-4a0b-9df7-6a3b3c1d2e4f",
                                           .namespace_ = "sales",
                                           .name = "a.b" };
static const struct tarn_file k_full = {
    .path = "date=2024-02-01/a \"q\".parquet",
    .size = 12,
    .records = 3,
    .schema_version = 2,
    .partition_values = "{\"date\":\"2024-02-01\"}",
    .column_stats = "{\"id\":{\"min\":1}}",
    .removed_version = -1,
};
static const struct tarn_file k_bare = {
    .path = "b.parquet", .size = 0, .records = -1, .removed_version = -1
};

Test(manifest_write, a_manifest_has_one_file_a_line)
{
    TARN_AUTO_DONE(buf) struct tarn_buf out = { 0 };
    struct tarn_jsonw w = tarn_jsonw_to(&out);
    tarn_manifest_write_head(&w, &k_table, "cat-1", 7, "txn-7", 1706797935250, 2);
    tarn_manifest_write_file(&w, &k_full);
    tarn_manifest_write_file(&w, &k_bare);
    tarn_manifest_write_end(&w);
    cr_expect(
        eq(str, out.data,
           "{\"version\":7,\"last_updated\":\"2024-02-01T14:32:15.250Z\",\"table\":\"sales.\\\"a.b\\\"\","
           "\"catalog\":\"cat-1\",\"table_uuid\":\"0e6ab3c1-6a40-4a0b-9df7-6a3b3c1d2e4f\",\"transaction\":"
           "\"txn-7\","
           "\"schema_version\":2,\"files\":[\n"
           "{\"path\":\"date=2024-02-01/a "
           "\\\"q\\\".parquet\",\"size\":12,\"partitionValues\":{\"date\":\"2024-02-01\"},"
           "\"columnStats\":{\"id\":{\"min\":1}},\"numRecords\":3,\"schemaVersion\":2}\n"
           ",{\"path\":\"b.parquet\",\"size\":0}\n"
           "]}\n"));
    json_auto_t *tree = NULL;
    cr_expect(eq(int, tarn_json_parse(out.data, out.len, NULL, &tree, NULL), TARN_OK));
}

Test(manifest_write, version_0_has_no_transaction_and_no_schema)
{
    TARN_AUTO_DONE(buf) struct tarn_buf out = { 0 };
    struct tarn_jsonw w = tarn_jsonw_to(&out);
    tarn_manifest_write_head(&w, &k_table, "cat-1", 0, NULL, 1706797935000, 0);
    tarn_manifest_write_end(&w);
    cr_expect(eq(
        str, out.data,
        "{\"version\":0,\"last_updated\":\"2024-02-01T14:32:15Z\",\"table\":\"sales.\\\"a.b\\\"\","
        "\"catalog\":\"cat-1\",\"table_uuid\":\"0e6ab3c1-6a40-4a0b-9df7-6a3b3c1d2e4f\",\"files\":[\n]}\n"));
}

Test(manifest_write, what_a_rebuilt_catalog_needs_is_told)
{
    TARN_AUTO_DONE(buf) struct tarn_buf out = { 0 };
    struct tarn_jsonw w = tarn_jsonw_to(&out);
    struct tarn_table table = k_table;
    table.created_at = 1706797800500;
    table.first_version = 5;
    table.partition_keys = (char *)"[\"date\"]";
    tarn_manifest_write_head(&w, &table, "cat-1", 7, "txn-7", 1706797935000, 0);
    tarn_manifest_write_end(&w);
    cr_expect(eq(
        str, out.data,
        "{\"version\":7,\"last_updated\":\"2024-02-01T14:32:15Z\",\"table\":\"sales.\\\"a.b\\\"\","
        "\"catalog\":\"cat-1\",\"table_uuid\":\"0e6ab3c1-6a40-4a0b-9df7-6a3b3c1d2e4f\",\"transaction\":\"txn-7\","
        "\"partition_keys\":[\"date\"],\"created_at\":\"2024-02-01T14:30:00.500Z\",\"first_version\":5,\"files\":[\n]}\n"));

    const struct tarn_commit_row commit = { .version = 7,
                                            .transaction = (char *)"txn-7",
                                            .committed_at = 1706797935000,
                                            .schema_version = 2,
                                            .data_change = true,
                                            .body_hash = "ab12",
                                            .batch_ids = (char *)"[\"b\"]",
                                            .group = "g",
                                            .is_rollback = true,
                                            .rollback_to = 0 };
    tarn_buf_clear(&out);
    w = tarn_jsonw_to(&out);
    struct tarn_file born = k_bare, adopted = k_full;
    born.added_version = 6;
    adopted.added_version = 5;
    tarn_entry_write_head(&w, &table, "cat-1", &commit);
    tarn_entry_write_op(&w, &born, false, table.first_version);
    tarn_entry_write_op(&w, &adopted, false, table.first_version);
    tarn_entry_write_end(&w, &commit);
    cr_expect(eq(str, out.data,
                 "{\"id\":\"txn-7\",\"timestamp\":\"2024-02-01T14:32:15Z\",\"version\":7,\"catalog\":\"cat-1\","
                 "\"table_uuid\":\"0e6ab3c1-6a40-4a0b-9df7-6a3b3c1d2e4f\",\"group\":\"g\",\"schema_version\":2,"
                 "\"rollback_to\":0,\"body_sha256\":\"ab12\",\"dataChange\":true,\"operations\":[\n"
                 "{\"type\":\"remove_file\",\"path\":\"b.parquet\"}\n"
                 ",{\"type\":\"remove_file\",\"path\":\"date=2024-02-01/a \\\"q\\\".parquet\",\"size\":12,"
                 "\"partitionValues\":{\"date\":\"2024-02-01\"},\"columnStats\":{\"id\":{\"min\":1}},\"numRecords\":3,"
                 "\"schemaVersion\":2}\n"
                 "],\"batch_ids\":[\"b\"]}\n"));
}

Test(manifest_write, an_entry_has_the_founding_members_and_tarn_s)
{
    TARN_AUTO_DONE(buf) struct tarn_buf out = { 0 };
    struct tarn_jsonw w = tarn_jsonw_to(&out);
    const struct tarn_commit_row commit = { .version = 7,
                                            .transaction = (char *)"txn-7",
                                            .committed_at = 1706797935000,
                                            .metadata = (char *)"{\"author\":\"me\"}",
                                            .data_change = false };
    tarn_entry_write_head(&w, &k_table, "cat-1", &commit);
    tarn_entry_write_op(&w, &k_bare, false, 0);
    tarn_entry_write_op(&w, &k_full, true, 0);
    tarn_entry_write_end(&w, &commit);
    cr_expect(eq(
        str, out.data,
        "{\"id\":\"txn-7\",\"timestamp\":\"2024-02-01T14:32:15Z\",\"version\":7,\"catalog\":\"cat-1\","
        "\"table_uuid\":\"0e6ab3c1-6a40-4a0b-9df7-6a3b3c1d2e4f\",\"schema_version\":0,\"dataChange\":false,\"operations\":[\n"
        "{\"type\":\"remove_file\",\"path\":\"b.parquet\"}\n"
        ",{\"type\":\"add_file\",\"path\":\"date=2024-02-01/a \\\"q\\\".parquet\",\"size\":12,"
        "\"partitionValues\":{\"date\":\"2024-02-01\"},\"columnStats\":{\"id\":{\"min\":1}},\"numRecords\":3,"
        "\"schemaVersion\":2}\n"
        "],\"commitMetadata\":{\"author\":\"me\"}}\n"));
}
