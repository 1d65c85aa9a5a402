/* A log entry is created, never overwritten: an id that lies on storage in an entry of somebody else is no id for a
 * commit, whichever way Tarn came to see it. */
#include "lake/publish.h"
#include "tests/support/lake.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

TestSuite(taken_ids, .init = tarn_lake_setup, .fini = tarn_lake_teardown, .timeout = 60);

static void put(const char *name, const char *text)
{
    char path[256];

    snprintf(path, sizeof path, "t/%s", name);
    tarn_write_text(tarn_path(g_lake->root, path), text);
}

static void put_entry(const char *file, const char *id)
{
    char name[160], text[256];

    snprintf(name, sizeof name, "_transactions/%s.json", file);
    snprintf(text, sizeof text, "{\"id\":\"%s\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"operations\":[]}", id);
    put(name, text);
}

/* The log of words "file" or "file=id inside"; "!file" holds no JSON. */
static void put_log(const char *words)
{
    char word[160], *inside;

    for (const char *at = words; *at; at += strspn(at, " ")) {
        size_t len = strcspn(at, " ");
        snprintf(word, sizeof word, "%.*s", (int)len, at);
        at += len;
        inside = strchr(word, '=');
        if (inside)
            *inside = '\0';
        if (word[0] == '!') {
            char name[170];
            snprintf(name, sizeof name, "_transactions/%s.json", word + 1);
            put(name, "{");
        } else {
            put_entry(word, inside ? inside + 1 : word);
        }
    }
}

static unsigned commit(const char *id, int n)
{
    char named[TARN_TXN_ID_MAX + 40] = "";

    if (id)
        snprintf(named, sizeof named, "\"transaction_id\":\"%s\",", id);
    return tarn_ask("POST", "/api/table/t/commits",
                    "{%s\"operations\":[{\"type\":\"add_file\",\"path\":\"n/%d.parquet\",\"size\":4}]}", named, n);
}

static void expect_published(const char *what)
{
    TARN_ERR(err);

    cr_expect(tarn_publish_table(&g_lake->lake, 1, &err) == TARN_OK, "%s: %s", what, err.detail);
}

static void expect_refused(const char *id, const char *what)
{
    unsigned status = commit(id, 999);

    cr_expect(status == 409 && strcmp(tarn_answer_str("code"), "transaction_exists") == 0 &&
                  strcmp(tarn_answer_str("field"), "transaction_id") == 0,
              "%s, %s: %u %s", what, id, status, tarn_answer_text());
}

/* --- adoption --- */

static const struct row {
    const char *what, *log, *pointer, *manifest_version;
    const char *next[3]; /* ids of commits that name none */
    const char *refused; /* one id that is taken, NULL: none */
} k_rows[] = {
    { "an uncommitted entry above the pointer", "txn-1 txn-2 txn-4", "txn-2", "2", { "txn-5", "txn-6", "txn-7" }, "txn-4" },
    { "several, with holes", "txn-1 txn-2 txn-4 txn-9", "txn-2", "2", { "txn-10", "txn-11", "txn-12" }, "txn-9" },
    { "one that is no JSON", "txn-1 txn-2 !txn-3", "txn-2", "2", { "txn-4", "txn-5", "txn-6" }, "txn-3" },
    { "a committed one that is no JSON", "!txn-1 txn-2", "txn-2", "2", { "txn-3", "txn-4", "txn-5" }, "txn-1" },
    { "a file named otherwise than the id inside", "txn-1 txn-3=txn-2", "txn-2", "2", { "txn-4", "txn-5", "txn-6" }, "txn-3" },
    { "the id inside of it", "txn-1 zzz=txn-3", "txn-1", "1", { "txn-4", "txn-5", "txn-6" }, "txn-3" },
    { "a pointer ahead", "txn-1 txn-2", "txn-7", "7", { "txn-8", "txn-9", "txn-10" }, "txn-7" },
    { "no pointer", "txn-1 txn-2", NULL, "2", { "txn-3", "txn-4", "txn-5" }, "txn-2" },
    { "no log", "", NULL, "3", { "txn-4", "txn-5", "txn-6" }, NULL },
    { "padded numbers", "txn-0001 txn-0002 txn-0004", "txn-0002", "2", { "txn-0005", "txn-0006", "txn-0007" }, "txn-0004" },
    { "numbers alone", "1 2 4", "2", "2", { "5", "6", "7" }, "4" },
    { "another prefix above", "txn-1 zz-8", "txn-1", "1", { "txn-2", "txn-3", "txn-4" }, "zz-8" },
    { "a pointer without a number", "alpha txn-3", "alpha", "1", { "txn-4", "txn-5", "txn-6" }, "txn-3" },
    { "a number at the end of all numbers", "txn-1 txn-999999999999999999", "txn-1", "1", { "txn-2", "txn-3", "txn-4" },
      "txn-999999999999999999" },
    { "a name that begins with a low line", "txn-1 _txn-2", "txn-1", "1", { "txn-2", "txn-3", "txn-4" }, "_txn-2" },
};

