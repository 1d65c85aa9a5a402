/* The end of history: what goes, what stays readable, what a replay still knows, what lies on storage; and the
 * checkpoints without which no log entry goes. */
#include "base/time.h"
#include "lake/expire.h"
#include "lake/publish.h"
#include "lake/sweep.h"
#include "tests/support/lake.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#define COMMITS "/api/table/t/commits"
#define EVERY   5 /* commits between two checkpoints */
#define KEEP    3 /* history.versions */

static char s_location[600];

static void set_history(void)
{
    g_lake->lake.checkpoint_every = EVERY;
    g_lake->lake.history_versions = KEEP;
    g_lake->lake.history_retention_ms = TARN_DAY_MS;
}

static void setup(void)
{
    tarn_lake_setup();
    set_history();
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\"}"), 201));
    snprintf(s_location, sizeof s_location, "%s", tarn_answer_str("location"));
}
TestSuite(expire, .init = setup, .fini = tarn_lake_teardown, .timeout = 60);

static void publish(void)
{
    TARN_ERR(err);
    cr_assert(eq(int, tarn_publish_table(&g_lake->lake, 1, &err), TARN_OK), "%s", err.detail);
}

/* Version n adds f<n> and removes f<n-1>, which lie there; every third one has a name of the client's own. */
static void commit_up_to(int from, int to)
{
    char name[32], body[512], remove[80];

    for (int n = from; n <= to; n++) {
        snprintf(name, sizeof name, "f%02d.parquet", n);
        tarn_write_text(tarn_path(s_location, name), "abc");
        snprintf(remove, sizeof remove, ",{\"type\":\"remove_file\",\"path\":\"f%02d.parquet\"}", n - 1);
        int len = snprintf(body, sizeof body, "{\"expected_version\":%d,", n - 1);
        if (n % 3 == 0)
            len += snprintf(body + len, sizeof body - (size_t)len, "\"transaction_id\":\"txn-%d\",", n);
        snprintf(body + len, sizeof body - (size_t)len,
                 "\"commitMetadata\":{\"author\":\"me\"},\"operations\":[{\"type\":\"add_file\",\"path\":\"%s\",\"size\":3}%s]}", name,
                 n > 1 ? remove : "");
        cr_assert(eq(uint, tarn_ask("POST", COMMITS, "%s", body), 201), "%s gives %s", body, tarn_answer_text());
        publish();
    }
}

static void expire_at(int64_t later_ms)
{
    TARN_ERR(err);
    cr_assert(eq(int, tarn_expire_table(&g_lake->lake, 1, tarn_now_ms() + later_ms, &err), TARN_OK), "%s", err.detail);
}

static int64_t oldest(void)
{
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t", NULL), 200));
    return tarn_answer_i64("oldest_version");
}

static bool lies(const char *name)
{
    char path[700];

    snprintf(path, sizeof path, "%s/_transactions/%s", s_location, name);
    return tarn_file_exists(path);
}

static bool entry_lies(int n)
{
    char name[64];

    snprintf(name, sizeof name, "txn-%d.json", n);
    return lies(name);
}

Test(expire, a_checkpoint_is_a_copy_of_the_manifest_of_its_version)
{
    commit_up_to(1, 4);
    cr_expect(not(lies("txn-4.checkpoint.json")));
    commit_up_to(5, 5);
    cr_expect(lies("txn-5.checkpoint.json"));
    char *manifest = tarn_read_file(tarn_path(s_location, "manifest.json"), NULL);
    char *checkpoint = tarn_read_file(tarn_path(s_location, "_transactions/txn-5.checkpoint.json"), NULL);
    cr_expect(eq(str, checkpoint, manifest));
    free(manifest);
    free(checkpoint);
    commit_up_to(6, 10);
    cr_expect(not(lies("txn-9.checkpoint.json")));
    cr_expect(lies("txn-10.checkpoint.json"));
}

Test(expire, nothing_goes_before_its_time)
{
    commit_up_to(1, 10);
    expire_at(TARN_DAY_MS - TARN_MINUTE_MS);
    cr_expect(eq(i64, oldest(), 0));
    cr_expect(entry_lies(1));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/files?version=1", NULL), 200));
}

