/* test_iceberg_snapshots.c - snapshots, sequence numbers, row ids, refs, removal and the two logs. Expected values: Iceberg
 * table specification ("Snapshots", "Sequence Numbers", "Row Lineage") and the reference's builder, worked out by hand. */
#include "tests/support/iceberg_rows.h"
#include <criterion/criterion.h>

#define CHECK(rows) tarn_iceberg_rows_check(rows, sizeof(rows) / sizeof *(rows))
#define FILE_OF(id) "'manifest-list':'file:///lake/t/metadata/" id ".avro','summary':{'operation':'append'},'schema-id':0"
#define SNAP(id, more, at) "{'snapshot-id':" id "," more "'timestamp-ms':" at "," FILE_OF(id) "}"
#define S11 "{'snapshot-id':11,'sequence-number':1,'timestamp-ms':1000," FILE_OF("11") "}"
#define S12 "{'snapshot-id':12,'parent-snapshot-id':11,'sequence-number':2,'timestamp-ms':2000," FILE_OF("12") "}"
#define S13 SNAP("13", "'parent-snapshot-id':12,'sequence-number':3,", "3000")
#define S14 SNAP("14", "'parent-snapshot-id':13,'sequence-number':4,", "4000")
#define ADD(snapshot) "{'action':'add-snapshot','snapshot':" snapshot "}"
#define REF(name, id) "{'action':'set-snapshot-ref','ref-name':'" name "','type':'branch','snapshot-id':" id "}"
#define LOG(at, id) "{'timestamp-ms':" at ",'snapshot-id':" id "}"
#define BRANCH(id) "{'snapshot-id':" id ",'type':'branch'}"

