/* test_ident.c - names, data paths and locations, against the rules of the contract. */
#include "base/own.h"
#include "catalog/ident.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#define A50 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define A250 A50 A50 A50 A50 A50
#define A255 A250 "aaaaa"
#define A1000 A250 A250 A250 A250

struct ident_row {
    const char *dotted;
    const char *namespace_; /* NULL: refused */
    const char *name;
    const char *shown;
};

static const struct ident_row k_idents[] = {
    { "orders", "default", "orders", "orders" },
    { "default.orders", "default", "orders", "orders" },
    { "\"default\".orders", "default", "orders", "orders" },
    { "sales.orders", "sales", "orders", "sales.orders" },
    { "default.eu.orders", "default.eu", "orders", "default.eu.orders" },
    { "sales.\"a.b\".orders", "sales.\"a.b\"", "orders", "sales.\"a.b\".orders" },
    { "sales.\"plain\".orders", "sales.plain", "orders", "sales.plain.orders" },
    { "sales.\"a.b\"", "sales", "a.b", "sales.\"a.b\"" },
    { "\"say \"\"hi\"\"\"", "default", "say \"hi\"", "\"say \"\"hi\"\"\"" },
    { "Größe.表", "Größe", "表", "Größe.表" },
    { "Orders", "default", "Orders", "Orders" },
    { "a b", "default", "a b", "a b" },
    { "\"..x\"", "default", "..x", "\"..x\"" },
    { A255, "default", A255, A255 },
    { "", NULL, NULL, NULL },
    { ".", NULL, NULL, NULL },
    { "..", NULL, NULL, NULL },
    { "\".\"", NULL, NULL, NULL },
    { "\"..\"", NULL, NULL, NULL },
    { "\"\"", NULL, NULL, NULL },
    { ".a", NULL, NULL, NULL },
    { "a.", NULL, NULL, NULL },
    { "a..b", NULL, NULL, NULL },
    { "\"a", NULL, NULL, NULL },
    { "\"a\"b", NULL, NULL, NULL },
    { "a\"b\"", NULL, NULL, NULL },
    { "a\nb", NULL, NULL, NULL },
    { "a\x7f", NULL, NULL, NULL },
    { "a\xc2\x85", NULL, NULL, NULL }, /* U+0085, a C1 control */
    { "a\xff", NULL, NULL, NULL },
    { "\xc0\xaf", NULL, NULL, NULL }, /* overlong slash */
    { A255 "a", NULL, NULL, NULL },
    { "\"" A255 "a\"", NULL, NULL, NULL },
    { A250 "." A250 "." A250 "." A250 ".aaaaaaaaaaaaaaaaaaaaaaaa.t", NULL, NULL,
      NULL }, /* 1,028 bytes of levels */
};

Test(ident, a_dotted_name_is_split_outside_quotes)
{
    for (size_t i = 0; i < TARN_COUNT(k_idents); i++) {
        const struct ident_row *row = &k_idents[i];
        struct tarn_ident out = { .name = "untouched" };
        char shown[TARN_DOTTED_MAX];
        TARN_ERR(err);
        tarn_code code = tarn_ident_parse(row->dotted, "name", &out, &err);
        if (!row->namespace_) {
            cr_assert(eq(int, code, TARN_INVALID), "%s was taken", row->dotted);
            cr_assert(eq(str, err.field, "name"));
            cr_assert(eq(str, out.name, "untouched"));
            continue;
        }
        cr_assert(eq(int, code, TARN_OK), "%s: %s", row->dotted, err.detail);
        cr_assert(eq(str, out.namespace_, (char *)row->namespace_));
        cr_assert(eq(str, out.name, (char *)row->name));
        tarn_ident_format(out.namespace_, out.name, shown);
        cr_assert(eq(str, shown, (char *)row->shown));
    }
}

