/* test_iceberg_updates.c - updates of an Iceberg table's head, schemas, specs and orders. Expected values:
 * REST specification (TableUpdate) and the reference's TableMetadata.Builder, worked out by hand. */
#include "tests/support/iceberg_rows.h"
#include <criterion/criterion.h>

#define CHECK(rows) tarn_iceberg_rows_check(rows, sizeof(rows) / sizeof *(rows))

Test(iceberg_updates, uuid_version_and_location_are_set)
{
    static const struct tarn_iceberg_row rows[] = {
        { "another uuid", NULL, "[{'action':'assign-uuid','uuid':'22222222-2222-4222-8222-222222222222'}]", "{'table-uuid':'22222222-2222-4222-8222-222222222222'}", NULL, 0 },
        { "the same uuid", NULL, "[{'action':'assign-uuid','uuid':'9c12d441-03fe-4693-9a96-a0705ddf69c1'}]", NULL, NULL, 0 },
        { "an empty uuid", NULL, "[{'action':'assign-uuid','uuid':''}]", NULL, "Cannot set uuid to an empty text", 0 },
        { "no uuid", NULL, "[{'action':'assign-uuid'}]", NULL, "Cannot parse missing field: uuid", 0 },
        { "to version 3", NULL, "[{'action':'upgrade-format-version','format-version':3}]",
          "{'format-version':3,'next-row-id':0}", NULL, 0 },
        { "the same version", NULL, "[{'action':'upgrade-format-version','format-version':2}]", NULL, NULL, 0 },
        { "a lower version", NULL, "[{'action':'upgrade-format-version','format-version':1}]", NULL,
          "Cannot downgrade v2 table to v1", 0 },
        { "an unknown version", NULL, "[{'action':'upgrade-format-version','format-version':9}]", NULL,
          "Cannot upgrade table to unsupported format version: v9 (supported: v3)", 0 },
        { "a location, its slash goes", NULL, "[{'action':'set-location','location':'file:///lake/u/'}]",
          "{'location':'file:///lake/u'}", NULL, 0 },
        { "the same location", NULL, "[{'action':'set-location','location':'file:///lake/t'}]", NULL, NULL, 0 },
        { "upper case, and the order of the list", NULL,
          "[{'action':'SET-LOCATION','location':'file:///a'},{'action':'set-location','location':'file:///b'}]",
          "{'location':'file:///b'}", NULL, 0 },
    };
    CHECK(rows);
}

Test(iceberg_updates, properties_are_set_and_removed_in_order)
{
    static const struct tarn_iceberg_row rows[] = {
        { "set", NULL, "[{'action':'set-properties','updates':{'a':'1','owner':'eve'}}]",
          "{'properties':{'a':'1','owner':'eve'}}", NULL, 0 },
        { "set, as old clients spell it", NULL, "[{'action':'set-properties','updated':{'a':'1'}}]",
          "{'properties':{'a':'1'}}", NULL, 0 },
        { "two in one commit", NULL,
          "[{'action':'set-properties','updates':{'a':'1'}},{'action':'set-properties','updates':{'b':'2','a':'3'}}]",
          "{'properties':{'a':'3','b':'2'}}", NULL, 0 },
        { "set nothing", NULL, "[{'action':'set-properties','updates':{}}]", NULL, NULL, 0 },
        { "a number", NULL, "[{'action':'set-properties','updates':{'a':1}}]", NULL,
          "Cannot parse updates: the value of \"a\" must be text", 0 },
        { "the last one goes", NULL, "[{'action':'remove-properties','removals':['owner','absent']}]",
          "{'properties':{'owner':null}}", NULL, 0 },
        { "removed, as old clients spell it", NULL, "[{'action':'remove-properties','removed':['owner']}]",
          "{'properties':{'owner':null}}", NULL, 0 },
        { "remove nothing", NULL, "[{'action':'remove-properties','removals':[]}]", NULL, NULL, 0 },
        { "remove a number", NULL, "[{'action':'remove-properties','removals':[1]}]", NULL,
          "Cannot parse removals: it must be an array of text", 0 },
        { "set, then removed", NULL,
          "[{'action':'set-properties','updates':{'a':'1'}},{'action':'remove-properties','removals':['a']}]", "{}", NULL, 0 },
    };
    CHECK(rows);
}

