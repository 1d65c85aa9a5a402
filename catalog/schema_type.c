/* schema_type.c - spellings of types. Every system has its own ("bigint", "long", "int64");
 * all common ones are taken, in any case, and one is printed. */
#include "catalog/schema.h"
#include "catalog/schema_internal.h"
#include <string.h>
#include <strings.h>

enum args { ARGS_NONE, ARGS_LENGTH, ARGS_DECIMAL, ARGS_UNIT, ARGS_LIST, ARGS_MAP, ARGS_STRUCT };

struct spelling {
    const char *word;
    enum tarn_type_kind kind;
    enum args args;
    enum tarn_time_unit unit;
    bool exact_unit;
    enum tarn_time_zone zone;
};
#define PLAIN(w, k) { (w), TARN_T_##k, ARGS_NONE, TARN_UNIT_MICROS, false, TARN_ZONE_UTC }
#define WITH(w, k, a) { (w), TARN_T_##k, ARGS_##a, TARN_UNIT_MICROS, false, TARN_ZONE_UTC }
#define STAMP(w, z) { (w), TARN_T_TIMESTAMP, ARGS_UNIT, TARN_UNIT_MICROS, false, TARN_ZONE_##z }
#define STAMP_IN(w, u, z) { (w), TARN_T_TIMESTAMP, ARGS_NONE, TARN_UNIT_##u, true, TARN_ZONE_##z }

/* One row a word; schema_format.c prints the first of each kind. */
static const struct spelling k_spellings[] = {
    PLAIN("boolean", BOOLEAN),
    PLAIN("bool", BOOLEAN),
    PLAIN("int32", INT32),
    PLAIN("int", INT32),
    PLAIN("integer", INT32),
    PLAIN("int8", INT32),
    PLAIN("int16", INT32),
    PLAIN("byte", INT32),
    PLAIN("short", INT32),
    PLAIN("tinyint", INT32),
    PLAIN("smallint", INT32),
    PLAIN("uint8", INT32),
    PLAIN("uint16", INT32),
    PLAIN("int64", INT64),
    PLAIN("long", INT64),
    PLAIN("bigint", INT64),
    PLAIN("uint32", INT64),
    PLAIN("uint64", UINT64),
    PLAIN("ubigint", UINT64),
    PLAIN("float16", FLOAT16),
    PLAIN("halffloat", FLOAT16),
    PLAIN("half", FLOAT16),
    PLAIN("float", FLOAT),
    PLAIN("float32", FLOAT),
    PLAIN("real", FLOAT),
    PLAIN("double", DOUBLE),
    PLAIN("float64", DOUBLE),
    WITH("decimal", DECIMAL, DECIMAL),
    WITH("numeric", DECIMAL, DECIMAL),
    WITH("decimal128", DECIMAL, DECIMAL),
    PLAIN("string", STRING),
    PLAIN("utf8", STRING),
    PLAIN("large_string", STRING),
    PLAIN("text", STRING),
    WITH("varchar", STRING, LENGTH),
    WITH("char", STRING, LENGTH),
    PLAIN("json", STRING),
    PLAIN("enum", STRING),
    PLAIN("binary", BINARY),
    PLAIN("bytes", BINARY),
    PLAIN("varbinary", BINARY),
    PLAIN("blob", BINARY),
    PLAIN("large_binary", BINARY),
    WITH("fixed", BINARY, LENGTH),
    PLAIN("date", DATE),
    PLAIN("date32", DATE),
    WITH("time", TIME, UNIT),
    WITH("time32", TIME, UNIT),
    WITH("time64", TIME, UNIT),
    STAMP("timestamp", UTC),
    STAMP("timestamp_ntz", LOCAL),
    STAMP("timestamptz", UTC),
    STAMP("timestamp_tz", UTC),
    STAMP("timestamp_ltz", UTC),
    STAMP("datetime", LOCAL),
    STAMP_IN("timestamp_ms", MILLIS, UTC),
    STAMP_IN("timestamp_us", MICROS, UTC),
    STAMP_IN("timestamp_ns", NANOS, UTC),
    STAMP_IN("timestamptz_ns", NANOS, UTC),
    STAMP_IN("timestamp_ntz_ms", MILLIS, LOCAL),
    STAMP_IN("timestamp_ntz_us", MICROS, LOCAL),
    STAMP_IN("timestamp_ntz_ns", NANOS, LOCAL),
    PLAIN("uuid", UUID),
    PLAIN("interval", INTERVAL),
    PLAIN("unknown", UNKNOWN),
    PLAIN("null", UNKNOWN),
    PLAIN("void", UNKNOWN),
    WITH("struct", STRUCT, STRUCT),
    WITH("row", STRUCT, STRUCT),
    WITH("list", LIST, LIST),
    WITH("array", LIST, LIST),
    WITH("large_list", LIST, LIST),
    WITH("map", MAP, MAP),
};

