/* test_iceberg_summary.c - what the catalog and the monitors are told of a table. Source: Iceberg table specification,
 * "Optional Snapshot Summary Fields"; a snapshot whose operation is replace changes no data. */
#include "tests/support/iceberg.h"
#include <criterion/criterion.h>

#define TOTALS                                                                                                     \
    "'total-data-files':'4','total-files-size':'9007199254740993','total-records':'77','total-delete-files':'2'"
#define SNAP(id, parent, at, operation, more)                                                                      \
    "{'snapshot-id':" id ",'parent-snapshot-id':" parent ",'sequence-number':2,'timestamp-ms':" at                   \
    ",'summary':{'operation':'" operation "'" more "}}"
#define FIRST "{'snapshot-id':11,'sequence-number':1,'timestamp-ms':1000,'summary':{'operation':'append'}}"

static const struct {
    const char *name, *patch;
    struct tarn_iceberg_summary expected;
    const char *keys;
} k_rows[] = {
    { "totals", "{'snapshots':[" FIRST "," SNAP("12", "11", "2000", "append", "," TOTALS) "]}",
      { 12, 4, 9007199254740993, 77, 2, 2000, 0, 2 }, "[\"at_day\"]" },
    { "nothing told", NULL, { 12, -1, -1, -1, -1, 2000, 0, 2 }, "[\"at_day\"]" },
    { "a compaction brings no data", "{'snapshots':[" FIRST "," SNAP("12", "11", "2000", "replace", "") "]}",
      { 12, -1, -1, -1, -1, 1000, 0, 2 }, "[\"at_day\"]" },
    { "a delete changes data", "{'snapshots':[" FIRST "," SNAP("12", "11", "2000", "delete", "") "]}",
      { 12, -1, -1, -1, -1, 2000, 0, 2 }, "[\"at_day\"]" },
    { "the data before it expired", "{'snapshots':[" SNAP("12", "11", "2000", "replace", "") "]}",
      { 12, -1, -1, -1, -1, -1, 0, 1 }, "[\"at_day\"]" },
    { "snapshots that are each other's parents",
      "{'snapshots':[" SNAP("11", "12", "1000", "replace", "") "," SNAP("12", "11", "2000", "replace", "") "]}",
      { 12, -1, -1, -1, -1, -1, 0, 2 }, "[\"at_day\"]" },
    { "what a branch holds does not count",
      "{'last-sequence-number':2,'refs':{'b':{'snapshot-id':13,'type':'branch'}},'snapshots':[" FIRST ","
      SNAP("12", "11", "2000", "append", "") "," SNAP("13", "12", "3000", "append", "") "]}",
      { 12, -1, -1, -1, -1, 2000, 0, 3 }, "[\"at_day\"]" },
    { "numbers that are none",
      "{'snapshots':[" FIRST "," SNAP("12", "11", "2000", "append", ",'total-records':'many','total-data-files':'-3',"
                                      "'total-files-size':'99999999999999999999','total-delete-files':''") "]}",
      { 12, -1, -1, -1, -1, 2000, 0, 2 }, "[\"at_day\"]" },
    { "no snapshot: nothing in it",
      "{'current-snapshot-id':-1,'refs':{'main':null},'snapshots':[],'snapshot-log':[],"
      "'partition-specs':[{'spec-id':0,'fields':[{'source-id':2,'field-id':1000,'name':'at_day','transform':'void'},"
      "{'source-id':1,'field-id':1001,'name':'id','transform':'identity'}]}]}",
      { TARN_ICEBERG_NONE, 0, 0, 0, 0, -1, 0, 0 }, "[\"id\"]" },
};

Test(iceberg_summary, a_table_is_summed_up)
{
    for (size_t i = 0; i < sizeof k_rows / sizeof *k_rows; i++) {
        json_t *doc = tarn_patched(k_iceberg_table, k_rows[i].patch);
        struct tarn_iceberg_meta *meta = tarn_iceberg_of(doc);
        struct tarn_iceberg_summary found;
        const struct tarn_iceberg_summary *expected = &k_rows[i].expected;
        char *keys = NULL;
        tarn_iceberg_summarise(meta, &found);
        cr_expect_eq(found.snapshot_id, expected->snapshot_id, "%s: snapshot_id", k_rows[i].name);
        cr_expect_eq(found.files, expected->files, "%s: files %lld", k_rows[i].name, (long long)found.files);
        cr_expect_eq(found.bytes, expected->bytes, "%s: bytes %lld", k_rows[i].name, (long long)found.bytes);
        cr_expect_eq(found.records, expected->records, "%s: records %lld", k_rows[i].name, (long long)found.records);
        cr_expect_eq(found.delete_files, expected->delete_files, "%s: delete_files", k_rows[i].name);
        cr_expect_eq(found.last_data_change_ms, expected->last_data_change_ms, "%s: last_data_change_ms %lld", k_rows[i].name,
                     (long long)found.last_data_change_ms);
        cr_expect_eq(found.schema_id, expected->schema_id, "%s: schema_id", k_rows[i].name);
        cr_expect_eq(found.snapshots, expected->snapshots, "%s: snapshots", k_rows[i].name);
        cr_assert_eq(tarn_iceberg_partition_keys(meta, &keys, NULL), TARN_OK);
        cr_expect_str_eq(keys, k_rows[i].keys, "%s: %s", k_rows[i].name, keys);
        free(keys);
        tarn_iceberg_free(meta);
        json_decref(doc);
    }
}
