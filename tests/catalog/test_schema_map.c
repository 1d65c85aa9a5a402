/* test_schema_map.c - how a file of one schema version is read as another. Rows: the versions, the one the file has,
 * and the mapping, told as name:type:source:cast:default. */
#include "base/own.h"
#include "catalog/schema_map.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#define C(n, t) "{\"name\":\"" n "\",\"type\":\"" t "\",\"nullable\":true}"
#define R(n, t) "{\"name\":\"" n "\",\"type\":\"" t "\",\"nullable\":false}"
#define D(n, t, d) "{\"name\":\"" n "\",\"type\":\"" t "\",\"nullable\":false,\"default\":" d "}"

enum { VERSIONS = 5 };
struct version {
    const char *fields, *renames;
};

static void make_rows(const struct version *versions, struct tarn_schema_row rows[VERSIONS], size_t *count)
{
    *count = 0;
    for (size_t i = 0; i < VERSIONS && versions[i].fields; i++, (*count)++) {
        char text[2048];
        snprintf(text, sizeof text, "{\"type\":\"struct\",\"fields\":[%s]}", versions[i].fields);
        rows[i] = (struct tarn_schema_row){ (int64_t)i + 1, strdup(text),
                                            versions[i].renames ? strdup(versions[i].renames) : NULL, 0 };
    }
}

static void free_rows(struct tarn_schema_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        tarn_schema_row_done(&rows[i]);
}

static const char *text_of(const json_t *field, const char *key)
{
    static char ring[8][256];
    static int turn;
    const json_t *value = json_object_get(field, key);
    char *room = ring[turn++ % 8], *text = NULL;

    cr_assert(value != NULL, "a field without %s", key);
    if (json_is_null(value))
        return "";
    text = json_is_string(value) ? strdup(json_string_value(value)) : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    snprintf(room, 256, "%s", text);
    free(text);
    return room;
}

static void tell(const struct tarn_schema_map *map, int64_t from, int64_t to, char *out, size_t size)
{
    TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };
    struct tarn_jsonw w = tarn_jsonw_to(&text);
    size_t i, len = 0;
    json_t *field;

    tarn_schema_map_write(map, &w);
    json_auto_t *json = json_loads(text.data, 0, NULL);
    cr_assert(json != NULL, "%s", text.data);
    cr_assert(eq(sz, json_object_size(json), 3));
    cr_assert(eq(i64, json_integer_value(json_object_get(json, "from")), from));
    cr_assert(eq(i64, json_integer_value(json_object_get(json, "to")), to));
    out[0] = '\0';
    json_array_foreach (json_object_get(json, "fields"), i, field) {
        cr_assert(eq(sz, json_object_size(field), 5));
        len += (size_t)snprintf(out + len, size - len, "%s%s:%s:%s:%s:%s", i ? " " : "", text_of(field, "name"),
                                text_of(field, "type"), text_of(field, "source"), text_of(field, "cast"),
                                text_of(field, "default"));
    }
}

#define SEED                                                                                                 \
    { R("user_id", "int64") "," R("event_type", "string"), NULL },                                           \
        { R("user_id", "int64") "," R("event_type", "string") "," C("duration", "int32"), NULL },           \
    {                                                                                                        \
        R("user_id", "int64") "," R("event_type", "string") "," C("duration_seconds", "double"),            \
            "{\"duration\":\"duration_seconds\"}"                                                          \
    }

