/* prune.c - see prune.h. A stored bound is JSON and a query's value is text; neither tells the column's
 * type, and the same value may be a number in one document and a text in the next. So nothing is
 * guessed: every reading that both allow is tried, and a file goes only when each of them says so. */
#include "catalog/prune.h"
#include "base/time.h"
#include "catalog/schema_map.h"
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- numbers ---- */

struct number {
    bool is_whole; /* then `whole` is exact */
    int64_t whole;
    double real;
};

/* JSON's numbers and a leading plus: no hexadecimals, no infinities, nothing behind. */
static bool number_of_text(const char *text, struct number *out)
{
    size_t digits = strspn(text + strspn(text, "+-"), "0123456789");
    char *end = NULL;

    if (digits == 0 || strspn(text, "+-0123456789.eE") != strlen(text))
        return false;
    errno = 0;
    out->whole = strtoll(text, &end, 10);
    out->is_whole = *end == '\0' && errno == 0;
    out->real = strtod(text, &end);
    return *end == '\0' && isfinite(out->real);
}

static bool number_of_bound(const json_t *bound, struct number *out)
{
    if (json_is_string(bound))
        return number_of_text(json_string_value(bound), out);
    out->is_whole = json_is_integer(bound);
    out->whole = json_integer_value(bound);
    out->real = json_number_value(bound);
    return json_is_number(bound);
}

/* A column of floats holds the float beside the number that is written, so what lies as
 * near as that is taken for equal; a double that came of a large whole number is nearer. */
static bool numbers_order(const json_t *bound, const char *text, int *order)
{
    struct number a, b;

    if (!number_of_bound(bound, &a) || !number_of_text(text, &b))
        return false;
    if (a.is_whole && b.is_whole) {
        *order = (a.whole > b.whole) - (a.whole < b.whole);
        return true;
    }
    double slack = ldexp(fmax(fabs(a.real), fabs(b.real)), -22);
    *order = fabs(a.real - b.real) <= slack ? 0 : (a.real > b.real) - (a.real < b.real);
    return true;
}

/* ---- the other readings ---- */

/* A date is its midnight. Times are cut to milliseconds, which keeps their order. */
static bool instant_of(const char *text, int64_t *ms)
{
    enum tarn_time_form form;
    char midnight[TARN_TIME_TEXT];
    bool is_date = strlen(text) == strlen("2024-01-31");

    snprintf(midnight, sizeof midnight, "%.10sT00:00:00Z", text);
    return tarn_time_parse(is_date ? midnight : text, ms, &form, NULL) == TARN_OK;
}

static bool instants_order(const json_t *bound, const char *text, int *order)
{
    int64_t a, b;

    if (!json_is_string(bound) || !instant_of(json_string_value(bound), &a) || !instant_of(text, &b))
        return false;
    *order = (a > b) - (a < b);
    return true;
}

static bool truths_order(const json_t *bound, const char *text, int *order)
{
    bool is_true = strcmp(text, "true") == 0;

    if (!json_is_boolean(bound) || (!is_true && strcmp(text, "false") != 0))
        return false;
    *order = (int)json_is_true(bound) - (int)is_true;
    return true;
}

static bool bytes_order(const json_t *bound, const char *text, int *order)
{
    if (!json_is_string(bound))
        return false;
    *order = strcmp(json_string_value(bound), text);
    return true;
}

/* *order: below, at or above 0 as the bound is to the text. False: the two cannot be read so. */
typedef bool order_fn(const json_t *bound, const char *text, int *order);
static order_fn *const k_readings[] = { numbers_order, instants_order, truths_order, bytes_order };

/* Is the bound below (direction -1) or above (1) the text, however the two are read? */
static bool is_proven(const json_t *bound, const char *text, int direction)
{
    bool proven = false;
    int order = 0;

    for (size_t i = 0; bound && i < TARN_COUNT(k_readings); i++) {
        if (!k_readings[i](bound, text, &order))
            continue;
        if (direction < 0 ? order >= 0 : order <= 0)
            return false;
        proven = true;
    }
    return proven;
}

/* ---- a file ---- */

static bool bounds_allow(const struct tarn_prune_term *term, const json_t *min, const json_t *max)
{
    if (term->op != TARN_PRUNE_AT_MOST && is_proven(max, term->value, -1))
        return false;
    return term->op == TARN_PRUNE_AT_LEAST || !is_proven(min, term->value, 1);
}

static bool stats_allow(const struct tarn_prune_term *term, const json_t *stats, int64_t records)
{
    const json_t *nulls = json_object_get(stats, "nullCount");

    if (json_is_integer(nulls) && records >= 0 && json_integer_value(nulls) == records)
        return false;
    return bounds_allow(term, json_object_get(stats, "min"), json_object_get(stats, "max"));
}

