/* The folder of the database: made, held by one, swept. */
#include "config/data_dir.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static tarn_code open_dir(const char *path, struct tarn_data_dir **out, struct tarn_err *err)
{
    return tarn_data_dir_open(path, out, err);
}

Test(data_dir, it_is_made_with_all_its_parents_for_the_owner_alone)
{
    TARN_ERR(err);
    struct stat stat_;
    TARN_AUTO(data_dir) struct tarn_data_dir *dir = NULL;
    const char *path = tarn_path(tarn_tmp(), "a/b/c");
    cr_assert(eq(int, (int)open_dir(path, &dir, &err), (int)TARN_OK), "%s", err.detail);
    cr_assert(eq(int, stat(path, &stat_), 0));
    cr_expect(eq(int, (int)(stat_.st_mode & 0777), 0700));
    cr_expect(eq(str, (char *)tarn_data_dir_database(dir), (char *)tarn_path(path, "tarn.sqlite")));
}

Test(data_dir, a_second_holder_is_told_who_the_first_is)
{
    TARN_ERR(err);
    char pid[32];
    struct tarn_data_dir *dir = NULL, *other = NULL;
    const char *path = tarn_tmp();
    cr_assert(eq(int, (int)open_dir(path, &dir, &err), (int)TARN_OK));
    cr_expect(eq(int, (int)open_dir(path, &other, &err), (int)TARN_INVALID));
    snprintf(pid, sizeof pid, "pid %ld", (long)getpid());
    cr_expect(ne(ptr, strstr(err.detail, pid), NULL), "%s", err.detail);
    tarn_data_dir_free(dir);
    cr_assert(eq(int, (int)open_dir(path, &other, &err), (int)TARN_OK));
    tarn_data_dir_free(other);
}

Test(data_dir, a_lock_file_that_is_removed_lets_nobody_in)
{
    TARN_ERR(err);
    struct tarn_data_dir *dir = NULL, *other = NULL;
    const char *path = tarn_tmp();
    cr_assert(eq(int, (int)open_dir(path, &dir, &err), (int)TARN_OK));
    cr_assert(eq(int, unlink(tarn_path(path, "lock")), 0));
    cr_expect(eq(int, (int)open_dir(path, &other, &err), (int)TARN_INVALID));
    tarn_data_dir_free(dir);
    cr_assert(eq(int, (int)open_dir(path, &other, &err), (int)TARN_OK));
    tarn_data_dir_free(other);
}

Test(data_dir, what_a_killed_backup_left_goes_and_nothing_else)
{
    TARN_ERR(err);
    TARN_AUTO(data_dir) struct tarn_data_dir *dir = NULL;
    const char *path = tarn_tmp();
    tarn_write_text(tarn_path(path, "backup-1.tmp"), "x");
    tarn_write_text(tarn_path(path, "backup.sqlite"), "x");
    cr_assert(eq(int, (int)open_dir(path, &dir, &err), (int)TARN_OK));
    cr_expect(not(tarn_file_exists(tarn_path(path, "backup-1.tmp"))));
    cr_expect(tarn_file_exists(tarn_path(path, "backup.sqlite")));
}

Test(data_dir, a_file_in_its_place_is_refused)
{
    TARN_ERR(err);
    struct tarn_data_dir *dir = NULL;
    const char *path = tarn_path(tarn_tmp(), "file");
    tarn_write_text(path, "x");
    cr_expect(ne(int, (int)open_dir(path, &dir, &err), (int)TARN_OK));
    cr_expect(eq(ptr, dir, NULL));
}
