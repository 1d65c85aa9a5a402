/* test_manifest_read.c - manifests, log entries and the pointer as readers find them. The seed examples stand
 * here as the founding text prints them. */
#include "formats/manifest/manifest.h"
#include "tests/support/pieces.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

/* Every file as one line of text. */
static tarn_code note_file(void *ctx, const struct tarn_file *f, struct tarn_err *err)
{
    (void)err;
    tarn_buf_addf(ctx, "%s|%lld|%lld|%lld|%s|%s\n", f->path, (long long)f->size, (long long)f->records,
                  (long long)f->schema_version, f->partition_values ? f->partition_values : "-",
                  f->column_stats ? f->column_stats : "-");
    return TARN_OK;
}

static tarn_code note_op(void *ctx, const struct tarn_entry_op *op, struct tarn_err *err)
{
    tarn_buf_adds(ctx, op->is_add ? "+" : "-");
    return note_file(ctx, &op->file, err);
}

static tarn_code read_manifest(const char *json, size_t step, struct tarn_manifest_head *head,
                               struct tarn_buf *files, struct tarn_err *err)
{
    struct tarn_pieces t = { .at = json, .left = strlen(json), .step = step };
    return tarn_manifest_read(tarn_pieces_fill, &t, head, note_file, files, err);
}

static tarn_code read_entry(const char *json, struct tarn_entry_head *head, struct tarn_buf *ops,
                            struct tarn_err *err)
{
    struct tarn_pieces t = { .at = json, .left = strlen(json) };
    return tarn_entry_read(tarn_pieces_fill, &t, head, note_op, ops, err);
}

static const char k_seed_manifest[] =
    "{\n\"version\": 1,\n\"files\": [\n{\n\"path\": \"data/2024-01-01/001.parquet\",\n\"size\": 124387,\n"
    "\"partitionValues\": { \"date\": \"2024-01-01\" },\n\"columnStats\": {\n\"user_id\": { \"min\": 1000, "
    "\"max\": 5000 "
    "},\n\"event_type\": { \"distinctCount\": 3 }\n}\n}\n]\n}";

Test(manifest, the_seed_manifest_is_read_in_pieces_of_any_length)
{
    for (size_t step = 0; step < 9; step++) {
        struct tarn_manifest_head head = { 0 };
        TARN_AUTO_DONE(buf) struct tarn_buf files = { 0 };
        cr_assert(eq(int, read_manifest(k_seed_manifest, step, &head, &files, NULL), TARN_OK));
        cr_expect(eq(str, files.data,
                     "data/2024-01-01/001.parquet|124387|-1|0|{\"date\":\"2024-01-01\"}|"
                     "{\"user_id\":{\"min\":1000,\"max\":5000},\"event_type\":{\"distinctCount\":3}}\n"));
        cr_expect(eq(i64, head.version, 1));
        cr_expect(eq(i64, head.last_updated, -1));
        cr_expect(not(head.last_updated_bad));
        cr_expect(head.last_updated_text == NULL && head.catalog == NULL && head.transaction == NULL);
        tarn_manifest_head_done(&head);
    }
}

Test(manifest, members_come_in_any_order_and_unknown_ones_are_skipped)
{
    struct tarn_manifest_head head = { 0 };
    TARN_AUTO_DONE(buf) struct tarn_buf files = { 0 };
    const char *json =
        "\xef\xbb\xbf{\"x\":{\"files\":[1]},\"files\":[{\"new\":[[]],\"path\":\"a.parquet\",\"size\":null,"
        "\"numRecords\":7,\"schemaVersion\":2}],\"last_updated\":\"2024-02-01T14:32:15Z\",\"catalog\":\"c\","
        "\"table_uuid\":\"u\",\"table\":\"s.t\",\"transaction\":\"txn-7\",\"schema_version\":3,\"version\":"
        "9}";
    cr_assert(eq(int, read_manifest(json, 0, &head, &files, NULL), TARN_OK));
    cr_expect(eq(str, files.data, "a.parquet|-1|7|2|-|-\n"));
    cr_expect(eq(i64, head.version, 9));
    cr_expect(eq(i64, head.schema_version, 3));
    cr_expect(eq(str, head.catalog, "c"));
    cr_expect(eq(str, head.table_uuid, "u"));
    cr_expect(eq(str, head.table, "s.t"));
    cr_expect(eq(str, head.transaction, "txn-7"));
    cr_expect(eq(str, head.last_updated_text, "2024-02-01T14:32:15Z"));
    tarn_manifest_head_done(&head);
}

