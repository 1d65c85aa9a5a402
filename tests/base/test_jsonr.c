/* test_jsonr.c - the pull reader: tokens and depths, pieces of any size, bounds. */
#include "base/jsonr.h"
#include "tests/support/pieces.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

static void add_token(struct tarn_buf *out, const struct tarn_jsonr_event *e)
{
    static const char *const k_names[] = { "{",   "}",    "[",    "]",     "key",  "str",
                                           "int", "real", "true", "false", "null", "end" };

    tarn_buf_addf(out, "%s%s%zu", out->len ? " " : "", k_names[e->token], e->depth);
    if (e->token >= TARN_J_KEY && e->token <= TARN_J_REAL)
        tarn_buf_addf(out, "=%s", e->text);
}

/* All tokens as one line, or the error's text. */
static void tokens_of(struct tarn_jsonr *r, struct tarn_buf *out)
{
    struct tarn_jsonr_event e = { 0 };
    TARN_ERR(err);

    do {
        if (tarn_jsonr_next(r, &e, &err) != TARN_OK) {
            tarn_buf_addf(out, " !%s", err.detail);
            return;
        }
        add_token(out, &e);
    } while (e.token != TARN_J_END);
}

Test(jsonr, tokens_carry_their_text_and_depth)
{
    static const char k_text[] = "{\"a\":[1,-2.5e3,\"x\\n\"],\"b\":{},\"c\":[true,false,null]}";
    TARN_AUTO(jsonr) struct tarn_jsonr *r = tarn_jsonr_new_mem(k_text, strlen(k_text), 0);
    TARN_AUTO_DONE(buf) struct tarn_buf out = { 0 };

    tokens_of(r, &out);
    cr_expect(eq(
        str, out.data,
        "{0 key1=a [1 int2=1 real2=-2.5e3 str2=x\n ]1 key1=b {1 }1 key1=c [1 true2 false2 null2 ]1 }0 end0"));
}

Test(jsonr, pieces_of_any_size_give_the_same_tokens)
{
    static const char k_text[] = "\xef\xbb\xbf {\"k\xc3\xa9y\" : [ 12345678901234567890, 1.25, -0, "
                                 "\"\\ud83d\\ude00 long plain text here\", "
                                 "\"\", true, null ] , \"z\":{\"y\":[[],{}]}} \n";
    TARN_AUTO(jsonr) struct tarn_jsonr *whole = tarn_jsonr_new_mem(k_text, strlen(k_text), 0);
    TARN_AUTO_DONE(buf) struct tarn_buf expected = { 0 };

    tokens_of(whole, &expected);
    cr_assert(not(tarn_has(expected.data, "!")), "%s", expected.data);
    for (size_t step = 1; step <= strlen(k_text); step++) {
        struct tarn_pieces p = { .at = k_text, .left = strlen(k_text), .step = step };
        TARN_AUTO(jsonr) struct tarn_jsonr *r = tarn_jsonr_new(tarn_pieces_fill, &p, 0);
        TARN_AUTO_DONE(buf) struct tarn_buf out = { 0 };
        tokens_of(r, &out);
        cr_expect(eq(str, out.data, expected.data), "step %zu", step);
    }
}

Test(jsonr, integers_keep_64_bits_and_larger_ones_are_reals)
{
    static const struct {
        const char *text;
        enum tarn_jsonr_token token;
        int64_t integer;
        double real;
    } k_rows[] = {
        { "9223372036854775807", TARN_J_INTEGER, INT64_MAX, 0 },
        { "-9223372036854775808", TARN_J_INTEGER, INT64_MIN, 0 },
        { "9223372036854775808", TARN_J_REAL, 0, 9223372036854775808.0 },
        { "999999999999999999", TARN_J_INTEGER, 999999999999999999, 0 },
        { "-999999999999999999", TARN_J_INTEGER, -999999999999999999, 0 },
        { "1000000000000000000", TARN_J_INTEGER, 1000000000000000000, 0 },
        { "-0", TARN_J_INTEGER, 0, 0 },
        { "0", TARN_J_INTEGER, 0, 0 },
        { "1.5", TARN_J_REAL, 0, 1.5 },
        { "1e2", TARN_J_REAL, 0, 100 },
        { "2E-1", TARN_J_REAL, 0, 0.2 },
        { "1e-400", TARN_J_REAL, 0, 0 },
    };

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        TARN_AUTO(jsonr) struct tarn_jsonr *r = tarn_jsonr_new_mem(k_rows[i].text, strlen(k_rows[i].text), 0);
        struct tarn_jsonr_event e;
        TARN_ERR(err);
        cr_assert(eq(int, tarn_jsonr_next(r, &e, &err), TARN_OK), "%s", k_rows[i].text);
        cr_expect(eq(int, (int)e.token, (int)k_rows[i].token), "%s", k_rows[i].text);
        cr_expect(eq(i64, e.integer, k_rows[i].integer), "%s", k_rows[i].text);
        cr_expect(eq(dbl, e.real, k_rows[i].real), "%s", k_rows[i].text);
        cr_expect(eq(str, (char *)e.text, (char *)k_rows[i].text));
    }
}

