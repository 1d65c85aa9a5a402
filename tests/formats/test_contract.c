/* Data contracts (Open Data Contract Standard 3): what of them is registered, and what is refused. */
#include "formats/contract/contract.h"
#include "base/buf.h"
#include "base/json.h"
#include "config/document.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#define HEAD "apiVersion: v3.1.0\nkind: DataContract\nid: c-1\nversion: 1.2.0\nstatus: active\n"
#define TABLE(properties) HEAD "schema:\n- name: orders\n  properties:\n" properties

static tarn_code read_yaml(const char *yaml, const char *table, struct tarn_contract *out, struct tarn_err *err)
{
    TARN_AUTO(document) struct tarn_document *document = NULL;

    cr_assert(eq(int, tarn_document_parse(yaml, strlen(yaml), &document, err), TARN_OK), "%s: %s", yaml, err->detail);
    return tarn_contract_read(tarn_document_json(document), table, out, err);
}

static struct tarn_contract contract_of(const char *yaml, const char *table)
{
    struct tarn_contract contract = { 0 };
    TARN_ERR(err);

    cr_assert(eq(int, read_yaml(yaml, table, &contract, &err), TARN_OK), "%s\n%s: %s", yaml, err.field, err.detail);
    return contract;
}

static void expect_json(const json_t *found, const char *expected, const char *what)
{
    json_auto_t *tree = expected ? json_loads(expected, JSON_DECODE_ANY, NULL) : NULL;
    TARN_AUTO(mem) char *text = found ? tarn_json_text(found) : NULL;

    cr_assert(tree || !expected, "%s", expected);
    cr_expect(eq(int, (!tree && !found) || json_equal(tree, found), 1), "%s: %s, not %s", what, text ? text : "nothing",
              expected ? expected : "nothing");
}

static bool has_remark(const struct tarn_contract *contract, const char *field, const char *part)
{
    size_t i;
    json_t *remark;

    json_array_foreach (contract->remarks, i, remark)
        if (strcmp(json_string_value(json_object_get(remark, "field")), field) == 0 &&
            tarn_has(json_string_value(json_object_get(remark, "remark")), part))
            return true;
    return false;
}

