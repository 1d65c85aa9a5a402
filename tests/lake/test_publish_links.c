/* test_publish_links.c - _symlink_format_manifest/ in the form that Trino, Hive and Athena read: a file
 * `manifest` a partition with the absolute location of one data file a line; kept true by each publication.
 */
#include "lake/publish.h"
#include "lake/publish_run.h"
#include "tests/support/lake.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

TestSuite(links, .init = tarn_lake_setup, .fini = tarn_lake_teardown, .timeout = 60);

#define ON    "\"properties\":{\"publish.symlink_manifest\":true}"
#define LINKS "_symlink_format_manifest/"

static void make(const char *more)
{
    cr_assert(eq(uint,
                 tarn_ask("POST", "/api/tables", "{\"name\":\"t\",\"location\":\"%s/t\"%s%s}", g_lake->root,
                          more[0] ? "," : "", more),
                 201),
              "%s", tarn_answer_text());
}

static tarn_code id_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    TARN_AUTO(table) struct tarn_table *table = NULL;
    tarn_code code = tx->ops->tables.get(tx, "default", "t", &table, err);
    *(int64_t *)ctx = table ? table->id : 0;
    return code;
}

static tarn_code publish(void)
{
    int64_t id = 0;
    cr_assert(eq(int, tarn_store_read(g_lake->store, id_tx, &id, NULL), TARN_OK));
    return tarn_publish_table(&g_lake->lake, id, NULL);
}

/* Adds and removes: paths separated by blanks, NULL for none; one commit and its publication. */
static void add_ops(char *out, size_t size, const char *paths, const char *type)
{
    char copy[1024];
    snprintf(copy, sizeof copy, "%s", paths ? paths : "");
    for (char *save = NULL, *path = strtok_r(copy, " ", &save); path; path = strtok_r(NULL, " ", &save)) {
        size_t len = strlen(out);
        snprintf(out + len, size - len, "%s{\"type\":\"%s\",\"path\":\"%s\"%s}", len ? "," : "", type, path,
                 strcmp(type, "add_file") == 0 ? ",\"size\":1" : "");
    }
}
static void commit(const char *adds, const char *removes)
{
    char ops[8192] = "";
    add_ops(ops, sizeof ops, removes, "remove_file");
    add_ops(ops, sizeof ops, adds, "add_file");
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t", NULL), 200));
    cr_assert(eq(uint,
                 tarn_ask("POST", "/api/table/t/commits", "{\"expected_version\":%d,\"operations\":[%s]}",
                          (int)tarn_answer_i64("version"), ops),
                 201),
              "%s", tarn_answer_text());
}
static void commit_and_publish(const char *adds, const char *removes)
{
    commit(adds, removes);
    cr_assert(eq(int, publish(), TARN_OK));
}

/* The manifest of a partition holds exactly these files (blank-separated, by path); NULL: there is none. */
static void expect_links(const char *partition, const char *paths)
{
    char name[512], expected[4096] = "", copy[1024];
    snprintf(name, sizeof name, "t/" LINKS "%s%smanifest", partition, partition[0] ? "/" : "");
    const char *path = tarn_path(g_lake->root, name);
    cr_assert(tarn_file_exists(path) == (paths != NULL), "%s is %s", name, paths ? "missing" : "there");
    if (!paths)
        return;
    snprintf(copy, sizeof copy, "%s", paths);
    for (char *save = NULL, *p = strtok_r(copy, " ", &save); p; p = strtok_r(NULL, " ", &save)) {
        size_t len = strlen(expected);
        snprintf(expected + len, sizeof expected - len, "file://%s/t/%s\n", g_lake->root, p);
    }
    __attribute__((cleanup(tarn_mem_freep))) char *text = tarn_read_file(path, NULL);
    cr_expect(eq(str, text, expected), "%s", name);
}

static void patch(const char *body)
{
    cr_assert(eq(uint, tarn_ask("PATCH", "/api/table/t", "%s", body), 200), "%s", tarn_answer_text());
}

Test(links, without_the_property_there_are_none)
{
    make("");
    commit_and_publish("a.parquet", NULL);
    cr_expect(not(tarn_file_exists(tarn_path(g_lake->root, "t/" LINKS))));
}

