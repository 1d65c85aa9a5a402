/* test_iceberg_create.c - the first metadata of a table: ids given anew, specs and orders bound by name, reserved properties,
 * format versions; and a table that is built by the updates of assert-create. Expected values: Iceberg table specification
 * and the order of the reference's TypeUtil.assignFreshIds, worked out by hand. */
#include "tests/support/iceberg.h"
#include <criterion/criterion.h>
#include <string.h>

struct row {
    const char *name, *schema, *spec, *order, *properties;
    const char *expected; /* merge patch on k_empty */
    const char *refused;
};

/* A table of one long `id`. */
#define ID "{'id':1,'name':'id','required':true,'type':'long'}"
static const char k_empty[] =
    "{'format-version':2,'table-uuid':'11111111-1111-4111-8111-111111111111','location':'file:///lake/t','last-sequence-number':0,'last-updated-ms':7000,"
    "'last-column-id':1,'current-schema-id':0,'schemas':[{'type':'struct','schema-id':0,'fields':[" ID "]}],"
    "'default-spec-id':0,'partition-specs':[{'spec-id':0,'fields':[]}],'last-partition-id':999,'default-sort-order-id':0,"
    "'sort-orders':[{'order-id':0,'fields':[]}],'properties':{},'current-snapshot-id':-1,'refs':{},'snapshots':[],"
    "'statistics':[],'partition-statistics':[],'snapshot-log':[],'metadata-log':[]}";

static tarn_code create(const struct row *row, struct tarn_iceberg_meta **out, struct tarn_err *err)
{
    json_t *docs[4] = { tarn_quoted(row->schema), row->spec ? tarn_quoted(row->spec) : NULL,
                        row->order ? tarn_quoted(row->order) : NULL, row->properties ? tarn_quoted(row->properties) : NULL };
    const struct tarn_iceberg_create ask = { .schema = docs[0], .spec = docs[1], .order = docs[2], .properties = docs[3],
                                             .location = "file:///lake/t", .uuid = "11111111-1111-4111-8111-111111111111", .now_ms = 7000 };
    tarn_code code = tarn_iceberg_create(&ask, out, err);

    for (size_t i = 0; i < sizeof docs / sizeof *docs; i++)
        json_decref(docs[i]);
    return code;
}

static void check_row(const struct row *row)
{
    struct tarn_iceberg_meta *meta = NULL;
    TARN_ERR(err);
    tarn_code code = create(row, &meta, &err);

    if (row->refused) {
        cr_expect_eq(code, TARN_INVALID, "%s: code %d", row->name, (int)code);
        cr_expect_str_eq(err.detail, row->refused, "%s: \"%s\"", row->name, err.detail);
    } else if (code != TARN_OK) {
        cr_expect(false, "%s: %s", row->name, err.detail);
    } else {
        json_t *found = tarn_iceberg_doc(meta), *expected = tarn_patched(k_empty, row->expected);
        if (meta->format_version == 3)
            (void)json_object_set_new(expected, "current-snapshot-id", json_null());
        tarn_expect_same(row->name, found, expected);
        json_decref(found);
        json_decref(expected);
    }
    tarn_iceberg_free(meta);
}

static void check_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_row(&rows[i]);
}

#define ONE "{'type':'struct','schema-id':0,'fields':[" ID "]}"
#define NEST(a, b, c, d, e, f, g, h, i, j)                                                                         \
    "{'id':" a ",'name':'p','required':false,'type':{'type':'struct','fields':[{'id':" d ",'name':'x','required':true,'type':'int'}," \
    "{'id':" e ",'name':'y','required':false,'type':{'type':'struct','fields':[{'id':" f ",'name':'z','required':false,'type':'int'}]}}]}}," \
    "{'id':" b ",'name':'l','required':false,'type':{'type':'list','element-id':" g ",'element-required':false,'element':" \
    "{'type':'struct','fields':[{'id':" h ",'name':'q','required':false,'type':'int'}]}}},"                            \
    "{'id':" c ",'name':'m','required':false,'type':{'type':'map','key-id':" i ",'key':'string','value-id':" j                \
    ",'value-required':true,'value':'double'}}"

