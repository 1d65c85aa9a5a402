/* adopted.c - the plain value that a registration carries from the worker to the writer. */
#include "base/json.h"
#include "lake/adopt.h"

struct tarn_adopted *tarn_adopted_new(void)
{
    TARN_AUTO(adopted) struct tarn_adopted *adopted = calloc(1, sizeof *adopted);

    if (!adopted)
        return NULL;
    adopted->committed_at = -1;
    adopted->found = json_array();
    return adopted->found ? tarn_take(&adopted) : NULL;
}

void tarn_adopted_free(struct tarn_adopted *adopted)
{
    if (!adopted)
        return;
    for (size_t i = 0; i < adopted->schema_count; i++)
        tarn_schema_row_done(&adopted->schemas[i]);
    free(adopted->schemas);
    free(adopted->transaction);
    free(adopted->partition_keys);
    json_decref(adopted->found);
    free(adopted);
}

tarn_code tarn_adopted_remark(struct tarn_adopted *adopted, const char *code, enum tarn_severity severity,
                              const char *subject, const char *message, struct tarn_err *err)
{
    json_t *remark = json_pack("{s:s, s:s, s:o, s:o}", "code", code, "severity", tarn_severity_text(severity),
                               "subject", tarn_json_str_or_null(subject), "message", tarn_json_str(message));

    if (json_array_append_new(adopted->found, remark) != 0)
        return tarn_fail_oom(err);
    return TARN_OK;
}

tarn_code tarn_adopted_schema(struct tarn_adopted *adopted, int64_t version, const json_t *schema,
                              const json_t *renames, int64_t created_at, struct tarn_err *err)
{
    size_t count = adopted->schema_count;
    struct tarn_schema_row *rows = realloc(adopted->schemas, (count + 1) * sizeof *rows);

    if (!rows)
        return tarn_fail_oom(err);
    adopted->schemas = rows;
    rows[count] = (struct tarn_schema_row){ .version = version, .created_at = created_at };
    rows[count].schema = tarn_json_text(schema);
    rows[count].renames = json_object_size(renames) > 0 ? tarn_json_text(renames) : NULL;
    adopted->schema_count++;
    if (!rows[count].schema || (json_object_size(renames) > 0 && !rows[count].renames))
        return tarn_fail_oom(err);
    return TARN_OK;
}
