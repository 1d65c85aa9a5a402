/* test_parquet_footer.c - statistics and the verdict on a footer. Files of one column, put together by hand;
 * the bounds expected are worked out by hand from the bytes. */
#include "base/own.h"
#include "formats/parquet/parquet.h"
#include "tests/support/footer.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

enum { T_BINARY = 8, T_STRUCT = 12 };

/* One column chunk. What is not set is sound: 10 values of 50 bytes at offset 4, no nulls, no dictionary.
 * Nulls of -1 and bytes of NULL are left out. */
struct chunk {
    const char *min, *max, *old_min, *old_max;
    size_t len; /* bytes of each bound; 0: strlen */
    int64_t nulls, values, offset, dictionary, size;
    bool no_metadata, elsewhere;
};
#define ZERO INT64_MIN /* a 0 that is meant */

static int64_t or_else(int64_t value, int64_t otherwise)
{
    return value == ZERO ? 0 : value == 0 ? otherwise : value;
}

static void put_bound(struct compact *c, int id, const char *bytes, size_t len)
{
    if (bytes)
        compact_bytes(c, id, bytes, len ? len : strlen(bytes));
}

static void put_chunk(struct compact *c, const struct chunk *chunk)
{
    compact_begin(c);
    if (chunk->elsewhere)
        compact_text(c, 1, "part-0.parquet");
    compact_i64(c, 2, 0);
    if (!chunk->no_metadata) {
        compact_struct(c, 3);
        compact_i64(c, 5, or_else(chunk->values, 10));
        compact_i64(c, 7, or_else(chunk->size, 50));
        compact_i64(c, 9, or_else(chunk->offset, 4));
        if (chunk->dictionary != 0)
            compact_i64(c, 11, or_else(chunk->dictionary, 0));
        compact_struct(c, 12);
        put_bound(c, 1, chunk->old_max, chunk->len);
        put_bound(c, 2, chunk->old_min, chunk->len);
        if (chunk->nulls >= 0)
            compact_i64(c, 3, chunk->nulls);
        put_bound(c, 5, chunk->max, chunk->len);
        put_bound(c, 6, chunk->min, chunk->len);
        compact_end(c);
        compact_end(c);
    }
    compact_end(c);
}

/* A row group a chunk, 10 rows each. */
static void put_file(struct compact *c, const char *spec, const struct chunk *chunks, size_t count,
                     int64_t rows)
{
    compact_i32(c, 1, 1);
    compact_schema(c, spec);
    compact_i64(c, 3, rows);
    compact_list(c, 4, T_STRUCT, count);
    for (size_t i = 0; i < count; i++) {
        compact_begin(c);
        compact_list(c, 1, T_STRUCT, 1);
        put_chunk(c, &chunks[i]);
        compact_i64(c, 2, 100);
        compact_i64(c, 3, 10);
        compact_end(c);
    }
    compact_text(c, 6, "test");
    compact_end(c);
}

/* The footer of a file whose data takes 1,000 bytes. */
static struct tarn_parquet *judge(const struct compact *c)
{
    struct tarn_parquet *out = NULL;

    cr_assert(eq(int,
                 tarn_parquet_footer(c->out.data, c->out.len, 1000 + (int64_t)c->out.len + 8, &out, NULL),
                 TARN_OK));
    return out;
}

static struct tarn_parquet *read_file(const char *spec, const struct chunk *chunks, size_t count,
                                      int64_t rows)
{
    __attribute__((cleanup(compact_done))) struct compact c = { 0 };

    put_file(&c, spec, chunks, count, rows);
    return judge(&c);
}

