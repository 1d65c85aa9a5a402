/* fuzz_avro.c - a manifest list or a manifest of hostile bytes, in pieces: a verdict in bounded time, never a crash. */
#include "formats/iceberg/manifests.h"
#include <stdlib.h>
#include <string.h>

struct source { const uint8_t *at; size_t left; };

static tarn_code fill(void *ctx, char *data, size_t cap, size_t *len, struct tarn_err *err)
{
    struct source *source = ctx;

    (void)err;
    *len = source->left < cap ? source->left : cap;
    if (*len > 4096)
        *len = 4096;
    memcpy(data, source->at, *len);
    source->at += *len;
    source->left -= *len;
    return TARN_OK;
}

static tarn_code see_manifest(void *ctx, const struct tarn_iceberg_manifest *row, struct tarn_err *err)
{
    (void)ctx;
    (void)err;
    if (!row->path || !*row->path)
        abort();
    return TARN_OK;
}

static tarn_code see_file(void *ctx, const struct tarn_iceberg_file *row, struct tarn_err *err)
{
    (void)ctx;
    (void)err;
    if (!row->path || !*row->path)
        abort();
    return TARN_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct source list = { data, size }, files = { data, size };
    TARN_ERR(first);
    TARN_ERR(second);

    if (tarn_iceberg_manifest_list(fill, &list, see_manifest, NULL, &first) != TARN_OK && first.code == TARN_OK)
        abort();
    if (tarn_iceberg_manifest_files(fill, &files, see_file, NULL, &second) != TARN_OK && second.code == TARN_OK)
        abort();
    return 0;
}
