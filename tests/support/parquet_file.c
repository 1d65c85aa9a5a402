/* parquet_file.c - see parquet_file.h: files that tests of commits and scans put into a lake. */
/* parquet_file.c - see parquet_file.h: files that tests of commits and scans put into a lake. */
#include "tests/support/parquet_file.h"
#include "tests/support/footer.h"
#include "tests/support/support.h"
#include <stdio.h>
#include <string.h>

enum { T_STRUCT = 12, DATA_BYTES = 64 };

static void put_bounds(struct compact *c, size_t width, int64_t rows)
{
    unsigned char one[8] = { 1 }, last[8] = { 0 };

    for (size_t i = 0; i < width; i++)
        last[i] = (unsigned char)((uint64_t)rows >> 8 * i);
    compact_bytes(c, 5, last, width);
    compact_bytes(c, 6, one, width);
}

static void put_chunk(struct compact *c, size_t width, int64_t rows, int64_t nulls)
{
    compact_begin(c);
    compact_i64(c, 2, 0);
    compact_struct(c, 3);
    compact_i64(c, 5, rows);
    compact_i64(c, 7, DATA_BYTES / 2);
    compact_i64(c, 9, 4);
    compact_struct(c, 12);
    if (nulls >= 0)
        compact_i64(c, 3, nulls);
    if (width > 0)
        put_bounds(c, width, rows);
    compact_end(c);
    compact_end(c);
    compact_end(c);
}

/* 4 or 8 for a whole number, 0 for anything else, -1 for a group. */
static int width_of(const char *element)
{
    char type[16] = "", note[16] = "", text[128];

    snprintf(text, sizeof text, "%.*s", (int)strcspn(element, ";"), element);
    sscanf(text, " %*s %15s %*s %15s", type, note);
    if (strncmp(type, "group", 5) == 0)
        return -1;
    if (note[0] != '\0')
        return 0;
    return strcmp(type, "i32") == 0 ? 4 : strcmp(type, "i64") == 0 ? 8 : 0;
}

static void put_chunks(struct compact *c, const char *spec, int64_t rows, int64_t nulls)
{
    int64_t left = nulls;

    compact_list(c, 1, T_STRUCT, compact_leaves(spec));
    for (const char *at = strchr(spec, ';'); at; at = strchr(at + 1, ';')) {
        int width = width_of(at + 1);
        if (width < 0)
            continue;
        put_chunk(c, (size_t)width, rows, left);
        left = nulls < 0 ? nulls : 0;
    }
}

int64_t parquet_file(const char *path, const char *spec, int64_t rows, int64_t nulls)
{
    __attribute__((cleanup(compact_done))) struct compact c = { 0 };
    struct tarn_buf file = { 0 };
    char data[DATA_BYTES] = "PAR1";

    compact_i32(&c, 1, 1);
    compact_schema(&c, spec);
    compact_i64(&c, 3, rows);
    compact_list(&c, 4, T_STRUCT, 1);
    compact_begin(&c);
    put_chunks(&c, spec, rows, nulls);
    compact_i64(&c, 2, DATA_BYTES);
    compact_i64(&c, 3, rows);
    compact_end(&c);
    compact_end(&c);
    tarn_buf_add(&file, data, sizeof data);
    tarn_buf_add(&file, c.out.data, c.out.len);
    for (int i = 0; i < 4; i++)
        tarn_buf_addc(&file, (char)(c.out.len >> 8 * i));
    tarn_buf_add(&file, "PAR1", 4);
    tarn_write_file(path, file.data, file.len);
    int64_t size = (int64_t)file.len;
    tarn_buf_done(&file);
    return size;
}
