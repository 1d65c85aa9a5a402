/* schema.c - the schema tree itself: growing, releasing, comparing. */
#include "catalog/schema.h"
#include "base/text.h"
#include "catalog/schema_internal.h"
#include <string.h>

#define COLUMN_NAME_MAX 1024 /* bytes */

static void type_done(struct tarn_type *type)
{
    for (size_t i = 0; i < type->field_count; i++) {
        struct tarn_column *column = &type->fields[i];
        free(column->name);
        json_decref(column->default_value);
        json_decref(column->more);
        type_done(&column->type);
    }
    free(type->fields);
    *type = (struct tarn_type){ 0 };
}

void tarn_schema_free(struct tarn_schema *schema)
{
    if (!schema)
        return;
    type_done(&schema->root);
    json_decref(schema->more);
    free(schema);
}

struct tarn_column *tarn_type_add_column(struct tarn_type *type, const char *name, size_t name_len)
{
    size_t count = type->field_count;
    char *copy = strndup(name, name_len);

    if (!copy)
        return NULL;
    if ((count & (count - 1)) == 0) { /* full: the room is the next power of two */
        size_t room = count == 0 ? 1 : count * 2;
        struct tarn_column *fields = reallocarray(type->fields, room, sizeof *fields);
        if (!fields) {
            free(copy);
            return NULL;
        }
        type->fields = fields;
    }
    type->fields[count] =
        (struct tarn_column){ .name = copy, .nullable = true, .null_count = -1, .row_count = -1 };
    type->field_count++;
    return &type->fields[count];
}

tarn_code tarn_type_grow(struct tarn_type *type, const char *name, size_t name_len, size_t *columns,
                         struct tarn_column **out, struct tarn_err *err)
{
    if (++*columns > TARN_SCHEMA_COLUMNS_MAX)
        return tarn_fail_field(err, "", "a schema has at most %d columns, nested ones included",
                               TARN_SCHEMA_COLUMNS_MAX);
    struct tarn_column *column = tarn_type_add_column(type, name, name_len);
    if (!column)
        return tarn_fail_oom(err);
    *out = column;
    return TARN_OK;
}

size_t tarn_struct_find(const struct tarn_type *type, const char *name, size_t hint)
{
    if (hint < type->field_count && strcmp(type->fields[hint].name, name) == 0)
        return hint;
    for (size_t i = 0; i < type->field_count; i++) {
        if (strcmp(type->fields[i].name, name) == 0)
            return i;
    }
    return TARN_NO_COLUMN;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static tarn_code name_check(const char *name, struct tarn_err *err)
{
    size_t len = strlen(name);

    if (len == 0 || len > COLUMN_NAME_MAX)
        return tarn_fail_field(err, "", "a column name has 1 to %d bytes", COLUMN_NAME_MAX);
    if (!tarn_utf8_valid(name, len) || tarn_has_control(name, len))
        return tarn_fail_field(err, "", "a column name must be UTF-8 without control characters");
    return TARN_OK;
}

tarn_code tarn_struct_check(const struct tarn_type *type, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_mem_freep))) const char **names =
        calloc(type->field_count + 1, sizeof *names);

    if (!names)
        return tarn_fail_oom(err);
    for (size_t i = 0; i < type->field_count; i++) {
        tarn_code code = name_check(type->fields[i].name, err);
        if (code != TARN_OK)
            return code;
        names[i] = type->fields[i].name;
    }
    qsort(names, type->field_count, sizeof *names, by_name);
    for (size_t i = 1; i < type->field_count; i++) {
        if (strcmp(names[i - 1], names[i]) == 0)
            return tarn_fail_field(err, "", "two columns are named %.200s", names[i]);
    }
    return TARN_OK;
}

bool tarn_type_equal(const struct tarn_type *a, const struct tarn_type *b)
{
    bool timed = a->kind == TARN_T_TIME || a->kind == TARN_T_TIMESTAMP;

    if (a->kind != b->kind || a->field_count != b->field_count)
        return false;
    if (a->kind == TARN_T_DECIMAL && (a->precision != b->precision || a->scale != b->scale))
        return false;
    if (timed && (a->unit != b->unit || a->zone != b->zone))
        return false;
    for (size_t i = 0; i < a->field_count; i++) {
        bool named = a->kind == TARN_T_STRUCT;
        if (named && strcmp(a->fields[i].name, b->fields[i].name) != 0)
            return false;
        if (!tarn_type_equal(&a->fields[i].type, &b->fields[i].type))
            return false;
    }
    return true;
}

static bool is_nullability_equal(const struct tarn_type *a, const struct tarn_type *b)
{
    for (size_t i = 0; i < a->field_count; i++) {
        bool same = a->fields[i].nullable == b->fields[i].nullable &&
                    (!b->fields[i].default_value ||
                     json_equal(a->fields[i].default_value, b->fields[i].default_value));
        if (!same || !is_nullability_equal(&a->fields[i].type, &b->fields[i].type))
            return false;
    }
    return true;
}

bool tarn_schema_says_all_of(const struct tarn_schema *schema, const struct tarn_schema *given)
{
    return tarn_type_equal(&schema->root, &given->root) && is_nullability_equal(&schema->root, &given->root);
}
