/* reply.c - an answer in the making: status, headers, and a body that is owned until
 * the transport takes it. */
#include "api/http.h"
#include "base/json.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void stream_done(struct tarn_stream *stream)
{
    if (stream->free)
        stream->free(stream->state);
    *stream = (struct tarn_stream){ 0 };
}

void tarn_reply_done(struct tarn_reply *reply)
{
    tarn_buf_done(&reply->body);
    stream_done(&reply->stream);
    for (size_t i = 0; i < reply->header_count; i++)
        free(reply->headers[i].value);
    *reply = (struct tarn_reply){ 0 };
}

void tarn_reply_header(struct tarn_reply *reply, const char *name, const char *fmt, ...)
{
    char *value = NULL;
    va_list args;
    va_start(args, fmt);
    int len = vasprintf(&value, fmt, args);
    va_end(args);
    if (len < 0)
        return;
    if (reply->header_count == TARN_REPLY_HEADERS_MAX || strpbrk(value, "\r\n")) {
        free(value);
        return;
    }
    reply->headers[reply->header_count].name = name;
    reply->headers[reply->header_count++].value = value;
}

tarn_code tarn_reply_nothing(struct tarn_reply *reply)
{
    reply->status = 204;
    return TARN_OK;
}

tarn_code tarn_flow_nothing(const struct tarn_request *req, void *use, struct tarn_reply *reply,
                            struct tarn_err *err)
{
    (void)req;
    (void)use;
    (void)err;
    return tarn_reply_nothing(reply);
}

tarn_code tarn_reply_json(struct tarn_reply *reply, unsigned status, json_t *json, struct tarn_err *err)
{
    json_auto_t *owned = json;
    char *text = owned ? tarn_json_text(owned) : NULL;
    if (!text)
        return tarn_fail_oom(err);
    tarn_buf_done(&reply->body);
    reply->status = status;
    reply->body = (struct tarn_buf){ .data = text, .len = strlen(text), .cap = strlen(text) + 1 };
    return TARN_OK;
}

const char *tarn_reply_header_value(const struct tarn_reply *reply, const char *name)
{
    for (size_t i = 0; i < reply->header_count; i++)
        if (strcasecmp(reply->headers[i].name, name) == 0)
            return reply->headers[i].value;
    return NULL;
}
