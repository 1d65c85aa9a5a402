/* source.c - see source.h: the digest tells later whether a document is still the one that was read. */
#include "lake/source.h"

struct tarn_hashed {
    struct tarn_reader *reader; /* owned */
    struct tarn_sha256 *sha256; /* owned until the end */
};

tarn_code tarn_hashed_open(struct tarn_place *place, const char *path, struct tarn_hashed **out,
                           struct tarn_object *object, struct tarn_err *err)
{
    TARN_AUTO(hashed) struct tarn_hashed *hashed = calloc(1, sizeof *hashed);

    if (!hashed)
        return tarn_fail_oom(err);
    hashed->sha256 = tarn_sha256_new();
    if (!hashed->sha256)
        return tarn_fail_oom(err);
    tarn_code code = tarn_place_reader(place, path, &hashed->reader, object, err);
    if (code != TARN_OK)
        return code;
    *out = tarn_take(&hashed);
    return TARN_OK;
}

tarn_code tarn_hashed_fill(void *ctx, char *data, size_t cap, size_t *len, struct tarn_err *err)
{
    struct tarn_hashed *hashed = ctx;
    tarn_code code = tarn_reader_fill(hashed->reader, data, cap, len, err);

    if (code == TARN_OK)
        tarn_sha256_add(hashed->sha256, data, *len);
    return code;
}

tarn_code tarn_hashed_end(struct tarn_hashed *hashed, char out[TARN_SHA256_HEX], struct tarn_err *err)
{
    char rest[4096];
    size_t len = 1;

    while (len > 0) {
        tarn_code code = tarn_hashed_fill(hashed, rest, sizeof rest, &len, err);
        if (code != TARN_OK)
            return code;
    }
    tarn_sha256_end(tarn_take(&hashed->sha256), out);
    return TARN_OK;
}

void tarn_hashed_free(struct tarn_hashed *hashed)
{
    char ignored[TARN_SHA256_HEX];

    if (!hashed)
        return;
    if (hashed->sha256)
        tarn_sha256_end(hashed->sha256, ignored);
    tarn_reader_free(hashed->reader);
    free(hashed);
}
