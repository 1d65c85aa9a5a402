/* test_json.c - members by a table, trees from text, texts from trees. */
#include "base/json.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

static json_t *tree_of(const char *text)
{
    json_t *tree = NULL;
    TARN_ERR(err);

    cr_assert(eq(int, tarn_json_parse(text, strlen(text), NULL, &tree, &err), TARN_OK), "%s: %s", text, err.detail);
    return tree;
}

struct target { const char *name; int64_t n; bool flag; json_t *object, *array, *any; bool given; };

static tarn_code read_into(const char *text, struct target *t, struct tarn_err *err)
{
    const struct tarn_field fields[] = {
        TARN_STR("name", &t->name, 1, 5),       TARN_OPT_I64("n", &t->n, -3, 9),       TARN_OPT_BOOL("flag", &t->flag),
        TARN_OPT_OBJECT("object", &t->object),  TARN_OPT_ARRAY("array", &t->array, 1, 2), TARN_OPT_ANY("any", &t->any),
        { "given", TARN_F_I64, true, &t->n, -3, 9, &t->given }, TARN_FIELDS_END
    };
    json_auto_t *tree = tree_of(text);

    return tarn_json_read(tree, fields, err);
}

Test(json, members_go_to_their_targets)
{
    const char *name = NULL;
    int64_t n = 0;
    bool flag = false, given = false, not_given = false;
    json_t *object = NULL, *array = NULL, *any = NULL;
    const struct tarn_field fields[] = {
        TARN_STR("name", &name, 1, 5), TARN_I64("n", &n, -3, 9), TARN_OPT_BOOL("flag", &flag),
        TARN_OPT_OBJECT("object", &object), TARN_ARRAY("array", &array, 1, 2), TARN_OPT_ANY("any", &any),
        { "given", TARN_F_BOOL, true, &flag, 0, 0, &given }, { "absent", TARN_F_BOOL, true, &flag, 0, 0, &not_given },
        TARN_FIELDS_END
    };
    json_auto_t *tree = tree_of("{\"name\":\"caf\xc3\xa9\",\"n\":-3,\"flag\":true,\"object\":{},\"array\":[1],\"any\":0,"
                                "\"given\":true,\"absent\":null}");
    TARN_ERR(err);

    cr_assert(eq(int, tarn_json_read(tree, fields, &err), TARN_OK), "%s", err.detail);
    cr_expect(eq(str, (char *)name, "caf\xc3\xa9"));
    cr_expect(eq(i64, n, -3));
    cr_expect(flag && given && !not_given);
    cr_expect(eq(sz, json_array_size(array), 1));
    cr_expect(eq(int, json_is_object(object) && json_is_integer(any), 1));
}

Test(json, a_fault_names_the_member_and_touches_nothing)
{
    static const struct { const char *text, *field, *says; } k_rows[] = {
        { "{}", "name", "is required" },
        { "{\"name\":null}", "name", "is required" },
        { "{\"name\":1}", "name", "must be a string" },
        { "{\"name\":\"\"}", "name", "must not be empty" },
        { "{\"name\":\"abcdef\"}", "name", "must have 1 to 5 bytes" },
        { "{\"name\":\"\xe2\x82\xac\xe2\x82\xac\"}", "name", "must have 1 to 5 bytes" },
        { "{\"name\":\"a\",\"nmae\":1}", "nmae", "is not a known member" },
        { "{\"name\":\"a\",\"n\":10}", "n", "must be -3 to 9" },
        { "{\"name\":\"a\",\"n\":-4}", "n", "must be -3 to 9" },
        { "{\"name\":\"a\",\"n\":1.0}", "n", "must be an integer" },
        { "{\"name\":\"a\",\"n\":\"1\"}", "n", "must be an integer" },
        { "{\"name\":\"a\",\"flag\":1}", "flag", "must be true or false" },
        { "{\"name\":\"a\",\"object\":[]}", "object", "must be an object" },
        { "{\"name\":\"a\",\"array\":{}}", "array", "must be an array" },
        { "{\"name\":\"a\",\"array\":[]}", "array", "must not be empty" },
        { "{\"name\":\"a\",\"array\":[1,2,3]}", "array", "must have 1 to 2 elements" },
        { "[]", "", "must be a JSON object" },
        { "\"x\"", "", "must be a JSON object" },
    };

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        struct target t = { .n = 77 };
        TARN_ERR(err);
        cr_expect(eq(int, read_into(k_rows[i].text, &t, &err), TARN_INVALID), "%s", k_rows[i].text);
        cr_expect(eq(str, err.field, (char *)k_rows[i].field), "%s", k_rows[i].text);
        cr_expect(eq(str, err.detail, (char *)k_rows[i].says), "%s", k_rows[i].text);
        cr_expect(t.name == NULL && t.n == 77 && !t.given, "%s", k_rows[i].text);
    }
}

