/* fuzz_parquet.c - a footer of hostile bytes: a verdict, never a crash or a leak, and nothing to trust
 * unless it is OK. The input is the footer of a file that is as long as it says in its first four bytes. */
#include "formats/parquet/parquet.h"
#include <stdlib.h>

static void ignore(void *ctx, const struct tarn_drift *drift)
{
    int *told = ctx;

    if (!drift->column)
        abort();
    ++*told;
}

static void use(const struct tarn_parquet *file)
{
    char *stats = tarn_parquet_column_stats(file);
    json_t *schema = tarn_schema_to_json(file->schema);
    int told = 0;

    if (!schema || file->rows < 0)
        abort();
    tarn_schema_drift(file->schema, file->schema, NULL, ignore, &told);
    if (tarn_schema_backward(file->schema, file->schema, NULL, NULL) == TARN_INVALID)
        abort();
    json_decref(schema);
    free(stats);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TARN_AUTO(parquet) struct tarn_parquet *file = NULL;

    if (size < 4)
        return 0;
    int64_t file_size = (int64_t)size + 4 + (data[0] | data[1] << 8 | data[2] << 16);
    if (tarn_parquet_footer(data + 4, size - 4, file_size, &file, NULL) != TARN_OK)
        return 0;
    if (file->state == TARN_PARQUET_OK)
        use(file);
    else if (!file->reason[0] || file->schema)
        abort();
    return 0;
}