Test(contract, the_type_of_a_column_is_its_physical_one_or_its_logical_one)
{
    static const struct { const char *property, *type; } k_rows[] = {
        { "{logicalType: string}", "\"string\"" },
        { "{logicalType: string, physicalType: varchar(18)}", "\"string\"" },
        { "{logicalType: integer}", "\"int64\"" },
        { "{logicalType: integer, logicalTypeOptions: {format: i32}}", "\"int32\"" },
        { "{logicalType: integer, logicalTypeOptions: {format: u64}}", "\"uint64\"" },
        { "{logicalType: integer, physicalType: INT, logicalTypeOptions: {format: i64}}", "\"int32\"" },
        { "{logicalType: integer, physicalType: 'NUMBER(38,0)'}", "\"int64\"" },
        { "{logicalType: number}", "\"double\"" },
        { "{logicalType: number, logicalTypeOptions: {format: f32}}", "\"float\"" },
        { "{logicalType: number, physicalType: 'decimal(10,2)'}", "\"decimal(10,2)\"" },
        { "{logicalType: number, physicalType: decimal}", "\"double\"" },
        { "{logicalType: boolean}", "\"boolean\"" },
        { "{logicalType: date}", "\"date\"" },
        { "{logicalType: date, logicalTypeOptions: {format: yyyy-MM-dd}}", "\"date\"" },
        { "{logicalType: date, logicalTypeOptions: {format: 'yyyy-MM-dd HH:mm:ss'}}", "\"timestamp\"" },
        { "{logicalType: date, physicalType: timestamp}", "\"timestamp\"" },
        { "{logicalType: timestamp}", "\"timestamp\"" },
        { "{logicalType: timestamp, logicalTypeOptions: {timezone: true}}", "\"timestamp\"" },
        { "{logicalType: timestamp, logicalTypeOptions: {timezone: false}}", "\"timestamp_ntz\"" },
        { "{logicalType: time}", "\"time\"" },
        { "{physicalType: bigint}", "\"int64\"" },
        { "{logicalType: int64}", "\"int64\"" },
        { "{logicalType: object, physicalType: json}", "\"string\"" },
        { "{logicalType: object, properties: [{name: a, logicalType: string, required: true}]}",
          "{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"string\",\"nullable\":false}]}" },
        { "{logicalType: object, physicalType: STRUCT, properties: [{name: a, logicalType: date}]}",
          "{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"date\",\"nullable\":true}]}" },
        { "{logicalType: array, items: {logicalType: integer, required: true}}",
          "{\"type\":\"array\",\"elementType\":\"int64\",\"containsNull\":false}" },
        { "{logicalType: array, physicalType: array, items: {logicalType: object, properties: [{name: z, physicalType: VARCHAR(15)}]}}",
          "{\"type\":\"array\",\"containsNull\":true,\"elementType\":{\"type\":\"struct\",\"fields\":"
          "[{\"name\":\"z\",\"type\":\"string\",\"nullable\":true}]}}" },
        { "{logicalType: map, map: {key: {logicalType: string}, value: {logicalType: integer}}}",
          "{\"type\":\"map\",\"keyType\":\"string\",\"valueType\":\"int64\",\"valueContainsNull\":true}" },
        { "{logicalType: map, physicalType: 'MAP<STRING, INT>'}", "{\"type\":\"map\",\"keyType\":\"string\",\"valueType\":\"int32\",\"valueContainsNull\":true}" },
        { "{logicalType: object}", "\"unknown\"" },
        { "{logicalType: array}", "\"unknown\"" },
        { "{description: none}", "\"unknown\"" },
    };

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        char yaml[1024];
        snprintf(yaml, sizeof yaml, TABLE("  - {name: x, %s\n"), k_rows[i].property + 1);
        struct tarn_contract contract = contract_of(yaml, "orders");
        const json_t *field = json_array_get(json_object_get(contract.schema, "fields"), 0);
        expect_json(json_object_get(field, "type"), k_rows[i].type, k_rows[i].property);
        tarn_contract_done(&contract);
    }
}

Test(contract, columns_have_their_physical_names_and_say_whether_they_may_be_null)
{
    struct tarn_contract c = contract_of(TABLE("  - {name: id, physicalName: ord_id, physicalType: bigint, required: true}\n"
                                               "  - {name: note, logicalType: string, required: false}\n"
                                               "  - {name: total, logicalType: number, semanticType: measure}\n"),
                                         "orders");
    expect_json(c.schema, "{\"type\":\"struct\",\"fields\":[{\"name\":\"ord_id\",\"type\":\"int64\",\"nullable\":false},"
                          "{\"name\":\"note\",\"type\":\"string\",\"nullable\":true}]}", "schema");
    cr_expect(has_remark(&c, "schema[0].properties[2]", "measure"));
    expect_json(c.partition_keys, NULL, "partition keys");
    tarn_contract_done(&c);
}

Test(contract, partition_keys_come_in_the_order_of_their_positions)
{
    struct tarn_contract c = contract_of(
        TABLE("  - {name: d, logicalType: integer, partitioned: true}\n"
              "  - {name: b, logicalType: string, partitioned: true, partitionKeyPosition: 2}\n"
              "  - {name: x, logicalType: string, partitioned: false, partitionKeyPosition: -1}\n"
              "  - {name: a, physicalName: a_1, logicalType: date, partitioned: true, partitionKeyPosition: 1}\n"
              "  - {name: c, logicalType: string, partitioned: true, partitionKeyPosition: 10}\n"), NULL);
    expect_json(c.partition_keys, "[\"a_1\",\"b\",\"c\",\"d\"]", "partition keys");
    tarn_contract_done(&c);
}

