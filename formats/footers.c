/* footers.c - the footers of the newest files, folded into few facts: one a kind of drift and column, not one a
 * file, so that a thousand files with the same fault are one line. */
#include "formats/footers.h"
#include "catalog/schema_map.h"
#include "formats/parquet/parquet.h"
#include <string.h>

#define DRIFTS_MAX 500 /* kinds and columns told apart */

struct footers {
    struct tarn_facts *facts;
    const struct tarn_schema_past *past;
    const json_t *partition_keys;
    const struct tarn_pick *pick;         /* the file at hand */
    const struct tarn_parquet *parquet;   /* its footer */
    struct tarn_schema_map **maps;        /* owned, by how far behind; NULL: not needed yet */
    bool *ended;                          /* per facts->nulls: an older file has values */
    tarn_code code;                       /* of a visitor that cannot return one */
    struct tarn_err *err;
};

static const struct tarn_column *field_of(const struct tarn_type *type, const char *name, size_t len)
{
    for (size_t i = 0; i < type->field_count; i++)
        if (strlen(type->fields[i].name) == len && memcmp(type->fields[i].name, name, len) == 0)
            return &type->fields[i];
    return NULL;
}

/* By dotted path; the "list" and "key_value" steps of a file's layout are passed over. */
static bool has_column(const struct tarn_schema *schema, const char *path)
{
    const struct tarn_type *type = &schema->root;

    while (*path) {
        size_t len = strcspn(path, ".");
        const struct tarn_column *column = field_of(type, path, len);
        bool is_step = (len == 4 && memcmp(path, "list", 4) == 0) || (len == 9 && memcmp(path, "key_value", 9) == 0);
        if (!column && !is_step)
            return false;
        if (column)
            type = &column->type;
        path += len + (path[len] == '.');
    }
    return true;
}

/* When the column came (missing in a file), or went (extra in a file): files before that are of another time. */
static int64_t changed_at(const struct tarn_schema_past *past, const char *column, bool came)
{
    int64_t at = INT64_MIN;

    for (size_t i = past->count; i > 0; i--) {
        if (has_column(past->versions[i - 1], column) != came)
            return i < past->count ? past->since_ms[i] : INT64_MIN;
        at = past->since_ms[i - 1];
    }
    return came ? at : INT64_MIN;
}

static void set_text(struct footers *f, char **out, const char *text)
{
    if (!text)
        return;
    *out = strdup(text);
    if (!*out)
        f->code = tarn_fail_oom(f->err);
}

/* The fact of this kind and column, made when missing; NULL: too many, or no memory. */
static struct tarn_drift_fact *drift_fact(struct footers *f, const struct tarn_drift *drift)
{
    struct tarn_facts *facts = f->facts;

    for (size_t i = 0; i < facts->drift_count; i++)
        if (facts->drifts[i].kind == drift->kind && strcmp(facts->drifts[i].column, drift->column) == 0)
            return &facts->drifts[i];
    facts->drifts_cut |= facts->drift_count == DRIFTS_MAX;
    if (facts->drifts_cut)
        return NULL;
    if (!facts->drifts)
        facts->drifts = calloc(DRIFTS_MAX, sizeof *facts->drifts);
    char *column = strdup(drift->column);
    if (!facts->drifts || !column) {
        free(column);
        f->code = tarn_fail_oom(f->err);
        return NULL;
    }
    struct tarn_drift_fact *fact = &facts->drifts[facts->drift_count++];
    fact->kind = drift->kind;
    fact->column = column;
    set_text(f, &fact->possible_rename, drift->possible_rename);
    if (drift->registered)
        tarn_type_format(drift->registered, fact->registered, sizeof fact->registered);
    if (drift->found)
        tarn_type_format(drift->found, fact->found, sizeof fact->found);
    return fact;
}

