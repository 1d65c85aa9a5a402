/* Snapshots over the API: which one, in pages under commits, filtered by partitions and bounds; the manifest
 * of a version. */
#include "base/time.h"
#include "tests/support/lake.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#define URL     "/api/table/t/files"
#define S(text) ((char *)(text))

static void register_table(const char *more)
{
    cr_assert(eq(uint,
                 tarn_ask("POST", "/api/tables",
                          "{\"name\":\"t\",\"location\":\"%s/t\",\"partition_keys\":[\"hour\"]%s}",
                          g_lake->root, more),
                 201),
              "%s", tarn_answer_text());
}

static void commit(const char *ops)
{
    cr_assert(eq(uint,
                 tarn_ask("POST", "/api/table/t/commits", "{\"dataChange\":false,\"operations\":[%s]}", ops),
                 201),
              "%s", tarn_answer_text());
}

/* Adds or removes files named by one letter each. */
static void change(const char *adds, const char *removes)
{
    TARN_AUTO_DONE(buf) struct tarn_buf ops = { 0 };

    for (; *removes; removes++)
        tarn_buf_addf(&ops, "%s{\"type\":\"remove_file\",\"path\":\"%c\"}", ops.len ? "," : "", *removes);
    for (; *adds; adds++)
        tarn_buf_addf(&ops, "%s{\"type\":\"add_file\",\"path\":\"%c\",\"size\":1}", ops.len ? "," : "",
                      *adds);
    commit(ops.data);
}

static unsigned get(const char *query, const char *accept)
{
    char url[6000];

    snprintf(url, sizeof url, "%s%s", query[0] == '/' ? "" : URL, query);
    if (accept)
        tarn_ask_header("Accept", accept);
    return tarn_ask("GET", url, NULL);
}

static void add_paths(struct tarn_buf *out)
{
    size_t i;
    json_t *file;

    json_array_foreach (json_object_get(tarn_answer(), "files"), i, file)
        tarn_buf_adds(out, json_string_value(json_object_get(file, "path")));
}

static void expect_paths(const char *query, const char *expected)
{
    TARN_AUTO_DONE(buf) struct tarn_buf paths = { 0 };

    cr_assert(eq(uint, get(query, NULL), 200), "%s: %s", query, tarn_answer_text());
    add_paths(&paths);
    cr_expect(eq(str, paths.data ? paths.data : S(""), S(expected)), "%s", query);
}

static void setup(void) { tarn_lake_setup(); }
TestSuite(snapshots, .init = setup, .fini = tarn_lake_teardown, .timeout = 60);

/* Versions 1 to 4. */
static void fill(void)
{
    register_table("");
    change("ac", "");
    change("b", "a");
    change("ad", "");
    change("", "bc");
}

Test(snapshots, one_is_named_by_version_or_transaction)
{
    static const struct {
        const char *query, *paths, *transaction;
        int64_t version;
    } k_rows[] = {
        { "", "ad", "txn-4", 4 },
        { "?version=4", "ad", "txn-4", 4 },
        { "?version=3", "abcd", "txn-3", 3 },
        { "?version=2", "bc", "txn-2", 2 },
        { "?version=1", "ac", "txn-1", 1 },
        { "?version=0", "", "", 0 },
        { "?transaction=txn-2", "bc", "txn-2", 2 },
        { "?transaction=txn-3", "abcd", "txn-3", 3 },
    };
    fill();
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        expect_paths(k_rows[i].query, k_rows[i].paths);
        cr_expect(eq(i64, tarn_answer_i64("version"), k_rows[i].version));
        cr_expect(eq(str, S(tarn_answer_str("transaction")), S(k_rows[i].transaction)));
    }
}

Test(snapshots, a_transaction_that_was_rolled_back_has_its_snapshot_still)
{
    char path[1024];

    fill();
    for (const char *c = "bc"; *c; c++) {
        snprintf(path, sizeof path, "%s/t/%c", g_lake->root, *c);
        tarn_write_text(path, "1");
    }
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/rollback", "{\"expected_version\":4,\"to_version\":2}"), 201),
              "%s", tarn_answer_text());
    expect_paths("", "bc");
    cr_expect(eq(i64, tarn_answer_i64("version"), 5));
    expect_paths("?transaction=txn-3", "abcd");
    expect_paths("?transaction=txn-4", "ad");
    expect_paths("?version=4", "ad");
    expect_paths("?transaction=txn-2", "bc");
}

Test(snapshots, as_of_includes_a_commit_of_that_very_instant)
{
    int64_t at[5] = { 0 };
    char query[80], text[TARN_TIME_TEXT];

    fill();
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/commits", NULL), 200));
    for (size_t i = 0; i < 4; i++) {
        const json_t *row = json_array_get(json_object_get(tarn_answer(), "commits"), i);
        cr_assert(eq(
            int,
            tarn_time_parse(json_string_value(json_object_get(row, "committed_at")), &at[4 - i], NULL, NULL),
            TARN_OK));
    }
    for (int i = 1; i <= 4; i++) {
        for (int before = 0; before < 2; before++) {
            int64_t instant = at[i] - before, version = 0;
            for (int v = 1; v <= 4; v++)
                version = at[v] <= instant ? v : version; /* two may have one instant */
            snprintf(query, sizeof query, "?as_of=%s", tarn_time_format(instant, text));
            cr_assert(eq(uint, get(query, NULL), 200), "%s", tarn_answer_text());
            cr_expect(eq(i64, tarn_answer_i64("version"), version), "%s", query);
        }
    }
    expect_paths("?as_of=1999-01-01T00:00:00Z", "");
    cr_expect(eq(i64, tarn_answer_i64("version"), 0));
    expect_paths("?as_of=2099-01-01T00:00:00%2B02:00", "ad");
}

