/* picks.c - a bounded heap of the newest files: a scan reads so many footers and no more, whatever the table holds. */
#include "formats/footers.h"
#include <string.h>

void tarn_picks_done(struct tarn_picks *picks)
{
    for (size_t i = 0; i < picks->count; i++)
        free(picks->heap[i].path);
    free(picks->heap);
    *picks = (struct tarn_picks){ .max = picks->max };
}

static void swap(struct tarn_pick *a, struct tarn_pick *b)
{
    struct tarn_pick keep = *a;
    *a = *b;
    *b = keep;
}

static void sink(struct tarn_picks *picks)
{
    size_t at = 0;

    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < picks->count; child++)
            if (picks->heap[child].mtime_ms < picks->heap[least].mtime_ms)
                least = child;
        if (least == at)
            return;
        swap(&picks->heap[at], &picks->heap[least]);
        at = least;
    }
}

static void rise(struct tarn_picks *picks)
{
    size_t at = picks->count - 1;

    while (at > 0 && picks->heap[at].mtime_ms < picks->heap[(at - 1) / 2].mtime_ms) {
        swap(&picks->heap[at], &picks->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
}

tarn_code tarn_picks_offer(struct tarn_picks *picks, const char *path, int64_t size, int64_t mtime_ms,
                           unsigned behind, struct tarn_err *err)
{
    bool is_full = picks->count == picks->max;

    picks->offered++;
    if (is_full && (picks->max == 0 || mtime_ms <= picks->heap[0].mtime_ms))
        return TARN_OK;
    if (!picks->heap)
        picks->heap = calloc(picks->max, sizeof *picks->heap);
    struct tarn_pick pick = { .path = strdup(path), .size = size, .mtime_ms = mtime_ms, .behind = behind };
    if (!picks->heap || !pick.path) {
        free(pick.path);
        return tarn_fail_oom(err);
    }
    if (is_full) {
        free(picks->heap[0].path);
        picks->heap[0] = pick;
        sink(picks);
        return TARN_OK;
    }
    picks->heap[picks->count++] = pick;
    rise(picks);
    return TARN_OK;
}
