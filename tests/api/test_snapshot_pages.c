/* Snapshots over the API: in pages under commits, filtered by partitions and bounds. */
#include "tests/api/snapshots.h"
#include "tests/support/support.h"

TestSuite(snapshot_pages, .init = tarn_lake_setup, .fini = tarn_lake_teardown, .timeout = 60);

/* --- pages --- */

/* All pages from `query` on, with `between` called after each one; gives the paths. */
static void chain(const char *query, void (*between)(int page), struct tarn_buf *out)
{
    char url[6000], token[4096] = "";

    for (int page = 0; token[0] || page == 0; page++) {
        snprintf(url, sizeof url, "%s%s%s", query, page ? "&page_token=" : "", token);
        cr_assert(eq(uint, get(url, NULL), 200), "%s: %s", url, tarn_answer_text());
        add_paths(out);
        size_t count = json_array_size(json_object_get(tarn_answer(), "files"));
        snprintf(token, sizeof token, "%s", tarn_answer_str("next_page_token"));
        cr_expect(token[0] ? count > 0 : true, "an empty page that names a next one");
        if (between && token[0])
            between(page);
    }
}

/* Seven files at version 1; each page is followed by a commit around its edge, the third one by a large one.
 */
static void disturb(int page)
{
    TARN_AUTO_DONE(buf) struct tarn_buf ops = { 0 };
    static const char *const k_changes[][2] = { { "0z", "b" }, { "bC", "df" }, { "Y", "e" }, { "d", "g" } };

    if (page < (int)TARN_COUNT(k_changes))
        change(k_changes[page][0], k_changes[page][1]);
    for (int i = 0; page == 2 && i < 3000; i++)
        tarn_buf_addf(&ops, "%s{\"type\":\"add_file\",\"path\":\"m%04d\",\"size\":1}", i ? "," : "", i);
    if (page == 2)
        commit(ops.data);
}

Test(snapshot_pages, a_chain_of_pages_is_one_snapshot_whatever_is_committed_meanwhile)
{
    TARN_AUTO_DONE(buf) struct tarn_buf paths = { 0 }, old = { 0 };

    register_table("");
    change("abcdefg", "");
    chain("?page_size=1", disturb, &paths);
    cr_expect(eq(str, paths.data, S("abcdefg")));
    cr_expect(eq(i64, tarn_answer_i64("version"), 1));
    /* Far from the newest now: each file once, whatever the order. */
    chain("?version=1&page_size=2", NULL, &old);
    cr_expect(eq(sz, old.len, 7));
    for (const char *c = "abcdefg"; *c; c++)
        cr_expect(strchr(old.data, *c) != NULL);
}

Test(snapshot_pages, a_token_belongs_to_its_table_and_version)
{
    char url[4096];

    fill();
    cr_assert(eq(uint, get("?version=3&page_size=1", NULL), 200));
    snprintf(url, sizeof url, "page_token=%s", tarn_answer_str("next_page_token"));
    char query[5000];
    snprintf(query, sizeof query, "?version=3&page_size=9&%s", url);
    expect_paths(query, "bcd");
    snprintf(query, sizeof query, "?version=2&page_size=9&%s", url);
    cr_expect(eq(uint, get(query, NULL), 400));
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"u\"}"), 201));
    snprintf(query, sizeof query, "/api/table/u/files?%s", url);
    cr_expect(eq(uint, get(query, NULL), 400));
}

Test(snapshot_pages, a_page_of_lines_names_the_next_one_in_a_link)
{
    char next[4096] = "?version=3&page_size=3&equals.c=1";

    fill();
    for (int page = 0; page < 2; page++) {
        cr_assert(eq(uint, get(next, page ? "application/x-ndjson" : "text/uri-list"), 200), "%s",
                  tarn_answer_text());
        const char *link = tarn_answer_header("Link"), *text = tarn_answer_text();
        int lines = 0;
        for (; *text; text++)
            lines += *text == '\n';
        cr_expect(eq(int, lines, page ? 1 : 3));
        cr_assert(eq(int, link != NULL, page == 0));
        if (link) {
            cr_expect(tarn_has(link, "; rel=\"next\"") && tarn_has(link, "&equals.c=1"), "%s", link);
            snprintf(next, sizeof next, "%.*s", (int)strcspn(link + 1, ">"), link + 1);
        }
    }
    cr_assert(eq(uint, get("", "text/uri-list"), 200));
    cr_expect(tarn_answer_header("Link") == NULL);
}

/* --- filters --- */

#define FILE_OF(path, hour, min, max)                                                                        \
    "{\"type\":\"add_file\",\"path\":\"" path                                                                \
    "\",\"size\":1,\"numRecords\":9,\"partitionValues\":{\"hour\":" hour "},"                                \
    "\"columnStats\":{\"u\":{\"min\":" min ",\"max\":" max "}}}"

