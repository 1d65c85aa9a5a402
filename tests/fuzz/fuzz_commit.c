/* fuzz_commit.c - the body of a commit, from bytes to the struct that the decision reads: paths checked, texts whole,
 * nothing half-read. The seed has all members. */
#include "base/json.h"
#include "lake/commit.h"
#include <stdlib.h>
#include <string.h>

static void check(const struct tarn_commit_use *use)
{
    TARN_ERR(err);
    size_t adds = 0;

    for (size_t i = 0; i < use->op_count; i++) {
        const struct tarn_file *file = &use->ops[i].file;
        adds += use->ops[i].is_add;
        if (tarn_data_path_check(file->path, "path", &err) != TARN_OK)
            abort();
        if (file->partition_values && file->partition_values[0] != '{')
            abort();
        if (file->column_stats && file->column_stats[strlen(file->column_stats) - 1] != '}')
            abort();
    }
    for (size_t i = 0; i < use->batch_count; i++)
        if (tarn_batch_id_check(use->batches[i], "batch_id", &err) != TARN_OK)
            abort();
    if ((use->batch_ids != NULL) != (use->batch_count > 0))
        abort();
    if (adds != use->add_count || use->op_count == 0 || (use->has_transaction && strlen(use->body_hash) != 64))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tarn_commit_use use = { 0 };
    json_auto_t *body = NULL;
    TARN_ERR(err);

    if (tarn_json_parse((const char *)data, size, NULL, &body, &err) != TARN_OK)
        return 0;
    tarn_code code = tarn_commit_parse(body, &use, &err);
    if (code == TARN_OK)
        check(&use);
    else if (err.code != code || err.detail[0] == '\0')
        abort();
    tarn_commit.done(&use);
    return 0;
}
