/* test_local_fallback.c - the local disk where the kernel or a sandbox lacks openat2, and a file system that
 * has no unnamed files: a seccomp filter refuses both for the test's own process. */
#include "storage/storage.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define LOAD(member)  BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define REFUSE(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define TMPFILE_BIT   (O_TMPFILE & ~O_DIRECTORY)

static void lack_openat2_and_unnamed_files(void)
{
    static struct sock_filter filter[] = {
        LOAD(nr),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        REFUSE(ENOSYS),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
        LOAD(args[2]), /* the low word: little endian */
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, TMPFILE_BIT, 0, 1),
        REFUSE(EOPNOTSUPP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { TARN_COUNT(filter), filter };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        cr_skip_test("needs seccomp");
}

static struct tarn_place *place_in(const char *lake, const char *table)
{
    TARN_AUTO(storage) struct tarn_storage *storage = NULL;
    struct tarn_place *place = NULL;
    TARN_ERR(err);
    cr_assert(eq(int, tarn_storage_new(&lake, 1, &storage, NULL), TARN_OK));
    cr_assert(eq(int, tarn_place_open(storage, tarn_path(lake, table), true, &place, &err), TARN_OK), "%s",
              err.detail);
    return place;
}

Test(local_fallback, documents_are_written_whole_and_read_back)
{
    const char *lake = tarn_tmp();
    lack_openat2_and_unnamed_files();
    TARN_AUTO(place) struct tarn_place *place = place_in(lake, "a/t");
    char token[TARN_TOKEN_TEXT];
    cr_assert(eq(int, tarn_place_put(place, "log/x/f", "one", 3, TARN_PUT_CREATE, NULL, NULL), TARN_OK));
    cr_expect(eq(int, tarn_place_put(place, "log/x/f", "two", 3, TARN_PUT_CREATE, NULL, NULL),
                 TARN_PRECONDITION_FAILED));
    cr_expect(eq(int, tarn_place_put(place, "log/x/f", "three", 5, TARN_PUT_REPLACE, token, NULL), TARN_OK));
    TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };
    struct tarn_object object = { 0 };
    cr_assert(eq(int, tarn_place_read_all(place, "log/x/f", 10, &text, &object, NULL), TARN_OK));
    cr_expect(eq(str, text.data, "three"));
    cr_expect(eq(str, object.token, token));
    struct tarn_writer *writer = NULL;
    cr_assert(eq(int, tarn_place_writer(place, "log/x/g", &writer, NULL), TARN_OK));
    cr_expect(eq(sz, tarn_count_entries(tarn_path(lake, "a/t/log/x")), 2)); /* the temporary name */
    tarn_writer_free(writer);
    cr_expect(eq(sz, tarn_count_entries(tarn_path(lake, "a/t/log/x")), 1));
}

Test(local_fallback, links_are_not_followed)
{
    const char *lake = tarn_tmp(), *outside = tarn_tmp();
    tarn_write_text(tarn_path(outside, "f"), "secret");
    tarn_make_link(tarn_path(lake, "t/d"), outside);
    tarn_make_link(tarn_path(lake, "t/f"), tarn_path(outside, "f"));
    lack_openat2_and_unnamed_files();
    TARN_AUTO(place) struct tarn_place *place = place_in(lake, "t");
    static const char *const k_paths[] = { "f", "d", "d/f", "missing" };
    for (size_t i = 0; i < TARN_COUNT(k_paths); i++) {
        TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };
        struct tarn_object object = { 0 };
        cr_expect(eq(int, tarn_place_read_all(place, k_paths[i], 100, &text, NULL, NULL), TARN_NOT_FOUND),
                  "%s", k_paths[i]);
        cr_expect(eq(int, tarn_place_stat(place, k_paths[i], &object, NULL), TARN_NOT_FOUND), "%s",
                  k_paths[i]);
    }
    cr_expect(ne(int, tarn_place_put(place, "d/g", "x", 1, TARN_PUT_CREATE, NULL, NULL), TARN_OK));
    cr_expect(eq(sz, tarn_count_entries(outside), 1));
}

static tarn_code count(void *ctx, const struct tarn_object *object, struct tarn_err *err)
{
    (void)err;
    (*(int *)ctx) += object->is_symlink ? 100 : 1;
    return TARN_OK;
}

Test(local_fallback, a_listing_is_the_same)
{
    const char *lake = tarn_tmp();
    tarn_write_text(tarn_path(lake, "t/a/b/1"), "");
    tarn_write_text(tarn_path(lake, "t/a/2"), "");
    tarn_make_link(tarn_path(lake, "t/l"), "a");
    lack_openat2_and_unnamed_files();
    TARN_AUTO(place) struct tarn_place *place = place_in(lake, "t");
    int seen = 0;
    cr_assert(eq(int, tarn_place_list(place, "", true, count, &seen, NULL), TARN_OK));
    cr_expect(eq(int, seen, 102));
}
