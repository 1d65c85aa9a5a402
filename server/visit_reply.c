/* visit_reply.c - from a reply to the wire. The body's memory goes to libmicrohttpd as it is; a stream
 * is copied piece by piece, the connection sleeping while a worker makes the next one. */
#include "base/jsonw.h"
#include "base/log.h"
#include "base/time.h"
#include "server/flow.h"
#include "server/stream.h"
#include "server/visit.h"
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES (32u << 10)

static void log_answer(const struct tarn_visit *visit, unsigned status)
{
    const struct tarn_task *task = &visit->task;
    const struct tarn_route *route = task->req.route;
    if (status < 500 && !visit->mhd->options.log_requests)
        return;
    enum tarn_log_level level = status < 500    ? TARN_LOG_DEBUG
                                : status == 503 ? TARN_LOG_WARN
                                                : TARN_LOG_ERROR;
    tarn_log(level, "request", "request_id", task->req.id, "method", task->req.method, "op",
             route ? route->operation : NULL, "path", task->req.path, "status", tarn_log_i64(status), "ms",
             tarn_log_i64((tarn_monotonic_us() - visit->began_us) / 1000), "code",
             task->code == TARN_OK ? NULL : tarn_code_slug(task->code), "detail",
             task->code == TARN_OK ? NULL : task->err.detail, NULL);
}

static ssize_t on_read(void *cls, uint64_t pos, char *out, size_t max)
{
    struct tarn_visit *visit = cls;
    struct tarn_task *task = &visit->task;
    (void)pos;
    if (task->lost)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    size_t len = tarn_stream_copy(task, out, max);
    if (len > 0)
        return (ssize_t)len;
    if (task->code == TARN_OK && task->stream_end)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (task->code != TARN_OK) {
        /* The status line is out: all that is left is to end the body early, so that no client
         * takes it for whole. */
        tarn_log(TARN_LOG_ERROR, "answer cut", "request_id", task->req.id, "code", tarn_code_slug(task->code),
                 "detail", task->err.detail, NULL);
        return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    task->step = TARN_STEP_STREAM;
    if (tarn_task_depart(task, &task->err) != TARN_OK)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    MHD_suspend_connection(visit->connection);
    tarn_flow_launch(task);
    return 0;
}

static void on_read_done(void *cls) { tarn_task_unref(&((struct tarn_visit *)cls)->task); }

static struct MHD_Response *response_of_buffer(struct tarn_buf *body)
{
    if (body->len == 0)
        return MHD_create_response_from_buffer(0, (void *)(uintptr_t) "", MHD_RESPMEM_PERSISTENT);
    struct MHD_Response *response =
        MHD_create_response_from_buffer_with_free_callback(body->len, body->data, free);
    if (response)
        *body = (struct tarn_buf){ 0 };
    return response;
}

static struct MHD_Response *response_of(struct tarn_visit *visit)
{
    struct tarn_task *task = &visit->task;
    if (!task->reply.stream.produce)
        return response_of_buffer(&task->reply.body);
    if (task->stream_end) /* the first piece is the whole */
        return response_of_buffer(&task->piece);
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES, on_read, visit, on_read_done);
    if (response)
        tarn_task_ref(task);
    return response;
}

static enum MHD_Result queue(struct tarn_visit *visit, struct MHD_Response *response, unsigned status,
                             const char *type)
{
    if (!response)
        return MHD_NO;
    if (type)
        MHD_add_response_header(response, "Content-Type", type);
    MHD_add_response_header(response, "X-Request-Id", visit->task.req.id);
    if (visit->is_last || atomic_load_explicit(&visit->mhd->tasks->draining, memory_order_relaxed))
        MHD_add_response_header(response, "Connection", "close");
    enum MHD_Result result = MHD_queue_response(visit->connection, status, response);
    visit->told = status;
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result tell(struct tarn_visit *visit, const struct tarn_reply *reply, struct MHD_Response *response)
{
    for (size_t i = 0; response && i < reply->header_count; i++)
        MHD_add_response_header(response, reply->headers[i].name, reply->headers[i].value);
    bool empty = reply->status == 204 || reply->status == 304;
    const char *type = reply->content_type ? reply->content_type : "application/json";
    return queue(visit, response, reply->status, empty ? NULL : type);
}

enum MHD_Result tarn_visit_respond(struct tarn_visit *visit)
{
    struct tarn_task *task = &visit->task;
    struct tarn_reply *reply = &task->reply;
    if (task->code != TARN_OK) {
        task->err.code = task->code;
        tarn_reply_problem(reply, &task->req, &task->err);
    }
    visit->told_code = task->code;
    if (task->code == TARN_METHOD_NOT_ALLOWED)
        tarn_reply_header(reply, "Allow", "%s", visit->allow);
    log_answer(visit, reply->status);
    return tell(visit, reply, response_of(visit));
}

/* "…/check?depth=sweep" to "…/status", in the client's own spelling. */
static void elsewhere_of(const struct tarn_visit *visit, struct tarn_buf *out)
{
    size_t len = strcspn(visit->target, "?");
    while (len > 0 && visit->target[len - 1] != '/')
        len--;
    tarn_buf_add(out, visit->target, len);
    tarn_buf_adds(out, visit->task.req.route->elsewhere);
}

/* It takes long and goes on; the client may ask for its outcome. */
static enum MHD_Result respond_late(struct tarn_visit *visit)
{
    TARN_AUTO_DONE(buf) struct tarn_buf url = { 0 }, body = { 0 };
    struct tarn_jsonw w = tarn_jsonw_to(&body);
    elsewhere_of(visit, &url);
    if (tarn_buf_check(&url, NULL) != TARN_OK)
        return MHD_NO;
    tarn_jsonw_object(&w);
    tarn_jsonw_kstr(&w, "progress", url.data);
    tarn_jsonw_object_end(&w);
    if (tarn_buf_check(&body, NULL) != TARN_OK)
        return MHD_NO;
    struct MHD_Response *response = response_of_buffer(&body);
    if (response)
        MHD_add_response_header(response, "Location", url.data);
    return queue(visit, response, 202, "application/json");
}

/* What only reads decided nothing, however far it came. */
static bool decides(const struct tarn_route *route)
{
    bool is_reader = route->scope == TARN_SCOPE_STATUS || route->scope == TARN_SCOPE_READ;

    return !is_reader && strcmp(route->method, "GET") != 0 && strcmp(route->method, "HEAD") != 0;
}

/* The job may still be writing into the task: nothing of it is read but the id and the route. */
enum MHD_Result tarn_visit_respond_lost(struct tarn_visit *visit)
{
    const struct tarn_route *route = visit->task.req.route;
    const struct tarn_request form = { .route = route, .is_iceberg = route->face == TARN_FACE_ICEBERG };
    struct tarn_reply reply = { 0 };
    TARN_ERR(err);

    if (visit->task.late)
        return respond_late(visit);
    visit->told_code = decides(route) ? tarn_fail(&err, TARN_COMMIT_STATE_UNKNOWN,
                                                  "the server stopped before the request ended: ask what became of it")
                                      : tarn_fail(&err, TARN_OVERLOADED, "the server stopped before the request ended: ask again");
    tarn_reply_problem(&reply, &form, &err);
    enum MHD_Result result = tell(visit, &reply, response_of_buffer(&reply.body));
    tarn_reply_done(&reply);
    return result;
}
