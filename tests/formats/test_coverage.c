/* Partition keys and values, and statistics, over entries written down by hand: which files are told, and why. */
#include "formats/coverage.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>

enum { FILES_MAX = 6 };
struct entry { const char *path, *values, *stats; int64_t records; };

static const char *text_of(const struct tarn_suspects *list, char *out, size_t size)
{
    size_t len = 0;

    out[0] = '\0';
    for (size_t i = 0; i < list->count; i++)
        len += (size_t)snprintf(out + len, size - len, "%s%s%s%s", i ? "; " : "", list->items[i].subject,
                                list->items[i].note ? ": " : "", list->items[i].note ? list->items[i].note : "");
    return out;
}

/* The facts of these entries; the keys as text, owned. */
static char *cover(const char *keys, const struct tarn_schema_past *past, const struct entry files[FILES_MAX],
                   struct tarn_facts *facts, bool only_told)
{
    json_auto_t *given = keys ? json_loads(keys, 0, NULL) : NULL, *found = NULL, *told = NULL;
    TARN_AUTO(coverage) struct tarn_coverage *c = tarn_coverage_new(given, past);
    TARN_ERR(err);

    tarn_facts_init(facts);
    for (size_t i = 0; i < FILES_MAX && files[i].path; i++) {
        const struct tarn_file file = { .path = files[i].path,
                                        .partition_values = files[i].values,
                                        .column_stats = files[i].stats,
                                        .records = files[i].records };
        cr_assert(eq(int, tarn_coverage_note(c, &file, &err), TARN_OK));
    }
    cr_assert(eq(int, tarn_coverage_end(c, facts, &found, &told, &err), TARN_OK));
    return json_dumps(only_told ? told : found, JSON_COMPACT);
}

#define D14 "{\"date\":\"1\",\"hour\":14}"
#define IN14 "date=1/hour=14/"
#define F(path, values) { path, values, NULL, -1 }