Test(links, an_unpartitioned_table_has_one_list)
{
    make(ON);
    cr_assert(eq(int, publish(), TARN_OK));
    expect_links("", "");
    commit_and_publish("b.parquet a.parquet x=1/c.parquet", NULL);
    expect_links("", "a.parquet b.parquet x=1/c.parquet");
    commit_and_publish("d.parquet", "a.parquet x=1/c.parquet");
    expect_links("", "b.parquet d.parquet");
    commit_and_publish(NULL, "b.parquet d.parquet");
    expect_links("", "");
}

#define KEYS "\"partition_keys\":[\"date\",\"hour\"]," ON

Test(links, a_partitioned_table_has_one_list_a_partition)
{
    make(KEYS);
    commit_and_publish("date=1/hour=1/a.parquet date=1/hour=1/b.parquet date=1/hour=2/c.parquet", NULL);
    expect_links("date=1/hour=1", "date=1/hour=1/a.parquet date=1/hour=1/b.parquet");
    expect_links("date=1/hour=2", "date=1/hour=2/c.parquet");
    expect_links("", NULL);
    commit_and_publish("date=2/hour=1/d.parquet", "date=1/hour=1/a.parquet");
    expect_links("date=1/hour=1", "date=1/hour=1/b.parquet");
    expect_links("date=1/hour=2", "date=1/hour=2/c.parquet");
    expect_links("date=2/hour=1", "date=2/hour=1/d.parquet");
}

Test(links, a_partition_that_lost_all_files_has_no_list)
{
    make(KEYS);
    commit_and_publish("date=1/hour=1/a.parquet date=1/hour=2/b.parquet", NULL);
    commit_and_publish(NULL, "date=1/hour=1/a.parquet");
    expect_links("date=1/hour=1", NULL);
    expect_links("date=1/hour=2", "date=1/hour=2/b.parquet");
    commit_and_publish("date=1/hour=1/c.parquet", NULL);
    expect_links("date=1/hour=1", "date=1/hour=1/c.parquet");
}

/* A whole burst goes out at once: each partition that any of its commits touched is written. */
Test(links, several_commits_are_published_together)
{
    make(KEYS);
    commit("date=1/hour=1/a.parquet", NULL);
    cr_assert(eq(int, publish(), TARN_OK));
    for (int i = 0; i < 150; i++) {
        char path[64];
        snprintf(path, sizeof path, "date=2/hour=%d/f.parquet", i);
        commit(path, NULL);
    }
    commit(NULL, "date=1/hour=1/a.parquet date=2/hour=7/f.parquet");
    cr_assert(eq(int, publish(), TARN_OK));
    expect_links("date=1/hour=1", NULL);
    expect_links("date=2/hour=7", NULL);
    expect_links("date=2/hour=0", "date=2/hour=0/f.parquet");
    expect_links("date=2/hour=149", "date=2/hour=149/f.parquet");
}

/* However little fits into memory: partitions wait for another pass, a large one is streamed. */
Test(links, lists_that_do_not_fit_into_memory_are_written_all_the_same)
{
    static const size_t k_bytes[] = { 1, 300, 1000, 100000 };
    make(KEYS);
    commit("date=1/hour=0/a.parquet", NULL);
    for (int hour = 1; hour < 9; hour++)
        for (int i = 0; i < hour; i++) {
            char path[64];
            snprintf(path, sizeof path, "date=1/hour=%d/f%d.parquet", hour, i);
            commit(path, NULL);
        }
    int64_t id = 0;
    cr_assert(eq(int, tarn_store_read(g_lake->store, id_tx, &id, NULL), TARN_OK));
    for (size_t i = 0; i < TARN_COUNT(k_bytes); i++) {
        patch("{\"properties\":{\"publish.symlink_manifest\":false}}");
        cr_assert(eq(int, publish(), TARN_OK));
        expect_links("date=1/hour=0", NULL);
        patch("{" ON "}");
        __attribute__((cleanup(tarn_publish_run_done))) struct tarn_publish_run run = {
            .lake = &g_lake->lake, .table_id = id, .last_step = TARN_STEP_RECORD, .held_bytes = k_bytes[i]
        };
        cr_assert(eq(int, tarn_publish_run(&run, NULL), TARN_OK));
        cr_assert(eq(int, run.side.code, TARN_OK));
        expect_links("date=1/hour=0", "date=1/hour=0/a.parquet");
        expect_links("date=1/hour=2", "date=1/hour=2/f0.parquet date=1/hour=2/f1.parquet");
        expect_links("date=1/hour=5",
                     "date=1/hour=5/f0.parquet date=1/hour=5/f1.parquet date=1/hour=5/f2.parquet "
                     "date=1/hour=5/f3.parquet date=1/hour=5/f4.parquet");
    }
}

