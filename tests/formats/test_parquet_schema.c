/* test_parquet_schema.c - Parquet schemas as types of the catalog: every physical and logical type, and the
 * many ways to write a list or a map. Expectations: parquet-format LogicalTypes.md and the notes on
 * observability, 5.4. A "?" after a name or element means nullable. */
#include "base/own.h"
#include "formats/parquet/parquet.h"
#include "tests/support/footer.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>

static void print_type(struct tarn_buf *b, const struct tarn_type *type);

static void print_columns(struct tarn_buf *b, const struct tarn_type *type)
{
    for (size_t i = 0; i < type->field_count; i++) {
        const struct tarn_column *column = &type->fields[i];
        tarn_buf_adds(b, i > 0 ? "," : "");
        if (type->kind == TARN_T_STRUCT)
            tarn_buf_addf(b, "%s%s:", column->name, column->nullable ? "?" : "");
        print_type(b, &column->type);
        if (type->kind != TARN_T_STRUCT)
            tarn_buf_adds(b, column->nullable ? "?" : "");
    }
}

static void print_type(struct tarn_buf *b, const struct tarn_type *type)
{
    static const char *const k_units[] = { "ms", "us", "ns" };
    static const char *const k_zones[] = { "utc", "local", "unknown" };
    static const char *const k_open[] = { "{", "list<", "map<" }, *const k_close[] = { "}", ">", ">" };
    char text[64];

    if (type->kind >= TARN_T_STRUCT) {
        tarn_buf_adds(b, k_open[type->kind - TARN_T_STRUCT]);
        print_columns(b, type);
        tarn_buf_adds(b, k_close[type->kind - TARN_T_STRUCT]);
        return;
    }
    tarn_type_format(type, text, sizeof text);
    if (type->kind == TARN_T_TIMESTAMP)
        snprintf(text, sizeof text, "ts(%s,%s)", k_units[type->unit], k_zones[type->zone]);
    tarn_buf_adds(b, text);
    tarn_buf_adds(b, type->narrow ? "(narrow)" : "");
    tarn_buf_adds(b, type->unannotated ? "(plain)" : "");
}

/* A file without rows of that schema. */
static struct tarn_parquet *read_spec(const char *spec)
{
    __attribute__((cleanup(compact_done))) struct compact c = { 0 };
    struct tarn_parquet *out = NULL;

    compact_i32(&c, 1, 1);
    compact_schema(&c, spec);
    compact_i64(&c, 3, 0);
    compact_end(&c);
    cr_assert(
        eq(int, tarn_parquet_footer(c.out.data, c.out.len, 4 + (int64_t)c.out.len + 8, &out, NULL), TARN_OK));
    return out;
}

