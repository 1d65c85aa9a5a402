/* test_prune.c - which files a query may leave out. Rows: statistics or partition values, the term, and whether the
 * file is kept; expected by arithmetic and by the order of dates, not by the code. */
#include "base/own.h"
#include "catalog/prune.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define LEAST TARN_PRUNE_AT_LEAST
#define MOST TARN_PRUNE_AT_MOST
#define SAME TARN_PRUNE_EQUALS

struct row {
    const char *column; /* statistics (or the partition's value) of the column c */
    enum tarn_prune_op op;
    const char *value;
    bool kept;
};

static bool kept(const char *stats, const char *values, int64_t records, enum tarn_prune_op op, const char *value)
{
    const struct tarn_prune_term term = { op, "c", value };
    const struct tarn_file file = { .path = "f", .records = records, .column_stats = stats,
                                    .partition_values = values };

    return tarn_prune_may_match(&term, 1, &file);
}

static void expect(const struct row *rows, size_t count, bool is_partition)
{
    for (size_t i = 0; i < count; i++) {
        char json[512];
        snprintf(json, sizeof json, "{\"x\":{\"min\":1,\"max\":1},\"c\":%s}", rows[i].column);
        bool was = kept(is_partition ? NULL : json, is_partition ? json : NULL, 10, rows[i].op, rows[i].value);
        cr_expect(was == rows[i].kept, "row %zu: %s, op %d, value '%s': %s", i, rows[i].column, (int)rows[i].op,
                  rows[i].value, was ? "kept" : "left out");
    }
}

#define N "{\"min\":10,\"max\":20}"
#define BIG "{\"min\":9007199254740992,\"max\":9007199254740993}"
#define LOW "{\"min\":-9223372036854775808,\"max\":9223372036854775807}"
#define F "{\"min\":0.1,\"max\":0.5}"
#define S "{\"min\":\"berlin\",\"max\":\"oslo\"}"
#define D "{\"min\":\"2024-01-10\",\"max\":\"2024-01-20\"}"
#define T "{\"min\":\"2024-01-10T00:00:00Z\",\"max\":\"2024-01-20T12:00:00.25Z\"}"
#define B "{\"min\":false,\"max\":false}"

Test(prune, whole_numbers_are_compared_exactly)
{
    static const struct row k_rows[] = {
        { N, LEAST, "20", true }, { N, LEAST, "21", false }, { N, LEAST, "-5", true },
        { N, MOST, "10", true }, { N, MOST, "9", false }, { N, MOST, "100", true },
        { N, SAME, "10", true }, { N, SAME, "15", true }, { N, SAME, "20", true }, { N, SAME, "9", false },
        { N, SAME, "21", false }, { N, SAME, "+15", true }, { N, SAME, "015", true },
        { BIG, LEAST, "9007199254740993", true }, { BIG, LEAST, "9007199254740994", false },
        { BIG, MOST, "9007199254740991", false }, { BIG, SAME, "9007199254740992", true },
        { LOW, LEAST, "9223372036854775807", true }, { LOW, LEAST, "9300000000000000000", false },
        { LOW, MOST, "-9300000000000000000", false }, { LOW, SAME, "18446744073709551615", false },
    };
    expect(k_rows, TARN_COUNT(k_rows), false);
}

Test(prune, other_numbers_are_compared_with_the_slack_of_a_float)
{
    static const struct row k_rows[] = {
        { N, LEAST, "20.5", false }, { N, LEAST, "19.5", true }, { N, SAME, "1.5e1", true }, { N, MOST, "9.99", false },
        { F, LEAST, "0.5", true }, { F, LEAST, "0.51", false }, { F, MOST, "0.09", false }, { F, MOST, "0.1", true },
        { F, LEAST, "1", false }, { F, SAME, "0", false }, { F, SAME, "0.3", true },
        /* the float nearest to 0.1 is 0.100000001490116 */
        { "{\"min\":0.1,\"max\":0.1}", LEAST, "0.1000000014", true },
        { "{\"min\":0.1,\"max\":0.1}", LEAST, "0.1001", false },
        { "{\"min\":0,\"max\":0}", SAME, "0.0", true }, { "{\"min\":0,\"max\":0}", LEAST, "1e-9", false },
    };
    expect(k_rows, TARN_COUNT(k_rows), false);
}

