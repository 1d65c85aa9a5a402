/* stub.h - an HTTP server of a few canned answers on a free port, and what it was asked. One at a time: a start stops the former one. */
#ifndef TARN_TESTS_STUB_H
#define TARN_TESTS_STUB_H
#include <stddef.h>

struct tarn_stub_answer {
    int status;
    const char *type; /* NULL: application/json */
    const char *body;
    int hang; /* 1: read the request, then say nothing until the client goes */
    int cut;  /* 1: promise more bytes than come */
};
struct tarn_stub_asked { char line[512], head[4096], body[65536]; }; /* "GET /path HTTP/1.1" */

/* Answers in order, the last one for ever. "http://127.0.0.1:port", valid until the stop. */
const char *tarn_stub_start(const struct tarn_stub_answer *answers, size_t count);
void tarn_stub_stop(void);
size_t tarn_stub_count(void);
const struct tarn_stub_asked *tarn_stub_asked(size_t i); /* of the first 32 */
#endif