static const struct {
    const char *spec, *printed;
} k_rows[] = {
    { "1; req bool a", "{a:boolean}" },
    { "1; opt i32 a", "{a?:int32}" },
    { "1; req i64 a", "{a:int64}" },
    { "1; req i96 a", "{a:ts(ns,unknown)}" },
    { "1; req f32 a", "{a:float}" },
    { "1; req f64 a", "{a:double}" },
    { "1; req ba a", "{a:binary(plain)}" },
    { "1; req fix:7 a", "{a:binary}" },
    /* ConvertedType alone, as older Spark writes it */
    { "1; req ba a conv=0", "{a:string}" },
    { "1; req ba a conv=4", "{a:string}" },
    { "1; req ba a conv=19", "{a:string}" },
    { "1; req ba a conv=20", "{a:binary}" },
    { "1; req i32 a conv=6", "{a:date}" },
    { "1; req i32 a conv=7", "{a:time}" },
    { "1; req i64 a conv=8", "{a:time}" },
    { "1; req i64 a conv=9", "{a:ts(ms,utc)}" },
    { "1; req i64 a conv=10", "{a:ts(us,utc)}" },
    { "1; req i32 a conv=11", "{a:int32(narrow)}" },
    { "1; req i32 a conv=12", "{a:int32(narrow)}" },
    { "1; req i32 a conv=13", "{a:int64}" },
    { "1; req i64 a conv=14", "{a:uint64}" },
    { "1; req i32 a conv=15", "{a:int32(narrow)}" },
    { "1; req i32 a conv=16", "{a:int32(narrow)}" },
    { "1; req i32 a conv=17", "{a:int32}" },
    { "1; req i64 a conv=18", "{a:int64}" },
    { "1; req fix:12 a conv=21", "{a:interval}" },
    { "1; req fix:5 a conv=5 old=10,2", "{a:decimal(10,2)}" },
    { "1; req i32 a conv=99", "{a:int32}" },
    /* LogicalType */
    { "1; req ba a str", "{a:string}" },
    { "1; req ba a log=4", "{a:string}" },
    { "1; req ba a log=12", "{a:string}" },
    { "1; req ba a log=13", "{a:binary}" },
    { "1; req i32 a log=6", "{a:date}" },
    { "1; req i32 a int=8s", "{a:int32(narrow)}" },
    { "1; req i32 a int=32s", "{a:int32}" },
    { "1; req i32 a int=32u", "{a:int64}" },
    { "1; req i64 a int=64u", "{a:uint64}" },
    { "1; req i64 a int=64s", "{a:int64}" },
    { "1; req i64 a ts=ms:utc", "{a:ts(ms,utc)}" },
    { "1; req i64 a ts=us:local", "{a:ts(us,local)}" },
    { "1; req i64 a ts=ns:utc", "{a:ts(ns,utc)}" },
    { "1; req i64 a conv=10 ts=us:local", "{a:ts(us,local)}" }, /* the logical type has the last word */
    { "1; req i32 a time=ms:local", "{a:time}" },
    { "1; req i64 a dec=18,4", "{a:decimal(18,4)}" },
    { "1; req ba a dec=38,10", "{a:decimal(38,10)}" },
    { "1; req fix:16 a log=14", "{a:uuid}" },
    { "1; req fix:2 a log=15", "{a:float16}" },
    { "1; opt i32 a log=11", "{a?:unknown}" },
    { "1; req ba a log=17", "{a:binary}" }, /* GEOMETRY: its bytes */
    { "1; req ba a log=99", "{a:binary}" }, /* from the future */
    { "1; req i32 a str", "{a:int32}" },    /* an annotation on the wrong type */
    { "1; req fix:15 a log=14", "{a:binary}" },
    /* groups */
    { "2; opt group:2 s; req i32 a; opt i32 b; req i32 c", "{s?:{a:int32,b?:int32},c:int32}" },
    { "1; opt group:2 v log=16; req ba metadata; req ba value",
      "{v?:{metadata:binary(plain),value:binary(plain)}}" },
    { "0", "{}" },
    /* lists: three levels, standard and of Hive, Spark and Arrow */
    { "1; opt group:1 l log=3; rep group:1 list; opt i32 element", "{l?:list<int32?>}" },
    { "1; req group:1 l conv=3; rep group:1 list; req i32 element", "{l:list<int32>}" },
    { "1; opt group:1 l conv=3; rep group:1 bag; opt i32 array_element", "{l?:list<int32?>}" },
    { "1; opt group:1 l conv=3; rep group:1 bag; opt i32 array", "{l?:list<int32?>}" },
    { "1; opt group:1 l conv=3; rep group:1 list; opt group:2 element; req i32 a; opt i32 b",
      "{l?:list<{a:int32,b?:int32}?>}" },
    { "1; opt group:1 l log=3; rep group:1 list; opt group:1 element log=3; rep group:1 list; opt ba element "
      "str",
      "{l?:list<list<string?>?>}" },
    /* two levels: the repeated field is the element */
    { "1; opt group:1 l conv=3; rep i32 element", "{l?:list<int32>}" },
    { "1; opt group:1 l conv=3; rep group:2 element; req i32 a; req i32 b", "{l?:list<{a:int32,b:int32}>}" },
    { "1; opt group:1 l conv=3; rep group:1 array; req i32 a", "{l?:list<{a:int32}>}" },
    { "1; opt group:1 l conv=3; rep group:1 l_tuple; req i32 a", "{l?:list<{a:int32}>}" },
    { "1; opt group:1 l conv=3; rep group:1 array conv=3; rep i32 array", "{l?:list<list<int32>>}" },
    { "1; opt group:1 l conv=3; rep group:1 x; rep i32 y", "{l?:list<{y:list<int32>}>}" },
    /* no list around it at all (protobuf) */
    { "1; rep i32 a", "{a:list<int32>}" },
    { "1; rep group:2 a; req i32 x; rep ba y str", "{a:list<{x:int32,y:list<string>}>}" },
    /* LIST on what is no list */
    { "1; opt group:2 l conv=3; req i32 a; req i32 b", "{l?:{a:int32,b:int32}}" },
    { "1; opt group:1 l conv=3; opt i32 a", "{l?:{a?:int32}}" },
    /* maps */
    { "1; opt group:1 m log=2; rep group:2 key_value; req ba key str; opt i64 value",
      "{m?:map<string,int64?>}" },
    { "1; opt group:1 m conv=1; rep group:2 map conv=2; req ba key conv=0; req i64 value",
      "{m?:map<string,int64>}" },
    { "1; opt group:1 m conv=2; rep group:2 map; opt ba key conv=0; opt i64 value",
      "{m?:map<string,int64?>}" },
    { "1; opt group:1 m log=2; rep group:2 key_value; req i32 key; opt group:1 value log=3; rep group:1 "
      "list; "
      "opt f64 element",
      "{m?:map<int32,list<double?>?>}" },
    { "1; opt group:1 m log=2; rep group:1 key_value; req i32 key", "{m?:{key_value:list<{key:int32}>}}" },
};

