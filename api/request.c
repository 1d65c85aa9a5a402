/* request.c - what handlers ask of a request: its table, its query, its page. */
#include "api/http.h"
#include "config/config.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void tarn_request_done(struct tarn_request *req)
{
    free(req->path);
    for (size_t i = 0; i < req->arg_count; i++)
        free(req->arg[i]);
    for (size_t i = 0; i < req->query_count; i++) {
        free(req->query[i].key);
        free(req->query[i].value);
    }
    free(req->query);
    json_decref(req->json);
    req->path = NULL;
    req->query = NULL;
    req->json = NULL;
    req->arg_count = req->query_count = 0;
}

const char *tarn_request_header(const struct tarn_request *req, const char *name)
{
    return req->header ? req->header(req, name) : NULL;
}

const char *tarn_query(const struct tarn_request *req, const char *key)
{
    for (size_t i = 0; i < req->query_count; i++)
        if (strcmp(req->query[i].key, key) == 0)
            return req->query[i].value;
    return NULL;
}

tarn_code tarn_query_i64(const struct tarn_request *req, const char *key, int64_t min, int64_t max,
                         int64_t *out, struct tarn_err *err)
{
    const char *text = tarn_query(req, key);
    if (!text)
        return TARN_OK;
    const char *digits = *text == '-' ? text + 1 : text;
    if (!*digits || digits[strspn(digits, "0123456789")])
        return tarn_fail_field(err, key, "must be a whole number");
    errno = 0;
    long long value = strtoll(text, NULL, 10);
    if (errno || value < min || value > max)
        return tarn_fail_field(err, key, "must be from %lld to %lld", (long long)min, (long long)max);
    *out = value;
    return TARN_OK;
}

tarn_code tarn_request_ident(const struct tarn_request *req, struct tarn_ident *out, struct tarn_err *err)
{
    struct tarn_ident ident;
    tarn_code code = tarn_ident_parse(req->arg[0], "table", &ident, err);
    if (code != TARN_OK)
        return code;
    if (!tarn_principal_sees(&req->who, ident.namespace_, ident.name))
        return tarn_fail(err, TARN_TABLE_NOT_FOUND, "table '%s' does not exist", req->arg[0]);
    *out = ident;
    return TARN_OK;
}

static int64_t page_max(const struct tarn_request *req)
{
    const struct tarn_config *config = req->app ? req->app->config : NULL;
    return config && config->limits_page > 0 ? config->limits_page : 10000;
}

tarn_code tarn_request_page(const struct tarn_request *req, struct tarn_page *out, struct tarn_err *err)
{
    struct tarn_page page = { 0 };
    tarn_code code = tarn_query_i64(req, "page_size", 1, page_max(req), &page.size, err);
    if (code != TARN_OK)
        return code;
    const char *token = tarn_query(req, "page_token");
    if (token && *token)
        code = tarn_page_content(token, &page.token, err);
    if (code == TARN_OK)
        *out = page;
    return code;
}

void tarn_page_done(struct tarn_page *page)
{
    free(page->token);
    page->token = NULL;
}
