/* verify.c - an added file against storage: there, with that size, and, where asked, with a footer that can
 * be read and that fits the schema. What the operation left out is filled in from the file and its path. */
#include "base/json.h"
#include "catalog/schema.h"
#include "lake/commit.h"
#include "lake/footer.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct verify {
    struct tarn_commit_use *use;
    const struct tarn_table *table;
    struct tarn_place *place;
    struct tarn_schema *schema; /* owned; NULL: the table has none */
    json_t *keys;               /* owned: partition keys */
    enum tarn_verify depth;
};

static void verify_done(struct verify *v)
{
    tarn_place_free(v->place);
    tarn_schema_free(v->schema);
    json_decref(v->keys);
}

static tarn_code misfit(tarn_code code, const char *path, const char *what, struct tarn_err *err)
{
    tarn_fail_code_field(err, code, "path", "%s: %s", path, what);
    return tarn_err_add(err, "path", json_string(path));
}

static tarn_code warn(struct tarn_commit_use *use, const char *path, const char *what, struct tarn_err *err)
{
    char text[TARN_PATH_MAX + 256];

    snprintf(text, sizeof text, "%s: %s", path, what);
    if (!use->warnings)
        use->warnings = json_array();
    if (json_array_append_new(use->warnings, json_string(text)) != 0)
        return tarn_fail_oom(err);
    return TARN_OK;
}

static tarn_code verify_size(struct verify *v, struct tarn_commit_op *op, struct tarn_err *err)
{
    struct tarn_object object = { 0 };
    TARN_ERR(fault);
    tarn_code code = tarn_place_stat(v->place, op->file.path, &object, &fault);

    if (code == TARN_NOT_FOUND)
        return misfit(TARN_VERIFICATION_FAILED, op->file.path, "the file is not there", err);
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    if (op->file.size < 0)
        op->file.size = object.size;
    if (op->file.size == object.size)
        return TARN_OK;
    misfit(TARN_VERIFICATION_FAILED, op->file.path, "the file has another size", err);
    (void)tarn_err_add(err, "size", json_integer(object.size));
    return tarn_err_add(err, "expected_size", json_integer(op->file.size));
}

/* --- the schema --- */

/* What a drift means for a commit; the words are those of the monitor's codes. */
static const struct {
    enum tarn_drift_kind kind;
    const char *word;
    bool refuses, warns;
} k_drifts[] = {
    { TARN_DRIFT_NARROWED, "narrowed", true, true },
    { TARN_DRIFT_TYPE_CHANGED, "type_changed", true, true },
    { TARN_DRIFT_BINARY_STRING, "type_changed", false, true },
    { TARN_DRIFT_NULL_IN_REQUIRED, "null_in_required", true, true },
    { TARN_DRIFT_MISSING_COLUMN, "missing_column", false, true },
    { TARN_DRIFT_MISSING_REQUIRED, "missing_column", true, true },
    { TARN_DRIFT_EXTRA_COLUMN, "extra_column", true, true },
    { TARN_DRIFT_RENAMED_CASE, "renamed_case", true, true },
};

struct drifts {
    json_t *refused, *warned;
    bool failed;
};

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
        if (k_drifts[i].kind != drift->kind)
            continue;
        json_t *change = json_pack("{s:s, s:s, s:o, s:o}", "kind", k_drifts[i].word, "column", drift->column,
                                   "from", type_text(drift->registered), "to", type_text(drift->found));
        if (k_drifts[i].refuses)
            d->failed |= json_array_append(d->refused, change) != 0;
        d->failed |= json_array_append_new(d->warned, change) != 0;
    }
}

static tarn_code warn_drifts(struct verify *v, const char *path, const json_t *warned, struct tarn_err *err)
{
    char what[512];
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < json_array_size(warned) && code == TARN_OK; i++) {
        const json_t *change = json_array_get(warned, i);
        snprintf(what, sizeof what, "schema_drift.%s: %s", json_string_value(json_object_get(change, "kind")),
                 json_string_value(json_object_get(change, "column")));
        code = warn(v->use, path, what, err);
    }
    return code;
}

static tarn_code verify_schema(struct verify *v, const char *path, const struct tarn_parquet *parquet,
                               struct tarn_err *err)
{
    json_auto_t *refused = json_array(), *warned = json_array();
    struct drifts d = { refused, warned, false };

