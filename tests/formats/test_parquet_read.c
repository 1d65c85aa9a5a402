/* test_parquet_read.c - footers of files on disk: how the end of a file is judged, long footers, and the
 * files of real writers. */
#include "base/own.h"
#include "formats/parquet/parquet.h"
#include "tests/support/footer.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>

static struct tarn_parquet *read_path(const char *folder, const char *name, int64_t size)
{
    TARN_AUTO(place) struct tarn_place *place = NULL;
    struct tarn_parquet *out = NULL;
    TARN_ERR(err);

    cr_assert(eq(int, tarn_place_open_local(folder, &place, &err), TARN_OK), "%s", err.detail);
    cr_assert(eq(int, tarn_parquet_read(place, name, size, &out, &err), TARN_OK), "%s: %s", name, err.detail);
    return out;
}

static struct tarn_parquet *read_bytes(const void *bytes, size_t len, int64_t size)
{
    const char *folder = tarn_tmp();

    tarn_write_file(tarn_path(folder, "x.parquet"), bytes, len);
    return read_path(folder, "x.parquet", size);
}

Test(parquet_read, the_end_of_a_file_tells_what_it_is)
{
    static const struct {
        const char *bytes;
        size_t len;
        int64_t size; /* as listed */
        enum tarn_parquet_state state;
        const char *reason;
    } k_rows[] = {
        { "", 0, 0, TARN_PARQUET_CORRUPT, "0 bytes are too few" },
        { "PAR1", 4, 4, TARN_PARQUET_CORRUPT, "4 bytes are too few" },
        { "PAR1PAR1", 8, 8, TARN_PARQUET_CORRUPT, "too few" },
        { "PAR1\0\0\0\0PAR1", 12, 12, TARN_PARQUET_CORRUPT, "a footer of 0 bytes" },
        { "PAR1\x01\0\0\0PAR1", 12, 12, TARN_PARQUET_CORRUPT, "a footer of 1 bytes in a file of 12" },
        { "PAR1\xff\xff\xff\xffPAR1", 12, 12, TARN_PARQUET_CORRUPT, "a footer of 4294967295 bytes" },
        { "PAR1.\x01\0\0\0PAR1", 13, 13, TARN_PARQUET_CORRUPT, "" },
        { "PAR1\0\x01\0\0\0PAR1", 13, 13, TARN_PARQUET_CORRUPT, "no schema" },
        { "hello world, not parquet", 24, 24, TARN_PARQUET_CORRUPT, "PAR1" },
        { "PARE\x04\0\0\0\x04\0\0\0PARE", 16, 16, TARN_PARQUET_ENCRYPTED, "encrypted" },
        { "PAR1\0\x01\0\0\0PAR1", 13, 400, TARN_PARQUET_CORRUPT, "shorter than it was listed" },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        TARN_AUTO(parquet)
        struct tarn_parquet *file = read_bytes(k_rows[i].bytes, k_rows[i].len, k_rows[i].size);
        cr_assert(eq(int, file->state, k_rows[i].state), "row %zu: %s", i, file->reason);
        cr_assert(tarn_has(file->reason, k_rows[i].reason), "row %zu: %s", i, file->reason);
        cr_assert(zero(ptr, file->schema));
    }
}

/* A whole file of `columns` int columns and no rows: PAR1, footer, length, PAR1. */
static void write_wide(struct tarn_buf *out, int columns)
{
    TARN_AUTO_DONE(buf) struct tarn_buf spec = { 0 };
    __attribute__((cleanup(compact_done))) struct compact c = { 0 };
    unsigned char length[4];

    tarn_buf_addf(&spec, "%d", columns);
    for (int i = 0; i < columns; i++)
        tarn_buf_addf(&spec, "; opt i32 column_number_%d", i);
    compact_schema(&c, spec.data);
    compact_i64(&c, 3, 0);
    compact_end(&c);
    for (size_t i = 0; i < 4; i++)
        length[i] = (unsigned char)(c.out.len >> (8 * i));
    tarn_buf_adds(out, "PAR1");
    tarn_buf_add(out, c.out.data, c.out.len);
    tarn_buf_add(out, length, 4);
    tarn_buf_adds(out, "PAR1");
}

