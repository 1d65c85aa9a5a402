/* life.c - see life.h. Instants come in any order and from several places, a thousand at a time are kept. */
#include "formats/life.h"
#include <stdlib.h>
#include <string.h>

void tarn_life_init(struct tarn_life *life)
{
    life->count = 0;
    life->was_cut = false;
    life->last_data = life->last_empty = life->last_commit = -1;
    life->idle_commits = 0;
    life->untaught_count = life->glimpse_count = 0;
}

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* From the newest back, so that the last run stays what it is. */
static void thin(struct tarn_life *life)
{
    size_t kept = life->count;

    for (size_t i = life->count; i-- > 0;)
        if (kept == life->count || life->at[kept] - life->at[i] >= TARN_LIFE_STEP_MS)
            life->at[--kept] = life->at[i];
    memmove(life->at, life->at + kept, (life->count - kept) * sizeof *life->at);
    life->count -= kept;
}

/* In order; the oldest go when there are too many. */
static void settle(struct tarn_life *life)
{
    if (life->count > 1)
        qsort(life->at, life->count, sizeof *life->at, by_time);
    thin(life);
    if (life->count <= TARN_LIFE_MAX)
        return;
    memmove(life->at, life->at + life->count - TARN_LIFE_MAX, TARN_LIFE_MAX * sizeof *life->at);
    life->count = TARN_LIFE_MAX;
    life->was_cut = true;
}

void tarn_life_add(struct tarn_life *life, int64_t at)
{
    if (at < 0)
        return;
    if (life->count == 2 * TARN_LIFE_MAX)
        settle(life);
    life->at[life->count++] = at;
}

void tarn_life_end(struct tarn_life *life, int64_t now_ms)
{
    size_t old = 0;

    settle(life);
    int64_t last = life->count > 0 ? life->at[life->count - 1] : now_ms;
    int64_t from = (last < now_ms ? last : now_ms) - TARN_LIFE_MS;
    while (old < life->count && life->at[old] < from)
        old++;
    memmove(life->at, life->at + old, (life->count - old) * sizeof *life->at);
    life->count -= old;
    life->was_cut &= old == 0;
}

int64_t tarn_life_last(const struct tarn_life *life)
{
    return life->last_data > life->last_empty ? life->last_data : life->last_empty;
}

int64_t tarn_life_instant(int64_t told, int64_t mtime_ms, int64_t now_ms)
{
    bool is_told = told >= 0 && told <= now_ms + TARN_SKEW_MS;
    bool is_sane = mtime_ms >= 0 && mtime_ms <= now_ms + TARN_SKEW_MS;

    return is_told || (told >= 0 && !is_sane) ? told : mtime_ms;
}