/* What Hive's FileUtils.makePartName gives. */
Test(links, values_are_spelled_as_hive_spells_folders)
{
    static const struct {
        const char *values, *folder;
    } k_rows[] = {
        { "{\"date\":\"2024-02-01\",\"hour\":14}", "date=2024-02-01/hour=14" },
        { "{\"date\":\"a b\",\"hour\":\"x/y=z\"}", "date=a b/hour=x%2Fy%3Dz" },
        { "{\"date\":\"12:30:00\",\"hour\":\"50%\"}", "date=12%3A30%3A00/hour=50%25" },
        { "{\"date\":null,\"hour\":\"\"}",
          "date=__HIVE_DEFAULT_PARTITION__/hour=__HIVE_DEFAULT_PARTITION__" },
        { "{\"date\":true,\"hour\":1.5}", "date=true/hour=1.5" },
        { "{\"date\":\"\xc3\xa9\"}", "date=\xc3\xa9/hour=__HIVE_DEFAULT_PARTITION__" },
        { "{}", "date=__HIVE_DEFAULT_PARTITION__/hour=__HIVE_DEFAULT_PARTITION__" },
    };
    make(KEYS);
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        char path[64];
        snprintf(path, sizeof path, "data/f%zu.parquet", i);
        cr_assert(eq(uint,
                     tarn_ask("POST", "/api/table/t/commits",
                              "{\"operations\":[{\"type\":\"add_file\",\"path\":\"%s\",\"size\":1,"
                              "\"partitionValues\":%s}]}",
                              path, k_rows[i].values),
                     201),
                  "%s", tarn_answer_text());
    }
    cr_assert(eq(int, publish(), TARN_OK));
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        char path[64], name[512];
        snprintf(path, sizeof path, "/t/data/f%zu.parquet\n", i);
        snprintf(name, sizeof name, "t/" LINKS "%s/manifest", k_rows[i].folder);
        cr_assert(tarn_file_exists(tarn_path(g_lake->root, name)), "%s", name);
        __attribute__((cleanup(tarn_mem_freep))) char *text =
            tarn_read_file(tarn_path(g_lake->root, name), NULL);
        cr_expect(tarn_has(text, path), "%s: %s", name, text);
    }
}

Test(links, the_property_may_be_set_and_taken_back_at_any_time)
{
    make("\"partition_keys\":[\"date\"]");
    commit_and_publish("date=1/a.parquet date=2/b.parquet", NULL);
    expect_links("date=1", NULL);
    patch("{" ON "}");
    cr_assert(eq(int, publish(), TARN_OK));
    expect_links("date=1", "date=1/a.parquet");
    expect_links("date=2", "date=2/b.parquet");
    tarn_write_text(tarn_path(g_lake->root, "t/" LINKS "notes.txt"), "not ours");
    patch("{\"properties\":{\"publish.symlink_manifest\":\"false\"}}");
    cr_assert(eq(int, publish(), TARN_OK));
    expect_links("date=1", NULL);
    expect_links("date=2", NULL);
    cr_expect(tarn_file_exists(tarn_path(g_lake->root, "t/" LINKS "notes.txt")));
    commit_and_publish("date=3/c.parquet", "date=1/a.parquet");
    patch("{\"properties\":{\"publish.symlink_manifest\":\"true\"}}");
    cr_assert(eq(int, publish(), TARN_OK));
    expect_links("date=1", NULL);
    expect_links("date=2", "date=2/b.parquet");
    expect_links("date=3", "date=3/c.parquet");
}

