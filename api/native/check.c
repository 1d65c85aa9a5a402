/* check.c - POST /api/table/{table}/check: judge it now and answer the fresh status. */
#include "api/native/native.h"
#include "base/time.h"
#include "monitors/monitors.h"
#include <string.h>

static tarn_code check_parse(const struct tarn_request *req, void *use, struct tarn_err *err)
{
    struct tarn_scan_use *u = use;
    const char *depth = tarn_query(req, "depth");

    if (depth && strcmp(depth, "probe") != 0 && strcmp(depth, "sweep") != 0)
        return tarn_fail_field(err, "depth", "must be probe or sweep");
    u->sweep = depth && strcmp(depth, "sweep") == 0;
    u->confirm = true;
    u->defaults = req->app->monitors;
    return tarn_request_ident(req, &u->ident, err);
}

static tarn_code check_answer(const struct tarn_request *req, void *use, struct tarn_reply *reply,
                              struct tarn_err *err)
{
    struct tarn_scan_use *u = use;

    reply->status = 200;
    tarn_status_write(&reply->body, u->table, &u->scan, &u->findings, req->app->monitors, tarn_now_ms());
    return tarn_buf_check(&reply->body, err);
}

const struct tarn_flow tarn_native_check = { &tarn_scan, check_parse, check_answer };