Test(contract, the_element_is_the_one_of_the_tables_name_or_the_only_one)
{
    static const char k_three[] = HEAD "schema:\n- {name: a, properties: [{name: x, logicalType: date}]}\n"
                                       "- {name: b, physicalName: raw.b_1, properties: [{name: y, logicalType: date}]}\n"
                                       "- {name: c}\n- {name: d}\n- {name: d}\n";
    static const char k_one[] = HEAD "schema:\n- {name: a, physicalName: p}\n";
    static const struct { const char *yaml, *table, *element, *told; } k_rows[] = {
        { k_three, "a", "a", NULL },    { k_three, "b", "b", NULL },     { k_three, "b_1", "b", NULL },
        { k_three, "c", "c", NULL },    { k_one, "other", "a", NULL },   { k_one, "p", "a", NULL },
        { k_three, "x", NULL, "holds 5 elements and none is named 'x': a, b, c, d, d" },
        { k_three, "d", NULL, "holds 2 elements named 'd'" },
        { HEAD, "x", "", NULL },        { HEAD "schema: []\n", "x", "", NULL },
    };

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct tarn_contract c = { 0 };
        TARN_ERR(err);
        tarn_code code = read_yaml(k_rows[i].yaml, k_rows[i].table, &c, &err);
        cr_expect(eq(int, code == TARN_OK, k_rows[i].element != NULL), "%s: %s", k_rows[i].table, err.detail);
        if (k_rows[i].element)
            cr_expect(eq(str, c.element ? c.element : (char *)"", (char *)k_rows[i].element));
        else
            cr_expect(tarn_has(err.detail, k_rows[i].told) && strcmp(err.field, "schema") == 0, "%s", err.detail);
        tarn_contract_done(&c);
    }
}

#define SLAS(items) HEAD "slaProperties:\n" items
#define TWO HEAD "schema: [{name: orders, physicalName: ord_1}, {name: other}]\nslaProperties:\n"

Test(contract, promises_become_thresholds_and_deadlines)
{
    static const struct { const char *yaml, *freshness; } k_rows[] = {
        { HEAD, NULL },
        { SLAS("- {property: latency, value: 4, unit: d}\n"), "{\"contract\":{\"warning\":\"3d4h48m\",\"error\":\"4d\"}}" },
        { SLAS("- {property: ly, value: 10, unit: hours}\n"), "{\"contract\":{\"warning\":\"8h\",\"error\":\"10h\"}}" },
        { SLAS("- {property: Latency, value: '2', unit: DAY}\n"), "{\"contract\":{\"warning\":\"1d14h24m\",\"error\":\"2d\"}}" },
        { SLAS("- {property: latency, value: 0.5, unit: h}\n"), "{\"contract\":{\"warning\":\"24m\",\"error\":\"30m\"}}" },
        { SLAS("- {property: latency, value: 25h}\n"), "{\"contract\":{\"warning\":\"20h\",\"error\":\"1d1h\"}}" },
        { SLAS("- {property: latency, value: 2, unit: h}\n- {property: latency, value: 50, unit: min}\n"),
          "{\"contract\":{\"warning\":\"40m\",\"error\":\"50m\"}}" },
        { SLAS("- {property: frequency, value: 1, valueExt: 1, unit: d}\n"), "{\"contract\":{\"warning\":\"1d12h\",\"error\":\"2d\"}}" },
        { SLAS("- {property: frequency, value: 1, unit: h}\n- {property: latency, value: 10, unit: m}\n"),
          "{\"contract\":{\"warning\":\"8m\",\"error\":\"10m\"}}" },
        { SLAS("- {property: timeOfAvailability, value: 09:00-08:00}\n"),
          "{\"contract\":{\"deadline\":{\"at\":\"09:00\",\"timezone\":\"-08:00\"}}}" },
        { SLAS("- {property: timeOfAvailability, value: 09:00-08:00, driver: regulatory}\n"
               "- {property: timeOfAvailability, value: 08:00-08:00, driver: analytics}\n"),
          "{\"contract\":{\"deadline\":{\"at\":\"08:00\",\"timezone\":\"-08:00\"}}}" },
        { SLAS("- {property: timeOfAvailability, value: '9:30'}\n"), "{\"contract\":{\"deadline\":{\"at\":\"09:30\"}}}" },
        { SLAS("- {property: timeOfAvailability, value: '23:59:59Z'}\n"),
          "{\"contract\":{\"deadline\":{\"at\":\"23:59:59\",\"timezone\":\"UTC\"}}}" },
        { SLAS("- {property: timeOfAvailability, value: '06:00 Europe/Berlin'}\n"),
          "{\"contract\":{\"deadline\":{\"at\":\"06:00\",\"timezone\":\"Europe/Berlin\"}}}" },
        { SLAS("- {property: timeOfAvailability, value: '06:00', valueExt: Europe/Berlin}\n"),
          "{\"contract\":{\"deadline\":{\"at\":\"06:00\",\"timezone\":\"Europe/Berlin\"}}}" },
        { SLAS("- {property: timeOfAvailability, value: '06:00+0530'}\n- {property: latency, value: 1, unit: w}\n"),
          "{\"contract\":{\"warning\":\"5d14h24m\",\"error\":\"7d\",\"deadline\":{\"at\":\"06:00\",\"timezone\":\"+05:30\"}}}" },
        { SLAS("- {property: availability, value: 99.9, unit: percent}\n"), NULL },
        { TWO "- {property: latency, value: 1, unit: h, element: other.x}\n", NULL },
        { TWO "- {property: latency, value: 1, unit: h, element: orders.x}\n", "{\"contract\":{\"warning\":\"48m\",\"error\":\"1h\"}}" },
        { TWO "- {property: latency, value: 1, unit: h, element: 'other.x, ord_1.x'}\n",
          "{\"contract\":{\"warning\":\"48m\",\"error\":\"1h\"}}" },
        { TWO "- {property: latency, value: 1, unit: h}\n", "{\"contract\":{\"warning\":\"48m\",\"error\":\"1h\"}}" },
        { TWO "- {property: latency, value: 1, unit: h}\nslaDefaultElement: other.x\n", NULL },
        { HEAD "schema: [{name: orders}]\nslaProperties:\n- {property: latency, value: 1, unit: h, element: tab1.txn}\n",
          "{\"contract\":{\"warning\":\"48m\",\"error\":\"1h\"}}" },
    };

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct tarn_contract c = contract_of(k_rows[i].yaml, "orders");
        expect_json(c.freshness, k_rows[i].freshness, k_rows[i].yaml + strlen(HEAD));
        tarn_contract_done(&c);
    }
}