/* 2024-02-01T14:32:15Z is 1706797935 s after 1970 (date -u -d ... +%s). */
Test(manifest, last_updated_is_taken_in_every_spelling_seen)
{
    static const struct {
        const char *json;
        int64_t ms;
        enum tarn_time_form form;
        bool bad;
    } k_rows[] = {
        { "\"2024-02-01T14:32:15Z\"", 1706797935000, TARN_TIME_ZONED, false },
        { "\"2024-02-01T23:32:15+09:00\"", 1706797935000, TARN_TIME_ZONED, false },
        { "\"2024-02-01T14:32:15.250Z\"", 1706797935250, TARN_TIME_ZONED, false },
        { "\"2024-02-01T14:32:15\"", 1706797935000, TARN_TIME_NAIVE, false },
        { "1706797935", 1706797935000, TARN_TIME_EPOCH, false },
        { "1706797935.25", 1706797935250, TARN_TIME_EPOCH, false },
        { "1706797935250", 1706797935250, TARN_TIME_EPOCH, false },
        { "1706797935250000", 1706797935250, TARN_TIME_EPOCH, false },
        { "1706797935250000000", 1706797935250, TARN_TIME_EPOCH, false },
        { "null", -1, TARN_TIME_ZONED, false },
        { "\"yesterday\"", -1, TARN_TIME_ZONED, true },
        { "\"0001-01-01T00:00:00Z\"", -1, TARN_TIME_ZONED, true },
        { "\"2100-01-01T00:00:00Z\"", -1, TARN_TIME_ZONED, true },
        { "12", -1, TARN_TIME_EPOCH, true },
        { "1e300", -1, TARN_TIME_EPOCH, true },
        { "-1.5", -1, TARN_TIME_EPOCH, true },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        char json[128];
        struct tarn_manifest_head head = { 0 };
        snprintf(json, sizeof json, "{\"last_updated\":%s,\"files\":[]}", k_rows[i].json);
        cr_assert(eq(int, read_manifest(json, 0, &head, NULL, NULL), TARN_OK), "%s", json);
        cr_expect(eq(i64, head.last_updated, k_rows[i].ms), "%s", json);
        cr_expect(eq(int, head.last_updated_bad, k_rows[i].bad), "%s", json);
        if (k_rows[i].ms >= 0)
            cr_expect(eq(int, head.last_updated_form, k_rows[i].form), "%s", json);
        tarn_manifest_head_done(&head);
    }
}

Test(manifest, nonsense_is_refused_with_its_place)
{
    static const struct {
        const char *json, *field;
    } k_rows[] = {
        { "", "" },
        { "[]", "" },
        { "{", "" },
        { "{} x", "" },
        { "{\"files\":[]} x", "" },
        { "{\"version\":1}", "files" },
        { "{\"files\":null}", "files" },
        { "{\"files\":{}}", "files" },
        { "{\"files\":[],\"files\":[]}", "files" },
        { "{\"files\":[],\"version\":-1}", "version" },
        { "{\"files\":[],\"version\":\"1\"}", "version" },
        { "{\"files\":[],\"version\":1.5}", "version" },
        { "{\"files\":[],\"last_updated\":{}}", "last_updated" },
        { "{\"files\":[\"a.parquet\"]}", "files[0].path" },
        { "{\"files\":[{\"path\":\"a\"},{\"size\":1}]}", "files[1].path" },
        { "{\"files\":[{\"path\":\"\"}]}", "files[0].path" },
        { "{\"files\":[{\"path\":null}]}", "files[0].path" },
        { "{\"files\":[{\"path\":\"a\",\"path\":\"b\"}]}", "files[0].path" },
        { "{\"files\":[{\"path\":\"a\",\"size\":1.5}]}", "files[0].size" },
        { "{\"files\":[{\"path\":\"a\",\"size\":9223372036854775808}]}", "files[0].size" },
        { "{\"files\":[{\"path\":\"a\",\"partitionValues\":[]}]}", "files[0].partitionValues" },
        { "{\"files\":[{\"path\":\"a\",\"columnStats\":\"x\"}]}", "files[0].columnStats" },
        { "{\"files\":[{\"path\":\"a\\u0000b\"}]}", "" },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        TARN_ERR(err);
        TARN_AUTO_DONE(buf) struct tarn_buf files = { 0 };
        struct tarn_manifest_head head = { .version = 77 };
        cr_expect(eq(int, read_manifest(k_rows[i].json, 0, &head, &files, &err), TARN_INVALID), "%s",
                  k_rows[i].json);
        cr_expect(eq(str, err.field, (char *)k_rows[i].field), "%s", k_rows[i].json);
        cr_expect(eq(i64, head.version, 77));
    }
}