static const struct row {
    struct version versions[VERSIONS];
    int64_t from;
    const char *mapping;
} k_rows[] = {
    /* the seed's own three versions */
    { { SEED }, 1, "user_id:int64:user_id:: event_type:string:event_type:: duration_seconds:double:::" },
    { { SEED }, 2,
      "user_id:int64:user_id:: event_type:string:event_type:: duration_seconds:double:duration:int32->double:" },
    { { SEED }, 3,
      "user_id:int64:user_id:: event_type:string:event_type:: duration_seconds:double:duration_seconds::" },
    /* without the rename it is another column */
    { { { C("duration", "int32"), NULL }, { C("duration_seconds", "double"), NULL } }, 1,
      "duration_seconds:double:::" },
    /* a rename is followed once a step */
    { { { C("a", "int32"), NULL }, { C("b", "int32"), "{\"a\":\"b\"}" }, { C("c", "int64"), "{\"b\":\"c\"}" } }, 1,
      "c:int64:a:int32->int64:" },
    { { { C("a", "int64") "," C("b", "int64") "," C("c", "int64"), NULL },
        { C("b", "int64") "," C("c", "int64") "," C("a", "int64"), "{\"a\":\"b\",\"b\":\"c\",\"c\":\"a\"}" } }, 1,
      "b:int64:a:: c:int64:b:: a:int64:c::" },
    /* ... so twice the same swap is none */
    { { { C("a", "int64") "," C("b", "string"), NULL },
        { C("b", "int64") "," C("a", "string"), "{\"a\":\"b\",\"b\":\"a\"}" },
        { C("a", "int64") "," C("b", "string"), "{\"a\":\"b\",\"b\":\"a\"}" } }, 1,
      "a:int64:a:: b:string:b::" },
    /* the name that a rename gave away may be taken by a new column */
    { { { C("a", "int64"), NULL }, { C("b", "int64") "," C("a", "int64"), "{\"a\":\"b\"}" } }, 1,
      "b:int64:a:: a:int64:::" },
    /* dropped and added again: another column; renamed away and back: the same one */
    { { { C("a", "int64") "," C("x", "int64"), NULL }, { C("a", "int64"), NULL },
        { C("a", "int64") "," C("x", "int64"), NULL } }, 1, "a:int64:a:: x:int64:::" },
    { { { C("x", "int64"), NULL }, { C("y", "int64"), "{\"x\":\"y\"}" }, { C("x", "int64"), "{\"y\":\"x\"}" } }, 1,
      "x:int64:x::" },
    /* the default is that of the version which added the column, whatever came of it later */
    { { { C("a", "int64"), NULL }, { C("a", "int64") "," D("b", "int32", "5"), NULL },
        { C("a", "int64") "," D("c", "int64", "7"), "{\"b\":\"c\"}" } }, 1, "a:int64:a:: c:int64:::5" },
    { { { C("a", "int64"), NULL }, { C("a", "int64") "," D("b", "string", "\"x\""), NULL } }, 2,
      "a:int64:a:: b:string:b::" },
    { { { C("a", "int64") "," C("b", "int64"), NULL }, { C("a", "int64"), NULL },
        { C("a", "int64") "," D("b", "int64", "1"), NULL } }, 1, "a:int64:a:: b:int64:::1" },
    /* casts are from what the file has to what is read, not over what lay between */
    { { { C("a", "double"), NULL }, { C("a", "int32"), NULL }, { C("a", "double"), NULL } }, 1, "a:double:a::" },
    { { { C("a", "decimal(10,2)"), NULL }, { C("a", "decimal(12,2)"), NULL } }, 1,
      "a:decimal(12,2):a:decimal(10,2)->decimal(12,2):" },
    { { { C("a", "timestamp"), NULL }, { C("a", "timestamptz"), NULL } }, 1, "a:timestamp:a::" },
    { { { C("a", "timestamp"), NULL }, { C("a", "timestamp_ntz"), NULL } }, 1,
      "a:timestamp_ntz:a:timestamp->timestamp_ntz:" },
    { { { C("a", "int"), NULL }, { C("a", "integer"), NULL } }, 1, "a:int32:a::" },
    /* order and nullability are no mapping */
    { { { C("a", "int64") "," C("b", "string"), NULL }, { R("b", "string") "," C("a", "int64"), NULL } }, 1,
      "b:string:b:: a:int64:a::" },
    /* case matters */
    { { { C("a", "int64"), NULL }, { C("A", "int64"), NULL } }, 1, "A:int64:::" },
    /* nested types by path */
    { { { C("s", "struct<a:int32,b:string>"), NULL }, { C("s", "struct<b:string,c:date,a:int64>"), NULL } }, 1,
      "s:struct:s:: s.b:string:s.b:: s.c:date::: s.a:int64:s.a:int32->int64:" },
    { { { C("s", "struct<a:int32>"), NULL }, { C("t", "struct<a:int32>"), "{\"s\":\"t\"}" } }, 1,
      "t:struct:s:: t.a:int32:s.a::" },
    { { { C("x", "int32"), NULL }, { C("x", "int32") "," C("s", "struct<a:int32,l:list<int32>>"), NULL } }, 1,
      "x:int32:x:: s:struct::: s.a:int32::: s.l:list::: s.l.element:int32:::" },
    { { { C("l", "list<struct<a:int32>>"), NULL }, { C("l", "list<struct<a:int64,b:string>>"), NULL } }, 1,
      "l:list:l:: l.element:struct:l.element:: l.element.a:int64:l.element.a:int32->int64: l.element.b:string:::" },
    { { { C("m", "map<string,int32>"), NULL }, { C("m", "map<string,int64>"), NULL } }, 1,
      "m:map:m:: m.key:string:m.key:: m.value:int64:m.value:int32->int64:" },
    { { { C("a", "struct<x:int32>"), NULL }, { C("a", "list<int32>"), NULL } }, 1,
      "a:list:a:struct->list: a.element:int32:::" },
    { { { C("a", "struct<x:int32>"), NULL }, { C("a", "string"), NULL } }, 1, "a:string:a:struct->string:" },
    /* a rename is of the top level alone: a nested column of that name is itself */
    { { { C("a", "int64") "," C("s", "struct<a:int64>"), NULL },
        { C("b", "int64") "," C("s", "struct<a:int64>"), "{\"a\":\"b\"}" } }, 1,
      "b:int64:a:: s:struct:s:: s.a:int64:s.a::" },
    /* documents from elsewhere: renames of nothing */
    { { { C("a", "int64"), NULL }, { C("a", "int64"), "{\"x\":\"y\",\"z\":1,\"q\":null}" } }, 1, "a:int64:a::" },
    { { { C("a", "int64"), NULL }, { C("a", "int64"), "[1]" } }, 1, "a:int64:a::" },
    { { { "", NULL }, { C("a", "int64"), NULL } }, 1, "a:int64:::" },
    { { { C("a", "int64"), NULL }, { "", NULL } }, 1, "" },
};

