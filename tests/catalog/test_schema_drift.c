/* test_schema_drift.c - what a file may differ in from its table. Rows: the table's fields, the file's,
 * and what is told as KIND:column, with "!" for severe and ">name" for a possible rename. The verdicts are
 * those of the observability notes, section 5.5. */
#include "base/own.h"
#include "catalog/schema.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>

#define C(n, t) "{\"name\":\"" n "\",\"type\":\"" t "\",\"nullable\":true}"
#define NUMBER(n, t) "{\"name\":\"" n "\",\"type\":\"" t "\",\"nullable\":true,\"logicalType\":\"number\"}" /* a contract's word */
#define R(n, t) "{\"name\":\"" n "\",\"type\":\"" t "\",\"nullable\":false}"

static const char *const k_kinds[] = {
    [TARN_DRIFT_WIDENED] = "widened",           [TARN_DRIFT_NARROWED] = "narrowed",
    [TARN_DRIFT_TYPE_CHANGED] = "type_changed", [TARN_DRIFT_BINARY_STRING] = "binary_string",
    [TARN_DRIFT_UNIT] = "unit",                 [TARN_DRIFT_NULL_IN_REQUIRED] = "null_in_required",
    [TARN_DRIFT_NULLS_UNKNOWN] = "nulls_unknown", [TARN_DRIFT_MISSING_COLUMN] = "missing",
    [TARN_DRIFT_MISSING_REQUIRED] = "missing_required", [TARN_DRIFT_EXTRA_COLUMN] = "extra",
    [TARN_DRIFT_RENAMED_CASE] = "renamed_case", [TARN_DRIFT_REORDERED] = "reordered",
    [TARN_DRIFT_PARTITION_COLUMN] = "partition",
};

struct told {
    char text[1024];
    size_t len;
};

static void note(void *ctx, const struct tarn_drift *drift)
{
    struct told *told = ctx;

    told->len += (size_t)snprintf(told->text + told->len, sizeof told->text - told->len, "%s%s:%s%s%s ",
                                  k_kinds[drift->kind], drift->severe ? "!" : "", drift->column,
                                  drift->possible_rename ? ">" : "",
                                  drift->possible_rename ? drift->possible_rename : "");
}

static struct tarn_schema *schema_of(const char *fields)
{
    char text[1024];
    struct tarn_schema *schema = NULL;

    snprintf(text, sizeof text, "{\"type\":\"struct\",\"fields\":[%s]}", fields);
    json_auto_t *json = json_loads(text, 0, NULL);
    cr_assert(eq(int, tarn_schema_parse(json, "schema", &schema, NULL), TARN_OK), "%s", text);
    return schema;
}

static void check(const struct tarn_schema *table, const struct tarn_schema *file, const char *keys,
                  const char *expected, size_t row)
{
    struct told told = { "", 0 };
    json_auto_t *partition_keys = keys ? json_loads(keys, 0, NULL) : NULL;

    tarn_schema_drift(table, file, partition_keys, note, &told);
    cr_assert(eq(str, told.text, (char *)expected), "row %zu", row);
}

