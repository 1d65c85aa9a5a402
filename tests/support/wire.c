/* wire.c - see wire.h. Waits end by a receive timeout, never by a sleep. */
#include "tests/support/wire.h"
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

void tarn_wire_open(struct tarn_wire *wire, const char *address)
{
    const char *colon = strrchr(address, ':');
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((unsigned short)strtoul(colon + 1, NULL, 10)) };
    struct timeval patience = { .tv_sec = TARN_WIRE_SECONDS };
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    *wire = (struct tarn_wire){ .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) };
    setsockopt(wire->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(wire->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (connect(wire->fd, (struct sockaddr *)&at, sizeof at) < 0) {
        perror("connect");
        abort();
    }
}

void tarn_wire_send(struct tarn_wire *wire, const void *data, size_t len)
{
    const char *at = data;
    while (len > 0) {
        ssize_t sent = send(wire->fd, at, len, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        at += sent;
        len -= (size_t)sent;
    }
}

void tarn_wire_sends(struct tarn_wire *wire, const char *text)
{
    tarn_wire_send(wire, text, strlen(text));
}

/* More bytes; 0: the end, an error or the timeout. */
static size_t fill(struct tarn_wire *wire)
{
    char piece[65536];
    ssize_t got = recv(wire->fd, piece, sizeof piece, 0);
    if (got <= 0)
        return 0;
    wire->data = realloc(wire->data, wire->len + (size_t)got + 1);
    memcpy(wire->data + wire->len, piece, (size_t)got);
    wire->len += (size_t)got;
    wire->data[wire->len] = '\0';
    return (size_t)got;
}

static void drop(struct tarn_wire *wire, size_t len)
{
    wire->len -= len;
    memmove(wire->data, wire->data + len, wire->len + 1);
}

/* Position after the first `what`, reading until it is there; 0: it never came. */
static size_t find(struct tarn_wire *wire, const char *what)
{
    for (;;) {
        char *at = wire->len ? memmem(wire->data, wire->len, what, strlen(what)) : NULL;
        if (at)
            return (size_t)(at - wire->data) + strlen(what);
        if (fill(wire) == 0)
            return 0;
    }
}

static void take(struct tarn_wire *wire, size_t len, struct tarn_wire_answer *out)
{
    while (wire->len < len && fill(wire) > 0)
        continue;
    size_t have = wire->len < len ? wire->len : len;
    out->is_cut = have < len;
    out->body = realloc(out->body, out->body_len + have + 1);
    if (have > 0) {
        memcpy(out->body + out->body_len, wire->data, have);
        drop(wire, have);
    }
    out->body_len += have;
    out->body[out->body_len] = '\0';
}

static void take_chunks(struct tarn_wire *wire, struct tarn_wire_answer *out)
{
    for (;;) {
        size_t line = find(wire, "\r\n");
        if (line == 0) {
            out->is_cut = 1;
            return;
        }
        size_t len = strtoul(wire->data, NULL, 16);
        drop(wire, line);
        take(wire, len, out);
        if (out->is_cut || find(wire, "\r\n") != 2) {
            out->is_cut = 1;
            return;
        }
        drop(wire, 2);
        if (len == 0)
            return;
    }
}

void tarn_wire_answer(struct tarn_wire *wire, int to_head, struct tarn_wire_answer *out)
{
    *out = (struct tarn_wire_answer){ 0 };
    do {
        size_t head = find(wire, "\r\n\r\n");
        out->body = calloc(1, 1);
        if (head == 0 || head >= sizeof out->head)
            return;
        memcpy(out->head, wire->data, head);
        out->head[head] = '\0';
        drop(wire, head);
        out->status = (int)strtol(out->head + strlen("HTTP/1.1 "), NULL, 10);
    } while (out->status == 100);
    const char *length = tarn_wire_header(out, "Content-Length");
    if (to_head || out->status == 204 || out->status == 304)
        return;
    if (strcmp(tarn_wire_header(out, "Transfer-Encoding"), "chunked") == 0)
        take_chunks(wire, out);
    else
        take(wire, strtoul(length, NULL, 10), out);
}

const char *tarn_wire_header(const struct tarn_wire_answer *answer, const char *name)
{
    static char ring[4][1024];
    static unsigned next;
    char *out = ring[next++ % 4];
    *out = '\0';
    for (const char *line = strstr(answer->head, "\r\n"); line && line[2]; line = strstr(line + 2, "\r\n")) {
        size_t len = strlen(name);
        if (strncasecmp(line + 2, name, len) != 0 || line[2 + len] != ':')
            continue;
        const char *value = line + 2 + len + 1;
        value += strspn(value, " ");
        snprintf(out, 1024, "%.*s", (int)strcspn(value, "\r"), value);
    }
    return out;
}

void tarn_wire_answer_done(struct tarn_wire_answer *answer)
{
    free(answer->body);
    answer->body = NULL;
}

int tarn_wire_is_closed(struct tarn_wire *wire)
{
    char piece[256];
    ssize_t got = recv(wire->fd, piece, sizeof piece, 0);
    return got == 0 || (got < 0 && errno == ECONNRESET);
}

void tarn_wire_close(struct tarn_wire *wire)
{
    close(wire->fd);
    free(wire->data);
    wire->data = NULL;
}