Test(iceberg_snapshots, a_snapshot_is_added_and_main_moves)
{
    static const struct tarn_iceberg_row rows[] = {
        { "an append", NULL, "[" ADD(S13) "," REF("main", "13") "]",
          "{'last-updated-ms':3000,'last-sequence-number':3,'current-snapshot-id':13,'refs':{'main':" BRANCH("13") "},"
          "'snapshots':[" S11 "," S12 "," S13 "],'snapshot-log':[" LOG("1000", "11") "," LOG("2000", "12") "," LOG("3000", "13") "]}",
          NULL, 0 },
        { "on a branch; main stays", NULL, "[" ADD(S13) "," REF("b1", "13") "]",
          "{'last-updated-ms':3000,'last-sequence-number':3,'refs':{'b1':" BRANCH("13") "},'snapshots':[" S11 "," S12 "," S13 "]}",
          NULL, 0 },
        { "two in one commit: the log has the last one", NULL,
          "[" ADD(S13) "," REF("main", "13") "," ADD(S14) "," REF("main", "14") "]",
          "{'last-updated-ms':4000,'last-sequence-number':4,'current-snapshot-id':14,'refs':{'main':" BRANCH("14") "},"
          "'snapshots':[" S11 "," S12 "," S13 "," S14 "],"
          "'snapshot-log':[" LOG("1000", "11") "," LOG("2000", "12") "," LOG("4000", "14") "]}",
          NULL, 0 },
        { "nothing", NULL, "[{'action':'add-snapshot','snapshot':null}]", NULL, NULL, 0 },
        { "an id that is there", NULL, "[" ADD(S12) "]", NULL, "Snapshot already exists for id: 12", 0 },
        { "an id beyond what a double holds", NULL, "[" ADD(SNAP("9223372036854775807", "'sequence-number':3,", "3000")) "]",
          "{'last-updated-ms':3000,'last-sequence-number':3,'snapshots':[" S11 "," S12 ","
          SNAP("9223372036854775807", "'sequence-number':3,", "3000") "]}", NULL, 0 },
        { "no timestamp", NULL, "[{'action':'add-snapshot','snapshot':{'snapshot-id':13}}]", NULL,
          "Cannot parse missing field: timestamp-ms", 0 },
        { "no file tells what is in it", NULL, "[{'action':'add-snapshot','snapshot':{'snapshot-id':13,'sequence-number':3,'timestamp-ms':1}}]", NULL,
          "Cannot parse missing field: manifest-list", 0 },
        { "the manifests themselves, as version 1 has it", NULL,
          "[" ADD("{'snapshot-id':13,'sequence-number':3,'timestamp-ms':3000,'manifests':['a','b']}") "]",
          "{'last-updated-ms':3000,'last-sequence-number':3,'snapshots':[" S11 "," S12 ","
          "{'snapshot-id':13,'sequence-number':3,'timestamp-ms':3000,'manifests':['a','b']}]}", NULL, 0 },
        { "an id that stands for none", NULL, "[" ADD(SNAP("-1", "'sequence-number':3,", "3000")) "]", NULL,
          "Invalid snapshot-id: -1 stands for no snapshot", 0 },
        { "a number in the summary", NULL,
          "[" ADD("{'snapshot-id':13,'sequence-number':3,'timestamp-ms':3000,'manifest-list':'a','summary':{'operation':'append','n':1}}") "]", NULL,
          "Cannot parse summary: the value of \"n\" must be text", 0 },
        { "a sequence number, which version 1 has not",
          "{'format-version':1,'snapshots':[],'refs':null,'current-snapshot-id':null,'snapshot-log':[],'last-sequence-number':null}",
          "[" ADD(SNAP("13", "'sequence-number':3,", "3000")) "]", NULL,
          "Invalid snapshot with sequence number 3 greater than last sequence number 0", 0 },
        { "manifests that are no files", NULL, "[" ADD("{'snapshot-id':13,'sequence-number':3,'timestamp-ms':3000,'manifests':[1]}") "]", NULL,
          "Cannot parse manifests: it must be an array of text", 0 },
        { "an id as text", NULL, "[{'action':'add-snapshot','snapshot':{'snapshot-id':'13','timestamp-ms':1}}]", NULL,
          "Cannot parse snapshot-id: it must be a whole number", 0 },
        { "an id that is no whole number", NULL, "[{'action':'add-snapshot','snapshot':{'snapshot-id':13.5,'timestamp-ms':1}}]",
          NULL, "Cannot parse snapshot-id: it must be a whole number", 0 },
    };
    CHECK(rows);
}

Test(iceberg_snapshots, a_log_holds_no_time_that_cannot_be_counted_with)
{
    static const char k_empty[] = "{'snapshots':[],'refs':null,'current-snapshot-id':null,'snapshot-log':[],'last-sequence-number':0}";
    static const struct tarn_iceberg_row rows[] = {
        { "the earliest", k_empty, "[" ADD(SNAP("13", "'sequence-number':1,", "-9223372036854775808")) "," REF("main", "13") "]", NULL,
          "Expected sorted snapshot log entries", 0 },
    };
    CHECK(rows);
}

#define OLD(number, parent) "[" ADD(SNAP("13", parent "'sequence-number':" number ",", "3000")) "]"
#define BEHIND(number)                                                                                             \
    "Validation failed, please retry: Cannot add snapshot with sequence number " number " older than last sequence number 2"

Test(iceberg_snapshots, sequence_numbers_only_rise)
{
    static const struct tarn_iceberg_row rows[] = {
        { "equal, of two writers on one base", NULL, OLD("2", "'parent-snapshot-id':12,"), NULL, BEHIND("2"),
          TARN_VERSION_CONFLICT },
        { "lower", NULL, OLD("1", "'parent-snapshot-id':12,"), NULL, BEHIND("1"), TARN_VERSION_CONFLICT },
        { "absent", NULL, "[" ADD(SNAP("13", "'parent-snapshot-id':12,", "3000")) "]", NULL, BEHIND("0"),
          TARN_VERSION_CONFLICT },
        { "lower without a parent: the last one stays", NULL, OLD("1", ""),
          "{'last-updated-ms':3000,'snapshots':[" S11 "," S12 "," SNAP("13", "'sequence-number':1,", "3000") "]}", NULL, 0 },
        { "absent without a parent", NULL, "[" ADD(SNAP("13", "", "3000")) "]",
          "{'last-updated-ms':3000,'snapshots':[" S11 "," S12 "," SNAP("13", "", "3000") "]}", NULL, 0 },
    };
    CHECK(rows);
}