static const struct {
    const char *spec, *min, *max;
    size_t len;
    const char *json_min, *json_max; /* NULL: none */
} k_bounds[] = {
    { "1; req i32 a", "\xff\xff\xff\xff", "\x05\0\0\0", 4, "-1", "5" },
    { "1; req i64 a", "\0\0\0\0\0\0\0\x80", "\xff\xff\xff\xff\xff\xff\xff\x7f", 8, "-9223372036854775808",
      "9223372036854775807" },
    { "1; req i32 a", "\x01\0\0", "\x05\0\0", 3, NULL, NULL }, /* no int32 */
    { "1; req i32 a int=32u", "\0\0\0\0", "\xff\xff\xff\xff", 4, "0", "4294967295" },
    { "1; req i64 a int=64u", "\0\0\0\0\0\0\0\0", "\0\0\0\0\0\0\0\x80", 8, "0", NULL }, /* beyond int64 */
    { "1; req bool a", "\0", "\x01", 1, "false", "true" },
    { "1; req f64 a", "\0\0\0\0\0\0\xf8\xbf", "\0\0\0\0\0\0\x04\x40", 8, "-1.5", "2.5" },
    { "1; req f64 a", "\0\0\0\0\0\0\0\x80", "\0\0\0\0\0\0\0\0", 8, "0.0", "0.0" },
    { "1; req f64 a", "\0\0\0\0\0\0\xf8\x7f", "\0\0\0\0\0\0\x04\x40", 8, NULL, NULL }, /* NaN */
    { "1; req f64 a", "\0\0\0\0\0\0\xf0\xff", "\0\0\0\0\0\0\x04\x40", 8, NULL, NULL }, /* -Infinity */
    { "1; req f32 a", "\xcd\xcc\xcc\x3d", "\0\0\x80\x3f", 4, "0.1", "1.0" },
    { "1; req ba a str", "ab", "zz", 2, "\"ab\"", "\"zz\"" },
    { "1; req ba a str", "a\"b\\c\n1", "z\"b\\c\n1", 7, "\"a\\\"b\\\\c\\n1\"", "\"z\\\"b\\\\c\\n1\"" },
    { "1; req ba a str", "ab", "z\xff", 2, "\"ab\"", NULL }, /* cut in the middle of a character */
    { "1; req ba a", "ab", "zz", 2, NULL, NULL },            /* bytes have no order that all agree on */
    { "1; req i32 a log=6", "\xff\xff\xff\xff", "\xc7\x4c\0\0", 4, "\"1969-12-31\"", "\"2023-10-25\"" },
    { "1; req i64 a ts=ms:utc", "\xff\xff\xff\xff\xff\xff\xff\xff", "\xe8\x03\0\0\0\0\0\0", 8,
      "\"1969-12-31T23:59:59.999Z\"", "\"1970-01-01T00:00:01Z\"" },
    { "1; req i64 a ts=us:local", "\x01\0\0\0\0\0\0\0", "\x40\x42\x0f\0\0\0\0\0", 8,
      "\"1970-01-01T00:00:00.000001\"", "\"1970-01-01T00:00:01\"" },
    { "1; req i64 a ts=ns:utc", "\x01\0\0\0\0\0\0\0", "\0\xca\x9a\x3b\0\0\0\0", 8,
      "\"1970-01-01T00:00:00.000000001Z\"", "\"1970-01-01T00:00:01Z\"" },
    { "1; req i64 a ts=ms:utc", "\0\0\0\0\0\0\0\0", "\xff\xff\xff\xff\xff\xff\xff\x7f", 8,
      "\"1970-01-01T00:00:00Z\"", NULL }, /* beyond the year 9999 */
    { "1; req i96 a", "\0\0\0\0\0\0\0\0\0\0\0\0", "\x01\0\0\0\0\0\0\0\0\0\0\0", 12, NULL, NULL },
    { "1; req i64 a dec=10,2", "\x4b\xfb\xff\xff\xff\xff\xff\xff", "\x03\0\0\0\0\0\0\0", 8, "-12.05",
      "0.03" },
    { "1; req i32 a dec=9,0", "\x01\0\0\0", "\x07\0\0\0", 4, "1", "7" },
    { "1; req i64 a dec=18,2", "\x01\0\0\0\0\0\0\0", "\x07\0\0\0\0\0\0\0", 8, NULL,
      NULL }, /* no double holds all */
    { "1; req fix:5 a dec=10,2", "\xff\xff\xff\xfb\x4b", "\0\0\0\0\x64", 5, "-12.05", "1.00" },
    { "1; req fix:16 a dec=10,2", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xfb\x4b",
      "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x64", 16, "-12.05", "1.00" },
    { "1; req fix:9 a dec=10,2", "\x01\0\0\0\0\0\0\0\0", "\x01\0\0\0\0\0\0\0\x01", 9, NULL,
      NULL }, /* above 64 bits */
    { "1; req i64 a time=us:utc", "\0\0\0\0\0\0\0\0", "\x01\0\0\0\0\0\0\0", 8, NULL, NULL },
    { "1; req fix:16 a log=14", "0123456789abcdef", "0123456789abcdef", 16, NULL, NULL },
};

static void same_text(const char *got, const char *wanted, const char *what, size_t row)
{
    cr_assert(eq(int, got != NULL, wanted != NULL), "row %zu %s: %s, not %s", row, what, got ? got : "none",
              wanted ? wanted : "none");
    if (wanted)
        cr_assert(eq(str, (char *)got, (char *)wanted), "row %zu %s", row, what);
}

