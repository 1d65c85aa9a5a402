/* What a managed table's folder holds besides data: Tarn's own documents, and what history has left. None of it is a
 * finding; a batch that really waits is one. */
#include "lake/expire.h"
#include "monitors/monitors.h"
#include "tests/monitors/managed_table.h"

TestSuite(managed, .init = tarn_lake_setup, .fini = tarn_lake_teardown, .timeout = 60);

Test(managed, documents_of_tarn_and_for_other_readers_are_no_findings)
{
    table("");
    commit("a.parquet", NULL, "");
    publish();
    put("_symlink_format_manifest/manifest", "file:///lake/t/a.parquet\n");
    put("_symlink_format_manifest/d=1/manifest", "file:///lake/t/b.parquet\n");
    put("_symlink_format_manifest/d=1/odd.parquet", "PAR1");
    put("_transactions/txn-1.checkpoint.json", "{\"version\":1,\"files\":[]}");
    put("schema_cache.json", "{\"current_version\":1,\"mappings\":{}}");
    put("_conflicts/manifest.json", "{}");
    put("processed/2024-02-01/batch-1.json", "{\"batch_id\":\"2024-02-01/batch-1.parquet\",\"status\":\"completed\",\"num_records\":7}");
    cr_expect(eq(str, (char *)check(), ""));
}

Test(managed, a_first_commit_on_its_way_lacks_no_pointer)
{
    table("");
    publish();
    commit("a.parquet", NULL, "");
    put("_transactions/txn-1.json", "{\"id\":\"txn-1\",\"operations\":[]}"); /* the entry comes before the pointer */
    cr_expect(eq(str, (char *)check(), ""));
}

/* --- removed files --- */

static tarn_code retire_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return tx->ops->retired.retire(tx, 1, 2, 1000, ctx, err);
}

Test(managed, a_removed_file_is_none_that_nobody_registered_even_when_its_history_is_gone)
{
    bool left = true;
    TARN_ERR(err);

    table("");
    commit("a.parquet", NULL, "");
    commit("b.parquet", "a.parquet", "");
    publish();
    write_parquet(in_table("never.parquet"), COLUMNS, HOURS_AGO(5));
    cr_expect(eq(str, (char *)check(), "unregistered_data_file"));
    cr_expect(strstr(tarn_answer_text(), "never.parquet") != NULL);
    cr_assert(eq(int, tarn_store_write(g_lake->store, retire_tx, &left, &err), TARN_OK), "%s", err.detail);
    cr_assert(eq(int, left, false));
    cr_expect(eq(str, (char *)check(), "unregistered_data_file"));
    cr_expect(strstr(tarn_answer_text(), "a.parquet") == NULL, "%s", tarn_answer_text());
}

static void expect_reclaimable(int64_t files)
{
    const json_t *details = json_object_get(tarn_answer(), "details");

    cr_expect(eq(i64, json_integer_value(json_object_get(details, "reclaimable_files")), files), "%s", tarn_answer_text());
}

Test(managed, more_removed_files_than_a_page_are_all_known)
{
    TARN_ERR(err);
    TARN_AUTO_DONE(buf) struct tarn_buf adds = { 0 }, removes = { 0 };
    char name[64];

    table("");
    for (int i = 0; i < 4500; i++) {
        snprintf(name, sizeof name, "f%05d.parquet", i);
        tarn_buf_addf(&adds, "%s{\"type\":\"add_file\",\"path\":\"%s\",\"size\":4}", i ? "," : "", name);
        tarn_buf_addf(&removes, "%s{\"type\":\"remove_file\",\"path\":\"%s\"}", i ? "," : "", name);
        if (i % 500 == 0 || i == 4499)
            put(name, "PAR1");
    }
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/commits", "{\"operations\":[%s]}", adds.data), 201));
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/commits", "{\"expected_version\":1,\"operations\":[%s]}", removes.data), 201));
    publish();
    cr_expect(eq(str, (char *)check(), ""));
    expect_reclaimable(0); /* version 1 still has them */
    for (bool left = true; left;)
        cr_assert(eq(int, tarn_store_write(g_lake->store, retire_tx, &left, &err), TARN_OK), "%s", err.detail);
    cr_expect(eq(str, (char *)check(), ""));
    expect_reclaimable(10);
}

