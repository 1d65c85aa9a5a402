/* visit_body.c - bodies come in pieces. What is refused by its headers is never kept; up to a bound it
 * is still read, since closing a socket with unread bytes would take the answer from the client. */
#include "server/visit.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE_BYTES (1u << 20) /* an announced body up to here gets its room in one piece */

static const char *header(const struct tarn_visit *visit, const char *name)
{
    return MHD_lookup_connection_value(visit->connection, MHD_HEADER_KIND, name);
}

static bool read_length(const char *text, uint64_t *out)
{
    if (!*text || text[strspn(text, "0123456789")])
        return false;
    errno = 0;
    *out = strtoull(text, NULL, 10);
    return errno == 0;
}

static tarn_code too_large(const struct tarn_visit *visit, struct tarn_err *err)
{
    return tarn_fail(err, TARN_PAYLOAD_TOO_LARGE, "a body has at most %zu bytes",
                     visit->mhd->options.body_max);
}

static tarn_code no_room(struct tarn_err *err)
{
    return tarn_fail(err, TARN_OVERLOADED,
                     "the bodies in memory are too large together; send it again later");
}

static enum MHD_Result count_framing(void *cls, enum MHD_ValueKind kind, const char *name, const char *value)
{
    (void)kind;
    (void)value;
    if (strcasecmp(name, "Content-Length") == 0 || strcasecmp(name, "Transfer-Encoding") == 0)
        ++*(unsigned *)cls;
    return MHD_YES;
}

/* A proxy in front may have taken another end than we would:
 * what follows could be somebody else's request. */
static tarn_code check_framing(struct tarn_visit *visit, struct tarn_err *err)
{
    const char *coding = header(visit, "Transfer-Encoding");
    unsigned count = 0;
    MHD_get_connection_values(visit->connection, MHD_HEADER_KIND, count_framing, &count);
    if (count <= 1 && (!coding || strcasecmp(coding, "chunked") == 0))
        return TARN_OK;
    visit->is_last = true;
    return count > 1 ? tarn_fail_field(err, "Content-Length", "the length of the body is told twice")
                     : tarn_fail_field(err, "Transfer-Encoding", "must be chunked");
}

tarn_code tarn_visit_announce(struct tarn_visit *visit, struct tarn_err *err)
{
    tarn_code code = check_framing(visit, err);
    if (code != TARN_OK)
        return code;
    const char *length = header(visit, "Content-Length");
    bool chunked = header(visit, "Transfer-Encoding") != NULL;
    if (length && !chunked && !read_length(length, &visit->announced))
        return tarn_fail_field(err, "Content-Length", "is no number of bytes");
    visit->has_body = chunked || visit->announced > 0;
    return TARN_OK;
}

tarn_code tarn_visit_check_body(const struct tarn_visit *visit, struct tarn_err *err)
{
    const struct tarn_mhd *mhd = visit->mhd;
    const struct tarn_route *route = visit->task.req.route;
    if (!visit->has_body)
        return TARN_OK;
    if (route->body == TARN_BODY_NONE)
        return tarn_fail(err, TARN_INVALID, "%s %s takes no body", route->method, route->path);
    if (visit->announced > mhd->options.body_max)
        return too_large(visit, err);
    if (atomic_load(&mhd->bodies) + visit->announced > mhd->options.bodies_max)
        return no_room(err);
    return TARN_OK;
}

void tarn_visit_forget(struct tarn_visit *visit)
{
    if (visit->counted > 0)
        atomic_fetch_sub(&visit->mhd->bodies, visit->counted);
    visit->counted = 0;
}

static void refuse(struct tarn_visit *visit, tarn_code code)
{
    visit->task.code = code;
    visit->task.step = TARN_STEP_ANSWER;
    visit->swallows = true;
    tarn_buf_done(&visit->task.body);
    tarn_visit_forget(visit);
}

/* The buffer's growth is counted as it happens, so that a slow sender holds no more than it sent. */
static tarn_code keep(struct tarn_visit *visit, const char *data, size_t len)
{
    struct tarn_mhd *mhd = visit->mhd;
    struct tarn_task *task = &visit->task;
    if (visit->seen > mhd->options.body_max)
        return too_large(visit, &task->err);
    if (atomic_load(&mhd->bodies) - visit->counted + visit->seen > mhd->options.bodies_max)
        return no_room(&task->err);
    if (task->body.cap == 0 && visit->announced > 0 && visit->announced <= AT_ONCE_BYTES &&
        tarn_buf_reserve(&task->body, (size_t)visit->announced))
        task->body.data[0] = '\0';
    tarn_buf_add(&task->body, data, len);
    tarn_code code = tarn_buf_check(&task->body, &task->err);
    if (code != TARN_OK)
        return code;
    atomic_fetch_add(&mhd->bodies, task->body.cap - visit->counted);
    visit->counted = task->body.cap;
    return TARN_OK;
}

uint64_t tarn_visit_swallows(const struct tarn_visit *visit)
{
    bool is_known = visit->task.req.who.scope != TARN_SCOPE_NONE;
    return is_known ? (uint64_t)visit->mhd->options.body_max * 2 : TARN_SWALLOW_MAX;
}

bool tarn_visit_take(struct tarn_visit *visit, const char *data, size_t len)
{
    visit->seen += len;
    if (!visit->swallows) {
        tarn_code code = keep(visit, data, len);
        if (code != TARN_OK)
            refuse(visit, code);
        return true;
    }
    return visit->seen <= tarn_visit_swallows(visit);
}
