/* fuzz_avro.c - a manifest list or a manifest of hostile bytes, in pieces: a verdict in bounded time, never a crash. */
#include "formats/iceberg/manifests.h"
#include "tests/support/pieces.h"
#include <stdlib.h>
#include <string.h>

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
    struct tarn_pieces list = { .at = data, .left = size, .step = 4096 }, files = { .at = data, .left = size, .step = 4096 };
    TARN_ERR(first);
    TARN_ERR(second);

    if (tarn_iceberg_manifest_list(tarn_pieces_fill, &list, see_manifest, NULL, &first) != TARN_OK && first.code == TARN_OK)
        abort();
    if (tarn_iceberg_manifest_files(tarn_pieces_fill, &files, see_file, NULL, &second) != TARN_OK && second.code == TARN_OK)
        abort();
    return 0;
}