Test(ident, the_longest_names_fit_and_come_back)
{
    char quotes[2 * TARN_NAME_MAX + 3] = "\"";
    char shown[TARN_DOTTED_MAX];
    struct tarn_ident out;

    for (size_t i = 0; i < 2 * TARN_NAME_MAX; i++)
        quotes[1 + i] = '"';
    quotes[2 * TARN_NAME_MAX + 1] = '"';
    cr_assert(eq(int, tarn_ident_parse(quotes, "name", &out, NULL), TARN_OK));
    cr_assert(eq(sz, strlen(out.name), TARN_NAME_MAX));
    tarn_ident_format(A250 "." A250 "." A250 "." A250 ".aaaaaaaaaaaaaaaaaaaa", out.name, shown);
    cr_assert(eq(sz, strlen(shown), TARN_NAMESPACE_MAX + 1 + 2 * TARN_NAME_MAX + 2));
}

Test(ident, a_namespace_of_levels_is_literal)
{
    static const struct {
        const char *json, *canonical, *field;
    } k_rows[] = {
        { "[\"sales\"]", "sales", NULL },
        { "[\"sales\",\"a.b\"]", "sales.\"a.b\"", NULL },
        { "[\"a\\\"b\"]", "\"a\"\"b\"", NULL },
        { "[]", NULL, "namespace" },
        { "\"sales\"", NULL, "namespace" },
        { "[\"sales\",1]", NULL, "namespace[1]" },
        { "[\"sales\",\"\"]", NULL, "namespace[1]" },
        { "[\"..\"]", NULL, "namespace[0]" },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        char out[TARN_NAMESPACE_MAX + 1] = "untouched";
        TARN_ERR(err);
        json_auto_t *levels = json_loads(k_rows[i].json, JSON_DECODE_ANY, NULL);
        tarn_code code = tarn_namespace_from_levels(levels, "namespace", out, &err);
        cr_assert(eq(int, code, k_rows[i].canonical ? TARN_OK : TARN_INVALID), "%s", k_rows[i].json);
        cr_assert(eq(str, out, (char *)(k_rows[i].canonical ? k_rows[i].canonical : "untouched")));
        if (k_rows[i].field)
            cr_assert(eq(str, err.field, (char *)k_rows[i].field));
    }
}

Test(ident, a_dotted_namespace_gets_one_spelling)
{
    char out[TARN_NAMESPACE_MAX + 1];

    cr_assert(eq(int, tarn_namespace_parse("\"sales\".\"x.y\".z", "namespace", out, NULL), TARN_OK));
    cr_assert(eq(str, out, "sales.\"x.y\".z"));
    cr_assert(eq(int, tarn_namespace_parse("sales.", "namespace", out, NULL), TARN_INVALID));
    cr_assert(eq(str, out, "sales.\"x.y\".z"));
}

