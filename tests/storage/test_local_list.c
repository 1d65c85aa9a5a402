/* test_local_list.c - listings of the local disk. */
#include "storage/storage.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a listing gave, one "path:kind:size" an element, sorted. */
struct seen {
    char *items[512];
    size_t count;
    size_t stop_at; /* fail at this one; 0: never */
};

static tarn_code note(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    struct seen *seen = ctx;
    cr_assert(seen->count < TARN_COUNT(seen->items));
    cr_assert(ne(str, (char *)object->token, ""));
    const char *kind = object->is_folder ? "folder" : object->is_symlink ? "link" : "file";
    cr_assert(
        asprintf(&seen->items[seen->count++], "%s:%s:%lld", object->path, kind, (long long)object->size) > 0);
    return seen->stop_at == seen->count ? tarn_fail(err, TARN_OVERLOADED, "enough") : TARN_OK;
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static char *joined(struct seen *seen)
{
    static char out[4096];
    out[0] = '\0';
    qsort(seen->items, seen->count, sizeof seen->items[0], by_text);
    for (size_t i = 0; i < seen->count; i++) {
        size_t len = strlen(out);
        snprintf(out + len, sizeof out - len, "%s%s", i ? " " : "", seen->items[i]);
        free(seen->items[i]);
    }
    seen->count = 0;
    return out;
}

static struct tarn_place *open_folder(const char *folder)
{
    struct tarn_place *place = NULL;
    cr_assert(eq(int, tarn_place_open_local(folder, &place, NULL), TARN_OK));
    return place;
}

static void fill(const char *folder)
{
    tarn_write_text(tarn_path(folder, "manifest.json"), "{}");
    tarn_write_text(tarn_path(folder, "date=2024-02-01/hour=14/data-1.parquet"), "12345");
    tarn_write_text(tarn_path(folder, "date=2024-02-01/hour=15/data-2.parquet"), "123");
    tarn_write_text(tarn_path(folder, "date=2024-02-01/_SUCCESS"), "");
    tarn_make_link(tarn_path(folder, "linked"), "date=2024-02-01");
    tarn_make_link(tarn_path(folder, "dangling"), "nowhere");
    cr_assert(eq(int, mkdir(tarn_path(folder, "empty"), 0777), 0));
    cr_assert(eq(int, mkfifo(tarn_path(folder, "pipe"), 0600), 0));
}

Test(local_list, a_recursive_listing_gives_files_and_skipped_links)
{
    const char *folder = tarn_tmp();
    fill(folder);
    TARN_AUTO(place) struct tarn_place *place = open_folder(folder);
    struct seen seen = { 0 };
    cr_assert(eq(int, tarn_place_list(place, "", true, note, &seen, NULL), TARN_OK));
    cr_expect(
        eq(str, joined(&seen),
           "dangling:link:0 date=2024-02-01/_SUCCESS:file:0 date=2024-02-01/hour=14/data-1.parquet:file:5 "
           "date=2024-02-01/hour=15/data-2.parquet:file:3 linked:link:0 manifest.json:file:2"));
}

Test(local_list, one_level_gives_folders_too)
{
    const char *folder = tarn_tmp();
    fill(folder);
    TARN_AUTO(place) struct tarn_place *place = open_folder(folder);
    struct seen seen = { 0 };
    cr_assert(eq(int, tarn_place_list(place, "date=2024-02-01", false, note, &seen, NULL), TARN_OK));
    cr_expect(eq(str, joined(&seen),
                 "date=2024-02-01/_SUCCESS:file:0 date=2024-02-01/hour=14:folder:0 "
                 "date=2024-02-01/hour=15:folder:0"));
}

Test(local_list, a_prefix_that_is_missing_or_no_folder_lists_nothing)
{
    static const char *const k_prefixes[] = { "missing", "missing/deep", "manifest.json", "linked", "empty" };
    const char *folder = tarn_tmp();
    fill(folder);
    TARN_AUTO(place) struct tarn_place *place = open_folder(folder);
    for (size_t i = 0; i < TARN_COUNT(k_prefixes); i++) {
        struct seen seen = { 0 };
        cr_expect(eq(int, tarn_place_list(place, k_prefixes[i], true, note, &seen, NULL), TARN_OK));
        cr_expect(eq(sz, seen.count, 0), "%s", k_prefixes[i]);
    }
}

Test(local_list, a_visitor_ends_the_walk_with_its_own_code)
{
    const char *folder = tarn_tmp();
    fill(folder);
    TARN_AUTO(place) struct tarn_place *place = open_folder(folder);
    struct seen seen = { .stop_at = 2 };
    TARN_ERR(err);
    cr_expect(eq(int, tarn_place_list(place, "", true, note, &seen, &err), TARN_OVERLOADED));
    cr_expect(eq(str, err.detail, "enough"));
    cr_expect(eq(sz, seen.count, 2));
    joined(&seen);
}

/* Removes a whole folder while it is listed. */
static tarn_code remove_other(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    (void)object;
    (void)err;
    if (tarn_file_exists(tarn_path(ctx, "date=2024-02-01")))
        tarn_remove_tree(tarn_path(ctx, "date=2024-02-01"));
    return TARN_OK;
}

Test(local_list, what_vanishes_during_the_walk_is_skipped)
{
    const char *folder = tarn_tmp();
    fill(folder);
    TARN_AUTO(place) struct tarn_place *place = open_folder(folder);
    cr_expect(eq(int, tarn_place_list(place, "", true, remove_other, (void *)folder, NULL), TARN_OK));
}

Test(local_list, a_folder_that_cannot_be_read_fails_the_listing)
{
    const char *folder = tarn_tmp();
    fill(folder);
    TARN_AUTO(place) struct tarn_place *place = open_folder(folder);
    struct seen seen = { 0 };
    TARN_ERR(err);
    /* No descriptor is left for the folders below; works for root too, whom a mode does not stop. */
    struct rlimit many, none;
    cr_assert(eq(int, getrlimit(RLIMIT_NOFILE, &many), 0));
    none = many;
    none.rlim_cur = (rlim_t)dup(0);
    cr_assert(eq(int, setrlimit(RLIMIT_NOFILE, &none), 0));
    tarn_code code = tarn_place_list(place, "", true, note, &seen, &err);
    cr_assert(eq(int, setrlimit(RLIMIT_NOFILE, &many), 0));
    cr_expect(eq(int, code, TARN_STORAGE_UNAVAILABLE));
    cr_expect(strstr(err.detail, folder) != NULL);
    joined(&seen);
}

Test(local_list, many_files_and_deep_folders_are_all_there)
{
    const char *folder = tarn_tmp();
    char path[128];
    for (int i = 0; i < 300; i++) {
        snprintf(path, sizeof path, "a%d/b/c/d/e/f%d.parquet", i % 100, i);
        tarn_write_text(tarn_path(folder, path), "x");
    }
    TARN_AUTO(place) struct tarn_place *place = open_folder(folder);
    struct seen seen = { 0 };
    cr_assert(eq(int, tarn_place_list(place, "", true, note, &seen, NULL), TARN_OK));
    cr_expect(eq(sz, seen.count, 300));
    joined(&seen);
}
