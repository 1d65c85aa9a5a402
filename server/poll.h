/* poll.h - requests that wait for events (GET /api/events?wait=): suspended in a list, without a
 * thread of their own, until events become durable, their time is over or the server drains. */
#ifndef TARN_SERVER_POLL_H
#define TARN_SERVER_POLL_H
#include "server/task.h"

#define TARN_POLLS_MAX 1000

struct tarn_polls;
/* Starts the thread that wakes, and hooks into `store` (borrowed). At most `max` tasks wait. */
TARN_MUST tarn_code tarn_polls_start(struct tarn_store *store, size_t max, struct tarn_polls **out,
                                     struct tarn_err *err);
/* A task in the air whose answer may wait (reply.wait_ms): taken over until it goes on. task->events_seen:
 * the events' clock (catalog/store.h) before its last look. It looks again when events came, and is
 * answered with what it has when its time is over, or as TARN_OVERLOADED when too many wait. */
void tarn_polls_park(struct tarn_polls *polls, struct tarn_task *task);
/* The drain: everybody who waits is answered, nobody waits any more. */
void tarn_polls_end(struct tarn_polls *polls);
/* After tarn_polls_end and after the store, whose writer may
 * still be in the hook, is closed. NULL is fine. */
void tarn_polls_free(struct tarn_polls *polls);
size_t tarn_polls_count(struct tarn_polls *polls); /* how many wait now */
#endif
