/* test_schema.c - schemas in and out: spellings, nested forms, refusals. */
#include "catalog/schema.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>

static struct tarn_schema *parse(const char *text, struct tarn_err *err)
{
    struct tarn_schema *schema = NULL;
    json_auto_t *json = json_loads(text, 0, NULL);

    cr_assert(json != NULL, "bad test text %s", text);
    return tarn_schema_parse(json, "schema", &schema, err) == TARN_OK ? schema : NULL;
}

Test(schema, a_type_has_many_spellings_and_one_print)
{
    static const struct {
        const char *given, *printed;
    } k_rows[] = {
        { "int32", "int32" },
        { "int", "int32" },
        { "INTEGER", "int32" },
        { "smallint", "int32" },
        { "byte", "int32" },
        { "uint16", "int32" },
        { "uint32", "int64" },
        { "long", "int64" },
        { "bigint", "int64" },
        { "uint64", "uint64" },
        { "utf8", "string" },
        { "varchar", "string" },
        { "varchar(10)", "string" },
        { "char(3)", "string" },
        { "float64", "double" },
        { "double precision", "double" },
        { "Float32", "float" },
        { "half", "float16" },
        { "bool", "boolean" },
        { "decimal(10,2)", "decimal(10,2)" },
        { "decimal<10,2>", "decimal(10,2)" },
        { "decimal( 10 , 2 )", "decimal(10,2)" },
        { "decimal(5)", "decimal(5,0)" },
        { "decimal", "decimal(10,0)" },
        { "numeric(38,38)", "decimal(38,38)" },
        { "timestamp", "timestamp" },
        { "timestamptz", "timestamp" },
        { "timestamp_ntz", "timestamp_ntz" },
        { "timestamp without time zone", "timestamp_ntz" },
        { "timestamp with time zone", "timestamp" },
        { "timestamp_ns", "timestamp_ns" },
        { "timestamp[ns, tz=UTC]", "timestamp_ns" },
        { "timestamp[us]", "timestamp_ntz" },
        { "timestamp(3)", "timestamp_ms" },
        { "timestamp(6) without time zone", "timestamp_ntz" },
        { "time", "time" },
        { "date", "date" },
        { "uuid", "uuid" },
        { "fixed[16]", "binary" },
        { "bytes", "binary" },
        { "interval", "interval" },
        { "null", "unknown" },
        { "list<string>", "list<string>" },
        { "array<array<int>>", "list<list<int32>>" },
        { "array(bigint)", "list<int64>" },
        { "map<string, decimal(10,2)>", "map<string,decimal(10,2)>" },
        { "struct<a: int, b:list<string not null>>", "struct<a:int32,b:list<string>>" },
        { "row(a bigint, b varchar(9))", "struct<a:int64,b:string>" },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        char text[256], printed[128];
        TARN_ERR(err);
        snprintf(text, sizeof text, "{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"%s\"}]}",
                 k_rows[i].given);
        TARN_AUTO(schema) struct tarn_schema *schema = parse(text, &err);
        cr_assert(schema != NULL, "%s: %s", k_rows[i].given, err.detail);
        tarn_type_format(&schema->root.fields[0].type, printed, sizeof printed);
        cr_assert(eq(str, printed, (char *)k_rows[i].printed), "%s", k_rows[i].given);
    }
}