static void note_drift(void *ctx, const struct tarn_drift *drift)
{
    struct footers *f = ctx;
    struct tarn_drift_fact *fact = f->code == TARN_OK ? drift_fact(f, drift) : NULL;

    if (!fact)
        return;
    bool is_extra = drift->kind == TARN_DRIFT_EXTRA_COLUMN, is_by_its_own = f->pick->behind > 0;
    if (is_by_its_own || f->pick->mtime_ms >= changed_at(f->past, drift->column, !is_extra))
        fact->newer_files++;
    fact->severe |= drift->severe;
    if (fact->files < (int64_t)TARN_COUNT(fact->examples))
        set_text(f, &fact->examples[fact->files], f->pick->path);
    fact->files++;
}

/* Is the column's one value another than the path's "key=value" says? */
static bool contradicts_path(const struct footers *f, const char *key)
{
    const struct tarn_parquet_column *leaf = NULL;

    for (size_t i = 0; i < f->parquet->column_count; i++)
        if (strcmp(f->parquet->columns[i].path, key) == 0)
            leaf = &f->parquet->columns[i];
    if (!leaf || !leaf->has_min_max || !leaf->min || !leaf->max || strcmp(leaf->min, leaf->max) != 0)
        return false;
    const char *value = leaf->min;
    size_t len = strlen(value), key_len = strlen(key);
    if (len >= 2 && value[0] == '"') {
        value++;
        len -= 2;
    }
    for (const char *part = f->pick->path; part; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL) {
        if (strncmp(part, key, key_len) != 0 || part[key_len] != '=')
            continue;
        const char *said = part + key_len + 1;
        return strcspn(said, "/") != len || memcmp(said, value, len) != 0;
    }
    return false;
}

static void note_partition_columns(struct footers *f)
{
    size_t index;
    json_t *key;

    json_array_foreach(f->partition_keys, index, key) {
        const char *name = json_string_value(key);
        const struct tarn_column *column = name ? field_of(&f->parquet->schema->root, name, strlen(name)) : NULL;
        if (column)
            note_drift(f, &(struct tarn_drift){ .kind = TARN_DRIFT_PARTITION_COLUMN,
                                                .column = name,
                                                .found = &column->type,
                                                .severe = contradicts_path(f, name) });
    }
}

/* The domain tells partition columns too; here they are told with the path's word. */
static void note_drift_but_partitions(void *ctx, const struct tarn_drift *drift)
{
    if (drift->kind != TARN_DRIFT_PARTITION_COLUMN)
        note_drift(ctx, drift);
}

static tarn_code map_of(struct footers *f, size_t behind, const struct tarn_schema_map **out, struct tarn_err *err)
{
    const struct tarn_schema_past *past = f->past;

    if (!f->maps)
        f->maps = calloc(TARN_BEHIND_MAX, sizeof *f->maps);
    if (!f->maps)
        return tarn_fail_oom(err);
    tarn_code code = TARN_OK;
    if (!f->maps[behind])
        code = tarn_schema_map_of(past->rows, past->count, past->rows[past->count - 1 - behind].version, &f->maps[behind],
                                  err);
    *out = f->maps[behind];
    return code;
}

/* A file that names an older version is held to that one: what changed since is no fault of the file. */
static tarn_code note_drifts(struct footers *f, struct tarn_err *err)
{
    const struct tarn_schema_map *map = NULL;

    if (f->pick->behind == 0) {
        tarn_schema_drift(f->past->current, f->parquet->schema, f->partition_keys, note_drift_but_partitions, f);
        return TARN_OK;
    }
    if (f->pick->behind == TARN_BEHIND_MAX)
        return TARN_OK; /* too long ago to be told apart */
    tarn_code code = map_of(f, f->pick->behind, &map, err);
    if (code == TARN_OK)
        tarn_schema_map_fit(map, f->parquet->schema, f->partition_keys, note_drift_but_partitions, f);
    return code;
}

static bool is_all_null(const struct tarn_column *column, int64_t rows)
{
    return column->type.field_count == 0 && column->null_count == rows;
}

