/* footer_note.c - a footer against the schema, once. */
#include "formats/footer_note.h"
#include "base/text.h"
#include "catalog/schema_map.h"
#include "formats/partition.h"
#include <stdio.h>
#include <string.h>

struct noting {
    struct tarn_footer_note *note;
    const struct tarn_parquet *parquet;
    const char *path;
    bool failed; /* out of memory */
};

void tarn_footer_note_drop(struct tarn_footer_note *note)
{
    if (!note || --note->holders > 0)
        return;
    for (size_t i = 0; i < note->drift_count; i++) {
        free(note->drifts[i].column);
        free(note->drifts[i].possible_rename);
    }
    for (size_t i = 0; i < note->null_count; i++)
        free(note->nulls[i]);
    free(note->drifts);
    free(note->nulls);
    free(note);
}

struct tarn_footer_note *tarn_footer_note_hold(struct tarn_footer_note *note)
{
    if (note)
        note->holders++;
    return note;
}

static const struct tarn_column *field_of(const struct tarn_type *type, const char *name)
{
    for (size_t i = 0; i < type->field_count; i++)
        if (strcmp(type->fields[i].name, name) == 0)
            return &type->fields[i];
    return NULL;
}

static void note_drift(void *ctx, const struct tarn_drift *drift)
{
    struct noting *n = ctx;
    struct tarn_footer_note *note = n->note;
    struct tarn_noted_drift *more = note->drifts;

    if ((note->drift_count & (note->drift_count - 1)) == 0) /* a power of two, or none */
        more = realloc(note->drifts, (note->drift_count ? 2 * note->drift_count : 1) * sizeof *more);
    if (!more) {
        n->failed = true;
        return;
    }
    note->drifts = more;
    struct tarn_noted_drift *noted = &note->drifts[note->drift_count++];
    *noted = (struct tarn_noted_drift){ .kind = drift->kind, .severe = drift->severe };
    noted->column = tarn_text_copy(drift->column, &n->failed);
    noted->possible_rename = tarn_text_copy(drift->possible_rename, &n->failed);
    if (drift->registered)
        tarn_type_format(drift->registered, noted->registered, sizeof noted->registered);
    if (drift->found)
        tarn_type_format(drift->found, noted->found, sizeof noted->found);
}

/* The domain tells partition columns too; here they are told with the path's word. */
static void note_drift_but_partitions(void *ctx, const struct tarn_drift *drift)
{
    if (drift->kind != TARN_DRIFT_PARTITION_COLUMN)
        note_drift(ctx, drift);
}

/* Does the folder's value lie outside of what the column holds? Of instants nothing is said: a folder has them in its writer's zone. */
static bool is_outside(const json_t *least, const json_t *most, const json_t *folder)
{
    const char *said = json_string_value(folder);
    char *end = NULL;

    if (!said) /* null, and the column holds a value */
        return true;
    if (json_is_number(least) && json_is_number(most)) {
        double number = strtod(said, &end);
        return end == said || *end || number < json_number_value(least) || number > json_number_value(most);
    }
    if (json_is_string(least) && json_is_string(most))
        return strcmp(said, json_string_value(least)) < 0 || strcmp(said, json_string_value(most)) > 0;
    return !tarn_partition_fits(least, folder) && !tarn_partition_fits(most, folder);
}

/* Does the path's "key=value" say what no row of the column holds? */
static bool contradicts_path(struct noting *n, const struct tarn_column *column)
{
    const struct tarn_parquet_column *leaf = NULL;
    json_auto_t *values = NULL;

    for (size_t i = 0; i < n->parquet->column_count; i++)
        if (strcmp(n->parquet->columns[i].path, column->name) == 0)
            leaf = &n->parquet->columns[i];
    if (!leaf || !leaf->has_min_max || !leaf->min || !leaf->max || column->type.kind == TARN_T_TIMESTAMP)
        return false;
    n->failed |= tarn_partition_from_path(n->path, &values, NULL) != TARN_OK;
    const json_t *folder = json_object_get(values, column->name);
    json_auto_t *least = json_loads(leaf->min, JSON_DECODE_ANY, NULL), *most = json_loads(leaf->max, JSON_DECODE_ANY, NULL);
    return folder && least && most && is_outside(least, most, folder);
}

static void note_partition_columns(struct noting *n, const json_t *keys)
{
    size_t index;
    json_t *key;

    json_array_foreach(keys, index, key) {
        const char *name = json_string_value(key);
        const struct tarn_column *column = name ? field_of(&n->parquet->schema->root, name) : NULL;
        if (column)
            note_drift(n, &(struct tarn_drift){ .kind = TARN_DRIFT_PARTITION_COLUMN,
                                                .column = name,
                                                .found = &column->type,
                                                .severe = contradicts_path(n, column) });
    }
}

