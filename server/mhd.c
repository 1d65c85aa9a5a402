/* mhd.c - the calls that libmicrohttpd makes, in their order: the raw target, the headers, the body in
 * pieces, its end, and once more after each resume. */
#include "server/mhd.h"
#include "api/traffic.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/time.h"
#include "server/flow.h"
#include "server/visit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Connections above the limit that are accepted all the same, to be told so; they must speak at once. */
#define REFUSALS(connections_max) ((connections_max) / 8 + 16)
#define REFUSAL_TIMEOUT_S 1u

/* One connection's memory: headers, their table, the answer's head, and the window of an upload. */
#define CONNECTION_BYTES(headers_max) ((headers_max) + (8u << 10))

static struct tarn_visit *visit_of(struct tarn_task *task) { return (struct tarn_visit *)task; }

/* --- headers --- */

static const char *header_live(const struct tarn_request *req, const char *name)
{
    const struct tarn_visit *visit = req->transport;
    return MHD_lookup_connection_value(visit->connection, MHD_HEADER_KIND, name);
}

static const char *header_kept(const struct tarn_request *req, const char *name)
{
    const struct tarn_visit *visit = req->transport;
    const char *at = visit->headers.data, *end = at + visit->headers.len;
    while (at < end) {
        const char *value = at + strlen(at) + 1;
        if (strcasecmp(at, name) == 0)
            return value;
        at = value + strlen(value) + 1;
    }
    return NULL;
}

static enum MHD_Result keep_header(void *cls, enum MHD_ValueKind kind, const char *name, const char *value)
{
    struct tarn_buf *headers = cls;
    (void)kind;
    if (!value)
        return MHD_YES;
    tarn_buf_add(headers, name, strlen(name) + 1);
    tarn_buf_add(headers, value, strlen(value) + 1);
    return MHD_YES;
}

/* Other threads must not ask the connection, nor hold what it said: it may be gone before they are done. */
static tarn_code keep_headers(struct tarn_visit *visit, struct tarn_err *err)
{
    tarn_buf_add(&visit->headers, "", 1);
    tarn_buf_add(&visit->headers, "", 1);
    MHD_get_connection_values(visit->connection, MHD_HEADER_KIND, keep_header, &visit->headers);
    tarn_code code = tarn_buf_check(&visit->headers, err);
    if (code != TARN_OK)
        return code;
    visit->task.req.header = header_kept;
    visit->task.req.method = visit->task.req.route->method; /* static text */
    return TARN_OK;
}

/* --- a request begins --- */

static bool is_request_id(const char *text)
{
    size_t len = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-");
    return len > 0 && !text[len] && len < sizeof((struct tarn_request *)NULL)->id;
}

static void name_request(struct tarn_visit *visit)
{
    struct tarn_request *req = &visit->task.req;
    const char *given = header_live(req, "X-Request-Id");
    if (given && is_request_id(given)) {
        snprintf(req->id, sizeof req->id, "%s", given);
        return;
    }
    static const char k_hex[] = "0123456789abcdef";
    uint64_t number = (uint64_t)visit->mhd->boot << 32 |
                      (uint32_t)atomic_fetch_add_explicit(&visit->mhd->requests, 1, memory_order_relaxed);
    for (size_t i = 0; i < 16; i++)
        req->id[i] = k_hex[number >> (60 - 4 * i) & 15];
}

static tarn_code check_room(struct tarn_visit *visit, struct tarn_err *err)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(visit->connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    visit->is_last = info && info->socket_context;
    return visit->is_last ? tarn_fail(err, TARN_OVERLOADED, "all %u connections are in use; try again later",
                                      visit->mhd->options.connections_max)
                          : TARN_OK;
}

