/* zone_rule.h - the rule at the end of a zone's file, in the words
 * of POSIX TZ: "CET-1CEST,M3.5.0,M10.5.0/3". Only zone.c asks. */
#ifndef TARN_BASE_ZONE_RULE_H
#define TARN_BASE_ZONE_RULE_H
#include <stdbool.h>
#include <stdint.h>

/* When in a year the clock is moved. */
struct tarn_zone_turn {
    char kind;              /* 'M': month, week, day; 'J': day 1 to 365, 29 February never counts; 'D': day 0 to 365 */
    int month, week, day;
    int32_t at_s;           /* on the wall clock before the turn; may lie outside of the day */
};
struct tarn_zone_rule {
    bool has_summer;
    int32_t winter_s, summer_s; /* east of UTC */
    struct tarn_zone_turn to_summer, to_winter;
};
bool tarn_zone_rule_parse(const char *text, struct tarn_zone_rule *out);
int32_t tarn_zone_rule_offset(const struct tarn_zone_rule *rule, int64_t at_s);
#endif