static bool is_key(const json_t *keys, const char *name)
{
    size_t index;
    json_t *key;

    json_array_foreach((json_t *)(uintptr_t)keys, index, key)
        if (json_is_string(key) && strcmp(json_string_value(key), name) == 0)
            return true;
    return false;
}

/* Has it no value in any row? A struct has none when nothing inside has one; of a list the footer does not tell. */
static bool is_silent(const struct tarn_column *column, int64_t rows)
{
    if (column->type.kind != TARN_T_STRUCT)
        return column->type.field_count == 0 && column->null_count == rows;
    for (size_t i = 0; i < column->type.field_count; i++)
        if (!is_silent(&column->type.fields[i], rows))
            return false;
    return column->type.field_count > 0;
}

static void keep_silent(struct noting *n, const char *path)
{
    struct tarn_footer_note *note = n->note;
    char **more = realloc(note->nulls, (note->null_count + 1) * sizeof *more);

    n->failed |= !more;
    if (!more)
        return;
    note->nulls = more;
    note->nulls[note->null_count] = tarn_text_copy(path, &n->failed);
    note->null_count += note->nulls[note->null_count] != NULL;
}

/* A struct without any value is told once, not once a field. */
static void note_silent(struct noting *n, const struct tarn_column *column, const char *above)
{
    TARN_AUTO(mem) char *path = NULL;

    n->failed |= asprintf(&path, "%s%s%s", above, above[0] ? "." : "", column->name) < 0;
    if (n->failed)
        return;
    if (is_silent(column, n->parquet->rows))
        keep_silent(n, path);
    else if (column->type.kind == TARN_T_STRUCT)
        for (size_t i = 0; i < column->type.field_count; i++)
            note_silent(n, &column->type.fields[i], path);
}

/* A partition key has its value in the path, whatever the column inside says. */
static void note_nulls(struct noting *n, const json_t *partition_keys)
{
    const struct tarn_type *root = &n->parquet->schema->root;

    n->note->has_rows = n->parquet->rows > 0;
    for (size_t i = 0; i < root->field_count && n->note->has_rows && !n->failed; i++)
        if (!is_key(partition_keys, root->fields[i].name))
            note_silent(n, &root->fields[i], "");
}

tarn_code tarn_footer_note_make(const struct tarn_parquet *parquet, const char *path,
                                const struct tarn_footer_rule *rule, struct tarn_footer_note **out,
                                struct tarn_err *err)
{
    struct noting n = { .note = calloc(1, sizeof *n.note), .parquet = parquet, .path = path };

    if (!n.note)
        return tarn_fail_oom(err);
    n.note->holders = 1;
    n.note->state = parquet->state;
    if (parquet->state != TARN_PARQUET_OK) {
        snprintf(n.note->reason, sizeof n.note->reason, "%s", parquet->reason);
    } else {
        if (rule->map)
            tarn_schema_map_fit(rule->map, parquet->schema, rule->partition_keys, note_drift_but_partitions, &n);
        else if (rule->schema)
            tarn_schema_drift(rule->schema, parquet->schema, rule->partition_keys, note_drift_but_partitions, &n);
        note_partition_columns(&n, rule->partition_keys);
        note_nulls(&n, rule->partition_keys);
    }
    if (n.failed) {
        tarn_footer_note_drop(n.note);
        return tarn_fail_oom(err);
    }
    *out = n.note;
    return TARN_OK;
}

static bool same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static bool same_drift(const struct tarn_noted_drift *a, const struct tarn_noted_drift *b)
{
    return a->kind == b->kind && a->severe == b->severe && same_text(a->column, b->column) &&
           same_text(a->possible_rename, b->possible_rename) && strcmp(a->registered, b->registered) == 0 &&
           strcmp(a->found, b->found) == 0;
}

bool tarn_footer_note_equal(const struct tarn_footer_note *a, const struct tarn_footer_note *b)
{
    bool is_same = a->state == b->state && a->has_rows == b->has_rows && a->drift_count == b->drift_count &&
                   a->null_count == b->null_count && strcmp(a->reason, b->reason) == 0;

    for (size_t i = 0; is_same && i < a->drift_count; i++)
        is_same = same_drift(&a->drifts[i], &b->drifts[i]);
    for (size_t i = 0; is_same && i < a->null_count; i++)
        is_same = strcmp(a->nulls[i], b->nulls[i]) == 0;
    return is_same;
}
