/* call.c - a whole request on the calling thread, without sockets: how the tests ask. */
#include "api/http.h"
#include "base/time.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *value;
} k_headers[] = {
    { "Host", "localhost" },
    { "Content-Type", "application/json" },
};

static const char *call_header(const struct tarn_request *req, const char *name)
{
    const char *const *pair = req->transport;
    for (; pair && pair[0]; pair += 2)
        if (strcasecmp(name, pair[0]) == 0)
            return pair[1];
    for (size_t i = 0; i < TARN_COUNT(k_headers); i++)
        if (strcasecmp(name, k_headers[i].name) == 0)
            return k_headers[i].value;
    return NULL;
}

static tarn_code run_flow(const struct tarn_request *req, struct tarn_reply *reply, struct tarn_err *err)
{
    const struct tarn_flow *flow = req->route->flow;
    void *use = calloc(1, flow->use->size);
    if (!use)
        return tarn_fail_oom(err);
    tarn_code code = flow->parse(req, use, err);
    if (code == TARN_OK)
        code = tarn_use_run(req->app->lake, flow->use, use, err);
    if (code == TARN_OK)
        code = flow->answer(req, use, reply, err);
    if (flow->use->done)
        flow->use->done(use);
    free(use);
    return code;
}

static tarn_code drain_stream(struct tarn_reply *reply, struct tarn_err *err)
{
    bool end = !reply->stream.produce;
    while (!end) {
        tarn_code code = reply->stream.produce(reply->stream.state, &reply->body, &end, err);
        if (code != TARN_OK)
            return code;
    }
    return TARN_OK;
}

static tarn_code run_route(struct tarn_request *req, struct tarn_reply *reply, struct tarn_err *err)
{
    tarn_code code = tarn_route_admit(req, err);
    if (code == TARN_OK)
        code = tarn_route_body(req, err);
    if (code != TARN_OK)
        return code;
    const struct tarn_route *route = req->route;
    if (route->flow)
        code = run_flow(req, reply, err);
    else if (route->handle)
        code = route->handle(req, reply, err);
    if (code == TARN_OK && route->work && reply->status == 0)
        code = route->work(req, reply, err);
    return code == TARN_OK ? drain_stream(reply, err) : code;
}

void tarn_api_call_with(struct tarn_app *app, const char *method, const char *target,
                        const char *const *headers, const char *body, struct tarn_reply *reply)
{
    TARN_ERR(err);
    char allow[64];
    struct tarn_request req = {
        .app = app, .header = call_header, .transport = (void *)(uintptr_t)headers, .now_ms = tarn_now_ms()
    };
    req.body = body;
    req.body_len = body ? strlen(body) : 0;
    snprintf(req.id, sizeof req.id, "call");

    tarn_code code = tarn_route_match(method, target, &req, allow, &err);
    if (code == TARN_OK)
        code = run_route(&req, reply, &err);
    if (code != TARN_OK)
        tarn_reply_problem(reply, &req, &err);
    if (code == TARN_METHOD_NOT_ALLOWED)
        tarn_reply_header(reply, "Allow", "%s", allow);
    tarn_request_done(&req);
}

void tarn_api_call(struct tarn_app *app, const char *method, const char *target, const char *token,
                   const char *body, struct tarn_reply *reply)
{
    char authorization[256];
    const char *const headers[] = { "Authorization", authorization, NULL, NULL };

    snprintf(authorization, sizeof authorization, "Bearer %s", token ? token : "");
    tarn_api_call_with(app, method, target, token ? headers : NULL, body, reply);
}