struct scan {
    const char *at;
    size_t *columns;
};

static void skip_blanks(struct scan *s)
{
    while (*s->at == ' ')
        s->at++;
}

static bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Takes `c`, blanks before it aside. */
static bool take(struct scan *s, char c)
{
    skip_blanks(s);
    if (*s->at != c)
        return false;
    s->at++;
    return true;
}

/* Takes the words of `text` ("with time zone"), or nothing. */
static bool take_words(struct scan *s, const char *text)
{
    size_t len = strlen(text);

    skip_blanks(s);
    if (strncasecmp(s->at, text, len) != 0 || is_word_char(s->at[len]))
        return false;
    s->at += len;
    return true;
}

/* The opening bracket, as the closing one that belongs to it; '\0' when there is none. */
static char take_bracket(struct scan *s)
{
    if (take(s, '('))
        return ')';
    if (take(s, '<'))
        return '>';
    return take(s, '[') ? ']' : '\0';
}

static bool take_number(struct scan *s, int *out)
{
    int value = 0;

    skip_blanks(s);
    if (*s->at < '0' || *s->at > '9')
        return false;
    for (; *s->at >= '0' && *s->at <= '9'; s->at++) {
        if (value > 99999999)
            return false;
        value = value * 10 + (*s->at - '0');
    }
    *out = value;
    return true;
}

static const struct spelling *take_spelling(struct scan *s)
{
    size_t len = 0;

    skip_blanks(s);
    while (is_word_char(s->at[len]))
        len++;
    for (size_t i = 0; i < TARN_COUNT(k_spellings); i++) {
        const char *word = k_spellings[i].word;
        if (strlen(word) == len && strncasecmp(word, s->at, len) == 0) {
            s->at += len;
            return &k_spellings[i];
        }
    }
    return NULL;
}

static tarn_code read_length(struct scan *s, struct tarn_err *err)
{
    int length;
    char closing = take_bracket(s);

    if (closing != '\0' && (!take_number(s, &length) || !take(s, closing)))
        return tarn_fail_field(err, "", "a length stands in brackets: varchar(10)");
    return TARN_OK;
}

static tarn_code read_decimal(struct scan *s, struct tarn_type *out, struct tarn_err *err)
{
    char closing = take_bracket(s);

    out->precision = 10; /* of a bare "decimal", as in Spark */
    out->scale = 0;
    if (closing == '\0')
        return TARN_OK;
    if (!take_number(s, &out->precision) || (take(s, ',') && !take_number(s, &out->scale)) ||
        !take(s, closing))
        return tarn_fail_field(err, "", "a decimal is written decimal(precision,scale)");
    if (out->precision < 1 || out->precision > 76 || out->scale > out->precision)
        return tarn_fail_field(err, "", "a decimal's precision is 1 to 76, its scale at most that");
    return TARN_OK;
}

static bool take_unit(struct scan *s, struct tarn_type *out)
{
    static const struct {
        const char *word;
        enum tarn_time_unit unit;
    } k_units[] = { { "s", TARN_UNIT_MILLIS }, { "ms", TARN_UNIT_MILLIS }, { "us", TARN_UNIT_MICROS },
                    { "ns", TARN_UNIT_NANOS } };
    int digits;

    if (take_number(s, &digits)) { /* SQL's timestamp(6) */
        out->unit = digits <= 3 ? TARN_UNIT_MILLIS : digits <= 6 ? TARN_UNIT_MICROS : TARN_UNIT_NANOS;
        return digits <= 9;
    }
    for (size_t i = 0; i < TARN_COUNT(k_units); i++) {
        if (take_words(s, k_units[i].word)) {
            out->unit = k_units[i].unit;
            return true;
        }
    }
    return false;
}

/* Arrow's "timestamp[us, tz=UTC]" (without tz: local) and SQL's "timestamp(6) with time zone". */
static tarn_code read_unit(struct scan *s, struct tarn_type *out, struct tarn_err *err)
{
    char closing = take_bracket(s);

    if (closing != '\0') {
        bool ok = take_unit(s, out);
        if (closing == ']')
            out->zone = TARN_ZONE_LOCAL;
        if (ok && take(s, ',') && take_words(s, "tz")) {
            out->zone = TARN_ZONE_UTC;
            s->at += strcspn(s->at, "]");
        }
        if (!ok || !take(s, closing))
            return tarn_fail_field(err, "", "a unit is written timestamp[us] or timestamp(6)");
        out->any_unit = false;
    }
    if (take_words(s, "with time zone") || take_words(s, "with local time zone"))
        out->zone = TARN_ZONE_UTC;
    else if (take_words(s, "without time zone"))
        out->zone = TARN_ZONE_LOCAL;
    return TARN_OK;
}

