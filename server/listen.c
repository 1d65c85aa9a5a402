/* listen.c - bind and listen, before anything else is started that a taken port would have to undo. */
#include "server/listen.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 1024

static tarn_code split(const char *address, char host[256], char port[16], struct tarn_err *err)
{
    const char *colon = strrchr(address, ':');
    size_t len = colon ? (size_t)(colon - address) : 0;
    bool digits = colon && colon[1] && strlen(colon + 1) < 6 && !colon[1 + strspn(colon + 1, "0123456789")];
    if (!digits || len > 255)
        return tarn_fail_field(err, "listen", "'%s' is no address such as 127.0.0.1:8181", address);
    if (len >= 2 && address[0] == '[' && address[len - 1] == ']') {
        address++;
        len -= 2;
    }
    snprintf(host, 256, "%.*s", (int)len, address);
    snprintf(port, 16, "%s", colon + 1);
    return TARN_OK;
}

static int bound_socket(const struct addrinfo *info)
{
    int one = 1;
    int fd = socket(info->ai_family, info->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, info->ai_protocol);
    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, info->ai_addr, info->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

static bool is_loopback(const struct sockaddr_storage *at)
{
    if (at->ss_family == AF_INET)
        return (ntohl(((const struct sockaddr_in *)at)->sin_addr.s_addr) >> 24) == 127;
    return at->ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)at)->sin6_addr);
}

static void describe(int fd, struct tarn_listener *out)
{
    struct sockaddr_storage at = { 0 };
    socklen_t len = sizeof at;
    char host[INET6_ADDRSTRLEN] = "?", port[8] = "0";
    if (getsockname(fd, (struct sockaddr *)&at, &len) == 0)
        (void)getnameinfo((struct sockaddr *)&at, len, host, sizeof host, port, sizeof port,
                          NI_NUMERICHOST | NI_NUMERICSERV);
    out->fd = fd;
    out->loopback = is_loopback(&at);
    snprintf(out->text, sizeof out->text, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

tarn_code tarn_listen(const char *address, struct tarn_listener *out, struct tarn_err *err)
{
    char host[256], port[16];
    tarn_code code = split(address, host, port, err);
    if (code != TARN_OK)
        return code;
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV },
                    *found = NULL;
    int rc = getaddrinfo(host[0] ? host : NULL, port, &hints, &found);
    if (rc != 0)
        return tarn_fail_field(err, "listen", "'%s' is not known: %s", host, gai_strerror(rc));
    int fd = -1;
    for (const struct addrinfo *at = found; at && fd < 0; at = at->ai_next)
        fd = bound_socket(at);
    int why = errno;
    freeaddrinfo(found);
    if (fd < 0)
        return tarn_fail_field(err, "listen", "cannot listen on %s: %s", address, strerror(why));
    describe(fd, out);
    return TARN_OK;
}
