/* Snapshots over the API: which one, and the manifest of a version. */
#include "base/time.h"
#include "tests/api/snapshots.h"
#include "tests/support/support.h"

TestSuite(snapshots, .init = tarn_lake_setup, .fini = tarn_lake_teardown, .timeout = 60);

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
