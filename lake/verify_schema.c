/* verify_schema.c - an added file's footer against the schema. A file may be written with an older
 * version: then it is held to that one, and the mapping from it says what readers will see. */
#include "base/json.h"
#include "lake/verify.h"
#include <string.h>

/* What a drift means for a commit; the words are those of the monitor's codes. */
static const struct { enum tarn_drift_kind kind; const char *word; bool refuses, only_severe; } k_drifts[] = {
    { TARN_DRIFT_WIDENED, "widened", false, true },
    { TARN_DRIFT_NARROWED, "narrowed", true, false },
    { TARN_DRIFT_TYPE_CHANGED, "type_changed", true, false },
    { TARN_DRIFT_BINARY_STRING, "type_changed", false, false },
    { TARN_DRIFT_UNIT, "timestamp_unit", false, true },
    { TARN_DRIFT_NULL_IN_REQUIRED, "null_in_required", true, false },
    { TARN_DRIFT_MISSING_COLUMN, "missing_column", false, false },
    { TARN_DRIFT_MISSING_REQUIRED, "missing_column", true, false },
    { TARN_DRIFT_EXTRA_COLUMN, "extra_column", true, false },
    { TARN_DRIFT_RENAMED_CASE, "renamed_case", true, false },
};

struct drifts { json_t *refused, *all; bool failed; }; /* failed: out of memory */

static json_t *type_text(const struct tarn_type *type)
{
    char text[128];

    if (!type)
        return json_null();
    tarn_type_format(type, text, sizeof text);
    return json_string(text);
}

static void note_drift(void *ctx, const struct tarn_drift *drift)
{
    struct drifts *d = ctx;

    for (size_t i = 0; i < TARN_COUNT(k_drifts); i++) {
        if (k_drifts[i].kind != drift->kind || (k_drifts[i].only_severe && !drift->severe))
            continue;
        json_t *change = json_pack("{s:s, s:s, s:o, s:o}",
                                   "kind",   k_drifts[i].word,
                                   "column", drift->column,
                                   "from",   type_text(drift->registered),
                                   "to",     type_text(drift->found));
        if (k_drifts[i].refuses)
            d->failed |= json_array_append(d->refused, change) != 0;
        d->failed |= json_array_append_new(d->all, change) != 0;
    }
}

/* --- the versions --- */

static size_t row_of(const struct tarn_verifying *v, int64_t version)
{
    size_t i = 0;

    while (i < v->rows->count && v->rows->rows[i].version != version)
        i++;
    return i;
}

static tarn_code schema_at(struct tarn_verifying *v, size_t i, const struct tarn_schema **out,
                           struct tarn_err *err)
{
    const char *text = v->rows->rows[i].schema;
    json_auto_t *json = NULL;
    tarn_code code = TARN_OK;

    if (!v->versions)
        v->versions = calloc(v->rows->count, sizeof *v->versions);
    if (!v->versions)
        return tarn_fail_oom(err);
    if (!v->versions[i].schema)
        code = tarn_json_parse(text, strlen(text), NULL, &json, err);
    if (json)
        code = tarn_schema_parse(json, "schema", &v->versions[i].schema, err);
    if (code == TARN_OK)
        *out = v->versions[i].schema;
    return code;
}

tarn_code tarn_verify_current(struct tarn_verifying *v, const struct tarn_schema **out, struct tarn_err *err)
{
    if (v->rows->count > 0)
        return schema_at(v, v->rows->count - 1, out, err);
    *out = NULL;
    return TARN_OK;
}

void tarn_verify_versions_done(struct tarn_verifying *v)
{
    for (size_t i = 0; v->versions && i < v->rows->count; i++) {
        tarn_schema_free(v->versions[i].schema);
        tarn_schema_map_free(v->versions[i].map);
    }
    free(v->versions);
}

