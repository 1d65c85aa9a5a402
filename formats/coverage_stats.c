/* coverage_stats.c - columnStats of the listed files: without them an engine cannot skip a file. Judged against the
 * registered schema: a file must have statistics of some column of it, and of each one that was always there and that
 * more than half of the files have them of. Which columns a table keeps statistics of is its own choice. */
#include "formats/coverage.h"
#include <string.h>

enum {
    COLUMNS_MAX = 64, /* the first ones of the schema */
    SHAPES_MAX = 64   /* further ones are not told apart */
};

struct stats_shape {
    uint64_t columns; /* bit i: column i has statistics */
    int64_t files;
    struct tarn_suspects examples;
};
struct tarn_stats_coverage {
    const struct tarn_schema *schema;
    size_t columns;
    uint64_t always; /* columns of every version of the schema */
    struct stats_shape shapes[SHAPES_MAX];
    size_t count;
};

static int64_t column_at(const struct tarn_schema *schema, size_t most, const char *name, size_t len)
{
    for (size_t i = 0; i < schema->root.field_count && i < most; i++)
        if (strlen(schema->root.fields[i].name) == len && memcmp(schema->root.fields[i].name, name, len) == 0)
            return (int64_t)i;
    return -1;
}

struct tarn_stats_coverage *tarn_stats_coverage_new(const struct tarn_schema_past *past)
{
    struct tarn_stats_coverage *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->schema = past->current;
    s->columns = past->current->root.field_count < COLUMNS_MAX ? past->current->root.field_count : COLUMNS_MAX;
    for (size_t i = 0; i < s->columns; i++) {
        const char *name = past->current->root.fields[i].name;
        bool is_always = true;
        for (size_t k = 0; k < past->count; k++)
            is_always &= column_at(past->versions[k], SIZE_MAX, name, strlen(name)) >= 0;
        s->always |= is_always ? UINT64_C(1) << i : 0;
    }
    return s;
}

void tarn_stats_coverage_free(struct tarn_stats_coverage *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->count; i++)
        tarn_suspects_done(&s->shapes[i].examples);
    free(s);
}

/* --- the members of an object, without a tree: there are as many objects as files --- */

static const char *skip_blanks(const char *at) { return at + strspn(at, " \t\r\n"); }

/* Behind the string that starts at the quote `at`. */
static const char *skip_string(const char *at)
{
    for (at++; *at && *at != '"'; at++)
        at += at[0] == '\\' && at[1];
    return at + (*at == '"');
}

static const char *skip_value(const char *at)
{
    int depth = 0;

    while (*at) {
        if (*at == '"') {
            at = skip_string(at);
        } else {
            depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
            if (depth < 0 || (depth == 0 && *at == ','))
                return at;
            at++;
        }
    }
    return at;
}

static bool is_nothing(const char *value)
{
    return strncmp(value, "null", 4) == 0 || (value[0] == '{' && *skip_blanks(value + 1) == '}');
}

/* The columns of the schema that `text`, a JSON object, has statistics of. A name written with escapes is not known. */
static uint64_t columns_of(const struct tarn_stats_coverage *s, const char *text)
{
    uint64_t columns = 0;

    for (const char *at = skip_blanks(text); *at == '{' || *at == ',';) {
        const char *key = skip_blanks(at + 1);
        if (*key != '"')
            break;
        const char *end = skip_string(key), *value = skip_blanks(end);
        if (*value != ':')
            break;
        value = skip_blanks(value + 1);
        int64_t column = column_at(s->schema, s->columns, key + 1, (size_t)(end - key) - 2);
        if (column >= 0 && !is_nothing(value))
            columns |= UINT64_C(1) << column;
        at = skip_blanks(skip_value(value));
    }
    return columns;
}

tarn_code tarn_stats_coverage_note(struct tarn_stats_coverage *s, const struct tarn_file *file, struct tarn_err *err)
{
    uint64_t columns = file->column_stats ? columns_of(s, file->column_stats) : 0;
    struct stats_shape *shape = NULL;

    if (file->records == 0)
        return TARN_OK; /* nothing to tell of no rows */
    for (size_t i = 0; i < s->count && !shape; i++)
        if (s->shapes[i].columns == columns)
            shape = &s->shapes[i];
    if (!shape && s->count < SHAPES_MAX) {
        shape = &s->shapes[s->count++];
        shape->columns = columns;
    }
    if (!shape) /* whatever it lacks is not told */
        return TARN_OK;
    shape->files++;
    return tarn_suspects_add(&shape->examples, file->path, NULL, -1, -1, -1, err);
}

/* Columns that were always there and that more than half of the files have statistics of. */
static uint64_t usual(const struct tarn_stats_coverage *s, int64_t files)
{
    uint64_t columns = 0;

    for (size_t i = 0; i < s->columns; i++) {
        int64_t with = 0;
        for (size_t k = 0; k < s->count; k++)
            with += s->shapes[k].columns >> i & 1 ? s->shapes[k].files : 0;
        columns |= 2 * with > files ? UINT64_C(1) << i : 0;
    }
    return columns & s->always;
}

static uint64_t without_keys(const struct tarn_stats_coverage *s, const json_t *keys, uint64_t columns)
{
    size_t index;
    json_t *key;

    json_array_foreach(keys, index, key) {
        int64_t column = column_at(s->schema, s->columns, json_string_value(key), json_string_length(key));
        if (column >= 0)
            columns &= ~(UINT64_C(1) << column);
    }
    return columns;
}

tarn_code tarn_stats_coverage_end(struct tarn_stats_coverage *s, const json_t *keys, struct tarn_facts *facts,
                                  struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    if (without_keys(s, keys, UINT64_MAX >> (COLUMNS_MAX - s->columns)) == 0)
        return TARN_OK; /* the partition keys are all it has */
    for (size_t i = 0; i < s->count; i++)
        facts->stats_files += s->shapes[i].files;
    uint64_t wanted = without_keys(s, keys, usual(s, facts->stats_files));
    for (size_t i = 0; i < s->count && code == TARN_OK; i++) {
        uint64_t columns = s->shapes[i].columns;
        if (columns == 0 || (wanted & ~columns) != 0)
            code = tarn_suspects_join(&facts->no_column_stats, &s->shapes[i].examples, NULL, err);
    }
    return code;
}