Test(expire, a_namespace_may_keep_more_or_less)
{
    commit_up_to(1, 10);
    cr_assert(eq(uint, tarn_ask("PATCH", "/api/namespaces/default", "{\"history\":{\"retention\":\"3d\"}}"), 200));
    expire_at(2 * TARN_DAY_MS);
    cr_expect(eq(i64, oldest(), 0));
    cr_assert(eq(uint, tarn_ask("PATCH", "/api/namespaces/default", "{\"history\":{\"retention\":\"1h\"}}"), 200));
    expire_at(2 * TARN_HOUR_MS);
    cr_expect(eq(i64, oldest(), 8));
}

/* KEEP versions stay whatever their age. */
Test(expire, what_no_kept_version_needs_goes)
{
    commit_up_to(1, 13);
    expire_at(2 * TARN_DAY_MS);
    cr_expect(eq(i64, oldest(), 11));
    cr_expect(eq(uint, tarn_ask("GET", "/api/table/t/files?version=10", NULL), 404));
    cr_expect(eq(str, (char *)tarn_answer_str("code"), "version_expired"), "%s", tarn_answer_text());
    cr_expect(eq(i64, tarn_answer_i64("oldest_version"), 11));
    cr_expect(eq(uint, tarn_ask("POST", "/api/table/t/rollback", "{\"expected_version\":13,\"to_version\":10}"), 404));
    cr_expect(eq(str, (char *)tarn_answer_str("code"), "version_expired"), "%s", tarn_answer_text());
    for (int v = 11; v <= 13; v++) {
        char target[64], path[32];
        snprintf(target, sizeof target, "/api/table/t/files?version=%d", v);
        snprintf(path, sizeof path, "f%02d.parquet", v);
        cr_assert(eq(uint, tarn_ask("GET", target, NULL), 200), "%s", tarn_answer_text());
        const json_t *files = json_object_get(tarn_answer(), "files");
        cr_assert(eq(sz, json_array_size(files), 1));
        cr_expect(eq(str, (char *)json_string_value(json_object_get(json_array_get(files, 0), "path")), path));
    }
    /* The log begins with the checkpoint of version 10: the older one and the entries before it are gone. */
    cr_expect(lies("txn-10.checkpoint.json"));
    cr_expect(not(lies("txn-5.checkpoint.json")));
    for (int n = 1; n <= 13; n++)
        cr_expect(eq(int, entry_lies(n), n >= 10), "txn-%d", n);
    cr_expect(tarn_file_exists(tarn_path(s_location, "f01.parquet"))); /* never a data file */
    cr_assert(eq(uint, tarn_ask("GET", COMMITS, NULL), 200));
    cr_expect(eq(sz, json_array_size(json_object_get(tarn_answer(), "commits")), 4)); /* 10 to 13 */
}

static tarn_code note_retired(void *ctx, const struct tarn_retired_file *file, struct tarn_err *err)
{
    (void)err;
    tarn_buf_addf(ctx, "%.3s ", file->path);
    return TARN_OK;
}

static tarn_code retired_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return tx->ops->retired.page(tx, 1, "", 100, note_retired, ctx, err);
}

static void expect_retired(const char *expected)
{
    TARN_AUTO_DONE(buf) struct tarn_buf paths = { 0 };

    cr_assert(eq(int, tarn_store_read(g_lake->store, retired_tx, &paths, NULL), TARN_OK));
    cr_expect(eq(str, paths.data ? paths.data : (char *)"", (char *)expected));
}

Test(expire, a_removed_file_is_remembered_as_long_as_it_lies_there)
{
    commit_up_to(1, 8);
    tarn_remove_tree(tarn_path(s_location, "f02.parquet"));
    expire_at(2 * TARN_DAY_MS);
    cr_expect(eq(i64, oldest(), 6));
    expect_retired("f01 f03 f04 f05 ");
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/reclaimable", NULL), 200), "%s", tarn_answer_text());
    size_t i;
    json_t *file;
    json_array_foreach (json_object_get(tarn_answer(), "files"), i, file)
        cr_expect(eq(str, (char *)json_string_value(json_object_get(file, "reason")), "removed"));
    cr_expect(eq(sz, i, 4));
    tarn_remove_tree(tarn_path(s_location, "f03.parquet"));
    tarn_remove_tree(tarn_path(s_location, "f05.parquet"));
    commit_up_to(9, 9);
    expire_at(2 * TARN_DAY_MS);
    expect_retired("f01 f04 f06 ");
}

