/* test_publish_cache.c - schema_cache.json beside schema.json: the mappings of the versions that the snapshot's files were
 * written with, and when it is written. */
#include "lake/publish.h"
#include "lake/publish_run.h"
#include "tests/support/lake.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#define STRUCT(fields) "{\"type\":\"struct\",\"fields\":[" fields "]}"
#define C(name, type) "{\"name\":\"" name "\",\"type\":\"" type "\",\"nullable\":true}"
#define CACHE "t/schema_cache.json"
#define FIELD(name, type, source, cast)                                                                              \
    "{\"name\":\"" name "\",\"type\":\"" type "\",\"source\":" source ",\"cast\":" cast ",\"default\":null}"
#define MAPPING(from, to, fields) "\"" from "\":{\"from\":" from ",\"to\":" to ",\"fields\":[" fields "]}"
#define OF_3 MAPPING("3", "3", FIELD("b", "int64", "\"b\"", "null"))
#define OF_2 MAPPING("2", "3", FIELD("b", "int64", "\"b\"", "\"int32->int64\""))
#define OF_1 MAPPING("1", "3", FIELD("b", "int64", "\"a\"", "\"int32->int64\""))
#define DOCUMENT(mappings) "{\"current_version\":3,\"mappings\":{" mappings "}}\n"

static int64_t g_id;

static tarn_code id_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    struct tarn_table *table = NULL;
    tarn_code code = tx->ops->tables.get(tx, "default", "t", &table, err);

    if (code == TARN_OK)
        *(int64_t *)ctx = table->id;
    tarn_table_free(table);
    return code;
}

static void must_add(int version, const char *schema, const char *more)
{
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/schemas", "{\"expected_version\":%d,\"schema\":%s%s}", version, schema,
                                more), 201), "%s", tarn_answer_text());
}

static void setup(void)
{
    tarn_lake_setup();
    cr_assert(eq(uint, tarn_ask("POST", "/api/tables", "{\"name\":\"t\",\"location\":\"%s/t\",\"schema\":"
                                STRUCT(C("a", "int32")) "}", g_lake->root), 201), "%s", tarn_answer_text());
    cr_assert(eq(int, tarn_store_read(g_lake->store, id_tx, &g_id, NULL), TARN_OK));
}
TestSuite(publish_cache, .init = setup, .fini = tarn_lake_teardown, .timeout = 60);

static void add_versions(void)
{
    must_add(1, STRUCT(C("b", "int32")), ",\"renames\":{\"a\":\"b\"}");
    must_add(2, STRUCT(C("b", "int64")), "");
}

static void commit(const char *path, int schema_version)
{
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/commits", "{\"operations\":[{\"type\":\"add_file\",\"path\":\"%s\","
                                "\"size\":1,\"schemaVersion\":%d}]}", path, schema_version), 201), "%s", tarn_answer_text());
}

static void drop(const char *path)
{
    cr_assert(eq(uint, tarn_ask("POST", "/api/table/t/commits", "{\"dataChange\":false,\"operations\":[{\"type\":"
                                "\"remove_file\",\"path\":\"%s\"}]}", path), 201), "%s", tarn_answer_text());
}

static void must_publish(void)
{
    TARN_ERR(err);
    cr_assert(eq(int, tarn_publish_table(&g_lake->lake, g_id, &err), TARN_OK), "%s", err.detail);
}

static void expect_cache(const char *expected)
{
    const char *path = tarn_path(g_lake->root, CACHE);

    if (!expected) {
        cr_expect(not(tarn_file_exists(path)));
        return;
    }
    cr_assert(tarn_file_exists(path));
    __attribute__((cleanup(tarn_mem_freep))) char *text = tarn_read_file(path, NULL);
    cr_expect(eq(str, text, (char *)expected));
}

Test(publish_cache, one_version_needs_no_mappings)
{
    commit("f1", 1);
    must_publish();
    expect_cache(NULL);
}

Test(publish_cache, a_new_version_brings_the_mappings_of_the_files_there_are)
{
    commit("f1", 1);
    must_publish();
    add_versions();
    must_publish(); /* without a new manifest */
    expect_cache(DOCUMENT(OF_3 "," OF_1));
    commit("f3", 3);
    must_publish();
    expect_cache(DOCUMENT(OF_3 "," OF_1));
    cr_assert(eq(uint, tarn_ask("GET", "/api/table/t/schemas/1/mapping", NULL), 200));
    cr_expect(tarn_has(DOCUMENT(OF_3 "," OF_1), tarn_answer_text()), "as the API tells it: %s", tarn_answer_text());
}

Test(publish_cache, a_file_of_a_version_not_yet_in_use_brings_its_mapping)
{
    add_versions();
    commit("f3", 3);
    must_publish();
    expect_cache(DOCUMENT(OF_3));
    commit("f2", 2);
    must_publish();
    expect_cache(DOCUMENT(OF_3 "," OF_2));
    commit("f1", 1);
    must_publish();
    expect_cache(DOCUMENT(OF_3 "," OF_2 "," OF_1));
}

Test(publish_cache, a_version_that_is_out_of_use_leaves)
{
    add_versions();
    commit("f1", 1);
    must_publish();
    expect_cache(DOCUMENT(OF_3 "," OF_1));
    drop("f1");
    must_publish();
    expect_cache(DOCUMENT(OF_3));
}

Test(publish_cache, what_lies_there_from_elsewhere_is_replaced)
{
    add_versions();
    tarn_write_text(tarn_path(g_lake->root, CACHE), "{\"fields\":\"as an engine left them\"}");
    commit("f2", 2);
    must_publish();
    expect_cache(DOCUMENT(OF_3 "," OF_2));
}

static void run_with(char key[TARN_SHA256_HEX])
{
    __attribute__((cleanup(tarn_publish_run_done))) struct tarn_publish_run run = { .lake = &g_lake->lake,
                                                                                    .table_id = g_id,
                                                                                    .last_step = TARN_STEP_RECORD };
    memcpy(run.cache_key, key, sizeof run.cache_key);
    cr_assert(eq(int, tarn_publish_run(&run, NULL), TARN_OK));
    memcpy(key, run.cache_key, sizeof run.cache_key);
}

Test(publish_cache, the_same_versions_write_no_document)
{
    char key[TARN_SHA256_HEX] = "", none[TARN_SHA256_HEX] = "";

    add_versions();
    commit("f1", 1);
    run_with(key);
    tarn_remove_tree(tarn_path(g_lake->root, CACHE));
    commit("g1", 1);
    run_with(key);
    expect_cache(NULL);
    commit("h1", 1);
    run_with(none); /* a new process knows nothing of the last one's */
    expect_cache(DOCUMENT(OF_3 "," OF_1));
    commit("f2", 2);
    run_with(key);
    expect_cache(DOCUMENT(OF_3 "," OF_2 "," OF_1));
}
