/* Paths as other writers put them into documents, and other formats by name. */
#include "formats/manifest/manifest.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

Test(listed_path, spellings_of_one_file_are_one_path)
{
    static const struct { const char *written, *path, *fault; bool is_outside; } k_rows[] = {
        { "a.parquet", "a.parquet", NULL, false },
        { "d=1/a.parquet", "d=1/a.parquet", NULL, false },
        { "./d=1/a.parquet", "d=1/a.parquet", NULL, false },
        { "d=1//a.parquet", "d=1/a.parquet", NULL, false },
        { "d=1/./././a.parquet", "d=1/a.parquet", NULL, false },
        { "/lake/t/d=1/a.parquet", "d=1/a.parquet", NULL, false },
        { "/lake/t//d=1/a.parquet", "d=1/a.parquet", NULL, false },
        { "file:///lake/t/a.parquet", "a.parquet", NULL, false },
        { "file:/lake/t/a.parquet", "a.parquet", NULL, false },
        { "_d=1/a.parquet", "_d=1/a.parquet", NULL, false },
        { "a..b/c...parquet", "a..b/c...parquet", NULL, false },
        /* never looked at */
        { "../x.parquet", "../x.parquet", "it leads out of the table's folder", true },
        { "d=1/../a.parquet", "d=1/../a.parquet", "it leads out of the table's folder", true },
        { "d=1/..", "d=1/..", "it leads out of the table's folder", true },
        { "/etc/passwd", "/etc/passwd", "it leads out of the table's folder", true },
        { "/lake/t2/a.parquet", "/lake/t2/a.parquet", "it leads out of the table's folder", true },
        { "/lake/t/../t2/a.parquet", "/lake/t/../t2/a.parquet", "it leads out of the table's folder", true },
        { "s3://bucket/a.parquet", "s3://bucket/a.parquet", "it leads out of the table's folder", true },
        { "file://host/lake/t/a.parquet", "file://host/lake/t/a.parquet", "it leads out of the table's folder", true },
        { "d=1/", "d=1/", "it names no file", true },
        { ".", ".", "it names no file", true },
        { "./", "./", "it names no file", true },
        /* looked at, but in no place for data */
        { "staging/a.parquet", "staging/a.parquet", "it lies under staging/", false },
        { "./staging/a.parquet", "staging/a.parquet", "it lies under staging/", false },
        { "d/staging/a.parquet", "d/staging/a.parquet", NULL, false },
        { "processed/a.json", "processed/a.json", "it lies under processed/", false },
        { "_temp/a.parquet", "_temp/a.parquet", "it is hidden", false },
        { "d=1/.a.parquet", "d=1/.a.parquet", "it is hidden", false },
        { "_a=1.parquet", "_a=1.parquet", "it is hidden", false },
        { "manifest.json", "manifest.json", "it is a document of the lake", false },
        { "d/manifest.json", "d/manifest.json", NULL, false },
    };
    TARN_AUTO_DONE(buf) struct tarn_buf room = { 0 };

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct tarn_listed_path as;
        cr_assert(eq(int, tarn_listed_path_read(k_rows[i].written, "/lake/t", &room, &as, NULL), TARN_OK));
        cr_expect(eq(str, (char *)(uintptr_t)as.path, (char *)(uintptr_t)k_rows[i].path), "%s", k_rows[i].written);
        cr_expect(eq(str, (char *)(uintptr_t)(as.fault ? as.fault : ""), (char *)(uintptr_t)(k_rows[i].fault ? k_rows[i].fault : "")), "%s",
                  k_rows[i].written);
        cr_expect(eq(int, as.is_outside, k_rows[i].is_outside), "%s", k_rows[i].written);
    }
}

Test(listed_path, other_formats_are_known_by_their_names)
{
    static const struct { const char *path, *listed, *stray; } k_rows[] = {
        { "a.parquet", NULL, NULL },
        { "a.snappy.parquet", NULL, NULL },
        { "part-00000", NULL, NULL },
        { "csv", NULL, NULL },
        { "d=1/.csv", NULL, NULL },
        { "d=1/a.csv", "csv", "csv" },
        { "a.CSV", "csv", "csv" },
        { "a.csv.gz", "csv", "csv" },
        { "d=1/a.json", "json", "json" },
        { "d=1/a.json.zst", "json", "json" },
        { "config.json", "json", NULL }, /* for tools */
        { "notes/a.json", "json", NULL },
        { "a.ndjson", "json", "json" },
        { "a.orc", "orc", "orc" },
        { "a.avro", "avro", "avro" },
        { "metadata/snap-1.avro", "avro", NULL },
        { "d=1/readme.txt", "text", NULL },
        { "d=1/_committed.json", "json", NULL },
        { "_delta_log/0.json", "json", NULL },
        { "d=1/.a.csv.crc", NULL, NULL },
        { "staging/a.csv", "csv", NULL },
        { "d=1/a.gz", NULL, NULL },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        const char *listed = tarn_other_format(k_rows[i].path), *stray = tarn_stray_format(k_rows[i].path);
        cr_expect(eq(str, (char *)(uintptr_t)(listed ? listed : ""), (char *)(uintptr_t)(k_rows[i].listed ? k_rows[i].listed : "")), "%s", k_rows[i].path);
        cr_expect(eq(str, (char *)(uintptr_t)(stray ? stray : ""), (char *)(uintptr_t)(k_rows[i].stray ? k_rows[i].stray : "")), "%s", k_rows[i].path);
    }
}
