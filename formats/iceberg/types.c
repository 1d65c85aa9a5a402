/* types.c - the words of primitive types, and what each asks of the format version. Source: Iceberg table specification,
 * "Schemas and Data Types", "Appendix E: Format version changes". */
#include "formats/iceberg/parts.h"
#include <ctype.h>
#include <string.h>

enum args { NONE, LENGTH, DECIMAL, ANYTHING };
static const struct word {
    const char *name;
    enum args args;
    int64_t since; /* format version */
} k_words[] = {
    { "boolean", NONE, 1 },        { "int", NONE, 1 },          { "long", NONE, 1 },       { "float", NONE, 1 },
    { "double", NONE, 1 },         { "decimal", DECIMAL, 1 },   { "date", NONE, 1 },       { "time", NONE, 1 },
    { "timestamp", NONE, 1 },      { "timestamptz", NONE, 1 },  { "string", NONE, 1 },     { "uuid", NONE, 1 },
    { "fixed", LENGTH, 1 },        { "binary", NONE, 1 },       { "timestamp_ns", NONE, 3 }, { "timestamptz_ns", NONE, 3 },
    { "unknown", NONE, 3 },        { "variant", NONE, 3 },      { "geometry", ANYTHING, 3 }, { "geography", ANYTHING, 3 },
};

static const char *skip_space(const char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

/* A number, then `end`; NULL: it is another text. */
static const char *number(const char *at, char end, int64_t max)
{
    int64_t value = 0;
    const char *first = at = skip_space(at);

    while (isdigit((unsigned char)*at) && value <= max)
        value = 10 * value + (*at++ - '0');
    if (at == first || value > max)
        return NULL;
    at = skip_space(at);
    return *at == end ? at + 1 : NULL;
}

static bool fits_args(const char *at, enum args args)
{
    if (args == NONE)
        return *at == '\0';
    if (args == ANYTHING)
        return *at == '\0' || (*at == '(' && at[strlen(at) - 1] == ')');
    at = skip_space(at);
    if (args == LENGTH)
        return *at == '[' && (at = number(at + 1, ']', INT32_MAX)) && *at == '\0';
    return *at == '(' && (at = number(at + 1, ',', 38)) && (at = number(at, ')', 38)) && *at == '\0';
}

static const struct word *word_of(const char *text)
{
    size_t len = strcspn(text, "([ ");

    for (size_t i = 0; i < TARN_COUNT(k_words); i++)
        if (strlen(k_words[i].name) == len && strncmp(k_words[i].name, text, len) == 0)
            return fits_args(text + len, k_words[i].args) ? &k_words[i] : NULL;
    return NULL;
}

int64_t tarn_iceberg_type_since(const char *text)
{
    const struct word *word = word_of(text);

    return word ? word->since : 0;
}

/* One letter a type, as the rules of transforms spell them. */
static bool is_one_of(const char *text, const char *const *names)
{
    size_t len = strcspn(text, "([ ");

    for (; *names; names++)
        if (strlen(*names) == len && strncmp(*names, text, len) == 0)
            return true;
    return false;
}

/* --- transforms: specification, "Partition Transforms" --- */

static const char *const k_dates[] = { "date", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns", NULL };
static const char *const k_times[] = { "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns", NULL };
static const char *const k_buckets[] = { "int",         "long",         "decimal",        "date",   "time", "timestamp", "timestamptz",
                                         "timestamp_ns", "timestamptz_ns", "string", "uuid", "fixed",     "binary", NULL };
static const char *const k_truncates[] = { "int", "long", "decimal", "string", "binary", NULL };
static const char *const k_no_values[] = { "variant", "geometry", "geography", "unknown", NULL };

bool tarn_iceberg_transform_fits(const char *transform, const char *type)
{
    if (strcmp(transform, "identity") == 0)
        return !is_one_of(type, k_no_values);
    if (strcmp(transform, "year") == 0 || strcmp(transform, "month") == 0 || strcmp(transform, "day") == 0)
        return is_one_of(type, k_dates);
    if (strcmp(transform, "hour") == 0)
        return is_one_of(type, k_times);
    if (strncmp(transform, "bucket[", 7) == 0)
        return is_one_of(type, k_buckets);
    if (strncmp(transform, "truncate[", 9) == 0)
        return is_one_of(type, k_truncates);
    return true; /* void, and those of later versions */
}

bool tarn_iceberg_transform_valid(const char *transform)
{
    for (const char *at = transform; *at; at++)
        if (isupper((unsigned char)*at))
            return false;
    const char *open = strchr(transform, '[');
    if (!open)
        return *transform != '\0';
    const char *end = number(open + 1, ']', INT32_MAX);
    return end && *end == '\0' && open[1] != '0';
}

/* The kind of JSON that a value of a type is written as. Source: Iceberg table specification, "Appendix D: Single-value
 * serialization". Of variants and places there is none, and of unknown ones. */
bool tarn_iceberg_default_fits(const json_t *type, const json_t *value)
{
    static const char *const k_whole[] = { "int", "long" }, *const k_real[] = { "float", "double" };
    static const char *const k_none[] = { "unknown", "variant", "geometry", "geography" };
    const char *name = json_string_value(type), *kind = json_string_value(json_object_get(type, "type"));

    if (!name)
        return kind && strcmp(kind, "list") == 0 ? json_is_array(value) : json_is_object(value);
    for (size_t i = 0; i < TARN_COUNT(k_whole); i++)
        if (strcmp(name, k_whole[i]) == 0)
            return json_is_integer(value) && (i == 1 || (json_integer_value(value) >= INT32_MIN && json_integer_value(value) <= INT32_MAX));
    for (size_t i = 0; i < TARN_COUNT(k_real); i++)
        if (strcmp(name, k_real[i]) == 0)
            return json_is_number(value);
    for (size_t i = 0; i < TARN_COUNT(k_none); i++)
        if (strncmp(name, k_none[i], strlen(k_none[i])) == 0)
            return false;
    return strcmp(name, "boolean") == 0 ? json_is_boolean(value) : json_is_string(value);
}
