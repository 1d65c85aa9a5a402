/* Rollback over the API: each refusal, the snapshot that comes back, what no longer counts, and crashes at any step. */
#include "base/buf.h"
#include "formats/manifest/manifest.h"
#include "lake/publish.h"
#include "lake/rollback.h"
#include "lake/sweep.h"
#include "tests/support/lake.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#define COMMITS "/api/table/t/commits"
#define URL     "/api/table/t/rollback"

static char s_location[600];

static void setup(void)
{
    tarn_lake_setup();
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\"}"), 201));
    snprintf(s_location, sizeof s_location, "%s", tarn_answer_str("location"));
}
TestSuite(rollback, .init = setup, .fini = tarn_lake_teardown, .timeout = 120);

/* "+a -b": the files are 3 bytes long and lie there. */
static void commit(const char *transaction, const char *ops)
{
    TARN_AUTO_DONE(buf) struct tarn_buf text = { 0 };
    const char *comma = "";

    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t", NULL), 200));
    tarn_buf_addf(&text, "{\"expected_version\":%lld,", (long long)tarn_answer_i64("version"));
    if (transaction)
        tarn_buf_addf(&text, "\"transaction_id\":\"%s\",", transaction);
    tarn_buf_adds(&text, "\"operations\":[");
    for (const char *at = ops; *at; at += strcspn(at, " "), at += strspn(at, " "), comma = ",") {
        char path[32];
        snprintf(path, sizeof path, "%.*s", (int)strcspn(at + 1, " "), at + 1);
        if (*at == '+')
            tarn_write_text(tarn_path(s_location, path), "abc");
        tarn_buf_addf(&text, *at == '+' ? "%s{\"type\":\"add_file\",\"path\":\"%s\",\"size\":3}"
                                        : "%s{\"type\":\"remove_file\",\"path\":\"%s\"}", comma, path);
    }
    tarn_buf_adds(&text, "]}");
    cr_assert(eq(uint, tarn_ask("POST", COMMITS, "%s", text.data), 201), "%s", tarn_answer_text());
}