Test(schema, what_is_not_a_type_is_refused_with_its_place)
{
    static const struct {
        const char *fields, *field;
    } k_rows[] = {
        { "[{\"name\":\"a\",\"type\":\"strin\"}]", "schema.fields[0].type" },
        { "[{\"name\":\"a\",\"type\":\"int64\"},{\"name\":\"b\",\"type\":\"\"}]", "schema.fields[1].type" },
        { "[{\"name\":\"a\",\"type\":\"int64 x\"}]", "schema.fields[0].type" },
        { "[{\"name\":\"a\",\"type\":7}]", "schema.fields[0].type" },
        { "[{\"name\":\"a\"}]", "schema.fields[0].type" },
        { "[{\"name\":\"a\",\"type\":\"decimal(0,0)\"}]", "schema.fields[0].type" },
        { "[{\"name\":\"a\",\"type\":\"decimal(10,11)\"}]", "schema.fields[0].type" },
        { "[{\"name\":\"a\",\"type\":\"decimal(99999999999,2)\"}]", "schema.fields[0].type" },
        { "[{\"name\":\"a\",\"type\":\"decimal(10,2\"}]", "schema.fields[0].type" },
        { "[{\"name\":\"a\",\"type\":\"list\"}]", "schema.fields[0].type.elementType" },
        { "[{\"name\":\"a\",\"type\":\"list<int\"}]", "schema.fields[0].type" },
        { "[{\"name\":\"a\",\"type\":\"map<int>\"}]", "schema.fields[0].type" },
        { "[{\"name\":\"a\",\"type\":\"struct<a:int,a:int>\"}]", "schema.fields[0].type" },
        { "[{\"name\":\"a\",\"type\":\"timestamp(10)\"}]", "schema.fields[0].type" },
        { "[{\"name\":\"a\",\"type\":{\"type\":\"array\",\"elementType\":\"x\"}}]",
          "schema.fields[0].type.elementType" },
        { "[{\"name\":\"a\",\"type\":{\"type\":\"map\",\"keyType\":\"string\"}}]",
          "schema.fields[0].type.valueType" },
        { "[{\"name\":\"a\",\"type\":{\"type\":\"struct\",\"fields\":[{\"type\":\"int\"}]}}]",
          "schema.fields[0].type.fields[0].name" },
        { "[{\"name\":\"\",\"type\":\"int\"}]", "schema.fields" },
        { "[{\"name\":\"a\\nb\",\"type\":\"int\"}]", "schema.fields" },
        { "[{\"name\":\"a\",\"type\":\"int\"},{\"name\":\"a\",\"type\":\"int\"}]", "schema.fields" },
        { "[{\"name\":\"a\",\"type\":\"int\",\"nullable\":\"no\"}]", "schema.fields[0].nullable" },
        { "[7]", "schema.fields[0]" },
        { "{}", "schema.fields" },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        char text[512];
        TARN_ERR(err);
        snprintf(text, sizeof text, "{\"type\":\"struct\",\"fields\":%s}", k_rows[i].fields);
        TARN_AUTO(schema) struct tarn_schema *schema = parse(text, &err);
        cr_assert(schema == NULL, "%s was taken", k_rows[i].fields);
        cr_assert(eq(int, err.code, TARN_INVALID));
        cr_assert(eq(str, err.field, (char *)k_rows[i].field), "%s: %s", k_rows[i].fields, err.detail);
    }
}

Test(schema, names_differ_by_case)
{
    TARN_ERR(err);
    TARN_AUTO(schema)
    struct tarn_schema *schema =
        parse("{\"fields\":[{\"name\":\"a\",\"type\":\"int\"},{\"name\":\"A\",\"type\":\"int\"}]}", &err);
    cr_assert(schema != NULL, "%s", err.detail);
}

Test(schema, nested_types_of_spark_and_iceberg_are_one)
{
    static const char *const k_rows[] = {
        "{\"type\":\"array\",\"elementType\":{\"type\":\"map\",\"keyType\":\"string\",\"valueType\":\"long\","
        "\"valueContainsNull\":false},\"containsNull\":false}",
        "{\"type\":\"list\",\"element-id\":3,\"element-required\":true,\"element\":{\"type\":\"map\",\"key-"
        "id\":4,"
        "\"key\":\"string\",\"value-id\":5,\"value\":\"long\",\"value-required\":true}}",
        "\"list<map<string,int64 not null> not null>\"",
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        char text[512];
        TARN_ERR(err);
        snprintf(text, sizeof text, "{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":%s}]}",
                 k_rows[i]);
        TARN_AUTO(schema) struct tarn_schema *schema = parse(text, &err);
        cr_assert(schema != NULL, "%s: %s", k_rows[i], err.detail);
        const struct tarn_type *list = &schema->root.fields[0].type;
        cr_assert(eq(int, list->kind, TARN_T_LIST));
        cr_assert(eq(int, list->fields[0].nullable, false));
        const struct tarn_type *map = &list->fields[0].type;
        cr_assert(eq(int, map->kind, TARN_T_MAP));
        cr_assert(eq(int, map->fields[0].nullable, false));
        cr_assert(eq(int, map->fields[1].nullable, false));
        cr_assert(eq(int, map->fields[1].type.kind, TARN_T_INT64));
    }
}