Test(parquet_footer, bounds_become_json)
{
    for (size_t i = 0; i < TARN_COUNT(k_bounds); i++) {
        struct chunk chunk = { .min = k_bounds[i].min, .max = k_bounds[i].max, .len = k_bounds[i].len };
        TARN_AUTO(parquet) struct tarn_parquet *file = read_file(k_bounds[i].spec, &chunk, 1, 10);
        cr_assert(eq(int, file->state, TARN_PARQUET_OK), "row %zu: %s", i, file->reason);
        same_text(file->columns[0].min, k_bounds[i].json_min, "min", i);
        same_text(file->columns[0].max, k_bounds[i].json_max, "max", i);
        cr_assert(eq(int, file->columns[0].has_min_max, k_bounds[i].json_min && k_bounds[i].json_max));
    }
}

Test(parquet_footer, old_bounds_hold_where_the_order_was_never_in_doubt)
{
    static const struct {
        const char *spec, *min, *max;
        size_t len;
        const char *json_min;
    } k_rows[] = {
        { "1; req i32 a", "\x01\0\0\0", "\x02\0\0\0", 4, "1" },
        { "1; req f64 a", "\0\0\0\0\0\0\xf8\x3f", "\0\0\0\0\0\0\xf8\x3f", 8, "1.5" },
        { "1; req i32 a int=32u", "\x01\0\0\0", "\x02\0\0\0", 4, NULL },
        { "1; req ba a str", "ab", "zz", 2, NULL },
        { "1; req fix:5 a dec=10,2", "\0\0\0\0\x01", "\0\0\0\0\x02", 5, NULL },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct chunk chunk = { .old_min = k_rows[i].min, .old_max = k_rows[i].max, .len = k_rows[i].len };
        TARN_AUTO(parquet) struct tarn_parquet *file = read_file(k_rows[i].spec, &chunk, 1, 10);
        same_text(file->columns[0].min, k_rows[i].json_min, "min", i);
    }
}

Test(parquet_footer, row_groups_add_up)
{
    static const struct {
        struct chunk a, b;
        int64_t nulls; /* -1: not known */
        const char *min, *max;
    } k_rows[] = {
        { { .min = "b", .max = "c" }, { .min = "a", .max = "b" }, 0, "\"a\"", "\"c\"" },
        { { .min = "b", .max = "bb" }, { .min = "ba", .max = "bbb" }, 0, "\"b\"", "\"bbb\"" },
        { { .min = "b", .max = "c" }, { .min = "\xc3\xa4", .max = "\xc3\xa4" }, 0, "\"b\"", "\"ä\"" },
        { { .min = "b", .max = "c" }, { .nulls = 10 }, 10, "\"b\"", "\"c\"" }, /* all null */
        { { .min = "b", .max = "c" }, { .min = NULL }, 0, NULL, NULL },                    /* told nothing */
        { { .min = "b", .max = "c", .nulls = 3 }, { .min = "b", .max = "c", .nulls = -1 }, -1, "\"b\"",
          "\"c\"" },
        { { .min = "b", .max = "c", .nulls = 3 }, { .min = "b", .max = "c", .nulls = 4 }, 7, "\"b\"",
          "\"c\"" },
        { { .min = "b", .max = "c", .nulls = 11 }, { .min = "b", .max = "c" }, -1, "\"b\"", "\"c\"" },
        { { .min = "b" }, { .min = "b", .max = "c" }, 0, NULL, NULL },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct chunk chunks[2] = { k_rows[i].a, k_rows[i].b };
        TARN_AUTO(parquet) struct tarn_parquet *file = read_file("1; opt ba a str", chunks, 2, 20);
        cr_assert(eq(int, file->state, TARN_PARQUET_OK), "row %zu: %s", i, file->reason);
        const struct tarn_parquet_column *column = &file->columns[0];
        cr_assert(eq(int, column->has_null_count, k_rows[i].nulls >= 0), "row %zu", i);
        if (k_rows[i].nulls >= 0)
            cr_assert(eq(i64, column->null_count, k_rows[i].nulls), "row %zu", i);
        cr_assert(eq(i64, file->schema->root.fields[0].null_count, k_rows[i].nulls), "row %zu", i);
        cr_assert(eq(i64, file->schema->root.fields[0].row_count, 20));
        cr_assert(eq(i64, column->compressed_bytes, 100));
        cr_assert(eq(i64, file->rows, 20));
        cr_assert(eq(i64, file->row_groups, 2));
        same_text(column->min, k_rows[i].min, "min", i);
        same_text(column->max, k_rows[i].max, "max", i);
    }
}

