/* YAML from outside as JSON, with the lines that its members stand on. */
#include "config/document.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

static struct tarn_document *parse(const char *text)
{
    struct tarn_document *document = NULL;
    TARN_ERR(err);

    cr_assert(eq(int, tarn_document_parse(text, strlen(text), &document, &err), TARN_OK), "%s: %s", text, err.detail);
    return document;
}

Test(document, values_have_the_types_of_the_core_schema)
{
    static const struct { const char *yaml, *json; } k_rows[] = {
        { "a: 1\nb: -2.5\nc: 1e3\nd: true\ne: ~\nf:\ng: text\n",
          "{\"a\":1,\"b\":-2.5,\"c\":1000.0,\"d\":true,\"e\":null,\"f\":null,\"g\":\"text\"}" },
        { "a: '1'\nb: \"true\"\n", "{\"a\":\"1\",\"b\":\"true\"}" },
        { "a: yes\nb: 09:00-08:00\nc: 2024-01-02\nd: 1.0.0\ne: v3.1.0\n",
          "{\"a\":\"yes\",\"b\":\"09:00-08:00\",\"c\":\"2024-01-02\",\"d\":\"1.0.0\",\"e\":\"v3.1.0\"}" },
        { "- 1\n- [2, {x: y}]\n", "[1,[2,{\"x\":\"y\"}]]" },
        { "{\"a\": [1, null], \"b\": \"\\u00e9\"}", "{\"a\":[1,null],\"b\":\"\xc3\xa9\"}" },
        { "a: &x {b: 1}\nc: *x\n", "{\"a\":{\"b\":1},\"c\":{\"b\":1}}" },
        { "a: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}\ne: {c: 4, <<: *x}\n", /* what it has itself stays, wherever the merge stands */
          "{\"a\":{\"b\":1,\"c\":2},\"d\":{\"b\":1,\"c\":3},\"e\":{\"b\":1,\"c\":4}}" },
        { "a: &x {b: 1}\nc: &y {b: 2, d: 3}\ne:\n  <<: [*x, *y]\n", /* of several the first wins */
          "{\"a\":{\"b\":1},\"c\":{\"b\":2,\"d\":3},\"e\":{\"b\":1,\"d\":3}}" },
        { "a: {'<<': 1}\n", "{\"a\":{\"<<\":1}}" }, /* in quotes it is a key */
        { "a: |\n  two\n  lines\n", "{\"a\":\"two\\nlines\\n\"}" },
        { "a: 99999999999999999999\nb: 1e999\n", "{\"a\":1e20,\"b\":\"1e999\"}" },
        { "# nothing\n", "null" },
        { "", "null" },
    };

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        TARN_AUTO(document) struct tarn_document *document = parse(k_rows[i].yaml);
        json_auto_t *expected = json_loads(k_rows[i].json, JSON_DECODE_ANY, NULL);
        cr_assert(expected != NULL, "%s", k_rows[i].json);
        cr_expect(eq(int, json_equal(tarn_document_json(document), expected), 1), "%s", k_rows[i].yaml);
    }
}

Test(document, what_is_no_document_is_refused_with_its_line)
{
    static const struct { const char *yaml, *told; } k_rows[] = {
        { "a: 1\nb: [1, 2\n", "line 3: " },
        { "a: 1\n\tb: 2\n", "line 2: " },
        { "a: 1\nb:\n  c: 1\n  c: 2\n", "line 4: 'c' is there twice" },
        { "a: 1\n? [x]\n: 2\n", "line 2: a key must be text" },
        { "a: 1\nb:\n  <<: 5\n", "line 3: '<<' must name keys with values" },
        { "a: &x {b: 1}\nc: {<<: [*x, 5]}\n", "line 2: '<<' must name keys with values" },
        { "a: &x {b: 1}\nc: &y {d: 1}\ne:\n  <<: *x\n  <<: *y\n", "line 5: '<<' is there twice" },
        { "a: &x {<<: *x}\n", "nested deeper" },
        { "a: 1\n---\nb: 2\n", "line 3: a second document begins" },
        { "a: \"x\\0y\"\n", "line 1: a text holds a NUL" },
        { "a: \xff\n", "line 1: " },
        { "a: &x [*x]\n", "nested deeper" },
        { "a: *x\n", "line 1: " },
        { "a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"
          "d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n", "aliases make it too large" },
    };

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct tarn_document *document = NULL;
        TARN_ERR(err);
        cr_expect(eq(int, tarn_document_parse(k_rows[i].yaml, strlen(k_rows[i].yaml), &document, &err), TARN_INVALID), "%s",
                  k_rows[i].yaml);
        cr_expect(tarn_has(err.detail, k_rows[i].told), "%s: %s", k_rows[i].yaml, err.detail);
    }
}

Test(document, a_deep_document_is_refused)
{
    char text[4096] = "";

    memset(text, '[', 2000);
    memset(text + 2000, ']', 2000);
    struct tarn_document *document = NULL;
    TARN_ERR(err);
    cr_expect(eq(int, tarn_document_parse(text, strlen(text), &document, &err), TARN_INVALID));
}

Test(document, members_are_found_by_the_names_that_errors_have)
{
    static const char k_yaml[] = "id: x\nschema:\n  - name: a\n    properties:\n      - name: b\n        required: maybe\n"
                                 "      - {name: c,\n         type: 1}\nx.y: 1\nlist: [1, 2,\n  3]\n";
    static const struct { const char *field; size_t line; } k_rows[] = {
        { "id", 1 }, { "schema", 2 }, { "schema[0].properties[0].required", 6 }, { "schema[0].properties[1].type", 8 },
        { "schema[0].properties[1].missing", 7 }, { "schema[7].name", 3 }, { "x.y", 9 }, { "list[2]", 11 }, { "none", 1 },
        { "", 1 }, { "schema[0", 3 }, { "schema[]", 3 },
    };
    TARN_AUTO(document) struct tarn_document *document = parse(k_yaml);

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++)
        cr_expect(eq(sz, tarn_document_line(document, k_rows[i].field), k_rows[i].line), "%s", k_rows[i].field);
}
