/* picks.c - a bounded heap of the newest files: a scan reads so many footers and no more, whatever the table holds. Of two
 * files of one time the one whose path comes first counts as newer, so that the same files are picked in whatever order
 * they are met. */
#include "formats/footers.h"
#include "formats/footer_note.h"
#include <string.h>

static bool is_newer(const struct tarn_pick *a, const struct tarn_pick *b)
{
    return a->mtime_ms != b->mtime_ms ? a->mtime_ms > b->mtime_ms : strcmp(a->path, b->path) < 0;
}

static int newest_first(const void *a, const void *b) { return is_newer(a, b) ? -1 : is_newer(b, a); }

void tarn_pick_done(struct tarn_pick *pick)
{
    free(pick->path);
    tarn_footer_note_drop(pick->note);
    *pick = (struct tarn_pick){ 0 };
}

void tarn_picks_done(struct tarn_picks *picks)
{
    for (size_t i = 0; i < picks->count; i++)
        tarn_pick_done(&picks->heap[i]);
    free(picks->heap);
    tarn_pick_done(&picks->passed);
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
            if (is_newer(&picks->heap[least], &picks->heap[child]))
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

    while (at > 0 && is_newer(&picks->heap[(at - 1) / 2], &picks->heap[at])) {
        swap(&picks->heap[at], &picks->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
}

/* The newest of those that are not kept is known. Takes the path over. */
static void pass(struct tarn_picks *picks, struct tarn_pick *pick)
{
    if (!picks->passed.path || is_newer(pick, &picks->passed))
        swap(pick, &picks->passed);
    tarn_pick_done(pick);
}

bool tarn_picks_wants(const struct tarn_picks *picks, int64_t mtime_ms)
{
    return picks->count < picks->max || !picks->passed.path || mtime_ms >= picks->passed.mtime_ms;
}

tarn_code tarn_picks_take(struct tarn_picks *picks, struct tarn_pick *pick, struct tarn_err *err)
{
    struct tarn_pick own = *pick;

    *pick = (struct tarn_pick){ 0 };
    if (!picks->heap)
        picks->heap = calloc(picks->max ? picks->max : 1, sizeof *picks->heap);
    if (!picks->heap) {
        tarn_pick_done(&own);
        return tarn_fail_oom(err);
    }
    bool is_full = picks->count == picks->max;
    if (is_full && (picks->max == 0 || !is_newer(&own, &picks->heap[0]))) {
        pass(picks, &own);
        return TARN_OK;
    }
    if (is_full) {
        swap(&own, &picks->heap[0]);
        pass(picks, &own);
        sink(picks);
        return TARN_OK;
    }
    picks->heap[picks->count++] = own;
    rise(picks);
    return TARN_OK;
}

tarn_code tarn_picks_offer(struct tarn_picks *picks, const char *path, int64_t size, int64_t mtime_ms, unsigned behind,
                           struct tarn_err *err)
{
    picks->offered++;
    if (!tarn_picks_wants(picks, mtime_ms))
        return TARN_OK;
    struct tarn_pick pick = { .path = strdup(path), .size = size, .mtime_ms = mtime_ms, .behind = behind };
    return pick.path ? tarn_picks_take(picks, &pick, err) : tarn_fail_oom(err);
}

void tarn_picks_sort(struct tarn_picks *picks)
{
    if (picks->count > 1)
        qsort(picks->heap, picks->count, sizeof *picks->heap, newest_first);
}

size_t tarn_picks_certain(const struct tarn_picks *picks)
{
    size_t count = 0;

    for (size_t i = 0; i < picks->count; i++)
        count += !picks->passed.path || is_newer(&picks->heap[i], &picks->passed);
    return count;
}
