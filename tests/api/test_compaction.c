/* Compactions: commits that change no data land on whatever version the table is at, as long as every file that they
 * take is still there; and they are not fresh data. */
#include "lake/publish.h"
#include "tests/support/lake.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define ADD(path)    "{\"type\":\"add_file\",\"path\":\"" path "\",\"size\":10}"
#define REMOVE(path) "{\"type\":\"remove_file\",\"path\":\"" path "\"}"
#define URL          "/api/table/t/commits"

static void commit(const char *body, unsigned status)
{
    cr_assert(eq(uint, tarn_ask("POST", URL, "%s", body), status), "%s gives %s", body, tarn_answer_text());
}

static void setup(void)
{
    tarn_lake_setup();
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\"}"), 201));
    commit("{\"operations\":[" ADD("a") "," ADD("b") "," ADD("c") "," ADD("d") "]}", 201);
}
TestSuite(compaction, .init = setup, .fini = tarn_lake_teardown, .timeout = 60);

#define COMPACT_AB "{\"dataChange\":false,\"operations\":[" REMOVE("a") "," REMOVE("b") "," ADD("ab") "]}"

Test(compaction, it_lands_on_a_newer_version_than_it_was_made_from)
{
    commit("{\"operations\":[" ADD("e") "]}", 201);
    commit("{\"expected_version\":2,\"operations\":[" REMOVE("c") "]}", 201);
    commit(COMPACT_AB, 201);
    cr_expect(eq(i64, tarn_answer_i64("version"), 4));
    cr_expect(eq(i64, tarn_answer_i64("files"), 3)); /* ab d e */
}

Test(compaction, a_file_that_is_no_longer_there_refuses_it_whole)
{
    static const struct { const char *before, *body, *path; } k_rows[] = {
        { COMPACT_AB, COMPACT_AB, "a" }, /* another compaction took them */
        { "{\"expected_version\":2,\"operations\":[" REMOVE("d") "]}",
          "{\"dataChange\":false,\"operations\":[" REMOVE("c") "," REMOVE("d") "," ADD("cd") "]}", "d" },
        /* replaced: by name it is there, and a compaction cannot know; the new one goes */
        { "{\"expected_version\":3,\"operations\":[" REMOVE("c") "," ADD("c") "]}",
          "{\"dataChange\":false,\"operations\":[" REMOVE("never") "," ADD("x") "]}", "never" },
    };

    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        commit(k_rows[i].before, 201);
        int64_t version = tarn_answer_i64("version"), files = tarn_answer_i64("files");
        commit(k_rows[i].body, 409);
        cr_expect(eq(str, (char *)tarn_answer_str("code"), "file_conflict"), "%s", tarn_answer_text());
        cr_expect(eq(str, (char *)tarn_answer_str("path"), (char *)k_rows[i].path), "%s", tarn_answer_text());
        cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/files", NULL), 200));
        cr_expect(eq(i64, tarn_answer_i64("version"), version));
        cr_expect(eq(i64, (int64_t)json_array_size(json_object_get(tarn_answer(), "files")), files));
    }
}

Test(compaction, one_that_names_a_stale_version_is_refused_by_it)
{
    commit("{\"operations\":[" ADD("e") "]}", 201);
    commit("{\"expected_version\":1,\"dataChange\":false,\"operations\":[" REMOVE("a") "]}", 409);
    cr_expect(eq(str, (char *)tarn_answer_str("code"), "version_conflict"));
    commit("{\"operations\":[" REMOVE("a") "]}", 400); /* it changes data: the version must be named */
}

Test(compaction, history_and_log_say_that_no_data_changed)
{
    TARN_ERR(err);

    commit(COMPACT_AB, 201);
    cr_assert(eq(uint, tarn_ask("GET", URL, NULL), 200));
    const json_t *commits = json_object_get(tarn_answer(), "commits");
    cr_expect(json_object_get(json_array_get(commits, 0), "data_change") == json_false());
    cr_expect(json_object_get(json_array_get(commits, 1), "data_change") == json_true());
    cr_assert(eq(int, tarn_publish_table(&g_lake->lake, 1, &err), TARN_OK), "%s", err.detail);
    char *entry = tarn_read_file(tarn_path(g_lake->root, "default/t/_transactions/txn-2.json"), NULL);
    cr_expect(tarn_has(entry, "\"dataChange\":false"));
    free(entry);
}

/* The instant of the last commit that changed data stays what it was. */
Test(compaction, it_is_not_fresh_data)
{
    char before[64];
    TARN_ERR(err);

    cr_assert(eq(int, tarn_publish_table(&g_lake->lake, 1, &err), TARN_OK));
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/check", NULL), 200), "%s", tarn_answer_text());
    snprintf(before, sizeof before, "%s",
             json_string_value(json_object_get(json_object_get(tarn_answer(), "details"), "last_data_commit")));
    commit(COMPACT_AB, 201);
    cr_assert(eq(int, tarn_publish_table(&g_lake->lake, 1, &err), TARN_OK));
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/check", NULL), 200));
    cr_expect(eq(str, (char *)json_string_value(json_object_get(json_object_get(tarn_answer(), "details"),
                                                                 "last_data_commit")), before));
}
