/* test_err.c - errors: written once, moved, prefixed, cut. */
#include "base/err.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

Test(err, a_failure_fills_the_error_and_gives_its_code_back)
{
    TARN_ERR(err);

    cr_expect(eq(int, tarn_fail(&err, TARN_TABLE_NOT_FOUND, "no table '%s'", "x"), TARN_TABLE_NOT_FOUND));
    cr_expect(eq(int, err.code, TARN_TABLE_NOT_FOUND));
    cr_expect(eq(str, err.detail, "no table 'x'"));
    cr_expect(eq(str, err.field, ""));
}

Test(err, without_an_error_only_the_code_is_given)
{
    cr_expect(eq(int, tarn_fail(NULL, TARN_BUSY, "x"), TARN_BUSY));
    cr_expect(eq(int, tarn_fail_field(NULL, "f", "x"), TARN_INVALID));
    cr_expect(eq(int, tarn_fail_oom(NULL), TARN_INTERNAL));
    cr_expect(eq(int, tarn_err_add(NULL, "k", json_integer(1)), TARN_INTERNAL));
    cr_expect(eq(int, tarn_err_prefix(NULL, "p"), TARN_INTERNAL));
}

Test(err, a_second_failure_replaces_the_first_and_may_quote_it)
{
    TARN_ERR(err);

    (void)tarn_fail_field(&err, "path", "is bad");
    (void)tarn_err_add(&err, "path", json_string("a"));
    (void)tarn_fail_code_field(&err, TARN_FILE_CONFLICT, err.field, "again: %s", err.detail);
    cr_expect(eq(str, err.detail, "again: is bad"));
    cr_expect(eq(str, err.field, "path"));
    cr_expect(err.more == NULL);
}

Test(err, long_texts_are_cut_on_a_character)
{
    char text[1200];
    TARN_ERR(err);

    /* 0xc3 0xa9 pairs begin at odd offsets, so that both limits fall inside a character or just behind one */
    text[0] = 'x';
    for (size_t i = 1; i + 2 < sizeof text; i += 2)
        memcpy(text + i, "\xc3\xa9", 3);
    (void)tarn_fail_field(&err, text, "%s", text);
    cr_expect(eq(sz, strlen(err.field), 255));
    cr_expect(eq(sz, strlen(err.detail), 511));
    cr_expect(eq(chr, err.field[254], '\xa9'));

    (void)tarn_fail_field(&err, text + 1, "%s", text + 1);
    cr_expect(eq(sz, strlen(err.field), 254));
    cr_expect(eq(sz, strlen(err.detail), 510));
}

Test(err, a_prefix_comes_before_the_field)
{
    static const struct { const char *prefix, *field, *both; } k_rows[] = {
        { "operations[0]", "path", "operations[0].path" }, { "a", "", "a" }, { "", "b", "b" },
        { "list", "[3]", "list[3]" },                      { "a.b", "c", "a.b.c" },
    };

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        TARN_ERR(err);
        (void)tarn_fail_field(&err, k_rows[i].field, "x");
        cr_expect(eq(int, tarn_err_prefix(&err, "%s", k_rows[i].prefix), TARN_INVALID));
        cr_expect(eq(str, err.field, (char *)k_rows[i].both));
    }
}

Test(err, a_prefix_keeps_the_limit)
{
    char text[400];
    TARN_ERR(err);

    memset(text, 'a', sizeof text);
    text[250] = '\0';
    (void)tarn_fail_field(&err, text, "x");
    (void)tarn_err_prefix(&err, "%s", text);
    cr_expect(eq(sz, strlen(err.field), 255));
}

Test(err, moving_takes_the_members_along_and_empties_the_source)
{
    TARN_ERR(from);
    TARN_ERR(to);

    (void)tarn_fail(&to, TARN_BUSY, "old");
    (void)tarn_err_add(&to, "old", json_integer(1));
    (void)tarn_fail(&from, TARN_VERSION_CONFLICT, "new");
    (void)tarn_err_add(&from, "current_version", json_integer(7));
    cr_expect(eq(int, tarn_err_move(&to, &from), TARN_VERSION_CONFLICT));
    cr_expect(eq(str, to.detail, "new"));
    cr_expect(eq(i64, json_integer_value(json_object_get(to.more, "current_version")), 7));
    cr_expect(json_object_get(to.more, "old") == NULL);
    cr_expect(eq(int, from.code, TARN_OK));
    cr_expect(from.more == NULL);

    (void)tarn_fail(&from, TARN_BUSY, "gone");
    cr_expect(eq(int, tarn_err_move(NULL, &from), TARN_BUSY));
    cr_expect(eq(int, tarn_err_move(&to, &to), TARN_VERSION_CONFLICT));
    cr_expect(eq(str, to.detail, "new"));
}

Test(err, every_code_has_a_slug_a_title_and_an_explanation)
{
    for (int code = TARN_OK; code < TARN_CODES_END; code++) {
        cr_assert(tarn_code_slug((tarn_code)code) != NULL && *tarn_code_slug((tarn_code)code));
        cr_expect(gt(sz, strlen(tarn_code_title((tarn_code)code)), 0));
        cr_assert(tarn_code_explanation((tarn_code)code) != NULL, "%s", tarn_code_slug((tarn_code)code));
        cr_expect(tarn_code_http((tarn_code)code) >= 200 && tarn_code_http((tarn_code)code) < 600);
        for (int other = TARN_OK; other < code; other++)
            cr_expect(ne(str, (char *)tarn_code_slug((tarn_code)code), (char *)tarn_code_slug((tarn_code)other)));
    }
    cr_expect(eq(uint, tarn_code_http(TARN_VERSION_CONFLICT), 409));
    cr_expect(eq(str, (char *)tarn_code_slug(TARN_INVALID), "invalid_request"));
}
