/* Which tables lie below a folder: by their marks, without a look into them. */
#include "lake/discover.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(discover, .timeout = 60);

static char g_told[8192]; /* one line a table, in any order */

static tarn_code tell(void *ctx, const struct tarn_found *found, struct tarn_err *err)
{
    size_t len = strlen(g_told);

    (void)ctx;
    (void)err;
    snprintf(g_told + len, sizeof g_told - len, "%s %s %s%s\n", tarn_format_text(found->format),
             found->path[0] ? found->path : ".", found->table ? found->table : "-", found->is_apart ? " apart" : "");
    return TARN_OK;
}

static struct tarn_walked walk(const char *folder)
{
    TARN_AUTO(place) struct tarn_place *place = NULL;
    struct tarn_walked walked = { 0 };
    TARN_ERR(err);

    g_told[0] = '\0';
    cr_assert(eq(int, tarn_place_open_local(folder, &place, &err), TARN_OK), "%s", err.detail);
    cr_assert(eq(int, tarn_discover(place, NULL, tell, NULL, &walked, &err), TARN_OK), "%s", err.detail);
    return walked;
}

#define FILES_MAX 5
static const struct {
    const char *name;
    const char *files[FILES_MAX]; /* paths, or "path|content" */
    const char *told[FILES_MAX];
} k_rows[] = {
    { "a manifest", { "t/manifest.json|{\"version\":1,\"files\":[]}" }, { "manifest t -" } },
    { "a manifest tells its name", { "t/manifest.json|{\"version\":1,\"table\":\"sales.orders\",\"files\":[{}]}" },
      { "manifest t sales.orders" } },
    { "a manifest that is cut off", { "t/manifest.json|{\"table\":\"a\",\"version\":" }, { "manifest t a" } },
    { "an empty manifest", { "t/manifest.json|" }, { "manifest t -" } },
    { "the manifest of a web page", { "t/manifest.json|{\"name\":\"app\",\"version\":\"1.0\",\"icons\":[]}" }, { NULL } },
    { "a manifest that is another document beside a log",
      { "t/manifest.json|{\"name\":1}", "t/_transactions/txn-1.json" }, { "manifest t -" } },
    { "a log without a manifest", { "t/_transactions/txn-1.json", "t/d=1/a.parquet" }, { "manifest t -" } },
    { "a pointer alone", { "t/last_committed_txn|txn-1" }, { "manifest t -" } },
    { "a file named as the log's folder", { "t/_transactions" }, { NULL } },
    { "delta", { "a/t/_delta_log/00000000000000000000.json", "a/t/x.parquet" }, { "delta a/t -" } },
    { "hudi", { "t/.hoodie/hoodie.properties", "t/d=1/.hoodie_partition_metadata", "t/d=1/x.parquet" }, { "hudi t -" } },
    { "iceberg with a hint", { "t/metadata/version-hint.text|1", "t/data/x.parquet" }, { "iceberg t -" } },
    { "iceberg of a catalog", { "t/metadata/00001-aa.metadata.json" }, { "iceberg t -" } },
    { "iceberg metadata apart from its table",
      { "t/00001-11111111-1111-4111-8111-111111111111.metadata.json", "t/in/x.parquet" }, { "iceberg t - apart", "parquet t/in -" } },
    { "iceberg, packed the old way", { "t/metadata/00001-aa.metadata.json.gz" }, { "iceberg t -" } },
    { "a folder named metadata", { "t/metadata/notes.txt", "t/metadata/in/x.parquet" }, { "parquet t/metadata/in -" } },
    { "a plain folder", { "a/b/x.parquet", "a/b/c/y.parquet", "a/b/k=1/z.parquet" }, { "parquet a/b -" } },
    { "partitions of one table", { "t/k=1/a.parquet", "t/k=2/a.parquet", "t/k=2/l=3/b.parquet" }, { "parquet t -" } },
    { "dates are partitions too", { "t/2024-02-01/hour=14/a.parquet", "t/2024/02/02/b.parquet" }, { "parquet t -" } },
    { "a table among years", { "archive/2024/orders/manifest.json|{\"files\":[]}" },
      { "manifest archive/2024/orders -" } },
    { "the folder itself", { "manifest.json|{\"files\":[]}", "x/manifest.json|{\"files\":[]}" }, { "manifest . -" } },
    { "partitions of the folder itself", { "d=1/a.parquet", "d=2/a.parquet" }, { "parquet . -" } },
    { "no table lies in a table", { "t/manifest.json|{\"files\":[]}", "t/u/manifest.json|{\"files\":[]}" },
      { "manifest t -" } },
    { "hidden folders hold none", { "_temp/t/manifest.json|{\"files\":[]}", ".trash/t/x.parquet", "t/_temp/x.parquet" },
      { NULL } },
    { "hidden files are no data", { "t/_a.parquet", "t/.b.parquet", "t/c.txt" }, { NULL } },
    { "several of each", { "a/manifest.json|{\"files\":[]}", "b/_delta_log/0.json", "c/x.parquet", "d/e/x.parquet" },
      { "manifest a -", "delta b -", "parquet c -", "parquet d/e -" } },
};

