/* oauth.c - POST /iceberg/v1/oauth/tokens (RFC 6749, RFC 8693): engines that know a credential and want a token. The secret is
 * a token of this server already, so it is looked at and handed back: the secret alone decides, the client id may be anything.
 * Refusals have the form of RFC 6749, section 5.2. */
#include "api/iceberg/iceberg.h"
#include "base/base64.h"
#include "base/text.h"
#include <stdio.h>
#include <string.h>

#define TYPE_ACCESS_TOKEN "urn:ietf:params:oauth:token-type:access_token"
#define GRANT_EXCHANGE    "urn:ietf:params:oauth:grant-type:token-exchange"
#define SECRET_MAX        512

/* Which error of RFC 6749 it is, kept beside the code. */
static tarn_code refuse(struct tarn_err *err, tarn_code code, const char *error, const char *why)
{
    tarn_code told = tarn_fail(err, code, "%s", why);

    (void)tarn_err_add(err, "oauth", json_string(error));
    return told;
}

void tarn_iceberg_reply_oauth_error(struct tarn_reply *reply, const struct tarn_err *err)
{
    const char *error = json_string_value(json_object_get(err->more, "oauth"));
    unsigned status = tarn_code_http(err->code);
    char detail[TARN_ICEBERG_DETAIL_MAX];

    tarn_reply_done(reply);
    struct tarn_jsonw w = tarn_jsonw_to(&reply->body);
    reply->status = status >= 500 || status == 401 ? status : 400;
    tarn_jsonw_object(&w);
    tarn_jsonw_kstr(&w, "error", error ? error : "invalid_request");
    tarn_jsonw_kstr(&w, "error_description", tarn_iceberg_detail(err, detail));
    tarn_jsonw_object_end(&w);
    tarn_reply_header(reply, "Cache-Control", "no-store");
    if (status == 401)
        tarn_reply_header(reply, "WWW-Authenticate", "Basic realm=\"tarn\"");
}

/* --- the secret --- */

/* The part after the colon of `Basic <base64 of id:secret>`, percent-decoded (RFC 6749, section 2.3.1). */
static bool basic_secret(const char *header, char out[SECRET_MAX])
{
    char text[SECRET_MAX * 2], raw[SECRET_MAX * 2 + 1];
    TARN_ERR(ignored);
    size_t len = 0;

    if (!header || strncasecmp(header, "Basic ", 6) != 0 || strlen(header) - 6 >= sizeof text)
        return false;
    snprintf(text, sizeof text, "%s", header + 6 + strspn(header + 6, " "));
    text[strcspn(text, "= ")] = '\0';
    for (char *c = text; *c; c++)
        *c = *c == '+' ? '-' : *c == '/' ? '_' : *c;
    if (!tarn_base64url_decode(text, raw, &len))
        return false;
    raw[len] = '\0';
    const char *secret = strchr(raw, ':');
    if (!secret || strlen(secret + 1) >= SECRET_MAX)
        return false;
    return tarn_percent_decode(secret + 1, strlen(secret + 1), false, out, &ignored) == TARN_OK;
}

static tarn_code client_secret(const struct tarn_request *req, char out[SECRET_MAX], struct tarn_err *err)
{
    const char *given = tarn_query(req, "client_secret");

    if (given && *given)
        snprintf(out, SECRET_MAX, "%s", given);
    else if (!basic_secret(tarn_request_header(req, "Authorization"), out))
        return refuse(err, TARN_INVALID, "invalid_request", "client_secret is needed: a token of this server");
    return TARN_OK;
}

static tarn_code subject_token(const struct tarn_request *req, char out[SECRET_MAX], struct tarn_err *err)
{
    const char *given = tarn_query(req, "subject_token"), *type = tarn_query(req, "subject_token_type");

    if (!given || !*given)
        return refuse(err, TARN_INVALID, "invalid_request", "subject_token is needed: a token of this server");
    if (!type || !*type)
        return refuse(err, TARN_INVALID, "invalid_request", "subject_token_type is needed");
    snprintf(out, SECRET_MAX, "%s", given);
    return TARN_OK;
}

/* --- the answer --- */

static tarn_code answer(const char *secret, int64_t ends_at, int64_t now_ms, struct tarn_reply *reply, struct tarn_err *err)
{
    struct tarn_jsonw w = tarn_jsonw_to(&reply->body);

    reply->status = 200;
    tarn_jsonw_object(&w);
    tarn_jsonw_kstr(&w, "access_token", secret);
    tarn_jsonw_kstr(&w, "token_type", "bearer");
    tarn_jsonw_kstr(&w, "issued_token_type", TYPE_ACCESS_TOKEN);
    if (ends_at >= 0)
        tarn_jsonw_ki64(&w, "expires_in", (ends_at - now_ms) / 1000);
    tarn_jsonw_object_end(&w);
    tarn_reply_header(reply, "Cache-Control", "no-store");
    return tarn_buf_check(&reply->body, err);
}

tarn_code tarn_iceberg_oauth_token(const struct tarn_request *req, struct tarn_reply *reply, struct tarn_err *err)
{
    const char *grant = tarn_query(req, "grant_type");
    bool exchanges = grant && strcmp(grant, GRANT_EXCHANGE) == 0;
    char secret[SECRET_MAX] = "";
    struct tarn_principal who;
    int64_t ends_at = -1;

    if (!grant || !*grant)
        return refuse(err, TARN_INVALID, "invalid_request", "grant_type is needed");
    if (!exchanges && strcmp(grant, "client_credentials") != 0)
        return refuse(err, TARN_INVALID, "unsupported_grant_type", "grant_type: client_credentials or " GRANT_EXCHANGE);
    tarn_code code = exchanges ? subject_token(req, secret, err) : client_secret(req, secret, err);
    if (code != TARN_OK)
        return code;
    if (tarn_auth_check_secret(req->app->auth, secret, req->now_ms, &who, &ends_at, err) != TARN_OK)
        return exchanges ? refuse(err, TARN_INVALID, "invalid_grant", "the subject token is not known, revoked or expired")
                         : refuse(err, TARN_UNAUTHORIZED, "invalid_client", "the secret is no token, or it is revoked or expired");
    return answer(secret, ends_at, req->now_ms, reply, err);
}
