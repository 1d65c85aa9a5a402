/* process.c - see process.h: /proc, where there is one. */
#include "base/process.h"
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

static int64_t ms_of(struct timeval t) { return (int64_t)t.tv_sec * 1000 + t.tv_usec / 1000; }

static void read_limits(struct tarn_process *out)
{
    struct rusage usage;
    struct rlimit limit;

    if (getrusage(RUSAGE_SELF, &usage) == 0)
        out->cpu_ms = ms_of(usage.ru_utime) + ms_of(usage.ru_stime);
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        out->max_fds = (int64_t)limit.rlim_cur;
}

/* Fields by number as in proc(5); the second one, the name,
 * may hold anything and ends at the last bracket. */
static void read_stat(struct tarn_process *out)
{
    char text[1024];
    FILE *file = fopen("/proc/self/stat", "re");
    size_t len = file ? fread(text, 1, sizeof text - 1, file) : 0;

    if (file)
        (void)fclose(file);
    text[len] = '\0';
    char *at = strrchr(text, ')');
    if (!at)
        return;
    int64_t threads, size, pages;
    int found = sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %" SCNd64
                               " %*d %*u %" SCNd64 " %" SCNd64, &threads, &size, &pages);
    if (found != 3)
        return;
    out->threads = threads;
    out->virtual_bytes = size;
    out->resident_bytes = pages * sysconf(_SC_PAGESIZE);
}

static void count_fds(struct tarn_process *out)
{
    DIR *folder = opendir("/proc/self/fd");

    if (!folder)
        return;
    out->open_fds = -3; /* itself and the two dots */
    while (readdir(folder))
        out->open_fds++;
    (void)closedir(folder);
}

void tarn_process_read(struct tarn_process *out)
{
    *out = (struct tarn_process){ -1, -1, -1, -1, -1, -1 };
    read_limits(out);
    read_stat(out);
    count_fds(out);
}
