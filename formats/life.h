/* life.h - when data came to a table, and what else shows that somebody feeds it. */
#ifndef TARN_FORMATS_LIFE_H
#define TARN_FORMATS_LIFE_H
#include "base/time.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TARN_LIFE_MAX 500                        /* runs that are kept, the newest ones */
#define TARN_LIFE_MS (28 * INT64_C(86400000))    /* and how far back */
#define TARN_LIFE_STEP_MS INT64_C(30000)         /* what comes closer together is one run: a job of many commits */
#define TARN_SKEW_MS INT64_C(60000)              /* two clocks may differ so much */

#define TARN_SPANS_MAX 64
/* What was asked of a past that is not kept here: the first run after `from`. */
struct tarn_glimpse { int64_t from, next; };
#define TARN_GLIMPSES_MAX 9
struct tarn_life {
    int64_t at[2 * TARN_LIFE_MAX]; /* of runs: commits that changed data, and batches that found none; see tarn_life_end */
    size_t count;
    bool was_cut;         /* there were more of them */
    int64_t last_data;    /* the newest commit that changed data and was not undone, -1: none known */
    int64_t last_empty;   /* the newest batch without a row, -1: none */
    int64_t last_commit;  /* of any kind, -1: none known */
    int64_t idle_commits; /* since the newest that changed data */
    struct tarn_span untaught[TARN_SPANS_MAX]; /* times that say nothing of what is usual: incidents */
    size_t untaught_count;
    struct tarn_glimpse glimpses[TARN_GLIMPSES_MAX]; /* of a life that was cut */
    size_t glimpse_count;
};
void tarn_life_init(struct tarn_life *life);
void tarn_life_add(struct tarn_life *life, int64_t at);
/* Runs in order, oldest first: the newest TARN_LIFE_MAX of the TARN_LIFE_MS before the last one. */
void tarn_life_end(struct tarn_life *life, int64_t now_ms);
/* When data or an empty batch came last, -1: never. */
int64_t tarn_life_last(const struct tarn_life *life);
/* The instant of something that tells one and lies in a file: what it tells, unless that is none or in the future. */
int64_t tarn_life_instant(int64_t told, int64_t mtime_ms, int64_t now_ms);
#endif
