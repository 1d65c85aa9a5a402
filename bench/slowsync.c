/* slowsync - LD_PRELOAD: adds SLOWSYNC_US (2000) microseconds to every fsync and fdatasync, since virtual disks
 * acknowledge at once what a real one takes milliseconds for. Without it group commit looks unneeded. */
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void pause_after_sync(void)
{
    const char *text = getenv("SLOWSYNC_US");
    long us = text ? strtol(text, NULL, 10) : 2000;
    struct timespec left = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };

    nanosleep(&left, NULL);
}

static int slow(const char *name, int fd)
{
    int (*real)(int) = NULL;

    *(void **)&real = dlsym(RTLD_NEXT, name);
    int rc = real ? real(fd) : -1;
    pause_after_sync();
    return rc;
}

int fsync(int fd)
{
    return slow("fsync", fd);
}

int fdatasync(int fd)
{
    return slow("fdatasync", fd);
}