Test(schema_map, a_file_of_an_old_version_is_read_as_the_newest)
{
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct tarn_schema_row rows[VERSIONS];
        TARN_AUTO(schema_map) struct tarn_schema_map *map = NULL;
        char told[1024];
        size_t count;

        make_rows(k_rows[i].versions, rows, &count);
        cr_assert(eq(int, tarn_schema_map_of(rows, count, k_rows[i].from, &map, NULL), TARN_OK), "row %zu", i);
        free_rows(rows, count);
        cr_expect(eq(i64, tarn_schema_map_from(map), k_rows[i].from));
        tell(map, k_rows[i].from, (int64_t)count, told, sizeof told);
        cr_expect(eq(str, told, (char *)k_rows[i].mapping), "row %zu", i);
    }
}

Test(schema_map, a_version_that_the_table_lacks_is_refused)
{
    static const struct version k_versions[VERSIONS] = { { C("a", "int64"), NULL }, { C("b", "int64"), NULL } };
    static const int64_t k_from[] = { 0, 3, -1 };
    struct tarn_schema_row rows[VERSIONS];
    struct tarn_schema_map *map = NULL;
    size_t count;

    make_rows(k_versions, rows, &count);
    for (size_t i = 0; i < TARN_COUNT(k_from); i++) {
        TARN_ERR(err);
        cr_expect(eq(int, tarn_schema_map_of(rows, count, k_from[i], &map, &err), TARN_SCHEMA_VERSION_NOT_FOUND));
    }
    cr_expect(eq(int, tarn_schema_map_of(rows, 0, 1, &map, NULL), TARN_SCHEMA_VERSION_NOT_FOUND));
    rows[0].version = 1;
    rows[1].version = 7; /* versions between were never told: an adopted schema.json may leave some out */
    cr_assert(eq(int, tarn_schema_map_of(rows, count, 1, &map, NULL), TARN_OK));
    tarn_schema_map_free(map);
    map = NULL;
    cr_expect(eq(int, tarn_schema_map_of(rows, count, 6, &map, NULL), TARN_SCHEMA_VERSION_NOT_FOUND));
    free_rows(rows, count);
    cr_expect(map == NULL);
}

Test(schema_map, one_column_is_found_by_its_path)
{
    static const struct version k_versions[VERSIONS] = {
        { C("a", "int64") "," C("s", "struct<x:int32>"), NULL },
        { C("b", "int64") "," C("t", "struct<x:int32,y:int32>"), "{\"a\":\"b\",\"s\":\"t\"}" },
    };
    static const struct { const char *name, *source; bool known; } k_names[] = {
        { "b", "a", true }, { "t.x", "s.x", true }, { "t.y", NULL, true }, { "a", NULL, false }, { "", NULL, false },
        { "t", "s", true }, { "t.", NULL, false },
    };
    struct tarn_schema_row rows[VERSIONS];
    TARN_AUTO(schema_map) struct tarn_schema_map *map = NULL;
    size_t count;

    make_rows(k_versions, rows, &count);
    cr_assert(eq(int, tarn_schema_map_of(rows, count, 1, &map, NULL), TARN_OK));
    free_rows(rows, count);
    for (size_t i = 0; i < TARN_COUNT(k_names); i++) {
        TARN_AUTO_DONE(buf) struct tarn_buf source = { 0 };
        bool known = !k_names[i].known;
        bool found = tarn_schema_map_source(map, k_names[i].name, &known, &source);
        cr_expect(found == (k_names[i].source != NULL) && known == k_names[i].known, "%s", k_names[i].name);
        if (found)
            cr_expect(eq(str, source.data, (char *)k_names[i].source));
    }
}

