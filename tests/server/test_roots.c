/* The storage roots of the configuration: what is refused before anything is served. */
#include "server/roots.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <unistd.h>

/* A folder with data/, lake/in/ and links to them. */
static const char *place(void)
{
    const char *top = tarn_tmp();
    static const char *const k_folders[] = { "data", "lake", "lake/in" };
    static const char *const k_links[][2] = {
        { "data", "to_data" }, { "lake", "to_lake" }, { "lake/in", "to_in" }, { ".", "to_top" }
    };
    for (size_t i = 0; i < TARN_COUNT(k_folders); i++)
        tarn_make_folder(tarn_path(top, k_folders[i]));
    for (size_t i = 0; i < TARN_COUNT(k_links); i++)
        cr_assert(eq(int, symlink(k_links[i][0], tarn_path(top, k_links[i][1])), 0));
    return top;
}

Test(roots, none_that_the_data_folder_or_another_one_can_be_reached_by)
{
    static const struct {
        const char *one, *other;
        tarn_code code;
    } k_rows[] = {
        { "lake", NULL, TARN_OK },
        { "to_lake", NULL, TARN_OK },
        { "missing/one", NULL, TARN_OK },
        { "data/lake", NULL, TARN_OK },
        { "data", NULL, TARN_INVALID },
        { "data/x", NULL, TARN_INVALID },
        { "to_data", NULL, TARN_INVALID },
        { "to_data/missing", NULL, TARN_INVALID },
        { "to_top", NULL, TARN_INVALID },
        { "lake", "lake/in", TARN_OK },
        { "lake/in", "lake", TARN_OK },
        { "lake", "other", TARN_OK },
        { "lake", "to_lake", TARN_INVALID },
        { "to_lake", "lake", TARN_INVALID },
        { "lake", "to_in", TARN_INVALID },
        { "to_in", "to_lake", TARN_INVALID },
        { "lake/missing", "to_lake/missing", TARN_INVALID },
        { "lake/missing", "to_lake/other", TARN_OK },
    };
    const char *top = place();
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        TARN_ERR(err);
        const char *one = tarn_path(top, k_rows[i].one), *other = k_rows[i].other ? tarn_path(top, k_rows[i].other) : NULL;
        struct tarn_config config = { .data = (char *)tarn_path(top, "data"),
                                      .roots = (char *[]){ (char *)one, (char *)other },
                                      .root_count = other ? 2 : 1 };
        cr_expect(eq(int, (int)tarn_roots_prepare(&config, &err), (int)k_rows[i].code), "%s %s: %s", k_rows[i].one,
                  k_rows[i].other ? k_rows[i].other : "", err.detail);
    }
}
