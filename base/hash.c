/* hash.c - OpenSSL for digests that are stored or compared, xxHash for keys of sets in memory, the
 * kernel for randomness. A digest that cannot be computed ends the process: a wrong one would be a
 * wrong answer to "is this the token?" or "is this the file that I wrote?". */
#include "base/hash.h"
#define XXH_INLINE_ALL
#include <xxhash.h>
#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define SHA256_BYTES 32

static EVP_MD *sha256_md; /* fetched once: EVP_sha256() looks it up anew at each use */
static pthread_once_t sha256_once = PTHREAD_ONCE_INIT;

static void fetch_sha256(void) { sha256_md = EVP_MD_fetch(NULL, "SHA256", NULL); }

static const EVP_MD *sha256(void)
{
    (void)pthread_once(&sha256_once, fetch_sha256);
    if (!sha256_md)
        abort();
    return sha256_md;
}

static void to_hex(const unsigned char *bytes, size_t len, char *out)
{
    static const char k_digits[] = "0123456789abcdef";

    for (size_t i = 0; i < len; i++) {
        out[2 * i] = k_digits[bytes[i] >> 4];
        out[2 * i + 1] = k_digits[bytes[i] & 15];
    }
    out[2 * len] = '\0';
}

void tarn_sha256_hex(const void *data, size_t len, char out[TARN_SHA256_HEX])
{
    unsigned char digest[SHA256_BYTES];

    if (EVP_Digest(data, len, digest, NULL, sha256(), NULL) != 1)
        abort();
    to_hex(digest, sizeof digest, out);
}

struct tarn_sha256 *tarn_sha256_new(void)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();

    if (ctx && EVP_DigestInit_ex(ctx, sha256(), NULL) != 1) {
        EVP_MD_CTX_free(ctx);
        return NULL;
    }
    return (struct tarn_sha256 *)ctx;
}

void tarn_sha256_add(struct tarn_sha256 *s, const void *data, size_t len)
{
    if (EVP_DigestUpdate((EVP_MD_CTX *)s, data, len) != 1)
        abort();
}

void tarn_sha256_end(struct tarn_sha256 *s, char out[TARN_SHA256_HEX])
{
    unsigned char digest[SHA256_BYTES];

    if (EVP_DigestFinal_ex((EVP_MD_CTX *)s, digest, NULL) != 1)
        abort();
    EVP_MD_CTX_free((EVP_MD_CTX *)s);
    to_hex(digest, sizeof digest, out);
}

struct tarn_hash128 tarn_hash128(const void *data, size_t len)
{
    XXH128_hash_t h = XXH3_128bits(data, len);

    return (struct tarn_hash128){ .hi = h.high64, .lo = h.low64 };
}

tarn_code tarn_random(void *out, size_t len, struct tarn_err *err)
{
    unsigned char *p = out;

    while (len > 0) {
        ssize_t n = getrandom(p, len, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return tarn_fail(err, TARN_INTERNAL, "no random bytes: %s", strerror(errno));
        p += n;
        len -= (size_t)n;
    }
    return TARN_OK;
}

tarn_code tarn_uuid(char out[TARN_UUID_TEXT], struct tarn_err *err)
{
    unsigned char bytes[16];
    char hex[33];

    tarn_code code = tarn_random(bytes, sizeof bytes, err);
    if (code != TARN_OK)
        return code;
    bytes[6] = (unsigned char)((bytes[6] & 0x0f) | 0x40); /* version 4 */
    bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80); /* variant 1 */
    to_hex(bytes, sizeof bytes, hex);
    snprintf(out, TARN_UUID_TEXT, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12, hex + 16, hex + 20);
    return TARN_OK;
}

bool tarn_equal_ct(const char *a, const char *b)
{
    size_t len = strlen(a);

    return len == strlen(b) && CRYPTO_memcmp(a, b, len) == 0;
}
