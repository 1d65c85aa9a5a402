/* local_sees.c - a look at one file for a thread that must not wait. The kernel answers
 * from what it has in memory (RESOLVE_CACHED, Linux 5.12) and refuses where it would have
 * to ask a disk or another host; where kernel or sandbox lack that, nothing is seen. */
#include "storage/local.h"
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_cached(int dir, const char *path, int flags, unsigned resolve)
{
    struct open_how how = { .flags = (unsigned)(flags | O_PATH | O_CLOEXEC),
                            .resolve = resolve | RESOLVE_CACHED };

    return (int)syscall(SYS_openat2, dir, path, &how, sizeof how);
}

bool tarn_local_sees(const char *root, const char *location)
{
    TARN_AUTO_FD int top = open_cached(AT_FDCWD, root, O_DIRECTORY, 0);
    if (top < 0)
        return false;
    TARN_AUTO_FD int fd = open_cached(top, tarn_local_below(root, location), O_NOFOLLOW,
                                      RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
    struct statx st;
    return fd >= 0 && statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &st) == 0 &&
           S_ISREG(st.stx_mode);
}