static tarn_code fits(struct tarn_verifying *v, size_t row, const struct tarn_parquet *parquet, bool *out,
                      struct tarn_err *err)
{
    const struct tarn_schema *schema = NULL;
    tarn_code code = schema_at(v, row, &schema, err);

    if (code == TARN_OK)
        *out = tarn_schema_fits(schema, parquet->schema, v->keys);
    return code;
}

/* The version that stands there already when the file fits it, else the newest
 * one that it fits; none: the one that stands there, or the current one. */
static tarn_code find_version(struct tarn_verifying *v, const struct tarn_parquet *parquet, int64_t *version,
                              struct tarn_err *err)
{
    size_t likely = row_of(v, *version);
    bool is_found = false;
    tarn_code code = likely < v->rows->count ? fits(v, likely, parquet, &is_found, err) : TARN_OK;

    for (size_t i = v->rows->count; i > 0 && code == TARN_OK && !is_found; i--) {
        code = fits(v, i - 1, parquet, &is_found, err);
        if (is_found)
            *version = v->rows->rows[i - 1].version;
    }
    if (!is_found && likely == v->rows->count)
        *version = v->table->schema_version;
    return code;
}

/* --- the verdict --- */

static tarn_code warn_all(struct tarn_verifying *v, const char *path, const json_t *drifts,
                          struct tarn_err *err)
{
    char word[64];
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < json_array_size(drifts) && code == TARN_OK; i++) {
        const json_t *drift = json_array_get(drifts, i);
        snprintf(word, sizeof word, "schema_drift.%s", json_string_value(json_object_get(drift, "kind")));
        json_auto_t *message = json_sprintf("%s: %s: %s", path, word, json_string_value(json_object_get(drift, "column")));
        code = tarn_verify_warn(v, word, path, drift, json_string_value(message), err);
    }
    return code;
}

static tarn_code refuse(const char *path, json_t *refused, struct tarn_err *err)
{
    const json_t *first = json_array_get(refused, 0);
    char what[400];

    snprintf(what, sizeof what, "the file does not fit the table's schema: %s: %.200s",
             json_string_value(json_object_get(first, "kind")), json_string_value(json_object_get(first, "column")));
    tarn_verify_misfit(TARN_INCOMPATIBLE_SCHEMA, path, what, err);
    return tarn_err_add(err, "changes", json_incref(refused));
}

static tarn_code hold_to(struct tarn_verifying *v, const char *path, size_t row,
                         const struct tarn_parquet *parquet, struct tarn_err *err)
{
    json_auto_t *refused = json_array(), *all = json_array();
    struct drifts d = { refused, all, !refused || !all };
    const struct tarn_schema *ignored = NULL;
    tarn_code code = schema_at(v, row, &ignored, err);

    if (code == TARN_OK && !v->versions[row].map)
        code = tarn_schema_map_of(v->rows->rows, v->rows->count, v->rows->rows[row].version,
                                  &v->versions[row].map, err);
    if (code != TARN_OK)
        return code;
    tarn_schema_map_fit(v->versions[row].map, parquet->schema, v->keys, note_drift, &d);
    if (d.failed)
        return tarn_fail_oom(err);
    if (v->table->enforcement == TARN_ENFORCE_REJECT && json_array_size(refused) > 0)
        return refuse(path, refused, err);
    return warn_all(v, path, all, err);
}

tarn_code tarn_verify_schema(struct tarn_verifying *v, struct tarn_commit_op *op,
                             const struct tarn_parquet *parquet, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    if (v->rows->count == 0 || !parquet->schema)
        return TARN_OK;
    if (!op->schema_given)
        code = find_version(v, parquet, &op->file.schema_version, err);
    size_t row = row_of(v, op->file.schema_version);
    if (code != TARN_OK || v->table->enforcement == TARN_ENFORCE_OFF || row == v->rows->count)
        return code; /* a version that the table lacks is refused by the decision */
    return hold_to(v, op->file.path, row, parquet, err);
}