static tarn_code stop(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    (void)ctx;
    (void)file;
    return tarn_fail_code_field(err, TARN_FILE_CONFLICT, "mine", "no");
}

Test(manifest, a_visitor_s_error_comes_through_as_it_is)
{
    TARN_ERR(err);
    struct tarn_manifest_head head = { 0 };
    struct tarn_pieces t = { .at = k_seed_manifest, .left = strlen(k_seed_manifest) };
    cr_expect(eq(int, tarn_manifest_read(tarn_pieces_fill, &t, &head, stop, NULL, &err), TARN_FILE_CONFLICT));
    cr_expect(eq(str, err.field, "mine"));
}

Test(manifest, what_a_rebuilt_catalog_needs_is_read_back)
{
    static const struct {
        const char *json;
        int64_t created_at, first_version;
        const char *keys;
    } k_rows[] = {
        { "{\"created_at\":\"2024-02-01T14:30:00.5Z\",\"first_version\":7,\"partition_keys\":[\"date\", \"a\\\"b\"],"
          "\"files\":[]}",
          1706797800500, 7, "[\"date\",\"a\\\"b\"]" },
        { "{\"files\":[]}", -1, 0, NULL },
        { "{\"created_at\":7,\"first_version\":\"7\",\"partition_keys\":\"date\",\"files\":[]}", -1, 0, NULL },
        { "{\"created_at\":\"soon\",\"first_version\":-7,\"partition_keys\":[{\"name\":\"date\"}],\"files\":[]}", -1, 0,
          NULL },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct tarn_manifest_head head = { 0 };
        TARN_AUTO_DONE(buf) struct tarn_buf files = { 0 };
        cr_assert(eq(int, read_manifest(k_rows[i].json, 0, &head, &files, NULL), TARN_OK), "%s", k_rows[i].json);
        cr_expect(eq(i64, head.created_at, k_rows[i].created_at), "%s", k_rows[i].json);
        cr_expect(eq(i64, head.first_version, k_rows[i].first_version), "%s", k_rows[i].json);
        cr_expect(k_rows[i].keys ? head.partition_keys && strcmp(head.partition_keys, k_rows[i].keys) == 0
                                 : !head.partition_keys,
                  "%s", k_rows[i].json);
        tarn_manifest_head_done(&head);
    }
}

/* --- entries --- */

static const char k_seed_entry[] =
    "{\n\"id\": \"txn-12345\",\n\"timestamp\": \"2024-02-01T14:30:00Z\",\n\"operations\": [\n{\n\"type\": "
    "\"add_file\",\n"
    "\"path\": \"data/2024-02-01/hour=14/data-000123.parquet\",\n\"size\": 124387,\n\"partitionValues\": { "
    "\"date\": "
    "\"2024-02-01\", \"hour\": 14 }\n},\n{\n\"type\": \"remove_file\",\n\"path\": "
    "\"data/2024-01-31/hour=13/data-000122.parquet\"\n}\n],\n\"commitMetadata\": {\n\"author\": "
    "\"stream-processor\",\n"
    "\"description\": \"Ingested 2024-02-01 14:00–15:00 click events\"\n}\n}";

