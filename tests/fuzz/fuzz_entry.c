/* fuzz_entry.c - a log entry of hostile bytes: no crash, no leak, and nothing half handed over. */
#include "formats/manifest/manifest.h"
#include "tests/support/pieces.h"
#include <stdlib.h>
#include <string.h>

static tarn_code visit(void *ctx, const struct tarn_entry_op *op, struct tarn_err *err)
{
    (void)ctx;
    (void)err;
    if (!op->file.path[0])
        abort();
    return TARN_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tarn_pieces source = { .at = data, .left = size };
    struct tarn_entry_head head = { .version = 77 };
    TARN_ERR(err);
    if (tarn_entry_read(tarn_pieces_fill, &source, &head, visit, NULL, &err) == TARN_OK)
        tarn_entry_head_done(&head);
    else if (head.version != 77 || err.code == TARN_OK)
        abort();
    return 0;
}
