/* table.h - tables on disk for the tests of monitors/: the founding text's example, and small Parquet files. */
#ifndef TARN_TESTS_MONITORS_TABLE_H
#define TARN_TESTS_MONITORS_TABLE_H
#include "formats/parquet/parquet.h"
#include "tests/support/footer.h"
#include "tests/support/support.h"
#include <stdio.h>
#include <string.h>

#define SEED_NOW INT64_C(1706798100000)     /* 2024-02-01T14:35:00Z */
#define SEED_UPDATED INT64_C(1706797935000) /* 2024-02-01T14:32:15Z */
#define SEED_COLUMNS "3; req i64 user_id; req ba event_type str; opt f64 duration_seconds"

/* A Parquet file without rows that has these columns; its size. */
static size_t write_parquet(const char *path, const char *columns, int64_t mtime_ms)
{
    struct compact c = { 0 };
    struct tarn_buf file = { 0 };

    compact_begin(&c);
    compact_i32(&c, 1, 1);
    compact_schema(&c, columns);
    compact_i64(&c, 3, 0);
    compact_list(&c, 4, 12, 0);
    compact_end(&c);
    uint32_t len = (uint32_t)c.out.len;
    tarn_buf_adds(&file, "PAR1");
    tarn_buf_add(&file, c.out.data, c.out.len);
    tarn_buf_add(&file, &len, sizeof len); /* little-endian, as every machine that runs the tests */
    tarn_buf_adds(&file, "PAR1");
    tarn_write_file(path, file.data, file.len);
    tarn_set_mtime(path, mtime_ms);
    size_t size = file.len;
    compact_done(&c);
    tarn_buf_done(&file);
    return size;
}

static void write_entry(const char *folder, const char *id, const char *data_path, size_t size, int64_t mtime_ms)
{
    char name[256], text[1024];

    snprintf(name, sizeof name, "_transactions/%s.json", id);
    snprintf(text, sizeof text,
             "{\"id\":\"%s\",\"timestamp\":\"2024-02-01T14:30:00Z\",\"operations\":[{\"type\":\"add_file\",\"path\":\"%s\","
             "\"size\":%zu,\"partitionValues\":{\"date\":\"2024-02-01\",\"hour\":14}}],"
             "\"commitMetadata\":{\"author\":\"stream-processor\"}}",
             id, data_path, size);
    tarn_write_text(tarn_path(folder, name), text);
    tarn_set_mtime(tarn_path(folder, name), mtime_ms);
}

/* Version 123, newest transaction txn-12345, schema version 3, keys date and hour; txn-12344 has no entry, and a
 * registered file was modified 83 s after the manifest. */
static inline void write_seed_table(const char *folder)
{
    static const char k_schema[] =
        "{\"current_version\":3,\"schema\":{\"type\":\"struct\",\"fields\":["
        "{\"name\":\"user_id\",\"type\":\"int64\",\"nullable\":false},"
        "{\"name\":\"event_type\",\"type\":\"string\",\"nullable\":false},"
        "{\"name\":\"duration_seconds\",\"type\":\"double\",\"nullable\":true}]},\"versions\":["
        "{\"version\":1,\"schema\":{\"type\":\"struct\",\"fields\":["
        "{\"name\":\"user_id\",\"type\":\"int64\",\"nullable\":false},"
        "{\"name\":\"event_type\",\"type\":\"string\",\"nullable\":false}]}},"
        "{\"version\":2,\"schema\":{\"type\":\"struct\",\"fields\":["
        "{\"name\":\"user_id\",\"type\":\"int64\",\"nullable\":false},"
        "{\"name\":\"event_type\",\"type\":\"string\",\"nullable\":false},"
        "{\"name\":\"duration\",\"type\":\"int32\",\"nullable\":true}]}}]}";
    static const char *const k_paths[] = { "date=2024-02-01/hour=14/data-000123.parquet",
                                           "date=2024-02-01/hour=14/data-000124.parquet" };
    char manifest[2048];

    size_t size = write_parquet(tarn_path(folder, k_paths[0]), SEED_COLUMNS, SEED_UPDATED - 60000);
    write_parquet(tarn_path(folder, k_paths[1]), SEED_COLUMNS, SEED_UPDATED + 83000);
    write_entry(folder, "txn-12343", k_paths[0], size, SEED_UPDATED - 120000);
    write_entry(folder, "txn-12345", k_paths[1], size, SEED_UPDATED);
    snprintf(manifest, sizeof manifest,
             "{\"version\":123,\"last_updated\":\"2024-02-01T14:32:15Z\",\"files\":["
             "{\"path\":\"%s\",\"size\":%zu,\"partitionValues\":{\"date\":\"2024-02-01\",\"hour\":14},"
             "\"columnStats\":{\"user_id\":{\"min\":1000,\"max\":5000}}},"
             "{\"path\":\"%s\",\"size\":%zu,\"partitionValues\":{\"date\":\"2024-02-01\",\"hour\":14},"
             "\"columnStats\":{\"user_id\":{\"min\":1000,\"max\":5000}}}]}",
             k_paths[0], size, k_paths[1], size);
    const struct { const char *name, *text; } k_files[] = {
        { "manifest.json", manifest }, { "last_committed_txn", "txn-12345\n" }, { "schema.json", k_schema }
    };
    for (size_t i = 0; i < sizeof k_files / sizeof k_files[0]; i++) {
        tarn_write_text(tarn_path(folder, k_files[i].name), k_files[i].text);
        tarn_set_mtime(tarn_path(folder, k_files[i].name), SEED_UPDATED - (i == 2 ? 864000000 : 0));
    }
}
#endif