Test(snapshots, what_names_none_is_refused)
{
    static const struct {
        const char *query, *code, *field;
        unsigned status;
    } k_rows[] = {
        { "?version=5", "version_not_found", "version", 404 },
        { "?version=-1", "invalid_request", "version", 400 },
        { "?version=x", "invalid_request", "version", 400 },
        { "?transaction=txn-9", "transaction_not_found", "", 404 },
        { "?transaction=.x", "invalid_request", "transaction", 400 },
        { "?as_of=yesterday", "invalid_request", "as_of", 400 },
        { "?as_of=2024-02-01T00:00:00", "invalid_request", "as_of", 400 },
        { "?version=1&transaction=txn-1", "invalid_request", "transaction", 400 },
        { "?version=1&as_of=2024-02-01T00:00:00Z", "invalid_request", "as_of", 400 },
        { "?partition.day=1", "invalid_request", "partition.day", 400 },
        { "?page_token=AAAA", "invalid_request", "page_token", 400 },
        { "?before=1", "invalid_request", "before", 400 },
        { "/api/table/t/manifest?version=5", "version_not_found", "version", 404 },
        { "/api/table/t/manifest?as_of=2024-02-01T00:00:00Z", "invalid_request", "as_of", 400 },
    };
    fill();
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        cr_expect(eq(uint, get(k_rows[i].query, NULL), k_rows[i].status), "%s", k_rows[i].query);
        cr_expect(eq(str, S(tarn_answer_str("code")), S(k_rows[i].code)), "%s", k_rows[i].query);
        cr_expect(eq(str, S(tarn_answer_str("field")), S(k_rows[i].field)), "%s", k_rows[i].query);
    }
}

static tarn_code expire_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    TARN_AUTO(table) struct tarn_table *table = NULL;
    tarn_code code = tx->ops->tables.get(tx, "default", "t", &table, err);

    if (code != TARN_OK)
        return code;
    table->oldest_version = *(int64_t *)ctx;
    return tx->ops->tables.update(tx, table, err);
}

Test(snapshots, an_expired_version_is_told_with_the_oldest_one_that_is_kept)
{
    static const char *const k_queries[] = { "?version=1", "?transaction=txn-1",
                                             "?as_of=1999-01-01T00:00:00Z",
                                             "/api/table/t/manifest?version=0" };
    int64_t oldest = 2;
    char next[4096];

    fill();
    cr_assert(eq(uint, get("?version=1&page_size=1", NULL), 200));
    snprintf(next, sizeof next, "?page_size=1&page_token=%s", tarn_answer_str("next_page_token"));
    cr_assert(eq(int, tarn_store_write(g_lake->store, expire_tx, &oldest, NULL), TARN_OK));
    for (size_t i = 0; i < TARN_COUNT(k_queries); i++) {
        cr_expect(eq(uint, get(k_queries[i], NULL), 404), "%s", k_queries[i]);
        cr_expect(eq(str, S(tarn_answer_str("code")), S("version_expired")), "%s", k_queries[i]);
        cr_expect(eq(i64, tarn_answer_i64("oldest_version"), 2), "%s", k_queries[i]);
    }
    cr_expect(eq(uint, get(next, NULL), 404), "a page of a version that expired meanwhile");
    expect_paths("?version=2", "bc");
}

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

Test(snapshots, a_chain_of_pages_is_one_snapshot_whatever_is_committed_meanwhile)
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

Test(snapshots, a_token_belongs_to_its_table_and_version)
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

Test(snapshots, a_page_of_lines_names_the_next_one_in_a_link)
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

Test(snapshots, bounds_leave_out_what_cannot_match_and_keep_what_has_none)
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
Test(snapshots, filtered_pages_are_full)
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
Test(snapshots, a_column_is_looked_for_under_the_name_that_it_had)
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

/* --- the manifest --- */

Test(snapshots, a_manifest_of_any_version_has_a_tag_of_its_bytes)
{
    char etag[5][64], body[4096];

    fill();
    for (int v = 0; v <= 4; v++) {
        char url[64];
        snprintf(url, sizeof url, "/api/table/t/manifest?version=%d", v);
        cr_assert(eq(uint, get(url, NULL), 200), "%s", tarn_answer_text());
        cr_expect(eq(i64, tarn_answer_i64("version"), v));
        snprintf(etag[v], sizeof etag[v], "%s", tarn_answer_header("ETag"));
        for (int before = 0; before < v; before++)
            cr_expect(ne(str, etag[v], etag[before]));
        tarn_ask_header("If-None-Match", etag[v]);
        cr_expect(eq(uint, get(url, NULL), 304));
    }
    cr_assert(eq(uint, get("/api/table/t/manifest", NULL), 200));
    cr_expect(eq(str, S(tarn_answer_header("ETag")), etag[4]));
    snprintf(body, sizeof body, "%s", tarn_answer_text());
    change("q", "");
    tarn_ask_header("If-None-Match", etag[4]);
    cr_assert(eq(uint, get("/api/table/t/manifest", NULL), 200));
    cr_assert(eq(uint, get("/api/table/t/manifest?version=4", NULL), 200));
    cr_expect(eq(str, S(tarn_answer_text()), body), "the same tag, the same bytes");
    cr_expect(eq(str, S(tarn_answer_header("ETag")), etag[4]));
    cr_assert(eq(uint, tarn_ask("PATCH", "/api/table/t", "{\"name\":\"s\"}"), 200));
    cr_assert(eq(uint, get("/api/table/s/manifest?version=4", NULL), 200));
    cr_expect(ne(str, S(tarn_answer_header("ETag")), etag[4]), "the name is in the document");
}
