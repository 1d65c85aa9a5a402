/* time.h - instants and durations. An instant is int64_t UTC milliseconds since
 * 1970; -1 stands for "none" where a header says so. */
#ifndef TARN_BASE_TIME_H
#define TARN_BASE_TIME_H
#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TARN_SECOND_MS INT64_C(1000)
#define TARN_MINUTE_MS (60 * TARN_SECOND_MS)
#define TARN_HOUR_MS (60 * TARN_MINUTE_MS)
#define TARN_DAY_MS (24 * TARN_HOUR_MS)
#define TARN_TIME_TEXT 32 /* bytes that hold any text of this header, NUL included */

/* From one instant up to another. */
struct tarn_span { int64_t from, to; };

int64_t tarn_now_ms(void);       /* wall clock */
int64_t tarn_monotonic_ms(void); /* never goes back */
int64_t tarn_monotonic_us(void); /* microseconds */

/* "2024-02-01T14:32:15Z", with ".250" when there are milliseconds. */
const char *tarn_time_format(int64_t ms, char out[TARN_TIME_TEXT]);

/* The calendar: proleptic Gregorian, days since 1970-01-01, months and days from 1. */
struct tarn_date { int64_t year; int month, day; };
int64_t tarn_days_from_date(int64_t year, int month, int day);
struct tarn_date tarn_date_from_days(int64_t days);

/* How an instant was written: facts for monitors. */
enum tarn_time_form { TARN_TIME_ZONED, TARN_TIME_NAIVE, TARN_TIME_EPOCH };

/* RFC 3339 with any offset, a space for T, 1 to 9 digits of fraction (cut to ms),
 * or without a zone (UTC assumed, *form says TARN_TIME_NAIVE; form may be NULL: then
 * a naive text is refused). Leap second :60 counts as :59. TARN_INVALID otherwise. */
TARN_MUST tarn_code tarn_time_parse(const char *text, int64_t *ms, enum tarn_time_form *form,
                                    struct tarn_err *err);
/* The same of a document that somebody else wrote, in the forms that writers have besides: offsets +0200 and +02, no seconds, the
 * digits of an epoch. False: no instant. */
bool tarn_time_read(const char *text, int64_t *ms, enum tarn_time_form *form);
/* A number of seconds, ms, us or ns since 1970, told apart by magnitude, taken only when the
 * instant lies in 2000 to 2100; TARN_INVALID otherwise. */
TARN_MUST tarn_code tarn_time_from_epoch(int64_t number, int64_t *ms, struct tarn_err *err);

/* Durations in Prometheus grammar: "1h2m3s", "1m", "90s", "250ms", "7d", units in
 * descending order, each once, no fractions, at most 10,000 years; a bare number is seconds. */
TARN_MUST tarn_code tarn_duration_parse(const char *text, int64_t *ms, struct tarn_err *err);
/* All non-zero units from the largest, d h m s: "1h2m3s", "0s"; below a second truncated; a
 * negative one is clamped to "0s". */
const char *tarn_duration_format(int64_t ms, char out[TARN_TIME_TEXT]);

/* SI, one decimal: "512 B", "1.5 kB", "2.1 TB". */
const char *tarn_size_format(int64_t bytes, char out[TARN_TIME_TEXT]);
#endif