#define ROWS(more) "[" ADD(SNAP("13", "'parent-snapshot-id':12,'sequence-number':3," more, "3000")) "]"

Test(iceberg_snapshots, row_ids_of_version_3_only_rise)
{
    static const struct tarn_iceberg_row rows[] = {
        { "one run of rows", "{'format-version':3,'next-row-id':20}", ROWS("'first-row-id':20,'added-rows':7,"),
          "{'last-updated-ms':3000,'last-sequence-number':3,'next-row-id':27,'snapshots':[" S11 "," S12 ","
          SNAP("13", "'parent-snapshot-id':12,'sequence-number':3,'first-row-id':20,'added-rows':7,", "3000") "]}", NULL, 0 },
        { "no first row", "{'format-version':3,'next-row-id':20}", ROWS("'added-rows':7,"), NULL,
          "Cannot add a snapshot: first-row-id is null", 0 },
        { "no rows told", "{'format-version':3,'next-row-id':20}", ROWS("'first-row-id':20,"), NULL,
          "Cannot add a snapshot: added-rows is null", 0 },
        { "behind", "{'format-version':3,'next-row-id':20}", ROWS("'first-row-id':19,'added-rows':7,"), NULL,
          "Validation failed, please retry: Cannot add a snapshot, first-row-id is behind table next-row-id: 19 < 20",
          TARN_VERSION_CONFLICT },
        { "beyond what is counted", "{'format-version':3,'next-row-id':20}",
          ROWS("'first-row-id':20,'added-rows':9223372036854775807,"), NULL,
          "Cannot add a snapshot: next-row-id overflows", 0 },
        { "upgraded in the same commit: rows from 0", NULL,
          "[{'action':'upgrade-format-version','format-version':3},"
          ADD(SNAP("13", "'parent-snapshot-id':12,'sequence-number':3,'first-row-id':0,'added-rows':7,", "3000")) "]",
          "{'format-version':3,'last-updated-ms':3000,'last-sequence-number':3,'next-row-id':7,'snapshots':[" S11 "," S12 ","
          SNAP("13", "'parent-snapshot-id':12,'sequence-number':3,'first-row-id':0,'added-rows':7,", "3000") "]}", NULL, 0 },
    };
    CHECK(rows);
}

static const char k_tagged[] = "{'refs':{'t1':{'snapshot-id':11,'type':'tag'}}}";

