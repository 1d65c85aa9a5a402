/* test_schema_backward.c - which schema may follow which. Rows: fields now, fields next, renames, and the
 * forbidden changes as kind:column:from:to. */
#include "catalog/schema.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#define C(n, t) "{\"name\":\"" n "\",\"type\":\"" t "\",\"nullable\":true}"
#define R(n, t) "{\"name\":\"" n "\",\"type\":\"" t "\",\"nullable\":false}"
#define D(n, t) "{\"name\":\"" n "\",\"type\":\"" t "\",\"nullable\":false,\"default\":0}"

struct row {
    const char *now, *next, *renames, *changes; /* changes NULL: the call itself is wrong */
};

static const struct row k_rows[] = {
    { C("a", "int64"), C("a", "int64"), NULL, "" },
    { C("a", "int64"), C("a", "int64") "," C("b", "string"), NULL, "" },
    { C("a", "int64"), C("a", "int64") "," D("b", "int32"), NULL, "" },
    { C("a", "int64"), C("a", "int64") "," R("b", "string"), NULL, "added:b::string " },
    { C("a", "int32"), C("a", "int64"), NULL, "" },
    { C("a", "float"), C("a", "double"), NULL, "" },
    { C("a", "decimal(10,2)"), C("a", "decimal(12,2)"), NULL, "" },
    { C("a", "decimal(10,2)"), C("a", "decimal(8,2)"), NULL, "narrowed:a:decimal(10,2):decimal(8,2) " },
    { C("a", "decimal(10,2)"), C("a", "decimal(12,3)"), NULL, "type_changed:a:decimal(10,2):decimal(12,3) " },
    { R("a", "int64"), C("a", "int64"), NULL, "" },
    { C("a", "int64"), R("a", "int64"), NULL, "nullability:a:nullable:required " },
    { C("a", "int64"), D("a", "int64"), NULL, "nullability:a:nullable:required " },
    { C("a", "int64") "," C("b", "string"), C("b", "string") "," C("a", "int64"), NULL, "" },
    { C("a", "int64"), C("a", "int32"), NULL, "narrowed:a:int64:int32 " },
    { C("a", "double"), C("a", "float"), NULL, "narrowed:a:double:float " },
    { C("a", "int32"), C("a", "double"), NULL, "type_changed:a:int32:double " },
    { C("a", "int64"), C("a", "string"), NULL, "type_changed:a:int64:string " },
    { C("a", "date"), C("a", "timestamp_ntz"), NULL, "type_changed:a:date:timestamp_ntz " },
    { C("a", "timestamp"), C("a", "timestamp_ntz"), NULL, "type_changed:a:timestamp:timestamp_ntz " },
    { C("a", "timestamp"), C("a", "timestamp_ns"), NULL, "type_changed:a:timestamp:timestamp_ns " },
    { C("a", "timestamp"), C("a", "timestamptz"), NULL, "" },
    { C("a", "int64") "," C("b", "int64"), C("a", "int64"), NULL, "dropped:b:int64: " },
    { C("a", "int64"), C("A", "int64"), NULL, "dropped:a:int64: " },
    { C("a", "int64"), R("b", "int64"), NULL, "dropped:a:int64: added:b::int64 " },
    /* renames */
    { C("a", "int64"), C("b", "int64"), "{\"a\":\"b\"}", "" },
    { C("a", "int32"), C("b", "int64"), "{\"a\":\"b\"}", "" },
    { R("a", "int64"), R("b", "int64"), "{\"a\":\"b\"}", "" },
    { C("a", "int64"), C("b", "string"), "{\"a\":\"b\"}", "type_changed:a:int64:string " },
    { C("a", "int64") "," C("b", "string"), C("b", "int64") "," C("a", "string"), "{\"a\":\"b\",\"b\":\"a\"}",
      "" },
    { C("a", "int64") "," C("b", "int64"), C("b", "int64"), "{\"a\":\"b\"}", "dropped:b:int64: " },
    { C("a", "int64"), C("b", "int64") "," R("a", "string"), "{\"a\":\"b\"}", "added:a::string " },
    { C("a", "int64"), C("b", "int64"), "{\"x\":\"b\"}", NULL },
    { C("a", "int64"), C("a", "int64"), "{\"a\":\"x\"}", NULL },
    { C("a", "int64"), C("a", "int64"), "{\"a\":7}", NULL },
    { C("a", "int64") "," C("b", "int64"), C("c", "int64"), "{\"a\":\"c\",\"b\":\"c\"}", NULL },
    /* nested */
    { C("s", "struct<a:int32,b:string>"), C("s", "struct<a:int64,b:string,c:date>"), NULL, "" },
    { C("s", "struct<a:int32,b:string>"), C("s", "struct<a:int32>"), NULL, "dropped:s.b:string: " },
    { C("s", "struct<a:int64>"), C("s", "struct<a:int32>"), NULL, "narrowed:s.a:int64:int32 " },
    { C("l", "list<int32>"), C("l", "list<int64>"), NULL, "" },
    { C("l", "list<int64>"), C("l", "list<int32>"), NULL, "narrowed:l.element:int64:int32 " },
    { C("l", "list<int32>"), C("l", "list<int32 not null>"), NULL,
      "nullability:l.element:nullable:required " },
    { C("m", "map<string,int32>"), C("m", "map<string,string>"), NULL, "type_changed:m.value:int32:string " },
    { C("s", "struct<a:int32>"), C("s", "int32"), NULL, "type_changed:s:struct<a:int32>:int32 " },
};