Test(iceberg_updates, an_update_that_is_not_known_is_refused)
{
    static const struct tarn_iceberg_row rows[] = {
        { "unknown", NULL, "[{'action':'set-weather'}]", NULL,
          "Cannot convert metadata update action to this table: set-weather", 0 },
        { "of a view", NULL, "[{'action':'add-view-version','view-version':{}}]", NULL,
          "Cannot convert metadata update action to this table: add-view-version", 0 },
        { "of a view too", NULL, "[{'action':'set-current-view-version','view-version-id':1}]", NULL,
          "Cannot convert metadata update action to this table: set-current-view-version", 0 },
        { "none", NULL, "[{}]", NULL, "Cannot parse missing field: action", 0 },
        { "no object", NULL, "['set-location']", NULL, "Cannot parse missing field: action", 0 },
        { "no update", NULL, "[]", NULL, NULL, 0 },
    };
    CHECK(rows);
}

/* One column `id` long; a table of one schema of it is what the rows on schemas start from. */
#define ID_FIELD "{'id':1,'name':'id','required':true,'type':'long'}"
#define S(id, more) "{'type':'struct','schema-id':" id ",'fields':[" ID_FIELD more "]}"
#define SECOND ",{'id':6,'name':'b','required':false,'type':'int'}"
#define NESTED                                                                                                            \
    ",{'id':6,'name':'m','required':false,'type':{'type':'map','key-id':7,'key':'string','value-id':8,'value-required':false," \
    "'value':{'type':'struct','fields':[{'id':9,'name':'l','required':false,'type':{'type':'list','element-id':12,"             \
    "'element-required':true,'element':'int'}}]}}}"
#define PLAIN "'default-spec-id':0,'partition-specs':[{'spec-id':0,'fields':[]}],'last-partition-id':999"
static const char k_plain[] = "{" PLAIN ",'schemas':[" S("0", "") "]}";
static const char k_two[] = "{" PLAIN ",'current-schema-id':1,'last-column-id':6,'schemas':[" S("0", "") "," S("1", SECOND) "]}";

