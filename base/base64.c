/* base64.c - the strict form alone: one text for one value, so that a token that was
 * tampered with in its unused bits is refused. */
#include "base/base64.h"
#include <stdint.h>
#include <string.h>

static const char k_alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void tarn_base64url_encode(const void *data, size_t len, char *out)
{
    const unsigned char *in = data;
    uint32_t bits = 0;
    unsigned held = 0;
    for (size_t i = 0; i < len; i++) {
        bits = (bits << 8 | in[i]) & 0xffffff;
        for (held += 8; held >= 6; held -= 6)
            *out++ = k_alphabet[bits >> (held - 6) & 63];
    }
    if (held > 0)
        *out++ = k_alphabet[bits << (6 - held) & 63];
    *out = '\0';
}

bool tarn_base64url_decode(const char *text, void *out, size_t *len)
{
    unsigned char *to = out;
    uint32_t bits = 0;
    unsigned held = 0;
    for (; *text; text++) {
        const char *at = strchr(k_alphabet, *text);
        if (!at)
            return false;
        bits = (bits << 6 | (uint32_t)(at - k_alphabet)) & 0xffff;
        held += 6;
        if (held < 8)
            continue;
        held -= 8;
        *to++ = (unsigned char)(bits >> held & 255);
    }
    if (held >= 6 || (bits & ((1u << held) - 1)) != 0)
        return false;
    *len = (size_t)(to - (unsigned char *)out);
    return true;
}