#define X "{'id':2,'name':'x','required':true,'type':'int'}"
#define BOX(required, field) "{'id':1,'name':'s','required':" required ",'type':{'type':'struct','fields':[" field "]}}"
#define FIELD(rest) "{'type':'struct','schema-id':0,'fields':[{'id':1,'name':'x','required':false,'type':" rest "}]}"
#define DEFAULT(type, value) FIELD(type ",'write-default':" value)
#define NO_DEFAULT(which) "Cannot parse " which " of x: it is no value of the field's type"
#define V3 "{'format-version':'3'}"

Test(iceberg_create, ids_are_given_anew_a_struct_s_fields_before_what_is_in_them)
{
    static const struct row rows[] = {
        { "one column", "{'type':'struct','fields':[{'id':400,'name':'id','required':true,'type':'long'}]}", NULL, NULL, NULL,
          NULL, NULL },
        { "struct, list and map", "{'type':'struct','fields':[" NEST("10", "20", "30", "40", "50", "60", "70", "80", "90", "99") "]}",
          NULL, NULL, NULL,
          "{'last-column-id':10,'schemas':[{'type':'struct','schema-id':0,'fields':["
          NEST("1", "2", "3", "4", "5", "6", "7", "8", "9", "10") "]}]}", NULL },
        { "identifier fields follow",
          "{'type':'struct','schema-id':9,'identifier-field-ids':[8],'fields':[{'id':7,'name':'a','required':false,'type':'int'},"
          "{'id':8,'name':'b','required':true,'type':'string'}]}",
          NULL, NULL, NULL,
          "{'last-column-id':2,'schemas':[{'type':'struct','schema-id':0,'identifier-field-ids':[2],'fields':["
          "{'id':1,'name':'a','required':false,'type':'int'},{'id':2,'name':'b','required':true,'type':'string'}]}]}", NULL },
        { "no column", "{'type':'struct','fields':[]}", NULL, NULL, NULL,
          "{'last-column-id':0,'schemas':[{'type':'struct','schema-id':0,'fields':[]}]}", NULL },
        { "no fields", "{'type':'struct'}", NULL, NULL, NULL, NULL, "Cannot parse missing field: fields" },
        { "one name twice", "{'type':'struct','fields':[" ID ",{'id':2,'name':'id','required':false,'type':'int'}]}", NULL, NULL,
          NULL, NULL, "Invalid schema: multiple fields for name id" },
        { "an identifier that may be null",
          "{'type':'struct','identifier-field-ids':[1],'fields':[{'id':1,'name':'a','required':false,'type':'int'}]}", NULL, NULL,
          NULL, NULL, "Cannot add field a as an identifier field: it must be required, and no float or double" },
        { "an identifier that is not there", "{'type':'struct','identifier-field-ids':[3],'fields':[" ID "]}", NULL, NULL, NULL,
          NULL, "Cannot add fieldId 3 as an identifier field: field does not exist" },
        { "an identifier in a required struct",
          "{'type':'struct','identifier-field-ids':[2],'fields':[" BOX("true", X) "]}", NULL, NULL, NULL,
          "{'last-column-id':2,'schemas':[{'type':'struct','schema-id':0,'identifier-field-ids':[2],'fields':[" BOX("true", X) "]}]}", NULL },
        { "an identifier in an optional struct",
          "{'type':'struct','identifier-field-ids':[2],'fields':[" BOX("false", X) "]}", NULL, NULL, NULL, NULL,
          "Cannot add field x as an identifier field: must not be nested in an optional field, a list or a map" },
        { "an identifier in a struct of a list",
          "{'type':'struct','identifier-field-ids':[2],'fields':[{'id':1,'name':'l','required':true,'type':{'type':'list','element-id':3,"
          "'element-required':true,'element':{'type':'struct','fields':[" X "]}}}]}", NULL, NULL, NULL, NULL,
          "Cannot add field x as an identifier field: must not be nested in an optional field, a list or a map" },
    };
    check_rows(rows, sizeof rows / sizeof *rows);
}