static void adopt_row(const struct row *row)
{
    char text[200];

    put_log(row->log);
    snprintf(text, sizeof text, "{\"version\":%s,\"files\":[]}", row->manifest_version);
    put("manifest.json", text);
    if (row->pointer)
        put("last_committed_txn", row->pointer);
    cr_assert(tarn_ask("POST", "/api/tables", "{\"name\":\"t\",\"location\":\"%s/t\"}", g_lake->root) == 201, "%s: %s",
              row->what, tarn_answer_text());
}

Test(taken_ids, after_an_adoption_the_next_id_is_above_all_that_lie_there)
{
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        const struct row *row = &k_rows[i];
        adopt_row(row);
        if (row->refused)
            expect_refused(row->refused, row->what);
        for (int n = 0; n < 3; n++) {
            cr_expect(commit(NULL, n) == 201 && strcmp(tarn_answer_str("transaction"), row->next[n]) == 0,
                      "%s: not %s: %s", row->what, row->next[n], tarn_answer_text());
            expect_published(row->what);
        }
        tarn_lake_teardown();
        tarn_lake_setup();
    }
}

Test(taken_ids, a_dry_run_takes_none)
{
    put_log("txn-1 txn-2 txn-4");
    put("manifest.json", "{\"version\":2,\"files\":[]}");
    put("last_committed_txn", "txn-2");
    cr_assert(tarn_ask("POST", "/api/tables", "{\"name\":\"t\",\"location\":\"%s/t\",\"dry_run\":true}", g_lake->root) == 200);
    tarn_remove_tree(tarn_path(g_lake->root, "t/_transactions/txn-4.json"));
    cr_assert(tarn_ask("POST", "/api/tables", "{\"name\":\"t\",\"location\":\"%s/t\"}", g_lake->root) == 201);
    cr_expect(commit(NULL, 1) == 201 && strcmp(tarn_answer_str("transaction"), "txn-3") == 0, "%s", tarn_answer_text());
    cr_expect(commit("txn-4", 2) == 201, "%s", tarn_answer_text());
}

/* A link is not followed and a folder is no entry, but neither leaves the name free. */
Test(taken_ids, whatever_bears_the_name_takes_it)
{
    put_log("txn-1");
    put("manifest.json", "{\"version\":1,\"files\":[]}");
    put("last_committed_txn", "txn-1");
    cr_assert(symlink("txn-1.json", tarn_path(g_lake->root, "t/_transactions/txn-2.json")) == 0);
    tarn_make_folder(tarn_path(g_lake->root, "t/_transactions/txn-3.json"));
    cr_assert(tarn_ask("POST", "/api/tables", "{\"name\":\"t\",\"location\":\"%s/t\"}", g_lake->root) == 201, "%s",
              tarn_answer_text());
    expect_refused("txn-2", "a link");
    expect_refused("txn-3", "a folder");
    cr_expect(commit(NULL, 1) == 201 && strcmp(tarn_answer_str("transaction"), "txn-4") == 0, "%s", tarn_answer_text());
    expect_published("beside a link and a folder");
}