Test(iceberg_snapshots, refs_are_set_and_removed)
{
    static const struct tarn_iceberg_row rows[] = {
        { "a rollback is dated now", NULL, "[" REF("main", "11") "]",
          "{'current-snapshot-id':11,'refs':{'main':" BRANCH("11") "},"
          "'snapshot-log':[" LOG("1000", "11") "," LOG("2000", "12") "," LOG("5000", "11") "]}", NULL, 0 },
        { "the same ref", NULL, "[" REF("main", "12") "]", NULL, NULL, 0 },
        { "a tag with its age", NULL,
          "[{'action':'set-snapshot-ref','ref-name':'t2','type':'tag','snapshot-id':11,'max-ref-age-ms':7}]",
          "{'refs':{'t2':{'snapshot-id':11,'type':'tag','max-ref-age-ms':7}}}", NULL, 0 },
        { "a branch with all", NULL,
          "[{'action':'set-snapshot-ref','ref-name':'b','type':'branch','snapshot-id':11,'max-ref-age-ms':7,"
          "'max-snapshot-age-ms':8,'min-snapshots-to-keep':9}]",
          "{'refs':{'b':{'snapshot-id':11,'type':'branch','max-ref-age-ms':7,'max-snapshot-age-ms':8,'min-snapshots-to-keep':9}}}",
          NULL, 0 },
        { "nulls count as absent", k_tagged,
          "[{'action':'set-snapshot-ref','ref-name':'t1','type':'tag','snapshot-id':11,'max-ref-age-ms':null,"
          "'min-snapshots-to-keep':null}]",
          NULL, NULL, 0 },
        { "an unknown snapshot", NULL, "[" REF("b", "99") "]", NULL, "Cannot set b to unknown snapshot: 99", 0 },
        { "main as a tag", NULL, "[{'action':'set-snapshot-ref','ref-name':'main','type':'tag','snapshot-id':11}]", NULL,
          "Cannot set main to a tag, it must be a branch", 0 },
        { "no type of a ref", NULL, "[{'action':'set-snapshot-ref','ref-name':'b','type':'leaf','snapshot-id':11}]", NULL,
          "Invalid snapshot ref type: leaf", 0 },
        { "a tag that keeps snapshots", NULL,
          "[{'action':'set-snapshot-ref','ref-name':'t','type':'tag','snapshot-id':11,'min-snapshots-to-keep':2}]", NULL,
          "Tags do not support setting min-snapshots-to-keep", 0 },
        { "a tag with an age of snapshots", NULL,
          "[{'action':'set-snapshot-ref','ref-name':'t','type':'tag','snapshot-id':11,'max-snapshot-age-ms':2}]", NULL,
          "Tags do not support setting max-snapshot-age-ms", 0 },
        { "an age of nothing", NULL,
          "[{'action':'set-snapshot-ref','ref-name':'t','type':'tag','snapshot-id':11,'max-ref-age-ms':0}]", NULL,
          "max-ref-age-ms must be greater than 0", 0 },
        { "to keep nothing", NULL,
          "[{'action':'set-snapshot-ref','ref-name':'b','type':'branch','snapshot-id':11,'min-snapshots-to-keep':0}]", NULL,
          "min-snapshots-to-keep must be greater than 0", 0 },
        { "a ref goes", k_tagged, "[{'action':'remove-snapshot-ref','ref-name':'t1'}]", "{'refs':{'t1':null}}", NULL, 0 },
        { "an absent one", NULL, "[{'action':'remove-snapshot-ref','ref-name':'t1'}]", NULL, NULL, 0 },
        { "main goes, the log stays", NULL, "[{'action':'remove-snapshot-ref','ref-name':'main'}]",
          "{'current-snapshot-id':-1,'refs':{'main':null}}", NULL, 0 },
        { "main goes, in version 3", "{'format-version':3,'next-row-id':20}",
          "[{'action':'remove-snapshot-ref','ref-name':'main'}]",
          "{'current-snapshot-id':null,'refs':{'main':null}}", NULL, 0 },
        { "the table is replaced: history stays", NULL,
          "[{'action':'remove-snapshot-ref','ref-name':'main'}," ADD(SNAP("13", "'sequence-number':3,", "3000")) ","
          REF("main", "13") "]",
          "{'last-updated-ms':3000,'last-sequence-number':3,'current-snapshot-id':13,'refs':{'main':" BRANCH("13") "},"
          "'snapshots':[" S11 "," S12 "," SNAP("13", "'sequence-number':3,", "3000") "],"
          "'snapshot-log':[" LOG("1000", "11") "," LOG("2000", "12") "," LOG("3000", "13") "]}", NULL, 0 },
    };
    CHECK(rows);
}

#define THREE                                                                                                      \
    "{'last-sequence-number':3,'last-updated-ms':3000,'current-snapshot-id':13,'snapshots':[" S11 "," S12 "," S13 "]," \
    "'snapshot-log':[" LOG("1000", "11") "," LOG("2000", "12") "," LOG("3000", "13") "],"                          \
    "'refs':{'main':" BRANCH("13") ",'old':" BRANCH("11") ",'mid':{'snapshot-id':12,'type':'tag'}},"                   \
    "'statistics':[{'snapshot-id':12,'statistics-path':'a','file-size-in-bytes':1},"                                  \
    "{'snapshot-id':13,'statistics-path':'b','file-size-in-bytes':1}],"                                               \
    "'partition-statistics':[{'snapshot-id':12,'statistics-path':'c','file-size-in-bytes':1}]}"