Test(jsonr, numbers_are_the_same_in_pieces_of_any_size)
{
    static const struct {
        const char *text, *tokens;
    } k_rows[] = {
        { "[-12,0]", "[0 int1=-12 int1=0 ]0 end0" },
        { "[-]", "[0 !no valid JSON: a broken number at byte 2" },
        { "[--1]", "[0 !no valid JSON: a broken number at byte 4" },
        { "[1-2]", "[0 !no valid JSON: a broken number at byte 4" },
        { "[00]", "[0 !no valid JSON: a broken number at byte 3" },
        { "[-01]", "[0 !no valid JSON: a broken number at byte 4" },
        { "[1.]", "[0 !no valid JSON: a broken number at byte 3" },
        { "[1e+]", "[0 !no valid JSON: a broken number at byte 4" },
        { "[1E5E]", "[0 !no valid JSON: a broken number at byte 5" },
        { "[+1]", "[0 !no valid JSON: a byte that starts no value at byte 1" },
        { "[1", "[0 int1=1 !no valid JSON: an unexpected end at byte 2" },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        for (size_t step = 1; step <= 8; step++) {
            struct tarn_pieces p = { .at = k_rows[i].text, .left = strlen(k_rows[i].text), .step = step };
            TARN_AUTO(jsonr) struct tarn_jsonr *r = tarn_jsonr_new(tarn_pieces_fill, &p, 0);
            TARN_AUTO_DONE(buf) struct tarn_buf out = { 0 };
            tokens_of(r, &out);
            cr_expect(eq(str, out.data, (char *)k_rows[i].tokens), "%s by %zu", k_rows[i].text, step);
        }
    }
}

Test(jsonr, a_fault_tells_the_byte_and_sticks)
{
    static const char k_text[] = "{\"a\":1,}";
    TARN_AUTO(jsonr) struct tarn_jsonr *r = tarn_jsonr_new_mem(k_text, strlen(k_text), 0);
    TARN_AUTO_DONE(buf) struct tarn_buf out = { 0 };
    struct tarn_jsonr_event e;
    size_t offset = 0;
    TARN_ERR(err);

    tokens_of(r, &out);
    cr_expect(
        eq(str, out.data, "{0 key1=a int1=1 !no valid JSON: no member name where one must be at byte 7"));
    cr_expect(tarn_jsonr_fault(r, &offset) != NULL && offset == 7);
    cr_expect(eq(int, tarn_jsonr_next(r, &e, &err), TARN_INVALID));
}

Test(jsonr, the_offset_counts_over_pieces)
{
    char text[200001];
    struct tarn_pieces p = { .at = text, .left = sizeof text - 1, .step = 1 << 20 };
    TARN_AUTO(jsonr) struct tarn_jsonr *r = tarn_jsonr_new(tarn_pieces_fill, &p, 0);
    TARN_AUTO_DONE(buf) struct tarn_buf out = { 0 };

    memset(text, ' ', sizeof text);
    text[0] = '[';
    text[150000] = 'x';
    tokens_of(r, &out);
    cr_expect(tarn_has(out.data, "at byte 150000"), "%s", out.data);
}

Test(jsonr, a_source_that_fails_gives_its_own_error)
{
    struct tarn_pieces p = { .at = "[1,", .left = 3, .step = 100, .fault_at_end = TARN_STORAGE_UNAVAILABLE };
    TARN_AUTO(jsonr) struct tarn_jsonr *r = tarn_jsonr_new(tarn_pieces_fill, &p, 0);
    struct tarn_jsonr_event e;
    size_t offset;
    TARN_ERR(err);

    cr_expect(eq(int, tarn_jsonr_next(r, &e, &err), TARN_OK));
    cr_expect(eq(int, tarn_jsonr_next(r, &e, &err), TARN_OK));
    cr_expect(eq(int, tarn_jsonr_next(r, &e, &err), TARN_STORAGE_UNAVAILABLE));
    cr_expect(eq(str, err.detail, "the disk is gone"));
    cr_expect(tarn_jsonr_fault(r, &offset) == NULL);
    cr_expect(eq(int, tarn_jsonr_next(r, &e, &err), TARN_STORAGE_UNAVAILABLE));
}