/* Could an object of this text have the member? To read the
 * text costs more than to look for the name in it. */
static bool may_have(const char *text, const char *name)
{
    size_t len = strlen(name);

    if (strchr(text, '\\'))
        return true; /* names may be written in another way */
    for (const char *at = strstr(text, name); at; at = strstr(at + 1, name))
        if (at > text && at[-1] == '"' && at[len] == '"')
            return true;
    return false;
}

/* The object, when it may have one of the columns; NULL
 * else. `names` may be NULL, and so may each of them. */
static json_t *read_named(const char *text, const struct tarn_prune_term *terms, char *const *names,
                          size_t count)
{
    for (size_t i = 0; text && i < count; i++) {
        const char *name = names ? names[i] : terms[i].column;
        if (name && may_have(text, name))
            return json_loads(text, 0, NULL);
    }
    return NULL;
}

static bool may_match(const struct tarn_prune_term *terms, char *const *names, size_t count,
                      const struct tarn_file *file)
{
    json_auto_t *values = read_named(file->partition_values, terms, NULL, count);
    json_auto_t *stats = read_named(file->column_stats, terms, names, count);

    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_object_get(values, terms[i].column);
        const char *name = names ? names[i] : terms[i].column;
        if (json_is_null(value) || (value && !bounds_allow(&terms[i], value, value)))
            return false;
        if (!value && name && !stats_allow(&terms[i], json_object_get(stats, name), file->records))
            return false;
    }
    return true;
}

bool tarn_prune_may_match(const struct tarn_prune_term *terms, size_t count, const struct tarn_file *file)
{
    return count == 0 || may_match(terms, NULL, count, file);
}

/* ---- files of older versions ---- */

struct version {
    int64_t version;
    char **names; /* owned texts, one a term; NULL: no such column */
};
struct tarn_prune {
    const struct tarn_prune_term *terms; /* borrowed */
    size_t count;
    struct version *versions; /* owned */
    size_t version_count;
};

void tarn_prune_free(struct tarn_prune *prune)
{
    if (!prune)
        return;
    for (size_t i = 0; i < prune->version_count; i++) {
        for (size_t k = 0; prune->versions[i].names && k < prune->count; k++)
            free(prune->versions[i].names[k]);
        free(prune->versions[i].names);
    }
    free(prune->versions);
    free(prune);
}

/* A name that is no column of the newest version is looked up as it stands. */
static tarn_code name_in(const struct tarn_schema_map *map, const char *column, char **out,
                         struct tarn_err *err)
{
    TARN_AUTO_DONE(buf) struct tarn_buf name = { 0 };
    bool known = false;

    if (!tarn_schema_map_bounds(map, column, &known, &name) && known)
        return TARN_OK;
    if (!known)
        tarn_buf_adds(&name, column);
    *out = tarn_buf_take(&name);
    return *out ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code take_version(struct tarn_prune *prune, const struct tarn_schema_map *map,
                              struct tarn_err *err)
{
    struct version *v = &prune->versions[prune->version_count++];
    tarn_code code = TARN_OK;

    v->version = tarn_schema_map_from(map);
    v->names = calloc(prune->count, sizeof *v->names);
    if (!v->names)
        return tarn_fail_oom(err);
    for (size_t i = 0; i < prune->count && code == TARN_OK; i++)
        code = name_in(map, prune->terms[i].column, &v->names[i], err);
    return code;
}

tarn_code tarn_prune_new(const struct tarn_prune_term *terms, size_t count,
                         const struct tarn_schema_row *rows, size_t row_count, struct tarn_prune **out,
                         struct tarn_err *err)
{
    TARN_AUTO(prune) struct tarn_prune *prune = calloc(1, sizeof *prune);
    TARN_AUTO(schema_map) struct tarn_schema_map *map = NULL;
    tarn_code code = TARN_OK;

    if (prune)
        prune->versions = calloc(row_count + 1, sizeof *prune->versions);
    if (!prune || !prune->versions)
        return tarn_fail_oom(err);
    prune->terms = terms;
    prune->count = count;
    if (count > 0 && row_count > 1)
        code = tarn_schema_map_new(&rows[row_count - 1], &map, err);
    for (size_t i = row_count; code == TARN_OK && map && i > 1; i--) {
        code = tarn_schema_map_back(map, &rows[i - 2], err);
        if (code == TARN_OK)
            code = take_version(prune, map, err);
    }
    if (code == TARN_OK)
        *out = tarn_take(&prune);
    return code;
}

bool tarn_prune_keeps(const struct tarn_prune *prune, const struct tarn_file *file)
{
    char *const *names = NULL;

    for (size_t i = 0; i < prune->version_count && !names; i++)
        if (prune->versions[i].version == file->schema_version)
            names = prune->versions[i].names;
    return prune->count == 0 || may_match(prune->terms, names, prune->count, file);
}