    if (!v->schema || !parquet->schema)
        return TARN_OK;
    tarn_schema_drift(v->schema, parquet->schema, v->keys, note_drift, &d);
    if (!refused || !warned || d.failed)
        return tarn_fail_oom(err);
    if (v->table->enforcement == TARN_ENFORCE_WARN)
        return warn_drifts(v, path, warned, err);
    if (v->table->enforcement == TARN_ENFORCE_OFF || json_array_size(refused) == 0)
        return TARN_OK;
    misfit(TARN_INCOMPATIBLE_SCHEMA, path, "the file's schema does not fit the table's", err);
    return tarn_err_add(err, "changes", json_incref(refused));
}

/* --- the footer --- */

static tarn_code fill_in(struct verify *v, struct tarn_commit_op *op, const struct tarn_parquet *parquet,
                         struct tarn_err *err)
{
    if (op->file.records < 0)
        op->file.records = parquet->rows;
    if (op->file.records != parquet->rows)
        return misfit(TARN_VERIFICATION_FAILED, op->file.path, "the file has another number of rows", err);
    if (!op->file.column_stats && !op->filled_stats)
        op->file.column_stats = op->filled_stats = tarn_parquet_column_stats(parquet);
    if (op->file.partition_values || op->filled_values)
        return TARN_OK;
    tarn_code code = tarn_hive_values(op->file.path, v->schema, &op->filled_values, err);
    op->file.partition_values = op->filled_values;
    return code;
}

static tarn_code verify_footer(struct verify *v, struct tarn_commit_op *op, struct tarn_err *err)
{
    TARN_AUTO(parquet) struct tarn_parquet *parquet = NULL;
    TARN_ERR(fault);

    tarn_code code = tarn_parquet_read(v->place, op->file.path, op->file.size, &parquet, &fault);
    if (code == TARN_NOT_FOUND)
        return misfit(TARN_VERIFICATION_FAILED, op->file.path, "the file is not there", err);
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    if (parquet->state == TARN_PARQUET_CORRUPT)
        return misfit(TARN_VERIFICATION_FAILED, op->file.path, parquet->reason, err);
    if (parquet->state != TARN_PARQUET_OK)
        return warn(v->use, op->file.path, parquet->reason, err);
    code = fill_in(v, op, parquet, err);
    return code == TARN_OK ? verify_schema(v, op->file.path, parquet, err) : code;
}

static tarn_code verify_all(struct verify *v, struct tarn_err *err)
{
    for (size_t i = 0; i < v->use->op_count; i++) {
        struct tarn_commit_op *op = &v->use->ops[i];
        if (!op->is_add)
            continue;
        tarn_code code = verify_size(v, op, err);
        if (code == TARN_OK && v->depth == TARN_VERIFY_FOOTER)
            code = verify_footer(v, op, err);
        if (code == TARN_VERIFICATION_FAILED || code == TARN_INCOMPATIBLE_SCHEMA)
            (void)tarn_err_prefix(err, "operations[%zu]", i);
        if (code != TARN_OK)
            return code;
    }
    return TARN_OK;
}

tarn_code tarn_commit_verify(struct tarn_commit_use *use, const struct tarn_table *table, const char *schema,
                             enum tarn_verify depth, struct tarn_err *err)
{
    __attribute__((cleanup(verify_done))) struct verify v = { .use = use, .table = table, .depth = depth };
    json_auto_t *json = NULL;
    TARN_ERR(missing);
    tarn_code code = TARN_OK;

    json_decref(use->warnings);
    use->warnings = NULL;
    v.keys = json_loads(table->partition_keys, 0, NULL);
    if (schema)
        code = tarn_json_parse(schema, strlen(schema), NULL, &json, err);
    if (code == TARN_OK && json)
        code = tarn_schema_parse(json, "schema", &v.schema, err);
    if (code != TARN_OK)
        return code;
    code = tarn_place_open(use->lake->storage, table->location, false, &v.place, &missing);
    if (code == TARN_NOT_FOUND)
        return tarn_fail(err, TARN_STORAGE_UNAVAILABLE, "the table's folder %s is not there",
                         table->location);
    return code == TARN_OK ? verify_all(&v, err) : tarn_err_move(err, &missing);
}
