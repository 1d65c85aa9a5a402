/* test_local.c - places on the local disk. What is expected comes from POSIX and from the files themselves,
 * which the tests write and read through stdio. */
#include "storage/storage.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

static struct tarn_place *place_in(const char *lake, const char *table)
{
    const char *roots[] = { lake };
    TARN_AUTO(storage) struct tarn_storage *storage = NULL;
    struct tarn_place *place = NULL;
    cr_assert(eq(int, tarn_storage_new(roots, 1, &storage, NULL), TARN_OK));
    cr_assert(eq(int, tarn_place_open(storage, tarn_path(lake, table), true, &place, NULL), TARN_OK));
    return place;
}

static tarn_code open_under(const char *root, const char *location, bool create, struct tarn_err *err)
{
    TARN_AUTO(storage) struct tarn_storage *storage = NULL;
    TARN_AUTO(place) struct tarn_place *place = NULL;
    cr_assert(eq(int, tarn_storage_new(&root, 1, &storage, NULL), TARN_OK));
    tarn_code code = tarn_place_open(storage, location, create, &place, err);
    bool opened = place != NULL;
    cr_assert(eq(int, code == TARN_OK, opened));
    return code;
}

/* --- roots and places --- */

Test(local, a_location_is_allowed_under_a_root_by_component)
{
    static const struct {
        const char *root, *location;
        tarn_code code;
    } k_rows[] = {
        { "/lake", "/lake", TARN_OK },
        { "/lake", "/lake/t", TARN_OK },
        { "/lake", "/lakes/t", TARN_LOCATION_NOT_ALLOWED },
        { "/lake", "/", TARN_LOCATION_NOT_ALLOWED },
        { "/", "/anything", TARN_OK },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        TARN_AUTO(storage) struct tarn_storage *storage = NULL;
        cr_assert(eq(int, tarn_storage_new(&k_rows[i].root, 1, &storage, NULL), TARN_OK));
        cr_expect(eq(int, tarn_storage_allows(storage, k_rows[i].location, NULL), k_rows[i].code), "%s in %s",
                  k_rows[i].location, k_rows[i].root);
    }
}

Test(local, a_missing_folder_is_made_only_when_asked)
{
    const char *lake = tarn_tmp();
    const char *root = tarn_path(lake, "not/yet"), *table = tarn_path(lake, "not/yet/a/b");
    cr_expect(eq(int, open_under(root, table, false, NULL), TARN_NOT_FOUND));
    cr_expect(not(tarn_file_exists(tarn_path(lake, "not"))));
    cr_expect(eq(int, open_under(root, table, true, NULL), TARN_OK));
    cr_expect(tarn_file_exists(tarn_path(lake, "not/yet/a/b")));
    cr_expect(eq(int, open_under(root, table, false, NULL), TARN_OK));
}

Test(local, a_place_behind_a_symbolic_link_is_refused_but_a_linked_root_is_fine)
{
    const char *lake = tarn_tmp();
    const char *outside = tarn_tmp();
    tarn_write_text(tarn_path(outside, "secret/x"), "x");
    tarn_make_link(tarn_path(lake, "root/t"), tarn_path(outside, "secret"));
    tarn_make_link(tarn_path(lake, "root/up"), "../..");
    tarn_make_link(tarn_path(lake, "alias"), "root");
    const char *root = tarn_path(lake, "root");
    cr_expect(eq(int, open_under(root, tarn_path(lake, "root/t"), true, NULL), TARN_LOCATION_NOT_ALLOWED));
    cr_expect(
        eq(int, open_under(root, tarn_path(lake, "root/t/deep"), true, NULL), TARN_LOCATION_NOT_ALLOWED));
    cr_expect(eq(int, open_under(root, tarn_path(lake, "root/up"), false, NULL), TARN_LOCATION_NOT_ALLOWED));
    cr_expect(not(tarn_file_exists(tarn_path(outside, "secret/deep"))));
    cr_expect(
        eq(int, open_under(tarn_path(lake, "alias"), tarn_path(lake, "alias/new"), true, NULL), TARN_OK));
    cr_expect(tarn_file_exists(tarn_path(lake, "root/new")));
}

