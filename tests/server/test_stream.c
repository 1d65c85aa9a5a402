/* Pieces of a long answer: none, some, the end, a fault. */
#include "base/time.h"
#include "server/stream.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

struct script { int calls; };

/* Nothing for the length of a slice, then a word, then a fault. */
static tarn_code produce(void *state, struct tarn_buf *out, bool *end, struct tarn_err *err)
{
    struct script *script = state;
    int64_t until_ms = tarn_monotonic_ms() + 60;

    (void)end;
    if (script->calls++ == 0)
        while (tarn_monotonic_ms() < until_ms)
            continue;
    else if (script->calls == 2)
        tarn_buf_adds(out, "word");
    else if (script->calls == 3)
        return tarn_fail(err, TARN_INTERNAL, "no more");
    return TARN_OK;
}

Test(stream, a_producer_that_finds_nothing_gives_an_empty_piece_and_is_asked_again)
{
    struct script script = { 0 };
    struct tarn_task task = { .reply.stream = { .produce = produce, .state = &script } };
    char text[16];

    cr_assert(eq(int, (int)tarn_stream_fill(&task), (int)TARN_OK));
    cr_expect(eq(int, script.calls, 1));
    cr_expect(eq(sz, tarn_stream_copy(&task, text, sizeof text), 0));
    cr_expect(not(task.stream_end));
    cr_expect(eq(int, (int)tarn_stream_fill(&task), (int)TARN_INTERNAL), "the word and the fault come in one slice");
    cr_expect(eq(sz, tarn_stream_copy(&task, text, sizeof text), 0), "what a fault cuts short is not sent");
    script.calls = 1;
    tarn_buf_adds(&task.piece, "a longer piece");
    cr_expect(eq(sz, tarn_stream_copy(&task, text, 4), 4));
    cr_expect(eq(sz, tarn_stream_copy(&task, text, sizeof text), 10));
    cr_expect(eq(sz, tarn_stream_copy(&task, text, sizeof text), 0));
    tarn_buf_done(&task.piece);
    tarn_err_done(&task.err);
}
