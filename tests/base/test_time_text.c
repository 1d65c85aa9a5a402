/* test_time_text.c - durations and sizes. */
#include "base/time.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

Test(time_text, durations_are_read)
{
    static const struct { const char *text; int64_t ms; } k_rows[] = {
        { "0", 0 },         { "0s", 0 },         { "90", 90000 },      { "90s", 90000 },
        { "1m", 60000 },    { "1m30s", 90000 },  { "1h2m3s", 3723000 }, { "250ms", 250 },
        { "1s250ms", 1250 }, { "7d", 604800000 }, { "1w", 604800000 },  { "1y", 31536000000 },
        { "1y2w3d4h5m6s7ms", 31536000000 + 2 * 604800000LL + 3 * 86400000LL + 4 * 3600000 + 5 * 60000 + 6007 },
        { "15m", 900000 },  { "1d1s", 86401000 }, { "100m", 6000000 }, { "3652425d", 315569520000000 },
    };

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        int64_t ms = -1;
        TARN_ERR(err);
        cr_expect(eq(int, tarn_duration_parse(k_rows[i].text, &ms, &err), TARN_OK), "%s", k_rows[i].text);
        cr_expect(eq(i64, ms, k_rows[i].ms), "%s", k_rows[i].text);
    }
}

Test(time_text, what_is_no_duration_is_refused)
{
    static const char *const k_rows[] = {
        "", "s", "-1s", "+1s", "1.5h", "1h1h", "1s1m", "1m2", "1 h", " 1h", "1h ", "1H", "1x", "1hm",
        "9223372036854775808", "9223372036854775807", "99999999999999y", "106751991167d", "3652425d1ms", "1ms1s",
    };

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        int64_t ms = 77;
        TARN_ERR(err);
        cr_expect(eq(int, tarn_duration_parse(k_rows[i], &ms, &err), TARN_INVALID), "%s", k_rows[i]);
        cr_expect(eq(i64, ms, 77), "%s", k_rows[i]);
    }
}

Test(time_text, durations_are_written_from_the_largest_unit)
{
    static const struct { int64_t ms; const char *text; } k_rows[] = {
        { 0, "0s" },         { 999, "0s" },         { -5000, "0s" },         { 1000, "1s" },     { 83000, "1m23s" },
        { 60000, "1m" },     { 3723000, "1h2m3s" }, { 3600000, "1h" },       { 3601999, "1h1s" }, { 86400000, "1d" },
        { 90061000, "1d1h1m1s" }, { 31536000000, "365d" }, { INT64_MIN, "0s" },
        { INT64_MAX, "106751991167d7h12m55s" },
    };
    char text[TARN_TIME_TEXT];

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++)
        cr_expect(eq(str, (char *)tarn_duration_format(k_rows[i].ms, text), (char *)k_rows[i].text));
}

Test(time_text, sizes_are_si_with_one_decimal)
{
    static const struct { int64_t bytes; const char *text; } k_rows[] = {
        { 0, "0 B" },           { 512, "512 B" },         { 999, "999 B" },          { 1000, "1.0 kB" },
        { 1500, "1.5 kB" },     { 1549, "1.5 kB" },       { 1550, "1.6 kB" },        { 999949, "999.9 kB" },
        { 999950, "1.0 MB" },   { 2100000000000, "2.1 TB" }, { 999999999999, "1.0 TB" },
        { 1234567890, "1.2 GB" }, { INT64_MAX, "9.2 EB" }, { -1500, "-1.5 kB" },     { INT64_MIN, "-9.2 EB" },
    };
    char text[TARN_TIME_TEXT];

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++)
        cr_expect(eq(str, (char *)tarn_size_format(k_rows[i].bytes, text), (char *)k_rows[i].text));
}
