/* doors.h - a server without background threads: store, tokens, workers and sockets on a free port. */
#ifndef TARN_TESTS_DOORS_H
#define TARN_TESTS_DOORS_H
#include "config/config.h"
#include "server/listen.h"
#include "server/mhd.h"
#include "server/poll.h"

struct tarn_doors {
    struct tarn_config config;
    struct tarn_listener listener;
    struct tarn_lake lake;
    struct tarn_auth *auth;
    struct tarn_pool *pool;
    struct tarn_tasks tasks;
    struct tarn_polls *polls; /* at most 3 wait */
    struct tarn_app app;
    struct tarn_mhd *mhd;
    char folder[256];
    char token[64]; /* an admin's */
};
/* Options that are 0 get roomy values. */
void tarn_doors_open(struct tarn_doors *doors, const struct tarn_mhd_options *options);
void tarn_doors_close(struct tarn_doors *doors, long patience_ms); /* drains first */
#endif
