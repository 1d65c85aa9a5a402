/* schema_drift.c - does a file's schema fit its table's? Columns are matched by name, then by
 * name without case, since that is how readers go wrong. Nothing is decided about a
 * rename: it is only hinted at. The severities are the monitors' business. */
#include "base/buf.h"
#include "catalog/schema.h"
#include "catalog/schema_internal.h"
#include <string.h>
#include <strings.h>

struct walk {
    const json_t *partition_keys; /* or NULL */
    tarn_drift_fn *fn;
    void *ctx;
    struct tarn_buf path;
    bool top;       /* in the outermost struct: partition keys count here alone */
    bool in_null;   /* a null further up also counts as one of this column's */
};

/* Goes down the path by `name`; the length to go back to. */
static size_t path_enter(struct walk *w, const char *name)
{
    size_t before = w->path.len;

    if (before > 0)
        tarn_buf_addc(&w->path, '.');
    tarn_buf_adds(&w->path, name);
    return before;
}

static void path_leave(struct walk *w, size_t before)
{
    if (w->path.failed || !w->path.data)
        return;
    w->path.len = before;
    w->path.data[before] = '\0';
}

static void tell(struct walk *w, struct tarn_drift drift)
{
    drift.column = w->path.failed || !w->path.data ? "" : w->path.data;
    w->fn(w->ctx, &drift);
}

static void tell_at(struct walk *w, const char *name, struct tarn_drift drift)
{
    size_t before = path_enter(w, name);

    tell(w, drift);
    path_leave(w, before);
}

static void compare_struct(struct walk *w, const struct tarn_type *table, const struct tarn_type *file);

/* ---- one column ---- */

static void tell_types(struct walk *w, enum tarn_drift_kind kind, bool severe, const struct tarn_type *table,
                       const struct tarn_type *file)
{
    tell(w, (struct tarn_drift){ .kind = kind, .registered = table, .found = file, .severe = severe });
}

/* Readers turn milliseconds into microseconds and back; nanoseconds many of them do not know. */
static void compare_units(struct walk *w, const struct tarn_type *table, const struct tarn_type *file)
{
    bool nanos = table->unit == TARN_UNIT_NANOS || file->unit == TARN_UNIT_NANOS;

    if (!table->any_unit && table->unit != file->unit)
        tell_types(w, TARN_DRIFT_UNIT, nanos, table, file);
}

static void compare_timestamps(struct walk *w, const struct tarn_type *table, const struct tarn_type *file)
{
    if (table->zone == TARN_ZONE_UNKNOWN || file->zone == TARN_ZONE_UNKNOWN)
        return;
    if (table->zone != file->zone)
        tell_types(w, TARN_DRIFT_TYPE_CHANGED, false, table, file);
    else
        compare_units(w, table, file);
}

/* Older writers leave text unannotated; bytes and text then differ in name only. */
static bool is_bytes_for_text(const struct tarn_type *table, const struct tarn_type *file)
{
    if (table->kind == TARN_T_STRING && file->kind == TARN_T_BINARY)
        return file->unannotated;
    return table->kind == TARN_T_BINARY && file->kind == TARN_T_STRING;
}

static void compare_leaves(struct walk *w, const struct tarn_type *table, const struct tarn_type *file)
{
    static const struct {
        enum tarn_drift_kind kind;
        bool told, severe;
    } k_tell[] = {
        [TARN_STEP_SAME] = { TARN_DRIFT_WIDENED, false, false },
        [TARN_STEP_WIDER] = { TARN_DRIFT_WIDENED, true, false },
        [TARN_STEP_LOOSE] = { TARN_DRIFT_WIDENED, true, true },
        [TARN_STEP_NARROWER] = { TARN_DRIFT_NARROWED, true, false },
        [TARN_STEP_OTHER] = { TARN_DRIFT_TYPE_CHANGED, true, false },
    };
    enum tarn_type_step step = tarn_type_step(file, table);

    if (is_bytes_for_text(table, file))
        tell_types(w, TARN_DRIFT_BINARY_STRING, false, table, file);
    else if (k_tell[step].told)
        tell_types(w, k_tell[step].kind, k_tell[step].severe, table, file);
}

static void compare_column(struct walk *w, const struct tarn_column *table, const struct tarn_column *file);

