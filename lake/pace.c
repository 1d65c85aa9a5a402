/* pace.c - steps of a length in time, whatever the disk and the
 * rows are like: too long a step is followed by a shorter one. */
#include "lake/pace.h"
#include <time.h>

enum {
    ROWS_FIRST = 500,
    ROWS_MIN = 50,
    ROWS_MAX = 5000,
    STEP_US = 4000 /* what other commits may wait for a step */
};

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t tarn_pace_rows(struct tarn_pace *pace)
{
    if (pace->rows == 0)
        pace->rows = ROWS_FIRST;
    return pace->rows;
}

void tarn_pace_begin(struct tarn_pace *pace) { pace->began_us = now_us(); }

void tarn_pace_end(struct tarn_pace *pace, int64_t rows)
{
    pace->took_us = now_us() - pace->began_us;
    if (rows <= 0 || pace->took_us <= 0)
        return;
    /* Half way to what the last step tells: one that was slow by chance is not believed at once. */
    int64_t fit = rows * STEP_US / pace->took_us;
    fit = (pace->rows + fit) / 2;
    pace->rows = fit < ROWS_MIN ? ROWS_MIN : fit > ROWS_MAX ? ROWS_MAX : fit;
}

void tarn_pace_rest(const struct tarn_pace *pace)
{
    const struct timespec rest = { 0, pace->took_us < 100000 ? pace->took_us * 1000 : 100000000 };
    nanosleep(&rest, NULL);
}