Test(ident, a_transaction_id_is_short_and_plain)
{
    static const struct {
        const char *id;
        tarn_code code;
    } k_rows[] = {
        { "txn-1", TARN_OK }, { "A.b_c-9", TARN_OK }, { "-", TARN_OK }, { "_x", TARN_OK },
        { "a.checkpoint", TARN_INVALID }, { "a.checkpoints", TARN_OK }, { "checkpoint", TARN_OK },
        { "", TARN_INVALID }, { ".a", TARN_INVALID }, { "a/b", TARN_INVALID }, { "a b", TARN_INVALID },
        { "ä", TARN_INVALID }, { A50 A50 "aaaaaaaaaaaaaaaaaaaaaaaaaaaa", TARN_OK },
        { A50 A50 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaa", TARN_INVALID },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++)
        cr_assert(eq(int, tarn_txn_id_check(k_rows[i].id, "transaction", NULL), k_rows[i].code), "%s",
                  k_rows[i].id);
}

Test(ident, the_number_of_a_transaction_id_is_its_tail)
{
    static const struct {
        const char *id;
        bool ok;
        size_t prefix;
        int64_t number;
    } k_rows[] = {
        { "txn-12345", true, 4, 12345 }, { "7", true, 0, 7 }, { "txn-007", true, 4, 7 },
        { "a1b22", true, 3, 22 }, { "x999999999999999999", true, 1, INT64_C(999999999999999999) },
        { "x1000000000000000000", false, 0, 0 }, { "txn-", false, 0, 0 }, { "txn-1a", false, 0, 0 },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        size_t prefix = 0;
        int64_t number = 0;
        bool ok = tarn_txn_id_number(k_rows[i].id, &prefix, &number);
        cr_assert(eq(int, ok, k_rows[i].ok), "%s", k_rows[i].id);
        cr_assert(eq(sz, prefix, k_rows[i].prefix));
        cr_assert(eq(i64, number, k_rows[i].number));
    }
}

Test(ident, zeros_before_the_number_make_no_other_id)
{
    static const struct { const char *a, *b; bool same; } k_rows[] = {
        { "txn-7", "txn-0007", true }, { "txn-0", "txn-000", true }, { "a", "a", true }, { "7", "07", true },
        { "txn-7", "txn-70", false }, { "txn-7", "tx-7", false }, { "txn-7", "txm-7", false }, { "a", "b", false },
        { "txn-7", "txn-", false }, { "txn-0000000000000000001", "txn-1", false }, /* 19 digits are no number */
    };

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        cr_expect(eq(int, tarn_txn_id_same(k_rows[i].a, k_rows[i].b), k_rows[i].same), "%s", k_rows[i].a);
        cr_expect(eq(int, tarn_txn_id_same(k_rows[i].b, k_rows[i].a), k_rows[i].same), "%s", k_rows[i].b);
    }
    cr_expect(eq(i64, tarn_txn_id_tail("txn-0012"), 12));
    cr_expect(eq(i64, tarn_txn_id_tail("txn-"), -1));
    cr_expect(eq(i64, tarn_txn_id_tail(NULL), -1));
}

Test(ident, a_batch_id_names_a_document_below_processed)
{
    static char longest[TARN_BATCH_ID_MAX + 2], longer[TARN_BATCH_ID_MAX + 2], part[252];
    const struct {
        const char *id;
        bool ok;
    } k_rows[] = {
        { "batch-000123.parquet", true }, { "2024-02-01/14/batch-000123.parquet", true },
        { "a", true }, { "a.json", true }, { "_b", true }, { "a b/\xc3\xa9", true }, { longest, true },
        { "", false }, { "/a", false }, { "a/", false }, { "a//b", false }, { "..", false }, { "a/../b", false },
        { "./a", false }, { ".a", false }, { "a/.b", false }, { "a.json/b", false }, { ".json/b", false },
        { "a\nb", false }, { "a\xff", false }, { part, false }, { longer, false },
    };
    for (size_t i = 0; i < sizeof longest - 1; i++)
        longest[i] = longer[i] = i % 200 == 199 ? '/' : 'x';
    longest[TARN_BATCH_ID_MAX - 1] = 'x';
    longest[TARN_BATCH_ID_MAX] = '\0';
    longer[TARN_BATCH_ID_MAX - 1] = 'x';
    memset(part, 'p', sizeof part - 1);
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        TARN_ERR(err);
        tarn_code code = tarn_batch_id_check(k_rows[i].id, "batch_id", &err);
        cr_expect(eq(int, code == TARN_OK, k_rows[i].ok), "row %zu: %s", i, err.detail);
        cr_expect(k_rows[i].ok || strcmp(err.field, "batch_id") == 0);
    }
}