Test(expire, without_a_checkpoint_the_log_stays)
{
    commit_up_to(1, 4);
    expire_at(2 * TARN_DAY_MS);
    cr_expect(eq(i64, oldest(), 2));
    for (int n = 1; n <= 4; n++)
        cr_expect(entry_lies(n));
    cr_assert(eq(uint, tarn_ask("GET", COMMITS, NULL), 200));
    cr_expect(eq(sz, json_array_size(json_object_get(tarn_answer(), "commits")), 4));
    commit_up_to(5, 13);
    expire_at(2 * TARN_DAY_MS);
    cr_expect(eq(i64, oldest(), 11));
    cr_expect(not(entry_lies(1)));
}

/* A transaction id is known as long as the table: nothing is applied twice. */
Test(expire, a_replay_from_before_still_gets_its_answer)
{
    static const char k_third[] =
        "{\"transaction_id\":\"txn-3\",\"commitMetadata\":{\"author\":\"me\"},\"expected_version\":2,\"operations\":["
        "{\"type\":\"add_file\",\"path\":\"f03.parquet\",\"size\":3},{\"type\":\"remove_file\",\"path\":\"f02.parquet\"}]}";

    commit_up_to(1, 13);
    expire_at(2 * TARN_DAY_MS);
    cr_assert(eq(uint, tarn_ask("POST", COMMITS, "%s", k_third), 200), "%s", tarn_answer_text());
    cr_expect(eq(i64, tarn_answer_i64("version"), 3));
    cr_expect(eq(uint, tarn_ask("GET", COMMITS "/txn-3", NULL), 404));
    cr_expect(eq(str, (char *)tarn_answer_str("code"), "version_expired"), "%s", tarn_answer_text());
    cr_expect(eq(uint, tarn_ask("GET", COMMITS "/txn-4", NULL), 404));
    cr_expect(eq(uint, tarn_ask("GET", COMMITS "/txn-12", NULL), 200));
}

Test(expire, what_storage_does_not_show_yet_stays)
{
    commit_up_to(1, 2);
    for (int n = 3; n <= 13; n++)
        cr_assert(eq(uint, tarn_ask("POST", COMMITS, "{\"operations\":[{\"type\":\"add_file\",\"path\":\"g%d\",\"size\":1}]}", n), 201));
    expire_at(2 * TARN_DAY_MS);
    cr_expect(eq(i64, oldest(), 2));
    publish();
    expire_at(2 * TARN_DAY_MS);
    cr_expect(eq(i64, oldest(), 11));
}

Test(expire, a_table_that_publishes_nothing_has_no_log_to_keep)
{
    cr_assert(eq(uint, tarn_ask("PATCH", "/api/table/t", "{\"publish\":false}"), 200));
    for (int n = 1; n <= 13; n++)
        cr_assert(eq(uint, tarn_ask("POST", COMMITS, "{\"operations\":[{\"type\":\"add_file\",\"path\":\"g%d\",\"size\":1}]}", n), 201));
    expire_at(2 * TARN_DAY_MS);
    cr_expect(eq(i64, oldest(), 11));
    cr_assert(eq(uint, tarn_ask("GET", COMMITS, NULL), 200));
    cr_expect(eq(sz, json_array_size(json_object_get(tarn_answer(), "commits")), 3));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/files", NULL), 200));
    cr_expect(eq(sz, json_array_size(json_object_get(tarn_answer(), "files")), 13));
}

/* A document that is not Tarn's under a name of Tarn's log is left where it is. */
Test(expire, a_foreign_document_in_the_log_stays)
{
    commit_up_to(1, 13);
    tarn_write_text(tarn_path(s_location, "_transactions/txn-4.json"), "{\"mine\":true}");
    expire_at(2 * TARN_DAY_MS);
    cr_expect(entry_lies(4));
    cr_expect(not(entry_lies(5)));
}

