/* test_jsonw.c - JSON written straight into a buffer; what is written is read back by jansson. */
#include "base/jsonw.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

Test(jsonw, commas_stand_between_values_only)
{
    TARN_AUTO_DONE(buf) struct tarn_buf out = { 0 };
    struct tarn_jsonw w = tarn_jsonw_to(&out);

    tarn_jsonw_object(&w);
    tarn_jsonw_kstr(&w, "a", "x");
    tarn_jsonw_key(&w, "b");
    tarn_jsonw_array(&w);
    tarn_jsonw_i64(&w, 1);
    tarn_jsonw_array(&w);
    tarn_jsonw_array_end(&w);
    tarn_jsonw_object(&w);
    tarn_jsonw_object_end(&w);
    tarn_jsonw_null(&w);
    tarn_jsonw_array_end(&w);
    tarn_jsonw_kbool(&w, "c", true);
    tarn_jsonw_kraw(&w, "d", "{\"e\":1}");
    tarn_jsonw_kraw(&w, "f", NULL);
    tarn_jsonw_ktime(&w, "g", 1706797935000);
    tarn_jsonw_ktime(&w, "h", -1);
    tarn_jsonw_ki64(&w, "i", -5);
    tarn_jsonw_kstr(&w, "j", NULL);
    tarn_jsonw_object_end(&w);
    cr_expect(eq(str, out.data, "{\"a\":\"x\",\"b\":[1,[],{},null],\"c\":true,\"d\":{\"e\":1},\"f\":null,"
                                "\"g\":\"2024-02-01T14:32:15Z\",\"h\":null,\"i\":-5,\"j\":null}"));
}

static char *written(const char *text, size_t len)
{
    TARN_AUTO_DONE(buf) struct tarn_buf out = { 0 };
    struct tarn_jsonw w = tarn_jsonw_to(&out);

    tarn_jsonw_strn(&w, text, len);
    return tarn_buf_take(&out);
}

Test(jsonw, every_byte_at_every_offset_reads_back)
{
    for (unsigned byte = 1; byte < 0x80; byte++) {
        for (size_t at = 0; at < 20; at++) {
            char text[21] = "aaaaaaaaaaaaaaaaaaaa";
            text[at] = (char)byte;
            TARN_AUTO(mem) char *json = written(text, 20);
            json_auto_t *back = json_loads(json, JSON_DECODE_ANY, NULL);
            cr_assert(eq(str, (char *)json_string_value(back), text), "byte %u at %zu: %s", byte, at, json);
        }
    }
}

Test(jsonw, bytes_that_are_no_utf8_become_the_replacement_character)
{
    static const struct { const char *in, *out; } k_rows[] = {
        { "caf\xc3\xa9 \xf0\x9f\x98\x80 and more", "\"caf\xc3\xa9 \xf0\x9f\x98\x80 and more\"" },
        { "\xff", "\"\xef\xbf\xbd\"" },
        { "a\xc3", "\"a\xef\xbf\xbd\"" },
        { "\xc3(", "\"\xef\xbf\xbd(\"" },
        { "\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
        { "\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
        { "long ascii \xff\"", "\"long ascii \xef\xbf\xbd\\\"\"" },
        { "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", "\"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\"" },
    };

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        TARN_AUTO(mem) char *json = written(k_rows[i].in, strlen(k_rows[i].in));
        cr_expect(eq(str, json, (char *)k_rows[i].out));
    }
    TARN_AUTO(mem) char *nul = written("a\0b", 3);
    cr_expect(eq(str, nul, "\"a\\u0000b\""));
}

Test(jsonw, integers_are_written_to_the_last_digit)
{
    static const struct { int64_t value; const char *text; } k_rows[] = {
        { 0, "0" }, { 9, "9" }, { 10, "10" }, { -1, "-1" }, { INT64_MAX, "9223372036854775807" },
        { INT64_MIN, "-9223372036854775808" }, { 1000000, "1000000" },
    };

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        TARN_AUTO_DONE(buf) struct tarn_buf out = { 0 };
        struct tarn_jsonw w = tarn_jsonw_to(&out);
        tarn_jsonw_i64(&w, k_rows[i].value);
        cr_expect(eq(str, out.data, (char *)k_rows[i].text));
    }
}

Test(jsonw, reals_are_short_and_read_back_the_same)
{
    static const struct { double value; const char *text; } k_rows[] = {
        { 0.1, "0.1" }, { 1.0, "1.0" }, { -2.5, "-2.5" }, { 1e300, "1e+300" }, { 0.1 + 0.2, "0.30000000000000004" },
        { 5e-324, "4.94065645841247e-324" }, { 1.7976931348623157e308, "1.7976931348623157e+308" }, { 1e15, "1e+15" },
        { NAN, "null" }, { INFINITY, "null" }, { -INFINITY, "null" },
    };

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        TARN_AUTO_DONE(buf) struct tarn_buf out = { 0 };
        struct tarn_jsonw w = tarn_jsonw_to(&out);
        tarn_jsonw_real(&w, k_rows[i].value);
        cr_expect(eq(str, out.data, (char *)k_rows[i].text));
    }
}

Test(jsonw, a_full_buffer_fails_and_does_not_write_on)
{
    TARN_AUTO_DONE(buf) struct tarn_buf out = { .ceiling = 10 };
    struct tarn_jsonw w = tarn_jsonw_to(&out);

    tarn_jsonw_array(&w);
    tarn_jsonw_str(&w, "longer than ten");
    tarn_jsonw_array_end(&w);
    cr_expect(out.failed);
    cr_expect(le(sz, out.len, 10));
}