Test(parquet_footer, statistics_take_the_form_of_the_manifest)
{
    struct chunk chunk = { .min = "\xe8\x03\0\0\0\0\0\0", .max = "\x88\x13\0\0\0\0\0\0", .len = 8 };
    TARN_AUTO(parquet) struct tarn_parquet *file = read_file("1; req i64 user_id", &chunk, 1, 10);
    __attribute__((cleanup(tarn_mem_freep))) char *text = tarn_parquet_column_stats(file);
    cr_assert(eq(str, text, "{\"user_id\":{\"min\":1000,\"max\":5000,\"nullCount\":0}}"));
    cr_assert(eq(str, file->created_by, "test"));

    struct chunk untold = { .nulls = -1 };
    TARN_AUTO(parquet) struct tarn_parquet *bare = read_file("1; req i64 user_id", &untold, 1, 10);
    cr_assert(zero(ptr, tarn_parquet_column_stats(bare)));

    struct chunk element = { .min = "a", .max = "b" };
    TARN_AUTO(parquet)
    struct tarn_parquet *list =
        read_file("1; opt group:1 l log=3; rep group:1 list; opt ba element str", &element, 1, 10);
    cr_assert(eq(int, list->state, TARN_PARQUET_OK), "%s", list->reason);
    cr_assert(zero(ptr, tarn_parquet_column_stats(list)));
}

Test(parquet_footer, a_group_has_no_nulls_when_one_of_its_leaves_has_none)
{
    struct chunk none = { .min = NULL }, some = { .nulls = 2 };
    TARN_AUTO(parquet) struct tarn_parquet *clear = read_file("1; opt group:1 s; opt i32 a", &none, 1, 10);
    TARN_AUTO(parquet) struct tarn_parquet *open = read_file("1; opt group:1 s; opt i32 a", &some, 1, 10);

    cr_assert(eq(i64, clear->schema->root.fields[0].null_count, 0));
    cr_assert(eq(i64, open->schema->root.fields[0].null_count, -1));
    cr_assert(eq(i64, open->schema->root.fields[0].type.fields[0].null_count, 2));
}

Test(parquet_footer, chunks_lie_inside_the_file)
{
    static const struct {
        struct chunk chunk;
        int64_t rows;
        enum tarn_parquet_state state;
        const char *reason;
    } k_rows[] = {
        { { .offset = 4, .size = 996 }, 10, TARN_PARQUET_OK, "" },
        { { .offset = 4, .size = 997 }, 10, TARN_PARQUET_CORRUPT, "outside" },
        { { .offset = 3 }, 10, TARN_PARQUET_CORRUPT, "outside" },
        { { .offset = 2000 }, 10, TARN_PARQUET_CORRUPT, "outside" },
        { { .offset = INT64_MAX, .size = INT64_MAX }, 10, TARN_PARQUET_CORRUPT, "outside" },
        { { .offset = 100, .dictionary = 4, .size = 996 }, 10, TARN_PARQUET_OK, "" },
        { { .offset = 100, .dictionary = 5, .size = 996 }, 10, TARN_PARQUET_CORRUPT, "outside" },
        { { .offset = 4, .dictionary = ZERO, .size = 996 },
          10,
          TARN_PARQUET_OK,
          "" }, /* 0: none, old parquet-mr */
        { { .size = -1 }, 10, TARN_PARQUET_CORRUPT, "impossible size" },
        { { .values = -1 }, 10, TARN_PARQUET_CORRUPT, "impossible size" },
        { { .values = ZERO, .offset = ZERO, .size = 15 },
          10,
          TARN_PARQUET_OK,
          "" },                                                             /* pyarrow's empty chunk */
        { { .offset = 5000, .elsewhere = true }, 10, TARN_PARQUET_OK, "" }, /* in another file */
        { { .no_metadata = true }, 10, TARN_PARQUET_CORRUPT, "no metadata" },
        { { .min = NULL }, 11, TARN_PARQUET_CORRUPT, "says 11 rows" },
        { { .min = NULL }, -1, TARN_PARQUET_CORRUPT, "impossible number" },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        TARN_AUTO(parquet)
        struct tarn_parquet *file = read_file("1; opt ba a str", &k_rows[i].chunk, 1, k_rows[i].rows);
        cr_assert(eq(int, file->state, k_rows[i].state), "row %zu: %s", i, file->reason);
        cr_assert(tarn_has(file->reason, k_rows[i].reason), "row %zu: %s", i, file->reason);
    }
}