static tarn_code check_sizes(struct tarn_visit *visit, struct tarn_err *err)
{
    visit->task.req.is_iceberg = tarn_target_is_iceberg(visit->target); /* the form of the refusal */
    if (visit->target_len > TARN_TARGET_MAX)
        return tarn_fail(err, TARN_URI_TOO_LONG, "an address has at most %d bytes", TARN_TARGET_MAX);
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(visit->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    if (info && info->header_size > visit->mhd->options.headers_max)
        return tarn_fail(err, TARN_HEADERS_TOO_LARGE, "headers have at most %zu bytes",
                         visit->mhd->options.headers_max);
    return TARN_OK;
}

/* Everything that can be refused before a body byte is kept. */
static tarn_code judge(struct tarn_visit *visit, const char *method, struct tarn_err *err)
{
    struct tarn_request *req = &visit->task.req;
    tarn_code code = check_room(visit, err);
    if (code == TARN_OK)
        code = tarn_visit_announce(visit, err);
    if (code == TARN_OK)
        code = check_sizes(visit, err);
    if (code == TARN_OK)
        code = tarn_route_match(method, visit->target, req, visit->allow, err);
    if (code == TARN_OK)
        code = tarn_route_admit(req, err);
    if (code == TARN_OK)
        code = tarn_visit_check_body(visit, err);
    return code;
}

/* libmicrohttpd closes the connection after an answer to the first call, so that is only for bodies that
 * are better not read. */
static bool answers_at_once(const struct tarn_visit *visit)
{
    return visit->announced > tarn_visit_swallows(visit) ||
           MHD_lookup_connection_value(visit->connection, MHD_HEADER_KIND, "Expect");
}

/* What is left to a worker takes its headers along. */
static tarn_code depart(struct tarn_visit *visit, struct tarn_err *err)
{
    tarn_code code = visit->task.req.header == header_live ? keep_headers(visit, err) : TARN_OK;
    return code == TARN_OK ? tarn_task_depart(&visit->task, err) : code;
}

static enum MHD_Result proceed(struct tarn_visit *visit)
{
    struct tarn_task *task = &visit->task;
    if (task->lost)
        return tarn_visit_respond_lost(visit);
    if (tarn_flow_advance(task))
        return tarn_visit_respond(visit);
    tarn_code code = depart(visit, &task->err);
    if (code != TARN_OK) {
        task->code = code;
        return tarn_visit_respond(visit);
    }
    MHD_suspend_connection(visit->connection);
    tarn_flow_launch(task);
    return MHD_YES;
}

static enum MHD_Result begin(struct tarn_visit *visit, const char *method)
{
    struct tarn_task *task = &visit->task;
    visit->begun = true;
    tarn_tasks_begin(visit->mhd->tasks);
    task->req.app = visit->mhd->app;
    task->req.header = header_live;
    task->req.transport = visit;
    task->req.method = method;
    task->req.now_ms = tarn_now_ms();
    visit->began_us = tarn_monotonic_us();
    name_request(visit);
    task->code = judge(visit, method, &task->err);
    if (task->code != TARN_OK) {
        task->step = TARN_STEP_ANSWER;
        visit->swallows = true;
        if (visit->is_last || (visit->has_body && answers_at_once(visit)))
            return tarn_visit_respond(visit);
    }
    return MHD_YES;
}

/* The request is whole. */
static void complete(struct tarn_visit *visit)
{
    struct tarn_task *task = &visit->task;
    visit->is_whole = true;
    task->req.body = task->body.data;
    task->req.body_len = task->body.len;
    if (task->code != TARN_OK || task->req.route->handle) /* which reads the headers as they lie there */
        return;
    task->code = keep_headers(visit, &task->err);
    if (task->code != TARN_OK)
        task->step = TARN_STEP_ANSWER;
}

/* --- what libmicrohttpd calls --- */

static void visit_resume(struct tarn_task *task) { MHD_resume_connection(visit_of(task)->connection); }

static void visit_dispose(struct tarn_task *task)
{
    struct tarn_visit *visit = visit_of(task);
    tarn_task_done(task);
    tarn_buf_done(&visit->headers);
    free(visit);
}

static void *on_target(void *cls, const char *uri, struct MHD_Connection *connection)
{
    struct tarn_mhd *mhd = cls;
    size_t len = strlen(uri);
    struct tarn_visit *visit = malloc(sizeof *visit + len + 1);
    if (!visit)
        return NULL;
    memset(visit, 0, sizeof *visit);
    memcpy(visit->target, uri, len + 1);
    visit->target_len = len;
    visit->mhd = mhd;
    visit->connection = connection;
    tarn_task_init(&visit->task, mhd->tasks);
    visit->task.resume = visit_resume;
    visit->task.dispose = visit_dispose;
    return visit;
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *data, size_t *size,
                                  void **req_cls)
{
    struct tarn_visit *visit = *req_cls;
    (void)cls;
    (void)connection;
    (void)url;
    (void)version;
    if (!visit)
        return MHD_NO;
    if (!visit->begun)
        return begin(visit, method);
    if (*size == 0) {
        if (!visit->is_whole)
            complete(visit);
        return proceed(visit);
    }
    bool goes_on = tarn_visit_take(visit, data, *size);
    *size = 0;
    return goes_on ? MHD_YES : MHD_NO;
}

static void on_completed(void *cls, struct MHD_Connection *connection, void **req_cls,
                         enum MHD_RequestTerminationCode how)
{
    struct tarn_visit *visit = *req_cls;
    (void)cls;
    (void)connection;
    (void)how;
    if (!visit)
        return;
    *req_cls = NULL;
    tarn_visit_forget(visit);
    if (visit->told)
        tarn_traffic_note(visit->mhd->app->traffic, visit->task.req.route, visit->told, visit->told_code,
                          tarn_monotonic_us() - visit->began_us);
    if (visit->begun)
        tarn_tasks_end(visit->mhd->tasks);
    tarn_task_unref(&visit->task);
}

/* The socket's context is set for a connection above the limit. */
static void on_connection(void *cls, struct MHD_Connection *connection, void **socket_context,
                          enum MHD_ConnectionNotificationCode what)
{
    struct tarn_mhd *mhd = cls;
    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
        atomic_fetch_sub(&mhd->connections, 1);
        tarn_traffic_connected(mhd->app->traffic, -1);
        return;
    }
    tarn_traffic_connected(mhd->app->traffic, 1);
    if (atomic_fetch_add(&mhd->connections, 1) < mhd->options.connections_max)
        return;
    *socket_context = mhd;
    (void)MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, REFUSAL_TIMEOUT_S);
}