Test(contract, the_owner_is_the_team_or_the_member_whose_role_it_is)
{
    static const struct { const char *yaml, *owner; } k_rows[] = {
        { HEAD, NULL },
        { HEAD "team: {name: data-platform, members: [{username: ada, role: Owner}]}\n", "data-platform" },
        { HEAD "team: {members: [{username: eve, role: Engineer}, {username: ada, role: Data Product Owner}]}\n", "ada" },
        { HEAD "team:\n- {username: old, role: Owner, dateOut: '2022-10-01'}\n- {username: new, role: owner}\n", "new" },
        { HEAD "team:\n- {username: ada, role: Engineer}\n", NULL },
        { HEAD "owner: crew\nteam: {name: data-platform}\n", "crew" },
        { HEAD "customProperties:\n- {property: owner, value: crew}\n", "crew" },
    };

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct tarn_contract c = contract_of(k_rows[i].yaml, NULL);
        cr_expect(eq(str, c.owner ? c.owner : (char *)"none", (char *)(k_rows[i].owner ? k_rows[i].owner : "none")), "%s",
                  k_rows[i].yaml);
        tarn_contract_done(&c);
    }
}

Test(contract, what_it_is_stands_in_properties)
{
    struct tarn_contract c = contract_of(HEAD "name: Orders\nslaProperties:\n- {property: retention, value: 3, unit: y}\n", NULL);

    expect_json(c.properties, "{\"contract.id\":\"c-1\",\"contract.version\":\"1.2.0\",\"contract.name\":\"Orders\","
                              "\"contract.status\":\"active\",\"contract.retention\":\"1095d\"}", "properties");
    tarn_contract_done(&c);
}