/* Lists that another tool made before Tarn are taken over when the property is set, and left alone until
 * then. */
Test(links, old_lists_are_mended_when_the_property_is_set)
{
    make("\"partition_keys\":[\"date\"]");
    commit_and_publish("date=1/a.parquet", NULL);
    tarn_write_text(tarn_path(g_lake->root, "t/" LINKS "date=0/manifest"), "old\n");
    tarn_write_text(tarn_path(g_lake->root, "t/" LINKS "date=1/manifest"), "old\n");
    patch("{\"name\":\"t2\"}");
    cr_expect(eq(uint, tarn_ask("PATCH", "/api/table/t2", "{\"name\":\"t\"}"), 200));
    cr_assert(eq(int, publish(), TARN_OK));
    cr_expect(tarn_file_exists(tarn_path(g_lake->root, "t/" LINKS "date=0/manifest")));
    patch("{" ON "}");
    cr_assert(eq(int, publish(), TARN_OK));
    expect_links("date=0", NULL);
    expect_links("date=1", "date=1/a.parquet");
}

Test(links, another_value_of_the_property_is_refused)
{
    static const char *const k_values[] = { "1", "\"yes\"", "\"\"" };
    make("");
    for (size_t i = 0; i < TARN_COUNT(k_values); i++) {
        cr_expect(eq(uint,
                     tarn_ask("PATCH", "/api/table/t", "{\"properties\":{\"publish.symlink_manifest\":%s}}",
                              k_values[i]),
                     400));
        cr_expect(eq(str, (char *)tarn_answer_str("field"), (char *)"properties.publish.symlink_manifest"));
    }
}

/* Lists are a convenience: while they cannot be written commits are published, and they come when it is
 * possible. */
Test(links, a_folder_that_cannot_be_written_does_not_hold_up_commits)
{
    make(KEYS);
    commit_and_publish("date=1/hour=1/a.parquet date=1/hour=2/b.parquet", NULL);
    tarn_remove_tree(tarn_path(g_lake->root, "t/" LINKS));
    tarn_write_text(tarn_path(g_lake->root, "t/_symlink_format_manifest"), "a file");
    commit("date=1/hour=1/c.parquet", NULL);
    cr_expect(publish() != TARN_OK);
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t", NULL), 200));
    cr_expect(eq(i64, tarn_answer_i64("published_version"), 2));
    tarn_remove_tree(tarn_path(g_lake->root, "t/_symlink_format_manifest"));
    tarn_lake_restart();
    cr_assert(eq(int, publish(), TARN_OK));
    expect_links("date=1/hour=1", "date=1/hour=1/a.parquet date=1/hour=1/c.parquet");
    expect_links("date=1/hour=2", "date=1/hour=2/b.parquet");
}

/* --- a rename --- */

static void expect_name(const char *name)
{
    char member[64];
    snprintf(member, sizeof member, "\"table\":\"%s\"", name);
    __attribute__((cleanup(tarn_mem_freep))) char *text =
        tarn_read_file(tarn_path(g_lake->root, "t/manifest.json"), NULL);
    cr_expect(tarn_has(text, member), "%s", text);
}

Test(links, a_rename_is_shown_by_the_manifest)
{
    int64_t id = 0;
    make("");
    commit_and_publish("a.parquet", NULL);
    cr_assert(eq(int, tarn_store_read(g_lake->store, id_tx, &id, NULL), TARN_OK));
    expect_name("t");
    patch("{\"name\":\"sales.t2\"}");
    tarn_lake_restart(); /* it is not forgotten */
    cr_assert(eq(int, tarn_publish_table(&g_lake->lake, id, NULL), TARN_OK));
    expect_name("sales.t2");
    struct stat before, after;
    cr_assert(zero(int, stat(tarn_path(g_lake->root, "t/manifest.json"), &before)));
    cr_assert(eq(int, tarn_publish_table(&g_lake->lake, id, NULL), TARN_OK));
    cr_assert(zero(int, stat(tarn_path(g_lake->root, "t/manifest.json"), &after)));
    cr_expect(before.st_ino == after.st_ino, "it was written again without a reason");
}