/* A scan that the end of the server cuts short has seen nothing: no finding, and none closed. */
Test(managed, a_server_that_stops_ends_a_scan)
{
    table("");
    commit("a.parquet", NULL, "");
    publish();
    cr_expect(eq(str, (char *)check(), ""));
    tarn_remove_tree(in_table("a.parquet"));
    atomic_store(&g_lake->lake.stopping, true);
    cr_expect(eq(uint, tarn_ask("POST", "/api/table/t/check?depth=sweep", NULL), 503), "%s", tarn_answer_text());
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/status", NULL), 200));
    cr_expect(eq(str, (char *)tarn_answer_str("severity"), "ok"), "%s", tarn_answer_text());
    atomic_store(&g_lake->lake.stopping, false);
    cr_expect(eq(str, (char *)check(), "missing_data_file"));
}

Test(managed, a_history_that_has_expired_is_told_and_is_no_fault)
{
    char path[32], before[32];
    TARN_ERR(err);

    g_lake->lake.checkpoint_every = 3;
    g_lake->lake.history_versions = 2;
    g_lake->lake.history_retention_ms = 0;
    table("");
    for (int i = 1; i <= 11; i++) {
        snprintf(path, sizeof path, "f%02d.parquet", i);
        snprintf(before, sizeof before, "f%02d.parquet", i - 1);
        size_t size = write_parquet(in_table(path), COLUMNS, HOURS_AGO(5));
        cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/commits",
                                    "{\"expected_version\":%d,\"operations\":[{\"type\":\"add_file\",\"path\":\"%s\",\"size\":%zu}%s%s%s]}",
                                    i - 1, path, size, i > 1 ? ",{\"type\":\"remove_file\",\"path\":\"" : "",
                                    i > 1 ? before : "", i > 1 ? "\"}" : ""), 201), "%s", tarn_answer_text());
        publish();
    }
    cr_expect(eq(str, (char *)check(), ""));
    cr_assert(eq(int, tarn_expire_table(&g_lake->lake, 1, tarn_now_ms() + 60000, &err), TARN_OK), "%s", err.detail);
    cr_assert(tarn_count_entries(in_table("_transactions")) < 11);
    cr_expect(eq(str, (char *)check(), "history_truncated"));
    cr_expect(eq(str, (char *)tarn_answer_str("severity"), "ok"));
    /* The same folder, as somebody without the catalog sees it. */
    const struct tarn_check_options options = { .location = tarn_path(g_lake->root, "t"), .format = -1, .now_ms = tarn_now_ms() };
    json_auto_t *status = NULL;
    enum tarn_severity severity;
    cr_assert(eq(int, tarn_check_run(&options, &status, &severity, &err), TARN_OK), "%s", err.detail);
    __attribute__((cleanup(tarn_mem_freep))) char *text = json_dumps(status, 0);
    cr_expect(strstr(text, "missing_transaction") == NULL && strstr(text, "unregistered_data_file:") == NULL &&
                  strstr(text, "\"history_truncated\"") != NULL,
              "%s", text);
}

/* --- partitions and statistics --- */

static void add(const char *path, const char *more)
{
    size_t size = write_parquet(in_table(path), COLUMNS, HOURS_AGO(5));

    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/commits", "{\"operations\":[{\"type\":\"add_file\",\"path\":\"%s\",\"size\":%zu%s}]}",
                                path, size, more), 201), "%s", tarn_answer_text());
}

Test(managed, partitions_and_statistics_are_judged_by_the_catalog)
{
    static const struct { const char *path, *more, *expected; } k_rows[] = {
        { "d=1/a.parquet", ",\"partitionValues\":{\"d\":1},\"columnStats\":{\"id\":{\"min\":1}}", "" },
        { "d=2/b.parquet", ",\"columnStats\":{\"id\":{\"min\":1}}", "" },
        { "d=2/c.parquet", "", "missing_column_stats" },
        { "d=3/d.parquet", ",\"partitionValues\":{\"d\":1}", "partition_drift missing_column_stats" },
        { "e.parquet", ",\"numRecords\":0", "missing_partition_values partition_drift missing_column_stats" },
    };
    table(",\"partition_keys\":[\"d\"],\"schema\":{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"int64\",\"nullable\":false}]}");
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        add(k_rows[i].path, k_rows[i].more);
        publish();
        cr_expect(eq(str, (char *)check(), (char *)k_rows[i].expected), "row %zu: %s", i, tarn_answer_text());
    }
}

