/* wire.h - a client of raw sockets: sends the bytes that a test wants, reads answers whole. */
#ifndef TARN_TESTS_WIRE_H
#define TARN_TESTS_WIRE_H
#include <stddef.h>

#define TARN_WIRE_SECONDS 10 /* for anything that a server should do at once */

struct tarn_wire {
    int fd;
    char *data; /* owned: what came and was not yet taken */
    size_t len;
};
struct tarn_wire_answer {
    int status;      /* 0: the connection ended, or nothing came in time */
    char head[8192]; /* status line and headers, NUL-terminated */
    char *body;      /* owned; chunks are joined; NUL-terminated */
    size_t body_len;
    int is_cut;      /* the connection ended before the body did */
};

/* "127.0.0.1:PORT" */
void tarn_wire_open(struct tarn_wire *wire, const char *address);
void tarn_wire_send(struct tarn_wire *wire, const void *data, size_t len); /* a closed peer is no failure */
void tarn_wire_sends(struct tarn_wire *wire, const char *text);
/* The next answer; `to_head`: it was a HEAD and has no body. */
void tarn_wire_answer(struct tarn_wire *wire, int to_head, struct tarn_wire_answer *out);
/* Value of a header in a ring of 4 buffers, "" when absent. */
const char *tarn_wire_header(const struct tarn_wire_answer *answer, const char *name);
void tarn_wire_answer_done(struct tarn_wire_answer *answer);
/* Does the peer close within TARN_WIRE_SECONDS without sending more? */
int tarn_wire_is_closed(struct tarn_wire *wire);
void tarn_wire_close(struct tarn_wire *wire);
#endif
