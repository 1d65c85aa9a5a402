/* test_repair.c - what a repair does between its look and its decision, and the parts of the log that cannot simply be
 * written again. */
#include "lake/publish.h"
#include "lake/repair.h"
#include "tests/support/lake.h"
#include "tests/support/parquet_file.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#define STRANGER "{\"version\":9,\"files\":[]}"

TestSuite(repair, .init = tarn_lake_setup, .fini = tarn_lake_teardown);

static const char *at(const char *path)
{
    static char full[4][1024];
    static unsigned next;
    char *out = full[next++ % 4];

    snprintf(out, 1024, "%s/t/%s", g_lake->root, path);
    return out;
}

static void publish(void)
{
    TARN_ERR(err);
    cr_assert(eq(int, tarn_publish_table(&g_lake->lake, 1, &err), TARN_OK), "%s", err.detail);
}

static void commit(const char *adds, const char *removes)
{
    TARN_AUTO_DONE(buf) struct tarn_buf ops = { 0 };

    if (removes)
        tarn_buf_addf(&ops, "{\"type\":\"remove_file\",\"path\":\"%s\"}", removes);
    if (adds) {
        tarn_buf_addf(&ops, "%s{\"type\":\"add_file\",\"path\":\"%s\",\"size\":5}", ops.len ? "," : "", adds);
        tarn_write_text(at(adds), "12345");
    }
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/commits", "{\"dataChange\":false,\"operations\":[%s]}", ops.data), 201),
              "%s", tarn_answer_text());
    publish();
}

/* Versions 1 to `count`, each with the file f<version>.parquet. */
static void make_table(int count)
{
    char path[32];

    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\",\"location\":\"%s/t\"}", g_lake->root), 201), "%s",
              tarn_answer_text());
    publish();
    for (int i = 1; i <= count; i++) {
        snprintf(path, sizeof path, "f%d.parquet", i);
        commit(path, NULL);
    }
}

static json_t *run(const char *plan)
{
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/repair", "{\"plan\":\"%s\",\"dry_run\":false}", plan) / 100, 2), "%s",
              tarn_answer_text());
    return json_deep_copy(tarn_answer());
}

static bool lists(const json_t *answer, const char *key, const char *member, const char *text)
{
    size_t i;
    json_t *item;

    json_array_foreach (json_object_get(answer, key), i, item) {
        const char *have = json_string_value(member ? json_object_get(item, member) : item);
        if (have && strcmp(have, text) == 0)
            return true;
    }
    return false;
}

/* --- between the look and the decision --- */

struct asked {
    struct tarn_repair_use use;
    json_t *body; /* owned */
};

static void ask(struct asked *a, const char *body)
{
    TARN_ERR(err);

    *a = (struct asked){ .body = json_loads(body, 0, NULL) };
    a->use.commit.lake = &g_lake->lake;
    cr_assert(eq(int, tarn_ident_parse("t", "table", &a->use.commit.ident, NULL), TARN_OK));
    cr_assert(eq(int, tarn_repair_parse(a->body, &a->use, &err), TARN_OK), "%s", err.detail);
}

static tarn_code look(struct asked *a) { return tarn_repair.check(&g_lake->lake, &a->use, NULL); }

static tarn_code decide(struct asked *a, struct tarn_err *err)
{
    return tarn_store_write(g_lake->store, tarn_repair.change, &a->use, err);
}

static void asked_done(struct asked *a)
{
    tarn_repair.done(&a->use);
    json_decref(a->body);
}

Test(repair, a_table_that_moved_on_is_looked_at_again_and_at_last_refused)
{
    struct asked a;
    TARN_ERR(err);
    char path[32];

    make_table(3);
    remove(at("f1.parquet"));
    ask(&a, "{\"plan\":\"forget\",\"dry_run\":false}");
    for (int i = 0; i < TARN_RECHECKS_MAX; i++) {
        cr_assert(eq(int, look(&a), TARN_OK));
        snprintf(path, sizeof path, "g%d.parquet", i);
        commit(path, NULL);
        cr_assert(eq(int, decide(&a, &err), TARN_RECHECK), "%d", i);
    }
    cr_assert(eq(int, look(&a), TARN_OK));
    commit("last.parquet", NULL);
    cr_expect(eq(int, decide(&a, &err), TARN_VERSION_CONFLICT));
    asked_done(&a);

    /* who names the version is refused at once */
    ask(&a, "{\"plan\":\"forget\",\"dry_run\":false,\"expected_version\":7}");
    cr_assert(eq(int, look(&a), TARN_OK));
    commit("more.parquet", NULL);
    cr_expect(eq(int, decide(&a, &err), TARN_VERSION_CONFLICT));
    asked_done(&a);
}