/* --- documents of others --- */

static const char *subjects(const char *code)
{
    static char out[1024];
    size_t i, len = 0;
    json_t *finding;

    out[0] = '\0';
    json_array_foreach (json_object_get(tarn_answer(), "findings"), i, finding)
        if (strcmp(json_string_value(json_object_get(finding, "code")), code) == 0)
            len += (size_t)snprintf(out + len, sizeof out - len, "%s%s (%s)", len ? " " : "",
                                    json_string_value(json_object_get(finding, "subject")),
                                    json_is_string(json_object_get(finding, "cure"))
                                        ? json_string_value(json_object_get(finding, "cure")) : "none");
    return out;
}

static void keep(const char *name, char **text)
{
    size_t len;
    *text = tarn_read_file(in_table(name), &len);
}

Test(managed, each_document_that_somebody_else_wrote_is_named)
{
    static const struct { const char *name, *text, *codes, *subjects; } k_rows[] = {
        { "manifest.json", "{\"version\":1,\"files\":[]}", "foreign_write manifest_last_updated_missing", "manifest.json (republish)" },
        { "last_committed_txn", "txn-99\n", "pointer_mismatch", "" },
        { "schema.json", "{\"type\":\"struct\",\"fields\":[{\"name\":\"x\",\"type\":\"string\",\"nullable\":true}]}", "foreign_write",
          "schema.json (republish)" },
        { "schema.json", NULL, "schema_missing", "" },
        { "_transactions/txn-1.json", "{\"id\":\"txn-1\",\"operations\":[]}", "foreign_write", "_transactions/txn-1.json (republish)" },
        { "_transactions/txn-2.json", "{\"id\":\"txn-2\",\"operations\":[]}", "foreign_write", "_transactions/txn-2.json (adopt)" },
        { "_transactions/txn-1.json", "{\"id\"", "unreadable_transaction_log_entry", "" },
        { "last_committed_txn", "", "pointer_unreadable", "" },
        { "schema.json", "{", "schema_unreadable", "" },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        char *before = NULL;
        if (i == 0) {
            table(",\"schema\":{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"int64\",\"nullable\":false}]}");
            add("a.parquet", ",\"columnStats\":{\"id\":{\"min\":1}}");
            publish();
            cr_expect(eq(str, (char *)check(), ""));
        }
        if (tarn_file_exists(in_table(k_rows[i].name)))
            keep(k_rows[i].name, &before);
        if (k_rows[i].text)
            put(k_rows[i].name, k_rows[i].text);
        else
            tarn_remove_tree(in_table(k_rows[i].name));
        cr_expect(eq(str, (char *)check(), (char *)k_rows[i].codes), "row %zu", i);
        cr_expect(eq(str, (char *)subjects("foreign_write"), (char *)k_rows[i].subjects), "row %zu", i);
        if (k_rows[i].text)
            tarn_remove_tree(in_table(k_rows[i].name));
        if (before)
            put(k_rows[i].name, before);
        free(before);
        cr_expect(eq(str, (char *)check(), ""), "row %zu", i);
    }
}

