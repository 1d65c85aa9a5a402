/* commit_files.c - the file rows of a commit's operations. All
 * removes come before the first add: a path may be replaced. */
#include "lake/commit.h"

static tarn_code take_added_version(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    (void)err;
    *(int64_t *)ctx = file->added_version;
    return TARN_OK;
}

/* The transaction that added the live file, JSON null when it is from before Tarn. */
static json_t *adder_of(struct tarn_tx *tx, const struct tarn_table *table, const char *path)
{
    __attribute__((cleanup(tarn_commit_row_done))) struct tarn_commit_row row = { 0 };
    int64_t version = -1;
    TARN_ERR(ignored);

    if (tx->ops->files.get(tx, table->id, path, take_added_version, &version, &ignored) != TARN_OK)
        return json_null();
    if (tx->ops->commits.get(tx, table->id, version, &row, &ignored) != TARN_OK)
        return json_null();
    return json_string(row.transaction);
}

static tarn_code explain_conflict(struct tarn_tx *tx, const struct tarn_table *table,
                                  const struct tarn_commit_op *op, size_t index, struct tarn_err *err)
{
    char field[64];

    snprintf(field, sizeof field, "operations[%zu].path", index);
    tarn_fail_code_field(err, TARN_FILE_CONFLICT, field, "%s: the file is %s the table", op->file.path,
                         op->is_add ? "already in" : "not in");
    (void)tarn_err_add(err, "path", json_string(op->file.path));
    if (op->is_add)
        (void)tarn_err_add(err, "transaction", adder_of(tx, table, op->file.path));
    return TARN_FILE_CONFLICT;
}

static tarn_code remove_files(struct tarn_tx *tx, struct tarn_commit_use *use, const struct tarn_table *table,
                              size_t from, size_t to, struct tarn_commit_row *row, struct tarn_err *err)
{
    for (size_t i = from; i < to && use->add_count < use->op_count; i++) {
        int64_t size = 0;
        if (use->ops[i].is_add)
            continue;
        tarn_code code =
            tx->ops->files.remove(tx, table->id, row->version, use->ops[i].file.path, &size, err);
        if (code == TARN_FILE_CONFLICT)
            return explain_conflict(tx, table, &use->ops[i], i, err);
        if (code != TARN_OK)
            return code;
        row->files_removed++;
        row->bytes_removed += size;
    }
    return TARN_OK;
}

/* The schema version of an add: the current one, or a given one that exists. *known: the last one found. */
static tarn_code judge_schema(struct tarn_tx *tx, const struct tarn_table *table, int64_t version,
                              int64_t *known, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_schema_row_done))) struct tarn_schema_row row = { 0 };
    TARN_ERR(unknown);

    if (version == *known || version == table->schema_version)
        return TARN_OK;
    tarn_code code = tx->ops->schemas.get(tx, table->id, version, &row, &unknown);
    if (code == TARN_SCHEMA_VERSION_NOT_FOUND)
        return tarn_fail_code_field(err, code, "schemaVersion", "the table has no schema version %lld",
                                    (long long)version);
    if (code != TARN_OK)
        return tarn_err_move(err, &unknown);
    *known = version;
    return TARN_OK;
}

static tarn_code add_file(struct tarn_tx *tx, const struct tarn_commit_op *op, const struct tarn_table *table,
                          struct tarn_commit_row *row, int64_t *known_schema, struct tarn_err *err)
{
    struct tarn_file file = op->file;
    tarn_code code = TARN_OK;

    if (file.size < 0)
        return tarn_fail_field(err, "size", "is required unless verify reads it from storage");
    if (op->schema_given)
        code = judge_schema(tx, table, file.schema_version, known_schema, err);
    else if (file.schema_version == 0)
        file.schema_version = table->schema_version;
    if (code == TARN_OK && __builtin_add_overflow(row->bytes_added, file.size, &row->bytes_added))
        code = tarn_fail_field(err, "size", "the sum of sizes is out of range");
    if (code != TARN_OK)
        return code;
    row->files_added++;
    return tx->ops->files.add(tx, table->id, row->version, &file, err);
}

static tarn_code add_files(struct tarn_tx *tx, struct tarn_commit_use *use, const struct tarn_table *table,
                           size_t from, size_t to, struct tarn_commit_row *row, struct tarn_err *err)
{
    int64_t known_schema = -1;

    for (size_t i = from; i < to; i++) {
        if (!use->ops[i].is_add)
            continue;
        tarn_code code = add_file(tx, &use->ops[i], table, row, &known_schema, err);
        if (code == TARN_FILE_CONFLICT)
            return explain_conflict(tx, table, &use->ops[i], i, err);
        if (code != TARN_OK) {
            if (code == TARN_INVALID || code == TARN_SCHEMA_VERSION_NOT_FOUND)
                (void)tarn_err_prefix(err, "operations[%zu]", i);
            return code;
        }
    }
    return TARN_OK;
}

tarn_code tarn_commit_files(struct tarn_tx *tx, struct tarn_commit_use *use, const struct tarn_table *table,
                            bool adds, size_t from, size_t to, struct tarn_commit_row *row,
                            struct tarn_err *err)
{
    return adds ? add_files(tx, use, table, from, to, row, err)
                : remove_files(tx, use, table, from, to, row, err);
}
