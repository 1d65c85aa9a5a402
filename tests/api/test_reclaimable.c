/* Files that nobody needs any more, over the API: which are told, why, and which never. */
#include "base/time.h"
#include "lake/reclaim.h"
#include "tests/support/lake.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#define URL     "/api/table/t/reclaimable"
#define S(text) ((char *)(text))
#define DAY     (24 * 60 * 60 * INT64_C(1000))

/* A file of `bytes` bytes that was written so long ago. */
static void put(const char *path, int bytes, int64_t age_ms)
{
    char full[2048], text[64];

    snprintf(full, sizeof full, "%s/t/%s", g_lake->root, path);
    char *slash = strrchr(full, '/');
    *slash = '\0';
    tarn_make_folder(full);
    *slash = '/';
    snprintf(text, sizeof text, "%0*d", bytes, 0);
    tarn_write_text(full, text);
    tarn_set_mtime(full, tarn_now_ms() - age_ms);
}

static void commit(const char *adds, const char *removes)
{
    TARN_AUTO_DONE(buf) struct tarn_buf ops = { 0 };

    if (removes)
        tarn_buf_addf(&ops, "{\"type\":\"remove_file\",\"path\":\"%s\"}", removes);
    if (adds)
        tarn_buf_addf(&ops, "%s{\"type\":\"add_file\",\"path\":\"%s\",\"size\":5}", ops.len ? "," : "", adds);
    cr_assert(
        eq(uint,
           tarn_ask("POST", "/api/table/t/commits", "{\"dataChange\":false,\"operations\":[%s]}", ops.data),
           201),
        "%s", tarn_answer_text());
}

struct expiry {
    int64_t oldest;
    bool retires;
};

/* As the expiry of history does it. */
static tarn_code expire_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct expiry *e = ctx;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    bool left = false;
    tarn_code code = tx->ops->tables.get(tx, "default", "t", &table, err);

    if (code != TARN_OK)
        return code;
    table->oldest_version = e->oldest;
    code = tx->ops->tables.update(tx, table, err);
    if (code == TARN_OK && e->retires)
        code = tx->ops->retired.retire(tx, table->id, e->oldest, 100, &left, err);
    return code;
}

static void expire(int64_t oldest, bool retires)
{
    struct expiry e = { oldest, retires };

    cr_assert(eq(int, tarn_store_write(g_lake->store, expire_tx, &e, NULL), TARN_OK));
}

static int compare(const void *a, const void *b)
{
    const json_t *const *x = a, *const *y = b;

    return strcmp(json_string_value(json_object_get(*x, "path")),
                  json_string_value(json_object_get(*y, "path")));
}

/* "path size reason;" of each, by path. */
static void expect_told(const char *expected)
{
    TARN_AUTO_DONE(buf) struct tarn_buf told = { 0 };
    const json_t *sorted[32];

    cr_assert(eq(uint, tarn_ask("GET", URL, NULL), 200), "%s", tarn_answer_text());
    const json_t *files = json_object_get(tarn_answer(), "files");
    size_t count = json_array_size(files);
    cr_assert(le(sz, count, TARN_COUNT(sorted)));
    for (size_t i = 0; i < count; i++)
        sorted[i] = json_array_get(files, i);
    qsort(sorted, count, sizeof *sorted, compare);
    for (size_t i = 0; i < count; i++)
        tarn_buf_addf(&told, "%s %lld %s;", json_string_value(json_object_get(sorted[i], "path")),
                      (long long)json_integer_value(json_object_get(sorted[i], "size")),
                      json_string_value(json_object_get(sorted[i], "reason")));
    cr_expect(eq(str, told.data ? told.data : S(""), S(expected)));
}

static void setup(void)
{
    tarn_lake_setup();
    cr_assert(eq(uint,
                 tarn_ask("POST", "/api/tables", "{\"name\":\"t\",\"location\":\"%s/t\"}", g_lake->root),
                 201),
              "%s", tarn_answer_text());
}
TestSuite(reclaimable, .init = setup, .fini = tarn_lake_teardown, .timeout = 60);

Test(reclaimable, a_removed_file_is_told_once_no_kept_version_has_it)
{
    put("a.parquet", 5, 0);
    put("h=1/b.parquet", 5, 0);
    put("c.parquet", 5, 0);
    commit("a.parquet", NULL);               /* 1 */
    commit("h=1/b.parquet", NULL);           /* 2 */
    commit("c.parquet", "a.parquet");        /* 3 */
    commit("gone.parquet", "h=1/b.parquet"); /* 4 */
    commit(NULL, "gone.parquet");            /* 5; it never lay there */
    expect_told("");
    expire(2, false);
    expect_told("");
    expire(3, false);
    expect_told("a.parquet 5 removed;");
    expire(5, false);
    expect_told("a.parquet 5 removed;h=1/b.parquet 5 removed;");
    commit("a.parquet", NULL); /* 6: back again */
    expect_told("h=1/b.parquet 5 removed;");
}

Test(reclaimable, a_retired_file_keeps_its_reason_and_instant)
{
    char removed_at[64];

    put("a.parquet", 5, 30 * DAY);
    put("b.parquet", 5, 30 * DAY);
    commit("a.parquet", NULL);
    commit("b.parquet", "a.parquet");
    commit(NULL, "b.parquet");
    commit("a.parquet", NULL);
    commit(NULL, "a.parquet");
    snprintf(removed_at, sizeof removed_at, "%s", tarn_answer_str("committed_at"));
    expire(2, true);
    expect_told("");
    expire(3, true);
    expect_told("b.parquet 5 removed;");
    expire(5, true);
    expect_told("a.parquet 5 removed;b.parquet 5 removed;");
    size_t i;
    json_t *file;
    json_array_foreach (json_object_get(tarn_answer(), "files"), i, file)
        if (strcmp(json_string_value(json_object_get(file, "path")), "a.parquet") == 0)
            cr_expect(eq(str, S(json_string_value(json_object_get(file, "removed_at"))), removed_at));
    commit("a.parquet", NULL);
    expect_told("b.parquet 5 removed;");
}

