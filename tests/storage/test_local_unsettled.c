/* test_local_unsettled.c - a disk that does not make a folder's new name durable: fsync of a folder fails in this program. */
#include "storage/storage.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static bool folders_fail;

/* In the place of the C library's. */
int fsync(int fd)
{
    struct stat st;
    if (folders_fail && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        errno = EIO;
        return -1;
    }
    return fdatasync(fd);
}

Test(local_unsettled, a_new_document_whose_folder_does_not_sync_is_refused_and_not_there)
{
    const char *lake = tarn_tmp();
    TARN_AUTO(storage) struct tarn_storage *storage = NULL;
    TARN_AUTO(place) struct tarn_place *place = NULL;
    cr_assert(eq(int, tarn_storage_new(&lake, 1, &storage, NULL), TARN_OK));
    cr_assert(eq(int, tarn_place_open(storage, tarn_path(lake, "t"), true, &place, NULL), TARN_OK));
    cr_assert(eq(int, tarn_place_put(place, "old", "old", 3, TARN_PUT_CREATE, NULL, NULL), TARN_OK));

    folders_fail = true;
    cr_expect(eq(int, tarn_place_put(place, "new", "x", 1, TARN_PUT_CREATE, NULL, NULL), TARN_STORAGE_UNAVAILABLE));
    cr_expect(eq(int, tarn_place_put(place, "old", "x", 1, TARN_PUT_CREATE, NULL, NULL), TARN_PRECONDITION_FAILED));
    cr_expect(eq(sz, tarn_count_entries(tarn_path(lake, "t")), 1));
    TARN_AUTO(mem) char *text = tarn_read_file(tarn_path(lake, "t/old"), NULL);
    cr_expect(eq(str, text, "old"), "another's is left");

    folders_fail = false;
    cr_expect(eq(int, tarn_place_put(place, "new", "x", 1, TARN_PUT_CREATE, NULL, NULL), TARN_OK), "the name is free");
}