/* Clients refuse to read a table whose schema breaks one of these. */
Test(iceberg_create, what_clients_read_of_a_field_is_checked)
{
    static const struct row rows[] = {
        { "a comment that is no text", FIELD("'int','doc':3"), NULL, NULL, NULL, NULL, "Cannot parse doc: it must be text" },
        { "a comment", FIELD("'int','doc':'d'"), NULL, NULL, NULL, "{'schemas':[" FIELD("'int','doc':'d'") "]}", NULL },
        { "unknown and required", "{'type':'struct','fields':[{'id':1,'name':'x','required':true,'type':'unknown'}]}", NULL, NULL, V3, NULL,
          "Cannot create required field with unknown type: x" },
        { "a default of another type", FIELD("'int','write-default':'4'"), NULL, NULL, NULL, NULL, NO_DEFAULT("write-default") },
        { "a default beyond 32 bits", FIELD("'int','write-default':2147483648"), NULL, NULL, NULL, NULL, NO_DEFAULT("write-default") },
        { "an initial default of another type", FIELD("'date','initial-default':7"), NULL, NULL, V3, NULL, NO_DEFAULT("initial-default") },
        { "a default of what has none", FIELD("'variant','write-default':1"), NULL, NULL, V3, NULL, NO_DEFAULT("write-default") },
        { "a default of a flag", FIELD("'boolean','write-default':0"), NULL, NULL, NULL, NULL, NO_DEFAULT("write-default") },
        { "a whole number", DEFAULT("'int'", "4"), NULL, NULL, NULL, "{'schemas':[" DEFAULT("'int'", "4") "]}", NULL },
        { "a large number", DEFAULT("'long'", "2147483648"), NULL, NULL, NULL, "{'schemas':[" DEFAULT("'long'", "2147483648") "]}", NULL },
        { "a number", DEFAULT("'double'", "4.5"), NULL, NULL, NULL, "{'schemas':[" DEFAULT("'double'", "4.5") "]}", NULL },
        { "a flag", DEFAULT("'boolean'", "true"), NULL, NULL, NULL, "{'schemas':[" DEFAULT("'boolean'", "true") "]}", NULL },
        { "a day", DEFAULT("'date'", "'2026-01-31'"), NULL, NULL, NULL, "{'schemas':[" DEFAULT("'date'", "'2026-01-31'") "]}", NULL },
        { "none", DEFAULT("'variant'", "null"), NULL, NULL, V3,
          "{'format-version':3,'next-row-id':0,'schemas':[" DEFAULT("'variant'", "null") "]}", NULL },
    };
    check_rows(rows, sizeof rows / sizeof *rows);
}

Test(iceberg_create, what_a_property_promises_at_a_create_holds)
{
    static const struct row rows[] = {
        { "good ones", ONE, NULL, NULL, "{'commit.retry.num-retries':'0','write.metadata.metrics.column.id':'full'}",
          "{'properties':{'commit.retry.num-retries':'0','write.metadata.metrics.column.id':'full'}}", NULL },
        { "metrics of a column that is not there", ONE, NULL, NULL, "{'write.metadata.metrics.column.no':'full'}", NULL,
          "Invalid metrics config, could not find column no from table prop write.metadata.metrics.column.no" },
        { "less than no tries", ONE, NULL, NULL, "{'commit.retry.num-retries':'-1'}", NULL,
          "Table property commit.retry.num-retries must have non negative integer value" },
        { "a time that is no number", ONE, NULL, NULL, "{'commit.retry.min-wait-ms':'1s'}", NULL,
          "Table property commit.retry.min-wait-ms must have integer value" },
        { "encrypted before version 3", ONE, NULL, NULL, "{'encryption.key-id':'k'}", NULL, "Invalid properties for v2: [encryption.key-id]" },
        { "encrypted", ONE, NULL, NULL, "{'encryption.key-id':'k','format-version':'3'}",
          "{'format-version':3,'next-row-id':0,'properties':{'encryption.key-id':'k'}}", NULL },
    };
    check_rows(rows, sizeof rows / sizeof *rows);
}

#define TWO(a, b)                                                                                                  \
    "{'type':'struct','schema-id':0,'fields':[{'id':" a ",'name':'id','required':true,'type':'long'},"             \
    "{'id':" b ",'name':'at','required':false,'type':'date'}]}"

