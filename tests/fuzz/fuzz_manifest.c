/* fuzz_manifest.c - a manifest of hostile bytes: no crash, no leak, and nothing half handed over. */
#include "formats/manifest/manifest.h"
#include <stdlib.h>
#include <string.h>

struct bytes {
    const uint8_t *at;
    size_t left;
};

static tarn_code fill(void *source, char *data, size_t cap, size_t *len, struct tarn_err *err)
{
    (void)err;
    struct bytes *b = source;
    *len = b->left < cap ? b->left : cap;
    memcpy(data, b->at, *len);
    b->at += *len;
    b->left -= *len;
    return TARN_OK;
}

static tarn_code visit(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    (void)ctx;
    (void)err;
    if (!file->path[0] || file->size < -1 || file->records < -1)
        abort();
    return TARN_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes source = { data, size };
    struct tarn_manifest_head head = { .version = 77 };
    TARN_ERR(err);
    if (tarn_manifest_read(fill, &source, &head, visit, NULL, &err) == TARN_OK)
        tarn_manifest_head_done(&head);
    else if (head.version != 77 || err.code == TARN_OK)
        abort();
    return 0;
}
