/* late.h - requests that take long and need not be waited
 * for: the client is told where to ask, the work goes on. */
#ifndef TARN_SERVER_LATE_H
#define TARN_SERVER_LATE_H
#include "server/task.h"

struct tarn_late;
/* Starts the thread that answers for tasks whose route may be late, `patience_ms` after their start. */
TARN_MUST tarn_code tarn_late_start(struct tarn_tasks *tasks, int64_t patience_ms, struct tarn_late **out,
                                    struct tarn_err *err);
/* From here on they are waited for. Before the connections go; NULL is fine. */
void tarn_late_stop(struct tarn_late *late);
#endif