/* The element of a list, or key and value of a map; an empty container counts as a null below. */
static void compare_members(struct walk *w, const struct tarn_type *table, const struct tarn_type *file)
{
    static const char *const k_list[] = { "list.element" };
    static const char *const k_map[] = { "key_value.key", "key_value.value" };
    const char *const *names = table->kind == TARN_T_LIST ? k_list : k_map;
    bool in_null = w->in_null;

    w->in_null = true;
    for (size_t i = 0; i < table->field_count && i < file->field_count; i++) {
        size_t before = path_enter(w, names[i]);
        compare_column(w, &table->fields[i], &file->fields[i]);
        path_leave(w, before);
    }
    w->in_null = in_null;
}

static void compare_type(struct walk *w, const struct tarn_type *table, const struct tarn_type *file)
{
    if (table->kind == TARN_T_UNKNOWN || file->kind == TARN_T_UNKNOWN)
        return;
    if (table->kind != file->kind)
        compare_leaves(w, table, file);
    else if (table->kind == TARN_T_TIMESTAMP)
        compare_timestamps(w, table, file);
    else if (table->kind == TARN_T_TIME)
        compare_units(w, table, file);
    else if (table->kind == TARN_T_STRUCT)
        compare_struct(w, table, file);
    else if (table->kind == TARN_T_LIST || table->kind == TARN_T_MAP)
        compare_members(w, table, file);
    else
        compare_leaves(w, table, file);
}

/* Writers mark columns optional by habit: only a null that is there breaks a required column. */
static void compare_nulls(struct walk *w, const struct tarn_column *table, const struct tarn_column *file)
{
    if (table->nullable || !file->nullable || file->null_count == 0 || file->row_count == 0)
        return;
    bool known = file->null_count > 0 && !w->in_null;
    enum tarn_drift_kind kind = known ? TARN_DRIFT_NULL_IN_REQUIRED : TARN_DRIFT_NULLS_UNKNOWN;
    tell(w, (struct tarn_drift){ .kind = kind, .registered = &table->type, .found = &file->type });
}

static bool is_numeric(enum tarn_type_kind kind) { return kind >= TARN_T_INT32 && kind <= TARN_T_DECIMAL; }

/* A data contract that says no more than `number` lets files hold any of the numeric types. */
static bool is_any_number(const struct tarn_column *table, const struct tarn_type *file)
{
    const char *word = json_string_value(json_object_get(table->more, "logicalType"));

    return table->type.kind == TARN_T_DOUBLE && word && strcmp(word, "number") == 0 && is_numeric(file->kind);
}

static void compare_column(struct walk *w, const struct tarn_column *table, const struct tarn_column *file)
{
    bool in_null = w->in_null, top = w->top;

    compare_nulls(w, table, file);
    w->top = false;
    w->in_null = in_null || file->nullable;
    if (!is_any_number(table, &file->type))
        compare_type(w, &table->type, &file->type);
    w->in_null = in_null;
    w->top = top;
}

/* ---- matching the columns of a struct ---- */

static bool is_partition_key(const struct walk *w, const char *name)
{
    size_t i;
    json_t *key;

    if (!w->top)
        return false;
    json_array_foreach ((json_t *)w->partition_keys, i, key) {
        if (json_is_string(key) && strcmp(json_string_value(key), name) == 0)
            return true;
    }
    return false;
}

/* Index in `file` of the table's column `name`: the same name, looked for at `hint` first, else the first of
 * that name in another case which is not itself a column of the table. */
static size_t find_in_file(const struct tarn_type *table, const char *name, const struct tarn_type *file,
                           size_t hint)
{
    size_t at = tarn_struct_find(file, name, hint);

    if (at != TARN_NO_COLUMN)
        return at;
    for (size_t j = 0; j < file->field_count; j++) {
        const char *other = file->fields[j].name;
        if (strcasecmp(other, name) == 0 && tarn_struct_find(table, other, j) == TARN_NO_COLUMN)
            return j;
    }
    return TARN_NO_COLUMN;
}

/* Is the file's column `j`, which has no namesake in the table, its namesake in another case? */
static bool is_case_match(const struct tarn_type *table, const struct tarn_type *file, size_t j)
{
    for (size_t i = 0; i < table->field_count; i++) {
        const char *name = table->fields[i].name;
        if (strcasecmp(name, file->fields[j].name) == 0 && find_in_file(table, name, file, j) == j)
            return true;
    }
    return false;
}

