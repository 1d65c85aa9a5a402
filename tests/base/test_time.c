/* test_time.c - instants. Expected epochs come from `date -u -d ... +%s`. */
#include "base/time.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

struct good { const char *text; int64_t ms; enum tarn_time_form form; };

Test(time, rfc_3339_instants_are_read_to_the_millisecond)
{
    static const struct good k_rows[] = {
        { "1970-01-01T00:00:00Z", 0, TARN_TIME_ZONED },
        { "2024-02-01T14:32:15Z", 1706797935000, TARN_TIME_ZONED },
        { "2024-02-01t14:32:15z", 1706797935000, TARN_TIME_ZONED },
        { "2024-02-01 14:32:15Z", 1706797935000, TARN_TIME_ZONED },
        { "2024-02-01T14:32:15.2Z", 1706797935200, TARN_TIME_ZONED },
        { "2024-02-01T14:32:15.25Z", 1706797935250, TARN_TIME_ZONED },
        { "2024-02-01T14:32:15.123456789Z", 1706797935123, TARN_TIME_ZONED },
        { "2024-02-01T14:32:15.999999999Z", 1706797935999, TARN_TIME_ZONED },
        { "2024-02-01T16:32:15+02:00", 1706797935000, TARN_TIME_ZONED },
        { "2024-02-01T09:02:15-05:30", 1706797935000, TARN_TIME_ZONED },
        { "2024-02-01T14:32:15-00:00", 1706797935000, TARN_TIME_ZONED },
        { "2024-02-02T14:31:15+23:59", 1706797935000, TARN_TIME_ZONED },
        { "2024-02-01T14:32:15", 1706797935000, TARN_TIME_NAIVE },
        { "2024-02-01 14:32:15.5", 1706797935500, TARN_TIME_NAIVE },
        { "2024-02-29T00:00:00Z", 1709164800000, TARN_TIME_ZONED },
        { "2000-02-29T00:00:00Z", 951782400000, TARN_TIME_ZONED },
        { "2023-12-31T23:59:59Z", 1704067199000, TARN_TIME_ZONED },
        { "2016-12-31T23:59:60Z", 1483228799000, TARN_TIME_ZONED }, /* a real leap second */
        { "2017-01-01T00:59:60+01:00", 1483228799000, TARN_TIME_ZONED },
        { "9999-12-31T23:59:59Z", 253402300799000, TARN_TIME_ZONED },
    };

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        int64_t ms = -1;
        enum tarn_time_form form = TARN_TIME_EPOCH;
        TARN_ERR(err);
        cr_expect(eq(int, tarn_time_parse(k_rows[i].text, &ms, &form, &err), TARN_OK), "%s", k_rows[i].text);
        cr_expect(eq(i64, ms, k_rows[i].ms), "%s", k_rows[i].text);
        cr_expect(eq(int, (int)form, (int)k_rows[i].form), "%s", k_rows[i].text);
    }
}

Test(time, what_is_no_instant_is_refused)
{
    static const char *const k_rows[] = {
        "", "2024", "2024-02-01", "2024-02-01T14:32Z", "2024-2-1T14:32:15Z", "2024-13-01T00:00:00Z",
        "2024-00-01T00:00:00Z", "2024-02-30T00:00:00Z", "2023-02-29T00:00:00Z", "1900-02-29T00:00:00Z",
        "2024-04-31T00:00:00Z", "2024-02-01T24:00:00Z", "2024-02-01T14:60:00Z", "2024-02-01T14:32:61Z",
        "2024-02-01T14:32:60Z", "2024-02-01T14:32:15.Z", "2024-02-01T14:32:15.1234567890Z", "2024-02-01T14:32:15+2:00",
        "2024-02-01T14:32:15+0200", "2024-02-01T14:32:15+24:00", "2024-02-01T14:32:15+02:60", "2024-02-01T14:32:15Z ",
        " 2024-02-01T14:32:15Z", "2024-02-01T14:32:15ZZ", "2024-02-01_14:32:15Z", "+2024-02-01T14:32:15Z",
        "1969-12-31T23:59:59Z", "1970-01-01T00:00:00+00:01",
    };

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        int64_t ms = 77;
        enum tarn_time_form form = TARN_TIME_EPOCH;
        TARN_ERR(err);
        cr_expect(eq(int, tarn_time_parse(k_rows[i], &ms, &form, &err), TARN_INVALID), "%s", k_rows[i]);
        cr_expect(eq(i64, ms, 77), "%s changed the output", k_rows[i]);
        cr_expect(ne(chr, err.detail[0], '\0'));
    }
}

