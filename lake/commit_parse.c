/* commit_parse.c - the body of a commit into its struct, off the writer's thread: every fault of form is
 * found here and named by its place. JSON texts go into one buffer, paths stay in the body's tree. */
#include "base/json.h"
#include "base/jsonw.h"
#include "formats/partition.h"
#include "lake/commit.h"
#include <string.h>

#define NONE         SIZE_MAX
#define REMARKS_MAX 1000

/* Where a text begins in use->texts; the buffer moves while it grows. */
struct span {
    size_t values, stats;
};

/* The text of a tree, NUL-terminated, appended to the buffer. */
static size_t keep(struct tarn_buf *texts, const json_t *json)
{
    struct tarn_jsonw w = tarn_jsonw_to(texts);
    size_t at = texts->len;

    if (!json)
        return NONE;
    tarn_jsonw_json(&w, json);
    tarn_buf_add(texts, "", 1);
    return at;
}

static tarn_code check_members(const json_t *object, const char *field, bool want_objects,
                               struct tarn_err *err)
{
    const char *key;
    json_t *value;

    json_object_foreach ((json_t *)object, key, value) {
        bool is_container = json_is_object(value) || json_is_array(value);
        if (want_objects ? !json_is_object(value) : is_container) {
            tarn_fail_field(err, key,
                            want_objects ? "must be an object of statistics"
                                         : "must be a string, a number, true, false or null");
            return tarn_err_prefix(err, "%s", field);
        }
    }
    return TARN_OK;
}

static tarn_code read_add(const json_t *json, struct tarn_commit_op *op, struct tarn_buf *texts,
                          struct span *span, struct tarn_err *err)
{
    const char *type = NULL;
    json_t *values = NULL, *stats = NULL;
    const struct tarn_field fields[] = {
        TARN_STR("type", &type, 1, 32),
        TARN_STR("path", &op->file.path, 1, TARN_PATH_MAX),
        TARN_OPT_I64("size", &op->file.size, 0, INT64_MAX / 2),
        TARN_OPT_OBJECT("partitionValues", &values),
        TARN_OPT_OBJECT("columnStats", &stats),
        TARN_OPT_I64("numRecords", &op->file.records, 0, INT64_MAX),
        { "schemaVersion", TARN_F_I64, true, &op->file.schema_version, 1, INT64_MAX, &op->schema_given },
        TARN_FIELDS_END,
    };
    tarn_code code = tarn_json_read(json, fields, err);

    if (code == TARN_OK)
        code = check_members(values, "partitionValues", false, err);
    if (code == TARN_OK)
        code = check_members(stats, "columnStats", true, err);
    if (code != TARN_OK)
        return code;
    span->values = keep(texts, values);
    span->stats = keep(texts, stats);
    return TARN_OK;
}

static tarn_code read_remove(const json_t *json, struct tarn_commit_op *op, struct tarn_err *err)
{
    const char *type = NULL;
    const struct tarn_field fields[] = {
        TARN_STR("type", &type, 1, 32),
        TARN_STR("path", &op->file.path, 1, TARN_PATH_MAX),
        TARN_FIELDS_END,
    };

    return tarn_json_read(json, fields, err);
}

static tarn_code read_op(const json_t *json, struct tarn_commit_op *op, struct tarn_buf *texts,
                         struct span *span, struct tarn_err *err)
{
    const char *type = json_string_value(json_object_get(json, "type"));
    tarn_code code;

    *span = (struct span){ NONE, NONE };
    op->file = (struct tarn_file){ .size = -1, .records = -1, .removed_version = -1 };
    if (!json_is_object(json))
        return tarn_fail_field(err, "", "an operation must be an object");
    if (!type)
        return tarn_fail_field(err, "type", "must be \"add_file\" or \"remove_file\"");
    op->is_add = strcmp(type, "add_file") == 0;
    if (!op->is_add && strcmp(type, "remove_file") != 0)
        return tarn_fail_field(err, "type", "must be \"add_file\" or \"remove_file\"");
    code = op->is_add ? read_add(json, op, texts, span, err) : read_remove(json, op, err);
    return code != TARN_OK ? code : tarn_data_path_check(op->file.path, "path", err);
}

