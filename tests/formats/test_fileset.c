/* The set of paths, and the newest of many files. */
#include "formats/fileset.h"
#include "formats/footers.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>

Test(fileset, a_path_is_found_with_its_size_and_flags)
{
    TARN_AUTO_DONE(fileset) struct tarn_fileset set = { 0 };
    char path[32];

    for (unsigned i = 0; i < 20000; i++) {
        snprintf(path, sizeof path, "d/%u.parquet", i);
        struct tarn_fileset_entry *entry = tarn_fileset_put(&set, path);
        cr_assert(entry != NULL);
        entry->size = i;
        entry->flags = i % 2 ? TARN_FILE_LISTED : TARN_FILE_SEEN;
    }
    cr_expect(eq(sz, set.count, 20000));
    for (unsigned i = 0; i < 20000; i += 7) {
        snprintf(path, sizeof path, "d/%u.parquet", i);
        const struct tarn_fileset_entry *entry = tarn_fileset_find(&set, path);
        cr_assert(entry != NULL);
        cr_expect(eq(u64, entry->size, i));
    }
    cr_expect(tarn_fileset_find(&set, "d/20000.parquet") == NULL);
    cr_expect(eq(sz, tarn_fileset_count(&set, TARN_FILE_LISTED, TARN_FILE_SEEN), 10000));
    tarn_fileset_unflag(&set, TARN_FILE_LISTED);
    cr_expect(eq(sz, tarn_fileset_count(&set, TARN_FILE_LISTED, 0), 0));
    tarn_fileset_clear(&set);
    cr_expect(tarn_fileset_find(&set, "d/1.parquet") == NULL);
}

Test(fileset, a_million_files_take_less_than_sixty_bytes_each)
{
    cr_expect(eq(sz, sizeof(struct tarn_fileset_entry), 24));
    /* At worst just doubled at three quarters: 24 bytes in a table filled to 3/8. */
    cr_expect(le(sz, sizeof(struct tarn_fileset_entry) * 8 / 3, 64));
}

Test(fileset, a_size_keeps_every_bit)
{
    static const int64_t k_sizes[] = { 0, 1, 374, 375, (INT64_C(1) << 47) + 1 };
    for (size_t i = 0; i < TARN_COUNT(k_sizes); i++) {
        TARN_AUTO_DONE(fileset) struct tarn_fileset set = { 0 };
        struct tarn_fileset_entry *entry = tarn_fileset_put(&set, "a");
        entry->size = (uint64_t)k_sizes[i] & TARN_FILE_NO_SIZE;
        cr_expect(eq(i64, (int64_t)tarn_fileset_find(&set, "a")->size, k_sizes[i]));
    }
}

Test(picks, keep_the_newest_whatever_the_order)
{
    TARN_AUTO_DONE(picks) struct tarn_picks picks = { .max = 10 };
    char path[32];

    for (int64_t i = 0; i < 1000; i++) {
        int64_t mtime = (i * 7919) % 1000; /* every number below 1,000 once */
        snprintf(path, sizeof path, "%lld", (long long)mtime);
        cr_assert(eq(int, tarn_picks_offer(&picks, path, 1, mtime, 0, NULL), TARN_OK));
    }
    cr_expect(eq(sz, picks.count, 10));
    cr_expect(eq(i64, picks.offered, 1000));
    for (size_t i = 0; i < picks.count; i++)
        cr_expect(ge(i64, picks.heap[i].mtime_ms, 990));
}
