/* The newest of many files, whatever the order in which they are met; and how many are certain when some go. */
#include "formats/footers.h"
#include "formats/pathset.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

static void offer(struct tarn_picks *picks, int number, int64_t mtime_ms)
{
    char path[32];

    snprintf(path, sizeof path, "f%04d", number);
    cr_assert(eq(int, tarn_picks_offer(picks, path, 1, mtime_ms, 0, NULL), TARN_OK));
}

/* 1,000 files, ten of one time each: the newest ten are those of the highest time, then by path. */
static const char *picked(int stride)
{
    static char out[256];
    struct tarn_picks picks = { .max = 15 };
    size_t len = 0;

    for (int i = 0; i < 1000; i++) {
        int number = (i * stride) % 1000;
        offer(&picks, number, number / 10);
    }
    tarn_picks_sort(&picks);
    out[0] = '\0';
    for (size_t i = 0; i < picks.count; i++)
        len += (size_t)snprintf(out + len, sizeof out - len, "%s ", picks.heap[i].path);
    cr_expect(eq(i64, picks.offered, 1000));
    cr_expect(eq(str, picks.passed.path, "f0985"), "the newest that is not kept");
    tarn_picks_done(&picks);
    return out;
}

Test(picks, are_the_newest_and_the_same_in_any_order)
{
    static const int k_strides[] = { 1, 3, 7, 333, 999 };

    for (size_t i = 0; i < TARN_COUNT(k_strides); i++)
        cr_expect(eq(str, (char *)picked(k_strides[i]),
                     "f0990 f0991 f0992 f0993 f0994 f0995 f0996 f0997 f0998 f0999 f0980 f0981 f0982 f0983 f0984 "));
}

Test(picks, are_certain_as_far_as_nothing_newer_was_passed_over)
{
    struct tarn_picks picks = { .max = 4 };

    for (int i = 0; i < 4; i++)
        offer(&picks, i, 10 + i);
    cr_expect(eq(sz, tarn_picks_certain(&picks), 4));
    offer(&picks, 9, 5);
    cr_expect(eq(sz, tarn_picks_certain(&picks), 4));
    /* Two of them go, and one comes that is older than the one passed over. */
    struct tarn_picks left = { .max = 4, .passed = picks.passed };
    picks.passed = (struct tarn_pick){ 0 };
    for (int i = 0; i < 2; i++)
        cr_assert(eq(int, tarn_picks_take(&left, &picks.heap[i], NULL), TARN_OK));
    offer(&left, 8, 4);
    cr_expect(eq(sz, left.count, 3));
    cr_expect(eq(sz, tarn_picks_certain(&left), 2));
    tarn_picks_done(&picks);
    tarn_picks_done(&left);
}

Test(picks, none_are_kept_where_none_are_wanted)
{
    struct tarn_picks picks = { .max = 0 };

    offer(&picks, 1, 1);
    cr_expect(eq(sz, picks.count, 0));
    cr_expect(eq(i64, picks.offered, 1));
    tarn_picks_done(&picks);
}

Test(pathset, tells_what_was_met)
{
    struct tarn_pathset set = { 0 };
    char path[32];
    bool met = false;

    tarn_pathset_expect(&set, 100);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 20000; i++) {
            snprintf(path, sizeof path, "p%d", i);
            cr_assert(eq(int, tarn_pathset_add(&set, tarn_hash128(path, strlen(path)), &met, NULL), TARN_OK));
            cr_assert(eq(int, met, round == 1));
        }
    cr_expect(eq(sz, set.count, 20000));
    tarn_pathset_done(&set);
}
