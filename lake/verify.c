/* verify.c - an added file against storage: there, with that size, and, where asked, with a footer that can
 * be read and that fits the schema. What the operation left out is filled in from the file and its path. */
#include "lake/footer.h"
#include "lake/verify.h"

#define WARNINGS_MAX 1000 /* in one answer */

void tarn_verify_done(struct tarn_verifying *v)
{
    tarn_verify_versions_done(v);
    tarn_place_free(v->place);
    json_decref(v->keys);
}

tarn_code tarn_verify_misfit(tarn_code code, const char *path, const char *what, struct tarn_err *err)
{
    tarn_fail_code_field(err, code, "path", "%s: %s", path, what);
    return tarn_err_add(err, "path", json_string(path));
}

tarn_code tarn_verify_warn(struct tarn_verifying *v, const char *code, const char *path, const json_t *change,
                           const char *message, struct tarn_err *err)
{
    const char *column = json_string_value(json_object_get(change, "column"));
    json_t *warning = json_pack("{s:s, s:s, s:s?, s:O?, s:O?, s:s}",
                                "code",    code,
                                "path",    path,
                                "column",  column,
                                "from",    json_object_get(change, "from"),
                                "to",      json_object_get(change, "to"),
                                "message", message);

    if (++v->warnings > WARNINGS_MAX) {
        json_decref(warning);
        return TARN_OK;
    }
    if (!v->use->warnings)
        v->use->warnings = json_array();
    return json_array_append_new(v->use->warnings, warning) == 0 ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code verify_size(struct tarn_verifying *v, struct tarn_commit_op *op, struct tarn_err *err)
{
    struct tarn_object object = { 0 };
    TARN_ERR(fault);
    tarn_code code = tarn_place_stat(v->place, op->file.path, &object, &fault);

    if (code == TARN_NOT_FOUND)
        return tarn_verify_misfit(TARN_VERIFICATION_FAILED, op->file.path, "the file is not there", err);
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    if (op->file.size < 0)
        op->file.size = object.size;
    if (op->file.size == object.size)
        return TARN_OK;
    tarn_verify_misfit(TARN_VERIFICATION_FAILED, op->file.path, "the file has another size", err);
    (void)tarn_err_add(err, "size", json_integer(object.size));
    return tarn_err_add(err, "expected_size", json_integer(op->file.size));
}

/* --- the footer --- */

static tarn_code fill_in(struct tarn_verifying *v, struct tarn_commit_op *op,
                         const struct tarn_parquet *parquet, struct tarn_err *err)
{
    const struct tarn_schema *schema = NULL;

    if (op->file.records < 0)
        op->file.records = parquet->rows;
    if (op->file.records != parquet->rows)
        return tarn_verify_misfit(TARN_VERIFICATION_FAILED, op->file.path, "the file has another number of rows", err);
    if (!op->file.column_stats && !op->filled_stats)
        op->file.column_stats = op->filled_stats = tarn_parquet_column_stats(parquet);
    if (op->file.partition_values || op->filled_values)
        return TARN_OK;
    tarn_code code = tarn_verify_current(v, &schema, err);
    if (code == TARN_OK)
        code = tarn_hive_values(op->file.path, schema, &op->filled_values, err);
    op->file.partition_values = op->filled_values;
    return code;
}

static tarn_code verify_footer(struct tarn_verifying *v, struct tarn_commit_op *op, struct tarn_err *err)
{
    TARN_AUTO(parquet) struct tarn_parquet *parquet = NULL;
    TARN_ERR(fault);

    tarn_code code = tarn_parquet_read(v->place, op->file.path, op->file.size, &parquet, &fault);
    if (code == TARN_NOT_FOUND)
        return tarn_verify_misfit(TARN_VERIFICATION_FAILED, op->file.path, "the file is not there", err);
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    if (parquet->state == TARN_PARQUET_CORRUPT)
        return tarn_verify_misfit(TARN_VERIFICATION_FAILED, op->file.path, parquet->reason, err);
    if (parquet->state != TARN_PARQUET_OK)
        return tarn_verify_warn(v, "footer_unread", op->file.path, NULL, parquet->reason, err);
    code = fill_in(v, op, parquet, err);
    return code == TARN_OK ? tarn_verify_schema(v, op, parquet, err) : code;
}

/* A table that only warns of its schema lets a file pass that nobody asked to verify. */
static bool is_refused(const struct tarn_verifying *v, enum tarn_verify level)
{
    return v->asked >= level || v->table->enforcement != TARN_ENFORCE_WARN;
}

tarn_code tarn_verify_add(struct tarn_verifying *v, struct tarn_commit_op *op, struct tarn_err *err)
{
    enum tarn_verify level = TARN_VERIFY_SIZE;
    TARN_ERR(fault);

    if (!op->schema_given)
        op->file.schema_version = 0; /* of an earlier look */
    tarn_code code = verify_size(v, op, &fault);
    if (code == TARN_OK && v->depth == TARN_VERIFY_FOOTER) {
        level = TARN_VERIFY_FOOTER;
        code = verify_footer(v, op, &fault);
    }
    if (code == TARN_VERIFICATION_FAILED && !is_refused(v, level))
        return tarn_verify_warn(v, tarn_code_slug(code), op->file.path, NULL, fault.detail, err);
    return code == TARN_OK ? code : tarn_err_move(err, &fault);
}

static tarn_code verify_all(struct tarn_verifying *v, struct tarn_err *err)
{
    for (size_t i = 0; i < v->use->op_count; i++) {
        if (!v->use->ops[i].is_add)
            continue;
        tarn_code code = tarn_verify_add(v, &v->use->ops[i], err);
        if (code == TARN_VERIFICATION_FAILED || code == TARN_INCOMPATIBLE_SCHEMA)
            (void)tarn_err_prefix(err, "operations[%zu]", i);
        if (code != TARN_OK)
            return code;
    }
    return TARN_OK;
}

/* What did not fit into the answer is at least counted. */
tarn_code tarn_verify_end(struct tarn_verifying *v, struct tarn_err *err)
{
    if (v->warnings <= WARNINGS_MAX)
        return TARN_OK;
    json_t *last = json_pack("{s:s, s:n, s:n, s:n, s:n, s:o}", "code", "more_warnings", "path", "column", "from", "to",
                             "message", json_sprintf("%zu more warnings", v->warnings - WARNINGS_MAX));
    return json_array_append_new(v->use->warnings, last) == 0 ? TARN_OK : tarn_fail_oom(err);
}

tarn_code tarn_verify_begin(struct tarn_verifying *v, struct tarn_commit_use *use,
                            const struct tarn_table *table, const struct tarn_schema_rows *schemas,
                            enum tarn_verify depth, struct tarn_err *err)
{
    TARN_ERR(missing);

    *v = (struct tarn_verifying){ .use = use, .table = table, .rows = schemas, .depth = depth };
    json_decref(use->warnings);
    use->warnings = NULL;
    v->asked = use->verify > table->verify ? use->verify : table->verify;
    v->keys = json_loads(table->partition_keys, 0, NULL);
    tarn_code code = tarn_place_open(use->lake->storage, table->location, false, &v->place, &missing);
    if (code == TARN_NOT_FOUND)
        return tarn_fail(err, TARN_STORAGE_UNAVAILABLE, "the table's folder %s is not there", table->location);
    return code == TARN_OK ? TARN_OK : tarn_err_move(err, &missing);
}

tarn_code tarn_commit_verify(struct tarn_commit_use *use, const struct tarn_table *table,
                             const struct tarn_schema_rows *schemas, enum tarn_verify depth,
                             struct tarn_err *err)
{
    __attribute__((cleanup(tarn_verify_done))) struct tarn_verifying v = { 0 };

    tarn_code code = tarn_verify_begin(&v, use, table, schemas, depth, err);
    if (code == TARN_OK)
        code = verify_all(&v, err);
    return code == TARN_OK ? tarn_verify_end(&v, err) : code;
}