Test(iceberg_updates, schemas_get_ids_and_old_ones_are_used_again)
{
    static const struct tarn_iceberg_row rows[] = {
        { "the client's id is replaced", k_plain, "[{'action':'add-schema','schema':" S("77", SECOND) ",'last-column-id':900}]",
          "{'last-column-id':6,'schemas':[" S("0", "") "," S("1", SECOND) "]}", NULL, 0 },
        { "-1 is the last one", k_plain,
          "[{'action':'add-schema','schema':" S("0", SECOND) "},{'action':'set-current-schema','schema-id':-1}]",
          "{'last-column-id':6,'current-schema-id':1,'schemas':[" S("0", "") "," S("1", SECOND) "]}", NULL, 0 },
        { "the highest id is nested", k_plain, "[{'action':'add-schema','schema':" S("1", NESTED) "}]",
          "{'last-column-id':12,'schemas':[" S("0", "") "," S("1", NESTED) "]}", NULL, 0 },
        { "an old schema does nothing", k_two, "[{'action':'add-schema','schema':" S("5", "") "}]", NULL, NULL, 0 },
        { "an old schema, then -1", k_two,
          "[{'action':'add-schema','schema':" S("5", "") "},{'action':'set-current-schema','schema-id':-1}]", NULL,
          "Cannot set last added schema: no schema has been added", 0 },
        { "an old schema, then its id; the last column id stays", k_two,
          "[{'action':'add-schema','schema':" S("5", "") "},{'action':'set-current-schema','schema-id':0}]",
          "{'current-schema-id':0}", NULL, 0 },
        { "the same schema twice in one commit, then -1", k_plain,
          "[{'action':'add-schema','schema':" S("1", SECOND) "},{'action':'add-schema','schema':" S("9", SECOND) "},"
          "{'action':'set-current-schema','schema-id':-1}]",
          "{'last-column-id':6,'current-schema-id':1,'schemas':[" S("0", "") "," S("1", SECOND) "]}", NULL, 0 },
        { "other identifier fields are another schema", k_plain,
          "[{'action':'add-schema','schema':{'type':'struct','schema-id':0,'identifier-field-ids':[1],'fields':[" ID_FIELD "]}}]",
          "{'schemas':[" S("0", "") ",{'type':'struct','schema-id':1,'identifier-field-ids':[1],'fields':[" ID_FIELD "]}]}", NULL,
          0 },
        { "-1 and nothing added", k_plain, "[{'action':'set-current-schema','schema-id':-1}]", NULL,
          "Cannot set last added schema: no schema has been added", 0 },
        { "an unknown schema", k_plain, "[{'action':'set-current-schema','schema-id':4}]", NULL,
          "Cannot set current schema to unknown schema: 4", 0 },
        { "the current one", k_plain, "[{'action':'set-current-schema','schema-id':0}]", NULL, NULL, 0 },
        { "removed, unknown ids too", k_two, "[{'action':'remove-schemas','schema-ids':[0,44]}]",
          "{'schemas':[" S("1", SECOND) "]}", NULL, 0 },
        { "the current one cannot go", k_two, "[{'action':'remove-schemas','schema-ids':[0,1]}]", NULL,
          "Cannot remove the current schema", 0 },
        { "remove nothing", k_two, "[{'action':'remove-schemas','schema-ids':[]}]", NULL, NULL, 0 },
    };
    CHECK(rows);
}

#define TYPED(type) "[{'action':'add-schema','schema':" S("1", ",{'id':6,'name':'x','required':false,'type':'" type "'}") "}]"
#define LATE(type) "Invalid schema for v2:\n- Invalid type for x: " type " is not supported until v3"

Test(iceberg_updates, a_schema_must_fit_the_format_version)
{
    static const struct tarn_iceberg_row rows[] = {
        { "timestamp_ns", k_plain, TYPED("timestamp_ns"), NULL, LATE("timestamp_ns"), 0 },
        { "timestamptz_ns", k_plain, TYPED("timestamptz_ns"), NULL, LATE("timestamptz_ns"), 0 },
        { "variant", k_plain, TYPED("variant"), NULL, LATE("variant"), 0 },
        { "unknown", k_plain, TYPED("unknown"), NULL, LATE("unknown"), 0 },
        { "geometry", k_plain, TYPED("geometry"), NULL, LATE("geometry"), 0 },
        { "geography", k_plain, TYPED("geography"), NULL, LATE("geography"), 0 },
        { "a word that is no type", k_plain, TYPED("text"), NULL, "Cannot parse type string to primitive: text", 0 },
        { "decimal beyond 38", k_plain, TYPED("decimal(39, 2)"), NULL,
          "Cannot parse type string to primitive: decimal(39, 2)", 0 },
        { "a default", k_plain,
          "[{'action':'add-schema','schema':"
          S("1", ",{'id':6,'name':'x','required':false,'type':'int','initial-default':4}") "}]",
          NULL, "Invalid schema for v2:\n- Invalid initial default for x: non-null default is not supported until v3", 0 },
        { "one id twice", k_plain, "[{'action':'add-schema','schema':" S("1", ",{'id':1,'name':'x','required':false,'type':'int'}") "}]",
          NULL, "Invalid schema: the id 1 stands for two fields: id and x", 0 },
        { "one name twice", k_plain, "[{'action':'add-schema','schema':" S("1", ",{'id':6,'name':'id','required':false,'type':'int'}") "}]",
          NULL, "Invalid schema: multiple fields for name id", 0 },
        { "an id that is kept for the format", k_plain,
          "[{'action':'add-schema','schema':" S("1", ",{'id':2147483546,'name':'x','required':false,'type':'int'}") "}]", NULL,
          "Invalid schema: the id 2147483546 of x is not one that a field can have", 0 },
    };
    CHECK(rows);
}

