/* file_filter.c - see file_filter.h. The judgement itself is catalog/prune.c's; here a query becomes its
 * terms. */
#include "lake/file_filter.h"
#include "base/json.h"
#include "base/text.h"
#include "catalog/prune.h"
#include "catalog/schema_map.h"
#include "formats/partition.h"
#include "lake/schema_rows.h"
#include <stdlib.h>
#include <string.h>

enum { TERMS_MAX = 64, PARTITION = -1 };

static const struct {
    const char *prefix;
    int op; /* enum tarn_prune_op or PARTITION */
} k_kinds[] = {
    { "partition.", PARTITION },
    { "at_least.", TARN_PRUNE_AT_LEAST },
    { "at_most.", TARN_PRUNE_AT_MOST },
    { "equals.", TARN_PRUNE_EQUALS },
};

struct tarn_file_filter {
    struct term {
        int op;
        char *field;        /* owned: the parameter's whole name */
        const char *column; /* inside of it */
        char *value;        /* owned */
        bool is_key;        /* a partition key */
    } terms[TERMS_MAX];
    size_t count;
    struct tarn_prune_term bounds[TERMS_MAX]; /* of the terms that are no partition's */
    size_t bound_count;
    struct tarn_prune *prune; /* owned; NULL: not settled */
};

struct tarn_file_filter *tarn_file_filter_new(void) { return calloc(1, sizeof(struct tarn_file_filter)); }

void tarn_file_filter_free(struct tarn_file_filter *filter)
{
    if (!filter)
        return;
    tarn_prune_free(filter->prune);
    for (size_t i = 0; i < filter->count; i++) {
        free(filter->terms[i].field);
        free(filter->terms[i].value);
    }
    free(filter);
}

/* --- the terms --- */

static bool has_key(const struct tarn_table *table, const char *key)
{
    json_auto_t *keys = json_loads(table->partition_keys, 0, NULL);
    size_t i;
    json_t *name;

    json_array_foreach (keys, i, name)
        if (json_is_string(name) && strcmp(json_string_value(name), key) == 0)
            return true;
    return false;
}

static tarn_code keep_term(struct tarn_file_filter *filter, const struct term *like, const char *name,
                           size_t prefix, const char *value, struct tarn_err *err)
{
    if (filter->count == TERMS_MAX)
        return tarn_fail_field(err, name, "is one filter too many");
    struct term *term = &filter->terms[filter->count];
    *term = *like;
    term->field = strdup(name);
    term->value = strdup(value);
    filter->count++;
    if (!term->field || !term->value)
        return tarn_fail_oom(err);
    term->column = term->field + prefix;
    if (term->op != PARTITION)
        filter->bounds[filter->bound_count++] =
            (struct tarn_prune_term){ (enum tarn_prune_op)term->op, term->column, term->value };
    return TARN_OK;
}

tarn_code tarn_file_filter_add(struct tarn_file_filter *filter, const struct tarn_table *table,
                               const char *name, const char *value, bool *taken, struct tarn_err *err)
{
    *taken = false;
    for (size_t i = 0; i < TARN_COUNT(k_kinds); i++) {
        size_t prefix = strlen(k_kinds[i].prefix);
        if (!tarn_starts_with(name, k_kinds[i].prefix))
            continue;
        struct term term = { .op = k_kinds[i].op, .is_key = has_key(table, name + prefix) };
        if (term.op == PARTITION && !term.is_key)
            return tarn_fail_field(err, name, "the table has no such partition key");
        *taken = true;
        return keep_term(filter, &term, name, prefix, value, err);
    }
    return TARN_OK;
}

/* --- the schemas --- */

struct rows_ctx {
    int64_t table_id;
    struct tarn_schema_rows rows;
};

static void rows_done(struct rows_ctx *c) { tarn_schema_rows_done(&c->rows); }

static tarn_code rows_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct rows_ctx *c = ctx;

    return tarn_schema_rows_read(tx, c->table_id, &c->rows, err);
}

static tarn_code judge_columns(const struct tarn_file_filter *filter, const struct tarn_schema_row *newest,
                               struct tarn_err *err)
{
    TARN_AUTO(schema_map) struct tarn_schema_map *map = NULL;
    tarn_code code = tarn_schema_map_new(newest, &map, err);

    for (size_t i = 0; i < filter->count && code == TARN_OK; i++) {
        TARN_AUTO_DONE(buf) struct tarn_buf source = { 0 };
        const struct term *term = &filter->terms[i];
        bool known = term->op == PARTITION || term->is_key;
        if (!known)
            (void)tarn_schema_map_source(map, term->column, &known, &source);
        if (!known)
            code = tarn_fail_field(err, term->field, "the table has no such column");
    }
    return code;
}

tarn_code tarn_file_filter_settle(struct tarn_file_filter *filter, struct tarn_store *store,
                                  const struct tarn_table *table, int64_t reads_schema, struct tarn_err *err)
{
    __attribute__((cleanup(rows_done))) struct rows_ctx c = { .table_id = table->id };
    tarn_code code = filter->bound_count > 0 ? tarn_store_read(store, rows_tx, &c, err) : TARN_OK;
    size_t left = c.rows.count;

    while (left > 0 && c.rows.rows[left - 1].version > reads_schema)
        left--;
    if (code == TARN_OK && left > 0)
        code = judge_columns(filter, &c.rows.rows[left - 1], err);
    if (code != TARN_OK)
        return code;
    tarn_prune_free(tarn_take(&filter->prune));
    return tarn_prune_new(filter->bounds, filter->bound_count, c.rows.rows, left, &filter->prune, err);
}

/* --- the files --- */

/* A query compares text: 14 and "14" are the same hour. */
static bool value_is(const json_t *value, const char *wanted)
{
    if (json_is_string(value))
        return strcmp(json_string_value(value), wanted) == 0;
    TARN_AUTO(mem) char *text = value ? tarn_json_text(value) : NULL;
    return text && strcmp(text, wanted) == 0;
}

/* The value as committed, else as the folder's name says, as a reader of the path takes it. */
static bool is_of(const struct term *term, const json_t *values, const struct tarn_file *file)
{
    json_auto_t *named = NULL;
    const json_t *value = json_object_get(values, term->column);
    TARN_ERR(err);

    if (!value && tarn_partition_from_path(file->path, &named, &err) == TARN_OK)
        value = json_object_get(named, term->column);
    return value_is(value, term->value);
}

static bool partitions_match(const struct tarn_file_filter *filter, const struct tarn_file *file)
{
    json_auto_t *values = file->partition_values ? json_loads(file->partition_values, 0, NULL) : NULL;

    for (size_t i = 0; i < filter->count; i++)
        if (filter->terms[i].op == PARTITION && !is_of(&filter->terms[i], values, file))
            return false;
    return true;
}

bool tarn_file_filter_wants(const struct tarn_file_filter *filter, const struct tarn_file *file)
{
    if (filter->bound_count < filter->count && !partitions_match(filter, file))
        return false;
    return tarn_prune_keeps(filter->prune, file);
}
