/* schema_backward.c - may a schema version follow another one? Everything that would make
 * readers of old files see something else than before is found and told, all of it at once. */
#include "base/buf.h"
#include "catalog/schema.h"
#include "catalog/schema_internal.h"
#include <stdio.h>
#include <string.h>

#define TYPE_TEXT 256

struct walk {
    const json_t *renames; /* old to new, top level only; NULL: none */
    struct tarn_buf path;  /* of the struct at hand, "" at the top */
    json_t *changes;       /* owned: the forbidden ones */
    bool oom;
};

static void walk_done(struct walk *w)
{
    tarn_buf_done(&w->path);
    json_decref(w->changes);
}

/* Goes one name down the path; the length to go back to. */
static size_t path_enter(struct walk *w, const char *name)
{
    size_t before = w->path.len;

    if (before > 0)
        tarn_buf_addc(&w->path, '.');
    tarn_buf_adds(&w->path, name);
    w->oom = w->oom || w->path.failed;
    return before;
}

static void path_leave(struct walk *w, size_t before)
{
    if (w->path.failed)
        return;
    w->path.len = before;
    w->path.data[before] = '\0';
}

static json_t *text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

/* A forbidden change of the column the path stands on. */
static void change(struct walk *w, const char *kind, const char *from, const char *to)
{
    if (w->oom)
        return;
    json_t *row = json_pack("{s:s, s:s, s:o, s:o}", "kind", kind, "column", w->path.data, "from",
                            text_or_null(from), "to", text_or_null(to));
    w->oom = json_array_append_new(w->changes, row) != 0;
}

static void change_type(struct walk *w, const char *kind, const struct tarn_type *from,
                        const struct tarn_type *to)
{
    char before[TYPE_TEXT], after[TYPE_TEXT];

    tarn_type_format(from, before, sizeof before);
    tarn_type_format(to, after, sizeof after);
    change(w, kind, before, after);
}

static void compare_struct(struct walk *w, const struct tarn_type *now, const struct tarn_type *next);
static void compare_members(struct walk *w, const struct tarn_type *now, const struct tarn_type *next);

static void compare_type(struct walk *w, const struct tarn_type *now, const struct tarn_type *next)
{
    enum tarn_type_step step = tarn_type_step(now, next);
    bool timed = now->kind == TARN_T_TIMESTAMP || now->kind == TARN_T_TIME;

    if (step == TARN_STEP_SAME && timed && !tarn_type_equal(now, next))
        step = TARN_STEP_OTHER;
    if (step == TARN_STEP_NARROWER)
        change_type(w, "narrowed", now, next);
    else if (step == TARN_STEP_OTHER || step == TARN_STEP_LOOSE)
        change_type(w, "type_changed", now, next);
    else if (now->kind == next->kind && now->kind == TARN_T_STRUCT)
        compare_struct(w, now, next);
    else if (now->kind == next->kind)
        compare_members(w, now, next);
}

static void compare_column(struct walk *w, const struct tarn_column *now, const struct tarn_column *next)
{
    if (now->nullable && !next->nullable)
        change(w, "nullability", "nullable", "required");
    compare_type(w, &now->type, &next->type);
}

/* The element of a list, key and value of a map: by place. */
static void compare_members(struct walk *w, const struct tarn_type *now, const struct tarn_type *next)
{
    for (size_t i = 0; i < now->field_count && i < next->field_count; i++) {
        size_t before = path_enter(w, now->fields[i].name);
        compare_column(w, &now->fields[i], &next->fields[i]);
        path_leave(w, before);
    }
}

/* What `name` is called in the next version by `renames`; NULL: not renamed. */
static const char *renamed_to(const struct walk *w, const char *name)
{
    return w->path.len == 0 ? json_string_value(json_object_get(w->renames, name)) : NULL;
}

/* Does a rename of another column give `name`? Then a column of that name now is not the one of then. */
static bool is_rename_target(const struct walk *w, const char *name)
{
    const char *old;
    json_t *value;

    if (w->path.len > 0)
        return false;
    json_object_foreach ((json_t *)w->renames, old, value) {
        if (strcmp(json_string_value(value), name) == 0)
            return true;
    }
    return false;
}

/* Index in `next` of what column `i` of `now` has become. */
static size_t find_next(const struct walk *w, const struct tarn_type *now, size_t i,
                        const struct tarn_type *next)
{
    const char *name = now->fields[i].name;
    const char *renamed = renamed_to(w, name);

    if (!renamed && is_rename_target(w, name))
        return TARN_NO_COLUMN;
    return tarn_struct_find(next, renamed ? renamed : name, i);
}