static int by_path(const void *a, const void *b)
{
    const struct tarn_commit_op *x = *(const struct tarn_commit_op *const *)a;
    const struct tarn_commit_op *y = *(const struct tarn_commit_op *const *)b;
    int order = strcmp(x->file.path, y->file.path);

    if (order == 0)
        order = (int)x->is_add - (int)y->is_add;
    return order != 0 ? order : (x > y) - (x < y);
}

static tarn_code remark(struct tarn_commit_use *use, const char *code, const char *path, const char *column,
                        const char *message, struct tarn_err *err)
{
    if (!use->remarks)
        use->remarks = json_array();
    if (json_array_size(use->remarks) >= REMARKS_MAX)
        return TARN_OK;
    json_t *warning = json_pack("{s:s, s:s, s:s?, s:n, s:n, s:s}", "code", code, "path", path, "column", column, "from", "to",
                                "message", message);
    return json_array_append_new(use->remarks, warning) == 0 ? TARN_OK : tarn_fail_oom(err);
}

/* Engines that go by the path and engines that go by the entry would give different
 * answers; the monitor partition_drift tells it from the next scan on. */
static tarn_code note_contradiction(struct tarn_commit_use *use, const char *path, const json_t *values,
                                    struct tarn_err *err)
{
    json_auto_t *of_path = NULL;
    char note[256];

    if (json_object_size(values) == 0 || !strchr(path, '='))
        return TARN_OK;
    tarn_code code = tarn_partition_from_path(path, &of_path, err);
    const char *key = code == TARN_OK ? tarn_partition_contradicts(values, of_path, note, sizeof note) : NULL;
    return key ? remark(use, "partition_drift", path, key, note, err) : code;
}

/* One path may be removed and added, once each. */
static tarn_code check_twice(struct tarn_commit_use *use, struct tarn_err *err)
{
    if (use->op_count < 2)
        return TARN_OK;
    TARN_AUTO(mem) const struct tarn_commit_op **sorted = calloc(use->op_count, sizeof *sorted);
    if (!sorted)
        return tarn_fail_oom(err);
    for (size_t i = 0; i < use->op_count; i++)
        sorted[i] = &use->ops[i];
    qsort(sorted, use->op_count, sizeof *sorted, by_path);
    for (size_t i = 1; i < use->op_count; i++) {
        const struct tarn_commit_op *one = sorted[i - 1], *two = sorted[i];
        if (strcmp(one->file.path, two->file.path) != 0)
            continue;
        if (one->is_add != two->is_add) {
            /* Readers that are at the old file, or keep it, may mix the two. */
            tarn_code code = remark(use, "file_replaced", two->file.path, NULL,
                                    "the file is replaced: data files are meant to be immutable", err);
            if (code != TARN_OK)
                return code;
            continue;
        }
        tarn_fail_field(err, "path", "the path is %s twice", two->is_add ? "added" : "removed");
        return tarn_err_prefix(err, "operations[%zu]", (size_t)(two - use->ops));
    }
    return TARN_OK;
}

static void point(struct tarn_commit_use *use, const struct span *spans, size_t metadata)
{
    for (size_t i = 0; i < use->op_count; i++) {
        use->ops[i].file.partition_values =
            spans[i].values == NONE ? NULL : use->texts.data + spans[i].values;
        use->ops[i].file.column_stats = spans[i].stats == NONE ? NULL : use->texts.data + spans[i].stats;
    }
    use->metadata = metadata == NONE ? NULL : use->texts.data + metadata;
}

static tarn_code read_ops(const json_t *array, const json_t *metadata, struct tarn_commit_use *use,
                          struct tarn_err *err)
{
    size_t count = json_array_size(array);
    TARN_AUTO(mem) struct span *spans = calloc(count, sizeof *spans);