Test(schema_drift, types_and_columns)
{
    static const struct {
        const char *table, *file, *told;
    } k_rows[] = {
        { C("a", "int64"), C("a", "int64"), "" },
        { NUMBER("a", "double"), C("a", "decimal(10,2)") "," C("b", "int64"), "extra:b " },
        { NUMBER("a", "double"), C("a", "int32"), "" },
        { NUMBER("a", "double"), C("a", "float"), "" },
        { NUMBER("a", "double"), C("a", "string"), "type_changed:a " },
        { NUMBER("a", "string"), C("a", "int64"), "type_changed:a " },
        { C("a", "int64"), C("a", "int32"), "widened:a " },
        { C("a", "double"), C("a", "float"), "widened:a " },
        { C("a", "decimal(12,2)"), C("a", "decimal(10,2)"), "widened:a " },
        { C("a", "double"), C("a", "int32"), "widened!:a " },
        { C("a", "decimal(12,2)"), C("a", "int32"), "widened!:a " },
        { C("a", "decimal(11,2)"), C("a", "int32"), "type_changed:a " },
        { C("a", "decimal(22,2)"), C("a", "int64"), "widened!:a " },
        { C("a", "decimal(21,2)"), C("a", "int64"), "type_changed:a " },
        { C("a", "decimal(12,4)"), C("a", "decimal(10,2)"), "widened!:a " },
        { C("a", "decimal(11,4)"), C("a", "decimal(10,2)"), "narrowed:a " },
        { C("a", "timestamp_ntz"), C("a", "date"), "widened!:a " },
        { C("a", "timestamp"), C("a", "date"), "type_changed:a " },
        { C("a", "int32"), C("a", "int64"), "narrowed:a " },
        { C("a", "float"), C("a", "double"), "narrowed:a " },
        { C("a", "decimal(8,2)"), C("a", "decimal(10,2)"), "narrowed:a " },
        { C("a", "decimal(10,1)"), C("a", "decimal(10,2)"), "narrowed:a " },
        { C("a", "timestamp"), C("a", "timestamp_ms"), "" },
        { C("a", "timestamp"), C("a", "timestamp_ns"), "" },
        { C("a", "timestamp_us"), C("a", "timestamp_ms"), "unit:a " },
        { C("a", "timestamp_us"), C("a", "timestamp_ns"), "unit!:a " },
        { C("a", "timestamp_ns"), C("a", "timestamp_us"), "unit!:a " },
        { C("a", "timestamp"), C("a", "timestamp_ntz"), "type_changed:a " },
        { C("a", "timestamp"), C("a", "int64"), "type_changed:a " },
        { C("a", "date"), C("a", "string"), "type_changed:a " },
        { C("a", "int64"), C("a", "string"), "type_changed:a " },
        { C("a", "string"), C("a", "unknown"), "" },
        { C("a", "unknown"), C("a", "int64"), "" },
        { C("a", "binary"), C("a", "string"), "binary_string:a " },
        { C("a", "int64"), R("a", "int64"), "" },
        { C("a", "int64") "," C("b", "string"), C("a", "int64"), "missing:b " },
        { C("a", "int64") "," R("b", "string"), C("a", "int64"), "missing_required:b " },
        { C("a", "int64"), C("a", "int64") "," C("b", "string"), "extra:b " },
        { C("a", "int64") "," C("b", "string"), C("a", "int64") "," C("c", "string"),
          "extra:c missing:b>c " },
        { C("a", "int64") "," C("b", "string"), C("a", "int64") "," C("c", "date"), "extra:c missing:b " },
        { C("user_id", "int64"), C("User_ID", "int64"), "renamed_case:user_id " },
        { C("user_id", "int64"), C("User_ID", "int32"), "renamed_case:user_id widened:user_id " },
        { C("a", "int64"), C("A", "int64") "," C("a", "int64"), "extra:A " },
        { C("a", "int64") "," C("A", "int64"), C("A", "int64"), "missing:a " },
        { C("a", "int64") "," C("b", "date"), C("b", "date") "," C("a", "int64"), "reordered:b " },
        { C("a", "int64") "," C("b", "date") "," C("c", "date"), C("a", "int64") "," C("c", "date"),
          "missing:b " },
        { C("s", "struct<a:int64,b:date>"), C("s", "struct<a:int32,c:int64>"),
          "extra:s.c widened:s.a missing:s.b " },
        { C("l", "list<struct<b:int64>>"), C("l", "list<struct<b:int32>>"), "widened:l.list.element.b " },
        { C("m", "map<string,int64>"), C("m", "map<int32,int64>"), "type_changed:m.key_value.key " },
        { C("m", "map<string,int64>"), C("m", "map<string,string>"), "type_changed:m.key_value.value " },
        { C("l", "list<int64>"), C("l", "int64"), "type_changed:l " },
        { C("l", "list<int64>"), C("l", "map<int64,int64>"), "type_changed:l " },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        TARN_AUTO(schema) struct tarn_schema *table = schema_of(k_rows[i].table);
        TARN_AUTO(schema) struct tarn_schema *file = schema_of(k_rows[i].file);
        check(table, file, NULL, k_rows[i].told, i);
    }
}

