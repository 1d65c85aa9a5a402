/* test_iceberg_read.c - metadata documents of all versions, read and written again: what earlier versions leave out is filled
 * in, what is not known is kept, and what cannot be is refused by name. Source: Iceberg table specification, "Table Metadata
 * Fields", "Appendix C", "Appendix E". */
#include "base/json.h"
#include "tests/support/iceberg.h"
#include <criterion/criterion.h>
#include <string.h>

#define SCHEMA "{'type':'struct','fields':[{'id':1,'name':'id','required':true,'type':'long'}]}"
#define SCHEMA0 "{'type':'struct','schema-id':0,'fields':[{'id':1,'name':'id','required':true,'type':'long'}]}"
#define OLD "'format-version':1,'location':'file:///lake/t','last-updated-ms':5,'last-column-id':1"
#define NEW OLD ",'schema':" SCHEMA0 ",'current-schema-id':0,'schemas':[" SCHEMA0 "],'default-sort-order-id':0,"            \
    "'sort-orders':[{'order-id':0,'fields':[]}],'properties':{},'statistics':[],'partition-statistics':[],'metadata-log':[],"
#define BARE "'partition-spec':[],'default-spec-id':0,'partition-specs':[{'spec-id':0,'fields':[]}],'last-partition-id':999,"
#define NOTHING "'current-snapshot-id':-1,'refs':{},'snapshots':[],'snapshot-log':[]"
#define SNAPSHOT "{'snapshot-id':9007199254740993,'timestamp-ms':4,'manifests':['file:///m.avro']}"