Test(prune, texts_are_compared_by_their_bytes)
{
    static const struct row k_rows[] = {
        { S, SAME, "cairo", true }, { S, SAME, "oslo", true }, { S, SAME, "paris", false }, { S, SAME, "aden", false },
        { S, LEAST, "oslo", true }, { S, LEAST, "oslo ", false }, { S, MOST, "Berlin", false }, { S, MOST, "", false },
        { S, LEAST, "", true }, { S, SAME, "\xc3\xa9vora", false },
        { "{\"min\":\"a\",\"max\":\"\xc3\xa9\"}", SAME, "z", true },
        { "{\"min\":\"\",\"max\":\"\"}", SAME, "", true }, { "{\"min\":\"\",\"max\":\"\"}", SAME, "a", false },
    };
    expect(k_rows, TARN_COUNT(k_rows), false);
}

Test(prune, dates_and_instants_are_compared_in_time)
{
    static const struct row k_rows[] = {
        { D, LEAST, "2024-01-20", true }, { D, LEAST, "2024-01-21", false }, { D, MOST, "2024-01-09", false },
        { D, SAME, "2024-01-15", true }, { D, MOST, "2023-12-31T23:00:00Z", false },
        { D, LEAST, "2024-01-20T00:00:00Z", true }, { D, LEAST, "2024-01-20T00:00:01Z", false },
        { T, LEAST, "2024-01-20T12:00:00Z", true }, /* before the .25 in bytes, after it in time */
        { T, LEAST, "2024-01-20T12:00:01Z", false }, { T, LEAST, "2024-01-20T14:00:00.2+02:00", true },
        { T, MOST, "2024-01-10", true }, { T, MOST, "2024-01-09", false }, { T, SAME, "2024-01-10T01:00:00+01:00", true },
        { T, MOST, "2024-01-09T23:59:59.999Z", false }, { T, LEAST, "2024-01-20T12:00:00.250000001Z", true },
        { T, LEAST, "2024-01-20 12:00:00", true },
    };
    expect(k_rows, TARN_COUNT(k_rows), false);
}

Test(prune, a_file_is_kept_when_nothing_is_proven)
{
    static const struct row k_rows[] = {
        { "{}", SAME, "5", true }, { "null", SAME, "5", true }, { "7", SAME, "5", true }, { "[]", SAME, "5", true },
        { "{\"min\":10}", SAME, "20", true }, { "{\"min\":10}", SAME, "9", false }, { "{\"max\":10}", MOST, "1", true },
        { "{\"min\":null,\"max\":null}", SAME, "5", true }, { "{\"min\":[],\"max\":{}}", SAME, "5", true },
        { N, SAME, "", true }, { N, SAME, "many", true }, { N, SAME, "0x5", true }, { N, SAME, "nan", true },
        { N, SAME, "inf", true }, { N, SAME, "5 ", true }, { N, SAME, "-", true }, { N, SAME, "1e999", true },
        { N, SAME, "true", true }, { B, SAME, "1", true }, { S, SAME, "5", false },
        /* texts that may be numbers: 9 is less than 10 as one, more as the other */
        { "{\"min\":\"10\",\"max\":\"20\"}", LEAST, "9", true }, { "{\"min\":\"10\",\"max\":\"20\"}", LEAST, "3", true },
        { "{\"min\":\"10\",\"max\":\"20\"}", LEAST, "30", false },
        { B, SAME, "true", false }, { B, SAME, "false", true }, { B, LEAST, "true", false }, { B, MOST, "false", true },
    };
    expect(k_rows, TARN_COUNT(k_rows), false);
    cr_expect(kept(NULL, NULL, -1, SAME, "5"));
    cr_expect(kept("not json", "nor this", 3, SAME, "5"));
    cr_expect(kept("{\"c\":{\"max\":99999999999999999999}}", NULL, 3, SAME, "5"));
    cr_expect(tarn_prune_may_match(NULL, 0, &(struct tarn_file){ .path = "f" }));
}

Test(prune, a_column_of_nulls_matches_nothing)
{
    cr_expect(not(kept("{\"c\":{\"nullCount\":10}}", NULL, 10, SAME, "5")));
    cr_expect(kept("{\"c\":{\"nullCount\":9}}", NULL, 10, SAME, "5"));
    cr_expect(kept("{\"c\":{\"nullCount\":10}}", NULL, -1, SAME, "5"));
    cr_expect(not(kept("{\"c\":{\"nullCount\":0}}", NULL, 0, SAME, "5")), "no rows at all");
    cr_expect(kept("{\"c\":{\"nullCount\":\"10\"}}", NULL, 10, SAME, "5"));
}