Test(discover, tables_are_told_by_their_marks)
{
    const char *tmp = tarn_tmp();
    char path[512], line[256];

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        size_t count = 0;
        snprintf(path, sizeof path, "%s/%zu", tmp, i);
        tarn_make_folder(path);
        for (size_t k = 0; k < FILES_MAX && k_rows[i].files[k]; k++) {
            const char *file = k_rows[i].files[k], *bar = strchr(file, '|');
            snprintf(line, sizeof line, "%.*s", bar ? (int)(bar - file) : (int)strlen(file), file);
            tarn_write_text(tarn_path(path, line), bar ? bar + 1 : "x");
        }
        struct tarn_walked walked = walk(path);
        for (size_t k = 0; k < FILES_MAX && k_rows[i].told[k]; k++) {
            count += !tarn_has(k_rows[i].told[k], " apart"); /* no table */
            snprintf(line, sizeof line, "%s\n", k_rows[i].told[k]);
            cr_expect(tarn_has(g_told, line), "%s: not told: %s, but %s", k_rows[i].name, line, g_told);
        }
        cr_expect(eq(i64, walked.tables, (int64_t)count), "%s: told: %s", k_rows[i].name, g_told);
        tarn_walked_done(&walked);
    }
}

Test(discover, a_folder_full_of_data_files_shows_its_marks_all_the_same)
{
    const char *tmp = tarn_tmp();
    char name[64];

    for (int i = 0; i < 1500; i++) {
        snprintf(name, sizeof name, "t/f-%04d.parquet", i);
        tarn_write_text(tarn_path(tmp, name), "");
        snprintf(name, sizeof name, "u/f-%04d.parquet", i);
        tarn_write_text(tarn_path(tmp, name), "");
    }
    tarn_write_text(tarn_path(tmp, "t/manifest.json"), "{\"files\":[]}");
    struct tarn_walked walked = walk(tmp);
    cr_expect(eq(i64, walked.tables, 2));
    cr_expect(tarn_has(g_told, "manifest t -\n") && tarn_has(g_told, "parquet u -\n"), "%s", g_told);
    tarn_walked_done(&walked);
}

Test(discover, links_are_counted_and_not_followed)
{
    const char *tmp = tarn_tmp();
    tarn_write_text(tarn_path(tmp, "t/manifest.json"), "{\"files\":[]}");
    tarn_make_link(tarn_path(tmp, "link"), tarn_path(tmp, "t"));
    struct tarn_walked walked = walk(tmp);
    cr_expect(eq(i64, walked.tables, 1));
    cr_expect(eq(i64, walked.links, 1));
    tarn_walked_done(&walked);
}

Test(discover, names_that_are_no_text_are_passed_over)
{
    const char *tmp = tarn_tmp();
    tarn_write_text(tarn_path(tmp, "\xff\xe2/manifest.json"), "{\"files\":[]}");
    tarn_write_text(tarn_path(tmp, "ok/manifest.json"), "{\"files\":[]}");
    struct tarn_walked walked = walk(tmp);
    cr_expect(eq(i64, walked.tables, 1));
    tarn_walked_done(&walked);
}

Test(discover, a_folder_that_cannot_be_read_hides_only_what_lies_in_it)
{
    const char *tmp = tarn_tmp();
    if (geteuid() == 0)
        cr_skip_test("root reads everything");
    tarn_write_text(tarn_path(tmp, "a/t/manifest.json"), "{\"files\":[]}");
    tarn_write_text(tarn_path(tmp, "b/manifest.json"), "{\"files\":[]}");
    cr_assert(eq(int, chmod(tarn_path(tmp, "a"), 0), 0));
    struct tarn_walked walked = walk(tmp);
    (void)chmod(tarn_path(tmp, "a"), 0700);
    cr_expect(eq(i64, walked.tables, 1));
    cr_expect(eq(i64, walked.unreadable.total, 1));
    cr_expect(eq(str, walked.unreadable.items[0].subject, (char *)"a"));
    tarn_walked_done(&walked);
}

Test(discover, a_deep_folder_cuts_the_walk_and_is_told)
{
    const char *tmp = tarn_tmp();
    TARN_AUTO_DONE(buf) struct tarn_buf path = { 0 };

    for (int i = 0; i < TARN_WALK_DEPTH_MAX + 3; i++)
        tarn_buf_adds(&path, "d/");
    tarn_buf_adds(&path, "manifest.json");
    tarn_write_text(tarn_path(tmp, path.data), "{\"files\":[]}");
    struct tarn_walked walked = walk(tmp);
    cr_expect(eq(i64, walked.tables, 0));
    cr_expect(walked.is_cut);
    tarn_walked_done(&walked);
}

Test(discover, a_walk_ends_when_it_is_told_to)
{
    const char *tmp = tarn_tmp();
    TARN_AUTO(place) struct tarn_place *place = NULL;
    atomic_bool stops = true;
    TARN_ERR(err);

    cr_assert(eq(int, tarn_place_open_local(tmp, &place, &err), TARN_OK));
    cr_expect(eq(int, tarn_discover(place, &stops, tell, NULL, NULL, &err), TARN_OVERLOADED));
}
