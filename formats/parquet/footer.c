/* footer.c - FileMetaData of a Parquet file: the schema first, then the row groups, in whatever order
 * they stand. What is wrong with a file is a verdict and no error: monitors tell it, readers need it. */
#include "formats/parquet/footer.h"
#include "base/jsonw.h"
#include "base/text.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define CREATED_BY_MAX 256 /* bytes */
#define STATS_COLUMNS_MAX 10000 /* as many as a schema of the catalog has */

void tarn_parquet_free(struct tarn_parquet *parquet)
{
    if (!parquet)
        return;
    for (size_t i = 0; i < parquet->column_count; i++) {
        free(parquet->columns[i].path);
        free(parquet->columns[i].min);
        free(parquet->columns[i].max);
    }
    free(parquet->columns);
    free(parquet->created_by);
    tarn_schema_free(parquet->schema);
    free(parquet);
}

bool tarn_pq_corrupt(struct tarn_pq *pq, const char *fmt, ...)
{
    struct tarn_parquet *out = pq->out;
    va_list ap;

    if (out->state != TARN_PARQUET_OK)
        return false;
    out->state = TARN_PARQUET_CORRUPT;
    va_start(ap, fmt);
    vsnprintf(out->reason, sizeof out->reason, fmt, ap);
    va_end(ap);
    out->reason[tarn_utf8_cut(out->reason, strlen(out->reason), sizeof out->reason - 1)] = '\0';
    return false;
}

/* Where the members of FileMetaData lie, once it has been walked over. */
struct places {
    struct tarn_thrift schema, row_groups;
    struct tarn_thrift_field schema_field, row_groups_field; /* type 0: absent */
};

static void keep_created_by(struct tarn_pq *pq, struct tarn_thrift_bytes text)
{
    const char *from = (const char *)text.data;

    if (!from || text.len > CREATED_BY_MAX || pq->out->created_by)
        return;
    if (!tarn_utf8_valid(from, text.len) || tarn_has_control(from, text.len))
        return;
    pq->out->created_by = strndup(from, text.len);
    pq->oom = pq->oom || !pq->out->created_by;
}

/* 2 schema 3 num_rows 4 row_groups 6 created_by 8 encryption_algorithm. */
static bool survey(struct tarn_pq *pq, struct tarn_thrift *t, struct places *places)
{
    struct tarn_thrift_field field = { 0 };

    while (tarn_thrift_next(t, &field)) {
        if (field.id == 3) {
            pq->out->rows = tarn_thrift_int(t, &field);
            continue;
        }
        if (field.id == 6) {
            keep_created_by(pq, tarn_thrift_binary(t, &field));
            continue;
        }
        if (field.id == 2) {
            places->schema = *t;
            places->schema_field = field;
        } else if (field.id == 4) {
            places->row_groups = *t;
            places->row_groups_field = field;
        } else if (field.id == 8) {
            pq->encrypted_columns = true;
        }
        tarn_thrift_skip(t, &field);
    }
    return !t->fault || tarn_pq_corrupt(pq, "%s", t->fault);
}

/* A part of the footer, read again from its place; a fault of the encoding is the reason when there is no
 * other. */
static bool read_part(struct tarn_pq *pq, struct tarn_thrift *t, const struct tarn_thrift_field *field,
                      bool (*part)(struct tarn_pq *, struct tarn_thrift *, const struct tarn_thrift_field *))
{
    if (part(pq, t, field))
        return true;
    return tarn_pq_corrupt(pq, "%s", t->fault ? t->fault : "the footer cannot be read");
}

static bool finish_columns(struct tarn_pq *pq)
{
    struct tarn_parquet *out = pq->out;

    for (size_t i = 0; i < out->column_count; i++) {
        struct tarn_pq_leaf *leaf = &pq->leaves[i];
        struct tarn_parquet_column *column = &out->columns[i];
        column->has_null_count = !leaf->nulls_lost;
        if (leaf->bounds_lost || !leaf->min.data)
            continue;
        column->min = tarn_pq_bound_json(leaf->element, leaf->min);
        column->max = tarn_pq_bound_json(leaf->element, leaf->max);
        column->has_min_max = column->min && column->max;
    }
    return true;
}