Test(local, a_file_where_a_folder_should_be_is_unavailable)
{
    const char *lake = tarn_tmp();
    TARN_ERR(err);
    tarn_write_text(tarn_path(lake, "t"), "");
    cr_expect(eq(int, open_under(lake, tarn_path(lake, "t"), true, &err), TARN_STORAGE_UNAVAILABLE));
    cr_expect(strstr(err.detail, tarn_path(lake, "t")) != NULL);
}

/* --- paths --- */

Test(local, a_path_that_leaves_the_place_is_refused_everywhere)
{
    static const char *const k_paths[] = { "",          "/",    "/etc/passwd", "..",  "../x",
                                           "a/../../x", "a//b", "./a",         "a/.", "a/" };
    const char *lake = tarn_tmp();
    TARN_AUTO(place) struct tarn_place *place = place_in(lake, "t");
    for (size_t i = 0; i < TARN_COUNT(k_paths); i++) {
        struct tarn_object object = { 0 };
        TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };
        cr_expect(eq(int, tarn_place_stat(place, k_paths[i], &object, NULL), TARN_INVALID), "stat '%s'",
                  k_paths[i]);
        cr_expect(eq(int, tarn_place_read_all(place, k_paths[i], 10, &text, NULL, NULL), TARN_INVALID));
        cr_expect(
            eq(int, tarn_place_put(place, k_paths[i], "x", 1, TARN_PUT_REPLACE, NULL, NULL), TARN_INVALID));
    }
}

Test(local, a_symbolic_link_is_no_object)
{
    const char *lake = tarn_tmp();
    const char *outside = tarn_tmp();
    tarn_write_text(tarn_path(outside, "f"), "secret");
    TARN_AUTO(place) struct tarn_place *place = place_in(lake, "t");
    tarn_make_link(tarn_path(lake, "t/f"), tarn_path(outside, "f"));
    tarn_make_link(tarn_path(lake, "t/d"), outside);
    struct tarn_object object = { 0 };
    TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };
    static const char *const k_paths[] = { "f", "d", "d/f", "missing", "missing/f" };
    for (size_t i = 0; i < TARN_COUNT(k_paths); i++) {
        cr_expect(eq(int, tarn_place_stat(place, k_paths[i], &object, NULL), TARN_NOT_FOUND), "%s",
                  k_paths[i]);
        cr_expect(eq(int, tarn_place_read_all(place, k_paths[i], 100, &text, NULL, NULL), TARN_NOT_FOUND));
        cr_expect(eq(sz, text.len, 0));
    }
    cr_expect(eq(int, tarn_place_put(place, "d/g", "x", 1, TARN_PUT_CREATE, NULL, NULL),
                 TARN_LOCATION_NOT_ALLOWED));
    cr_expect(not(tarn_file_exists(tarn_path(outside, "g"))));
    /* Replacing a link replaces the link, not what it names. */
    cr_expect(eq(int, tarn_place_put(place, "f", "mine", 4, TARN_PUT_REPLACE, NULL, NULL), TARN_OK));
    __attribute__((cleanup(tarn_mem_freep))) char *kept = tarn_read_file(tarn_path(outside, "f"), NULL);
    cr_expect(eq(str, kept, "secret"));
}

Test(local, a_pipe_is_no_object_and_never_blocks)
{
    const char *lake = tarn_tmp();
    TARN_AUTO(place) struct tarn_place *place = place_in(lake, "t");
    cr_assert(eq(int, mkfifo(tarn_path(lake, "t/p"), 0600), 0));
    TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };
    cr_expect(eq(int, tarn_place_read_all(place, "p", 100, &text, NULL, NULL), TARN_NOT_FOUND));
}

/* --- reading --- */

