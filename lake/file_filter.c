/* file_filter.c - see file_filter.h. What a column is called in the files of each schema version is found out once,
 * on one way back through the versions. */
#include "lake/file_filter.h"
#include "base/json.h"
#include "base/text.h"
#include "catalog/prune.h"
#include "catalog/schema_map.h"
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

struct term {
    int op;
    char *field;        /* owned: the parameter's whole name */
    const char *column; /* inside of it */
    char *value;        /* owned */
    bool is_key;        /* a partition key */
};

/* What the columns of the bounds are called in files of one schema version; NULL: nothing is known of it. */
struct names {
    int64_t version;
    char **of; /* owned, one a term */
};

struct tarn_file_filter {
    struct term terms[TERMS_MAX];
    size_t count, bounds; /* bounds: terms that are no partition's */
    struct names *names;  /* owned, newest version first */
    size_t versions;
};

struct tarn_file_filter *tarn_file_filter_new(void) { return calloc(1, sizeof(struct tarn_file_filter)); }

static void forget_names(struct tarn_file_filter *filter)
{
    for (size_t v = 0; v < filter->versions; v++) {
        for (size_t i = 0; filter->names[v].of && i < filter->count; i++)
            free(filter->names[v].of[i]);
        free(filter->names[v].of);
    }
    free(filter->names);
    filter->names = NULL;
    filter->versions = 0;
}

void tarn_file_filter_free(struct tarn_file_filter *filter)
{
    if (!filter)
        return;
    forget_names(filter);
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

static tarn_code keep_term(struct tarn_file_filter *filter, const struct term *like, const char *name, size_t prefix,
                           const char *value, struct tarn_err *err)
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
    filter->bounds += term->op != PARTITION;
    return TARN_OK;
}

tarn_code tarn_file_filter_add(struct tarn_file_filter *filter, const struct tarn_table *table, const char *name,
                               const char *value, bool *taken, struct tarn_err *err)
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

/* --- the names --- */

static tarn_code name_term(const struct tarn_schema_map *map, const struct term *term, bool is_newest, char **out,
                           struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf source = { 0 };
    bool known = false, has_source = tarn_schema_map_bounds(map, term->column, &known, &source);

    if (!known && !term->is_key)
        return is_newest ? tarn_fail_field(err, term->field, "the table has no such column") : TARN_OK;
    if (known && !has_source)
        return TARN_OK;
    *out = known ? tarn_buf_take(&source) : strdup(term->column);
    return *out ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code name_terms(struct tarn_file_filter *filter, const struct tarn_schema_map *map, struct tarn_err *err)
{
    struct names *names = &filter->names[filter->versions++];
    tarn_code code = TARN_OK;

    names->version = tarn_schema_map_from(map);
    names->of = calloc(filter->count, sizeof *names->of);
    if (!names->of)
        return tarn_fail_oom(err);
    for (size_t i = 0; i < filter->count && code == TARN_OK; i++)
        if (filter->terms[i].op != PARTITION)
            code = name_term(map, &filter->terms[i], filter->versions == 1, &names->of[i], err);
    return code;
}

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

tarn_code tarn_file_filter_settle(struct tarn_file_filter *filter, struct tarn_store *store,
                                  const struct tarn_table *table, int64_t reads_schema, struct tarn_err *err)
{
    __attribute__((cleanup(rows_done))) struct rows_ctx c = { .table_id = table->id };
    TARN_AUTO(schema_map) struct tarn_schema_map *map = NULL;

    forget_names(filter);
    if (filter->bounds == 0)
        return TARN_OK;
    tarn_code code = tarn_store_read(store, rows_tx, &c, err);
    size_t left = c.rows.count;
    while (left > 0 && c.rows.rows[left - 1].version > reads_schema)
        left--;
    if (code != TARN_OK || left == 0)
        return code;
    filter->names = calloc(left, sizeof *filter->names);
    if (!filter->names)
        return tarn_fail_oom(err);
    code = tarn_schema_map_new(&c.rows.rows[left - 1], &map, err);
    if (code == TARN_OK)
        code = name_terms(filter, map, err);
    while (--left > 0 && code == TARN_OK) {
        code = tarn_schema_map_back(map, &c.rows.rows[left - 1], err);
        if (code == TARN_OK)
            code = name_terms(filter, map, err);
    }
    return code;
}

/* A table without a schema: as they are asked for. A file that does not tell its version: what all agree on. */
static const char *name_in(const struct tarn_file_filter *filter, size_t term, int64_t version)
{
    const char *agreed = filter->versions == 0 ? filter->terms[term].column : filter->names[0].of[term];

    for (size_t v = 0; v < filter->versions; v++) {
        const char *name = filter->names[v].of[term];
        if (filter->names[v].version == version)
            return name;
        if (!name || !agreed || strcmp(name, agreed) != 0)
            agreed = NULL;
    }
    return version <= 0 || filter->versions == 0 ? agreed : NULL;
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

static bool partitions_match(const struct tarn_file_filter *filter, const struct tarn_file *file)
{
    json_auto_t *values = file->partition_values ? json_loads(file->partition_values, 0, NULL) : NULL;

    for (size_t i = 0; i < filter->count; i++)
        if (filter->terms[i].op == PARTITION &&
            !value_is(json_object_get(values, filter->terms[i].column), filter->terms[i].value))
            return false;
    return true;
}

bool tarn_file_filter_wants(const struct tarn_file_filter *filter, const struct tarn_file *file)
{
    struct tarn_prune_term terms[TERMS_MAX];
    size_t count = 0;

    if (filter->bounds < filter->count && !partitions_match(filter, file))
        return false;
    for (size_t i = 0; i < filter->count; i++) {
        const char *name = filter->terms[i].op == PARTITION ? NULL : name_in(filter, i, file->schema_version);
        if (name)
            terms[count++] = (struct tarn_prune_term){ (enum tarn_prune_op)filter->terms[i].op, name,
                                                       filter->terms[i].value };
    }
    return tarn_prune_may_match(terms, count, file);
}