Test(schema_drift, partition_columns_come_from_the_path)
{
    static const struct {
        const char *table, *file, *keys, *told;
    } k_rows[] = {
        { C("a", "int64") "," R("date", "date"), C("a", "int64"), "[\"date\"]", "" },
        { C("a", "int64") "," R("date", "date"), C("a", "int64") "," C("date", "string"), "[\"date\"]",
          "partition:date " },
        { C("a", "int64"), C("a", "int64") "," C("date", "string"), "[\"date\"]", "partition:date " },
        { C("date", "date") "," C("a", "int64"), C("a", "int64") "," C("date", "date"), "[\"date\"]",
          "partition:date " },
        { C("s", "struct<date:date>"), C("s", "struct<x:int64>"), "[\"date\"]", "extra:s.x missing:s.date " },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        TARN_AUTO(schema) struct tarn_schema *table = schema_of(k_rows[i].table);
        TARN_AUTO(schema) struct tarn_schema *file = schema_of(k_rows[i].file);
        check(table, file, k_rows[i].keys, k_rows[i].told, i);
    }
}

Test(schema_drift, a_null_breaks_a_required_column_only_when_it_is_there)
{
    static const struct {
        const char *table, *file;
        int64_t nulls, rows;
        const char *told;
    } k_rows[] = {
        { R("a", "string"), C("a", "string"), 0, 10, "" },
        { R("a", "string"), C("a", "string"), 1, 10, "null_in_required:a " },
        { R("a", "string"), C("a", "string"), -1, 10, "nulls_unknown:a " },
        { R("a", "string"), C("a", "string"), -1, 0, "" },
        { R("a", "string"), R("a", "string"), -1, 10, "" },
        { C("a", "string"), C("a", "string"), 5, 10, "" },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        TARN_AUTO(schema) struct tarn_schema *table = schema_of(k_rows[i].table);
        TARN_AUTO(schema) struct tarn_schema *file = schema_of(k_rows[i].file);
        file->root.fields[0].null_count = k_rows[i].nulls;
        file->root.fields[0].row_count = k_rows[i].rows;
        check(table, file, NULL, k_rows[i].told, i);
    }
}

Test(schema_drift, a_null_below_a_nullable_struct_proves_nothing)
{
    TARN_AUTO(schema) struct tarn_schema *table = schema_of(C("s", "struct<a:int64 not null>"));
    TARN_AUTO(schema) struct tarn_schema *file = schema_of(C("s", "struct<a:int64>"));

    file->root.fields[0].type.fields[0].null_count = 3;
    check(table, file, NULL, "nulls_unknown:s.a ", 0);
    file->root.fields[0].nullable = false;
    check(table, file, NULL, "null_in_required:s.a ", 1);
}

Test(schema_drift, bytes_for_text_and_int96)
{
    TARN_AUTO(schema) struct tarn_schema *table = schema_of(C("a", "string") "," C("t", "timestamp_ntz"));
    TARN_AUTO(schema) struct tarn_schema *file = schema_of(C("a", "binary") "," C("t", "timestamp_ns"));

    file->root.fields[0].type.unannotated = true;
    file->root.fields[1].type.zone = TARN_ZONE_UNKNOWN;
    check(table, file, NULL, "binary_string:a ", 0);
    file->root.fields[0].type.unannotated = false;
    check(table, file, NULL, "type_changed:a ", 1);
}
