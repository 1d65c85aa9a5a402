/* fuzz_manifest.c - a manifest of hostile bytes: no crash, no leak, and nothing half handed over; nor in what is made of its
 * entries' paths, partition values and statistics. */
#include "formats/coverage.h"
#include "formats/manifest/manifest.h"
#include "tests/support/pieces.h"
#include <stdlib.h>
#include <string.h>

static tarn_code visit(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    if (!file->path[0] || file->size < TARN_SIZE_NEGATIVE || file->records < -1)
        abort();
    TARN_AUTO_DONE(buf) struct tarn_buf room = { 0 };
    struct tarn_listed_path as;
    tarn_code code = tarn_listed_path_read(file->path, "/lake/t", &room, &as, err);
    if (code == TARN_OK && !as.is_outside && (as.path[0] == '/' || as.path[0] == '\0' || strstr(as.path, "//")))
        abort();
    return code == TARN_OK ? tarn_coverage_note(ctx, file, err) : code;
}

/* A schema of one column, for the statistics. */
static struct tarn_schema_past *past(void)
{
    static struct tarn_column column = { .name = (char *)"a", .type = { .kind = TARN_T_INT64 } };
    static struct tarn_schema schema = { .root = { .kind = TARN_T_STRUCT, .fields = &column, .field_count = 1 } };
    static const struct tarn_schema *versions[] = { &schema };
    static struct tarn_schema_past out = { .current = &schema, .count = 1, .versions = versions };
    return &out;
}

static void judge(const uint8_t *data, size_t size)
{
    struct tarn_pieces source = { .at = data, .left = size };
    struct tarn_manifest_head head = { .version = -1 };
    struct tarn_facts facts;
    json_t *keys = NULL;
    TARN_AUTO(coverage) struct tarn_coverage *coverage = tarn_coverage_new(NULL, past());
    TARN_ERR(err);

    tarn_facts_init(&facts);
    if (tarn_manifest_read(tarn_pieces_fill, &source, &head, visit, coverage, &err) == TARN_OK)
        tarn_manifest_head_done(&head);
    if (tarn_coverage_end(coverage, &facts, &keys, NULL, &err) != TARN_OK)
        abort();
    json_decref(keys);
    tarn_facts_done(&facts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tarn_pieces source = { .at = data, .left = size };
    struct tarn_manifest_head head = { .version = 77 };
    TARN_ERR(err);
    judge(data, size);
    if (tarn_manifest_read(tarn_pieces_fill, &source, &head, NULL, NULL, &err) == TARN_OK)
        tarn_manifest_head_done(&head);
    else if (head.version != 77 || err.code == TARN_OK)
        abort();
    return 0;
}