Test(json, null_leaves_an_optional_member_alone)
{
    struct target t = { .n = 77 };
    TARN_ERR(err);

    cr_expect(eq(int, read_into("{\"name\":\"a\",\"n\":null,\"any\":null}", &t, &err), TARN_OK));
    cr_expect(t.n == 77 && t.any == NULL);
    cr_expect(eq(int, read_into("{\"name\":\"a\",\"any\":false,\"flag\":false}", &t, &err), TARN_OK));
}

Test(json, hostile_texts_are_refused_with_their_place)
{
    static const struct { const char *text, *says; } k_rows[] = {
        { "", "an unexpected end at line 1, column 1" },
        { "{\"a\":1,\n \"a\":2}", "a member that is there twice at line 2" },
        { "{\"a\":{\"b\":1,\"b\":1}}", "twice" },
        { "[9223372036854775808]", "an integer beyond 64 bits" },
        { "[-9223372036854775809]", "an integer beyond 64 bits" },
        { "[1e999]", "a number beyond double" },
        { "\"a\\u0000b\"", "a NUL" },
        { "\"\\ud800\"", "a lone surrogate" },
        { "\"\\ud800\\u0041\"", "a lone surrogate" },
        { "\"\\udc00\"", "a lone surrogate" },
        { "\"\xff\"", "not UTF-8" },
        { "\"\xc0\x80\"", "not UTF-8" },
        { "\"\xed\xa0\x80\"", "not UTF-8" },
        { "\"a\nb\"", "a control character" },
        { "\n\n  tru", "an unexpected end at line 3, column 6" },
        { "{\"a\" 1}", "no colon" }, { "[1 2]", "no comma" }, { "{1:2}", "no member name" }, { "[1,]", "starts no value" },
        { "{\"a\":1,}", "no member name" }, { "1 2", "something behind the document" }, { "[01]", "a broken number" },
        { "[1.]", "a broken number" }, { "[.5]", "starts no value" }, { "[+1]", "starts no value" },
        { "[1e]", "a broken number" }, { "[--1]", "a broken number" }, { "[NaN]", "starts no value" },
        { "[Infinity]", "starts no value" }, { "['a']", "starts no value" }, { "// x\n1", "starts no value" },
        { "\"\\x\"", "an unknown escape" }, { "\"\\u12g4\"", "a broken \\u escape" }, { "\xef\xbb", "an unexpected end" },
        { "nul", "an unexpected end" }, { "nulL", "an unknown word" }, { "\"abc", "an unexpected end" },
    };

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        json_t *tree = NULL;
        TARN_ERR(err);
        cr_expect(eq(int, tarn_json_parse(k_rows[i].text, strlen(k_rows[i].text), NULL, &tree, &err), TARN_INVALID),
                  "%s", k_rows[i].text);
        cr_expect(tree == NULL);
        cr_expect(tarn_has(err.detail, k_rows[i].says), "%s gave: %s", k_rows[i].text, err.detail);
    }
}

Test(json, a_raw_nul_in_the_text_is_refused)
{
    json_t *tree = NULL;
    TARN_ERR(err);

    cr_expect(eq(int, tarn_json_parse("[1]\0", 4, NULL, &tree, &err), TARN_INVALID));
    cr_expect(eq(int, tarn_json_parse("\"a\0b\"", 5, NULL, &tree, &err), TARN_INVALID));
}

