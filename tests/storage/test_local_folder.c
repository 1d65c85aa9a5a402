/* test_local_folder.c - one folder of the local disk, read to its end or not at all. */
#include "storage/storage.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

struct seen {
    struct tarn_folder_state state;
    bool refuses;
    size_t files, folders, links;
    const char *removes; /* this folder goes while it is read */
};

static bool wants(void *ctx, const struct tarn_folder_state *state)
{
    struct seen *seen = ctx;

    seen->state = *state;
    return !seen->refuses;
}

static tarn_code note(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    struct seen *seen = ctx;

    (void)err;
    *(object->is_folder ? &seen->folders : object->is_symlink ? &seen->links : &seen->files) += 1;
    if (seen->removes)
        tarn_remove_tree(seen->removes);
    return TARN_OK;
}

static struct tarn_place *open_folder(const char *folder)
{
    struct tarn_place *place = NULL;

    cr_assert(eq(int, tarn_place_open_local(folder, &place, NULL), TARN_OK));
    return place;
}

static void fill(const char *folder)
{
    tarn_write_text(tarn_path(folder, "d=1/a.parquet"), "12345");
    tarn_write_text(tarn_path(folder, "d=1/b.parquet"), "123");
    tarn_write_text(tarn_path(folder, "d=1/h=2/c.parquet"), "1");
    tarn_make_link(tarn_path(folder, "d=1/linked"), "nowhere");
    tarn_make_link(tarn_path(folder, "link"), "d=1");
}

Test(local_folder, gives_one_level)
{
    const char *folder = tarn_tmp();
    fill(folder);
    TARN_AUTO(place) struct tarn_place *place = open_folder(folder);
    struct seen seen = { 0 };
    cr_assert(eq(int, tarn_place_folder(place, "d=1", wants, note, &seen, NULL), TARN_OK));
    cr_expect(eq(sz, seen.files, 2));
    cr_expect(eq(sz, seen.folders, 1));
    cr_expect(eq(sz, seen.links, 1));
    seen = (struct seen){ .refuses = true };
    cr_assert(eq(int, tarn_place_folder(place, "", wants, note, &seen, NULL), TARN_OK));
    cr_expect(eq(sz, seen.folders, 0), "not wanted, not read");
    cr_expect(ne(u64, seen.state.id, 0));
}

Test(local_folder, what_is_no_folder_or_a_link_is_not_found)
{
    static const char *const k_none[] = { "missing", "d=1/a.parquet", "link", "link/h=2" };
    const char *folder = tarn_tmp();
    fill(folder);
    TARN_AUTO(place) struct tarn_place *place = open_folder(folder);
    for (size_t i = 0; i < TARN_COUNT(k_none); i++) {
        struct seen seen = { 0 };
        cr_expect(eq(int, tarn_place_folder(place, k_none[i], wants, note, &seen, NULL), TARN_NOT_FOUND), "%s",
                  k_none[i]);
    }
}

Test(local_folder, its_state_moves_with_each_name_and_with_nothing_else)
{
    const char *folder = tarn_tmp();
    fill(folder);
    TARN_AUTO(place) struct tarn_place *place = open_folder(folder);
    struct seen before = { .refuses = true }, after = before;
    const struct { const char *what; bool moves; } k_steps[] = {
        { "nothing", false }, { "a file grows", false },   { "a name comes", true },
        { "a name goes", true }, { "a name below", false }, { "a time set by hand", true },
    };

    for (size_t i = 0; i < TARN_COUNT(k_steps); i++) {
        cr_assert(eq(int, tarn_place_folder(place, "d=1", wants, note, &before, NULL), TARN_OK));
        usleep(10000); /* a kernel may keep times by the tick */
        switch (i) {
        case 1: tarn_write_text(tarn_path(folder, "d=1/a.parquet"), "123456"); break;
        case 2: tarn_write_text(tarn_path(folder, "d=1/new.parquet"), "1"); break;
        case 3: cr_assert(eq(int, unlink(tarn_path(folder, "d=1/new.parquet")), 0)); break;
        case 4: tarn_write_text(tarn_path(folder, "d=1/h=2/new.parquet"), "1"); break;
        case 5: tarn_set_mtime(tarn_path(folder, "d=1"), 1000); break;
        default: break;
        }
        cr_assert(eq(int, tarn_place_folder(place, "d=1", wants, note, &after, NULL), TARN_OK));
        cr_expect(eq(int, before.state.changed_ns != after.state.changed_ns, k_steps[i].moves), "%s", k_steps[i].what);
        cr_expect(eq(u64, before.state.id, after.state.id), "%s", k_steps[i].what);
    }
}

Test(local_folder, one_that_goes_while_it_is_read_is_not_found)
{
    const char *folder = tarn_tmp();
    fill(folder);
    TARN_AUTO(place) struct tarn_place *place = open_folder(folder);
    struct seen seen = { .removes = tarn_path(folder, "d=1") };
    cr_expect(eq(int, tarn_place_folder(place, "d=1", wants, note, &seen, NULL), TARN_NOT_FOUND));
}

Test(local_folder, one_that_cannot_be_read_is_a_fault_that_names_it)
{
    const char *folder = tarn_tmp();
    fill(folder);
    TARN_AUTO(place) struct tarn_place *place = open_folder(folder);
    struct seen seen = { 0 };
    TARN_ERR(err);
    struct rlimit many, none;
    cr_assert(eq(int, getrlimit(RLIMIT_NOFILE, &many), 0));
    none = many;
    none.rlim_cur = (rlim_t)dup(0);
    cr_assert(eq(int, setrlimit(RLIMIT_NOFILE, &none), 0));
    tarn_code code = tarn_place_folder(place, "d=1", wants, note, &seen, &err);
    cr_assert(eq(int, setrlimit(RLIMIT_NOFILE, &many), 0));
    cr_expect(eq(int, code, TARN_STORAGE_UNAVAILABLE));
    cr_expect(strstr(err.detail, "d=1") != NULL, "%s", err.detail);
}