/* Hands the leaves' null counts to the tree, in the same order. A group is null only together with all its
 * leaves, so one leaf without nulls clears it. Returns whether the type holds such a leaf. */
static bool spread_nulls(const struct tarn_parquet *out, struct tarn_type *type, size_t *leaf)
{
    bool clear = false;

    for (size_t i = 0; i < type->field_count; i++) {
        struct tarn_column *column = &type->fields[i];
        bool is_leaf = column->type.kind < TARN_T_STRUCT;
        const struct tarn_parquet_column *told = &out->columns[*leaf];
        column->row_count = out->rows;
        if (is_leaf) {
            column->null_count = told->has_null_count ? told->null_count : -1;
            *leaf += 1;
        } else {
            column->null_count = spread_nulls(out, &column->type, leaf) ? 0 : -1;
        }
        clear = clear || column->null_count == 0;
    }
    return clear;
}

static bool read_all(struct tarn_pq *pq, struct tarn_thrift *t)
{
    struct places places = { 0 };
    size_t leaf = 0;

    if (!survey(pq, t, &places))
        return false;
    if (places.schema_field.type == TARN_THRIFT_STOP)
        return tarn_pq_corrupt(pq, "the footer holds no schema");
    if (pq->out->rows < 0)
        return tarn_pq_corrupt(pq, "the file has an impossible number of rows");
    if (!read_part(pq, &places.schema, &places.schema_field, tarn_pq_elements) || !tarn_pq_schema(pq))
        return false;
    bool groups = places.row_groups_field.type != TARN_THRIFT_STOP;
    if (groups && !read_part(pq, &places.row_groups, &places.row_groups_field, tarn_pq_row_groups))
        return false;
    if (!groups && pq->out->rows > 0)
        return tarn_pq_corrupt(pq, "the file says %lld rows but has no row groups", (long long)pq->out->rows);
    if (!finish_columns(pq))
        return false;
    (void)spread_nulls(pq->out, &pq->out->schema->root, &leaf);
    return true;
}

/* What a reader must not trust once the verdict is not OK. */
static void forget(struct tarn_parquet *out)
{
    tarn_schema_free(tarn_take(&out->schema));
    out->rows = out->row_groups = 0;
}

tarn_code tarn_parquet_footer(const void *footer, size_t len, int64_t file_size, struct tarn_parquet **out,
                              struct tarn_err *err)
{
    TARN_AUTO(parquet) struct tarn_parquet *parquet = calloc(1, sizeof *parquet);
    struct tarn_thrift t = { footer, (const uint8_t *)footer + len, NULL };
    struct tarn_pq pq = { .out = parquet, .data_end = file_size - (int64_t)len - 8 };

    if (!parquet)
        return tarn_fail_oom(err);
    bool ok = read_all(&pq, &t);
    free(pq.elements);
    free(pq.leaves);
    if (pq.oom)
        return tarn_fail_oom(err);
    if (!ok)
        forget(parquet);
    *out = tarn_take(&parquet);
    return TARN_OK;
}

/* ---- in the manifest's form ---- */

static void add_stats(struct tarn_jsonw *w, const struct tarn_parquet_column *column)
{
    tarn_jsonw_key(w, column->path);
    tarn_jsonw_object(w);
    if (column->has_min_max) {
        tarn_jsonw_kraw(w, "min", column->min);
        tarn_jsonw_kraw(w, "max", column->max);
    }
    if (column->has_null_count)
        tarn_jsonw_ki64(w, "nullCount", column->null_count);
    tarn_jsonw_object_end(w);
}

char *tarn_parquet_column_stats(const struct tarn_parquet *parquet)
{
    TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };
    struct tarn_jsonw w = tarn_jsonw_to(&text);
    size_t told = 0;

    tarn_jsonw_object(&w);
    for (size_t i = 0; i < parquet->column_count && told < STATS_COLUMNS_MAX; i++) {
        const struct tarn_parquet_column *column = &parquet->columns[i];
        if (column->repeated || (!column->has_min_max && !column->has_null_count))
            continue;
        add_stats(&w, column);
        told++;
    }
    tarn_jsonw_object_end(&w);
    return parquet->state == TARN_PARQUET_OK && told > 0 ? tarn_buf_take(&text) : NULL;
}
