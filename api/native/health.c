/* health.c - /healthz: the process answers; /readyz: it takes work. Neither holds data. */
#include "api/native/native.h"

tarn_code tarn_native_health(const struct tarn_request *req, struct tarn_reply *reply, struct tarn_err *err)
{
    (void)req;
    reply->status = 200;
    tarn_buf_adds(&reply->body, "{\"status\":\"ok\"}");
    return tarn_buf_check(&reply->body, err);
}

tarn_code tarn_native_ready(const struct tarn_request *req, struct tarn_reply *reply, struct tarn_err *err)
{
    if (req->app->ready && !req->app->ready())
        return tarn_fail(err, TARN_OVERLOADED, "the server is starting or stopping");
    reply->status = 200;
    tarn_buf_adds(&reply->body, "{\"status\":\"ready\"}");
    return tarn_buf_check(&reply->body, err);
}
