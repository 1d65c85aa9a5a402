/* visit.h - one request as libmicrohttpd sees it: shared by mhd.c (the calls), visit_body.c (what
 * comes in) and visit_reply.c (what goes out). */
#ifndef TARN_SERVER_VISIT_H
#define TARN_SERVER_VISIT_H
#include "server/mhd.h"
#include <microhttpd.h>

#define TARN_TARGET_MAX 8192           /* bytes of the raw target */
#define TARN_SWALLOW_MAX (1u << 20)    /* bytes of a stranger's body that are read to keep the answer readable */

struct tarn_mhd {
    struct MHD_Daemon *daemon;
    struct tarn_app *app;
    struct tarn_tasks *tasks;
    struct tarn_mhd_options options;
    atomic_uint connections;           /* open now */
    atomic_size_t bodies;              /* bytes of bodies in memory */
    uint32_t boot;                     /* random: tells the request ids of two runs apart */
    atomic_uint_fast32_t requests;
};

struct tarn_visit {
    struct tarn_task task;             /* first: a task is cast back to its visit */
    struct tarn_mhd *mhd;
    struct MHD_Connection *connection; /* NULL once the request is over */
    bool begun;                        /* the headers were judged */
    bool has_body;
    bool is_whole;                     /* the last byte of the request came */
    bool is_last;                      /* refused so that nothing may follow on the connection */
    bool swallows;                     /* refused: the body is read and dropped */
    uint64_t announced;                /* Content-Length, 0: none or chunked */
    uint64_t seen;                     /* bytes of the body that came */
    size_t counted;                    /* this visit's share of mhd->bodies */
    struct tarn_buf headers;           /* name NUL value NUL ...: kept while the task is in the air */
    int64_t began_us;                  /* monotonic */
    unsigned told;                     /* status of the answer, 0: none yet */
    tarn_code told_code;               /* the error in it */
    char allow[64];
    size_t target_len;
    char target[];                     /* raw */
};

/* visit_body.c. Reads Content-Length and Transfer-Encoding. */
TARN_MUST tarn_code tarn_visit_announce(struct tarn_visit *visit, struct tarn_err *err);
/* May such a body come to this route? TARN_PAYLOAD_TOO_LARGE, TARN_OVERLOADED, TARN_INVALID. */
TARN_MUST tarn_code tarn_visit_check_body(const struct tarn_visit *visit, struct tarn_err *err);
/* Keeps or drops some of the body; false: close the connection. */
bool tarn_visit_take(struct tarn_visit *visit, const char *data, size_t len);
/* How much of a refused body is read and dropped: closing a
 * socket with unread bytes takes the answer from the client. */
uint64_t tarn_visit_swallows(const struct tarn_visit *visit);
void tarn_visit_forget(struct tarn_visit *visit); /* gives its share of mhd->bodies back */

/* visit_reply.c. Queues the answer that the task holds. */
enum MHD_Result tarn_visit_respond(struct tarn_visit *visit);
/* The answer of a task that the drain took back from its job. */
enum MHD_Result tarn_visit_respond_lost(struct tarn_visit *visit);
#endif
