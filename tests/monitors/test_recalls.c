/* What scans leave for the next ones: who gets it, what stays within the bound. */
#include "monitors/recalls.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

static struct tarn_recalls *open_for(int64_t bytes)
{
    struct tarn_recalls *recalls = NULL;

    cr_assert(eq(int, tarn_recalls_new(bytes, &recalls, NULL), TARN_OK));
    return recalls;
}

/* A recall of `folders` folders with 100 files each. */
static struct tarn_recall *of_folders(int folders)
{
    struct tarn_recall *recall = calloc(1, sizeof *recall);
    char path[32];

    for (int i = 0; i < folders; i++) {
        snprintf(path, sizeof path, "d=%d", i);
        struct tarn_folder *folder = tarn_folders_put(&recall->folders, path, strlen(path));
        cr_assert(folder != NULL);
        folder->lying.count = 100;
    }
    recall->walked_at_ms = 7;
    return recall;
}

static int64_t files_of(struct tarn_recalls *recalls, int64_t id, const char *place)
{
    struct tarn_recall *recall = tarn_recalls_take(recalls, id, place);
    int64_t files = tarn_recall_files(recall);

    tarn_recalls_give(recalls, id, place, recall);
    return files;
}

Test(recalls, a_table_gets_back_what_its_own_last_scan_left)
{
    struct tarn_recalls *recalls = open_for(1 << 20);

    tarn_recalls_give(recalls, 1, "here", of_folders(20));
    tarn_recalls_give(recalls, 2, "here", of_folders(30));
    cr_expect(eq(i64, files_of(recalls, 1, "here"), 2000));
    cr_expect(eq(i64, files_of(recalls, 2, "here"), 3000));
    cr_expect(eq(i64, files_of(recalls, 3, "here"), 0), "nothing is known of it");
    cr_expect(eq(i64, files_of(recalls, 1, "elsewhere"), 0), "it moved: what was known holds no more");
    cr_expect(eq(i64, files_of(recalls, 1, "here"), 0));
    tarn_recalls_free(recalls);
}

Test(recalls, of_two_scans_at_once_one_begins_anew)
{
    struct tarn_recalls *recalls = open_for(1 << 20);

    tarn_recalls_give(recalls, 1, "here", of_folders(20));
    struct tarn_recall *first = tarn_recalls_take(recalls, 1, "here"), *second = tarn_recalls_take(recalls, 1, "here");
    cr_expect(eq(i64, tarn_recall_files(first), 2000));
    cr_expect(eq(i64, tarn_recall_files(second), 0));
    tarn_recalls_give(recalls, 1, "here", first);
    tarn_recalls_give(recalls, 1, "here", second); /* small: what the other one left stays */
    tarn_recalls_free(recalls);
}

Test(recalls, the_longest_unused_goes_when_it_is_too_much)
{
    struct tarn_recall *one = of_folders(50);
    struct tarn_recalls *recalls = open_for((int64_t)tarn_recall_bytes(one) * 5 / 2);

    tarn_recalls_give(recalls, 1, "", one);
    tarn_recalls_give(recalls, 2, "", of_folders(50));
    cr_expect(eq(i64, files_of(recalls, 1, ""), 5000)); /* used */
    tarn_recalls_give(recalls, 3, "", of_folders(50));
    cr_expect(eq(i64, files_of(recalls, 2, ""), 0));
    cr_expect(eq(i64, files_of(recalls, 1, ""), 5000));
    cr_expect(eq(i64, files_of(recalls, 3, ""), 5000));
    tarn_recalls_give(recalls, 4, "", of_folders(5000)); /* more than all together may have */
    cr_expect(eq(i64, files_of(recalls, 4, ""), 0));
    tarn_recalls_free(recalls);
}

Test(recalls, small_tables_are_not_kept)
{
    struct tarn_recalls *recalls = open_for(1 << 20);

    tarn_recalls_give(recalls, 1, "", of_folders(TARN_SMALL_FILES / 100));
    cr_expect(eq(i64, files_of(recalls, 1, ""), 0));
    tarn_recalls_give(recalls, 1, "", of_folders(TARN_SMALL_FILES / 100 + 1));
    cr_expect(eq(i64, files_of(recalls, 1, ""), TARN_SMALL_FILES + 100));
    tarn_recalls_free(recalls);
}