Test(schema_map, ten_thousand_columns_in_another_order_are_mapped)
{
    enum { COLUMNS = 10000 };
    TARN_AUTO_DONE(buf) struct tarn_buf one = { 0 }, two = { 0 }, renames = { 0 }, out = { 0 };
    struct tarn_schema_map *map = NULL;
    struct tarn_jsonw w = tarn_jsonw_to(&out);

    for (int i = 0; i < COLUMNS; i++) {
        tarn_buf_addf(&one, "%s{\"name\":\"c%d\",\"type\":\"int32\"}", i ? "," : "{\"type\":\"struct\",\"fields\":[", i);
        tarn_buf_addf(&two, "%s{\"name\":\"d%d\",\"type\":\"int64\"}", i ? "," : "{\"type\":\"struct\",\"fields\":[",
                      COLUMNS - 1 - i);
        tarn_buf_addf(&renames, "%s\"c%d\":\"d%d\"", i ? "," : "{", i, i);
    }
    tarn_buf_adds(&one, "]}");
    tarn_buf_adds(&two, "]}");
    tarn_buf_adds(&renames, "}");
    const struct tarn_schema_row rows[] = { { 1, one.data, NULL, 0 }, { 2, two.data, renames.data, 0 } };
    cr_assert(eq(int, tarn_schema_map_of(rows, 2, 1, &map, NULL), TARN_OK));
    tarn_schema_map_write(map, &w);
    cr_expect(strstr(out.data, "{\"name\":\"d17\",\"type\":\"int64\",\"source\":\"c17\",\"cast\":\"int32->int64\","
                               "\"default\":null}") != NULL);
    out.ceiling = 100;
    tarn_buf_clear(&out);
    tarn_schema_map_write(map, &w);
    cr_expect(eq(int, tarn_buf_check(&out, NULL), TARN_PAYLOAD_TOO_LARGE));
    tarn_schema_map_free(map);
}

/* ---- does a file fit ---- */

static struct tarn_schema *schema_of(const char *fields)
{
    char text[1024];
    struct tarn_schema *schema = NULL;

    snprintf(text, sizeof text, "{\"type\":\"struct\",\"fields\":[%s]}", fields);
    json_auto_t *json = json_loads(text, 0, NULL);
    cr_assert(eq(int, tarn_schema_parse(json, "schema", &schema, NULL), TARN_OK), "%s", text);
    return schema;
}

static void note(void *ctx, const struct tarn_drift *drift)
{
    static const char *const k_words[] = {
        [TARN_DRIFT_WIDENED] = "widened", [TARN_DRIFT_NARROWED] = "narrowed", [TARN_DRIFT_TYPE_CHANGED] = "type",
        [TARN_DRIFT_BINARY_STRING] = "bytes", [TARN_DRIFT_UNIT] = "unit", [TARN_DRIFT_NULL_IN_REQUIRED] = "null",
        [TARN_DRIFT_NULLS_UNKNOWN] = "nulls?", [TARN_DRIFT_MISSING_COLUMN] = "missing",
        [TARN_DRIFT_MISSING_REQUIRED] = "required", [TARN_DRIFT_EXTRA_COLUMN] = "extra",
        [TARN_DRIFT_RENAMED_CASE] = "case", [TARN_DRIFT_REORDERED] = "order", [TARN_DRIFT_PARTITION_COLUMN] = "key",
    };
    char *told = ctx;
    size_t len = strlen(told);

    snprintf(told + len, 256 - len, "%s%s:%s", len ? " " : "", k_words[drift->kind], drift->column);
}

