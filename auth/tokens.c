/* tokens.c - the secrets themselves, and what a principal may see. */
#include "auth/auth.h"
#include "base/base64.h"
#include "base/hash.h"
#include "base/text.h"
#include <stdio.h>
#include <string.h>

#define SECRET_BYTES 32

tarn_code tarn_token_secret(char out[64], char hash[65], struct tarn_err *err)
{
    unsigned char raw[SECRET_BYTES];
    tarn_code code = tarn_random(raw, sizeof raw, err);
    if (code != TARN_OK)
        return code;
    char text[TARN_BASE64_TEXT(SECRET_BYTES)];
    tarn_base64url_encode(raw, sizeof raw, text);
    snprintf(out, 64, "tarn_%s", text);
    tarn_sha256_hex(out, strlen(out), hash);
    return TARN_OK;
}

bool tarn_principal_sees(const struct tarn_principal *who, const char *namespace_, const char *name)
{
    if (!who->tables[0])
        return true;
    char dotted[TARN_DOTTED_MAX];
    tarn_ident_format(namespace_, name, dotted);
    return tarn_glob_match(who->tables, dotted);
}

bool tarn_principal_may_use(const struct tarn_principal *who, const char *location)
{
    return !who->roots[0] || tarn_glob_match(who->roots, location);
}