Test(reclaimable, what_no_version_ever_had_is_an_orphan_after_7_days)
{
    static const struct {
        const char *path;
        int64_t age;
        bool told;
    } k_files[] = {
        { "old.parquet", 8 * DAY, true },         { "young.parquet", 6 * DAY, false },
        { "h=1/old.parquet", 8 * DAY, true },     { "h=1/d=2/x.tmp", 8 * DAY, true },
        { "_temp/part-1", 8 * DAY, true },        { "_temp/part-2", DAY, false },
        { ".hidden.parquet", 8 * DAY, true },     { "h=1/_x.parquet", 8 * DAY, true },
        { "staging/s.parquet", 90 * DAY, false }, { "processed/p.json", 90 * DAY, false },
        { "_other/o.parquet", 90 * DAY, false },  { ".trash/t.parquet", 90 * DAY, false },
        { "README.md", 90 * DAY, false },         { "schema.json", 90 * DAY, false },
        { "committed.parquet", 90 * DAY, false },
    };
    const char *expected = ".hidden.parquet 5 orphan;_temp/part-1 5 orphan;h=1/_x.parquet 5 orphan;"
                           "h=1/d=2/x.tmp 5 orphan;h=1/old.parquet 5 orphan;old.parquet 5 orphan;";
    for (size_t i = 0; i < TARN_COUNT(k_files); i++) {
        put(k_files[i].path, 5, k_files[i].age);
        cr_expect(eq(int, tarn_has(expected, k_files[i].path), k_files[i].told), "%s", k_files[i].path);
    }
    commit("committed.parquet", NULL);
    expect_told(expected);
    const json_t *first = json_array_get(json_object_get(tarn_answer(), "files"), 0);
    cr_expect(eq(int, json_is_null(json_object_get(first, "removed_at")), 1));
}

Test(reclaimable, lines_are_one_file_each)
{
    put("old.parquet", 5, 8 * DAY);
    put("older.parquet", 6, 80 * DAY);
    tarn_ask_header("Accept", "application/x-ndjson");
    cr_assert(eq(uint, tarn_ask("GET", URL, NULL), 200));
    int lines = 0;
    for (const char *line = tarn_answer_text(); *line; line = strchr(line, '\n') + 1, lines++) {
        json_auto_t *json = json_loadb(line, strcspn(line, "\n"), 0, NULL);
        cr_expect(eq(str, S(json_string_value(json_object_get(json, "reason"))), S("orphan")));
    }
    cr_expect(eq(int, lines, 2));
}

static void note(void *ctx, const struct tarn_reclaimable *item) { tarn_buf_addf(ctx, "%s;", item->path); }

/* The listing takes its time; the last word is the catalog's. */
Test(reclaimable, a_file_that_is_committed_while_the_listing_runs_is_not_told)
{
    TARN_AUTO(reclaim) struct tarn_reclaim *reclaim = NULL;
    TARN_AUTO_DONE(buf) struct tarn_buf told = { 0 };
    bool end = false;

    put("late.parquet", 5, 8 * DAY);
    put("never.parquet", 5, 8 * DAY);
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t", NULL), 200));
    struct tarn_err err = { 0 };
    int64_t id = 0;
    for (int64_t i = 1; i < 100 && !reclaim; i++) /* the one table there is */
        if (tarn_reclaim_new(&g_lake->lake, i, tarn_now_ms(), &reclaim, &err) == TARN_OK)
            id = i;
    tarn_err_done(&err);
    cr_assert(id > 0);
    cr_assert(
        eq(int, tarn_reclaim_next(reclaim, note, &told, &end, NULL), TARN_OK)); /* the catalog is read */
    commit("late.parquet", NULL);
    while (!end)
        cr_assert(eq(int, tarn_reclaim_next(reclaim, note, &told, &end, NULL), TARN_OK));
    cr_expect(eq(str, told.data, S("never.parquet;")));
}

Test(reclaimable, it_needs_a_managed_table_a_folder_and_agreement)
{
    char path[1024];

    snprintf(path, sizeof path, "%s/o/x.parquet", g_lake->root);
    tarn_write_text(path, "x");
    cr_assert(eq(uint,
                 tarn_ask("POST", "/api/tables",
                          "{\"name\":\"o\",\"location\":\"%s/o\",\"format\":\"parquet\"}", g_lake->root),
                 201),
              "%s", tarn_answer_text());
    cr_expect(eq(uint, tarn_ask("GET", "/api/table/o/reclaimable", NULL), 409));
    cr_expect(eq(str, S(tarn_answer_str("code")), S("table_not_managed")));
    cr_expect(eq(uint, tarn_ask("GET", "/api/table/none/reclaimable", NULL), 404));

    /* Someone else's manifest, as the first look since the start sees it. */
    tarn_lake_restart();
    snprintf(path, sizeof path, "%s/t/manifest.json", g_lake->root);
    tarn_write_text(path, "{\"version\":7,\"files\":[]}");
    cr_expect(eq(uint, tarn_ask("GET", URL, NULL), 409));
    cr_expect(eq(str, S(tarn_answer_str("code")), S("foreign_write")));
}