/* Segments are decoded by api/route_match.c, each alone. */
static size_t leave_escaped(void *cls, struct MHD_Connection *connection, char *text)
{
    (void)cls;
    (void)connection;
    return strlen(text);
}

__attribute__((format(printf, 2, 0))) static void on_log(void *cls, const char *fmt, va_list args)
{
    char text[512];
    (void)cls;
    int len = vsnprintf(text, sizeof text, fmt, args);
    if (len > 0)
        text[strcspn(text, "\n")] = '\0';
    tarn_log(TARN_LOG_DEBUG, "microhttpd", "detail", text, NULL);
}

/* --- life --- */

static struct MHD_Daemon *start_daemon(struct tarn_mhd *mhd)
{
    const struct tarn_mhd_options *o = &mhd->options;
    unsigned flags =
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_TURBO | MHD_USE_ERROR_LOG;
    struct MHD_OptionItem items[] = {
        { MHD_OPTION_EXTERNAL_LOGGER, (intptr_t)on_log, mhd },
        { MHD_OPTION_LISTEN_SOCKET, o->listen_fd, NULL },
        { MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)on_target, mhd },
        { MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t)leave_escaped, NULL },
        { MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)on_completed, mhd },
        { MHD_OPTION_CONNECTION_MEMORY_LIMIT, (intptr_t)CONNECTION_BYTES(o->headers_max), NULL },
        { MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)on_connection, mhd },
        { MHD_OPTION_CONNECTION_LIMIT, (intptr_t)(o->connections_max + REFUSALS(o->connections_max)), NULL },
        { MHD_OPTION_CONNECTION_TIMEOUT, (intptr_t)o->timeout_s, NULL },
        { MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, NULL },
        { MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL },
        { MHD_OPTION_THREAD_POOL_SIZE, o->loops > 1 ? (intptr_t)o->loops : 0, NULL },
        { MHD_OPTION_END, 0, NULL },
    };
    return MHD_start_daemon(flags, 0, NULL, NULL, on_request, mhd, MHD_OPTION_ARRAY, items, MHD_OPTION_END);
}

tarn_code tarn_mhd_start(struct tarn_app *app, struct tarn_tasks *tasks,
                         const struct tarn_mhd_options *options, struct tarn_mhd **out, struct tarn_err *err)
{
    struct tarn_mhd *mhd = calloc(1, sizeof *mhd);
    if (!mhd) {
        close(options->listen_fd);
        return tarn_fail_oom(err);
    }
    mhd->app = app;
    mhd->tasks = tasks;
    mhd->options = *options;
    tarn_code code = tarn_random(&mhd->boot, sizeof mhd->boot, err);
    if (code == TARN_OK)
        mhd->daemon = start_daemon(mhd);
    if (!mhd->daemon) {
        close(options->listen_fd);
        free(mhd);
        return code != TARN_OK ? code : tarn_fail(err, TARN_INTERNAL, "libmicrohttpd does not start");
    }
    *out = mhd;
    return TARN_OK;
}

void tarn_mhd_quiesce(struct tarn_mhd *mhd)
{
    MHD_socket fd = MHD_quiesce_daemon(mhd->daemon);
    if (fd != MHD_INVALID_SOCKET)
        close(fd); /* left open, a new client would hang in the backlog */
}

void tarn_mhd_free(struct tarn_mhd *mhd)
{
    if (!mhd)
        return;
    MHD_stop_daemon(mhd->daemon);
    free(mhd);
}
