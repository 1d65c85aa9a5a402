/* footer.c - see footer.h. Written from the specification of the protocol, not from the reader. */
#include "tests/support/footer.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { T_TRUE = 1, T_FALSE = 2, T_BYTE = 3, T_I32 = 5, T_I64 = 6, T_BINARY = 8, T_LIST = 9, T_STRUCT = 12 };

void compact_done(struct compact *c) { tarn_buf_done(&c->out); }

void compact_varint(struct compact *c, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        tarn_buf_addc(&c->out, (char)(value | 0x80));
    tarn_buf_addc(&c->out, (char)value);
}

static void zigzag(struct compact *c, int64_t value)
{
    compact_varint(c, ((uint64_t)value << 1) ^ (uint64_t)(value >> 63));
}

void compact_header(struct compact *c, int id, int type)
{
    int delta = id - c->last[c->depth];

    if (delta > 0 && delta < 16) {
        tarn_buf_addc(&c->out, (char)(delta << 4 | type));
    } else {
        tarn_buf_addc(&c->out, (char)type);
        zigzag(c, id);
    }
    c->last[c->depth] = id;
}

void compact_begin(struct compact *c) { c->last[++c->depth] = 0; }

void compact_end(struct compact *c)
{
    tarn_buf_addc(&c->out, '\0');
    c->depth--;
}

void compact_struct(struct compact *c, int id)
{
    compact_header(c, id, T_STRUCT);
    compact_begin(c);
}

void compact_list(struct compact *c, int id, int type, uint64_t count)
{
    compact_header(c, id, T_LIST);
    if (count < 15) {
        tarn_buf_addc(&c->out, (char)(count << 4 | (unsigned)type));
    } else {
        tarn_buf_addc(&c->out, (char)(0xf0 | type));
        compact_varint(c, count);
    }
}

void compact_i32(struct compact *c, int id, int64_t value)
{
    compact_header(c, id, T_I32);
    zigzag(c, value);
}

void compact_i64(struct compact *c, int id, int64_t value)
{
    compact_header(c, id, T_I64);
    zigzag(c, value);
}

void compact_bytes(struct compact *c, int id, const void *data, size_t len)
{
    compact_header(c, id, T_BINARY);
    compact_varint(c, len);
    tarn_buf_add(&c->out, data, len);
}

void compact_text(struct compact *c, int id, const char *text) { compact_bytes(c, id, text, strlen(text)); }
void compact_flag(struct compact *c, int id, int value) { compact_header(c, id, value ? T_TRUE : T_FALSE); }

/* ---- the language of schemas ---- */

static int index_in(const char *const *words, int count, const char *word)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(words[i], word) == 0)
            return i;
    }
    return -1;
}

static void put_unit(struct compact *c, const char *unit)
{
    static const char *const k_units[] = { "ms", "us", "ns" };

    compact_struct(c, 2);
    compact_struct(c, index_in(k_units, 3, unit) + 1);
    compact_end(c);
    compact_end(c);
}

/* The LogicalType (field 10) of an annotation. */
static void put_logical(struct compact *c, const char *note)
{
    char unit[8], zone[8], sign;
    int p, s, bits, number = 1;

    compact_struct(c, 10);
    if (strcmp(note, "str") == 0 || sscanf(note, "log=%d", &number) == 1) {
        compact_struct(c, number);
    } else if (sscanf(note, "dec=%d,%d", &p, &s) == 2) {
        compact_struct(c, 5);
        compact_i32(c, 1, s);
        compact_i32(c, 2, p);
    } else if (sscanf(note, "int=%d%c", &bits, &sign) == 2) {
        compact_struct(c, 10);
        compact_header(c, 1, T_BYTE);
        tarn_buf_addc(&c->out, (char)bits);
        compact_flag(c, 2, sign == 's');
    } else if (sscanf(note, "ts=%2[a-z]:%7s", unit, zone) == 2 ||
               sscanf(note, "time=%2[a-z]:%7s", unit, zone) == 2) {
        compact_struct(c, note[1] == 's' ? 8 : 7);
        compact_flag(c, 1, strcmp(zone, "utc") == 0);
        put_unit(c, unit);
    } else {
        assert(!"an annotation nobody knows");
    }
    compact_end(c);
    compact_end(c);
}

static void put_element(struct compact *c, const char *from)
{
    char part[256];
    static const char *const k_repetitions[] = { "req", "opt", "rep" };
    static const char *const k_types[] = { "bool", "i32", "i64", "i96", "f32", "f64", "ba" };
    char repetition[8], type[32], name[64], notes[2][32];
    int count, width, children = -1, converted, p, s;

    snprintf(part, sizeof part, "%.*s", (int)strcspn(from, ";"), from);
    int words = sscanf(part, " %7s %31s %63s %31s %31s", repetition, type, name, notes[0], notes[1]);

    assert(words >= 3);
    compact_begin(c);
    if (sscanf(type, "fix:%d", &width) == 1) {
        compact_i32(c, 1, 7);
        compact_i32(c, 2, width);
    } else if (sscanf(type, "group:%d", &children) != 1) {
        compact_i32(c, 1, index_in(k_types, 7, type));
    }
    compact_i32(c, 3, index_in(k_repetitions, 3, repetition));
    compact_text(c, 4, name);
    if (children >= 0)
        compact_i32(c, 5, children);
    count = words - 3;
    for (int i = 0; i < count; i++) { /* "conv=5 old=10,2": a decimal without a logical type */
        if (sscanf(notes[i], "conv=%d", &converted) == 1) {
            compact_i32(c, 6, converted);
        } else if (sscanf(notes[i], "old=%d,%d", &p, &s) == 2) {
            compact_i32(c, 7, s);
            compact_i32(c, 8, p);
        } else {
            put_logical(c, notes[i]);
        }
    }
    compact_end(c);
}

void compact_schema(struct compact *c, const char *spec)
{
    uint64_t elements = 1;

    for (const char *at = strchr(spec, ';'); at; at = strchr(at + 1, ';'))
        elements++;
    compact_list(c, 2, T_STRUCT, elements);
    compact_begin(c);
    compact_text(c, 4, "root");
    compact_i32(c, 5, (int)strtol(spec, NULL, 10));
    compact_end(c);
    for (const char *at = strchr(spec, ';'); at; at = strchr(at + 1, ';'))
        put_element(c, at + 1);
}

size_t compact_leaves(const char *spec)
{
    size_t leaves = 0;

    for (const char *at = strchr(spec, ';'); at; at = strchr(at + 1, ';')) {
        char type[16];
        leaves += sscanf(at + 1, " %*s %15s", type) == 1 && strncmp(type, "group", 5) != 0;
    }
    return leaves;
}
