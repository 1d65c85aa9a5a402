/* Doors without tokens: only the listen address and localhost, no foreign page, and bodies that say JSON. */
#include "api/http.h"
#include "config/config.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

struct headers { const char *host, *origin, *type, *coding; };

static const char *header(const struct tarn_request *req, const char *name)
{
    const struct headers *headers = req->transport;
    if (strcmp(name, "Host") == 0)
        return headers->host;
    if (strcmp(name, "Origin") == 0)
        return headers->origin;
    if (strcmp(name, "Content-Type") == 0)
        return headers->type;
    return strcmp(name, "Content-Encoding") == 0 ? headers->coding : NULL;
}

static tarn_code ask(struct headers *headers, const char *body, struct tarn_err *err)
{
    bool made;
    char allow[64], listen[] = "10.0.0.7:8181";
    struct tarn_auth *auth = NULL;
    struct tarn_config config = { .listen = listen };
    cr_assert(eq(int, (int)tarn_auth_open(TARN_AUTH_NONE, NULL, NULL, &made, &auth, err), (int)TARN_OK));
    struct tarn_app app = { .auth = auth, .config = &config };
    struct tarn_request req = { .app = &app, .header = header, .transport = headers, .body = body };
    req.body_len = body ? strlen(body) : 0;
    tarn_code code = tarn_route_match(body ? "POST" : "GET", "/api/tokens", &req, allow, err);
    if (code == TARN_OK)
        code = tarn_route_admit(&req, err);
    if (code == TARN_OK)
        code = tarn_route_body(&req, err);
    tarn_request_done(&req);
    tarn_auth_free(auth);
    return code;
}

Test(admit, without_tokens_host_and_origin_must_be_ours)
{
    static const struct { const char *host, *origin; tarn_code code; } k_rows[] = {
        { "localhost", NULL, TARN_OK },
        { "localhost:8181", NULL, TARN_OK },
        { "LOCALHOST:9000", NULL, TARN_OK },
        { "127.0.0.1:8181", NULL, TARN_OK },
        { "[::1]:8181", NULL, TARN_OK },
        { "10.0.0.7:8181", NULL, TARN_OK },
        { "localhost:8181", "http://localhost:8181", TARN_OK },
        { NULL, NULL, TARN_FORBIDDEN },
        { "", NULL, TARN_FORBIDDEN },
        { "evil.example", NULL, TARN_FORBIDDEN },
        { "localhost.evil.example", NULL, TARN_FORBIDDEN },
        { "127.0.0.1.evil.example", NULL, TARN_FORBIDDEN },
        { "localhost:8181", "http://evil.example", TARN_FORBIDDEN },
        { "localhost:8181", "http://localhost:3000", TARN_FORBIDDEN },
        { "localhost:8181", "null", TARN_FORBIDDEN },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        TARN_ERR(err);
        struct headers headers = { .host = k_rows[i].host, .origin = k_rows[i].origin };
        cr_expect(eq(int, (int)ask(&headers, NULL, &err), (int)k_rows[i].code), "%s %s", k_rows[i].host,
                  k_rows[i].origin);
    }
}

Test(admit, bodies_say_that_they_are_json)
{
    static const struct { const char *type, *coding, *body; tarn_code code; } k_rows[] = {
        { "application/json", NULL, "{}", TARN_OK },
        { "Application/JSON; charset=utf-8", NULL, "{}", TARN_OK },
        { "application/merge-patch+json", NULL, "{}", TARN_OK },
        { "application/json", "identity", "{}", TARN_OK },
        { NULL, NULL, "{}", TARN_UNSUPPORTED_MEDIA_TYPE },
        { "text/plain", NULL, "{}", TARN_UNSUPPORTED_MEDIA_TYPE },
        { "application/jsonx", NULL, "{}", TARN_UNSUPPORTED_MEDIA_TYPE },
        { "x+json", NULL, "{}", TARN_UNSUPPORTED_MEDIA_TYPE },
        { "application/json", "gzip", "{}", TARN_UNSUPPORTED_MEDIA_TYPE },
        { "application/json", NULL, "[]", TARN_INVALID },
        { "application/json", NULL, "null", TARN_INVALID },
        { "application/json", NULL, "{", TARN_INVALID },
        { "application/json", NULL, "{\"a\":1,\"a\":2}", TARN_INVALID },
        { "application/json", NULL, "{\"a\":9223372036854775808}", TARN_INVALID },
        { "application/json", NULL, "", TARN_INVALID },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        TARN_ERR(err);
        struct headers headers = { .host = "localhost", .type = k_rows[i].type, .coding = k_rows[i].coding };
        cr_expect(eq(int, (int)ask(&headers, k_rows[i].body, &err), (int)k_rows[i].code), "%s: %s", k_rows[i].body,
                  err.detail);
    }
}
