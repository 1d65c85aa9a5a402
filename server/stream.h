/* stream.h - long answers: a worker produces a piece into a bounded buffer, the loop copies it
 * out, and asks for the next when it is empty. */
#ifndef TARN_SERVER_STREAM_H
#define TARN_SERVER_STREAM_H
#include "server/task.h"

#define TARN_PIECE_BYTES (256u << 10) /* a piece is done when it holds this much */

/* Worker: the next piece of task->reply.stream into task->piece. */
TARN_MUST tarn_code tarn_stream_fill(struct tarn_task *task);
/* Loop: at most `max` bytes of the piece into `out`; 0: none is left. */
size_t tarn_stream_copy(struct tarn_task *task, char *out, size_t max);
#endif