Test(contract, unknown_keys_and_what_is_not_taken_are_told)
{
    struct tarn_contract c = contract_of(
        HEAD "colour: red\ntags: [a]\nschema:\n- name: orders\n  lakes: 1\n  quality: [{metric: rowCount}]\n  properties:\n"
             "  - {name: x, logicalType: array, items: {logicalType: string, kind: z}, requried: true}\n"
             "  - {name: y, logicalType: integer, physicalType: number(10)}\n"
             "team: {name: t, lead: x}\nslaProperties:\n- {property: availability, value: 1, why: not}\n", NULL);
    static const struct { const char *field, *part; } k_rows[] = {
        { "colour", "no key of the standard" },
        { "schema[0].lakes", "no key" },
        { "schema[0].quality", "not evaluated" },
        { "schema[0].properties[0].requried", "no key" },
        { "schema[0].properties[0].items.kind", "no key" },
        { "schema[0].properties[1].physicalType", "logicalType decides" },
        { "team.lead", "no key" },
        { "slaProperties[0].why", "no key" },
        { "slaProperties[0]", "'availability' is not watched" },
    };

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++)
        cr_expect(has_remark(&c, k_rows[i].field, k_rows[i].part), "%s", k_rows[i].field);
    cr_expect(eq(sz, json_array_size(c.remarks), TARN_COUNT(k_rows)));
    tarn_contract_done(&c);
}

Test(contract, remarks_are_bounded)
{
    TARN_AUTO_DONE(buf) struct tarn_buf yaml = { 0 };

    tarn_buf_adds(&yaml, HEAD);
    for (int i = 0; i < 250; i++)
        tarn_buf_addf(&yaml, "k%d: 1\n", i);
    struct tarn_contract c = contract_of(yaml.data, NULL);
    cr_expect(eq(sz, json_array_size(c.remarks), TARN_CONTRACT_REMARKS_MAX + 1));
    cr_expect(has_remark(&c, "", "150 more"));
    tarn_contract_done(&c);
}

Test(contract, what_is_wrong_is_refused_by_name)
{
    static const struct { const char *yaml, *field, *told; } k_rows[] = {
        { "- 1\n", "", "no data contract" },
        { "hello\n", "", "no data contract" },
        { "a: 1\n", "kind", "missing" },
        { "kind: DataProduct\napiVersion: v1.0.0\n", "kind", "only a DataContract" },
        { "kind: DataContract\n", "apiVersion", "missing" },
        { "kind: DataContract\napiVersion: v2.2.2\n", "apiVersion", "version 2 has `dataset`" },
        { "kind: DataContract\napiVersion: v4.0.0\n", "apiVersion", "only version 3" },
        { "kind: DataContract\napiVersion: 3\n", "apiVersion", "quotes" },
        { "dataContractSpecification: 1.1.0\nid: x\n", "dataContractSpecification", "Open Data Contract Standard" },
        { "kind: DataContract\napiVersion: v3.0.0\nversion: 1.0.0\n", "id", "missing" },
        { "kind: DataContract\napiVersion: v3.0.0\nid: a\nversion: 1.0\n", "version", "quotes" },
        { HEAD "schema: {name: a}\n", "schema", "list" },
        { HEAD "schema: [a]\n", "schema[0]", "keys with values" },
        { HEAD "schema: [{physicalName: a}]\n", "schema[0].name", "missing" },
        { TABLE("  - {logicalType: string}\n"), "schema[0].properties[0].name", "missing" },
        { TABLE("  - {name: 7, logicalType: string}\n"), "schema[0].properties[0].name", "quotes" },
        { TABLE("  - {name: x, required: 'yes'}\n"), "schema[0].properties[0].required", "true or false" },
        { TABLE("  - {name: x, required: yes}\n"), "schema[0].properties[0].required", "true or false" },
        { TABLE("  - {name: x, logicalType: text_}\n"), "schema[0].properties[0].logicalType", "no type" },
        { TABLE("  - {name: x, logicalType: [string]}\n"), "schema[0].properties[0].logicalType", "text" },
        { TABLE("  - {name: x, partitionKeyPosition: 1.5}\n"), "schema[0].properties[0].partitionKeyPosition", "whole" },
        { TABLE("  - {name: x, logicalType: array, items: [1]}\n"), "schema[0].properties[0].items", "keys with values" },
        { TABLE("  - {name: x, logicalType: map, map: {key: {logicalType: string}}}\n"),
          "schema[0].properties[0].map.value", "missing" },
        { TABLE("  - {name: x, logicalType: date}\n  - {name: y, physicalName: x, logicalType: date}\n"),
          "schema[0].properties[1].name", "twice" },
        { SLAS("- {value: 4, unit: d}\n"), "slaProperties[0].property", "missing" },
        { SLAS("- {property: latency, value: 4}\n"), "slaProperties[0].unit", "missing" },
        { SLAS("- {property: latency, value: 4, unit: parsec}\n"), "slaProperties[0].unit", "no unit" },
        { SLAS("- {property: latency, value: soon, unit: d}\n"), "slaProperties[0].value", "number" },
        { SLAS("- {property: latency, value: -1, unit: d}\n"), "slaProperties[0].value", "second" },
        { SLAS("- {property: latency, value: 1e300, unit: d}\n"), "slaProperties[0].value", "hundred years" },
        { SLAS("- {property: latency, value: [1], unit: d}\n"), "slaProperties[0].value", "one value" },
        { SLAS("- {property: latency, unit: d}\n"), "slaProperties[0].value", "number" },
        { SLAS("- {property: timeOfAvailability, value: 9}\n"), "slaProperties[0].value", "time of day" },
        { SLAS("- {property: timeOfAvailability, value: '25:00'}\n"), "slaProperties[0].value", "time of day" },
        { SLAS("- {property: timeOfAvailability, value: '09:00AM'}\n"), "slaProperties[0].value", "time of day" },
        { HEAD "team: crew\n", "team", "list of members" },
        { HEAD "team: [{username: 1}]\n", "team[0].username", "quotes" },
    };

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct tarn_contract c = { 0 };
        TARN_ERR(err);
        cr_expect(eq(int, read_yaml(k_rows[i].yaml, "orders", &c, &err), TARN_INVALID), "%s", k_rows[i].yaml);
        cr_expect(eq(str, err.field, (char *)k_rows[i].field), "%s: %s", k_rows[i].yaml, err.detail);
        cr_expect(tarn_has(err.detail, k_rows[i].told), "%s: %s", k_rows[i].yaml, err.detail);
        cr_expect(c.properties == NULL && c.remarks == NULL);
    }
}