Test(parquet_read, a_footer_longer_than_the_first_read_is_read_whole)
{
    static const int k_columns[] = { 1, 2000, 2300, 5000 }; /* the tail of 64 KiB ends at about 2,250 */

    for (size_t i = 0; i < TARN_COUNT(k_columns); i++) {
        TARN_AUTO_DONE(buf) struct tarn_buf bytes = { 0 };
        write_wide(&bytes, k_columns[i]);
        TARN_AUTO(parquet) struct tarn_parquet *file = read_bytes(bytes.data, bytes.len, (int64_t)bytes.len);
        cr_assert(eq(int, file->state, TARN_PARQUET_OK), "%d: %s", k_columns[i], file->reason);
        cr_assert(eq(sz, file->column_count, (size_t)k_columns[i]));
    }
}

Test(parquet_read, a_footer_above_the_cap_is_not_judged)
{
    TARN_AUTO(place) struct tarn_place *place = NULL;
    TARN_AUTO(parquet) struct tarn_parquet *file = NULL;
    const int64_t size = (INT64_C(64) << 20) + 4096;
    const char *folder = tarn_tmp();
    FILE *out = fopen(tarn_path(folder, "x.parquet"), "wb");

    cr_assert(out != NULL); /* a hole of 64 MiB, then the end */
    cr_assert(eq(int, fseek(out, (long)size - 8, SEEK_SET), 0));
    cr_assert(eq(sz, fwrite("\x01\0\0\x04PAR1", 1, 8, out), 8));
    cr_assert(eq(int, fclose(out), 0));
    cr_assert(eq(int, tarn_place_open_local(folder, &place, NULL), TARN_OK));
    cr_assert(eq(int, tarn_parquet_read(place, "x.parquet", size, &file, NULL), TARN_OK));
    cr_assert(eq(int, file->state, TARN_PARQUET_TOO_LARGE), "%s", file->reason);
}

Test(parquet_read, a_missing_file_is_an_error_and_no_verdict)
{
    TARN_AUTO(place) struct tarn_place *place = NULL;
    struct tarn_parquet *file = NULL;

    cr_assert(eq(int, tarn_place_open_local(tarn_tmp(), &place, NULL), TARN_OK));
    cr_assert(eq(int, tarn_parquet_read(place, "gone.parquet", 100, &file, NULL), TARN_NOT_FOUND));
    cr_assert(zero(ptr, file));
}

/* Written by pyarrow 26 (examples/make_lake.py); expectations from pyarrow's own reader. */
Test(parquet_read, a_file_of_arrow_is_read_as_arrow_reads_it)
{
    TARN_AUTO(parquet)
    struct tarn_parquet *file =
        read_path("examples/lake/flights/date=2013-07-03/hour=05", "flights-0001.parquet", 2150);
    TARN_AUTO_DONE(buf) struct tarn_buf names = { 0 };
    __attribute__((cleanup(tarn_mem_freep))) char *stats = NULL;

    cr_assert(eq(int, file->state, TARN_PARQUET_OK), "%s", file->reason);
    cr_assert(eq(i64, file->rows, 7));
    cr_assert(eq(i64, file->row_groups, 1));
    cr_assert(eq(str, file->created_by, "parquet-cpp-arrow version 26.0.1"));
    for (size_t i = 0; i < file->column_count; i++)
        tarn_buf_addf(&names, "%s ", file->columns[i].path);
    cr_assert(eq(str, names.data,
                 "scheduled carrier flight tailnum origin dest dep_delay arr_delay air_time distance "));
    stats = tarn_parquet_column_stats(file);
    cr_assert(tarn_has(stats, "\"flight\":{\"min\":472,\"max\":1591,\"nullCount\":0}"));
    cr_assert(tarn_has(stats, "\"dest\":{\"min\":\"BQN\",\"max\":\"SFO\",\"nullCount\":0}"));
    cr_assert(
        tarn_has(stats, "\"scheduled\":{\"min\":\"2013-07-03T09:00:00Z\",\"max\":\"2013-07-03T09:59:00Z\""));
}