#define SPEC(id, fields) "{'spec-id':" id ",'fields':[" fields "]}"
#define DAY "{'source-id':2,'field-id':1000,'name':'at_day','transform':'day'}"
#define BUCKET(field) "{'source-id':1," field "'name':'id_bucket','transform':'bucket[4]'}"
#define VOID(name, id) "{'source-id':1,'field-id':" id ",'name':'" name "','transform':'void'}"
#define SPECS(more) "'partition-specs':[" SPEC("0", DAY) more "]"

Test(iceberg_updates, partition_specs_get_ids_and_old_ones_are_used_again)
{
    static const struct tarn_iceberg_row rows[] = {
        { "the client's spec id is replaced, its field id stays", NULL,
          "[{'action':'add-spec','spec':" SPEC("30", BUCKET("'field-id':1005,")) "}]",
          "{" SPECS("," SPEC("1", BUCKET("'field-id':1005,"))) ",'last-partition-id':1005}", NULL, 0 },
        { "-1 is the last one", NULL,
          "[{'action':'add-spec','spec':" SPEC("0", BUCKET("")) "},{'action':'set-default-spec','spec-id':-1}]",
          "{" SPECS("," SPEC("1", BUCKET("'field-id':1001,"))) ",'last-partition-id':1001,'default-spec-id':1}", NULL, 0 },
        { "without field ids, a field of before keeps its id", NULL,
          "[{'action':'add-spec','spec':{'fields':[" BUCKET("") ",{'source-id':2,'name':'d','transform':'day'}]}}]",
          "{" SPECS("," SPEC("1", BUCKET("'field-id':1001,") ",{'source-id':2,'field-id':1000,'name':'d','transform':'day'}"))
          ",'last-partition-id':1001}", NULL, 0 },
        { "an equal spec does nothing, whatever its field ids", NULL,
          "[{'action':'add-spec','spec':{'fields':[{'source-id':2,'field-id':1009,'name':'at_day','transform':'day'}]}}]", NULL,
          NULL, 0 },
        { "an equal spec, then -1", NULL,
          "[{'action':'add-spec','spec':{'fields':[" DAY "]}},{'action':'set-default-spec','spec-id':-1}]", NULL,
          "Cannot set last added spec: no spec has been added", 0 },
        { "some ids are missing", NULL, "[{'action':'add-spec','spec':{'fields':[" DAY "," BUCKET("") "]}}]", NULL,
          "Cannot parse spec with missing field IDs: 1 missing of 2 fields", 0 },
        { "one field id twice", NULL,
          "[{'action':'add-spec','spec':{'fields':[" BUCKET("'field-id':1005,") ",{'source-id':5,'field-id':1005,'name':'n','transform':'identity'}]}}]",
          NULL, "Cannot use field id more than once in one partition spec: 1005: n", 0 },
        { "two void fields of one column: only one of them is the field of before",
          "{" SPECS("," SPEC("1", VOID("v", "1001"))) ",'last-partition-id':1001}",
          "[{'action':'add-spec','spec':{'fields':[{'source-id':1,'name':'a','transform':'void'},{'source-id':1,'name':'b','transform':'void'}]}}]",
          "{" SPECS("," SPEC("1", VOID("v", "1001")) "," SPEC("2", VOID("a", "1001") "," VOID("b", "1002"))) ",'last-partition-id':1002}", NULL, 0 },
        { "an unknown default", NULL, "[{'action':'set-default-spec','spec-id':8}]", NULL,
          "Cannot set default partition spec to unknown spec: 8", 0 },
        { "one name twice", NULL,
          "[{'action':'add-spec','spec':{'fields':[" BUCKET("") ",{'source-id':5,'name':'id_bucket','transform':'identity'}]}}]",
          NULL, "Cannot use partition name more than once: id_bucket", 0 },
        { "no name", NULL, "[{'action':'add-spec','spec':{'fields':[{'source-id':5,'name':'','transform':'identity'}]}}]", NULL,
          "Cannot use empty or null partition name", 0 },
        { "the name of another column", NULL,
          "[{'action':'add-spec','spec':{'fields':[{'source-id':5,'name':'id','transform':'identity'}]}}]", NULL,
          "Cannot create partition from name that exists in schema: id", 0 },
        { "the name of its column, but not its values", NULL,
          "[{'action':'add-spec','spec':{'fields':[{'source-id':1,'name':'id','transform':'bucket[4]'}]}}]", NULL,
          "Cannot create partition from name that exists in schema: id", 0 },
        { "one field twice", NULL,
          "[{'action':'add-spec','spec':{'fields':[" BUCKET("") ",{'source-id':1,'name':'b2','transform':'bucket[4]'}]}}]", NULL,
          "Cannot add redundant partition field: b2", 0 },
        { "an unknown column", NULL,
          "[{'action':'add-spec','spec':{'fields':[{'source-id':44,'field-id':1001,'name':'x','transform':'identity'}]}}]", NULL,
          "Cannot find source column for partition field: 1001: x: identity(44)", 0 },
        { "hours of a text", NULL,
          "[{'action':'add-spec','spec':{'fields':[{'source-id':5,'name':'x','transform':'hour'}]}}]", NULL,
          "Invalid source type string for transform: hour", 0 },
        { "a list", NULL, "[{'action':'add-spec','spec':{'fields':[{'source-id':3,'name':'x','transform':'identity'}]}}]", NULL,
          "Cannot partition by non-primitive source field: tags", 0 },
        { "removed", "{" SPECS("," SPEC("4", "")) "}", "[{'action':'remove-partition-specs','spec-ids':[4,9]}]",
          "{" SPECS("") "}", NULL, 0 },
        { "the default one cannot go", NULL, "[{'action':'remove-partition-specs','spec-ids':[0]}]", NULL,
          "Cannot remove the default partition spec", 0 },
        { "remove nothing", NULL, "[{'action':'remove-partition-specs','spec-ids':[]}]", NULL, NULL, 0 },
        { "the column of the default spec goes", NULL,
          "[{'action':'add-schema','schema':{'type':'struct','fields':[" ID_FIELD "]}},"
          "{'action':'set-current-schema','schema-id':-1}]",
          NULL, "Cannot find source column for partition field: 1000: at_day: day(2)", 0 },
        { "the column of another spec may go",
          "{" SPECS("," SPEC("1", "")) ",'default-spec-id':1}",
          "[{'action':'add-schema','schema':{'type':'struct','fields':[" ID_FIELD "]}},"
          "{'action':'set-current-schema','schema-id':-1},{'action':'remove-schemas','schema-ids':[0]}]",
          "{'current-schema-id':1,'schemas':[{'type':'struct','schema-id':1,'fields':[" ID_FIELD "]}]}", NULL, 0 },
    };
    CHECK(rows);
}