Test(json, depth_and_number_of_values_are_bounded)
{
    char deep[201];
    json_t *tree = NULL;
    TARN_ERR(err);

    memset(deep, '[', 100);
    memset(deep + 100, ']', 100);
    cr_expect(eq(int, tarn_json_parse(deep, 200, NULL, &tree, &err), TARN_INVALID));
    cr_expect(tarn_has(err.detail, "too deep"), "%s", err.detail);
    cr_assert(eq(int, tarn_json_parse(deep + 36, 128, NULL, &tree, &err), TARN_OK), "64 levels are fine");
    json_decref(tree);
    cr_expect(eq(int, tarn_json_parse(deep + 35, 130, NULL, &tree, &err), TARN_INVALID), "65 are not");

    const struct tarn_json_limits few = { .max_depth = 2, .max_values = 4 };
    static const struct { const char *text; tarn_code code; } k_rows[] = {
        { "[1,2,3]", TARN_OK }, { "[1,2,3,4]", TARN_INVALID }, { "{\"a\":[1,2]}", TARN_OK }, { "{\"a\":[[]]}", TARN_INVALID },
    };
    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        json_t *small = NULL;
        cr_expect(eq(int, tarn_json_parse(k_rows[i].text, strlen(k_rows[i].text), &few, &small, &err), k_rows[i].code),
                  "%s", k_rows[i].text);
        json_decref(small);
    }
}

Test(json, texts_and_trees_round_trip)
{
    static const struct { const char *in, *out; } k_rows[] = {
        { " { \"b\" : [ 1 , 2 ] , \"a\" : null } ", "{\"b\":[1,2],\"a\":null}" },
        { "[9223372036854775807,-9223372036854775808,0,-0]", "[9223372036854775807,-9223372036854775808,0,0]" },
        { "[0.1,1.0,1e5,1E+2,-2.5e-3,1e300]", "[0.1,1.0,100000.0,100.0,-0.0025,1e+300]" },
        { "[true,false,null,\"\"]", "[true,false,null,\"\"]" },
        { "\"\\u00e9\\ud83d\\ude00\\/\\b\\f\\n\\r\\t\\\"\\\\\"", "\"\xc3\xa9\xf0\x9f\x98\x80/\\b\\f\\n\\r\\t\\\"\\\\\"" },
        { "\xef\xbb\xbf[]", "[]" },
        { "\"\\u001f\\u007f\"", "\"\\u001f\x7f\"" },
        { "{\"\":1}", "{\"\":1}" },
    };

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        json_auto_t *tree = tree_of(k_rows[i].in);
        char *text = tarn_json_text(tree);
        cr_expect(eq(str, text, (char *)k_rows[i].out));
        free(text);
    }
}

Test(json, equal_values_have_one_canonical_text)
{
    json_auto_t *a = tree_of("{\"b\":{\"y\":1,\"x\":[{\"q\":1,\"p\":2}]},\"a\":0}");
    json_auto_t *b = tree_of("{ \"a\":0, \"b\":{\"x\":[{\"p\":2,\"q\":1}],\"y\":1}}");
    char *one = tarn_json_canonical(a), *other = tarn_json_canonical(b);

    cr_expect(eq(str, one, "{\"a\":0,\"b\":{\"x\":[{\"p\":2,\"q\":1}],\"y\":1}}"));
    cr_expect(eq(str, one, other));
    free(one);
    free(other);
}

Test(json, instants_and_missing_texts_become_values)
{
    json_auto_t *none = tarn_json_time(-1), *some = tarn_json_time(1706797935000);
    json_auto_t *null = tarn_json_str_or_null(NULL), *text = tarn_json_str_or_null("x");

    cr_expect(eq(int, json_is_null(none) && json_is_null(null), 1));
    cr_expect(eq(str, (char *)json_string_value(some), "2024-02-01T14:32:15Z"));
    cr_expect(eq(str, (char *)json_string_value(text), "x"));
}
