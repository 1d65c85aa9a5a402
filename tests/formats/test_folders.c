/* test_folders.c - folders told by sums: what makes two of them equal, and what is kept. */
#include "formats/folders.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

/* "name:size name:size ..."; "?" for a size that is not known. */
static struct tarn_tally tally_of(const char *text)
{
    struct tarn_tally tally = { 0 };
    char name[64], size[32];
    int used;

    while (sscanf(text, " %63[^:]:%31s%n", name, size, &used) == 2) {
        tarn_tally_add(&tally, tarn_hash128(name, strlen(name)), strcmp(size, "?") == 0 ? -1 : strtoll(size, NULL, 10));
        text += used;
    }
    return tally;
}

Test(folders, sums_fit_when_names_and_sizes_do)
{
    static const struct { const char *lying, *listed; bool fits; } k_cases[] = {
        { "", "", true },
        { "a:1 b:2", "b:2 a:1", true },
        { "a:1 b:2", "a:1", false },
        { "a:1", "a:1 b:2", false },
        { "a:1 b:2", "a:2 b:1", false }, /* sizes swapped */
        { "a:1 b:3", "a:2 b:2", false }, /* one sum of sizes */
        { "a:1", "a:1 a:1", false },     /* listed twice */
        { "a:1 b:1", "a:1 a:1", false },
        { "a:0", "a:1", false },
        { "a:0", "", false },
        { "a:1 b:2", "a:? b:?", true }, /* sizes are listed nowhere */
        { "a:1 b:2", "a:1 b:?", false }, /* only some are: look by name */
        { "a:1 b:2", "a:? c:?", false },
    };

    for (size_t i = 0; i < TARN_COUNT(k_cases); i++) {
        const struct tarn_tally lying = tally_of(k_cases[i].lying), listed = tally_of(k_cases[i].listed);
        cr_expect(eq(int, tarn_tally_fits(&lying, &listed), k_cases[i].fits), "%s against %s", k_cases[i].lying,
                  k_cases[i].listed);
    }
}

static struct tarn_folder *put(struct tarn_folders *folders, const char *path)
{
    struct tarn_folder *folder = tarn_folders_put(folders, path, strlen(path));

    cr_assert(folder != NULL);
    return folder;
}

Test(folders, each_path_has_one_folder_however_often_it_is_put)
{
    struct tarn_folders folders = { 0 };
    char path[64];

    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 5000; i++) {
            snprintf(path, sizeof path, "d=%d/h=%d", i / 10, i);
            put(&folders, path)->listed.count++;
        }
    cr_expect(eq(sz, folders.count, 5000));
    for (int i = 0; i < 5000; i++) {
        snprintf(path, sizeof path, "d=%d/h=%d/file", i / 10, i);
        struct tarn_folder *folder = tarn_folders_find(&folders, path, tarn_folder_len(path));
        cr_assert(folder != NULL);
        cr_assert(eq(i64, folder->listed.count, 2));
    }
    cr_expect(tarn_folders_find(&folders, "d=1", 3) == NULL);
    tarn_folders_done(&folders);
}

Test(folders, what_is_neither_there_nor_listed_is_forgotten)
{
    struct tarn_folders folders = { 0 };

    put(&folders, "")->flags = TARN_FOLDER_FOUND | TARN_FOLDER_LOOKED;
    put(&folders, "gone")->flags = TARN_FOLDER_UNREAD;
    put(&folders, "there")->flags = TARN_FOLDER_FOUND | TARN_FOLDER_READ | TARN_FOLDER_SETTLED | TARN_FOLDER_SUSPECT;
    put(&folders, "listed")->listed.count = 1;
    cr_assert(eq(int, tarn_folder_set_newest(&folders, put(&folders, "there"), 7, "a.parquet", NULL), TARN_OK));
    cr_assert(eq(int, tarn_folder_set_newest(&folders, put(&folders, "there"), 9, "b.parquet", NULL), TARN_OK));
    cr_assert(eq(int, tarn_folders_settle(&folders, NULL), TARN_OK));
    cr_expect(eq(sz, folders.count, 3));
    cr_expect(tarn_folders_find(&folders, "gone", 4) == NULL);
    struct tarn_folder *there = tarn_folders_find(&folders, "there", 5);
    cr_assert(there != NULL);
    cr_expect(eq(str, (char *)tarn_folder_path(&folders, there), "there"));
    cr_expect(eq(str, (char *)tarn_folder_newest(&folders, there), "b.parquet"));
    cr_expect(eq(uint, there->flags, TARN_FOLDER_FOUND | TARN_FOLDER_READ | TARN_FOLDER_SETTLED));
    put(&folders, "new");
    cr_expect(tarn_folders_find(&folders, "listed", 6) != NULL);
    cr_expect(tarn_folders_find(&folders, "", 0) != NULL);
    tarn_folders_done(&folders);
}