static unsigned roll(int expected, int to)
{
    return tarn_ask("POST", URL, "{\"expected_version\":%d,\"to_version\":%d}", expected, to);
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* The snapshot at a version (-1: newest) as "a b c". */
static void expect_files(int version, const char *expected)
{
    char text[256] = "", *paths[32];
    size_t i;
    json_t *file;

    if (version < 0)
        cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/files", NULL), 200));
    else {
        char target[64];
        snprintf(target, sizeof target, "/api/table/t/files?version=%d", version);
        cr_assert(eq(uint, tarn_ask("GET", target, NULL), 200), "%s", tarn_answer_text());
    }
    const json_t *files = json_object_get(tarn_answer(), "files");
    json_array_foreach(files, i, file)
        paths[i] = (char *)json_string_value(json_object_get(file, "path"));
    qsort(paths, json_array_size(files), sizeof paths[0], by_text);
    for (i = 0; i < json_array_size(files); i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "", paths[i]);
    cr_expect(eq(str, text, (char *)expected), "version %d", version);
}

static void publish(void)
{
    TARN_ERR(err);
    cr_assert(eq(int, tarn_publish_table(&g_lake->lake, 1, &err), TARN_OK), "%s", err.detail);
}

static void make_history(void)
{
    commit("one", "+a +b");
    commit("two", "-a +c");
    commit("three", "+a -b +d");
    commit("four", "-c -d +e");
}

Test(rollback, a_new_version_restores_any_older_snapshot)
{
    static const struct { int to; const char *files; int added, removed; } k_rows[] = {
        { 0, "", 0, 2 }, { 1, "a b", 2, 2 }, { 2, "b c", 2, 2 }, { 3, "a c d", 3, 2 },
    }; /* in the last one `a` is another file than the one of version 3: an earlier rollback added it again */

    for (size_t i = 0; i < 4; i++) {
        if (i == 0)
            make_history();
        else
            cr_assert(eq(uint, roll(3 + 2 * (int)i, 4), 201), "%s", tarn_answer_text()); /* back to the newest of them */
        expect_files(-1, "a e");
        cr_assert(eq(uint, roll(4 + 2 * (int)i, k_rows[i].to), 201), "%s", tarn_answer_text());
        cr_expect(eq(i64, tarn_answer_i64("version"), 5 + 2 * (int)i));
        cr_expect(eq(i64, tarn_answer_i64("files_added"), k_rows[i].added), "to %d", k_rows[i].to);
        cr_expect(eq(i64, tarn_answer_i64("files_removed"), k_rows[i].removed), "to %d", k_rows[i].to);
        expect_files(-1, k_rows[i].files);
        expect_files(4, "a e");
        publish();
    }
    cr_assert(eq(uint, tarn_ask("GET", COMMITS, NULL), 200));
    const json_t *newest = json_array_get(json_object_get(tarn_answer(), "commits"), 0);
    cr_expect(json_object_get(newest, "data_change") == json_false());
    cr_expect(eq(str, (char *)json_string_value(json_object_get(newest, "description")), "rollback to version 3"));
}

Test(rollback, what_cannot_be_done_is_refused_by_name)
{
    static const struct { const char *body; unsigned status; const char *code, *field; } k_rows[] = {
        { "{\"expected_version\":3,\"to_version\":1}", 409, "version_conflict", "expected_version" },
        { "{\"expected_version\":4,\"to_version\":4}", 400, "invalid_request", "to_version" },
        { "{\"expected_version\":4,\"to_version\":5}", 404, "version_not_found", "to_version" },
        { "{\"expected_version\":4,\"to_version\":-1}", 400, "invalid_request", "to_version" },
        { "{\"expected_version\":4}", 400, "invalid_request", "to_version" },
        { "{\"to_version\":1}", 400, "invalid_request", "expected_version" },
        { "{\"expected_version\":4,\"to_version\":1,\"operations\":[]}", 400, "invalid_request", "operations" },
        { "{\"expected_version\":4,\"to_version\":1,\"transaction_id\":\".x\"}", 400, "invalid_request", "transaction_id" },
        { "{\"expected_version\":4,\"to_version\":1,\"transaction_id\":\"two\"}", 409, "transaction_exists", "transaction_id" },
        { "{\"expected_version\":4,\"to_version\":1,\"author\":1}", 400, "invalid_request", "author" },
    };

    make_history();
    for (size_t i = 0; i < sizeof k_rows / sizeof k_rows[0]; i++) {
        cr_expect(eq(uint, tarn_ask("POST", URL, "%s", k_rows[i].body), k_rows[i].status), "%s gives %s", k_rows[i].body,
                  tarn_answer_text());
        cr_expect(eq(str, (char *)tarn_answer_str("code"), (char *)k_rows[i].code), "%s", tarn_answer_text());
        cr_expect(eq(str, (char *)tarn_answer_str("field"), (char *)k_rows[i].field), "%s", tarn_answer_text());
    }
    cr_expect(eq(uint, tarn_ask("POST", "/api/table/u/rollback", "{\"expected_version\":0,\"to_version\":0}"), 404));
    commit(NULL, "+f"); /* nothing is left behind */
    expect_files(-1, "a e f");
}

Test(rollback, files_that_are_gone_or_of_another_size_are_told)
{
    char ops[600] = "";

    commit(NULL, "+a +b");
    for (int i = 0; i < 25; i++)
        snprintf(ops + strlen(ops), sizeof ops - strlen(ops), "%s+x%02d", i ? " " : "", i);
    commit(NULL, ops);
    for (char *at = strchr(ops, '+'); at; at = strchr(at + 1, '+'))
        *at = '-';
    commit(NULL, "-a -b");
    commit(NULL, ops);
    tarn_write_text(tarn_path(s_location, "b"), "abcd");
    cr_assert(eq(uint, roll(4, 1), 422));
    cr_expect(eq(str, (char *)tarn_answer_str("code"), "snapshot_incomplete"));
    cr_expect(eq(i64, tarn_answer_i64("total"), 1));
    cr_expect(eq(str, (char *)json_string_value(json_array_get(json_object_get(tarn_answer(), "paths"), 0)), "b"));
    for (int i = 0; i < 25; i++) {
        char name[16];
        snprintf(name, sizeof name, "x%02d", i);
        tarn_remove_tree(tarn_path(s_location, name));
    }
    cr_assert(eq(uint, roll(4, 2), 422));
    cr_expect(eq(i64, tarn_answer_i64("total"), 26));
    cr_expect(eq(sz, json_array_size(json_object_get(tarn_answer(), "paths")), 20));
    commit(NULL, "+c");
    expect_files(-1, "c");
}

Test(rollback, a_replay_of_what_no_longer_counts_says_so_until_it_counts_again)
{
    static const char k_three[] = "{\"expected_version\":2,\"transaction_id\":\"three\",\"operations\":["
                                  "{\"type\":\"add_file\",\"path\":\"a\",\"size\":3},{\"type\":\"remove_file\",\"path\":\"b\"},"
                                  "{\"type\":\"add_file\",\"path\":\"d\",\"size\":3}]}";

    make_history();
    cr_assert(eq(uint, tarn_ask("POST", COMMITS, k_three), 200), "%s", tarn_answer_text());
    cr_assert(eq(uint, roll(4, 2), 201)); /* version 5 */
    cr_expect(eq(uint, tarn_ask("POST", COMMITS, k_three), 409));
    cr_expect(eq(str, (char *)tarn_answer_str("code"), "transaction_rolled_back"), "%s", tarn_answer_text());
    cr_expect(eq(str, (char *)tarn_answer_str("rolled_back_by"), "txn-5"), "%s", tarn_answer_text());
    cr_assert(eq(uint, roll(5, 3), 201)); /* 6: three counts again, four does not */
    cr_expect(eq(uint, tarn_ask("POST", COMMITS, k_three), 200), "%s", tarn_answer_text());
    cr_assert(eq(uint, roll(6, 1), 201)); /* 7 */
    cr_assert(eq(uint, roll(7, 5), 201)); /* 8: as of 5, where it did not count */
    cr_expect(eq(uint, tarn_ask("POST", COMMITS, k_three), 409));
    cr_expect(eq(str, (char *)tarn_answer_str("rolled_back_by"), "txn-5"), "%s", tarn_answer_text());
    expect_files(-1, "b c");
    expect_files(6, "a c d");
    publish();
}

Test(rollback, it_is_repeated_safely_by_id_and_by_key)
{
    static const char k_body[] = "{\"expected_version\":%d,\"to_version\":%d,\"transaction_id\":\"back\",\"author\":\"me\"}";

    make_history();
    cr_assert(eq(uint, tarn_ask("POST", URL, k_body, 4, 2), 201));
    cr_expect(eq(uint, tarn_ask("POST", URL, k_body, 4, 2), 200));
    cr_expect(eq(i64, tarn_answer_i64("version"), 5));
    cr_expect(eq(uint, tarn_ask("POST", URL, k_body, 5, 1), 409));
    tarn_ask_header("Idempotency-Key", "k");
    cr_assert(eq(uint, roll(5, 1), 201));
    tarn_ask_header("Idempotency-Key", "k");
    cr_expect(eq(uint, roll(5, 1), 200));
    cr_expect(eq(i64, tarn_answer_i64("version"), 6));
}

/* --- batches --- */

static void commit_batch(const char *path, const char *batch, unsigned status)
{
    tarn_write_text(tarn_path(s_location, path), "abc");
    cr_expect(eq(uint, tarn_ask("POST", COMMITS, "{\"batch_id\":\"%s\",\"operations\":[{\"type\":\"add_file\","
                                "\"path\":\"%s\",\"size\":3}]}", batch, path), status), "%s", tarn_answer_text());
}

static void expect_batch(const char *batch, const char *status)
{
    size_t i;
    json_t *row;

    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/batches", NULL), 200));
    json_array_foreach(json_object_get(tarn_answer(), "batches"), i, row)
        if (strcmp(json_string_value(json_object_get(row, "batch_id")), batch) == 0)
            cr_expect(eq(str, (char *)json_string_value(json_object_get(row, "status")), (char *)status), "%s", batch);
}

Test(rollback, batches_of_what_is_undone_run_again_under_any_body)
{
    commit_batch("a", "b1", 201);
    commit_batch("b", "b2", 201);
    commit_batch("b", "b2", 200);
    cr_assert(eq(uint, roll(2, 1), 201)); /* 3 */
    expect_batch("b1", "completed");
    expect_batch("b2", "rolled_back");
    commit_batch("b-again", "b2", 201); /* 4 */
    expect_batch("b2", "completed");
    commit_batch("b", "b2", 409);
    cr_assert(eq(uint, roll(4, 0), 201)); /* 5 */
    expect_batch("b1", "rolled_back");
    cr_assert(eq(uint, roll(5, 4), 201)); /* 6: both count again */
    expect_batch("b1", "completed");
    expect_batch("b2", "completed");
    commit_batch("b", "b2", 409);
    cr_expect(eq(str, (char *)tarn_answer_str("code"), "batch_completed"), "%s", tarn_answer_text());
    expect_files(-1, "a b-again");
}

/* Whatever is committed, announced and rolled back in whatever order: a batch may be committed exactly when the snapshot
 * does not hold it. The model keeps for each version the set of batches that are in it, as bits. */
Test(rollback, a_batch_is_in_a_snapshot_once_whatever_is_rolled_back_to_what)
{
    enum { SEEDS = 12, STEPS = 40, BATCHES = 3 };
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        unsigned random = seed * 2654435761u, in[STEPS + 2] = { 0 };
        int version = 0;
        char name[16], url[64];
        snprintf(name, sizeof name, "m%u", seed);
        cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"%s\"}", name), 201));
        snprintf(s_location, sizeof s_location, "%s", tarn_answer_str("location"));
        for (int step = 0; step < STEPS; step++) {
            random = random * 1103515245u + 12345u;
            unsigned what = (random >> 16) % 6, batch = (random >> 20) % BATCHES, bit = 1u << batch;
            if (what < 3) {
                char path[32];
                snprintf(path, sizeof path, "s%d", step);
                tarn_write_text(tarn_path(s_location, path), "abc");
                snprintf(url, sizeof url, "/api/table/%s/commits", name);
                unsigned status = tarn_ask("POST", url, "{\"batch_id\":\"b%u\",\"operations\":[{\"type\":\"add_file\","
                                           "\"path\":\"%s\",\"size\":3}]}", batch, path);
                cr_assert(eq(uint, status, in[version] & bit ? 409 : 201), "seed %u step %d: %s", seed, step,
                          tarn_answer_text());
                if (status == 201) {
                    in[version + 1] = in[version] | bit;
                    version++;
                }
            } else if (what == 3) {
                static const char *const k_words[] = { "running", "failed" };
                snprintf(url, sizeof url, "/api/table/%s/batches", name);
                unsigned status = tarn_ask("POST", url, "{\"batch_id\":\"b%u\",\"status\":\"%s\"}", batch,
                                           k_words[(random >> 24) % 2]);
                cr_assert(eq(int, status == 409, (in[version] & bit) != 0), "seed %u step %d: %s", seed, step,
                          tarn_answer_text());
            } else if (version > 0) {
                int to = (int)((random >> 18) % (unsigned)version);
                snprintf(url, sizeof url, "/api/table/%s/rollback", name);
                cr_assert(eq(uint, tarn_ask("POST", url, "{\"expected_version\":%d,\"to_version\":%d}", version, to),
                             201), "seed %u step %d: %s", seed, step, tarn_answer_text());
                in[version + 1] = in[to];
                version++;
            }
            size_t i;
            json_t *row;
            snprintf(url, sizeof url, "/api/table/%s/batches", name);
            cr_assert(eq(uint, tarn_ask("GET", url, NULL), 200));
            json_array_foreach(json_object_get(tarn_answer(), "batches"), i, row) {
                int which = json_string_value(json_object_get(row, "batch_id"))[1] - '0';
                bool is_in = (in[version] >> which & 1) != 0;
                const char *word = json_string_value(json_object_get(row, "status"));
                cr_assert(eq(int, strcmp(word, "completed") == 0, is_in), "seed %u step %d: b%d is %s", seed, step, which,
                          word);
            }
        }
    }
}

