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