#define REMOVE(ids) "[{'action':'remove-snapshots','snapshot-ids':[" ids "]}]"

Test(iceberg_snapshots, what_names_a_removed_snapshot_goes_with_it)
{
    static const struct tarn_iceberg_row rows[] = {
        { "the middle one: the log begins after it", THREE, REMOVE("12"),
          "{'snapshots':[" S11 "," S13 "],'snapshot-log':[" LOG("3000", "13") "],'refs':{'mid':null},"
          "'statistics':[{'snapshot-id':13,'statistics-path':'b','file-size-in-bytes':1}],'partition-statistics':[]}", NULL, 0 },
        { "the first one", THREE, REMOVE("11"),
          "{'snapshots':[" S12 "," S13 "],'snapshot-log':[" LOG("2000", "12") "," LOG("3000", "13") "],'refs':{'old':null}}",
          NULL, 0 },
        { "several, and one that is not there", THREE, REMOVE("12,11,99"),
          "{'snapshots':[" S13 "],'snapshot-log':[" LOG("3000", "13") "],'refs':{'mid':null,'old':null},"
          "'statistics':[{'snapshot-id':13,'statistics-path':'b','file-size-in-bytes':1}],'partition-statistics':[]}", NULL, 0 },
        { "main's: there is no current one", THREE, REMOVE("13"),
          "{'snapshots':[" S11 "," S12 "],'snapshot-log':[],'refs':{'main':null},'current-snapshot-id':-1,"
          "'statistics':[{'snapshot-id':12,'statistics-path':'a','file-size-in-bytes':1}]}", NULL, 0 },
        { "none that is there", THREE, REMOVE("98,99"), NULL, NULL, 0 },
        { "none", THREE, REMOVE(""), NULL, NULL, 0 },
        { "ids as text", THREE, REMOVE("'12'"), NULL, "Cannot parse snapshot-ids: it must be an array of whole numbers", 0 },
        { "no ids", THREE, "[{'action':'remove-snapshots'}]", NULL, "Cannot parse missing field: snapshot-ids", 0 },
    };
    CHECK(rows);
}

#define FILE_ENTRY(at, file) "{'timestamp-ms':" at ",'metadata-file':'" file "'}"
#define KEEP(max, more)                                                                                            \
    "{'properties':{'write.metadata.previous-versions-max':'" max "'},"                                             \
    "'metadata-log':[" FILE_ENTRY("500", "a") "," FILE_ENTRY("600", "b") "," FILE_ENTRY("700", "c") "]" more "}"
#define LOCATE "[{'action':'set-location','location':'file:///x'}]"
#define KEPT(list) "{'location':'file:///x','metadata-log':[" list FILE_ENTRY("2000", TARN_ROW_FILE) "]}"

Test(iceberg_snapshots, the_log_of_metadata_files_is_as_long_as_the_property_says)
{
    static const struct tarn_iceberg_row rows[] = {
        { "the new one counts", KEEP("2", ""), LOCATE, KEPT(FILE_ENTRY("700", "c") ","), NULL, 0 },
        { "one", KEEP("1", ""), LOCATE, KEPT(""), NULL, 0 },
        { "less than one", KEEP("0", ""), LOCATE, KEPT(""), NULL, 0 },
        { "below zero", KEEP("-5", ""), LOCATE, KEPT(""), NULL, 0 },
        { "more than there are", KEEP("9", ""), LOCATE,
          KEPT(FILE_ENTRY("500", "a") "," FILE_ENTRY("600", "b") "," FILE_ENTRY("700", "c") ","), NULL, 0 },
        { "no number: the default", KEEP("many", ""), LOCATE,
          KEPT(FILE_ENTRY("500", "a") "," FILE_ENTRY("600", "b") "," FILE_ENTRY("700", "c") ","), NULL, 0 },
        { "the new properties count", KEEP("9", ""),
          "[{'action':'set-properties','updates':{'write.metadata.previous-versions-max':'2'}}]",
          "{'properties':{'write.metadata.previous-versions-max':'2'},'metadata-log':[" FILE_ENTRY("700", "c") ","
          FILE_ENTRY("2000", TARN_ROW_FILE) "]}", NULL, 0 },
    };
    CHECK(rows);
}

