/* ident.c - names of tables, namespaces and transactions. A dotted name is read as SQL reads
 * it: split outside double quotes, "" inside them is one quote. The canonical text quotes a
 * level only where it must, so that one namespace has one spelling in the database. */
#include "catalog/ident.h"
#include "base/text.h"
#include <string.h>

#define DEFAULT_NAMESPACE "default"

static bool is_dot_name(const char *text, size_t len)
{
    return (len == 1 && text[0] == '.') || (len == 2 && text[0] == '.' && text[1] == '.');
}

static tarn_code name_check(const char *name, size_t len, const char *field, struct tarn_err *err)
{
    if (len == 0)
        return tarn_fail_field(err, field, "a name must not be empty");
    if (len > TARN_NAME_MAX)
        return tarn_fail_field(err, field, "a name has at most %d bytes, this one has %zu", TARN_NAME_MAX,
                               len);
    if (!tarn_utf8_valid(name, len))
        return tarn_fail_field(err, field, "a name must be UTF-8");
    if (tarn_has_control(name, len))
        return tarn_fail_field(err, field, "a name must not hold control characters");
    if (is_dot_name(name, len))
        return tarn_fail_field(err, field, "a name must not be \"%s\"", name);
    return TARN_OK;
}

tarn_code tarn_name_check(const char *name, const char *field, struct tarn_err *err)
{
    return name_check(name, strlen(name), field, err);
}

/* One level, raw in `level`, as canonical text; `out` holds 2 * TARN_NAME_MAX + 3 bytes. */
static void level_write(const char *level, char *out)
{
    bool quote = strpbrk(level, ".\"") != NULL;

    if (quote)
        *out++ = '"';
    for (const char *c = level; *c != '\0'; c++) {
        if (*c == '"')
            *out++ = '"';
        *out++ = *c;
    }
    if (quote)
        *out++ = '"';
    *out = '\0';
}

/* Appends `level` to the canonical namespace `out`, with the dot between. */
static tarn_code namespace_add(char out[TARN_NAMESPACE_MAX + 1], const char *level, const char *field,
                               struct tarn_err *err)
{
    char text[2 * TARN_NAME_MAX + 4];
    size_t have = strlen(out);
    size_t dot = have > 0 ? 1 : 0;

    level_write(level, text);
    if (have + dot + strlen(text) > TARN_NAMESPACE_MAX)
        return tarn_fail_field(err, field, "a namespace has at most %d bytes", TARN_NAMESPACE_MAX);
    if (dot)
        out[have] = '.';
    memcpy(out + have + dot, text, strlen(text) + 1);
    return TARN_OK;
}

/* The raw text of a quoted level; *at moves past the closing quote. */
static tarn_code level_quoted(const char **at, char *out, size_t size, size_t *len, const char *field,
                              struct tarn_err *err)
{
    const char *c = *at + 1;

    for (*len = 0; !(c[0] == '"' && c[1] != '"'); c++) {
        if (*c == '\0')
            return tarn_fail_field(err, field, "a quoted level is not closed");
        if (*len + 1 >= size)
            return tarn_fail_field(err, field, "a name has at most %d bytes", TARN_NAME_MAX);
        if (*c == '"')
            c++;
        out[(*len)++] = *c;
    }
    *at = c + 1;
    return TARN_OK;
}

static tarn_code level_plain(const char **at, char *out, size_t size, size_t *len, const char *field,
                             struct tarn_err *err)
{
    *len = strcspn(*at, ".");
    if (*len >= size)
        return tarn_fail_field(err, field, "a name has at most %d bytes", TARN_NAME_MAX);
    if (memchr(*at, '"', *len))
        return tarn_fail_field(err, field, "a double quote must stand inside a quoted level, doubled");
    memcpy(out, *at, *len);
    *at += *len;
    return TARN_OK;
}

/* The next level of a dotted name, checked; *at becomes NULL after the last one. */
static tarn_code level_next(const char **at, char out[TARN_NAME_MAX + 1], const char *field,
                            struct tarn_err *err)
{
    size_t len = 0;
    tarn_code code;

    if (**at == '"')
        code = level_quoted(at, out, TARN_NAME_MAX + 1, &len, field, err);
    else
        code = level_plain(at, out, TARN_NAME_MAX + 1, &len, field, err);
    if (code != TARN_OK)
        return code;
    out[len] = '\0';
    if (**at != '\0' && **at != '.')
        return tarn_fail_field(err, field, "after a quoted level comes a dot or the end");
    *at = **at == '.' ? *at + 1 : NULL;
    return name_check(out, len, field, err);
}

tarn_code tarn_ident_parse(const char *dotted, const char *field, struct tarn_ident *out,
                           struct tarn_err *err)
{
    struct tarn_ident ident = { 0 };
    const char *at = dotted;
    tarn_code code = level_next(&at, ident.name, field, err);

    while (code == TARN_OK && at) {
        code = namespace_add(ident.namespace_, ident.name, field, err);
        if (code == TARN_OK)
            code = level_next(&at, ident.name, field, err);
    }
    if (code != TARN_OK)
        return code;
    if (ident.namespace_[0] == '\0')
        memcpy(ident.namespace_, DEFAULT_NAMESPACE, sizeof DEFAULT_NAMESPACE);
    *out = ident;
    return TARN_OK;
}