Test(iceberg_create, specs_and_orders_follow_their_columns)
{
    static const struct row rows[] = {
        { "the given ids are the client's", TWO("6", "3"),
          "{'spec-id':44,'type':'struct','fields':[{'source-id':3,'field-id':7,'name':'d','transform':'day'},"
          "{'source-id':6,'name':'b','transform':'bucket[8]'}]}",
          "{'order-id':12,'fields':[{'source-id':6,'transform':'identity','direction':'asc','null-order':'nulls-last'}]}", NULL,
          "{'last-column-id':2,'schemas':[" TWO("1", "2") "],'last-partition-id':1001,'partition-specs':[{'spec-id':0,'fields':["
          "{'source-id':2,'field-id':1000,'name':'d','transform':'day'},"
          "{'source-id':1,'field-id':1001,'name':'b','transform':'bucket[8]'}]}],'default-sort-order-id':1,"
          "'sort-orders':[{'order-id':1,'fields':[{'source-id':1,'transform':'identity','direction':'asc','null-order':'nulls-last'}]}]}",
          NULL },
        { "without fields", ONE, "{'spec-id':3,'fields':[]}", "{'order-id':0,'fields':[]}", NULL, NULL, NULL },
        { "a column that is not there", ONE, "{'fields':[{'source-id':4,'name':'d','transform':'day'}]}", NULL, NULL, NULL,
          "Cannot find source column: 4" },
        { "an order's column that is not there", ONE, NULL,
          "{'order-id':1,'fields':[{'source-id':4,'transform':'identity','direction':'asc','null-order':'nulls-last'}]}", NULL, NULL,
          "Cannot find source column: 4" },
        { "days of a number", ONE, "{'fields':[{'source-id':1,'name':'d','transform':'day'}]}", NULL, NULL, NULL,
          "Invalid source type long for transform: day" },
    };
    check_rows(rows, sizeof rows / sizeof *rows);
}

Test(iceberg_create, properties_choose_the_version_and_reserved_ones_are_left_out)
{
    static const struct row rows[] = {
        { "reserved", ONE, NULL, NULL,
          "{'a':'b','format-version':'2','uuid':'x','snapshot-count':'1','current-snapshot-id':'1','current-snapshot-summary':'{}',"
          "'current-snapshot-timestamp-ms':'1','current-schema':'{}','default-partition-spec':'[]','default-sort-order':'[]'}",
          "{'properties':{'a':'b'}}", NULL },
        { "version 3", ONE, NULL, NULL, "{'format-version':'3'}", "{'format-version':3,'next-row-id':0}", NULL },
        { "version 1", ONE, NULL, NULL, "{'format-version':'1'}",
          "{'format-version':1,'last-sequence-number':null,'schema':" ONE ",'partition-spec':[]}", NULL },
        { "version 4", ONE, NULL, NULL, "{'format-version':'4'}", NULL, "Unsupported format version: v4 (supported: v3)" },
        { "version none", ONE, NULL, NULL, "{'format-version':'two'}", NULL, "Unsupported format version: vtwo (supported: v3)" },
        { "a number", ONE, NULL, NULL, "{'a':1}", NULL, "Cannot parse properties: the value of \"a\" must be text" },
        { "a type of version 3 in version 2", "{'type':'struct','fields':[{'id':1,'name':'x','required':false,'type':'variant'}]}",
          NULL, NULL, NULL, NULL, "Invalid schema for v2:\n- Invalid type for x: variant is not supported until v3" },
        { "a type of version 3 in version 3", "{'type':'struct','fields':[{'id':1,'name':'x','required':false,'type':'variant'}]}",
          NULL, NULL, "{'format-version':'3'}",
          "{'format-version':3,'next-row-id':0,'schemas':[{'type':'struct','schema-id':0,'fields':["
          "{'id':1,'name':'x','required':false,'type':'variant'}]}]}", NULL },
    };
    check_rows(rows, sizeof rows / sizeof *rows);
}

/* --- by updates --- */

#define HEAD "{'action':'assign-uuid','uuid':'11111111-1111-4111-8111-111111111111'},{'action':'set-location','location':'file:///lake/t'},"
#define BODY                                                                                                       \
    "{'action':'add-schema','schema':" ONE "},{'action':'set-current-schema','schema-id':-1},"                      \
    "{'action':'add-spec','spec':{'spec-id':0,'fields':[]}},{'action':'set-default-spec','spec-id':-1},"             \
    "{'action':'add-sort-order','sort-order':{'order-id':0,'fields':[]}},"                                             \
    "{'action':'set-default-sort-order','sort-order-id':-1}"