/* A writer's clock may be behind the server's, or ahead of it. No log runs backwards by more than the minute that readers
 * let pass. */
#define LATE_BASE                                                                                                  \
    "{'last-updated-ms':900000,'snapshot-log':[" LOG("1000", "11") "," LOG("900000", "12") "]}"

Test(iceberg_snapshots, clocks_that_differ_do_not_turn_the_logs_around)
{
    static const struct tarn_iceberg_row rows[] = {
        { "the writer is behind", LATE_BASE, "[" ADD(S13) "," REF("main", "13") "]",
          "{'last-updated-ms':900000,'last-sequence-number':3,'current-snapshot-id':13,'refs':{'main':" BRANCH("13") "},"
          "'snapshots':[" S11 "," S12 "," S13 "],"
          "'snapshot-log':[" LOG("1000", "11") "," LOG("900000", "12") "," LOG("900000", "13") "]}", NULL, 0 },
        { "the server is behind", LATE_BASE, LOCATE, "{'last-updated-ms':900000,'location':'file:///x'}", NULL, 0 },
        { "the server is behind and main goes back", LATE_BASE, "[" REF("main", "11") "]",
          "{'last-updated-ms':900000,'current-snapshot-id':11,'refs':{'main':" BRANCH("11") "},"
          "'snapshot-log':[" LOG("1000", "11") "," LOG("900000", "12") "," LOG("900000", "11") "]}", NULL, 0 },
        { "less than a minute behind: told as it is", "{'last-updated-ms':3500,'snapshot-log':[" LOG("1000", "11") ","
          LOG("3500", "12") "]}", "[" ADD(S13) "," REF("main", "13") "]",
          "{'last-updated-ms':3500,'last-sequence-number':3,'current-snapshot-id':13,'refs':{'main':" BRANCH("13") "},"
          "'snapshots':[" S11 "," S12 "," S13 "],"
          "'snapshot-log':[" LOG("1000", "11") "," LOG("3500", "12") "," LOG("3000", "13") "]}", NULL, 0 },
    };
    CHECK(rows);
}

/* Several changes of one table in one transaction: there is one file before them. */
Test(iceberg_snapshots, two_lists_of_updates_on_one_base_log_its_file_once)
{
    const struct tarn_iceberg_change change = { TARN_ROW_NOW, TARN_ROW_FILE };
    json_t *base = tarn_patched(k_iceberg_table, KEEP("2", "")), *expected = NULL;
    json_t *lists[] = { tarn_quoted(LOCATE), tarn_quoted("[{'action':'set-location','location':'file:///y'}]") };
    struct tarn_iceberg_meta *meta = tarn_iceberg_of(base);
    bool changed = false;

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        cr_assert_eq(tarn_iceberg_update(meta, lists[i], &change, &changed, NULL), TARN_OK);
        json_decref(lists[i]);
    }
    json_t *found = tarn_iceberg_doc(meta);
    expected = tarn_quoted("[" FILE_ENTRY("700", "c") "," FILE_ENTRY("2000", TARN_ROW_FILE) "]");
    tarn_expect_same("metadata-log", json_object_get(found, "metadata-log"), expected);
    tarn_iceberg_free(meta);
    json_decref(found);
    json_decref(expected);
    json_decref(base);
}