Test(schema, unknown_members_and_defaults_are_written_back)
{
    static const char k_given[] = "{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"int64\","
                                  "\"nullable\":false,\"default\":0,"
                                  "\"comment\":\"who\",\"metadata\":{\"x\":1}},{\"name\":\"t\",\"type\":{"
                                  "\"type\":\"array\",\"elementType\":"
                                  "\"string\",\"containsNull\":true},\"nullable\":true}],\"doc\":\"events\"}";
    TARN_ERR(err);
    TARN_AUTO(schema) struct tarn_schema *schema = parse(k_given, &err);
    cr_assert(schema != NULL, "%s", err.detail);
    json_auto_t *given = json_loads(k_given, 0, NULL);
    json_auto_t *back = tarn_schema_to_json(schema);
    cr_assert(json_equal(given, back), "%s", json_dumps(back, 0));
}

Test(schema, required_of_iceberg_is_not_nullable)
{
    TARN_ERR(err);
    TARN_AUTO(schema)
    struct tarn_schema *schema =
        parse("{\"fields\":[{\"id\":1,\"name\":\"a\",\"type\":\"long\",\"required\":true},"
              "{\"id\":2,\"name\":\"b\",\"type\":\"long\",\"required\":false},"
              "{\"name\":\"c\",\"type\":\"long\"}]}",
              &err);
    cr_assert(schema != NULL, "%s", err.detail);
    cr_assert(eq(int, schema->root.fields[0].nullable, false));
    cr_assert(eq(int, schema->root.fields[1].nullable, true));
    cr_assert(eq(int, schema->root.fields[2].nullable, true));
}

/* `levels` arrays around an int, in object form or as text. */
static json_t *nested(int levels, bool text)
{
    json_t *type = json_string("int");
    char spelled[1024] = "int", wider[1100];

    for (int i = 0; i < levels; i++) {
        type = json_pack("{s:s, s:o}", "type", "array", "elementType", type);
        snprintf(wider, sizeof wider, "list<%.1000s>", spelled);
        snprintf(spelled, sizeof spelled, "%.1000s", wider);
    }
    if (text) {
        json_decref(type);
        type = json_string(spelled);
    }
    return json_pack("{s:[{s:s, s:o}]}", "fields", "name", "a", "type", type);
}

Test(schema, nesting_ends_at_32_levels)
{
    static const struct {
        int levels;
        tarn_code code;
    } k_rows[] = { { 31, TARN_OK }, { 32, TARN_INVALID }, { 60, TARN_INVALID } };

    for (size_t i = 0; i < 2 * TARN_COUNT(k_rows); i++) {
        TARN_AUTO(schema) struct tarn_schema *schema = NULL;
        json_auto_t *json = nested(k_rows[i / 2].levels, i % 2);
        cr_assert(eq(int, tarn_schema_parse(json, "schema", &schema, NULL), k_rows[i / 2].code), "row %zu",
                  i);
    }
}

Test(schema, columns_end_at_ten_thousand)
{
    json_auto_t *json = json_pack("{s:[]}", "fields");
    json_t *fields = json_object_get(json, "fields");

    for (int i = 0; i <= 10000; i++) {
        TARN_AUTO(schema) struct tarn_schema *schema = NULL;
        char name[16];
        snprintf(name, sizeof name, "c%d", i);
        if (i >= 10000) {
            cr_assert(eq(int, tarn_schema_parse(json, "schema", &schema, NULL), TARN_OK));
            cr_assert(eq(sz, schema->root.field_count, 10000));
        }
        json_array_append_new(fields, json_pack("{s:s, s:s}", "name", name, "type", "int"));
    }
    TARN_AUTO(schema) struct tarn_schema *schema = NULL;
    cr_assert(eq(int, tarn_schema_parse(json, "schema", &schema, NULL), TARN_INVALID));
}

Test(schema, a_printed_type_is_cut_with_dots)
{
    TARN_ERR(err);
    char printed[12];
    TARN_AUTO(schema)
    struct tarn_schema *schema =
        parse("{\"fields\":[{\"name\":\"a\",\"type\":\"map<string,decimal(10,2)>\"}]}", &err);
    cr_assert(schema != NULL);
    tarn_type_format(&schema->root.fields[0].type, printed, sizeof printed);
    cr_assert(eq(str, printed, "map<stri..."));
}
