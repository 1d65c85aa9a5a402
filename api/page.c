/* page.c - page tokens. The text is base64url of four bytes of a hash and the content:
 * the hash is no secret, it only tells a token of ours from a guess or a cut copy. */
#include "api/http.h"
#include "base/base64.h"
#include "base/hash.h"
#include <stdlib.h>
#include <string.h>

#define CHECK_BYTES 4

static void check_of(const char *content, unsigned char out[CHECK_BYTES])
{
    uint64_t hash = tarn_hash128(content, strlen(content)).lo;
    for (size_t i = 0; i < CHECK_BYTES; i++)
        out[i] = (unsigned char)(hash >> (8 * i) & 255);
}

char *tarn_page_token(const char *content)
{
    size_t len = CHECK_BYTES + strlen(content);
    TARN_AUTO(mem) unsigned char *raw = malloc(len);
    char *text = malloc(TARN_BASE64_TEXT(len));
    if (!raw || !text) {
        free(text);
        return NULL;
    }
    check_of(content, raw);
    memcpy(raw + CHECK_BYTES, content, len - CHECK_BYTES);
    tarn_base64url_encode(raw, len, text);
    return text;
}

tarn_code tarn_page_content(const char *token, char **out, struct tarn_err *err)
{
    TARN_AUTO(mem) unsigned char *raw = calloc(1, strlen(token) + 1);
    if (!raw)
        return tarn_fail_oom(err);
    size_t len = 0;
    unsigned char check[CHECK_BYTES];
    bool ours = tarn_base64url_decode(token, raw, &len) && len > CHECK_BYTES;
    if (ours) {
        raw[len] = '\0';
        const char *content = (const char *)raw + CHECK_BYTES;
        check_of(content, check);
        ours = strlen(content) == len - CHECK_BYTES && memcmp(check, raw, CHECK_BYTES) == 0;
    }
    if (!ours)
        return tarn_fail_field(err, "page_token", "is not a token of this server");
    char *content = strdup((const char *)raw + CHECK_BYTES);
    if (!content)
        return tarn_fail_oom(err);
    *out = content;
    return TARN_OK;
}

static void add_encoded(struct tarn_buf *out, const char *text)
{
    for (const char *at = text; *at; at++) {
        bool is_plain =
            strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~,", *at) != NULL;
        tarn_buf_addf(out, is_plain ? "%c" : "%%%02X", (unsigned char)*at);
    }
}

/* The path is told as it was asked for; what would end the header's brackets early is none that a route has.
 */
tarn_code tarn_reply_next(struct tarn_reply *reply, const struct tarn_request *req, const char *content,
                          struct tarn_err *err)
{
    TARN_AUTO(mem) char *token = tarn_page_token(content);
    TARN_AUTO_DONE(buf) struct tarn_buf link = { 0 };

    if (!token)
        return tarn_fail_oom(err);
    tarn_buf_adds(&link, "<");
    for (const char *at = req->path; *at; at++)
        tarn_buf_addf(&link, strchr("<>\" ", *at) ? "%%%02X" : "%c", (unsigned char)*at);
    tarn_buf_addf(&link, "?page_token=%s", token);
    for (size_t i = 0; i < req->query_count; i++) {
        if (strcmp(req->query[i].key, "page_token") == 0)
            continue;
        tarn_buf_addc(&link, '&');
        add_encoded(&link, req->query[i].key);
        tarn_buf_addc(&link, '=');
        add_encoded(&link, req->query[i].value);
    }
    tarn_buf_adds(&link, ">; rel=\"next\"");
    tarn_code code = tarn_buf_check(&link, err);
    if (code == TARN_OK)
        tarn_reply_header(reply, "Link", "%s", link.data);
    return code;
}