Test(parquet_schema, every_way_to_write_a_type_is_known)
{
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        TARN_AUTO_DONE(buf) struct tarn_buf printed = { 0 };
        TARN_AUTO(parquet) struct tarn_parquet *file = read_spec(k_rows[i].spec);
        cr_assert(eq(int, file->state, TARN_PARQUET_OK), "%s: %s", k_rows[i].spec, file->reason);
        print_type(&printed, &file->schema->root);
        cr_assert(eq(str, printed.data, (char *)k_rows[i].printed), "%s", k_rows[i].spec);
        cr_assert(eq(sz, file->column_count, compact_leaves(k_rows[i].spec)));
    }
}

Test(parquet_schema, a_leaf_is_named_by_its_whole_path)
{
    TARN_AUTO(parquet)
    struct tarn_parquet *file = read_spec("3; req i32 a; opt group:1 s; req i32 b; "
                                          "opt group:1 l log=3; rep group:1 list; opt i32 element");
    cr_assert(eq(int, file->state, TARN_PARQUET_OK), "%s", file->reason);
    cr_assert(eq(sz, file->column_count, 3));
    cr_assert(eq(str, file->columns[0].path, "a"));
    cr_assert(eq(str, file->columns[1].path, "s.b"));
    cr_assert(eq(str, file->columns[2].path, "l.list.element"));
    cr_assert(not(file->columns[1].repeated));
    cr_assert(file->columns[2].repeated);
}

Test(parquet_schema, a_schema_that_contradicts_itself_is_corrupt)
{
    static const char *const k_bad[] = {
        "2; req i32 a",                       /* ends too early */
        "1; req i32 a; req i32 b",            /* goes on too long */
        "1; req group:3 s; req i32 a",
        "-1; req i32 a",
        "1; req group:2000000000 s; req i32 a",
        "1; opt i32 a dec=0,0",
        "1; opt i32 a dec=5,6",
        "1; req fix:5 a conv=5",              /* a decimal without a precision */
        "1; opt group:1 l conv=3; rep group:1 list",
    };
    for (size_t i = 0; i < TARN_COUNT(k_bad); i++) {
        TARN_AUTO(parquet) struct tarn_parquet *file = read_spec(k_bad[i]);
        cr_assert(eq(int, file->state, TARN_PARQUET_CORRUPT), "%s", k_bad[i]);
        cr_assert(file->reason[0] != '\0');
        cr_assert(zero(ptr, file->schema));
    }
}