Test(iceberg_read, version_1_documents_are_filled_in)
{
    static const struct { const char *name, *document, *expected; } rows[] = {
        { "schema and partition spec alone", "{" OLD ",'schema':" SCHEMA ",'partition-spec':[]}", "{" NEW BARE NOTHING "}" },
        { "no snapshot is -1", "{" OLD ",'schema':" SCHEMA ",'partition-spec':[],'current-snapshot-id':-1}", "{" NEW BARE NOTHING "}" },
        { "no snapshot is null", "{" OLD ",'schema':" SCHEMA ",'partition-spec':[],'current-snapshot-id':null}",
          "{" NEW BARE NOTHING "}" },
        { "fields without ids",
          "{" OLD ",'schema':" SCHEMA ",'partition-spec':[{'source-id':1,'name':'b','transform':'bucket[4]'},"
          "{'source-id':1,'name':'t','transform':'truncate[4]'}]}",
          "{" NEW "'partition-spec':[{'source-id':1,'field-id':1000,'name':'b','transform':'bucket[4]'},"
          "{'source-id':1,'field-id':1001,'name':'t','transform':'truncate[4]'}],'default-spec-id':0,'partition-specs':["
          "{'spec-id':0,'fields':[{'source-id':1,'field-id':1000,'name':'b','transform':'bucket[4]'},"
          "{'source-id':1,'field-id':1001,'name':'t','transform':'truncate[4]'}]}],'last-partition-id':1001," NOTHING "}" },
        { "without refs, the current snapshot is main's; its id is exact",
          "{" OLD ",'schema':" SCHEMA ",'partition-spec':[],'current-snapshot-id':9007199254740993,'snapshots':[" SNAPSHOT "]}",
          "{" NEW BARE "'current-snapshot-id':9007199254740993,'refs':{'main':{'snapshot-id':9007199254740993,'type':'branch'}},"
          "'snapshots':[" SNAPSHOT "],'snapshot-log':[]}" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *doc = tarn_quoted(rows[i].document), *expected = tarn_quoted(rows[i].expected);
        struct tarn_iceberg_meta *meta = tarn_iceberg_of(doc);
        json_t *found = tarn_iceberg_doc(meta);
        tarn_expect_same(rows[i].name, found, expected);
        tarn_iceberg_free(meta);
        json_decref(doc);
        json_decref(found);
        json_decref(expected);
    }
}

Test(iceberg_read, what_is_not_known_survives_at_every_level)
{
    static const char patch[] =
        "{'of-the-future':{'a':[1,2.5,null]},'refs':{'main':{'x-ref':1}},'schemas':[{'type':'struct','schema-id':0,'x-schema':2,"
        "'fields':[{'id':2,'name':'at','required':false,'type':'timestamptz','x-field':[3]}]}],"
        "'partition-specs':[{'spec-id':0,'x-spec':4,'fields':[{'source-id':2,'field-id':1000,'name':'at_day','transform':'day','x':5}]}],"
        "'sort-orders':[{'order-id':0,'fields':[],'x-order':6}],"
        "'snapshots':[{'snapshot-id':11,'sequence-number':1,'timestamp-ms':1000,'summary':{'operation':'append','x':'7'},'x-snap':7},"
        "{'snapshot-id':12,'sequence-number':2,'timestamp-ms':9007199254740993,'key-id':'k'}],"
        "'statistics':[{'snapshot-id':12,'statistics-path':'p','file-size-in-bytes':1,'x-stat':8}]}";
    json_t *doc = tarn_patched(k_iceberg_table, patch);
    struct tarn_iceberg_meta *meta = tarn_iceberg_of(doc);
    json_t *found = tarn_iceberg_doc(meta);

    tarn_expect_same("unknown members", found, doc);
    tarn_iceberg_free(meta);
    json_decref(found);
    json_decref(doc);
}

Test(iceberg_read, the_form_of_refs_has_the_snapshots_that_are_named)
{
    json_t *doc = tarn_quoted(k_iceberg_table);
    struct tarn_iceberg_meta *meta = tarn_iceberg_of(doc);
    struct tarn_buf out = { 0 };
    json_t *found = NULL, *expected = json_deep_copy(doc);

    cr_assert_eq(tarn_iceberg_write(meta, TARN_ICEBERG_REFS, &out, NULL), TARN_OK);
    cr_assert_eq(tarn_json_parse(out.data, out.len, NULL, &found, NULL), TARN_OK);
    (void)json_array_remove(json_object_get(expected, "snapshots"), 0); /* 11; the log still tells of it */
    tarn_expect_same("refs", found, expected);
    tarn_buf_done(&out);
    tarn_iceberg_free(meta);
    json_decref(found);
    json_decref(expected);
    json_decref(doc);
}

Test(iceberg_read, bad_documents_are_refused_by_name)
{
    static const struct { const char *patch, *refused; } rows[] = {
        { "{'format-version':null}", "Cannot parse missing field: format-version" },
        { "{'format-version':9}", "Cannot read unsupported version 9" },
        { "{'format-version':'2'}", "Cannot parse format-version: it must be a whole number" },
        { "{'table-uuid':null}", "Cannot parse missing field: table-uuid" },
        { "{'location':null}", "Cannot parse missing field: location" },
        { "{'last-sequence-number':null}", "Cannot parse missing field: last-sequence-number" },
        { "{'last-updated-ms':null}", "Cannot parse missing field: last-updated-ms" },
        { "{'last-column-id':null}", "Cannot parse missing field: last-column-id" },
        { "{'last-column-id':2147483648}", "Invalid last-column-id: 2147483648 is beyond 32 bits" },
        { "{'last-partition-id':9223372036854775807}", "Invalid last-partition-id: 9223372036854775807 is beyond 32 bits" },
        { "{'current-schema-id':2147483648,'schemas':[{'type':'struct','schema-id':2147483648,'fields':[{'id':2,'name':'at',"
          "'required':false,'type':'date'}]}]}", "Invalid schema-id: 2147483648 is beyond 32 bits" },
        { "{'default-spec-id':2147483648,'partition-specs':[{'spec-id':2147483648,'fields':[]}]}",
          "Invalid spec-id: 2147483648 is beyond 32 bits" },
        { "{'partition-specs':[{'spec-id':0,'fields':[{'source-id':2,'field-id':2147483648,'name':'d','transform':'day'}]}]}",
          "Invalid field-id: 2147483648 is beyond 32 bits" },
        { "{'default-sort-order-id':2147483648,'sort-orders':[{'order-id':2147483648,'fields':[]}]}",
          "Invalid order-id: 2147483648 is beyond 32 bits" },
        { "{'schemas':null}", "Cannot parse missing field: schemas" },
        { "{'schemas':{}}", "Cannot parse schemas: it must be an array" },
        { "{'current-schema-id':null}", "Cannot parse missing field: current-schema-id" },
        { "{'current-schema-id':3}", "Cannot find schema with current-schema-id=3 from schemas" },
        { "{'partition-specs':null}", "Cannot parse missing field: partition-specs" },
        { "{'partition-specs':[]}", "Partition specs cannot be null or empty" },
        { "{'default-spec-id':4}", "Cannot find the default partition spec: 4" },
        { "{'sort-orders':null}", "Cannot parse missing field: sort-orders" },
        { "{'sort-orders':[]}", "Sort orders cannot be null or empty" },
        { "{'default-sort-order-id':4}", "Cannot find the default sort order: 4" },
        { "{'format-version':3}", "Cannot parse missing field: next-row-id" },
        { "{'last-sequence-number':1}", "Invalid snapshot with sequence number 2 greater than last sequence number 1" },
        { "{'format-version':1,'last-sequence-number':0,'properties':{'a':1}}",
          "Cannot parse properties: the value of \"a\" must be text" },
        { "{'current-snapshot-id':11}", "Current snapshot ID does not match main branch (11 != 12)" },
        { "{'refs':{'b':{'snapshot-id':99,'type':'branch'}}}",
          "Snapshot for reference b does not exist in the existing snapshots list" },
        { "{'refs':{'b':{'snapshot-id':12}}}", "Cannot parse missing field: type" },
        { "{'snapshots':[1]}", "Cannot parse a snapshot: it must be an object" },
        { "{'snapshots':{}}", "Cannot parse snapshots: it must be an array" },
        { "{'snapshots':'none'}", "Cannot parse snapshots: it must be an array" },
        { "{'snapshot-log':[{'timestamp-ms':90000,'snapshot-id':11},{'timestamp-ms':2000,'snapshot-id':12}]}",
          "Expected sorted snapshot log entries" },
        { "{'metadata-log':[{'timestamp-ms':90000,'metadata-file':'a'},{'timestamp-ms':2000,'metadata-file':'b'}]}",
          "Expected sorted previous metadata log entries" },
        { "{'last-updated-ms':2000,'snapshot-log':[{'timestamp-ms':62001,'snapshot-id':12}]}",
          "Invalid update timestamp 2000: before last snapshot log entry at 62001" },
        { "{'metadata-log':[{'timestamp-ms':62001,'metadata-file':'a'}]}",
          "Invalid update timestamp 2000: before the latest metadata log entry timestamp 62001" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *doc = tarn_patched(k_iceberg_table, rows[i].patch);
        char *text = tarn_json_text(doc);
        struct tarn_iceberg_meta *meta = NULL;
        TARN_ERR(err);
        cr_expect_eq(tarn_iceberg_parse(text, strlen(text), &meta, &err), TARN_INVALID, "%s", rows[i].patch);
        cr_expect_str_eq(err.detail, rows[i].refused, "%s: \"%s\"", rows[i].patch, err.detail);
        tarn_iceberg_free(meta);
        free(text);
        json_decref(doc);
    }
}

Test(iceberg_read, a_minute_between_clocks_is_let_pass)
{
    json_t *doc = tarn_patched(k_iceberg_table, "{'snapshot-log':[{'timestamp-ms':62000,'snapshot-id':11},"
                                                "{'timestamp-ms':2000,'snapshot-id':12}],"
                                                "'metadata-log':[{'timestamp-ms':62000,'metadata-file':'a'}]}");

    tarn_iceberg_free(tarn_iceberg_of(doc));
    json_decref(doc);
}

Test(iceberg_read, metadata_files_are_numbered_and_named)
{
    static const struct { const char *patch, *base, *expected; } rows[] = {
        { NULL, NULL, "file:///lake/t/metadata/00000-u.metadata.json" },
        { NULL, "file:///lake/t/metadata/00041-x.metadata.json", "file:///lake/t/metadata/00042-u.metadata.json" },
        { NULL, "file:///lake/t/metadata/123456-x.metadata.json", "file:///lake/t/metadata/123457-u.metadata.json" },
        { NULL, "file:///lake/t/metadata/v3.metadata.json", "file:///lake/t/metadata/00000-u.metadata.json" },
        { "{'properties':{'write.metadata.compression-codec':'gzip'}}", NULL, "file:///lake/t/metadata/00000-u.gz.metadata.json" },
        { "{'properties':{'write.metadata.path':'file:///other/'}}", NULL, "file:///other/00000-u.metadata.json" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *doc = tarn_patched(k_iceberg_table, rows[i].patch);
        struct tarn_iceberg_meta *meta = tarn_iceberg_of(doc);
        char *name = NULL;
        cr_assert_eq(tarn_iceberg_file_name(meta, rows[i].base, "u", &name, NULL), TARN_OK);
        cr_expect_str_eq(name, rows[i].expected, "%s", name);
        free(name);
        tarn_iceberg_free(meta);
        json_decref(doc);
    }
}

#define UUID "0a1b2c3d-0000-4000-8000-00000000000F"

Test(iceberg_read, names_of_metadata_files_are_told_from_others)
{
    static const struct { const char *name; bool is_one; } rows[] = {
        { "00000-" UUID ".metadata.json", true },
        { "123456-" UUID ".metadata.json", true },
        { "00001-" UUID ".gz.metadata.json", true },
        { "00001-" UUID ".metadata.json.gz", true },
        { "v1.metadata.json", false },
        { "v1.gz.metadata.json", false },
        { "version-hint.text", false },
        { "1-" UUID ".metadata.json", false },
        { "-" UUID ".metadata.json", false },
        { "00001-x.metadata.json", false },
        { "00001-" UUID ".metadata.json.tmp", false },
        { "00001-" UUID "0.metadata.json", false },
        { "00001-" UUID, false },
        { "00001-", false },
        { "9999999999999999999-" UUID ".metadata.json", false },
        { "", false },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect_eq(tarn_iceberg_is_file_name(rows[i].name), rows[i].is_one, "%s", rows[i].name);
}

#define WHOLE(snapshots, more)                                                                                    \
    "{" OLD ",'schema':" SCHEMA ",'partition-spec':[]," snapshots more "}"
#define PLAIN "{'snapshot-id':1,'timestamp-ms':4}"

/* What a tree cannot hold: the text itself. */
Test(iceberg_read, texts_that_are_no_document_are_refused)
{
    static const struct { const char *text, *field, *detail; } rows[] = {
        { WHOLE("'snapshots':[" PLAIN "],'snapshots':[]", ""), "snapshots", "no valid JSON: a member that is there twice" },
        { WHOLE("'snapshots':[],'snapshots':[" PLAIN "]", ""), "snapshots", "no valid JSON: a member that is there twice" },
        { WHOLE("'snapshots':null,'snapshots':[]", ""), "snapshots", "no valid JSON: a member that is there twice" },
        { WHOLE("'snapshots':[" PLAIN ",{'snapshot-id':2,'timestamp-ms':4,'timestamp-ms':4}]", ""), "snapshots[1]",
          "no valid JSON: a member that is there twice at line 1, column 51" },
        { WHOLE("'snapshots':[" PLAIN ",{'timestamp-ms':4}]", ""), "snapshots[1].snapshot-id",
          "Cannot parse missing field: snapshot-id" },
        { WHOLE("'snapshots':[{'snapshot-id':92233720368547758070,'timestamp-ms':4}]", ""), "snapshots[0]",
          "no valid JSON: an integer beyond 64 bits at line 1, column 36" },
        { WHOLE("'location':'twice'", ""), "", NULL },
        { "[]", "", "Cannot parse metadata from a non-object" },
        { "null", "", "Cannot parse metadata from a non-object" },
        { "", "", NULL },
        { "{", "", NULL },
        { "{'snapshots':[", "", NULL },
        { "{'snapshots':[{", "", NULL },
        { WHOLE("'snapshots':[" PLAIN "]", "} {"), "", NULL },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tarn_iceberg_meta *meta = NULL;
        char *text = strdup(rows[i].text);
        TARN_ERR(err);
        for (char *c = text; *c; c++)
            *c = *c == '\'' ? '"' : *c;
        cr_expect_eq(tarn_iceberg_parse(text, strlen(text), &meta, &err), TARN_INVALID, "%s", text);
        cr_expect_str_eq(err.field, rows[i].field, "%s: \"%s\"", text, err.field);
        cr_expect(!rows[i].detail || strcmp(err.detail, rows[i].detail) == 0, "%s: \"%s\"", text, err.detail);
        cr_expect_null(meta);
        free(text);
    }
}

Test(iceberg_read, a_snapshot_is_written_as_it_was_read)
{
    static const char *const k_snapshot =
        "{\"new\":[1.0,1e3,{\"b\":null,\"a\":true}],\"timestamp-ms\":4,\"snapshot-id\":9223372036854775807,"
        "\"summary\":{\"operation\":\"append\",\"z\":\"\xc3\xa4 \\\" \\\\ \\u0001\",\"a\":\"\"},\"manifests\":[]}";
    TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 }, out = { 0 };
    struct tarn_iceberg_meta *meta = NULL;
    TARN_ERR(err);

    tarn_buf_addf(&text, "{%s ,\"schema\":%s,\"partition-spec\":[],\"snapshots\" : [ %s ]\n}", OLD, SCHEMA, k_snapshot);
    for (char *c = text.data; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    cr_assert_eq(tarn_iceberg_parse(text.data, text.len, &meta, &err), TARN_OK, "%s", err.detail);
    cr_assert_eq(tarn_iceberg_write(meta, TARN_ICEBERG_ALL, &out, &err), TARN_OK);
    cr_expect(strstr(out.data, k_snapshot) != NULL, "%s", out.data);
    tarn_iceberg_free(meta);
}