/* tests/fixtures/make_parquet.py tells the values; an extreme of which one row group knows nothing is left
 * out. */
Test(parquet_read, every_type_that_arrow_writes_is_known)
{
    static const struct {
        const char *name, *type, *stats; /* NULL: not in the statistics */
    } k_rows[] = {
        { "b", "boolean", "{\"min\":false,\"max\":true,\"nullCount\":1}" },
        { "i8", "int32", "{\"min\":-1,\"max\":3,\"nullCount\":0}" },
        { "u8", "int32", "{\"min\":1,\"max\":200,\"nullCount\":0}" },
        { "u32", "int64", "{\"min\":1,\"max\":4000000000,\"nullCount\":0}" },
        { "u64", "uint64", "{\"nullCount\":0}" },
        { "f32", "float", "{\"min\":-2.5,\"max\":0.1,\"nullCount\":1}" },
        { "f64", "double", "{\"min\":-3.0,\"max\":0.1,\"nullCount\":0}" },
        { "f16", "float16", "{\"nullCount\":0}" },
        { "dec10", "decimal(10,2)", "{\"min\":-12.05,\"max\":1.00,\"nullCount\":0}" },
        { "dec38", "decimal(38,2)", "{\"nullCount\":0}" },
        { "s", "string", "{\"min\":\"b\",\"max\":\"ä\",\"nullCount\":1}" },
        { "long", "string", "{\"nullCount\":0}" },
        { "bin", "binary", "{\"nullCount\":0}" },
        { "fixed", "binary", "{\"nullCount\":0}" },
        { "date", "date", "{\"min\":\"1969-12-31\",\"max\":\"2024-02-29\",\"nullCount\":1}" },
        { "ts", "timestamp",
          "{\"min\":\"1969-12-31T23:59:59.999999Z\",\"max\":\"2024-01-01T00:00:00Z\",\"nullCount\":1}" },
        { "ts_ms_local", "timestamp_ntz_ms",
          "{\"min\":\"2024-01-01T00:00:00.25\",\"max\":\"2024-01-01T00:00:00.25\",\"nullCount\":0}" },
        { "ts_ns_local", "timestamp_ntz_ns",
          "{\"min\":\"1970-01-01T00:00:00.000000001\",\"max\":\"2023-11-14T22:13:20.000000001\","
          "\"nullCount\":0}" },
        { "time", "time", "{\"nullCount\":0}" },
        { "list", "list<int32>", NULL },
        { "structs", "list<struct<a:int64,b:string>>", NULL },
        { "map", "map<string,int64>", NULL },
        { "deep", "struct<x:int32,y:list<list<string>>>", NULL },
        { "nothing", "unknown", NULL }, /* pyarrow tells nothing of it */
        { "dict", "string", "{\"min\":\"p\",\"max\":\"q\",\"nullCount\":0}" },
    };
    TARN_AUTO(parquet) struct tarn_parquet *file = read_path("tests/fixtures", "types.parquet", 12253);
    __attribute__((cleanup(tarn_mem_freep))) char *stats = NULL;

    cr_assert(eq(int, file->state, TARN_PARQUET_OK), "%s", file->reason);
    cr_assert(eq(sz, file->schema->root.field_count, TARN_COUNT(k_rows)));
    stats = tarn_parquet_column_stats(file);
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        char type[128], member[256];
        const struct tarn_column *column = &file->schema->root.fields[i];
        tarn_type_format(&column->type, type, sizeof type);
        cr_assert(eq(str, column->name, (char *)k_rows[i].name));
        cr_assert(eq(str, type, (char *)k_rows[i].type), "%s", k_rows[i].name);
        snprintf(member, sizeof member, "\"%s\":%s", k_rows[i].name, k_rows[i].stats ? k_rows[i].stats : "");
        cr_assert(eq(int, tarn_has(stats, member), k_rows[i].stats != NULL), "%s not in %s", member, stats);
    }
    cr_assert(tarn_has(stats, "\"deep.x\":{\"min\":1,\"max\":1,\"nullCount\":0}"));
}
