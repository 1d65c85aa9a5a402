/* body.c - the body of a request: what it must call itself, and its JSON or its form. */
#include "api/http.h"
#include "base/json.h"
#include "config/config.h"
#include <string.h>

/* application/json or any type whose suffix is +json, parameters apart. */
static bool is_json_type(const char *type)
{
    size_t len = strcspn(type, "; \t");
    if (len == 16 && strncasecmp(type, "application/json", len) == 0)
        return true;
    return len > 5 && memchr(type, '/', len) && strncasecmp(type + len - 5, "+json", 5) == 0;
}

static tarn_code check_type(const struct tarn_request *req, struct tarn_err *err)
{
    const char *type = tarn_request_header(req, "Content-Type");
    const char *coding = tarn_request_header(req, "Content-Encoding");
    if (coding && strcasecmp(coding, "identity") != 0)
        return tarn_fail_code_field(err, TARN_UNSUPPORTED_MEDIA_TYPE, "Content-Encoding",
                                    "the body must not be compressed");
    if (type && !is_json_type(type))
        return tarn_fail_code_field(err, TARN_UNSUPPORTED_MEDIA_TYPE, "Content-Type",
                                    "the body must be application/json");
    /* A form of a foreign page cannot name JSON: without tokens the type is the proof. */
    if (!type && tarn_auth_mode(req->app->auth) == TARN_AUTH_NONE)
        return tarn_fail_code_field(err, TARN_UNSUPPORTED_MEDIA_TYPE, "Content-Type",
                                    "without tokens the body must say application/json");
    return TARN_OK;
}

static struct tarn_json_limits limits_of(const struct tarn_request *req)
{
    struct tarn_json_limits limits = tarn_json_limits_default;
    const struct tarn_config *config = req->app->config;
    if (config && config->limits_json_depth > 0)
        limits.max_depth = (size_t)config->limits_json_depth;
    if (config && config->limits_json_values > 0)
        limits.max_values = (size_t)config->limits_json_values;
    return limits;
}

/* Fields of a form stand beside those of the query; a field in both is one too many. */
static tarn_code take_form(struct tarn_request *req, struct tarn_err *err)
{
    const char *type = tarn_request_header(req, "Content-Type");
    const char *wanted = "application/x-www-form-urlencoded";
    size_t len = type ? strcspn(type, "; \t") : 0;

    if (type && (len != strlen(wanted) || strncasecmp(type, wanted, len) != 0))
        return tarn_fail_code_field(err, TARN_UNSUPPORTED_MEDIA_TYPE, "Content-Type", "the body must be %s",
                                    wanted);
    if (memchr(req->body, '\0', req->body_len))
        return tarn_fail(err, TARN_INVALID, "the form holds a NUL");
    TARN_AUTO(mem) char *text = strndup(req->body, req->body_len);
    if (!text)
        return tarn_fail_oom(err);
    return tarn_route_parameters(req, text, err);
}

tarn_code tarn_route_body(struct tarn_request *req, struct tarn_err *err)
{
    enum tarn_route_body wants = req->route->body;
    if (req->body_len == 0)
        return wants == TARN_BODY_JSON ? tarn_fail(err, TARN_INVALID, "a JSON body is needed") : TARN_OK;
    if (wants == TARN_BODY_NONE)
        return tarn_fail(err, TARN_INVALID, "%s %s takes no body", req->method, req->route->path);
    if (wants == TARN_BODY_FORM)
        return take_form(req, err);
    tarn_code code = check_type(req, err);
    if (code != TARN_OK)
        return code;
    struct tarn_json_limits limits = limits_of(req);
    json_t *json = NULL;
    code = tarn_json_parse(req->body, req->body_len, &limits, &json, err);
    if (code != TARN_OK)
        return code;
    if (!json_is_object(json)) {
        json_decref(json);
        return tarn_fail(err, TARN_INVALID, "the body must be a JSON object");
    }
    json_decref(req->json);
    req->json = json;
    return TARN_OK;
}