Test(repair, of_two_looks_at_the_same_fault_one_commits)
{
    struct asked first, second;
    TARN_ERR(err);

    make_table(2);
    remove(at("f1.parquet"));
    ask(&first, "{\"plan\":\"forget\",\"dry_run\":false}");
    ask(&second, "{\"plan\":\"forget\",\"dry_run\":false}");
    cr_assert(eq(int, look(&first), TARN_OK));
    cr_assert(eq(int, look(&second), TARN_OK));
    cr_expect(eq(int, decide(&first, &err), TARN_OK));
    cr_expect(eq(int, decide(&second, &err), TARN_RECHECK));
    cr_assert(eq(int, look(&second), TARN_OK));
    cr_expect(eq(int, decide(&second, &err), TARN_OK));
    cr_expect(first.use.committed);
    cr_expect(not(second.use.committed));
    asked_done(&first);
    asked_done(&second);
}

/* The writer is still at it: what it wrote after the look was put aside by nobody. */
Test(repair, a_manifest_that_was_written_again_since_the_look_is_not_written_over)
{
    struct asked a;
    TARN_ERR(err);

    make_table(2);
    tarn_write_text(at("manifest.json"), STRANGER);
    ask(&a, "{\"plan\":\"republish\",\"dry_run\":false}");
    cr_assert(eq(int, look(&a), TARN_OK));
    tarn_write_text(at("manifest.json"), "{\"version\":10,\"files\":[]}");
    cr_assert(eq(int, decide(&a, &err), TARN_OK));
    cr_assert(eq(int, tarn_repair.after(&g_lake->lake, &a.use, &err), TARN_OK));
    asked_done(&a);
    TARN_AUTO(mem) char *text = tarn_read_file(at("manifest.json"), NULL);
    cr_expect(eq(str, text, (char *)"{\"version\":10,\"files\":[]}"));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t", NULL), 200));
    cr_expect(eq(str, (char *)tarn_answer_str("block"), (char *)"foreign_write"));

    json_auto_t *answer = run("republish");
    cr_expect(eq(str, (char *)json_string_value(json_object_get(answer, "ends")), (char *)"foreign_write"));
    TARN_AUTO(mem) char *ours = tarn_read_file(at("manifest.json"), NULL);
    cr_expect(tarn_has(ours, "\"version\":2"));
}

static tarn_code stage_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    const struct tarn_file file = { .path = ctx, .size = 5, .records = -1, .added_version = 2, .removed_version = -1 };
    tarn_code code = tx->ops->tables.stage(tx, 1, 2, err);

    return code == TARN_OK ? tx->ops->files.add(tx, 1, 2, &file, err) : code;
}

static tarn_code undo_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    bool left = false;
    tarn_code code = tx->ops->bulk.undo(tx, 1, 2, 100, &left, err);

    (void)ctx;
    return code == TARN_OK ? tx->ops->tables.stage(tx, 1, 0, err) : code;
}

/* A kill left it, and the sweeper is not through yet: it says nothing of the files that it named. */
Test(repair, a_large_commit_that_is_being_undone_hides_no_file)
{
    struct asked a;
    TARN_ERR(err);

    make_table(1);
    parquet_file(at("g.parquet"), "int64:x", 2, 0);
    cr_assert(eq(int, tarn_store_write(g_lake->store, stage_tx, (char[]){ "g.parquet" }, &err), TARN_OK), "%s", err.detail);
    ask(&a, "{\"plan\":\"register\",\"dry_run\":false,\"paths\":[\"g.parquet\"]}");
    cr_assert(eq(int, look(&a), TARN_OK));
    cr_expect(eq(int, decide(&a, &err), TARN_OVERLOADED), "not while it is there");
    cr_assert(eq(int, tarn_store_write(g_lake->store, undo_tx, NULL, &err), TARN_OK), "%s", err.detail);
    tarn_err_done(&err);
    cr_expect(eq(int, decide(&a, &err), TARN_OK), "%s", err.detail);
    cr_expect(a.use.committed);
    cr_expect(eq(sz, a.use.commit.op_count, 1));
    asked_done(&a);
}