/* --- later --- */

static void born_here(void)
{
    cr_assert(tarn_ask("POST", "/api/tables", "{\"name\":\"t\",\"location\":\"%s/t\"}", g_lake->root) == 201);
    cr_assert(commit(NULL, 1) == 201);
    expect_published("the first commit");
}

Test(taken_ids, a_scan_sees_what_others_write_meanwhile)
{
    born_here();
    put_log("txn-3 txn-5 !word");
    cr_assert(tarn_ask("POST", "/api/table/t/check", NULL) == 200, "%s", tarn_answer_text());
    expect_refused("txn-3", "after a scan");
    expect_refused("txn-5", "after a scan");
    expect_refused("word", "after a scan");
    cr_expect(commit(NULL, 2) == 201 && strcmp(tarn_answer_str("transaction"), "txn-6") == 0, "%s", tarn_answer_text());
    expect_published("after a scan");
}

Test(taken_ids, the_first_look_after_a_start_sees_it_too)
{
    born_here();
    put_log("txn-2 txn-3");
    tarn_lake_restart();
    cr_expect(commit(NULL, 2) == 201 && strcmp(tarn_answer_str("transaction"), "txn-4") == 0, "%s", tarn_answer_text());
    expect_refused("txn-3", "after a start");
    expect_published("after a start");
}

/* A commit that storage shows before the catalog has noted it is Tarn's own. */
Test(taken_ids, a_scan_takes_no_entry_of_the_table_itself)
{
    born_here();
    cr_assert(commit("txn-2", 2) == 201);
    char *text = tarn_read_file(tarn_path(g_lake->root, "t/_transactions/txn-1.json"), NULL);
    char *id = strstr(text, "txn-1");
    cr_assert(id != NULL);
    id[4] = '2';
    put("_transactions/txn-2.json", text);
    free(text);
    cr_assert(tarn_ask("POST", "/api/table/t/check", NULL) == 200, "%s", tarn_answer_text());
    cr_expect(commit("txn-2", 2) == 200, "%s", tarn_answer_text());
}

Test(taken_ids, a_table_taken_back_knows_what_others_committed_meanwhile)
{
    born_here();
    cr_assert(tarn_ask("PATCH", "/api/table/t", "{\"mode\":\"observed\"}") == 200, "%s", tarn_answer_text());
    put_log("txn-2 txn-3 txn-7");
    put("manifest.json", "{\"version\":3,\"files\":[{\"path\":\"n/1.parquet\",\"size\":4}]}");
    put("last_committed_txn", "txn-3");
    cr_assert(tarn_ask("PATCH", "/api/table/t", "{\"mode\":\"managed\"}") == 200, "%s", tarn_answer_text());
    expect_refused("txn-2", "taken back");
    expect_refused("txn-7", "taken back");
    cr_expect(commit(NULL, 2) == 201 && strcmp(tarn_answer_str("transaction"), "txn-8") == 0, "%s", tarn_answer_text());
    expect_published("taken back");
    expect_refused("txn-1", "taken back: with another body");
}

Test(taken_ids, no_commit_is_named_like_a_checkpoint)
{
    born_here();
    cr_expect(commit("txn-1.checkpoint", 2) == 400, "%s", tarn_answer_text());
    cr_expect(commit("_own", 3) == 201, "%s", tarn_answer_text());
    expect_published("a low line");
    cr_assert(tarn_ask("POST", "/api/table/t/check", NULL) == 200);
    cr_expect(strstr(tarn_answer_text(), "missing_transaction_log_entry") == NULL, "%s", tarn_answer_text());
}
