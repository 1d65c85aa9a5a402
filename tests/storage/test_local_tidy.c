/* test_local_tidy.c - what is taken away, and what is not: an object by its name, leftovers by name and age.
 */
#include "storage/storage.h"
#include "base/time.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

static struct tarn_place *place_in(const char *folder)
{
    struct tarn_place *place = NULL;
    cr_assert(eq(int, tarn_place_open_local(folder, &place, NULL), TARN_OK));
    return place;
}

Test(tidy, an_object_goes_and_one_that_is_not_there_is_fine)
{
    static const char *const k_bad[] = { "", "/etc/passwd", "../x", "a/../../x" };
    const char *folder = tarn_tmp();
    TARN_AUTO(place) struct tarn_place *place = place_in(folder);
    tarn_write_text(tarn_path(folder, "f"), "x");
    tarn_write_text(tarn_path(folder, "a/b/f"), "x");
    tarn_write_text(tarn_path(folder, "a/b/g"), "x");
    for (int again = 0; again < 2; again++) {
        cr_expect(eq(int, tarn_place_remove(place, "f", NULL), TARN_OK));
        cr_expect(eq(int, tarn_place_remove(place, "a/b/f", NULL), TARN_OK));
        cr_expect(eq(int, tarn_place_remove(place, "none/f", NULL), TARN_OK));
    }
    cr_expect(not(tarn_file_exists(tarn_path(folder, "f"))));
    cr_expect(not(tarn_file_exists(tarn_path(folder, "a/b/f"))));
    cr_expect(tarn_file_exists(tarn_path(folder, "a/b/g")));
    for (size_t i = 0; i < TARN_COUNT(k_bad); i++)
        cr_expect(eq(int, tarn_place_remove(place, k_bad[i], NULL), TARN_INVALID), "'%s'", k_bad[i]);
    cr_expect(tarn_place_remove(place, "a", NULL) != TARN_OK); /* a folder is no object */
    cr_expect(tarn_file_exists(tarn_path(folder, "a/b/g")));
}

Test(tidy, whatever_lies_there_moves_to_a_name_that_is_free)
{
    const char *folder = tarn_tmp(), *outside = tarn_tmp();
    TARN_AUTO(place) struct tarn_place *place = place_in(folder);
    tarn_write_text(tarn_path(folder, "d/e/f"), "x");
    tarn_write_text(tarn_path(folder, "g"), "x");
    tarn_write_text(tarn_path(outside, "f"), "x");
    tarn_make_link(tarn_path(folder, "l"), tarn_path(outside, "f"));
    tarn_make_link(tarn_path(folder, "out"), outside);
    cr_expect(eq(int, tarn_place_move(place, "d/e", "aside/d/e", NULL), TARN_OK)); /* a folder, into one that is made */
    cr_expect(tarn_file_exists(tarn_path(folder, "aside/d/e/f")));
    cr_expect(eq(int, tarn_place_move(place, "l", "aside/l", NULL), TARN_OK)); /* the link itself */
    cr_expect(tarn_file_exists(tarn_path(outside, "f")));
    cr_expect(eq(int, tarn_place_move(place, "g", "aside/l", NULL), TARN_PRECONDITION_FAILED));
    cr_expect(eq(int, tarn_place_move(place, "none", "aside/none", NULL), TARN_NOT_FOUND));
    cr_expect(eq(int, tarn_place_move(place, "g", "../g", NULL), TARN_INVALID));
    cr_expect(tarn_place_move(place, "g", "out/g", NULL) != TARN_OK); /* not through a link */
    cr_expect(tarn_file_exists(tarn_path(folder, "g")));
}

Test(tidy, nothing_is_removed_through_a_symbolic_link)
{
    const char *folder = tarn_tmp(), *outside = tarn_tmp();
    TARN_AUTO(place) struct tarn_place *place = place_in(folder);
    tarn_write_text(tarn_path(outside, "f"), "x");
    tarn_write_text(tarn_path(outside, ".tarn-1-2-3.tmp"), "x");
    tarn_set_mtime(tarn_path(outside, ".tarn-1-2-3.tmp"), 1000);
    tarn_make_link(tarn_path(folder, "d"), outside);
    tarn_make_link(tarn_path(folder, "l"), tarn_path(outside, "f"));
    cr_expect(tarn_place_remove(place, "d/f", NULL) != TARN_OK);
    cr_expect(eq(int, tarn_place_remove(place, "l", NULL), TARN_OK)); /* the link itself */
    tarn_place_tidy(place, "d", 0);
    cr_expect(tarn_file_exists(tarn_path(outside, "f")));
    cr_expect(tarn_file_exists(tarn_path(outside, ".tarn-1-2-3.tmp")));
}

Test(tidy, only_old_files_with_a_writers_name_are_left_over)
{
    static const struct {
        const char *name;
        bool is_old, goes;
    } k_rows[] = {
        { ".tarn-17-a-0.tmp", true, true },
        { ".tarn-17-a-1.tmp", false, false },
        { "tarn-17-a-0.tmp", true, false },
        { ".tarn-17-a-0.json", true, false },
        { ".tmp", true, false },
        { "a.parquet", true, false },
        { "sub/.tarn-17-a-0.tmp", true, false },
        { ".tarn-folder.tmp/f", true, false },
    };
    const char *folder = tarn_tmp();
    TARN_AUTO(place) struct tarn_place *place = place_in(folder);
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        const char *path = tarn_path(folder, k_rows[i].name);
        tarn_write_text(path, "x");
        if (k_rows[i].is_old)
            tarn_set_mtime(path, tarn_now_ms() - 2 * TARN_HOUR_MS);
    }
    tarn_place_tidy(place, "", TARN_HOUR_MS);
    tarn_place_tidy(place, "missing", TARN_HOUR_MS);
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++)
        cr_expect(tarn_file_exists(tarn_path(folder, k_rows[i].name)) != k_rows[i].goes, "%s",
                  k_rows[i].name);
    tarn_place_tidy(place, "sub", TARN_HOUR_MS);
    cr_expect(not(tarn_file_exists(tarn_path(folder, "sub/.tarn-17-a-0.tmp"))));
}