Test(entry, the_seed_entry_is_read)
{
    struct tarn_entry_head head = { 0 };
    TARN_AUTO_DONE(buf) struct tarn_buf ops = { 0 };
    cr_assert(eq(int, read_entry(k_seed_entry, &head, &ops, NULL), TARN_OK));
    cr_expect(eq(str, ops.data,
                 "+data/2024-02-01/hour=14/data-000123.parquet|124387|-1|0|"
                 "{\"date\":\"2024-02-01\",\"hour\":14}|-\n"
                 "-data/2024-01-31/hour=13/data-000122.parquet|-1|-1|0|-|-\n"));
    cr_expect(eq(str, head.id, "txn-12345"));
    cr_expect(eq(i64, head.timestamp, 1706797800000));
    cr_expect(eq(str, head.metadata,
                 "{\"author\":\"stream-processor\",\"description\":\"Ingested 2024-02-01 "
                 "14:00–15:00 click events\"}"));
    cr_expect(head.data_change);
    cr_expect(eq(i64, head.version, -1));
    cr_expect(eq(i64, head.adds, 1));
    cr_expect(eq(i64, head.removes, 1));
    cr_expect(eq(i64, head.bytes_added, 124387));
    tarn_entry_head_done(&head);
}

Test(entry, what_tarn_adds_is_read_back)
{
    struct tarn_entry_head head = { 0 };
    TARN_AUTO_DONE(buf) struct tarn_buf ops = { 0 };
    const char *json =
        "{\"operations\":[],\"dataChange\":false,\"version\":12,\"catalog\":\"c\",\"table_uuid\":\"u\","
        "\"group\":\"g\"}";
    cr_assert(eq(int, read_entry(json, &head, &ops, NULL), TARN_OK));
    cr_expect(not(head.data_change));
    cr_expect(eq(i64, head.version, 12));
    cr_expect(eq(str, head.catalog, "c"));
    cr_expect(eq(str, head.table_uuid, "u"));
    cr_expect(eq(str, head.group, "g"));
    cr_expect(head.id == NULL && head.metadata == NULL);
    cr_expect(eq(i64, head.timestamp, -1));
    tarn_entry_head_done(&head);
}

Test(entry, what_a_rebuilt_catalog_needs_is_read_back)
{
    struct tarn_entry_head head = { 0 };
    TARN_AUTO_DONE(buf) struct tarn_buf ops = { 0 };
    cr_assert(eq(int,
                 read_entry("{\"schema_version\":3,\"rollback_to\":0,\"body_sha256\":\"ab\",\"operations\":[],"
                            "\"batch_ids\":[\"a/b.parquet\", \"\\u00e9\\\"\"]}",
                            &head, &ops, NULL),
                 TARN_OK));
    cr_expect(eq(i64, head.schema_version, 3));
    cr_expect(eq(i64, head.rollback_to, 0));
    cr_expect(eq(str, head.body_sha256, "ab"));
    cr_expect(eq(str, head.batch_ids, "[\"a/b.parquet\",\"é\\\"\"]"));
    tarn_entry_head_done(&head);
}

Test(entry, such_members_of_another_type_are_somebody_else_s)
{
    static const char *const k_rows[] = {
        "{\"operations\":[]}",
        "{\"operations\":[],\"schema_version\":\"3\",\"rollback_to\":-1,\"body_sha256\":{\"a\":[1]},\"batch_ids\":7}",
        "{\"operations\":[],\"schema_version\":[3],\"rollback_to\":1.5,\"body_sha256\":1,\"batch_ids\":{\"a\":[]}}",
        "{\"operations\":[],\"schema_version\":null,\"batch_ids\":[\"a\",{\"b\":[1]},\"c\"]}",
        "{\"operations\":[],\"batch_ids\":[[\"a\"],\"c\"]}",
        "{\"operations\":[],\"batch_ids\":[]}",
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct tarn_entry_head head = { 0 };
        TARN_AUTO_DONE(buf) struct tarn_buf ops = { 0 };
        cr_assert(eq(int, read_entry(k_rows[i], &head, &ops, NULL), TARN_OK), "%s", k_rows[i]);
        cr_expect(eq(i64, head.schema_version, -1), "%s", k_rows[i]);
        cr_expect(eq(i64, head.rollback_to, -1), "%s", k_rows[i]);
        cr_expect(head.body_sha256 == NULL && head.batch_ids == NULL, "%s", k_rows[i]);
        tarn_entry_head_done(&head);
    }
}