/* Somebody was there between the registration and the first publication. */
Test(repair, a_table_that_was_never_published_gets_its_folder_back)
{
    TARN_ERR(err);

    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\",\"location\":\"%s/t\"}", g_lake->root), 201));
    tarn_write_text(at("manifest.json"), STRANGER);
    tarn_write_text(at("last_committed_txn"), "theirs-7");
    tarn_write_text(at("_transactions/theirs-7.json"), "{\"id\":\"theirs-7\",\"operations\":[]}");
    cr_assert(eq(int, tarn_publish_table(&g_lake->lake, 1, &err), TARN_FOREIGN_WRITE));
    json_auto_t *answer = run("republish");
    cr_expect(lists(answer, "moves", "from", "manifest.json"), "%s", tarn_answer_text());
    cr_expect(lists(answer, "moves", "from", "last_committed_txn"), "%s", tarn_answer_text());
    cr_expect(lists(answer, "moves", "from", "_transactions/theirs-7.json"), "%s", tarn_answer_text());
    TARN_AUTO(mem) char *text = tarn_read_file(at("manifest.json"), NULL);
    cr_expect(tarn_has(text, "\"version\":0"), "%s", text);
    commit("f1.parquet", NULL);
    TARN_AUTO(mem) char *pointer = tarn_read_file(at("last_committed_txn"), NULL);
    cr_expect(eq(str, pointer, (char *)"txn-1\n"));
}

/* Its documents are nobody's: the block ends, and what lies there is judged again when it is published again. */
Test(repair, of_a_table_that_is_not_published_only_the_block_ends)
{
    TARN_ERR(err);

    make_table(2);
    tarn_write_text(at("manifest.json"), STRANGER);
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/commits",
                                "{\"operations\":[{\"type\":\"add_file\",\"path\":\"g.parquet\",\"size\":1}]}"), 201));
    cr_assert(eq(int, tarn_publish_table(&g_lake->lake, 1, &err), TARN_FOREIGN_WRITE));
    cr_assert(eq(uint, tarn_ask("PATCH", "/api/table/t", "{\"publish\":false}"), 200), "%s", tarn_answer_text());
    json_auto_t *answer = run("republish");
    cr_expect(eq(str, (char *)json_string_value(json_object_get(answer, "ends")), (char *)"foreign_write"));
    cr_expect(eq(i64, json_integer_value(json_object_get(answer, "writes_total")), 0));
    TARN_AUTO(mem) char *text = tarn_read_file(at("manifest.json"), NULL);
    cr_expect(eq(str, text, (char *)STRANGER));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t", NULL), 200));
    bool is_free = json_is_null(json_object_get(tarn_answer(), "block"));
    cr_expect(is_free, "%s", tarn_answer_text());
    cr_assert(eq(uint, tarn_ask("PATCH", "/api/table/t", "{\"publish\":true}"), 200), "%s", tarn_answer_text());
    cr_expect(eq(int, tarn_publish_table(&g_lake->lake, 1, &err), TARN_FOREIGN_WRITE));
}

/* --- checkpoints, and a log that has lost what the catalog lost too --- */

struct expiry { int64_t oldest; };

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
    return code == TARN_OK ? tx->ops->retired.retire(tx, table->id, e->oldest, 1000, &left, err) : code;
}

static void expire(int64_t oldest)
{
    struct expiry e = { oldest };
    cr_assert(eq(int, tarn_store_write(g_lake->store, expire_tx, &e, NULL), TARN_OK));
}

