/* mhd.h - libmicrohttpd, the only door to it: sockets in, requests on their way through
 * server/flow.h, answers out. */
#ifndef TARN_SERVER_MHD_H
#define TARN_SERVER_MHD_H
#include "server/task.h"

struct tarn_mhd_options {
    int listen_fd;            /* listening; taken over */
    unsigned loops;           /* event loops, best one a core */
    size_t body_max;          /* bytes of one body */
    size_t bodies_max;        /* bytes of all bodies in memory together */
    size_t headers_max;       /* bytes of one request's headers */
    unsigned connections_max;
    unsigned timeout_s;       /* a silent connection is closed after */
    bool log_requests;        /* a debug line a request */
};

struct tarn_mhd;
TARN_MUST tarn_code tarn_mhd_start(struct tarn_app *app, struct tarn_tasks *tasks,
                                   const struct tarn_mhd_options *options, struct tarn_mhd **out,
                                   struct tarn_err *err);
/* Takes no more connections; those there are still served, each to the end of its request. */
void tarn_mhd_quiesce(struct tarn_mhd *mhd);
/* Closes every connection. None may be suspended: tarn_tasks_abandon first. NULL is fine. */
void tarn_mhd_free(struct tarn_mhd *mhd);
TARN_DEFINE_AUTO(mhd, struct tarn_mhd)
#endif