Test(expire, the_sweep_takes_all_tables_that_are_due)
{
    TARN_ERR(err);

    commit_up_to(1, 13);
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"other\"}"), 201));
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"gone\"}"), 201));
    cr_assert(eq(uint, tarn_ask("DELETE", "/api/table/gone", NULL), 204));
    cr_assert(eq(int, tarn_lake_sweep(&g_lake->lake, tarn_now_ms() + 2 * TARN_DAY_MS, &err), TARN_OK), "%s", err.detail);
    cr_expect(eq(i64, oldest(), 11));
}

/* An expiry that a crash cut short is done again: here, between the files and the rows. */
Test(expire, a_round_that_was_cut_short_is_run_again)
{
    commit_up_to(1, 13);
    tarn_remove_tree(tarn_path(s_location, "_transactions/txn-1.json"));
    tarn_remove_tree(tarn_path(s_location, "_transactions/txn-2.json"));
    tarn_lake_restart();
    set_history();
    expire_at(2 * TARN_DAY_MS);
    cr_expect(eq(i64, oldest(), 11));
    cr_expect(not(entry_lies(3)));
    expire_at(2 * TARN_DAY_MS);
    cr_expect(eq(i64, oldest(), 11));
}

/* --- the monitors --- */

static void expect_findings(const char *expected)
{
    char text[600] = "";
    size_t i;
    json_t *finding;

    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/check?depth=sweep", NULL), 200), "%s", tarn_answer_text());
    json_array_foreach(json_object_get(tarn_answer(), "findings"), i, finding)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s %s", i ? "; " : "",
                 json_string_value(json_object_get(finding, "code")), json_string_value(json_object_get(finding, "severity")));
    cr_expect(eq(str, text, (char *)expected), "%s", tarn_answer_text());
}

static void age_data_files(int last)
{
    char name[32];

    for (int n = 1; n <= last; n++) {
        snprintf(name, sizeof name, "f%02d.parquet", n);
        tarn_set_mtime(tarn_path(s_location, name), tarn_now_ms() - TARN_DAY_MS); /* past every grace */
    }
}

Test(expire, a_cut_log_is_no_hole_and_a_removed_file_no_stranger)
{
    commit_up_to(1, 13);
    age_data_files(13);
    expect_findings("corrupt_data_file error"); /* the fixture's files are three letters */
    expire_at(2 * TARN_DAY_MS);
    age_data_files(13);
    expect_findings("corrupt_data_file error; history_truncated info");
    cr_expect(eq(i64, json_integer_value(json_object_get(json_object_get(tarn_answer(), "details"), "reclaimable_files")), 10));
    commit_up_to(14, 15);
    expect_findings("history_truncated info"); /* the corrupt one is gone, the newest may be in the middle of being written */
    age_data_files(15);
    expect_findings("corrupt_data_file error; history_truncated info");
}

/* A checkpoint lies in the log's folder and is no entry: neither for the look before the first commit, nor for
 * who takes the folder over. */
Test(expire, a_checkpoint_is_never_taken_for_an_entry)
{
    commit_up_to(1, 6);
    tarn_lake_restart();
    set_history();
    cr_assert(eq(uint, tarn_ask("POST", COMMITS, "{\"operations\":[{\"type\":\"add_file\",\"path\":\"x\",\"size\":1}]}"), 201), "%s",
              tarn_answer_text());
    publish();
    cr_assert(eq(uint, tarn_ask("PATCH", "/api/table/t", "{\"mode\":\"observed\"}"), 200), "%s", tarn_answer_text());
    cr_assert(eq(uint, tarn_ask("DELETE", "/api/table/t", NULL), 204));
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"again\",\"location\":\"%s\",\"mode\":\"observed\"}", s_location),
                 201), "%s", tarn_answer_text());
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/again/check", NULL), 200), "%s", tarn_answer_text());
    cr_expect(eq(str, (char *)tarn_answer_str("latest_transaction"), "txn-7"));
    cr_expect(eq(i64, tarn_answer_i64("version"), 7));
}