Test(entry, nonsense_is_refused_with_its_place)
{
    static const struct {
        const char *json, *field;
    } k_rows[] = {
        { "{}", "operations" },
        { "{\"operations\":[{\"path\":\"a\"}]}", "operations[0].type" },
        { "{\"operations\":[{\"path\":\"a\",\"type\":\"move_file\"}]}", "operations[0].type" },
        { "{\"operations\":[{\"type\":\"add_file\"}]}", "operations[0].path" },
        { "{\"operations\":[{\"type\":\"remove_file\",\"path\":\"a\"},{\"type\":3,\"path\":\"b\"}]}",
          "operations[1].type" },
        { "{\"operations\":[],\"dataChange\":\"no\"}", "dataChange" },
        { "{\"operations\":[],\"id\":7}", "id" },
        { "{\"operations\":[{\"type\":\"add_file\",\"path\":\"a\",\"size\":9223372036854775807},"
          "{\"type\":\"add_file\",\"path\":\"b\",\"size\":1}]}",
          "" },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        TARN_ERR(err);
        TARN_AUTO_DONE(buf) struct tarn_buf ops = { 0 };
        struct tarn_entry_head head = { .version = 77 };
        cr_expect(eq(int, read_entry(k_rows[i].json, &head, &ops, &err), TARN_INVALID), "%s", k_rows[i].json);
        cr_expect(eq(str, err.field, (char *)k_rows[i].field), "%s", k_rows[i].json);
        cr_expect(eq(i64, head.version, 77));
    }
}

/* --- pointer and paths --- */

Test(pointer, blanks_and_marks_around_the_id_are_dropped)
{
    static const struct {
        const char *text, *id;
    } k_rows[] = {
        { "txn-12345", "txn-12345" },
        { "txn-12345\n", "txn-12345" },
        { "\xef\xbb\xbftxn-2\r\n", "txn-2" },
        { " \t txn-2 \n\n", "txn-2" },
        { "", NULL },
        { "\n", NULL },
        { "txn 2", NULL },
        { "../x", NULL },
        { "\"txn-2\"", NULL },
    };
    const char *folder = tarn_tmp();
    TARN_AUTO(place) struct tarn_place *place = NULL;
    cr_assert(eq(int, tarn_place_open_local(folder, &place, NULL), TARN_OK));
    char *id = NULL;
    cr_expect(eq(int, tarn_pointer_read(place, &id, NULL, NULL), TARN_NOT_FOUND));
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        tarn_write_text(tarn_path(folder, "last_committed_txn"), k_rows[i].text);
        tarn_code code = tarn_pointer_read(place, &id, NULL, NULL);
        cr_expect(eq(int, code, k_rows[i].id ? TARN_OK : TARN_INVALID), "'%s'", k_rows[i].text);
        if (code == TARN_OK)
            cr_expect(eq(str, id, (char *)k_rows[i].id));
        free(id);
        id = NULL;
    }
}

Test(paths, data_files_are_parquet_outside_the_lake_s_own_folders)
{
    static const struct {
        const char *path;
        bool is_data;
    } k_rows[] = {
        { "a.parquet", true },
        { "date=2024-02-01/hour=14/data-000123.parquet", true },
        { "data/2024-01-01/001.parquet", true },
        { "data/staging/001.parquet", true },
        { "stagings/001.parquet", true },
        { "staging/2024-02-01/14/batch-000123.parquet", false },
        { "processed/x.parquet", false },
        { "_temp/x.parquet", false },
        { "a/_temporary/x.parquet", false },
        { ".hidden.parquet", false },
        { "a/.x.parquet", false },
        { "_metadata", false },
        { "manifest.json", false },
        { "a.parquet.crc", false },
        { "_transactions/txn-1.json", false },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++)
        cr_expect(eq(int, tarn_is_data_file(k_rows[i].path), k_rows[i].is_data), "%s", k_rows[i].path);
}