Test(local, a_range_is_cut_at_the_end_of_the_file)
{
    static const struct {
        int64_t offset;
        size_t len;
        const char *text;
    } k_rows[] = {
        { 0, 10, "0123456789" }, { 3, 4, "3456" }, { 8, 4, "89" },
        { 10, 4, "" },           { 100, 4, "" },   { 0, 0, "" },
    };
    const char *lake = tarn_tmp();
    TARN_AUTO(place) struct tarn_place *place = place_in(lake, "t");
    tarn_write_text(tarn_path(lake, "t/f"), "0123456789");
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };
        cr_assert(
            eq(int, tarn_place_read(place, "f", k_rows[i].offset, k_rows[i].len, &text, NULL), TARN_OK));
        cr_expect(eq(str, text.data ? text.data : (char *)"", (char *)k_rows[i].text));
    }
}

Test(local, read_all_refuses_what_is_larger_than_allowed)
{
    const char *lake = tarn_tmp();
    TARN_AUTO(place) struct tarn_place *place = place_in(lake, "t");
    tarn_write_text(tarn_path(lake, "t/f"), "0123456789");
    TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };
    struct tarn_object object = { .path = "kept" };
    cr_expect(eq(int, tarn_place_read_all(place, "f", 9, &text, NULL, NULL), TARN_PAYLOAD_TOO_LARGE));
    cr_expect(eq(int, tarn_place_read_all(place, "f", 10, &text, &object, NULL), TARN_OK));
    cr_expect(eq(str, text.data, "0123456789"));
    cr_expect(eq(i64, object.size, 10));
    cr_expect(eq(str, (char *)object.path, "kept"));
}

Test(local, a_token_changes_with_content_of_the_same_size)
{
    const char *lake = tarn_tmp();
    TARN_AUTO(place) struct tarn_place *place = place_in(lake, "t");
    char first[TARN_TOKEN_TEXT], second[TARN_TOKEN_TEXT];
    struct tarn_object now = { 0 };
    cr_assert(eq(int, tarn_place_put(place, "f", "aaaa", 4, TARN_PUT_REPLACE, first, NULL), TARN_OK));
    cr_assert(eq(int, tarn_place_stat(place, "f", &now, NULL), TARN_OK));
    cr_expect(eq(str, now.token, first));
    cr_assert(eq(int, tarn_place_put(place, "f", "bbbb", 4, TARN_PUT_REPLACE, second, NULL), TARN_OK));
    cr_expect(ne(str, first, second));
    cr_assert(eq(int, tarn_place_stat(place, "f", &now, NULL), TARN_OK));
    cr_expect(eq(str, now.token, second));
    cr_expect(eq(i64, now.size, 4));
}

Test(local, times_are_those_of_the_file)
{
    const char *lake = tarn_tmp();
    TARN_AUTO(place) struct tarn_place *place = place_in(lake, "t");
    tarn_write_text(tarn_path(lake, "t/f"), "x");
    const struct timespec when[2] = { { 1706797935, 250999999 }, { 1706797935, 250999999 } };
    cr_assert(eq(int, utimensat(AT_FDCWD, tarn_path(lake, "t/f"), when, 0), 0));
    struct tarn_object object = { 0 };
    cr_assert(eq(int, tarn_place_stat(place, "f", &object, NULL), TARN_OK));
    cr_expect(eq(i64, object.mtime_ms, 1706797935250));
}

/* --- writing --- */

Test(local, create_never_overwrites)
{
    const char *lake = tarn_tmp();
    TARN_AUTO(place) struct tarn_place *place = place_in(lake, "t");
    cr_expect(eq(int, tarn_place_put(place, "a/b/f", "one", 3, TARN_PUT_CREATE, NULL, NULL), TARN_OK));
    cr_expect(eq(int, tarn_place_put(place, "a/b/f", "two", 3, TARN_PUT_CREATE, NULL, NULL),
                 TARN_PRECONDITION_FAILED));
    __attribute__((cleanup(tarn_mem_freep))) char *text = tarn_read_file(tarn_path(lake, "t/a/b/f"), NULL);
    cr_expect(eq(str, text, "one"));
    cr_expect(eq(sz, tarn_count_entries(tarn_path(lake, "t/a/b")), 1));
}

