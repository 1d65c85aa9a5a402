/* acknowledge.c - POST and DELETE of /api/table/{table}/findings/{id}/ack
 * and .../accept: what people say of a finding. */
#include "api/native/native.h"
#include "base/json.h"
#include "base/time.h"
#include "monitors/monitors.h"

enum { WHO_MAX = 127, TEXT_MAX = 2000 };

static tarn_code begin(const struct tarn_request *req, struct tarn_finding_use *u, enum tarn_say what,
                       struct tarn_err *err)
{
    *u = (struct tarn_finding_use){ .id = req->arg[1], .what = what, .until = -1, .now_ms = req->now_ms };
    return tarn_request_ident(req, &u->ident, err);
}

static tarn_code read_until(const char *text, int64_t now_ms, int64_t *out, struct tarn_err *err)
{
    if (!text)
        return TARN_OK;
    if (tarn_time_parse(text, out, NULL, NULL) != TARN_OK)
        return tarn_fail_field(err, "until", "must be an instant as in RFC 3339, with its offset");
    return *out > now_ms ? TARN_OK : tarn_fail_field(err, "until", "must lie in the future; DELETE takes it back");
}

/* Who does not say who it is, is the token. */
static tarn_code ack_parse(const struct tarn_request *req, void *use, struct tarn_err *err)
{
    struct tarn_finding_use *u = use;
    const char *by = req->who.name, *comment = NULL, *until = NULL;
    const struct tarn_field fields[] = { TARN_OPT_STR("by", &by, 1, WHO_MAX),
                                         TARN_OPT_STR("comment", &comment, 0, TEXT_MAX),
                                         TARN_OPT_STR("until", &until, 1, 64), TARN_FIELDS_END };
    tarn_code code = begin(req, u, TARN_SAY_ACKNOWLEDGED, err);

    if (code == TARN_OK && req->json)
        code = tarn_json_read(req->json, fields, err);
    if (code == TARN_OK)
        code = read_until(until, req->now_ms, &u->until, err);
    u->by = by;
    u->text = comment;
    return code;
}

static tarn_code accept_parse(const struct tarn_request *req, void *use, struct tarn_err *err)
{
    struct tarn_finding_use *u = use;
    const char *by = req->who.name, *reason = NULL;
    const struct tarn_field fields[] = { TARN_STR("reason", &reason, 1, TEXT_MAX), TARN_OPT_STR("by", &by, 1, WHO_MAX),
                                         TARN_FIELDS_END };
    tarn_code code = begin(req, u, TARN_SAY_ACCEPTED, err);

    if (code == TARN_OK)
        code = tarn_json_read(req->json, fields, err);
    u->by = by;
    u->text = reason;
    return code;
}

static tarn_code unack_parse(const struct tarn_request *req, void *use, struct tarn_err *err)
{
    return begin(req, use, TARN_SAY_NOT_ACKNOWLEDGED, err);
}

static tarn_code unaccept_parse(const struct tarn_request *req, void *use, struct tarn_err *err)
{
    return begin(req, use, TARN_SAY_NOT_ACCEPTED, err);
}

static tarn_code answer(const struct tarn_request *req, void *use, struct tarn_reply *reply,
                        struct tarn_err *err)
{
    const struct tarn_finding_use *u = use;
    struct tarn_jsonw w = tarn_jsonw_to(&reply->body);

    reply->status = 200;
    tarn_finding_write(&w, &u->finding, true, req->now_ms);
    return tarn_buf_check(&reply->body, err);
}

const struct tarn_flow tarn_native_finding_ack = { &tarn_finding_say, ack_parse, answer };
const struct tarn_flow tarn_native_finding_unack = { &tarn_finding_say, unack_parse, answer };
const struct tarn_flow tarn_native_finding_accept = { &tarn_finding_say, accept_parse, answer };
const struct tarn_flow tarn_native_finding_unaccept = { &tarn_finding_say, unaccept_parse, answer };
