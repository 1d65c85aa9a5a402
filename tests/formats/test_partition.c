/* test_partition.c - partition values of Hive paths, and when two of them are one. */
#include "base/own.h"
#include "formats/partition.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

Test(partition, folders_of_a_path_name_keys_and_values)
{
    static const struct {
        const char *path, *json; /* NULL: none */
    } k_rows[] = {
        { "date=2024-01-01/hour=14/x.parquet", "{\"date\":\"2024-01-01\",\"hour\":\"14\"}" },
        { "x.parquet", NULL },
        { "a=b.parquet", NULL }, /* a file's name is no folder */
        { "sub/date=2024-01-01/deep/x.parquet", "{\"date\":\"2024-01-01\"}" },
        { "city=M%C3%BCnchen%2FNord/x", "{\"city\":\"München/Nord\"}" },
        { "my%20key=1/x", "{\"my key\":\"1\"}" },
        { "rate=100%/x", "{\"rate\":\"100%\"}" },
        { "raw=%ff/x", "{\"raw\":\"%ff\"}" },
        { "nul=%00/x", "{\"nul\":\"%00\"}" },
        { "country=__HIVE_DEFAULT_PARTITION__/x", "{\"country\":null}" },
        { "a=/x", "{\"a\":\"\"}" },
        { "a=b=c/x", "{\"a\":\"b=c\"}" },
        { "=b/x", NULL },
        { "a=1/a=2/x", "{\"a\":\"1\"}" },
        { "a=\xff/x", NULL },
        { "", NULL },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        json_auto_t *values = NULL;
        cr_assert(eq(int, tarn_partition_from_path(k_rows[i].path, &values, NULL), TARN_OK));
        __attribute__((cleanup(tarn_mem_freep))) char *text =
            values ? json_dumps(values, JSON_COMPACT) : NULL;
        cr_assert(eq(int, values != NULL, k_rows[i].json != NULL), "%s: %s", k_rows[i].path,
                  text ? text : "none");
        if (k_rows[i].json)
            cr_assert(eq(str, text, (char *)k_rows[i].json));
    }
}

Test(partition, one_value_has_many_spellings)
{
    static const struct {
        const char *a, *b;
        bool equal;
    } k_rows[] = {
        { "14", "14", true },         { "14", "\"14\"", true },
        { "\"014\"", "14", false },   { "\"014\"", "\"14\"", false },
        { "14.0", "14", false },      { "0.1", "\"0.1\"", true },
        { "0.1", "0.1", true },       { "0.1", "\"0.10\"", true },
        { "true", "\"true\"", true }, { "true", "\"TRUE\"", false },
        { "null", "null", true },     { "null", "\"__HIVE_DEFAULT_PARTITION__\"", true },
        { "null", "\"\"", false },    { "null", "\"null\"", false },
        { "\"a\"", "\"A\"", false },  { "-1", "\"-1\"", true },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        json_auto_t *a = json_loads(k_rows[i].a, JSON_DECODE_ANY, NULL);
        json_auto_t *b = json_loads(k_rows[i].b, JSON_DECODE_ANY, NULL);
        cr_assert(eq(int, tarn_partition_equal(a, b), k_rows[i].equal), "%s and %s", k_rows[i].a,
                  k_rows[i].b);
        cr_assert(eq(int, tarn_partition_equal(b, a), k_rows[i].equal), "%s and %s", k_rows[i].b,
                  k_rows[i].a);
    }
    cr_assert(tarn_partition_equal(NULL, json_null()));
    cr_assert(tarn_partition_is(json_null(), TARN_PARTITION_NULL));
}

Test(partition, a_number_lies_in_a_folder_with_zeros_before_it_and_an_empty_text_in_that_of_null)
{
    static const struct {
        const char *given, *folder;
        bool fits;
    } k_rows[] = {
        { "5", "\"05\"", true },     { "5", "\"5\"", true },     { "0", "\"00\"", true },  { "5", "\"50\"", false },
        { "\"5\"", "\"05\"", false }, { "-5", "\"05\"", false }, { "5.5", "\"05.5\"", true },
        { "\"\"", "null", true },    { "null", "null", true },   { "\"\"", "\"a\"", false }, { "0", "\"0x\"", false },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        json_auto_t *given = json_loads(k_rows[i].given, JSON_DECODE_ANY, NULL);
        json_auto_t *folder = json_loads(k_rows[i].folder, JSON_DECODE_ANY, NULL);
        cr_assert(eq(int, tarn_partition_fits(given, folder), k_rows[i].fits), "%s in %s", k_rows[i].given, k_rows[i].folder);
    }
}