#define ASC "{'source-id':1,'transform':'identity','direction':'asc','null-order':'nulls-first'}"
#define DESC "{'source-id':5,'transform':'truncate[3]','direction':'desc','null-order':'nulls-last'}"
#define ORDERS(more) "'sort-orders':[{'order-id':0,'fields':[]}" more "]"

Test(iceberg_updates, sort_orders_get_ids_and_old_ones_are_used_again)
{
    static const struct tarn_iceberg_row rows[] = {
        { "the first one is 1", NULL,
          "[{'action':'add-sort-order','sort-order':{'order-id':9,'fields':[" ASC "]}},"
          "{'action':'set-default-sort-order','sort-order-id':-1}]",
          "{" ORDERS(",{'order-id':1,'fields':[" ASC "]}") ",'default-sort-order-id':1}", NULL, 0 },
        { "the next one is 2", "{" ORDERS(",{'order-id':1,'fields':[" ASC "]}") "}",
          "[{'action':'add-sort-order','sort-order':{'order-id':1,'fields':[" DESC "]}}]",
          "{" ORDERS(",{'order-id':1,'fields':[" ASC "]},{'order-id':2,'fields':[" DESC "]}") "}", NULL, 0 },
        { "an equal one does nothing", "{" ORDERS(",{'order-id':1,'fields':[" ASC "]}") "}",
          "[{'action':'add-sort-order','sort-order':{'order-id':3,'fields':[" ASC "]}}]", NULL, NULL, 0 },
        { "an equal one, then -1", "{" ORDERS(",{'order-id':1,'fields':[" ASC "]}") "}",
          "[{'action':'add-sort-order','sort-order':{'order-id':3,'fields':[" ASC "]}},"
          "{'action':'set-default-sort-order','sort-order-id':-1}]",
          NULL, "Cannot set last added sort order: no sort order has been added", 0 },
        { "unsorted has an id", NULL, "[{'action':'add-sort-order','sort-order':{'order-id':1,'fields':[]}}]", NULL,
          "Unsorted order ID must be 0", 0 },
        { "sorted has none", NULL, "[{'action':'add-sort-order','sort-order':{'order-id':0,'fields':[" ASC "]}}]", NULL,
          "Sort order ID 0 is reserved for unsorted order", 0 },
        { "an unknown order", NULL, "[{'action':'set-default-sort-order','sort-order-id':7}]", NULL,
          "Cannot set default sort order to unknown sort order: 7", 0 },
        { "an unknown direction", NULL,
          "[{'action':'add-sort-order','sort-order':{'order-id':1,'fields':[{'source-id':1,'transform':'identity',"
          "'direction':'up','null-order':'nulls-first'}]}}]",
          NULL, "Invalid sort direction: up", 0 },
        { "the column of the default order goes",
          "{" PLAIN "," ORDERS(",{'order-id':1,'fields':[" DESC "]}") ",'default-sort-order-id':1}",
          "[{'action':'add-schema','schema':{'type':'struct','fields':[" ID_FIELD "]}},"
          "{'action':'set-current-schema','schema-id':-1}]",
          NULL, "Cannot find source column for sort field: truncate[3](5) desc nulls-last", 0 },
    };
    CHECK(rows);
}

