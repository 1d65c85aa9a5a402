/* drain.h - the end of a server's service: nothing new, what runs is finished, nobody is left hanging. */
#ifndef TARN_SERVER_DRAIN_H
#define TARN_SERVER_DRAIN_H
#include "server/mhd.h"

/* Returns when no request is active and no connection is suspended, at the latest a little after
 * `deadline_ms` (tarn_monotonic_ms): then jobs that still run have lost their connection. */
void tarn_drain(struct tarn_mhd *mhd, struct tarn_tasks *tasks, int64_t deadline_ms);
#endif
