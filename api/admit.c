/* admit.c - who may ask: judged on the headers alone, before a body byte is kept. */
#include "api/http.h"
#include "config/config.h"
#include <string.h>

/* The host of "host:port", "[v6]:port" or "host", without brackets. */
static size_t host_part(const char *text, const char **host)
{
    if (*text == '[') {
        *host = text + 1;
        return strcspn(text + 1, "]");
    }
    *host = text;
    return strcspn(text, ":");
}

static bool same_host(const char *authority, const char *allowed)
{
    const char *a, *b;
    size_t a_len = host_part(authority, &a), b_len = host_part(allowed, &b);
    return a_len == b_len && a_len > 0 && strncasecmp(a, b, a_len) == 0;
}

static bool host_is_ours(const struct tarn_request *req, const char *host)
{
    static const char *const k_loopback[] = { "localhost", "127.0.0.1", "[::1]" };
    for (size_t i = 0; i < TARN_COUNT(k_loopback); i++)
        if (same_host(host, k_loopback[i]))
            return true;
    const struct tarn_config *config = req->app->config;
    return config && config->listen && same_host(host, config->listen);
}

/* An Origin is ours when it names the very authority that was asked. */
static bool origin_is_ours(const char *origin, const char *host)
{
    const char *rest = strstr(origin, "://");
    return rest && strcasecmp(rest + 3, host) == 0;
}

/* Without tokens a page in a browser of this machine could ask in its user's name, by a rebound
 * name or across origins: both show in the headers. */
static tarn_code admit_open(const struct tarn_request *req, struct tarn_err *err)
{
    const char *host = tarn_request_header(req, "Host");
    const char *origin = tarn_request_header(req, "Origin");
    if (!host || !host_is_ours(req, host))
        return tarn_fail_code_field(err, TARN_FORBIDDEN, "Host",
                                    "without tokens only the listen address and localhost can be asked");
    if (origin && !origin_is_ours(origin, host))
        return tarn_fail_code_field(err, TARN_FORBIDDEN, "Origin",
                                    "without tokens pages of other origins are refused");
    return TARN_OK;
}

tarn_code tarn_route_admit(struct tarn_request *req, struct tarn_err *err)
{
    struct tarn_auth *auth = req->app->auth;
    if (tarn_auth_mode(auth) == TARN_AUTH_NONE) {
        tarn_code code = admit_open(req, err);
        if (code != TARN_OK)
            return code;
    }
    const struct tarn_config *config = req->app->config;
    bool is_open = req->route->is_metrics && config && config->metrics_public;
    enum tarn_scope needed = is_open ? TARN_SCOPE_NONE : req->route->scope;
    if (needed == TARN_SCOPE_NONE)
        return TARN_OK;
    tarn_code code =
        tarn_auth_check(auth, tarn_request_header(req, "Authorization"), req->now_ms, &req->who, err);
    if (code != TARN_OK)
        return code;
    if (req->who.scope < needed)
        return tarn_fail(err, TARN_FORBIDDEN, "this needs the scope %s, the token has %s",
                         tarn_scope_text(needed), tarn_scope_text(req->who.scope));
    return TARN_OK;
}
