/* process.h - what the system says of this process. */
#ifndef TARN_BASE_PROCESS_H
#define TARN_BASE_PROCESS_H
#include <stdint.h>

struct tarn_process {
    int64_t cpu_ms;                       /* used so far, user and system */
    int64_t resident_bytes, virtual_bytes;
    int64_t threads;
    int64_t open_fds, max_fds;
}; /* -1: not known */
void tarn_process_read(struct tarn_process *out);
#endif