#define HINTS_MAX 16 /* columns that a missing one may have been renamed to; more would be no hint */

struct extras {
    const struct tarn_column *hints[HINTS_MAX];
    size_t count;
};

static void tell_missing(struct walk *w, const struct tarn_column *column, const struct extras *extras)
{
    struct tarn_drift drift = { .kind = column->nullable ? TARN_DRIFT_MISSING_COLUMN
                                                         : TARN_DRIFT_MISSING_REQUIRED,
                                .registered = &column->type };

    for (size_t j = 0; j < extras->count && !drift.possible_rename; j++) {
        if (tarn_type_equal(&column->type, &extras->hints[j]->type))
            drift.possible_rename = extras->hints[j]->name;
    }
    tell_at(w, column->name, drift);
}

/* A partition column's value comes from the path: readers do not look at the one inside the file. */
static void tell_partition(struct walk *w, const char *name, const struct tarn_type *registered,
                           const struct tarn_column *found)
{
    tell_at(w, name, (struct tarn_drift){ .kind = TARN_DRIFT_PARTITION_COLUMN, .registered = registered,
                                          .found = &found->type });
}

static void compare_match(struct walk *w, const struct tarn_column *table, const struct tarn_column *file)
{
    size_t before = path_enter(w, table->name);

    if (strcmp(table->name, file->name) != 0)
        tell_types(w, TARN_DRIFT_RENAMED_CASE, false, &table->type, &file->type);
    compare_column(w, table, file);
    path_leave(w, before);
}

/* Columns of the file that the table does not have. */
static void compare_file_columns(struct walk *w, const struct tarn_type *table, const struct tarn_type *file,
                                 struct extras *extras)
{
    size_t hint = 0;

    for (size_t j = 0; j < file->field_count; j++) {
        const struct tarn_column *column = &file->fields[j];
        size_t at = tarn_struct_find(table, column->name, hint);
        hint = at == TARN_NO_COLUMN ? hint : at + 1;
        if (at != TARN_NO_COLUMN || is_case_match(table, file, j))
            continue;
        if (is_partition_key(w, column->name)) {
            tell_partition(w, column->name, NULL, column);
            continue;
        }
        tell_at(w, column->name,
                (struct tarn_drift){ .kind = TARN_DRIFT_EXTRA_COLUMN, .found = &column->type });
        if (extras->count < HINTS_MAX)
            extras->hints[extras->count++] = column;
    }
}

/* One column of the table against the file's column `at`; is their order worth a look? */
static bool compare_at(struct walk *w, const struct tarn_column *column, const struct tarn_type *file,
                       size_t at, const struct extras *extras)
{
    bool is_key = is_partition_key(w, column->name);

    if (at == TARN_NO_COLUMN) {
        if (!is_key)
            tell_missing(w, column, extras);
        return false;
    }
    if (is_key)
        tell_partition(w, column->name, &column->type, &file->fields[at]);
    else
        compare_match(w, column, &file->fields[at]);
    return !is_key;
}

static void compare_struct(struct walk *w, const struct tarn_type *table, const struct tarn_type *file)
{
    struct extras extras = { .count = 0 };
    const char *disordered = NULL; /* the first column that stands before its predecessor */
    size_t next = 0;

    compare_file_columns(w, table, file, &extras);
    for (size_t i = 0; i < table->field_count; i++) {
        const struct tarn_column *column = &table->fields[i];
        size_t at = find_in_file(table, column->name, file, next);
        if (!compare_at(w, column, file, at, &extras))
            continue;
        if (at < next && !disordered)
            disordered = column->name;
        next = at + 1;
    }
    if (disordered)
        tell_at(w, disordered, (struct tarn_drift){ .kind = TARN_DRIFT_REORDERED });
}

void tarn_schema_drift(const struct tarn_schema *table, const struct tarn_schema *file,
                       const json_t *partition_keys, tarn_drift_fn *fn, void *ctx)
{
    struct walk w = { .partition_keys = partition_keys, .fn = fn, .ctx = ctx, .top = true };

    compare_struct(&w, &table->root, &file->root);
    tarn_buf_done(&w.path);
}
