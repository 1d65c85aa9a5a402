/* call.c - a whole request on the calling thread, without sockets: how the tests ask. */
#include "api/http.h"
#include "base/time.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct call {
    char *authorization; /* owned or NULL */
};

static const char *call_header(const struct tarn_request *req, const char *name)
{
    const struct call *call = req->transport;
    if (strcasecmp(name, "Authorization") == 0)
        return call->authorization;
    if (strcasecmp(name, "Host") == 0)
        return "localhost";
    if (strcasecmp(name, "Content-Type") == 0)
        return "application/json";
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
    else
        code = (route->handle ? route->handle : route->work)(req, reply, err);
    return code == TARN_OK ? drain_stream(reply, err) : code;
}

void tarn_api_call(struct tarn_app *app, const char *method, const char *target, const char *token, const char *body,
                   struct tarn_reply *reply)
{
    TARN_ERR(err);
    char allow[64];
    struct call call = { 0 };
    struct tarn_request req = { .app = app, .header = call_header, .transport = &call, .now_ms = tarn_now_ms() };
    req.body = body;
    req.body_len = body ? strlen(body) : 0;
    snprintf(req.id, sizeof req.id, "call");
    if (token && asprintf(&call.authorization, "Bearer %s", token) < 0)
        call.authorization = NULL;

    tarn_code code = tarn_route_match(method, target, &req, allow, &err);
    if (code == TARN_OK)
        code = run_route(&req, reply, &err);
    if (code != TARN_OK)
        tarn_reply_problem(reply, &req, &err);
    if (code == TARN_METHOD_NOT_ALLOWED)
        tarn_reply_header(reply, "Allow", "%s", allow);
    tarn_request_done(&req);
    free(call.authorization);
}
