/* time.c - clocks, and instants as text. The calendar is computed here (proleptic Gregorian, days since
 * 1970 by the 400-year cycle) since timegm and gmtime depend on nothing but are slow and 1900-based. */
#include "base/time.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int64_t clock_us(clockid_t id)
{
    struct timespec ts;

    clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

int64_t tarn_now_ms(void) { return clock_us(CLOCK_REALTIME) / 1000; }
int64_t tarn_monotonic_ms(void) { return clock_us(CLOCK_MONOTONIC) / 1000; }
int64_t tarn_monotonic_us(void) { return clock_us(CLOCK_MONOTONIC); }

/* Days from 1970-01-01; the year begins in March here, so that the leap day is its last. */
int64_t tarn_days_from_date(int64_t year, int month, int day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t of_era = y - era * 400;
    int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

struct tarn_date tarn_date_from_days(int64_t days)
{
    int64_t z = days + 719468;
    int64_t era = (z >= 0 ? z : z - 146096) / 146097;
    int64_t doe = z - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    int64_t mp = (5 * doy + 2) / 153;
    int month = (int)(mp < 10 ? mp + 3 : mp - 9);

    return (struct tarn_date){ yoe + era * 400 + (month <= 2), month, (int)(doy - (153 * mp + 2) / 5 + 1) };
}

static char *put2(char *p, int value)
{
    p[0] = (char)('0' + value / 10);
    p[1] = (char)('0' + value % 10);
    return p + 2;
}

const char *tarn_time_format(int64_t ms, char out[TARN_TIME_TEXT])
{
    int64_t days = ms / TARN_DAY_MS, rest = ms % TARN_DAY_MS;

    if (rest < 0) {
        days--;
        rest += TARN_DAY_MS;
    }
    struct tarn_date d = tarn_date_from_days(days);
    int second = (int)(rest / TARN_SECOND_MS), millis = (int)(rest % TARN_SECOND_MS);
    char *p = out;

    if (d.year >= 0 && d.year <= 9999)
        p = put2(put2(p, (int)d.year / 100), (int)d.year % 100);
    else
        p += snprintf(p, 12, "%lld", (long long)d.year);
    *p++ = '-';
    p = put2(p, d.month);
    *p++ = '-';
    p = put2(p, d.day);
    *p++ = 'T';
    p = put2(p, second / 3600);
    *p++ = ':';
    p = put2(p, second / 60 % 60);
    *p++ = ':';
    p = put2(p, second % 60);
    if (millis) {
        *p++ = '.';
        *p++ = (char)('0' + millis / 100);
        p = put2(p, millis % 100);
    }
    *p++ = 'Z';
    *p = '\0';
    return out;
}

/* `count` digits at *p; -1 when there are fewer. */
static int digits(const char **p, int count)
{
    int value = 0;

    for (int i = 0; i < count; i++, (*p)++) {
        if (**p < '0' || **p > '9')
            return -1;
        value = value * 10 + (**p - '0');
    }
    return value;
}

static bool skip(const char **p, char c)
{
    if (**p != c)
        return false;
    (*p)++;
    return true;
}

static int days_in_month(int year, int month)
{
    static const int k_days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return month == 2 && leap ? 29 : k_days[month - 1];
}

static bool parse_date(const char **p, int64_t *days)
{
    int year = digits(p, 4);
    int month = year >= 0 && skip(p, '-') ? digits(p, 2) : -1;
    int day = month >= 0 && skip(p, '-') ? digits(p, 2) : -1;

    if (month < 1 || month > 12 || day < 1 || day > days_in_month(year, month))
        return false;
    *days = tarn_days_from_date(year, month, day);
    return true;
}

/* The fraction, if there is one, in ms. */
static bool parse_fraction(const char **p, int *ms)
{
    int count = 0, value = 0;

    *ms = 0;
    if (!skip(p, '.') && !skip(p, ','))
        return true;
    for (; **p >= '0' && **p <= '9'; (*p)++, count++)
        value = count < 3 ? value * 10 + (**p - '0') : value;
    for (int i = count; i < 3; i++)
        value *= 10;
    *ms = value;
    return count >= 1 && count <= 9;
}

/* `lax`: whole minutes may come without seconds, as Java writes them. */
static bool parse_clock(const char **p, bool lax, int64_t *ms, bool *leap)
{
    int fraction;
    int hour = digits(p, 2);
    int minute = hour >= 0 && skip(p, ':') ? digits(p, 2) : -1;
    int second = minute < 0 ? -1 : skip(p, ':') ? digits(p, 2) : lax ? 0 : -1;

    if (hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60 || !parse_fraction(p, &fraction))
        return false;
    *leap = second == 60;
    *ms = hour * TARN_HOUR_MS + minute * TARN_MINUTE_MS + (*leap ? 59 : second) * TARN_SECOND_MS + fraction;
    return true;
}

/* `lax`: +0200 and +02 too. */
static bool parse_zone(const char **p, bool lax, int64_t *offset_ms, bool *zoned)
{
    *offset_ms = 0;
    *zoned = **p != '\0';
    if (!*zoned || skip(p, 'Z') || skip(p, 'z'))
        return true;
    int sign = **p == '-' ? -1 : 1;
    if (!skip(p, '+') && !skip(p, '-'))
        return false;
    int hour = digits(p, 2);
    bool is_short = lax && hour >= 0 && **p == '\0';
    int minute = is_short ? 0 : hour >= 0 && (skip(p, ':') || lax) ? digits(p, 2) : -1;
    if (hour > 23 || minute < 0 || minute > 59)
        return false;
    *offset_ms = sign * (hour * TARN_HOUR_MS + minute * TARN_MINUTE_MS);
    return true;
}

static bool parse_instant(const char *text, bool lax, int64_t *ms, bool *zoned)
{
    const char *p = text;
    int64_t days, clock, offset;
    bool leap;

    if (!parse_date(&p, &days) || !(skip(&p, 'T') || skip(&p, 't') || skip(&p, ' ')))
        return false;
    if (!parse_clock(&p, lax, &clock, &leap) || !parse_zone(&p, lax, &offset, zoned) || *p != '\0')
        return false;
    *ms = days * TARN_DAY_MS + clock - offset;
    /* A leap second ends a UTC day and no other minute. */
    return !leap || (*ms >= 0 && *ms % TARN_DAY_MS >= TARN_DAY_MS - TARN_SECOND_MS);
}

tarn_code tarn_time_parse(const char *text, int64_t *ms, enum tarn_time_form *form, struct tarn_err *err)
{
    int64_t value;
    bool zoned;

    if (!parse_instant(text, false, &value, &zoned))
        return tarn_fail(err, TARN_INVALID, "'%.64s' is no RFC 3339 instant such as 2024-02-01T14:32:15Z", text);
    if (!zoned && !form)
        return tarn_fail(err, TARN_INVALID, "'%.64s' has no time zone", text);
    if (value < 0)
        return tarn_fail(err, TARN_INVALID, "'%.64s' lies before 1970", text);
    *ms = value;
    if (form)
        *form = zoned ? TARN_TIME_ZONED : TARN_TIME_NAIVE;
    return TARN_OK;
}

bool tarn_time_read(const char *text, int64_t *ms, enum tarn_time_form *form)
{
    bool is_number = text[0] != '\0' && text[strspn(text, "0123456789")] == '\0' && strlen(text) <= 19;
    int64_t value;
    bool zoned;

    if (is_number) {
        *form = TARN_TIME_EPOCH;
        return tarn_time_from_epoch((int64_t)strtoull(text, NULL, 10), ms, NULL) == TARN_OK;
    }
    if (!parse_instant(text, true, &value, &zoned) || value < 0)
        return false;
    *ms = value;
    *form = zoned ? TARN_TIME_ZONED : TARN_TIME_NAIVE;
    return true;
}

tarn_code tarn_time_from_epoch(int64_t number, int64_t *ms, struct tarn_err *err)
{
    static const int64_t k_per_second[] = { 1, 1000, 1000000, 1000000000 };
    const int64_t least = 946684800, most = 4102444800; /* 2000-01-01 to 2100-01-01, seconds */

    for (size_t i = 0; i < sizeof k_per_second / sizeof k_per_second[0]; i++) {
        int64_t unit = k_per_second[i];
        if (number < least * unit || number > most * unit)
            continue;
        *ms = unit == 1 ? number * 1000 : number / (unit / 1000);
        return TARN_OK;
    }
    return tarn_fail(err, TARN_INVALID, "%lld is no instant between 2000 and 2100", (long long)number);
}