Test(ident, a_data_path_stays_inside_its_table)
{
    static const struct {
        const char *path;
        tarn_code code;
    } k_rows[] = {
        { "a.parquet", TARN_OK },
        { "date=2024-01-01/hour=14/data-000001.parquet", TARN_OK },
        { "x/staging/a", TARN_OK },
        { "x/manifest.json", TARN_OK },
        { "manifest.json.parquet", TARN_OK },
        { "a..b/c...d", TARN_OK },
        { "größe/表 1.parquet", TARN_OK },
        { A250 "/" A250 "/" A250 "/" A250 "aaaaa/aaaaaaaaaaaaaaa", TARN_OK }, /* 1,024 bytes */
        { A250 "/" A250 "/" A250 "/" A250 "aaaaa/aaaaaaaaaaaaaaaa", TARN_INVALID },
        { "x/" A250 "aaaaa", TARN_OK }, /* 255 bytes, as many as a name has */
        { "x/" A250 "aaaaaa", TARN_INVALID },
        { A250 "aaaaaa/x", TARN_INVALID },
        { "", TARN_INVALID },
        { "/a", TARN_INVALID },
        { "a/", TARN_INVALID },
        { "a//b", TARN_INVALID },
        { "./a", TARN_INVALID },
        { "a/../b", TARN_INVALID },
        { "..", TARN_INVALID },
        { ".hidden", TARN_INVALID },
        { "a/.b/c", TARN_INVALID },
        { "_temp/a", TARN_INVALID },
        { "a/_SUCCESS", TARN_INVALID },
        { "_transactions/txn-1.json", TARN_INVALID },
        { "staging/a.parquet", TARN_INVALID },
        { "staging", TARN_INVALID },
        { "processed/a.parquet", TARN_INVALID },
        { "manifest.json", TARN_INVALID },
        { "last_committed_txn", TARN_INVALID },
        { "schema.json", TARN_INVALID },
        { "schema_cache.json", TARN_INVALID },
        { "a\nb", TARN_INVALID },
        { "a\xff", TARN_INVALID },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        TARN_ERR(err);
        tarn_code code = tarn_data_path_check(k_rows[i].path, "path", &err);
        cr_assert(eq(int, code, k_rows[i].code), "%s: %s", k_rows[i].path, err.detail);
    }
}

Test(ident, a_location_has_one_spelling)
{
    static const struct {
        const char *given, *canonical; /* NULL: refused */
    } k_rows[] = {
        { "/lake/t", "/lake/t" },
        { "/lake/t/", "/lake/t" },
        { "/lake//t///", "/lake/t" },
        { "/lake/./t/.", "/lake/t" },
        { "/lake/a/../t", "/lake/t" },
        { "/../../lake", "/lake" },
        { "/lake/..", "/" },
        { "/", "/" },
        { "/lake/..t", "/lake/..t" },
        { "/lake/a%20b", "/lake/a%20b" }, /* a path is no URI */
        { "/lake/" A250 "aaaaa/t", "/lake/" A250 "aaaaa/t" },
        { "/lake/" A250 "aaaaaa/t", NULL }, /* no file system has such a name */
        { "file:///lake/" A250 "aaaaaa", NULL },
        { "file:///lake/" A250 "aaa%C3%A4", "/lake/" A250 "aaa\xc3\xa4" },
        { "file:///lake/" A250 "aaaa%C3%A4", NULL },
        { "s3://bucket/" A250 "aaaaaa", "s3://bucket/" A250 "aaaaaa" }, /* keys are not folders */
        { "file:///lake/t", "/lake/t" },
        { "file:/lake/t", "/lake/t" },
        { "file://localhost/lake/t/", "/lake/t" },
        { "file:///lake/a%20b", "/lake/a b" },
        { "file:///lake/%C3%A4", "/lake/ä" },
        { "file:///lake/%2e%2E/x", "/x" },
        { "file:///lake/a%3Fb", "/lake/a?b" },
        { "file://otherhost/lake", NULL },
        { "file://localhostile/lake", NULL },
        { "file:lake", NULL },
        { "file:///lake/%", NULL },
        { "file:///lake/%zz", NULL },
        { "file:///lake/%00", NULL },
        { "file:///lake/%0a", NULL },
        { "file:///lake/a%2Fb", NULL },
        { "file:///lake?x", NULL },
        { "file:///lake#x", NULL },
        { "s3://bucket/key", "s3://bucket/key" },
        { "s3://bucket/key/a b%20/", "s3://bucket/key/a b%20" },
        { "s3://bucket", "s3://bucket" },
        { "s3://bucket/", "s3://bucket" },
        { "s3://", NULL },
        { "s3:///key", NULL },
        { "s3://b/key", NULL },
        { "s3://bu cket/key", NULL },
        { "s3://bucket/a//b", NULL },
        { "s3://bucket/a/../b", NULL },
        { "s3://bucket//", NULL },
        { "lake/t", NULL },
        { "", NULL },
        { "http://host/lake", NULL },
        { "/lake/a\nb", NULL },
        { "/lake/\xff", NULL },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        __attribute__((cleanup(tarn_mem_freep))) char *out = NULL;
        TARN_ERR(err);
        tarn_code code = tarn_location_normalise(k_rows[i].given, "location", &out, &err);
        cr_assert(eq(int, code, k_rows[i].canonical ? TARN_OK : TARN_INVALID), "%s: %s", k_rows[i].given,
                  err.detail);
        if (k_rows[i].canonical)
            cr_assert(eq(str, out, (char *)k_rows[i].canonical));
        else
            cr_assert(eq(str, err.field, "location"));
    }
}

