/* zone.h - time zones of the IANA database by name, for deadlines and
 * windows that people write as wall clock. The files are read here and never
 * through TZ and tzset, which belong to the whole process. Any thread. */
#ifndef TARN_BASE_ZONE_H
#define TARN_BASE_ZONE_H
#include "base/err.h"
#include "base/time.h"

#define TARN_ZONE_NAME_MAX 63

struct tarn_zone;
/* The zone "Europe/Berlin", read once and kept as long as the process lives. "UTC" and offsets
 * ("-08:00") are there without any database. TARN_INVALID: no such zone, or its file is none. */
TARN_MUST tarn_code tarn_zone_get(const char *name, const struct tarn_zone **out, struct tarn_err *err);

/* East of UTC, at that instant. NULL is UTC, here and below. */
int64_t tarn_zone_offset_ms(const struct tarn_zone *zone, int64_t utc_ms);

struct tarn_local {
    int64_t days;      /* of the date, since 1970-01-01 */
    int weekday;       /* 0 Monday ... 6 Sunday */
    int64_t of_day_ms; /* on the wall clock: 09:00 is nine hours, whatever the night did */
};
struct tarn_local tarn_zone_local(const struct tarn_zone *zone, int64_t utc_ms);

/* When a wall clock shows that. One that comes twice (the clock goes back) is the first or, with `later`,
 * the second; one that never comes (the clock goes forward) is as much later as the clock was moved. */
int64_t tarn_zone_instant(const struct tarn_zone *zone, int64_t days, int64_t of_day_ms, bool later);
#endif
