/* zone_rule.c - see zone_rule.h. */
#include "base/zone_rule.h"
#include "base/time.h"

enum { DAY_S = 86400, HOUR_S = 3600 };

static bool skip(const char **p, char c)
{
    if (**p != c)
        return false;
    (*p)++;
    return true;
}

/* Digits, at least one, up to `most`; -1 otherwise. */
static int number(const char **p, int most)
{
    int value = 0;

    if (**p < '0' || **p > '9')
        return -1;
    for (; **p >= '0' && **p <= '9'; (*p)++) {
        value = value * 10 + (**p - '0');
        if (value > most)
            return -1;
    }
    return value;
}

/* "CEST" or "<+03>". */
static bool parse_name(const char **p)
{
    const char *start = *p;

    if (skip(p, '<')) {
        while (**p && **p != '>')
            (*p)++;
        return skip(p, '>');
    }
    while ((**p >= 'A' && **p <= 'Z') || (**p >= 'a' && **p <= 'z'))
        (*p)++;
    return *p - start >= 3;
}

/* "[+-]hh[:mm[:ss]]" in seconds. */
static bool parse_clock(const char **p, int most_hours, int32_t *out)
{
    int sign = **p == '-' ? -1 : 1;

    if (**p == '-' || **p == '+')
        (*p)++;
    int hours = number(p, most_hours);
    int minutes = hours >= 0 && skip(p, ':') ? number(p, 59) : 0;
    int seconds = hours >= 0 && minutes >= 0 && skip(p, ':') ? number(p, 59) : 0;
    *out = sign * (hours * HOUR_S + minutes * 60 + seconds);
    return hours >= 0 && minutes >= 0 && seconds >= 0;
}

static bool parse_turn(const char **p, struct tarn_zone_turn *out)
{
    *out = (struct tarn_zone_turn){ .kind = 'D', .at_s = 2 * HOUR_S };
    if (skip(p, 'M')) {
        out->kind = 'M';
        out->month = number(p, 12);
        out->week = skip(p, '.') ? number(p, 5) : -1;
        out->day = skip(p, '.') ? number(p, 6) : -1;
        if (out->month < 1 || out->week < 1 || out->day < 0)
            return false;
    } else {
        out->kind = skip(p, 'J') ? 'J' : 'D';
        out->day = number(p, 365);
        if (out->day < (out->kind == 'J'))
            return false;
    }
    return !skip(p, '/') || parse_clock(p, 167, &out->at_s);
}

bool tarn_zone_rule_parse(const char *text, struct tarn_zone_rule *out)
{
    const char *p = text;
    int32_t west;

    *out = (struct tarn_zone_rule){ 0 };
    if (!parse_name(&p) || !parse_clock(&p, 24, &west))
        return false;
    out->winter_s = -west;
    if (*p == '\0')
        return true;
    if (!parse_name(&p))
        return false;
    west -= HOUR_S;
    if (*p != ',' && !parse_clock(&p, 24, &west))
        return false;
    out->has_summer = true;
    out->summer_s = -west;
    return skip(&p, ',') && parse_turn(&p, &out->to_summer) && skip(&p, ',') &&
           parse_turn(&p, &out->to_winter) && *p == '\0';
}

static bool is_leap(int64_t year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

/* The day since 1970 on which the clock is moved in that year. */
static int64_t day_of(const struct tarn_zone_turn *turn, int64_t year)
{
    if (turn->kind == 'J')
        return tarn_days_from_date(year, 1, 1) + turn->day - 1 + (is_leap(year) && turn->day >= 60);
    if (turn->kind == 'D')
        return tarn_days_from_date(year, 1, 1) + turn->day;
    int64_t first = tarn_days_from_date(year, turn->month, 1);
    int64_t next = turn->month == 12 ? tarn_days_from_date(year + 1, 1, 1)
                                     : tarn_days_from_date(year, turn->month + 1, 1);
    int64_t sunday_based = ((first + 4) % 7 + 7) % 7; /* of the first; 1970 began on a Thursday */
    int64_t day = first + (turn->day - sunday_based + 7) % 7 + 7 * (turn->week - 1);
    return day < next ? day : day - 7; /* the fifth is the last */
}

int32_t tarn_zone_rule_offset(const struct tarn_zone_rule *rule, int64_t at_s)
{
    if (!rule->has_summer)
        return rule->winter_s;
    int64_t wall = at_s + rule->winter_s, days = wall / DAY_S - (wall % DAY_S < 0);
    int64_t year = tarn_date_from_days(days).year;
    int64_t summer = day_of(&rule->to_summer, year) * DAY_S + rule->to_summer.at_s - rule->winter_s;
    int64_t winter = day_of(&rule->to_winter, year) * DAY_S + rule->to_winter.at_s - rule->summer_s;
    bool is_summer = summer < winter ? at_s >= summer && at_s < winter : at_s < winter || at_s >= summer;
    return is_summer ? rule->summer_s : rule->winter_s;
}