static const struct fit_row {
    struct version versions[VERSIONS];
    int64_t claims;
    const char *file;
    int64_t nulls; /* of the file's first column */
    const char *told;
} k_fits[] = {
    { { SEED }, 3, C("user_id", "int64") "," C("event_type", "string") "," C("duration_seconds", "double"), 0, "" },
    { { SEED }, 2, C("user_id", "int64") "," C("event_type", "string") "," C("duration", "int32"), 0, "" },
    { { SEED }, 1, C("user_id", "int64") "," C("event_type", "string"), 0, "" },
    { { SEED }, 3, C("user_id", "int64") "," C("event_type", "string") "," C("duration", "int32"), 0,
      "extra:duration missing:duration_seconds" },
    /* a column of the newest version in a file that claims an older one is not seen by readers */
    { { SEED }, 1, C("user_id", "int64") "," C("event_type", "string") "," C("duration_seconds", "double"), 0,
      "extra:duration_seconds" },
    { { SEED }, 2, C("user_id", "int32") "," C("duration", "int64"), 0,
      "widened:user_id required:event_type narrowed:duration" },
    /* required since: a value must be in old files too, or a default */
    { { { C("a", "int64"), NULL }, { R("a", "int64"), NULL } }, 1, C("a", "int64"), 3, "null:a" },
    { { { C("a", "int64"), NULL }, { R("a", "int64"), NULL } }, 1, C("a", "int64"), 0, "" },
    { { { C("a", "int64"), NULL }, { C("a", "int64") "," R("b", "int64"), NULL } }, 1, C("a", "int64"), 0,
      "required:b" },
    { { { C("a", "int64"), NULL }, { C("a", "int64") "," D("b", "int64", "0"), NULL } }, 1, C("a", "int64"), 0, "" },
    { { { C("a", "int64"), NULL }, { C("a", "int64") "," R("day", "string"), NULL } }, 1, C("a", "int64"), 0, "" },
    /* required then and not now */
    { { { R("a", "int64"), NULL }, { C("a", "int64"), NULL } }, 1, C("a", "int64"), 3, "null:a" },
    { { { C("x", "int64") "," C("s", "struct<a:int32>"), NULL },
        { C("x", "int64") "," C("s", "struct<a:int32,b:int32 not null>"), NULL } }, 1,
      C("x", "int64") "," C("s", "struct<a:int32>"), 0, "required:s.b" },
    { { { C("x", "int64"), NULL }, { C("x", "int64") "," C("s", "struct<b:int32 not null>"), NULL } }, 1,
      C("x", "int64"), 0, "" },
};

Test(schema_map, a_file_is_held_to_the_version_it_claims_and_to_what_is_required_now)
{
    json_auto_t *keys = json_loads("[\"day\"]", 0, NULL);

    for (size_t i = 0; i < TARN_COUNT(k_fits); i++) {
        struct tarn_schema_row rows[VERSIONS];
        TARN_AUTO(schema_map) struct tarn_schema_map *map = NULL;
        TARN_AUTO(schema) struct tarn_schema *file = schema_of(k_fits[i].file);
        char told[256] = "";
        size_t count;

        make_rows(k_fits[i].versions, rows, &count);
        cr_assert(eq(int, tarn_schema_map_of(rows, count, k_fits[i].claims, &map, NULL), TARN_OK));
        free_rows(rows, count);
        for (size_t k = 0; k < file->root.field_count; k++) {
            file->root.fields[k].row_count = 10;
            file->root.fields[k].null_count = k == 0 ? k_fits[i].nulls : 0;
        }
        tarn_schema_map_fit(map, file, keys, note, told);
        cr_expect(eq(str, told, (char *)k_fits[i].told), "row %zu", i);
    }
}

Test(schema_map, a_version_fits_a_file_exactly_or_not)
{
    static const struct { const char *schema, *file; bool fits; } k_exact[] = {
        { C("a", "int64") "," C("b", "string"), C("a", "int64") "," C("b", "string"), true },
        { C("a", "int64") "," C("b", "string"), C("b", "string") "," C("a", "int64"), true },
        { R("a", "int64"), C("a", "int64"), true }, /* nobody counted the nulls */
        { C("a", "int64") "," C("day", "string"), C("a", "int64"), true },
        { C("a", "int64"), C("a", "int64") "," C("day", "string"), true },
        { C("a", "timestamp"), C("a", "timestamp_ns"), true },
        { C("a", "int64"), C("a", "int32"), false },
        { C("a", "int64"), C("A", "int64"), false },
        { C("a", "int64") "," C("b", "string"), C("a", "int64"), false },
        { C("a", "int64"), C("a", "int64") "," C("b", "string"), false },
        { C("a", "timestamp_us"), C("a", "timestamp_ms"), false },
        { C("s", "struct<a:int32,b:int32>"), C("s", "struct<a:int32>"), false },
    };
    json_auto_t *keys = json_loads("[\"day\"]", 0, NULL);

    for (size_t i = 0; i < TARN_COUNT(k_exact); i++) {
        TARN_AUTO(schema) struct tarn_schema *schema = schema_of(k_exact[i].schema);
        TARN_AUTO(schema) struct tarn_schema *file = schema_of(k_exact[i].file);
        cr_expect(tarn_schema_fits(schema, file, keys) == k_exact[i].fits, "row %zu", i);
    }
}