/* The newest file with rows names the candidates. */
static tarn_code start_nulls(struct footers *f, struct tarn_err *err)
{
    const struct tarn_type *root = &f->parquet->schema->root;
    struct tarn_facts *facts = f->facts;

    facts->nulls = calloc(root->field_count + 1, sizeof *facts->nulls);
    f->ended = calloc(root->field_count + 1, sizeof *f->ended);
    if (!facts->nulls || !f->ended)
        return tarn_fail_oom(err);
    for (size_t i = 0; i < root->field_count; i++) {
        if (!is_all_null(&root->fields[i], f->parquet->rows))
            continue;
        struct tarn_null_fact *fact = &facts->nulls[facts->null_count++];
        fact->files = 1;
        set_text(f, &fact->column, root->fields[i].name);
        set_text(f, &fact->example, f->pick->path);
        if (f->code != TARN_OK)
            return f->code;
    }
    return TARN_OK;
}

static tarn_code note_nulls(struct footers *f, struct tarn_err *err)
{
    struct tarn_facts *facts = f->facts;

    if (f->parquet->rows <= 0)
        return TARN_OK;
    if (facts->files_with_rows++ == 0)
        return start_nulls(f, err);
    for (size_t i = 0; i < facts->null_count; i++) {
        const char *name = facts->nulls[i].column;
        const struct tarn_column *column = field_of(&f->parquet->schema->root, name, strlen(name));
        f->ended[i] |= !column || !is_all_null(column, f->parquet->rows);
        facts->nulls[i].files += !f->ended[i];
    }
    return TARN_OK;
}

static tarn_code note_footer(struct footers *f, struct tarn_err *err)
{
    struct tarn_facts *facts = f->facts;
    struct tarn_suspects *k_lists[] = { NULL, &facts->corrupt, &facts->encrypted, &facts->footer_too_large };

    facts->footers_read++;
    if (!tarn_fileset_put(&facts->footer_paths, f->pick->path))
        return tarn_fail_oom(err);
    if (f->parquet->state != TARN_PARQUET_OK)
        return tarn_suspects_add(k_lists[f->parquet->state], f->pick->path, f->parquet->reason, -1, -1,
                                 f->pick->mtime_ms, err);
    tarn_code code = f->past->current ? note_drifts(f, err) : TARN_OK;
    if (code != TARN_OK)
        return code;
    if (f->code == TARN_OK)
        note_partition_columns(f);
    return f->code == TARN_OK ? note_nulls(f, err) : f->code;
}

tarn_code tarn_footers_gather(struct tarn_place *place, struct tarn_picks *picks, size_t most,
                              const struct tarn_schema_past *past, const json_t *partition_keys, struct tarn_facts *facts, struct tarn_err *err)
{
    struct footers f = { .facts = facts, .past = past, .partition_keys = partition_keys, .code = TARN_OK, .err = err };
    tarn_code code = TARN_OK;

    tarn_picks_sort(picks);
    if (most > picks->count)
        most = picks->count;
    facts->footers_wanted = picks->offered;
    for (size_t i = 0; i < most && code == TARN_OK; i++) {
        TARN_AUTO(parquet) struct tarn_parquet *parquet = NULL;
        TARN_ERR(fault);
        f.pick = &picks->heap[i];
        code = tarn_parquet_read(place, f.pick->path, f.pick->size, &parquet, &fault);
        f.parquet = parquet;
        if (code == TARN_OK)
            code = note_footer(&f, err);
        else if (code == TARN_NOT_FOUND)
            code = TARN_OK;
        else
            code = tarn_err_move(err, &fault);
    }
    free(f.ended);
    for (size_t i = 0; f.maps && i < TARN_BEHIND_MAX; i++)
        tarn_schema_map_free(f.maps[i]);
    free(f.maps);
    if (code == TARN_OK && (int64_t)most == picks->offered)
        facts->saw |= TARN_SAW_FOOTERS;
    return code;
}