Test(jsonr, strings_and_depth_are_bounded)
{
    char deep[130];
    TARN_AUTO_DONE(buf) struct tarn_buf out = { 0 };

    static const struct {
        const char *text;
        bool fits;
    } k_rows[] = {
        { "\"12345678\"", true },
        { "\"123456789\"", false },
        { "\"\\u00e9\\u00e9\\u00e9\\u00e9\"", true },
        { "\"\\u00e9\\u00e9\\u00e9\\u00e9x\"", false },
        { "12345678", true },
        { "123456789", false },
        { "{\"123456789\":1}", false },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        TARN_AUTO(jsonr) struct tarn_jsonr *r = tarn_jsonr_new_mem(k_rows[i].text, strlen(k_rows[i].text), 8);
        tarn_buf_clear(&out);
        tokens_of(r, &out);
        cr_expect(eq(int, tarn_has(out.data, "too long"), !k_rows[i].fits), "%s: %s", k_rows[i].text,
                  out.data);
    }
    memset(deep, '[', 129);
    TARN_AUTO(jsonr) struct tarn_jsonr *fits = tarn_jsonr_new_mem(deep, TARN_JSONR_DEPTH, 0);
    tarn_buf_clear(&out);
    tokens_of(fits, &out);
    cr_expect(tarn_has(out.data, "[127 !no valid JSON: an unexpected end"), "%s", out.data);
    TARN_AUTO(jsonr) struct tarn_jsonr *too_deep = tarn_jsonr_new_mem(deep, 129, 0);
    tarn_buf_clear(&out);
    tokens_of(too_deep, &out);
    cr_expect(tarn_has(out.data, "too deep"), "%s", out.data);
}

Test(jsonr, values_are_skipped_or_taken_whole)
{
    static const char k_text[] =
        "{\"a\": [1, {\"b\" : \"x\\u0041\"}, 2.50], \"c\" : 12345678901234567890, \"d\":{} , \"e\":\"last\"}";
    TARN_AUTO(jsonr) struct tarn_jsonr *r = tarn_jsonr_new_mem(k_text, strlen(k_text), 0);
    TARN_AUTO_DONE(buf) struct tarn_buf out = { 0 };
    struct tarn_jsonr_event e;
    TARN_ERR(err);

    cr_assert(eq(int, tarn_jsonr_next(r, &e, &err), TARN_OK)); /* { */
    cr_assert(eq(int, tarn_jsonr_next(r, &e, &err), TARN_OK)); /* a */
    cr_assert(eq(int, tarn_jsonr_raw(r, &out, &err), TARN_OK));
    cr_expect(eq(str, out.data, "[1,{\"b\":\"xA\"},2.50]"));
    cr_assert(eq(int, tarn_jsonr_next(r, &e, &err), TARN_OK)); /* c */
    tarn_buf_clear(&out);
    cr_assert(eq(int, tarn_jsonr_raw(r, &out, &err), TARN_OK));
    cr_expect(eq(str, out.data, "12345678901234567890"));
    cr_assert(eq(int, tarn_jsonr_next(r, &e, &err), TARN_OK)); /* d */
    cr_assert(eq(int, tarn_jsonr_next(r, &e, &err), TARN_OK)); /* { */
    cr_assert(eq(int, tarn_jsonr_skip_from(r, &e, &err), TARN_OK));
    cr_assert(eq(int, tarn_jsonr_next(r, &e, &err), TARN_OK)); /* e */
    cr_assert(eq(int, tarn_jsonr_next(r, &e, &err), TARN_OK)); /* "last" */
    tarn_buf_clear(&out);
    cr_assert(eq(int, tarn_jsonr_raw_from(r, &e, &out, &err), TARN_OK));
    cr_expect(eq(str, out.data, "\"last\""));
    cr_assert(eq(int, tarn_jsonr_next(r, &e, &err), TARN_OK));
    cr_expect(eq(int, (int)e.token, TARN_J_OBJECT_END));
    cr_expect(eq(int, tarn_jsonr_skip_from(r, &e, &err), TARN_INVALID), "an end is no value");
}

Test(jsonr, a_raw_value_keeps_the_buffers_ceiling)
{
    static const char k_text[] = "[1,2,3,4,5,6,7,8,9]";
    TARN_AUTO(jsonr) struct tarn_jsonr *r = tarn_jsonr_new_mem(k_text, strlen(k_text), 0);
    TARN_AUTO_DONE(buf) struct tarn_buf out = { .ceiling = 8 };
    TARN_ERR(err);

    cr_expect(eq(int, tarn_jsonr_raw(r, &out, &err), TARN_PAYLOAD_TOO_LARGE));
}