    use->ops = calloc(count, sizeof *use->ops);
    if (!spans || !use->ops)
        return tarn_fail_oom(err);
    for (use->op_count = 0; use->op_count < count; use->op_count++) {
        size_t i = use->op_count;
        const json_t *op = json_array_get(array, i);
        tarn_code code = read_op(op, &use->ops[i], &use->texts, &spans[i], err);
        if (code == TARN_OK && use->ops[i].is_add)
            code =
                note_contradiction(use, use->ops[i].file.path, json_object_get(op, "partitionValues"), err);
        if (code != TARN_OK) {
            (void)tarn_err_prefix(err, "operations[%zu]", i);
            return code;
        }
        use->add_count += use->ops[i].is_add;
    }
    use->is_large = count > TARN_TX_ROWS_MAX;
    use->must_check |= use->is_large;
    size_t at = keep(&use->texts, metadata);
    tarn_code code = tarn_buf_check(&use->texts, err);
    if (code != TARN_OK)
        return code;
    point(use, spans, at);
    return check_twice(use, err);
}

tarn_code tarn_commit_hash(json_t *body, struct tarn_commit_use *use, struct tarn_err *err)
{
    if (!use->has_transaction && !use->key && use->batch_count == 0)
        return TARN_OK;
    /* Two attempts are the same commit when they differ in the version they found only. */
    (void)json_object_del(body, "expected_version");
    TARN_AUTO(mem) char *text = tarn_json_canonical(body);
    if (!text)
        return tarn_fail_oom(err);
    tarn_sha256_hex(text, strlen(text), use->body_hash);
    return TARN_OK;
}

tarn_code tarn_commit_name(struct tarn_commit_use *use, const char *transaction, struct tarn_err *err)
{
    tarn_code code = tarn_txn_id_check(transaction, "transaction_id", err);

    if (code != TARN_OK)
        return code;
    use->has_transaction = true;
    snprintf(use->transaction, sizeof use->transaction, "%s", transaction);
    return TARN_OK;
}

static tarn_code check_head(struct tarn_commit_use *use, const char *transaction, const char *verify,
                            struct tarn_err *err)
{
    if (verify && !tarn_verify_parse(verify, &use->verify))
        return tarn_fail_field(err, "verify", "must be \"off\", \"size\" or \"footer\"");
    use->verify_given = verify != NULL;
    use->must_check = use->verify > TARN_VERIFY_OFF;
    return transaction ? tarn_commit_name(use, transaction, err) : TARN_OK;
}

tarn_code tarn_commit_parse(json_t *body, struct tarn_commit_use *use, struct tarn_err *err)
{
    const char *transaction = NULL, *verify = NULL, *batch = NULL;
    json_t *ops = NULL, *metadata = NULL, *batches = NULL;
    const struct tarn_field fields[] = {
        { "expected_version", TARN_F_I64, true, &use->expected_version, 0, INT64_MAX - 1,
          &use->has_expected },
        TARN_OPT_STR("transaction_id", &transaction, 1, TARN_TXN_ID_MAX),
        TARN_ARRAY("operations", &ops, 1, TARN_COMMIT_OPS_MAX),
        TARN_OPT_OBJECT("commitMetadata", &metadata),
        TARN_OPT_BOOL("dataChange", &use->data_change),
        TARN_OPT_STR("verify", &verify, 1, 16),
        TARN_OPT_STR("batch_id", &batch, 1, TARN_BATCH_ID_MAX),
        TARN_OPT_ARRAY("batch_ids", &batches, 1, TARN_COMMIT_BATCHES_MAX),
        TARN_FIELDS_END,
    };

    use->data_change = true;
    tarn_code code = tarn_json_read(body, fields, err);
    if (code == TARN_OK)
        code = check_head(use, transaction, verify, err);
    if (code == TARN_OK)
        code = tarn_commit_read_batches(batch, batches, use, err);
    if (code == TARN_OK)
        code = read_ops(ops, metadata, use, err);
    if (code != TARN_OK)
        return code;
    if (!use->has_expected && use->data_change && use->add_count < use->op_count)
        return tarn_fail_field(err, "expected_version",
                               "is required unless all operations are add_file or dataChange is false");
    return tarn_commit_hash(body, use, err);
}
