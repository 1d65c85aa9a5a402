/* stream.c - the buffer between producer and connection. It is filled and emptied in turns, never at
 * once, so it needs no lock: the hand-over of the task orders the two. */
#include "server/stream.h"
#include "base/time.h"
#include <string.h>

#define SLICE_MS 50 /* a producer that finds nothing lets the worker's other tasks pass */

tarn_code tarn_stream_fill(struct tarn_task *task)
{
    struct tarn_stream *stream = &task->reply.stream;
    int64_t until_ms = tarn_monotonic_ms() + SLICE_MS;

    tarn_buf_clear(&task->piece);
    task->piece_sent = 0;
    while (!task->stream_end && task->piece.len < TARN_PIECE_BYTES && tarn_monotonic_ms() < until_ms) {
        tarn_code code = stream->produce(stream->state, &task->piece, &task->stream_end, &task->err);
        if (code == TARN_OK)
            code = tarn_buf_check(&task->piece, &task->err);
        if (code != TARN_OK) {
            tarn_buf_clear(&task->piece);
            return code;
        }
    }
    return TARN_OK;
}

size_t tarn_stream_copy(struct tarn_task *task, char *out, size_t max)
{
    size_t left = task->piece.len - task->piece_sent;
    size_t len = left < max ? left : max;
    if (len == 0)
        return 0; /* a producer that found nothing in its slice may not even have a buffer yet */
    memcpy(out, task->piece.data + task->piece_sent, len);
    task->piece_sent += len;
    return len;
}