Test(time, documents_of_others_tell_instants_in_more_forms)
{
    static const struct { const char *text; int64_t ms; enum tarn_time_form form; } k_rows[] = {
        { "2024-02-01T14:32:15Z", 1706797935000, TARN_TIME_ZONED },
        { "2024-02-01T16:32:15+0200", 1706797935000, TARN_TIME_ZONED },
        { "2024-02-01T14:32:15.000+0000", 1706797935000, TARN_TIME_ZONED }, /* Hadoop */
        { "2024-02-01T09:02:15-0530", 1706797935000, TARN_TIME_ZONED },
        { "2024-02-01 16:32:15+02", 1706797935000, TARN_TIME_ZONED },       /* PostgreSQL */
        { "2024-02-01T14:32Z", 1706797920000, TARN_TIME_ZONED },            /* Java's OffsetDateTime */
        { "2024-02-01T16:32+02:00", 1706797920000, TARN_TIME_ZONED },
        { "2024-02-01T14:32", 1706797920000, TARN_TIME_NAIVE },
        { "1706797935", 1706797935000, TARN_TIME_EPOCH },
        { "1706797935123", 1706797935123, TARN_TIME_EPOCH },
        { "1706797935123456789", 1706797935123, TARN_TIME_EPOCH },
        { "", -1, TARN_TIME_EPOCH }, { "2024-02-01", -1, TARN_TIME_EPOCH }, { "2024-02-01T14Z", -1, TARN_TIME_EPOCH },
        { "2024-02-01T14:32:15+2", -1, TARN_TIME_EPOCH }, { "2024-02-01T14:32:15+020", -1, TARN_TIME_EPOCH },
        { "2024-02-01T14:32:15+02000", -1, TARN_TIME_EPOCH }, { "2024-02-01T14:32:15+2400", -1, TARN_TIME_EPOCH },
        { "2024-02-01T14:32:15+0260", -1, TARN_TIME_EPOCH }, { "2024-02-01T14:32:", -1, TARN_TIME_EPOCH },
        { "20240201", -1, TARN_TIME_EPOCH }, { "99999999999999999999", -1, TARN_TIME_EPOCH },
    };

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        int64_t ms = -1;
        enum tarn_time_form form;
        bool is_one = tarn_time_read(k_rows[i].text, &ms, &form);
        cr_expect(eq(int, is_one, k_rows[i].ms >= 0), "%s", k_rows[i].text);
        cr_expect(eq(i64, ms, k_rows[i].ms), "%s", k_rows[i].text);
        cr_expect(eq(int, is_one ? (int)form : (int)k_rows[i].form, (int)k_rows[i].form), "%s", k_rows[i].text);
    }
}

Test(time, a_naive_instant_is_refused_where_a_zone_is_needed)
{
    int64_t ms;
    TARN_ERR(err);

    cr_expect(eq(int, tarn_time_parse("2024-02-01T14:32:15", &ms, NULL, &err), TARN_INVALID));
    cr_expect(eq(int, tarn_time_parse("2024-02-01T14:32:15Z", &ms, NULL, &err), TARN_OK));
}

Test(time, epochs_are_told_apart_by_magnitude)
{
    static const struct { int64_t number, ms; } k_rows[] = {
        { 946684800, 946684800000 },              /* 2000-01-01 */
        { 1706797935, 1706797935000 },            /* s */
        { 1706797935250, 1706797935250 },         /* ms */
        { 1706797935250999, 1706797935250 },      /* us */
        { 1706797935250999999, 1706797935250 },   /* ns */
        { 4102444800, 4102444800000 },            /* 2100-01-01 */
        { 0, -1 }, { -1706797935, -1 }, { 946684799, -1 }, { 4102444801, -1 }, { 946684799999, -1 },
        { 4102444800001, -1 }, { INT64_MAX, -1 }, { INT64_MIN, -1 },
    };

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        int64_t ms = -1;
        TARN_ERR(err);
        tarn_code code = tarn_time_from_epoch(k_rows[i].number, &ms, &err);
        cr_expect(eq(int, code, k_rows[i].ms < 0 ? TARN_INVALID : TARN_OK), "%lld", (long long)k_rows[i].number);
        cr_expect(eq(i64, ms, k_rows[i].ms), "%lld", (long long)k_rows[i].number);
    }
}

Test(time, instants_are_written_with_a_fraction_only_when_there_is_one)
{
    static const struct { int64_t ms; const char *text; } k_rows[] = {
        { 0, "1970-01-01T00:00:00Z" },
        { 1706797935000, "2024-02-01T14:32:15Z" },
        { 1706797935250, "2024-02-01T14:32:15.250Z" },
        { 1706797935007, "2024-02-01T14:32:15.007Z" },
        { 1709164800000, "2024-02-29T00:00:00Z" },
        { 1704067199999, "2023-12-31T23:59:59.999Z" },
        { 253402300799000, "9999-12-31T23:59:59Z" },
        { -1, "1969-12-31T23:59:59.999Z" },
    };
    char text[TARN_TIME_TEXT];

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++)
        cr_expect(eq(str, (char *)tarn_time_format(k_rows[i].ms, text), (char *)k_rows[i].text));
    cr_expect(lt(sz, strlen(tarn_time_format(INT64_MAX, text)), sizeof text));
    cr_expect(lt(sz, strlen(tarn_time_format(INT64_MIN, text)), sizeof text));
}

Test(time, every_day_of_four_centuries_round_trips)
{
    char text[TARN_TIME_TEXT];

    for (int64_t day = 0; day < 146097; day += 1) {
        int64_t ms = -1, expected = day * TARN_DAY_MS + day % 86400 * 1000 + day % 1000;
        TARN_ERR(err);
        cr_assert(eq(int, tarn_time_parse(tarn_time_format(expected, text), &ms, NULL, &err), TARN_OK), "%s", text);
        cr_assert(eq(i64, ms, expected), "%s", text);
    }
}

Test(time, the_monotonic_clock_does_not_go_back)
{
    int64_t before = tarn_monotonic_ms();

    cr_expect(ge(i64, tarn_monotonic_ms(), before));
    cr_expect(gt(i64, tarn_now_ms(), 1706797935000));
}
