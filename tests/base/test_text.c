/* test_text.c - UTF-8 (Unicode 15, table 3-7), globs, percent escapes, owned texts. */
#include "base/text.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

Test(text, utf8_is_told_from_what_is_not)
{
    static const struct { const char *text; bool valid; } k_rows[] = {
        { "", true }, { "plain", true }, { "exactly8", true }, { "caf\xc3\xa9", true }, { "\xe2\x82\xac", true },
        { "\xf0\x9f\x98\x80", true }, { "\xf4\x8f\xbf\xbf", true }, { "\xed\x9f\xbf", true }, { "\xee\x80\x80", true },
        { "\xc2\x80", true }, { "eight ascii then \xc3\xa9 and more", true },
        { "\xc0\x80", false }, { "\xc1\xbf", false }, { "\xe0\x9f\xbf", false }, { "\xf0\x8f\xbf\xbf", false },
        { "\xed\xa0\x80", false }, { "\xed\xbf\xbf", false }, { "\xf4\x90\x80\x80", false }, { "\xf5\x80\x80\x80", false },
        { "\x80", false }, { "\xbf", false }, { "\xc3", false }, { "\xe2\x82", false }, { "\xf0\x9f\x98", false },
        { "\xc3(", false }, { "\xfe", false }, { "\xff", false }, { "eight ascii then \xff and more", false },
    };

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++)
        cr_expect(eq(int, tarn_utf8_valid(k_rows[i].text, strlen(k_rows[i].text)), k_rows[i].valid), "row %zu", i);
    cr_expect(tarn_utf8_valid("a\0b", 3), "NUL is a character");
}

Test(text, control_characters_are_seen)
{
    static const struct { const char *text; bool has; } k_rows[] = {
        { "plain", false }, { "", false }, { "a\tb", true }, { "a\nb", true }, { "a\x7f", true }, { "\xc2\x80", true },
        { "\xc2\x9f", true }, { "\xc2\xa0", false }, { "\xc3\x80", false },
    };

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++)
        cr_expect(eq(int, tarn_has_control(k_rows[i].text, strlen(k_rows[i].text)), k_rows[i].has), "row %zu", i);
}

Test(text, a_cut_never_splits_a_character)
{
    static const struct { const char *text; size_t max, cut; } k_rows[] = {
        { "abc", 5, 3 }, { "abc", 3, 3 }, { "abc", 2, 2 }, { "abc", 0, 0 }, { "a\xc3\xa9", 2, 1 },
        { "a\xc3\xa9", 3, 3 }, { "\xf0\x9f\x98\x80", 3, 0 }, { "\xe2\x82\xac\xe2\x82\xac", 5, 3 },
    };

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++)
        cr_expect(eq(sz, tarn_utf8_cut(k_rows[i].text, strlen(k_rows[i].text), k_rows[i].max), k_rows[i].cut), "row %zu", i);
}

Test(text, what_is_no_utf8_is_mended_and_the_rest_is_kept)
{
    static const struct { const char *text, *mended; } k_rows[] = {
        { "", "" }, { "abc", "abc" }, { "\xc3\xa9", "\xc3\xa9" }, { "\xff\xfe.parquet", "??.parquet" },
        { "a\xe2\x82", "a??" }, { "\xe2\x82\xac\xe2\x82", "\xe2\x82\xac??" }, { "\xc3\xa9\x80z", "\xc3\xa9?z" },
        { "\xed\xa0\x80", "???" }, { "\xc0\xaf", "??" },
    };

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        char text[32];
        snprintf(text, sizeof text, "%s", k_rows[i].text);
        tarn_utf8_mend(text);
        cr_expect(eq(str, text, (char *)k_rows[i].mended), "row %zu", i);
    }
}

Test(text, a_star_matches_any_run)
{
    static const struct { const char *pattern, *text; bool match; } k_rows[] = {
        { "", "", true }, { "", "a", false }, { "*", "", true }, { "*", "a.b.c", true }, { "sales.*", "sales.a.b", true },
        { "sales.*", "sales", false }, { "*.orders", "sales.orders", true }, { "*a*b*", "xxaxxbxx", true },
        { "*a*b*", "xxbxxaxx", false }, { "a*a", "a", false }, { "a*a", "aa", true }, { "a**b", "ab", true },
        { "a?c", "abc", false }, { "[a]", "a", false }, { "*ab", "aab", true }, { "A", "a", false },
    };

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++)
        cr_expect(eq(int, tarn_glob_match(k_rows[i].pattern, k_rows[i].text), k_rows[i].match), "%s on %s",
                  k_rows[i].pattern, k_rows[i].text);
}

Test(text, prefixes_and_suffixes)
{
    cr_expect(tarn_starts_with("abc", "") && tarn_starts_with("abc", "ab") && !tarn_starts_with("a", "ab"));
    cr_expect(tarn_ends_with("abc", "") && tarn_ends_with("abc", "bc") && !tarn_ends_with("c", "bc"));
}

Test(text, percent_escapes_are_decoded_once)
{
    static const struct { const char *text; bool plus; const char *out; } k_rows[] = {
        { "plain", false, "plain" }, { "", false, "" }, { "a%20b", false, "a b" }, { "a+b", false, "a+b" },
        { "a+b", true, "a b" }, { "a%2Bb", true, "a+b" }, { "%2F", false, "/" }, { "%2f", false, "/" },
        { "%252F", false, "%2F" }, { "caf%C3%A9", false, "caf\xc3\xa9" }, { "caf\xc3\xa9", false, "caf\xc3\xa9" },
        { "%", false, NULL }, { "%4", false, NULL }, { "%4g", false, NULL }, { "%G4", false, NULL },
        { "%00", false, NULL }, { "a%00b", true, NULL }, { "%ff", false, NULL }, { "%C3", false, NULL },
        { "\xff", false, NULL }, { "%%41", false, NULL },
    };

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        char out[64] = "";
        TARN_ERR(err);
        tarn_code code = tarn_percent_decode(k_rows[i].text, strlen(k_rows[i].text), k_rows[i].plus, out, &err);
        cr_expect(eq(int, code, k_rows[i].out ? TARN_OK : TARN_INVALID), "%s", k_rows[i].text);
        if (k_rows[i].out)
            cr_expect(eq(str, out, (char *)k_rows[i].out));
    }
}

Test(text, a_raw_nul_in_an_address_is_refused)
{
    char out[8];
    TARN_ERR(err);

    cr_expect(eq(int, tarn_percent_decode("a\0b", 3, false, out, &err), TARN_INVALID));
}

Test(text, an_owned_text_gives_way_to_a_copy_to_another_or_to_none)
{
    char *member = NULL;
    bool failed = false;
    TARN_ERR(err);

    cr_assert(tarn_text_set(&member, "a") && tarn_text_set(&member, member));
    cr_expect(eq(str, member, "a"));
    cr_assert(eq(int, tarn_text_own(&member, tarn_text_copy("b", &failed), &err), TARN_OK));
    cr_expect(eq(str, member, "b"));
    cr_expect(eq(int, tarn_text_own(&member, NULL, &err), TARN_INTERNAL));
    cr_expect(eq(str, member, "b"), "no memory: it is as it was");
    cr_assert(tarn_text_set(&member, NULL));
    cr_expect(eq(ptr, member, NULL));
    cr_expect(eq(ptr, tarn_text_copy(NULL, &failed), NULL));
    cr_expect(not(failed));
}