Test(repair, a_checkpoint_that_is_gone_or_damaged_is_written_as_it_was)
{
    static const char *const k_damages[] = { NULL, "", "{\"version\":3,\"files\":[", STRANGER };
    const char *path = "_transactions/txn-3.checkpoint.json";

    g_lake->lake.checkpoint_every = 3;
    make_table(7);
    for (size_t i = 0; i < TARN_COUNT(k_damages); i++) {
        TARN_AUTO(mem) char *before = tarn_read_file(at(path), NULL);
        remove(at(path));
        if (k_damages[i])
            tarn_write_text(at(path), k_damages[i]);
        json_auto_t *answer = run("republish");
        cr_expect(lists(answer, "writes", NULL, path), "%zu", i);
        cr_expect(eq(int, lists(answer, "moves", "from", path), k_damages[i] != NULL), "%zu", i);
        TARN_AUTO(mem) char *after = tarn_read_file(at(path), NULL);
        cr_expect(eq(str, after, before), "%zu", i);
    }
}

Test(repair, where_entries_cannot_be_made_again_a_checkpoint_stands_for_them)
{
    make_table(3);
    commit("f4.parquet", NULL);
    commit(NULL, "f4.parquet"); /* version 5 */
    commit("f6.parquet", NULL);
    expire(5);                   /* nobody knows of f4 any more */
    remove(at("_transactions/txn-4.json"));
    remove(at("_transactions/txn-2.json"));
    json_auto_t *answer = run("republish");
    cr_expect(lists(answer, "writes", NULL, "_transactions/txn-2.json"), "%s", tarn_answer_text());
    cr_expect(lists(answer, "writes", NULL, "_transactions/txn-6.checkpoint.json"), "%s", tarn_answer_text());
    cr_expect(not(tarn_file_exists(at("_transactions/txn-4.json"))));
    TARN_AUTO(mem) char *text = tarn_read_file(at("_transactions/txn-6.checkpoint.json"), NULL);
    cr_expect(tarn_has(text, "f6.parquet"));
    cr_expect(not(tarn_has(text, "f4.parquet")));
    json_auto_t *again = run("republish");
    cr_expect(eq(i64, json_integer_value(json_object_get(again, "writes_total")), 0), "%s", tarn_answer_text());
}

/* An entry of a table of this catalog under an id that no commit has, and one of an older server, which wrote less. */
Test(repair, entries_are_told_apart_by_what_they_say)
{
    make_table(3);
    TARN_AUTO(mem) char *text = tarn_read_file(at("_transactions/txn-2.json"), NULL);
    tarn_write_text(at("_transactions/copied.json"), text);
    json_auto_t *entry = json_loads(text, 0, NULL);
    json_object_del(entry, "body_sha256");
    json_object_del(entry, "schema_version");
    TARN_AUTO(mem) char *older = json_dumps(entry, 0);
    tarn_write_text(at("_transactions/txn-2.json"), older);
    json_auto_t *answer = run("republish");
    cr_expect(eq(i64, json_integer_value(json_object_get(answer, "writes_total")), 0), "%s", tarn_answer_text());
    cr_expect(eq(i64, json_integer_value(json_object_get(answer, "moves_total")), 1), "%s", tarn_answer_text());
    cr_expect(lists(answer, "moves", "from", "_transactions/copied.json"), "%s", tarn_answer_text());
    cr_expect(not(tarn_file_exists(at("_transactions/copied.json"))));
}

/* The catalog forgot version 4: nothing may be written over what storage knows. */
Test(repair, an_entry_above_the_table_s_version_stops_a_repair_of_documents)
{
    static const char *const k_plans[] = { "republish", "adopt" };

    make_table(3);
    TARN_AUTO(mem) char *text = tarn_read_file(at("_transactions/txn-3.json"), NULL);
    json_auto_t *entry = json_loads(text, 0, NULL);
    json_object_set_new(entry, "version", json_integer(4));
    json_object_set_new(entry, "id", json_string("txn-4"));
    TARN_AUTO(mem) char *ahead = json_dumps(entry, 0);
    tarn_write_text(at("_transactions/txn-4.json"), ahead);
    tarn_write_text(at("manifest.json"), STRANGER);
    for (size_t i = 0; i < TARN_COUNT(k_plans); i++) {
        cr_expect(eq(uint, tarn_ask("POST", "/api/table/t/repair", "{\"plan\":\"%s\",\"dry_run\":false}", k_plans[i]), 409));
        cr_expect(eq(str, (char *)tarn_answer_str("code"), (char *)"storage_ahead"), "%s", tarn_answer_text());
    }
    TARN_AUTO(mem) char *there = tarn_read_file(at("manifest.json"), NULL);
    cr_expect(eq(str, there, (char *)STRANGER));
}