Test(snapshot_pages, bounds_leave_out_what_cannot_match_and_keep_what_has_none)
{
    static const struct {
        const char *query, *paths;
    } k_rows[] = {
        { "?equals.u=15", "bx" },
        { "?equals.u=5", "ax" },
        { "?equals.u=100", "x" },
        { "?at_least.u=10", "abcx" },
        { "?at_least.u=11", "bcx" },
        { "?at_most.u=9", "ax" },
        { "?at_least.u=12&at_most.u=19", "bx" },
        { "?partition.hour=2", "bc" },
        { "?partition.hour=2&at_least.u=25", "c" },
        { "?equals.hour=1", "ax" },
        { "?version=1&equals.u=25", "" },
        { "?version=2&equals.u=25", "cx" },
    };
    register_table("");
    commit(FILE_OF("a", "1", "1", "10") "," FILE_OF("b", "2", "10.5", "20"));
    commit(FILE_OF("c", "\"2\"", "20", "30") ",{\"type\":\"add_file\",\"path\":\"x\",\"size\":1}");
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++)
        expect_paths(k_rows[i].query, k_rows[i].paths);
}

/* 2,000 files of which every 400th is wanted: pages are full but for the last one. */
Test(snapshot_pages, filtered_pages_are_full)
{
    TARN_AUTO_DONE(buf) struct tarn_buf ops = { 0 }, paths = { 0 };

    register_table("");
    for (int i = 0; i < 2000; i++)
        tarn_buf_addf(
            &ops, "%s{\"type\":\"add_file\",\"path\":\"%04d;\",\"size\":1,\"partitionValues\":{\"hour\":%d}}",
            i ? "," : "", i, i % 400 == 399);
    commit(ops.data);
    chain("?partition.hour=1&page_size=2", NULL, &paths);
    cr_expect(eq(str, paths.data, S("0399;0799;1199;1599;1999;")));
    cr_expect(eq(sz, json_array_size(json_object_get(tarn_answer(), "files")), 1));
    expect_paths("?partition.hour=7&page_size=2", "");
    expect_paths("?partition.hour=1&page_size=5", "0399;0799;1199;1599;1999;");
    cr_expect(eq(int, json_is_null(json_object_get(tarn_answer(), "next_page_token")), 1));
}

#define STRUCT(fields)    "{\"type\":\"struct\",\"fields\":[" fields "]}"
#define FIELD(name, type) "{\"name\":\"" name "\",\"type\":\"" type "\",\"nullable\":true}"

static void evolve(int expected, const char *schema, const char *renames)
{
    cr_assert(eq(uint,
                 tarn_ask("POST", "/api/table/t/schemas",
                          "{\"expected_version\":%d,\"compatibility\":\"none\",\"schema\":%s%s}", expected,
                          schema, renames),
                 201),
              "%s", tarn_answer_text());
}

static void add_one(int page)
{
    if (page == 0)
        change("q", "");
}

/* u was n before; v is another column than the v of version 1. */
Test(snapshot_pages, a_column_is_looked_for_under_the_name_that_it_had)
{
    static const struct {
        const char *query, *paths;
    } k_rows[] = {
        { "?equals.n=5", "ab" }, /* a by its u, b by its n */
        { "?equals.n=15", "b" },          { "?equals.n=99", "" },
        { "?equals.u=99", "ab" }, /* new: neither has bounds of it, whatever they have under that name */
        { "?version=1&equals.u=5", "a" }, { "?version=1&equals.u=99", "" },
    };
    TARN_AUTO_DONE(buf) struct tarn_buf paths = { 0 };

    register_table(",\"schema\":" STRUCT(FIELD("u", "int32")));
    commit(FILE_OF("a", "1", "1", "10"));
    evolve(1, STRUCT(FIELD("n", "int64")), ",\"renames\":{\"u\":\"n\"}");
    commit("{\"type\":\"add_file\",\"path\":\"b\",\"size\":1,\"columnStats\":{\"n\":{\"min\":5,\"max\":20},"
           "\"u\":{\"min\":1,\"max\":2}}}");
    evolve(2, STRUCT(FIELD("n", "int64") "," FIELD("u", "int32")), "");
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++)
        expect_paths(k_rows[i].query, k_rows[i].paths);
    cr_expect(eq(uint, get("?equals.m=1", NULL), 400));
    cr_expect(eq(str, S(tarn_answer_str("field")), S("equals.m")));
    cr_expect(eq(uint, get("?version=1&equals.n=1", NULL), 400), "it is read with the schema of its time");
    chain("?at_most.u=1&page_size=1", add_one, &paths); /* and a chain with the one that it began with */
    cr_expect(eq(str, paths.data, S("ab")));
    cr_expect(eq(i64, tarn_answer_i64("schema_version"), 3));
}