#define FIRST_SORT "{'transform':'identity','source-id':1,'direction':'asc','null-order':'nulls-first'}"

Test(iceberg_updates, no_id_goes_beyond_32_bits)
{
    static const struct tarn_iceberg_row rows[] = {
        { "of a schema", "{" PLAIN ",'current-schema-id':2147483647,'schemas':[" S("2147483647", "") "]}",
          "[{'action':'add-schema','schema':" S("0", SECOND) "}]", NULL, "Invalid schema-id: 2147483648 is beyond 32 bits", 0 },
        { "of a spec", "{'default-spec-id':2147483647,'partition-specs':[" SPEC("2147483647", DAY) "]}",
          "[{'action':'add-spec','spec':" SPEC("0", BUCKET("")) "}]", NULL, "Invalid spec-id: 2147483648 is beyond 32 bits", 0 },
        { "of a partition field that is numbered", "{'last-partition-id':2147483647}",
          "[{'action':'add-spec','spec':" SPEC("0", BUCKET("")) "}]", NULL, "Invalid last-partition-id: 2147483648 is beyond 32 bits", 0 },
        { "of a partition field as given", NULL, "[{'action':'add-spec','spec':" SPEC("0", BUCKET("'field-id':9223372036854775807,")) "}]",
          NULL, "Invalid field-id: 9223372036854775807 is beyond 32 bits", 0 },
        { "of a sort order", "{'default-sort-order-id':2147483647,'sort-orders':[{'order-id':2147483647,'fields':[" FIRST_SORT "]}]}",
          "[{'action':'add-sort-order','sort-order':{'order-id':1,'fields':[{'transform':'identity','source-id':5,'direction':'asc',"
          "'null-order':'nulls-first'}]}}]", NULL, "Invalid order-id: 2147483648 is beyond 32 bits", 0 },
    };
    CHECK(rows);
}