static tarn_code read_type(struct scan *s, size_t depth, struct tarn_type *out, struct tarn_err *err);

static tarn_code read_member(struct scan *s, size_t depth, const char *name, size_t name_len,
                             struct tarn_type *out, struct tarn_err *err)
{
    struct tarn_column *column = NULL;
    tarn_code code = tarn_type_grow(out, name, name_len, s->columns, &column, err);

    if (code == TARN_OK)
        code = read_type(s, depth + 1, &column->type, err);
    if (code == TARN_OK && take_words(s, "not null"))
        column->nullable = false;
    return code;
}

static tarn_code read_list(struct scan *s, size_t depth, struct tarn_type *out, struct tarn_err *err)
{
    char closing = take_bracket(s);

    if (closing == '\0')
        return tarn_fail_field(err, "", "a list names its element: list<string>");
    tarn_code code = read_member(s, depth, "element", strlen("element"), out, err);
    if (code == TARN_OK && !take(s, closing))
        return tarn_fail_field(err, "", "a list is not closed");
    return code;
}

static tarn_code read_map(struct scan *s, size_t depth, struct tarn_type *out, struct tarn_err *err)
{
    char closing = take_bracket(s);

    if (closing == '\0')
        return tarn_fail_field(err, "", "a map names its key and value: map<string,int64>");
    tarn_code code = read_member(s, depth, "key", strlen("key"), out, err);
    if (code != TARN_OK)
        return code;
    out->fields[0].nullable = false;
    if (!take(s, ','))
        return tarn_fail_field(err, "", "a map names its key and value: map<string,int64>");
    code = read_member(s, depth, "value", strlen("value"), out, err);
    if (code == TARN_OK && !take(s, closing))
        return tarn_fail_field(err, "", "a map is not closed");
    return code;
}

/* "struct<a:int64,b:string not null>", "row(a bigint, b varchar)". */
static tarn_code read_struct(struct scan *s, size_t depth, struct tarn_type *out, struct tarn_err *err)
{
    char closing = take_bracket(s);

    if (closing == '\0')
        return tarn_fail_field(err, "", "a struct names its fields: struct<a:int64>");
    do {
        skip_blanks(s);
        const char *name = s->at;
        size_t len = strcspn(name, ": ,<>()");
        s->at += len;
        (void)take(s, ':');
        tarn_code code = read_member(s, depth, name, len, out, err);
        if (code != TARN_OK)
            return code;
    } while (take(s, ','));
    if (!take(s, closing))
        return tarn_fail_field(err, "", "a struct is not closed");
    return tarn_struct_check(out, err);
}

static tarn_code read_args(struct scan *s, enum args args, size_t depth, struct tarn_type *out,
                           struct tarn_err *err)
{
    switch (args) {
    case ARGS_LENGTH: return read_length(s, err);
    case ARGS_DECIMAL: return read_decimal(s, out, err);
    case ARGS_UNIT: return read_unit(s, out, err);
    case ARGS_LIST: return read_list(s, depth, out, err);
    case ARGS_MAP: return read_map(s, depth, out, err);
    case ARGS_STRUCT: return read_struct(s, depth, out, err);
    case ARGS_NONE: break;
    }
    if (out->kind == TARN_T_DOUBLE)
        (void)take_words(s, "precision");
    return TARN_OK;
}

static tarn_code read_type(struct scan *s, size_t depth, struct tarn_type *out, struct tarn_err *err)
{
    if (depth > TARN_SCHEMA_DEPTH_MAX)
        return tarn_fail_field(err, "", "a schema nests at most %d levels", TARN_SCHEMA_DEPTH_MAX);
    const struct spelling *spelling = take_spelling(s);
    if (!spelling)
        return tarn_fail_field(err, "", "\"%.100s\" is not a type", s->at);
    out->kind = spelling->kind;
    out->unit = spelling->unit;
    out->any_unit = !spelling->exact_unit && spelling->args == ARGS_UNIT;
    out->zone = spelling->zone;
    return read_args(s, spelling->args, depth, out, err);
}

tarn_code tarn_type_from_text(const char *text, size_t depth, size_t *columns, struct tarn_type *out,
                              struct tarn_err *err)
{
    struct scan s = { text, columns };
    tarn_code code = read_type(&s, depth, out, err);

    if (code != TARN_OK)
        return code;
    skip_blanks(&s);
    if (*s.at != '\0')
        return tarn_fail_field(err, "", "\"%.100s\" follows a type that is already complete", s.at);
    return TARN_OK;
}
