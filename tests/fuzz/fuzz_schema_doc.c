/* fuzz_schema_doc.c - a schema.json of hostile bytes. */
#include "formats/manifest/manifest.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tarn_schema_doc doc = { .current_version = 77 };
    TARN_ERR(err);
    if (tarn_schema_doc_parse((const char *)data, size, &doc, &err) == TARN_OK)
        tarn_schema_doc_done(&doc);
    else if (doc.current_version != 77 || err.code == TARN_OK)
        abort();
    return 0;
}