/* Owned text of `updates` applied to *meta; with `reread` *meta is made from it anew. */
static char *text_after(struct tarn_iceberg_meta **meta, const char *updates, bool reread)
{
    const struct tarn_iceberg_change change = { TARN_ROW_NOW, TARN_ROW_FILE };
    json_auto_t *list = tarn_quoted(updates);
    struct tarn_buf out = { 0 };
    bool changed = false;
    TARN_ERR(err);

    cr_assert_eq(tarn_iceberg_update(*meta, list, &change, &changed, &err), TARN_OK, "%s: %s", updates, err.detail);
    cr_assert_eq(tarn_iceberg_write(*meta, TARN_ICEBERG_ALL, &out, NULL), TARN_OK);
    if (reread) {
        tarn_iceberg_free(*meta);
        *meta = NULL;
        cr_assert_eq(tarn_iceberg_parse(out.data, out.len, meta, &err), TARN_OK, "%s: %s", updates, err.detail);
    }
    return tarn_buf_take(&out);
}

#define KEY "[{'action':'add-encryption-key','encryption-key':{'key-id':'k1','encrypted-key-metadata':'aa'}}]"

/* The next commit goes on from what this one left in memory, or from the document after a restart. */
Test(iceberg_updates, what_is_left_in_memory_says_no_more_than_its_document)
{
    static const struct { const char *base, *first, *second; } rows[] = {
        { "{}", KEY, "[{'action':'upgrade-format-version','format-version':3}]" },
        { "{'format-version':1,'snapshots':[],'refs':null,'current-snapshot-id':null,'snapshot-log':null}",
          KEY,
          "[{'action':'upgrade-format-version','format-version':2}]" },
        { "{}", "[{'action':'add-schema','schema':{'type':'struct','fields':[" ID_FIELD SECOND "]}}]",
          "[{'action':'set-properties','updates':{'a':'1'}}]" },
        { "{}", "[{'action':'set-location','location':'file:///lake/u/'},{'action':'remove-snapshot-ref','ref-name':'main'}]",
          "[{'action':'set-properties','updates':{'a':'1'}}]" },
    };

    for (size_t i = 0; i < TARN_COUNT(rows); i++) {
        json_auto_t *doc = tarn_patched(k_iceberg_table, rows[i].base);
        struct tarn_iceberg_meta *kept = tarn_iceberg_of(doc), *reread = tarn_iceberg_of(doc);
        free(text_after(&kept, rows[i].first, false));
        free(text_after(&reread, rows[i].first, true));
        char *left = text_after(&kept, rows[i].second, false), *right = text_after(&reread, rows[i].second, false);
        cr_expect_str_eq(left, right, "row %zu", i);
        free(left);
        free(right);
        tarn_iceberg_free(kept);
        tarn_iceberg_free(reread);
    }
}

Test(iceberg_updates, a_refusal_names_the_member)
{
    static const struct { const char *updates, *field; } rows[] = {
        { "[{'action':'set-location','location':'file:///lake/u'},{'action':'assign-uuid'}]", "updates[1].uuid" },
        { "[{}]", "updates[0].action" },
        { "[{'action':'add-snapshot','snapshot':{'timestamp-ms':1}}]", "updates[0].snapshot-id" },
    };

    for (size_t i = 0; i < TARN_COUNT(rows); i++) {
        const struct tarn_iceberg_change change = { TARN_ROW_NOW, TARN_ROW_FILE };
        json_t *base = tarn_quoted(k_iceberg_table), *updates = tarn_quoted(rows[i].updates);
        struct tarn_iceberg_meta *meta = tarn_iceberg_of(base);
        bool changed = false;
        TARN_ERR(err);
        cr_expect_eq(tarn_iceberg_update(meta, updates, &change, &changed, &err), TARN_INVALID, "%s", rows[i].updates);
        cr_expect_str_eq(err.field, rows[i].field, "%s: \"%s\"", rows[i].updates, err.field);
        tarn_iceberg_free(meta);
        json_decref(base);
        json_decref(updates);
    }
}