Test(contract, types_do_not_nest_without_end)
{
    TARN_AUTO_DONE(buf) struct tarn_buf json = { 0 };
    struct tarn_contract c = { 0 };
    TARN_ERR(err);

    tarn_buf_adds(&json, "{\"apiVersion\":\"v3.0.0\",\"kind\":\"DataContract\",\"id\":\"a\",\"version\":\"1\",\"schema\":"
                         "[{\"name\":\"t\",\"properties\":[{\"name\":\"x\",\"logicalType\":\"array\"");
    for (int i = 0; i < 40; i++)
        tarn_buf_adds(&json, ",\"items\":{\"logicalType\":\"array\"");
    for (int i = 0; i < 40; i++)
        tarn_buf_adds(&json, "}");
    tarn_buf_adds(&json, "}]}]}");
    json_auto_t *tree = json_loads(json.data, 0, NULL);
    cr_expect(eq(int, tarn_contract_read(tree, NULL, &c, &err), TARN_INVALID));
    cr_expect(tarn_has(err.detail, "nest at most"), "%s", err.detail);
}

Test(contract, other_documents_are_told_from_contracts)
{
    static const struct { const char *json; int is; } k_rows[] = {
        { "{\"kind\":\"DataContract\"}", 1 }, { "{\"apiVersion\":\"v2\"}", 1 }, { "{\"type\":\"struct\",\"fields\":[]}", 0 },
        { "{\"current_version\":1,\"schema\":{}}", 0 }, { "[]", 0 }, { "{\"dataContractSpecification\":\"1\"}", 1 },
    };

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        json_auto_t *tree = json_loads(k_rows[i].json, 0, NULL);
        cr_expect(eq(int, tarn_contract_is(tree), k_rows[i].is), "%s", k_rows[i].json);
    }
}