Test(local, a_writer_without_commit_leaves_nothing_behind)
{
    const char *lake = tarn_tmp();
    TARN_AUTO(place) struct tarn_place *place = place_in(lake, "t");
    struct tarn_writer *writer = NULL;
    cr_assert(eq(int, tarn_place_writer(place, "f", &writer, NULL), TARN_OK));
    cr_assert(eq(int, tarn_writer_add(writer, "half", 4, NULL), TARN_OK));
    cr_expect(eq(sz, tarn_count_entries(tarn_path(lake, "t")), 0));
    tarn_writer_free(writer);
    cr_expect(eq(sz, tarn_count_entries(tarn_path(lake, "t")), 0));
}

Test(local, a_committed_writer_takes_no_more)
{
    const char *lake = tarn_tmp();
    TARN_AUTO(place) struct tarn_place *place = place_in(lake, "t");
    TARN_AUTO(writer) struct tarn_writer *writer = NULL;
    cr_assert(eq(int, tarn_place_writer(place, "f", &writer, NULL), TARN_OK));
    cr_assert(eq(int, tarn_writer_commit(writer, TARN_PUT_REPLACE, NULL, NULL), TARN_OK));
    cr_expect(eq(int, tarn_writer_add(writer, "x", 1, NULL), TARN_STORAGE_UNAVAILABLE));
    cr_expect(eq(int, tarn_writer_commit(writer, TARN_PUT_REPLACE, NULL, NULL), TARN_STORAGE_UNAVAILABLE));
}

enum { DOC_BYTES = 64 * 1024, ROUNDS = 200 };

static void *replace_often(void *arg)
{
    struct tarn_place *place = arg;
    static char doc[2][DOC_BYTES];
    memset(doc[0], 'a', DOC_BYTES);
    memset(doc[1], 'b', DOC_BYTES);
    for (int i = 0; i < ROUNDS; i++)
        if (tarn_place_put(place, "doc", doc[i % 2], DOC_BYTES, TARN_PUT_REPLACE, NULL, NULL) != TARN_OK)
            return "put failed";
    return NULL;
}

Test(local, a_reader_sees_the_old_or_the_new_document_whole)
{
    const char *lake = tarn_tmp();
    TARN_AUTO(place) struct tarn_place *writes = place_in(lake, "t");
    TARN_AUTO(place) struct tarn_place *reads = place_in(lake, "t");
    tarn_write_text(tarn_path(lake, "t/doc"), "");
    pthread_t thread;
    cr_assert(eq(int, pthread_create(&thread, NULL, replace_often, writes), 0));
    for (int i = 0; i < ROUNDS; i++) {
        TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };
        cr_assert(eq(int, tarn_place_read_all(reads, "doc", DOC_BYTES, &text, NULL, NULL), TARN_OK));
        cr_assert(text.len == 0 || text.len == DOC_BYTES);
        for (size_t k = 1; k < text.len; k++)
            cr_assert(text.data[k] == text.data[0]);
    }
    void *fault = NULL;
    pthread_join(thread, &fault);
    cr_expect(fault == NULL, "%s", (char *)fault);
    cr_expect(eq(sz, tarn_count_entries(tarn_path(lake, "t")), 1));
}

struct race {
    struct tarn_place *place;
    atomic_int *winners;
};

static void *create_once(void *arg)
{
    struct race *race = arg;
    if (tarn_place_put(race->place, "log/1.json", "x", 1, TARN_PUT_CREATE, NULL, NULL) == TARN_OK)
        atomic_fetch_add(race->winners, 1);
    return NULL;
}

Test(local, of_many_who_create_one_wins)
{
    const char *lake = tarn_tmp();
    TARN_AUTO(place) struct tarn_place *place = place_in(lake, "t");
    atomic_int winners = 0;
    struct race race = { place, &winners };
    pthread_t threads[8];
    for (size_t i = 0; i < TARN_COUNT(threads); i++)
        cr_assert(eq(int, pthread_create(&threads[i], NULL, create_once, &race), 0));
    for (size_t i = 0; i < TARN_COUNT(threads); i++)
        pthread_join(threads[i], NULL);
    cr_expect(eq(int, winners, 1));
}

