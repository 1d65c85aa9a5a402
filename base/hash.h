/* hash.h - digests, random bytes, ids. The only door to openssl/evp.h. */
#ifndef TARN_BASE_HASH_H
#define TARN_BASE_HASH_H
#include "base/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TARN_SHA256_HEX 65 /* bytes with the NUL */
#define TARN_UUID_TEXT 37

struct tarn_hash128 { uint64_t hi, lo; };

void tarn_sha256_hex(const void *data, size_t len, char out[TARN_SHA256_HEX]);
/* The same over a stream: begin, add, end. */
struct tarn_sha256;
struct tarn_sha256 *tarn_sha256_new(void); /* NULL: out of memory */
void tarn_sha256_add(struct tarn_sha256 *s, const void *data, size_t len);
void tarn_sha256_end(struct tarn_sha256 *s, char out[TARN_SHA256_HEX]); /* frees s */
/* Fast, for keys of in-memory sets; not against an adversary. */
struct tarn_hash128 tarn_hash128(const void *data, size_t len);
TARN_MUST tarn_code tarn_random(void *out, size_t len, struct tarn_err *err);
/* A random UUID, version 4, lower case. */
TARN_MUST tarn_code tarn_uuid(char out[TARN_UUID_TEXT], struct tarn_err *err);
bool tarn_equal_ct(const char *a, const char *b); /* constant time for equal lengths */
#endif