tarn_code tarn_namespace_parse(const char *dotted, const char *field, char out[TARN_NAMESPACE_MAX + 1],
                               struct tarn_err *err)
{
    char text[TARN_NAMESPACE_MAX + 1] = "";
    char level[TARN_NAME_MAX + 1];
    const char *at = dotted;

    while (at) {
        tarn_code code = level_next(&at, level, field, err);
        if (code == TARN_OK)
            code = namespace_add(text, level, field, err);
        if (code != TARN_OK)
            return code;
    }
    memcpy(out, text, strlen(text) + 1);
    return TARN_OK;
}

static tarn_code level_from_json(const json_t *value, const char *field, char text[TARN_NAMESPACE_MAX + 1],
                                 struct tarn_err *err)
{
    if (!json_is_string(value))
        return tarn_fail_field(err, field, "a level must be a string");
    tarn_code code = name_check(json_string_value(value), json_string_length(value), field, err);
    if (code != TARN_OK)
        return code;
    return namespace_add(text, json_string_value(value), field, err);
}

tarn_code tarn_namespace_from_levels(const json_t *levels, const char *field,
                                     char out[TARN_NAMESPACE_MAX + 1], struct tarn_err *err)
{
    char text[TARN_NAMESPACE_MAX + 1] = "";
    size_t i;
    json_t *value;

    if (!json_is_array(levels) || json_array_size(levels) == 0)
        return tarn_fail_field(err, field, "a namespace is an array of at least one level");
    json_array_foreach (levels, i, value) {
        tarn_code code = level_from_json(value, "", text, err);
        if (code != TARN_OK) {
            (void)tarn_err_prefix(err, "%s[%zu]", field, i);
            return code;
        }
    }
    memcpy(out, text, strlen(text) + 1);
    return TARN_OK;
}

bool tarn_namespace_outer(char namespace_[TARN_NAMESPACE_MAX + 1])
{
    char *last = NULL;
    bool quoted = false;

    for (char *c = namespace_; *c != '\0'; c++) {
        if (*c == '"')
            quoted = !quoted; /* a doubled quote changes it twice */
        else if (*c == '.' && !quoted)
            last = c;
    }
    if (!last)
        return false;
    *last = '\0';
    return true;
}

json_t *tarn_namespace_levels(const char *namespace_)
{
    char level[TARN_NAME_MAX + 1];
    json_auto_t *levels = json_array();
    const char *at = namespace_;

    while (at)
        if (level_next(&at, level, "", NULL) != TARN_OK ||
            json_array_append_new(levels, json_string(level)) != 0)
            return NULL;
    return json_incref(levels);
}

void tarn_ident_format(const char *namespace_, const char *name, char out[TARN_DOTTED_MAX])
{
    size_t len = 0;

    if (strcmp(namespace_, DEFAULT_NAMESPACE) != 0) {
        len = strnlen(namespace_, TARN_NAMESPACE_MAX);
        memcpy(out, namespace_, len);
        out[len++] = '.';
    }
    level_write(name, out + len); /* both are checked: they fit */
}

static bool is_txn_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

tarn_code tarn_txn_id_check(const char *id, const char *field, struct tarn_err *err)
{
    size_t len = strlen(id);

    if (len == 0 || len > TARN_TXN_ID_MAX)
        return tarn_fail_field(err, field, "a transaction id has 1 to %d characters", TARN_TXN_ID_MAX);
    if (id[0] == '.')
        return tarn_fail_field(err, field, "a transaction id must not start with a dot");
    for (size_t i = 0; i < len; i++) {
        if (!is_txn_char(id[i]))
            return tarn_fail_field(err, field,
                                   "a transaction id holds letters, digits, '.', '_' and '-' only");
    }
    if (tarn_ends_with(id, ".checkpoint"))
        return tarn_fail_field(err, field, "a transaction id must not end like the name of a checkpoint");
    return TARN_OK;
}

bool tarn_txn_id_number(const char *id, size_t *prefix_len, int64_t *number)
{
    size_t len = strlen(id), start = len;
    int64_t value = 0;

    while (start > 0 && id[start - 1] >= '0' && id[start - 1] <= '9')
        start--;
    if (start == len || len - start > 18)
        return false;
    for (size_t i = start; i < len; i++)
        value = value * 10 + (id[i] - '0');
    *prefix_len = start;
    *number = value;
    return true;
}

int64_t tarn_txn_id_tail(const char *id)
{
    size_t prefix_len;
    int64_t number;

    return id && tarn_txn_id_number(id, &prefix_len, &number) ? number : -1;
}

bool tarn_txn_id_pair(const char *a, const char *b, int64_t *a_number, int64_t *b_number)
{
    size_t a_prefix, b_prefix;

    return tarn_txn_id_number(a, &a_prefix, a_number) && tarn_txn_id_number(b, &b_prefix, b_number) &&
           a_prefix == b_prefix && strncmp(a, b, a_prefix) == 0;
}

bool tarn_txn_id_same(const char *a, const char *b)
{
    int64_t a_number, b_number;

    return strcmp(a, b) == 0 || (tarn_txn_id_pair(a, b, &a_number, &b_number) && a_number == b_number);
}