Test(local, a_full_disk_is_insufficient_storage_and_leaves_nothing)
{
    const char *lake = tarn_tmp();
    if (mount("none", lake, "tmpfs", 0, "size=256k") != 0)
        cr_skip_test("needs the right to mount a tmpfs");
    static char big[1024 * 1024];
    struct tarn_place *place = place_in(lake, "t");
    cr_expect(eq(int, tarn_place_put(place, "f", "small", 5, TARN_PUT_REPLACE, NULL, NULL), TARN_OK));
    cr_expect(eq(int, tarn_place_put(place, "f", big, sizeof big, TARN_PUT_REPLACE, NULL, NULL),
                 TARN_INSUFFICIENT_STORAGE));
    cr_expect(eq(sz, tarn_count_entries(tarn_path(lake, "t")), 1));
    __attribute__((cleanup(tarn_mem_freep))) char *text = tarn_read_file(tarn_path(lake, "t/f"), NULL);
    cr_expect(eq(str, text, "small"));
    cr_expect(eq(int, tarn_place_put(place, "f", "again", 5, TARN_PUT_REPLACE, NULL, NULL), TARN_OK));
    tarn_place_free(place);
    umount2(lake, MNT_DETACH);
}

Test(local, many_new_files_appear_and_those_that_exist_are_told)
{
    enum { MANY = 100 };
    const char *lake = tarn_tmp();
    TARN_AUTO(place) struct tarn_place *place = place_in(lake, "t");
    static char names[MANY][32];
    struct tarn_new_object objects[MANY];
    tarn_write_text(tarn_path(lake, "t/log/n7"), "old");
    for (size_t i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "n%zu", i);
        objects[i] = (struct tarn_new_object){ names[i], names[i], strlen(names[i]), true };
    }
    cr_assert(eq(int, tarn_place_create_all(place, "log", objects, MANY, NULL), TARN_OK));
    for (size_t i = 0; i < MANY; i++) {
        char path[64];
        snprintf(path, sizeof path, "t/log/n%zu", i);
        __attribute__((cleanup(tarn_mem_freep))) char *text = tarn_read_file(tarn_path(lake, path), NULL);
        cr_expect(eq(str, text, i == 7 ? (char *)"old" : names[i]));
        cr_expect(eq(int, objects[i].exists, i == 7));
    }
    cr_expect(eq(sz, tarn_count_entries(tarn_path(lake, "t/log")), MANY));
}

Test(local, of_many_new_files_at_most_a_prefix_appears_when_one_fails)
{
    const char *lake = tarn_tmp();
    TARN_AUTO(place) struct tarn_place *place = place_in(lake, "t");
    static char long_name[300];
    memset(long_name, 'x', sizeof long_name - 1); /* longer than NAME_MAX: only its link fails */
    struct tarn_new_object bad[] = { { "a", "1", 1, false }, { "../b", "2", 1, false } };
    cr_expect(eq(int, tarn_place_create_all(place, "log", bad, 2, NULL), TARN_INVALID));
    cr_expect(not(tarn_file_exists(tarn_path(lake, "t/log"))));
    struct tarn_new_object late[] = { { "a", "1", 1, false },
                                      { long_name, "2", 1, false },
                                      { "c", "3", 1, false } };
    cr_expect(eq(int, tarn_place_create_all(place, "log", late, 3, NULL), TARN_STORAGE_UNAVAILABLE));
    cr_expect(tarn_file_exists(tarn_path(lake, "t/log/a"))); /* a prefix may be there */
    cr_expect(not(tarn_file_exists(tarn_path(lake, "t/log/c"))));
    cr_expect(eq(int, tarn_place_create_all(place, "log", NULL, 0, NULL), TARN_OK));
}
