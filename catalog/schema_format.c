/* schema_format.c - types in words, the same ones that schema_type.c takes. */
#include "base/buf.h"
#include "catalog/schema.h"
#include <stdio.h>
#include <string.h>

/* In the order of enum tarn_type_kind. */
static const char *const k_words[] = { "boolean", "int32",  "int64",     "uint64", "float16",
                                       "float",   "double", "decimal",   "string", "binary",
                                       "date",    "time",   "timestamp", "uuid",   "interval",
                                       "unknown", "struct", "list",      "map" };

static const char *timestamp_word(const struct tarn_type *type)
{
    static const char *const k_utc[] = { "timestamp_ms", "timestamp", "timestamp_ns" };
    static const char *const k_local[] = { "timestamp_ntz_ms", "timestamp_ntz", "timestamp_ntz_ns" };

    if (type->zone == TARN_ZONE_UNKNOWN || (type->any_unit && type->zone == TARN_ZONE_UTC))
        return "timestamp";
    if (type->any_unit)
        return "timestamp_ntz";
    return type->zone == TARN_ZONE_UTC ? k_utc[type->unit] : k_local[type->unit];
}

static void add_type(struct tarn_buf *b, const struct tarn_type *type);

static void add_member(struct tarn_buf *b, const struct tarn_type *type, size_t i)
{
    if (i > 0)
        tarn_buf_addc(b, ',');
    if (type->kind == TARN_T_STRUCT) {
        tarn_buf_adds(b, type->fields[i].name);
        tarn_buf_addc(b, ':');
    }
    add_type(b, &type->fields[i].type);
}

static void add_type(struct tarn_buf *b, const struct tarn_type *type)
{
    if (type->kind == TARN_T_DECIMAL)
        tarn_buf_addf(b, "decimal(%d,%d)", type->precision, type->scale);
    else if (type->kind == TARN_T_TIMESTAMP)
        tarn_buf_adds(b, timestamp_word(type));
    else
        tarn_buf_adds(b, k_words[type->kind]);
    if (type->kind < TARN_T_STRUCT)
        return;
    tarn_buf_addc(b, '<');
    for (size_t i = 0; i < type->field_count && !b->failed; i++)
        add_member(b, type, i);
    tarn_buf_addc(b, '>');
}

/* Text that does not fit is cut, and ends in "..." where there is room for it. */
void tarn_type_format(const struct tarn_type *type, char *out, size_t size)
{
    TARN_AUTO_DONE(buf) struct tarn_buf b = { 0 };

    add_type(&b, type);
    if (b.failed || !b.data) {
        snprintf(out, size, "%s", k_words[type->kind]);
        return;
    }
    snprintf(out, size, "%s", b.data);
    if (b.len >= size && size > 4)
        memcpy(out + size - 4, "...", 4);
}