/* --- what the log says --- */

static tarn_code replay_op(void *ctx, const struct tarn_entry_op *op, struct tarn_err *err)
{
    (void)err;
    if (op->is_add)
        json_object_set_new(ctx, op->file.path, json_true());
    else
        cr_expect(eq(int, json_object_del(ctx, op->file.path), 0), "%s is removed and was not there", op->file.path);
    return TARN_OK;
}

Test(rollback, the_log_replays_to_the_snapshot)
{
    static const char *const k_ids[] = { "one", "two", "three", "four", "txn-5", "txn-6" };
    TARN_AUTO(place) struct tarn_place *place = NULL;
    json_auto_t *set = json_object();
    TARN_ERR(err);

    make_history();
    cr_assert(eq(uint, roll(4, 2), 201));
    cr_assert(eq(uint, roll(5, 3), 201));
    publish();
    cr_assert(eq(int, tarn_place_open(g_lake->storage, s_location, false, &place, &err), TARN_OK));
    for (size_t i = 0; i < 6; i++) {
        struct tarn_entry_head head = { 0 };
        char path[64];
        snprintf(path, sizeof path, "_transactions/%s.json", k_ids[i]);
        cr_assert(eq(int, tarn_entry_read_at(place, path, &head, NULL, replay_op, set, &err), TARN_OK), "%s", err.detail);
        cr_expect(eq(int, head.data_change, i < 4));
        tarn_entry_head_done(&head);
    }
    cr_expect(eq(sz, json_object_size(set), 3));
    cr_expect(json_object_get(set, "a") && json_object_get(set, "c") && json_object_get(set, "d"));
    expect_files(-1, "a c d");
}