Test(ident, within_goes_by_whole_components)
{
    static const struct {
        const char *inner, *outer;
        bool within;
    } k_rows[] = {
        { "/a/b", "/a/b", true },   { "/a/b/c", "/a/b", true },  { "/a/bc", "/a/b", false },
        { "/a", "/a/b", false },    { "/a/b", "/", true },       { "/", "/", true },
        { "s3://bucket/a/b", "s3://bucket/a", true },            { "s3://bucket/ab", "s3://bucket/a", false },
        { "s3://bucket2", "s3://bucket", false },                { "s3://bucket/x", "s3://bucket", true },
        { "s3://bucket/x", "/", false },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++)
        cr_assert(eq(int, tarn_location_within(k_rows[i].inner, k_rows[i].outer), k_rows[i].within),
                  "%s in %s", k_rows[i].inner, k_rows[i].outer);
}

Test(ident, the_outer_namespace_lacks_the_last_level)
{
    static const struct { const char *inner, *outer; size_t levels; } k_rows[] = {
        { "a", NULL, 1 },         { "a.b", "a", 2 },           { "a.b.c", "a.b", 3 },
        { "\"a.b\"", NULL, 1 },   { "a.\"b.c\"", "a", 2 },     { "\"a.b\".c", "\"a.b\"", 2 },
        { "\"a\"\".b\"", NULL, 1 }, { "\"x\"\"\".y", "\"x\"\"\"", 2 },
    };

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        char text[TARN_NAMESPACE_MAX + 1];
        snprintf(text, sizeof text, "%s", k_rows[i].inner);
        cr_expect(tarn_namespace_outer(text) == (k_rows[i].outer != NULL), "%s", k_rows[i].inner);
        cr_expect(eq(str, text, (char *)(k_rows[i].outer ? k_rows[i].outer : k_rows[i].inner)));
        json_auto_t *levels = tarn_namespace_levels(k_rows[i].inner);
        cr_expect(eq(sz, json_array_size(levels), k_rows[i].levels), "%s", k_rows[i].inner);
    }
    json_auto_t *levels = tarn_namespace_levels("\"a.b\".\"c\"\"d\"");
    cr_expect(eq(str, (char *)json_string_value(json_array_get(levels, 0)), (char *)"a.b"));
    cr_expect(eq(str, (char *)json_string_value(json_array_get(levels, 1)), (char *)"c\"d"));
}