Test(coverage, values_are_held_against_folders_and_keys_against_the_rest)
{
    static const struct {
        const char *keys; /* given; NULL: none */
        struct entry files[FILES_MAX];
        const char *drift, *missing, *found;
    } k_rows[] = {
        /* nothing to say */
        { NULL, { F(NULL, NULL) }, "", "", "[]" },
        { NULL, { F("a.parquet", NULL), F("b/c.parquet", NULL) }, "", "", "[]" },
        { NULL, { F(IN14 "a", D14), F(IN14 "b", D14) }, "", "", "[\"date\",\"hour\"]" },
        { NULL, { F(IN14 "a", D14), F(IN14 "b", NULL) }, "", "", "[\"date\",\"hour\"]" }, /* the path says it */
        { NULL, { F("data/1/hour=14/a", D14), F(IN14 "b", D14) }, "", "", "[\"date\",\"hour\"]" }, /* two layouts */
        { NULL, { F("data/1/a", "{\"date\":\"1\"}") }, "", "", "[\"date\"]" },
        { NULL, { F("hour=14/date=1/a", NULL), F(IN14 "b", NULL) }, "", "", "[\"hour\",\"date\"]" }, /* another order */
        { "[]", { F("d=1/a", NULL) }, "", "", "[\"d\"]" },
        { "[\"d\"]", { F("a", "{\"d\":null}") }, "", "", "[\"d\"]" },
        /* values: 14 is "14", "014" is not; a folder's text for null is null and "" */
        { NULL, { F("h=14/a", "{\"h\":14}"), F("h=14/b", "{\"h\":\"14\"}") }, "", "", "[\"h\"]" },
        { NULL, { F("h=014/a", "{\"h\":14}") }, "", "", "[\"h\"]" }, /* a number may be padded */
        { NULL, { F("h=014/a", "{\"h\":\"14\"}") }, "h=014/a: the path says h=014, partitionValues say \"14\"", "", "[]" },
        { NULL, { F("h=__HIVE_DEFAULT_PARTITION__/a", "{\"h\":null}"), F("h=__HIVE_DEFAULT_PARTITION__/b", "{\"h\":\"\"}") },
          "", "", "[\"h\"]" },
        { NULL, { F("c=M%C3%BC%2F/a", "{\"c\":\"M\303\274/\"}") }, "", "", "[\"c\"]" },
        { NULL, { F("date=1/hour=15/a", D14), F(IN14 "b", D14) },
          "date=1/hour=15/a: the path says hour=15, partitionValues say 14", "", "[\"date\",\"hour\"]" },
        /* keys */
        { NULL, { F(IN14 "a", D14), F(IN14 "b", D14), F("date=1/c", NULL) }, "date=1/c: without hour", "", "[\"date\",\"hour\"]" },
        { NULL, { F(IN14 "a", NULL), F(IN14 "b", NULL), F("region=eu/" IN14 "c", NULL) }, "region=eu/" IN14 "c: with region", "",
          "[\"date\",\"hour\"]" },
        { NULL, { F("dt=1/hour=14/c", NULL), F(IN14 "a", NULL), F(IN14 "b", NULL) },
          "dt=1/hour=14/c: with dt, without date", "", "[\"date\",\"hour\"]" },
        { NULL, { F("x/c", "{\"date\":\"1\"}"), F("x/a", D14), F("x/b", D14) }, "", "x/c: without hour", "[\"date\",\"hour\"]" },
        { NULL, { F("x/c", NULL), F(IN14 "a", D14) }, "", "x/c: without date, hour", "[\"date\",\"hour\"]" },
        { NULL, { F("a", NULL), F("b", NULL), F("d=1/c", NULL) }, "d=1/c: with d", "", "[]" },
        /* a bare folder is no value */
        { "[\"date\",\"hour\"]", { F("data/1/hour=14/a", NULL), F("data/1/hour=15/b", NULL) }, "",
          "data/1/hour=14/a: without date; data/1/hour=15/b: without date", "[\"date\",\"hour\"]" },
        { "[\"d\"]", { F("a", NULL) }, "", "a: without d", "[\"d\"]" },
        { "[\"d\"]", { F("d=1/e=2/a", NULL) }, "d=1/e=2/a: with e", "", "[\"d\"]" },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct tarn_facts facts;
        char drift[512], missing[512];
        TARN_AUTO(mem) char *keys = cover(k_rows[i].keys, NULL, k_rows[i].files, &facts, false);
        cr_expect(eq(str, (char *)text_of(&facts.partition_drift, drift, sizeof drift), (char *)k_rows[i].drift), "row %zu", i);
        cr_expect(eq(str, (char *)text_of(&facts.no_partition_values, missing, sizeof missing), (char *)k_rows[i].missing), "row %zu", i);
        cr_expect(eq(str, keys, (char *)k_rows[i].found), "row %zu", i);
        tarn_facts_done(&facts);
    }
}

Test(coverage, the_keys_that_entries_name_are_told_apart)
{
    static const struct { const char *keys; struct entry files[FILES_MAX]; const char *told; } k_rows[] = {
        { NULL, { F(IN14 "a", NULL) }, "[]" },
        { NULL, { F(IN14 "a", D14) }, "[\"date\",\"hour\"]" },
        { NULL, { F(IN14 "a", "{\"hour\":14}") }, "[\"hour\"]" },
        { NULL, { F(IN14 "a", NULL), F(IN14 "b", D14) }, "[\"date\",\"hour\"]" },
        { "[\"d\"]", { F("a", NULL) }, "[\"d\"]" },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct tarn_facts facts;
        TARN_AUTO(mem) char *told = cover(k_rows[i].keys, NULL, k_rows[i].files, &facts, true);
        cr_expect(eq(str, told, (char *)k_rows[i].told), "row %zu", i);
        tarn_facts_done(&facts);
    }
}

static struct tarn_schema *schema(const char *names)
{
    json_auto_t *fields = json_array();
    struct tarn_schema *out = NULL;
    char name[2] = "";

    for (const char *at = names; *at; at++) {
        name[0] = *at;
        json_array_append_new(fields, json_pack("{s:s, s:s, s:b}", "name", name, "type", "int64", "nullable", 1));
    }
    json_auto_t *json = json_pack("{s:s, s:O}", "type", "struct", "fields", fields);
    cr_assert(eq(int, tarn_schema_parse(json, "schema", &out, NULL), TARN_OK));
    return out;
}