static struct tarn_schema *schema_of(const char *fields)
{
    char text[1024];
    struct tarn_schema *schema = NULL;

    snprintf(text, sizeof text, "{\"type\":\"struct\",\"fields\":[%s]}", fields);
    json_auto_t *json = json_loads(text, 0, NULL);
    cr_assert(eq(int, tarn_schema_parse(json, "schema", &schema, NULL), TARN_OK), "%s", text);
    return schema;
}

static const char *text_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text ? text : "";
}

static void told(const struct tarn_err *err, char *out, size_t size)
{
    size_t i, len = 0;
    json_t *row;

    out[0] = '\0';
    json_array_foreach(json_object_get(err->more, "changes"), i, row) len +=
        (size_t)snprintf(out + len, size - len, "%s:%s:%s:%s ", text_of(row, "kind"), text_of(row, "column"),
                         text_of(row, "from"), text_of(row, "to"));
}

Test(schema_backward, only_what_old_files_allow_may_follow)
{
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        const struct row *row = &k_rows[i];
        TARN_ERR(err);
        char changes[512];
        TARN_AUTO(schema) struct tarn_schema *now = schema_of(row->now);
        TARN_AUTO(schema) struct tarn_schema *next = schema_of(row->next);
        json_auto_t *renames = row->renames ? json_loads(row->renames, 0, NULL) : NULL;
        tarn_code code = tarn_schema_backward(now, next, renames, &err);
        if (!row->changes) {
            cr_assert(eq(int, code, TARN_INVALID), "row %zu", i);
            cr_assert(eq(int, strncmp(err.field, "renames.", 8), 0), "%s", err.field);
            continue;
        }
        told(&err, changes, sizeof changes);
        cr_assert(eq(int, code, row->changes[0] ? TARN_INCOMPATIBLE_SCHEMA : TARN_OK), "row %zu: %s", i,
                  changes);
        cr_assert(eq(str, changes, (char *)row->changes), "row %zu", i);
    }
}

Test(schema_backward, the_caller_may_want_no_details)
{
    TARN_AUTO(schema) struct tarn_schema *now = schema_of(C("a", "int64"));
    TARN_AUTO(schema) struct tarn_schema *next = schema_of(C("b", "int64"));

    cr_assert(eq(int, tarn_schema_backward(now, next, NULL, NULL), TARN_INCOMPATIBLE_SCHEMA));
}
