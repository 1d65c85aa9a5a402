/* test_local_sees.c - looks that never wait: seen is only what is there, under a root, through no link, and a file. */
#include "storage/storage.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>
#include <unistd.h>

static struct tarn_storage *storage_of(const char *root)
{
    struct tarn_storage *storage = NULL;
    cr_assert(eq(int, tarn_storage_new(&root, 1, &storage, NULL), TARN_OK));
    return storage;
}

Test(sees, a_file_below_the_root_and_nothing_else)
{
    static const struct {
        const char *path;
        bool is_seen;
    } k_rows[] = {
        { "f", true },           { "a/b/f", true },  { "a/b", false }, { "none", false }, { "a/none/f", false }, { "f/x", false },
        { "link", false },       { "folder/f", false }, { "../f", false }, { "", false },
    };
    TARN_AUTO(mem) char *lake = strdup(tarn_path(tarn_tmp(), "lake"));
    const char *outside = tarn_tmp();
    tarn_write_text(tarn_path(lake, "f"), "x");
    tarn_write_text(tarn_path(lake, "a/b/f"), "x");
    tarn_write_text(tarn_path(lake, "../f"), "x");
    tarn_write_text(tarn_path(outside, "f"), "x");
    tarn_make_link(tarn_path(lake, "link"), tarn_path(lake, "f"));
    tarn_make_link(tarn_path(lake, "folder"), outside);
    TARN_AUTO(storage) struct tarn_storage *storage = storage_of(lake);
    if (!tarn_storage_sees(storage, tarn_path(lake, "f")))
        cr_skip_test("this kernel does not look without waiting");
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        const char *location = k_rows[i].path[0] ? tarn_path(lake, k_rows[i].path) : lake;
        bool is_seen = tarn_storage_sees(storage, location);
        cr_expect(eq(int, is_seen, k_rows[i].is_seen), "'%s'", k_rows[i].path);
    }
    cr_expect(not(tarn_storage_sees(storage, tarn_path(outside, "f"))));
    cr_expect(eq(int, unlink(tarn_path(lake, "f")), 0));
    cr_expect(not(tarn_storage_sees(storage, tarn_path(lake, "f"))));
}

Test(sees, nothing_without_a_root_and_on_no_store_that_has_to_be_asked)
{
    TARN_AUTO(storage) struct tarn_storage *none = NULL;
    cr_assert(eq(int, tarn_storage_new(NULL, 0, &none, NULL), TARN_OK));
    cr_expect(not(tarn_storage_sees(none, "/etc/passwd")));
    cr_expect(not(tarn_storage_sees(none, "s3://bucket/key")));
}