#define A "{\"a\":{\"min\":1}}"
#define AB "{\"a\":{\"min\":1,\"max\":\"}\"},\"b\":{\"max\":2}}"

/* The schema was "a", then "ab" or what `columns` says. */
Test(coverage, files_without_statistics_are_told_by_the_schema)
{
    static const struct {
        const char *columns, *keys;
        struct entry files[FILES_MAX];
        const char *told;
        int64_t judged;
    } k_rows[] = {
        { "ab", NULL, { { "x", NULL, A, -1 }, { "y", NULL, AB, 5 } }, "", 2 },
        { "ab", NULL, { { "x", NULL, NULL, -1 }, { "y", NULL, AB, 5 } }, "x", 2 },
        { "ab", NULL, { { "x", NULL, "{}", -1 }, { "y", NULL, "{\"a\":{}}", 5 }, { "z", NULL, " { \"a\" : null } ", 5 } }, "x; y; z", 3 },
        { "ab", NULL, { { "x", NULL, "{\"other\":{\"min\":1}}", -1 } }, "x", 1 },
        { "ab", NULL, { { "x", NULL, NULL, 0 }, { "y", NULL, A, 1 } }, "", 1 }, /* no rows */
        /* b came later: old files may lack it. a was always there. */
        { "ab", NULL, { { "x", NULL, A, 1 }, { "y", NULL, AB, 1 }, { "z", NULL, AB, 1 } }, "", 3 },
        { "ab", NULL, { { "x", NULL, "{\"b\":{\"min\":1}}", 1 }, { "y", NULL, AB, 1 }, { "z", NULL, AB, 1 } }, "x", 3 },
        { "ab", NULL, { { "x", NULL, "{\"b\":{\"min\":1}}", 1 }, { "y", NULL, AB, 1 } }, "", 2 }, /* half is no habit */
        { "ab", NULL, { { "x", NULL, "{\"n\":[{\"a\":1},\"\\\"}\"],\"a\":{\"min\":1}}", 1 } }, "", 1 },
        { "ab", NULL, { { "x", NULL, "{\"a\":{\"min\":1}", 1 } }, "", 1 },
        /* a key of the partitions needs none */
        { "ab", "[\"a\"]", { { "a=1/x", NULL, "{\"b\":{\"min\":1}}", 1 }, { "a=1/y", NULL, AB, 1 } }, "", 2 },
        { "a", "[\"a\"]", { { "a=1/x", NULL, NULL, 1 } }, "", 0 },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        TARN_AUTO(schema) struct tarn_schema *first = schema("a"), *second = schema(k_rows[i].columns);
        const struct tarn_schema *versions[] = { first, second };
        const struct tarn_schema_past past = { .current = second, .count = 2, .versions = versions };
        struct tarn_facts facts;
        char told[256];
        TARN_AUTO(mem) char *keys = cover(k_rows[i].keys, &past, k_rows[i].files, &facts, false);
        cr_expect(eq(str, (char *)text_of(&facts.no_column_stats, told, sizeof told), (char *)k_rows[i].told), "row %zu", i);
        cr_expect(eq(i64, facts.stats_files, k_rows[i].judged), "row %zu", i);
        tarn_facts_done(&facts);
    }
}

Test(coverage, what_is_no_table_of_names_is_read_without_harm)
{
    static const char *const k_texts[] = { "", "{", "{\"", "{\"a", "{\"a\"", "{\"a\":", "{\"a\":{", "[]", "{\"a\\", "{\"a\":\"\\", "null" };
    TARN_AUTO(schema) struct tarn_schema *one = schema("ab");
    const struct tarn_schema *versions[] = { one };
    const struct tarn_schema_past past = { .current = one, .count = 1, .versions = versions };

    for (size_t i = 0; i < TARN_COUNT(k_texts); i++) {
        const struct entry files[FILES_MAX] = { { "x", k_texts[i], k_texts[i], 1 } };
        struct tarn_facts facts;
        TARN_AUTO(mem) char *keys = cover(NULL, &past, files, &facts, false);
        cr_expect(eq(str, keys, "[]"));
        tarn_facts_done(&facts);
    }
}
