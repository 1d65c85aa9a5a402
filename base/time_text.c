/* time_text.c - durations and sizes as people write and read them: "1h2m3s", "2.1 TB". */
#include "base/time.h"
#include <stdio.h>
#include <string.h>

static const struct duration_unit { const char *name; int64_t ms; } k_units[] = {
    { "y", 365 * TARN_DAY_MS }, { "w", 7 * TARN_DAY_MS }, { "d", TARN_DAY_MS }, { "h", TARN_HOUR_MS },
    { "m", TARN_MINUTE_MS },    { "s", TARN_SECOND_MS },  { "ms", 1 },
};
#define UNIT_COUNT (sizeof k_units / sizeof k_units[0])
#define UNIT_SECOND 5

/* Digits at *p; false when there are none or too many for int64. */
static bool take_number(const char **p, int64_t *out)
{
    const char *start = *p;
    int64_t value = 0;

    for (; **p >= '0' && **p <= '9'; (*p)++) {
        int digit = **p - '0';
        if (value > (INT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *out = value;
    return *p != start;
}

/* The unit at *p, which ends at a digit or the end of the text; UNIT_COUNT when there is none. */
static size_t take_unit(const char **p)
{
    size_t len = strcspn(*p, "0123456789");

    for (size_t i = 0; i < UNIT_COUNT; i++) {
        if (strlen(k_units[i].name) != len || memcmp(k_units[i].name, *p, len) != 0)
            continue;
        *p += len;
        return i;
    }
    return UNIT_COUNT;
}

/* From the first instant that a text can name to the last: whatever is added to a clock stays a time. */
#define LONGEST_MS (INT64_C(3652425) * TARN_DAY_MS)

static bool parse_duration(const char *p, int64_t *ms)
{
    int64_t total = 0, number;
    size_t next = 0; /* first unit that may still come */

    do {
        if (!take_number(&p, &number))
            return false;
        bool bare = *p == '\0' && next == 0;
        size_t unit = bare ? UNIT_SECOND : take_unit(&p);
        if (unit < next || unit >= UNIT_COUNT || number > (LONGEST_MS - total) / k_units[unit].ms)
            return false;
        total += number * k_units[unit].ms;
        next = unit + 1;
    } while (*p != '\0');
    *ms = total;
    return true;
}

tarn_code tarn_duration_parse(const char *text, int64_t *ms, struct tarn_err *err)
{
    if (parse_duration(text, ms))
        return TARN_OK;
    return tarn_fail(err, TARN_INVALID, "'%.64s' is no duration such as 90s, 15m or 1h30m", text);
}

const char *tarn_duration_format(int64_t ms, char out[TARN_TIME_TEXT])
{
    static const struct duration_unit k_shown[] = {
        { "d", TARN_DAY_MS }, { "h", TARN_HOUR_MS }, { "m", TARN_MINUTE_MS }, { "s", TARN_SECOND_MS }
    };
    size_t len = 0;

    out[0] = '\0';
    for (size_t i = 0; i < sizeof k_shown / sizeof k_shown[0] && ms > 0; i++) {
        int64_t count = ms / k_shown[i].ms;
        ms %= k_shown[i].ms;
        if (count)
            len += (size_t)snprintf(out + len, TARN_TIME_TEXT - len, "%lld%s", (long long)count,
                                    k_shown[i].name);
    }
    if (len == 0)
        snprintf(out, TARN_TIME_TEXT, "0s");
    return out;
}

const char *tarn_size_format(int64_t bytes, char out[TARN_TIME_TEXT])
{
    static const char *const k_names[] = { "kB", "MB", "GB", "TB", "PB", "EB" };
    const char *sign = bytes < 0 ? "-" : "";
    uint64_t size = bytes < 0 ? -(uint64_t)bytes : (uint64_t)bytes, unit = 1000, tenths = 0;
    size_t i = 0;

    if (size < 1000) {
        snprintf(out, TARN_TIME_TEXT, "%s%llu B", sign, (unsigned long long)size);
        return out;
    }
    /* Rounding may reach the next unit: 999,950 bytes are 1.0 MB, not 1000.0 kB. */
    for (;; i++, unit *= 1000) {
        tenths = size / unit * 10 + (size % unit * 10 + unit / 2) / unit;
        if (tenths < 10000 || i + 1 == sizeof k_names / sizeof k_names[0])
            break;
    }
    snprintf(out, TARN_TIME_TEXT, "%s%llu.%llu %s", sign, (unsigned long long)(tenths / 10),
             (unsigned long long)(tenths % 10), k_names[i]);
    return out;
}
