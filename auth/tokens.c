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

/* A table named by an asterisk is matched only by a pattern
 * that has one there, and so takes any other name too. */
bool tarn_principal_sees_namespace(const struct tarn_principal *who, const char *namespace_)
{
    return tarn_principal_sees(who, namespace_, "*");
}

/* The pattern names roots: it reaches what it matches and what lies below that. */
bool tarn_principal_may_use(const struct tarn_principal *who, const char *location)
{
    char root[sizeof who->roots];
    size_t len = strlen(who->roots);
    while (len > 0 && who->roots[len - 1] == '/')
        len--;
    snprintf(root, sizeof root, "%.*s", (int)len, who->roots);
    TARN_AUTO(mem) char *at = strdup(location);
    for (char *end = at ? at + strlen(at) : NULL; end; end = strrchr(at, '/')) {
        *end = '\0';
        if (!who->roots[0] || tarn_glob_match(root, at))
            return true;
    }
    return false;
}