Test(prune, a_partition_value_is_exact)
{
    static const struct row k_rows[] = {
        { "14", SAME, "14", true }, { "14", SAME, "15", false }, { "14", LEAST, "9", true }, { "14", MOST, "9", false },
        { "\"14\"", SAME, "14", true }, { "\"14\"", LEAST, "9", true }, { "\"09\"", SAME, "9", true },
        { "\"09\"", SAME, "10", false }, { "\"eu\"", SAME, "eu", true }, { "\"eu\"", SAME, "us", false },
        { "\"2024-02-01\"", LEAST, "2024-02-02", false }, { "\"2024-02-01\"", MOST, "2024-02-02", true },
        { "null", SAME, "14", false }, { "null", LEAST, "", false }, { "true", SAME, "true", true },
        { "true", SAME, "false", false }, { "1.5", SAME, "1.50", true },
    };
    expect(k_rows, TARN_COUNT(k_rows), true);
    cr_expect(kept("{\"c\":{\"min\":1,\"max\":1}}", "{\"c\":5}", 1, SAME, "5"), "the path counts, not the statistics");
    cr_expect(kept("{\"c\":{\"min\":5,\"max\":5}}", "{\"d\":7}", 1, SAME, "5"), "another key");
}

Test(prune, all_terms_must_be_able_to_match)
{
    const struct tarn_file file = { .path = "f", .records = 10, .partition_values = "{\"d\":\"2024-02-01\"}",
                                    .column_stats = "{\"a.b\":{\"min\":1,\"max\":5}}" };
    const struct tarn_prune_term terms[] = { { LEAST, "a.b", "3" }, { SAME, "d", "2024-02-01" }, { MOST, "a.b", "0" } };

    cr_expect(tarn_prune_may_match(terms, 2, &file));
    cr_expect(not(tarn_prune_may_match(terms, 3, &file)));
}

/* Names move between versions: the statistics of an old file are of what its version called so. */
Test(prune, old_files_are_judged_under_their_own_names)
{
#define COLUMN(n, t) "{\"name\":\"" n "\",\"type\":\"" t "\"}"
#define STRUCT(f) "{\"type\":\"struct\",\"fields\":[" f "]}"
    static const struct tarn_schema_row k_rows[] = {
        { 1, (char *)STRUCT(COLUMN("a", "int32") "," COLUMN("b", "int32") "," COLUMN("day", "string")), NULL, 0 },
        { 2, (char *)STRUCT(COLUMN("b", "int32") "," COLUMN("a", "int32") "," COLUMN("day", "string")),
          (char *)"{\"a\":\"b\",\"b\":\"a\"}", 0 },
        { 3, (char *)STRUCT(COLUMN("b", "int64") "," COLUMN("a", "int32") "," COLUMN("c", "int32") ","
                            COLUMN("day", "string")), NULL, 0 },
    };
    static const struct { int64_t version; const char *column; enum tarn_prune_op op; const char *value; bool kept; } k_files[] = {
        /* statistics: a is 1 to 10, b 100 to 200, c 5 to 5; day is x */
        { 1, "b", MOST, "50", true }, { 1, "b", LEAST, "50", false }, { 1, "a", LEAST, "50", true },
        { 2, "b", MOST, "50", false }, { 2, "a", LEAST, "50", false }, { 3, "b", MOST, "50", false },
        { 0, "b", MOST, "50", false },            /* not known: read as the newest */
        { 1, "c", SAME, "9", true }, { 2, "c", SAME, "9", true }, { 3, "c", SAME, "9", false }, /* what is called c there is none */
        { 1, "day", SAME, "y", false }, { 1, "day", SAME, "x", true }, { 1, "other", SAME, "1", true },
        { 7, "c", SAME, "9", false },
    };
    static const char k_stats[] = "{\"a\":{\"min\":1,\"max\":10},\"b\":{\"min\":100,\"max\":200},\"c\":{\"min\":5,\"max\":5}}";

    for (size_t i = 0; i < TARN_COUNT(k_files); i++) {
        const struct tarn_prune_term term = { k_files[i].op, k_files[i].column, k_files[i].value };
        const struct tarn_file file = { .path = "f", .records = 10, .column_stats = k_stats,
                                        .partition_values = "{\"day\":\"x\"}", .schema_version = k_files[i].version };
        TARN_AUTO(prune) struct tarn_prune *prune = NULL;
        cr_assert(eq(int, tarn_prune_new(&term, 1, k_rows, 3, &prune, NULL), TARN_OK));
        cr_expect(tarn_prune_keeps(prune, &file) == k_files[i].kept, "row %zu", i);
    }
    TARN_AUTO(prune) struct tarn_prune *none = NULL;
    cr_assert(eq(int, tarn_prune_new(NULL, 0, NULL, 0, &none, NULL), TARN_OK));
    cr_expect(tarn_prune_keeps(none, &(struct tarn_file){ .path = "f" }));
}