/* --- crashes --- */

/* The step after which the process dies: the rows of the two phases, and all but the decision. */
static void roll_and_die(int expected, int to)
{
    char text[128];
    struct tarn_rollback_use use = { .commit = { .lake = &g_lake->lake, .ident = { "default", "t" } } };
    TARN_ERR(err);

    snprintf(text, sizeof text, "{\"expected_version\":%d,\"to_version\":%d}", expected, to);
    json_auto_t *json = json_loads(text, 0, NULL);
    cr_assert(eq(int, tarn_rollback_parse(json, &use, &err), TARN_OK), "%s", err.detail);
    cr_assert(eq(int, tarn_rollback.check(&g_lake->lake, &use, &err), TARN_OK), "%s", err.detail);
    tarn_rollback.done(&use);
    tarn_lake_restart();
}

Test(rollback, one_that_died_before_the_decision_never_happened)
{
    TARN_ERR(err);

    make_history();
    publish();
    roll_and_die(4, 2);
    expect_files(-1, "a e");
    expect_files(2, "b c");
    expect_files(3, "a c d");
    cr_expect(eq(uint, roll(4, 2), 503));
    cr_assert(eq(int, tarn_lake_sweep(&g_lake->lake, 1, &err), TARN_OK), "%s", err.detail);
    expect_files(-1, "a e");
    expect_files(2, "b c");
    commit(NULL, "+f -a");
    cr_expect(eq(uint, roll(5, 2), 201), "%s", tarn_answer_text());
    expect_files(-1, "b c");
    publish();
}
