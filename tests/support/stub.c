/* stub.c - one thread that takes a connection, reads one request, answers, closes. */
#include "tests/support/stub.h"
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ASKED_MAX 32

static const struct tarn_stub_answer *stub_answers;
static size_t stub_answer_count, stub_asked_count;
static struct tarn_stub_asked *stub_asked;
static pthread_mutex_t stub_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t stub_thread;
static int stub_fd = -1;
static char stub_url[64];

/* Headers, then as many bytes as Content-Length says. */
static void read_request(int fd, struct tarn_stub_asked *asked)
{
    static char bytes[131072];
    size_t len = 0;
    char *end = NULL;
    ssize_t n;

    memset(bytes, 0, sizeof bytes);
    while (!end && (n = recv(fd, bytes + len, sizeof bytes - 1 - len, 0)) > 0) {
        len += (size_t)n;
        end = strstr(bytes, "\r\n\r\n");
    }
    if (!end)
        return;
    const char *length = strcasestr(bytes, "content-length:");
    size_t want = (size_t)(end - bytes) + 4 + (length && length < end ? strtoul(length + 15, NULL, 10) : 0);
    while (len < want && (n = recv(fd, bytes + len, sizeof bytes - 1 - len, 0)) > 0)
        len += (size_t)n;
    snprintf(asked->line, sizeof asked->line, "%.*s", (int)strcspn(bytes, "\r"), bytes);
    snprintf(asked->head, sizeof asked->head, "%.*s", (int)(end - bytes), bytes);
    snprintf(asked->body, sizeof asked->body, "%s", end + 4);
}

static void send_answer(int fd, const struct tarn_stub_answer *answer)
{
    char head[512], sink[64];
    size_t len = answer->body ? strlen(answer->body) : 0;

    if (answer->hang) {
        (void)!recv(fd, sink, sizeof sink, 0);
        return;
    }
    int n = snprintf(head, sizeof head, "HTTP/1.1 %d X\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
                     answer->status, answer->type ? answer->type : "application/json", len + (answer->cut ? 10 : 0));
    (void)!send(fd, head, (size_t)n, MSG_NOSIGNAL);
    if (len)
        (void)!send(fd, answer->body, len, MSG_NOSIGNAL);
}

static void *serve(void *arg)
{
    (void)arg;
    for (;;) {
        int fd = accept(stub_fd, NULL, NULL);
        if (fd < 0)
            return NULL;
        pthread_mutex_lock(&stub_lock);
        size_t i = stub_asked_count++;
        pthread_mutex_unlock(&stub_lock);
        read_request(fd, &stub_asked[i < ASKED_MAX ? i : ASKED_MAX - 1]);
        send_answer(fd, &stub_answers[i < stub_answer_count ? i : stub_answer_count - 1]);
        close(fd);
    }
}

void tarn_stub_stop(void)
{
    if (stub_fd < 0)
        return;
    shutdown(stub_fd, SHUT_RDWR);
    pthread_join(stub_thread, NULL);
    close(stub_fd);
    stub_fd = -1;
    free(stub_asked);
    stub_asked = NULL;
}

const char *tarn_stub_start(const struct tarn_stub_answer *answers, size_t count)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof address;

    tarn_stub_stop();
    stub_answers = answers;
    stub_answer_count = count;
    stub_asked_count = 0;
    stub_asked = calloc(ASKED_MAX, sizeof *stub_asked);
    stub_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert(stub_asked != NULL && stub_fd >= 0);
    cr_assert(bind(stub_fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(stub_fd, 16) == 0);
    cr_assert(getsockname(stub_fd, (struct sockaddr *)&address, &len) == 0);
    cr_assert(pthread_create(&stub_thread, NULL, serve, NULL) == 0);
    snprintf(stub_url, sizeof stub_url, "http://127.0.0.1:%d", ntohs(address.sin_port));
    return stub_url;
}

size_t tarn_stub_count(void)
{
    pthread_mutex_lock(&stub_lock);
    size_t count = stub_asked_count;
    pthread_mutex_unlock(&stub_lock);
    return count;
}

const struct tarn_stub_asked *tarn_stub_asked(size_t i) { return &stub_asked[i]; }