static const struct {
    const char *name, *updates, *expected, *refused;
} k_built[] = {
    { "version 2 by default", "[" HEAD BODY "]", NULL, NULL },
    { "version 1", "[{'action':'upgrade-format-version','format-version':1}," HEAD BODY "]",
      "{'format-version':1,'last-sequence-number':null,'schema':" ONE ",'partition-spec':[]}", NULL },
    { "the first version counts, then it rises",
      "[{'action':'upgrade-format-version','format-version':2},{'action':'upgrade-format-version','format-version':3}," HEAD BODY "]",
      "{'format-version':3,'next-row-id':0}", NULL },
    { "version 9", "[{'action':'upgrade-format-version','format-version':9}]", NULL,
      "Unsupported format version: v9 (supported: v3)" },
    { "no schema", "[{'action':'assign-uuid','uuid':'11111111-1111-4111-8111-111111111111'}]", NULL, "Cannot find schema with current-schema-id=-1 from schemas" },
    { "a snapshot before all", "[{'action':'add-snapshot','snapshot':{'snapshot-id':1,'timestamp-ms':1}}]", NULL,
      "Attempting to add a snapshot before a schema is added" },
    { "no location", "[{'action':'assign-uuid','uuid':'11111111-1111-4111-8111-111111111111'}," BODY "]", NULL, "Location cannot be null" },
    { "no uuid", "[{'action':'set-location','location':'file:///lake/t'}," BODY "]", NULL, "UUID is required in format v2" },
};

Test(iceberg_create, a_table_may_be_built_by_updates)
{
    const struct tarn_iceberg_change change = { 7000, NULL };

    for (size_t i = 0; i < sizeof k_built / sizeof *k_built; i++) {
        json_t *updates = tarn_quoted(k_built[i].updates);
        struct tarn_iceberg_meta *meta = NULL;
        bool changed = false;
        TARN_ERR(err);
        tarn_code code = tarn_iceberg_empty(updates, &meta, &err);
        if (code == TARN_OK)
            code = tarn_iceberg_update(meta, updates, &change, &changed, &err);
        cr_expect_eq(code, k_built[i].refused ? TARN_INVALID : TARN_OK, "%s: %s", k_built[i].name, err.detail);
        if (k_built[i].refused) {
            cr_expect_str_eq(err.detail, k_built[i].refused, "%s: \"%s\"", k_built[i].name, err.detail);
        } else if (code == TARN_OK) {
            json_t *found = tarn_iceberg_doc(meta), *expected = tarn_patched(k_empty, k_built[i].expected);
            if (meta->format_version == 3)
                (void)json_object_set_new(expected, "current-snapshot-id", json_null());
            tarn_expect_same(k_built[i].name, found, expected);
            json_decref(found);
            json_decref(expected);
        }
        tarn_iceberg_free(meta);
        json_decref(updates);
    }
}

/* "Spec does not use sequential IDs that are required in v1". */
Test(iceberg_create, partition_fields_of_version_1_are_numbered_in_order)
{
    const struct tarn_iceberg_change change = { 8000, NULL };
    const struct row row = { "v1", ONE, NULL, NULL, "{'format-version':'1'}", NULL, NULL };
    json_t *gap = tarn_quoted("[{'action':'add-spec','spec':{'fields':["
                              "{'source-id':1,'field-id':1001,'name':'b','transform':'bucket[8]'}]}}]");
    struct tarn_iceberg_meta *meta = NULL;
    bool changed = false;
    TARN_ERR(err);

    cr_assert_eq(create(&row, &meta, &err), TARN_OK, "%s", err.detail);
    cr_expect_eq(tarn_iceberg_update(meta, gap, &change, &changed, &err), TARN_INVALID);
    cr_expect_eq(strncmp(err.detail, "Spec does not use sequential IDs that are required in v1", 56), 0, "%s", err.detail);
    tarn_iceberg_free(meta);
    json_decref(gap);
}
