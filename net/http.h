/* http.h - one HTTP request and its answer, bounded in time and size. The only door to curl/curl.h. Any
 * thread; blocks. Redirects are not followed: a token must not travel where it was not sent. */
#ifndef TARN_NET_HTTP_H
#define TARN_NET_HTTP_H
#include "base/buf.h"
#include "base/err.h"
#include <stddef.h>
#include <stdint.h>

struct tarn_http_request {
    const char *method;         /* "GET", ... */
    const char *url;            /* http or https */
    const char *const *headers; /* "Name: value", ended by NULL; NULL: none */
    const void *body;           /* NULL: none */
    size_t body_len;
    int64_t connect_ms; /* until connected, 0: 5 s */
    int64_t timeout_ms; /* for all of it, 0: 60 s; -1: none, but a silence of 60 s ends it */
    size_t max_bytes;   /* of the answer's body, 0: 64 MiB */
    /* Gets the body of a 2xx answer piece by piece instead of answer->body; NULL: into answer->body. */
    tarn_code (*sink)(void *ctx, const void *data, size_t len, struct tarn_err *err);
    void *ctx;
};
struct tarn_http_answer {
    long status;
    char content_type[128]; /* "" when there is none */
    struct tarn_buf body;   /* owned */
};
void tarn_http_answer_done(struct tarn_http_answer *answer);

/* TARN_OK for every answer that came whole, whatever its status. TARN_STORAGE_UNAVAILABLE: none
 * came (the detail names the address and why); TARN_PAYLOAD_TOO_LARGE; the sink's own error. */
TARN_MUST tarn_code tarn_http_run(const struct tarn_http_request *request, struct tarn_http_answer *answer,
                                  struct tarn_err *err);
/* Percent-encode one path segment or query value onto `out`: everything but letters, digits and "-._~". */
void tarn_http_encode(struct tarn_buf *out, const char *text);
#endif