Test(parquet_footer, every_cut_of_a_footer_is_corrupt)
{
    struct chunk chunk = { .min = "a", .max = "b" };
    __attribute__((cleanup(compact_done))) struct compact c = { 0 };

    put_file(&c, "1; opt ba a str", &chunk, 1, 10);
    size_t whole = c.out.len;
    for (c.out.len = 0; c.out.len < whole; c.out.len++) {
        TARN_AUTO(parquet) struct tarn_parquet *file = judge(&c);
        cr_assert(eq(int, file->state, TARN_PARQUET_CORRUPT), "%zu bytes", c.out.len);
        cr_assert(file->reason[0] != '\0');
    }
}

/* A field 99 that no version has, of the type and bytes given, before all others. */
static struct tarn_parquet *with_unknown(int type, const void *bytes, size_t len)
{
    __attribute__((cleanup(compact_done))) struct compact c = { 0 };

    compact_header(&c, 99, type);
    tarn_buf_add(&c.out, bytes, len);
    compact_i32(&c, 1, 1);
    compact_schema(&c, "1; opt i32 a");
    compact_i64(&c, 3, 0);
    compact_end(&c);
    return judge(&c);
}

Test(parquet_footer, what_is_unknown_is_skipped)
{
    static const struct {
        int type;
        const char *bytes;
        size_t len;
    } k_rows[] = {
        { 1, "", 0 },                                   /* true */
        { 3, "\x07", 1 },                               /* byte */
        { 7, "12345678", 8 },                           /* double */
        { 8, "\x03" "abc", 4 },                         /* binary */
        { 9, "\x21\x01\x02", 3 },                       /* list of two truth values */
        { 10, "\xf5\x0f" "0123456789abcde", 17 },       /* set of 15 ints */
        { 11, "\0", 1 },                                /* empty map */
        { 11, "\x01\x58\x02\x01" "x", 5 },              /* map of int to binary */
        { 12, "\x15\x02\x1c\x15\x02\0\0", 7 },          /* struct in a struct */
        { 9, "\x19\x19\x19\x15\x02", 5 },               /* lists in lists */
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        TARN_AUTO(parquet)
        struct tarn_parquet *file = with_unknown(k_rows[i].type, k_rows[i].bytes, k_rows[i].len);
        cr_assert(eq(int, file->state, TARN_PARQUET_OK), "row %zu: %s", i, file->reason);
    }
}

Test(parquet_footer, bombs_are_refused_before_they_cost_anything)
{
    static const struct {
        int type;
        const char *unit; /* repeated */
        const char *reason;
    } k_rows[] = {
        { 9, "\x19", "nests" },       /* a list of a list of a list ... */
        { 12, "\x1c", "nests" },      /* a struct in a struct ... */
        { 8, "\xff", "64 bits" },     /* a length without an end */
        { 9, "\xf9\xff\xff\xff\xff\x07", "longer than itself" },
        { 11, "\xff\xff\xff\xff\x07\x99", "longer than itself" },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        TARN_AUTO_DONE(buf) struct tarn_buf bytes = { 0 };
        for (int n = 0; n < 100000; n++)
            tarn_buf_adds(&bytes, k_rows[i].unit);
        TARN_AUTO(parquet) struct tarn_parquet *file = with_unknown(k_rows[i].type, bytes.data, bytes.len);
        cr_assert(eq(int, file->state, TARN_PARQUET_CORRUPT), "row %zu", i);
        cr_assert(tarn_has(file->reason, k_rows[i].reason), "row %zu: %s", i, file->reason);
    }
}

/* A chain of `groups` groups, each the only child of the one before. */
static enum tarn_parquet_state nested_groups(uint64_t groups)
{
    __attribute__((cleanup(compact_done))) struct compact c = { 0 };

    compact_list(&c, 2, T_STRUCT, groups + 1);
    for (uint64_t i = 0; i <= groups; i++) {
        compact_begin(&c);
        if (i == groups)
            compact_i32(&c, 1, 1);
        compact_text(&c, 4, "g");
        if (i < groups)
            compact_i32(&c, 5, 1);
        compact_end(&c);
    }
    compact_i64(&c, 3, 0);
    compact_end(&c);
    TARN_AUTO(parquet) struct tarn_parquet *file = judge(&c);
    return file->state;
}

Test(parquet_footer, a_schema_nests_at_most_a_hundred_levels)
{
    cr_assert(eq(int, nested_groups(100), TARN_PARQUET_OK));
    cr_assert(eq(int, nested_groups(101), TARN_PARQUET_CORRUPT));
    cr_assert(eq(int, nested_groups(50000), TARN_PARQUET_CORRUPT));
    cr_assert(eq(int, nested_groups(200000), TARN_PARQUET_TOO_LARGE));
}
