/* source.h - a document read as a stream and hashed on the way: parsing and fingerprint in one reading. */
#ifndef TARN_LAKE_SOURCE_H
#define TARN_LAKE_SOURCE_H
#include "base/hash.h"
#include "base/own.h"
#include "storage/storage.h"

struct tarn_hashed;
TARN_MUST tarn_code tarn_hashed_open(struct tarn_place *place, const char *path, struct tarn_hashed **out,
                                     struct tarn_object *object, struct tarn_err *err);
/* A tarn_source_fn over a struct tarn_hashed. */
tarn_code tarn_hashed_fill(void *hashed, char *data, size_t cap, size_t *len, struct tarn_err *err);
/* Reads what the parser left and gives the digest of the whole. */
TARN_MUST tarn_code tarn_hashed_end(struct tarn_hashed *hashed, char out[TARN_SHA256_HEX],
                                    struct tarn_err *err);
void tarn_hashed_free(struct tarn_hashed *hashed);
TARN_DEFINE_AUTO(hashed, struct tarn_hashed)
#endif