static void dropped(struct walk *w, const struct tarn_column *column)
{
    char type[TYPE_TEXT];
    size_t before = path_enter(w, column->name);

    tarn_type_format(&column->type, type, sizeof type);
    change(w, "dropped", type, NULL);
    path_leave(w, before);
}

static void added(struct walk *w, const struct tarn_column *column)
{
    char type[TYPE_TEXT];

    if (column->nullable || column->default_value)
        return;
    size_t before = path_enter(w, column->name);
    tarn_type_format(&column->type, type, sizeof type);
    change(w, "added", NULL, type);
    path_leave(w, before);
}

static bool is_new(const struct walk *w, const struct tarn_type *now, const char *name, size_t hint)
{
    if (is_rename_target(w, name))
        return false;
    return tarn_struct_find(now, name, hint) == TARN_NO_COLUMN || renamed_to(w, name) != NULL;
}

static void compare_struct(struct walk *w, const struct tarn_type *now, const struct tarn_type *next)
{
    for (size_t i = 0; i < now->field_count; i++) {
        size_t at = find_next(w, now, i, next);
        if (at == TARN_NO_COLUMN) {
            dropped(w, &now->fields[i]);
            continue;
        }
        size_t before = path_enter(w, now->fields[i].name);
        compare_column(w, &now->fields[i], &next->fields[at]);
        path_leave(w, before);
    }
    for (size_t i = 0; i < next->field_count; i++) {
        if (is_new(w, now, next->fields[i].name, i))
            added(w, &next->fields[i]);
    }
}

/* `names`: the new names so far. */
static tarn_code rename_check(const struct tarn_schema *now, const struct tarn_schema *next, json_t *names,
                              const char *old, const json_t *value, struct tarn_err *err)
{
    const char *name = json_string_value(value);

    if (!name)
        return tarn_fail_field(err, old, "the new name must be a string");
    if (!now || tarn_struct_find(&now->root, old, 0) == TARN_NO_COLUMN)
        return tarn_fail_field(err, old, "the current schema has no column of that name at its top level");
    if (tarn_struct_find(&next->root, name, 0) == TARN_NO_COLUMN)
        return tarn_fail_field(err, old, "the new schema has no column \"%.100s\" at its top level", name);
    if (json_object_get(names, name))
        return tarn_fail_field(err, old, "two columns are renamed to \"%.100s\"", name);
    return json_object_set_new(names, name, json_true()) == 0 ? TARN_OK : tarn_fail_oom(err);
}

tarn_code tarn_schema_renames_check(const struct tarn_schema *now, const struct tarn_schema *next,
                                    const json_t *renames, struct tarn_err *err)
{
    json_auto_t *names = json_object();
    const char *old;
    json_t *value;

    if (renames && !json_is_object(renames))
        return tarn_fail_field(err, "renames", "renames is an object of old to new names");
    json_object_foreach ((json_t *)renames, old, value) {
        TARN_ERR(fault);
        if (rename_check(now, next, names, old, value, &fault) != TARN_OK) {
            (void)tarn_err_prefix(&fault, "renames");
            return tarn_err_move(err, &fault);
        }
    }
    return TARN_OK;
}

static tarn_code refuse(json_t *changes, struct tarn_err *err)
{
    const json_t *first = json_array_get(changes, 0);
    size_t more = json_array_size(changes) - 1;
    char rest[64] = "";

    if (more > 0)
        snprintf(rest, sizeof rest, " (and %zu more)", more);
    (void)tarn_fail(err, TARN_INCOMPATIBLE_SCHEMA,
                    "a change that old files do not allow: column %.200s: %s%s",
                    json_string_value(json_object_get(first, "column")),
                    json_string_value(json_object_get(first, "kind")), rest);
    if (err)
        (void)tarn_err_add(err, "changes", json_incref(changes));
    return TARN_INCOMPATIBLE_SCHEMA;
}

tarn_code tarn_schema_backward(const struct tarn_schema *now, const struct tarn_schema *next,
                               const json_t *renames, struct tarn_err *err)
{
    __attribute__((cleanup(walk_done))) struct walk w = { .renames = renames, .changes = json_array() };
    tarn_code code = tarn_schema_renames_check(now, next, renames, err);

    if (code != TARN_OK)
        return code;
    if (!w.changes)
        return tarn_fail_oom(err);
    compare_struct(&w, &now->root, &next->root);
    if (w.oom)
        return tarn_fail_oom(err);
    return json_array_size(w.changes) == 0 ? TARN_OK : refuse(w.changes, err);
}
