/* listen.h - the socket that clients come to. */
#ifndef TARN_SERVER_LISTEN_H
#define TARN_SERVER_LISTEN_H
#include "base/err.h"
#include <stdbool.h>

struct tarn_listener {
    int fd;         /* listening, owned by the caller; -1: none */
    char text[128]; /* "127.0.0.1:8181", with the port that was given for port 0 */
    bool loopback;  /* reachable from this machine alone */
};
/* "host:port", "[v6]:port" or ":port" (every address).
 * TARN_INVALID: not of that form, or it cannot be bound. */
TARN_MUST tarn_code tarn_listen(const char *address, struct tarn_listener *out, struct tarn_err *err);
#endif