Test(managed, an_entry_that_lay_there_before_tarn_is_no_foreign_write)
{
    write_parquet(in_table("a.parquet"), COLUMNS, HOURS_AGO(5));
    put("manifest.json", "{\"version\":1,\"last_updated\":\"2024-02-01T00:00:00Z\",\"files\":[]}");
    put("last_committed_txn", "txn-1");
    put("_transactions/txn-1.json", "{\"id\":\"txn-1\",\"timestamp\":\"2024-02-01T00:00:00Z\",\"operations\":[]}");
    put("_transactions/txn-3.json", "{\"id\":\"txn-3\",\"timestamp\":\"2024-02-01T00:00:00Z\",\"operations\":[]}");
    tarn_remove_tree(in_table("a.parquet"));
    table("");
    cr_expect(eq(str, (char *)check(), "transaction_gap"));
    add("b.parquet", "");
    publish();
    cr_expect(eq(str, (char *)check(), "transaction_gap"));
    tarn_write_text(in_table("_transactions/txn-9.json"), "{\"id\":\"txn-9\",\"operations\":[]}");
    tarn_set_mtime(in_table("_transactions/txn-9.json"), tarn_now_ms() + 1000);
    (void)check();
    cr_expect(eq(str, (char *)subjects("foreign_write"), "_transactions/txn-9.json (adopt)"));
    /* Commits leap over its number, which leaves nothing out; also when it is gone. */
    add("c.parquet", "");
    publish();
    cr_assert(tarn_file_exists(in_table("_transactions/txn-10.json")));
    tarn_remove_tree(in_table("_transactions/txn-9.json"));
    tarn_set_mtime(in_table("_transactions/txn-10.json"), HOURS_AGO(1));
    cr_expect(eq(str, (char *)check(), "transaction_gap"));
    cr_expect(eq(str, (char *)subjects("transaction_gap"), "txn-2 (none)"), "which was left out before Tarn");
}

Test(managed, an_older_schema_put_back_is_a_foreign_write)
{
    char *first = NULL;

    table(",\"schema\":{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"int64\",\"nullable\":false}]}");
    publish();
    keep("schema.json", &first);
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/schemas",
                                "{\"expected_version\":1,\"schema\":{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"int64\","
                                "\"nullable\":false},{\"name\":\"x\",\"type\":\"string\",\"nullable\":true}]}}"), 201), "%s", tarn_answer_text());
    cr_expect(eq(str, (char *)check(), ""), "it is on its way");
    publish();
    cr_expect(eq(str, (char *)check(), ""));
    put("schema.json", first);
    cr_expect(eq(str, (char *)check(), "foreign_write"));
    cr_expect(eq(str, (char *)subjects("foreign_write"), "schema.json (republish)"));
    free(first);
}

Test(managed, the_document_that_stopped_the_publication_is_named)
{
    table("");
    commit("a.parquet", NULL, "");
    publish();
    put("_transactions/txn-2.json", "{\"id\":\"txn-2\",\"operations\":[]}");
    add("b.parquet", ",\"numRecords\":0");
    TARN_ERR(err);
    cr_expect(eq(int, tarn_publish_table(&g_lake->lake, 1, &err), TARN_FOREIGN_WRITE));
    cr_expect(eq(str, (char *)check(), "foreign_write"));
    cr_expect(eq(str, (char *)subjects("foreign_write"), "_transactions/txn-2.json (republish)"));
}

Test(managed, details_tell_versions_and_lag)
{
    table("");
    for (int i = 0; i < 4; i++) {
        char path[32];
        snprintf(path, sizeof path, "%d.parquet", i);
        add(path, "");
    }
    publish();
    cr_expect(eq(str, (char *)check(), ""));
    const json_t *details = json_object_get(tarn_answer(), "details");
    const json_t *missing = json_object_get(details, "missing_versions");
    cr_expect(missing == NULL);
    cr_expect(eq(i64, json_integer_value(json_object_get(details, "publication_lag_seconds")), 0));
    cr_expect(eq(i64, json_integer_value(json_object_get(details, "oldest_version")), 0));
    cr_expect(ne(ptr, (void *)(uintptr_t)json_string_value(json_object_get(details, "last_commit")), NULL));
    tarn_remove_tree(in_table("_transactions/txn-2.json"));
    tarn_remove_tree(in_table("_transactions/txn-3.json"));
    cr_expect(eq(str, (char *)check(), "missing_transaction_log_entry"));
    details = json_object_get(tarn_answer(), "details");
    missing = json_object_get(details, "missing_versions");
    cr_assert(eq(sz, json_array_size(missing), 2), "%s", tarn_answer_text());
    cr_expect(eq(i64, json_integer_value(json_array_get(missing, 0)), 3));
    cr_expect(eq(i64, json_integer_value(json_array_get(missing, 1)), 2));
    cr_expect(eq(i64, json_integer_value(json_object_get(details, "missing_log_entries")), 2));
}
