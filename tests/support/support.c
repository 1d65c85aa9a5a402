/* support.c - temporary folders and files of tests. Failure here is not the test's subject, so it ends the
 * test with the system's words. */
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDERS_MAX 32

static char folders[FOLDERS_MAX][256];
static int folder_count;
static pid_t owner; /* a forked child of the test must not remove the folder at its exit */

static void give_up(const char *what, const char *path)
{
    cr_assert_fail("%s %s: %s", what, path, strerror(errno));
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

void tarn_tmp_remove(void)
{
    if (owner != getpid())
        return;
    for (; folder_count > 0; folder_count--)
        (void)nftw(folders[folder_count - 1], remove_one, 32, FTW_DEPTH | FTW_PHYS);
}

const char *tarn_tmp(void)
{
    const char *base = getenv("TMPDIR");

    if (owner != getpid()) {
        owner = getpid();
        folder_count = 0;
        (void)atexit(tarn_tmp_remove);
    }
    cr_assert(folder_count < FOLDERS_MAX, "too many temporary folders in one test");
    char *folder = folders[folder_count];
    snprintf(folder, sizeof folders[0], "%s/tarn-test-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(folder))
        give_up("mkdtemp", folder);
    folder_count++;
    return folder;
}

const char *tarn_path(const char *folder, const char *name)
{
    static _Thread_local char ring[16][4096];
    static _Thread_local unsigned next;
    char *slot = ring[next++ % 16];

    snprintf(slot, sizeof ring[0], "%s/%s", folder, name);
    return slot;
}

bool tarn_has(const char *text, const char *part) { return text && strstr(text, part); }

void tarn_make_folder(const char *path)
{
    char copy[4096];

    snprintf(copy, sizeof copy, "%s/", path);
    for (char *p = strchr(copy + 1, '/'); p; p = strchr(p + 1, '/')) {
        *p = '\0';
        if (mkdir(copy, 0755) != 0 && errno != EEXIST)
            give_up("mkdir", copy);
        *p = '/';
    }
}

static void make_parent(const char *path)
{
    char folder[4096];

    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash && slash != folder) {
        *slash = '\0';
        tarn_make_folder(folder);
    }
}

void tarn_write_file(const char *path, const void *data, size_t len)
{
    make_parent(path);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, len, f) != len || fclose(f) != 0)
        give_up("write", path);
}

void tarn_write_text(const char *path, const char *text) { tarn_write_file(path, text, strlen(text)); }

char *tarn_read_file(const char *path, size_t *len)
{
    struct stat st;
    FILE *f = fopen(path, "rb");

    if (!f || fstat(fileno(f), &st) != 0)
        give_up("read", path);
    char *data = calloc(1, (size_t)st.st_size + 1);
    if (!data || fread(data, 1, (size_t)st.st_size, f) != (size_t)st.st_size)
        give_up("read", path);
    fclose(f);
    if (len)
        *len = (size_t)st.st_size;
    return data;
}

bool tarn_file_exists(const char *path) { return access(path, F_OK) == 0; }

void tarn_set_mtime(const char *path, long long ms)
{
    struct timespec times[2] = { { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 } };

    times[1] = times[0];
    if (utimensat(AT_FDCWD, path, times, 0) != 0)
        give_up("utimensat", path);
}

void tarn_make_link(const char *path, const char *to)
{
    make_parent(path);
    if (symlink(to, path) != 0)
        give_up("symlink", path);
}

void tarn_remove_tree(const char *path)
{
    if (nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS) != 0)
        give_up("remove", path);
}

size_t tarn_count_entries(const char *folder)
{
    size_t count = 0;
    DIR *dir = opendir(folder);

    if (!dir)
        give_up("list", folder);
    for (const struct dirent *e = readdir(dir); e; e = readdir(dir))
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(dir);
    return count;
}
