/* test_publish.c - what storage shows after commits, and after a publication that ended half way. The
 * expected documents are written by hand from docs/FORMAT.md. */
#include "formats/manifest/manifest.h"
#include "lake/publish.h"
#include "lake/publish_run.h"
#include "tests/support/managed.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>

#define OWNER "\"catalog\":\"" MANAGED_CATALOG "\",\"table_uuid\":\"22222222-2222-4222-8222-222222222200\""
#define MANIFEST(version, time, rest, files)                                                                 \
    "{\"version\":" version ",\"last_updated\":\"2024-02-01T14:30:" time "Z\",\"table\":\"t\"," OWNER rest   \
    ",\"created_at\":\"2024-02-01T14:30:00Z\",\"files\":[\n" files "]}\n"
#define ENTRY(version, ops)                                                                                  \
    "{\"id\":\"txn-" version "\",\"timestamp\":\"2024-02-01T14:30:0" version "Z\",\"version\":" version      \
    "," OWNER ",\"schema_version\":0,\"dataChange\":true,\"operations\":[\n" ops "]}\n"
#define FILE_OF(path) "{\"path\":\"" path "\",\"size\":10}\n"
#define ADD(path)     "{\"type\":\"add_file\",\"path\":\"" path "\",\"size\":10}\n"
#define REMOVE(path)  "{\"type\":\"remove_file\",\"path\":\"" path "\"}\n"

static void expect_text(const struct managed *m, const char *path, const char *expected)
{
    if (!expected) {
        cr_expect(not(tarn_file_exists(tarn_path(m->folder, path))), "%s is there", path);
        return;
    }
    cr_assert(tarn_file_exists(tarn_path(m->folder, path)), "%s is missing", path);
    __attribute__((cleanup(tarn_mem_freep))) char *text = tarn_read_file(tarn_path(m->folder, path), NULL);
    cr_expect(eq(str, text, (char *)expected), "%s", path);
}

static void must_publish(struct managed *m, int64_t id)
{
    TARN_ERR(err);
    tarn_code code = tarn_publish_table(&m->lake, id, &err);
    cr_assert(eq(int, code, TARN_OK), "%s", err.detail);
}

static void publish_until(struct managed *m, int64_t id, enum tarn_publish_step last)
{
    __attribute__((cleanup(tarn_publish_run_done))) struct tarn_publish_run run = { .lake = &m->lake,
                                                                                    .table_id = id,
                                                                                    .last_step = last };
    TARN_ERR(err);
    cr_assert(eq(int, tarn_publish_run(&run, &err), TARN_OK), "%s", err.detail);
}

Test(publish, a_new_table_gets_an_empty_manifest_and_nothing_else)
{
    MANAGED(m);
    int64_t id = managed_table(&m, "t");
    must_publish(&m, id);
    expect_text(&m, "t/manifest.json", MANIFEST("0", "00", "", ""));
    cr_expect(eq(sz, tarn_count_entries(tarn_path(m.folder, "t")), 1));
    cr_expect(eq(i64, managed_published(&m, id), 0));
}

Test(publish, a_commit_appears_as_entry_manifest_and_pointer)
{
    MANAGED(m);
    int64_t id = managed_table(&m, "t");
    must_publish(&m, id);
    managed_commit(&m, id, "b.parquet a.parquet", NULL);
    must_publish(&m, id);
    expect_text(&m, "t/_transactions/txn-1.json", ENTRY("1", ADD("a.parquet") "," ADD("b.parquet")));
    expect_text(
        &m, "t/manifest.json",
        MANIFEST("1", "01", ",\"transaction\":\"txn-1\"", FILE_OF("a.parquet") "," FILE_OF("b.parquet")));
    expect_text(&m, "t/last_committed_txn", "txn-1\n");
    cr_expect(eq(i64, managed_published(&m, id), 1));
    cr_expect(eq(sz, tarn_count_entries(tarn_path(m.folder, "t")), 3));
}

Test(publish, a_burst_has_every_entry_and_one_manifest)
{
    MANAGED(m);
    int64_t id = managed_table(&m, "t");
    managed_commit(&m, id, "a.parquet", NULL);
    managed_commit(&m, id, "b.parquet", "a.parquet");
    managed_commit(&m, id, "b.parquet", "b.parquet"); /* replaced */
    must_publish(&m, id);
    expect_text(&m, "t/_transactions/txn-1.json", ENTRY("1", ADD("a.parquet")));
    expect_text(&m, "t/_transactions/txn-2.json", ENTRY("2", REMOVE("a.parquet") "," ADD("b.parquet")));
    expect_text(&m, "t/_transactions/txn-3.json", ENTRY("3", REMOVE("b.parquet") "," ADD("b.parquet")));
    expect_text(&m, "t/manifest.json",
                MANIFEST("3", "03", ",\"transaction\":\"txn-3\"", FILE_OF("b.parquet")));
    expect_text(&m, "t/last_committed_txn", "txn-3\n");
}

/* Where a run ends, what of version 2 storage shows: never a document before those it rests on. */
Test(publish, ended_after_any_step_it_is_completed_by_the_next_run)
{
    static const struct {
        enum tarn_publish_step last;
        bool entry, manifest, pointer;
    } k_rows[] = {
        { TARN_STEP_SCHEMA, false, false, false }, { TARN_STEP_LOG, true, false, false },
        { TARN_STEP_MANIFEST, true, true, false }, { TARN_STEP_POINTER, true, true, true },
        { TARN_STEP_RECORD, true, true, true },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        MANAGED(m);
        int64_t id = managed_table(&m, "t");
        managed_commit(&m, id, "a.parquet", NULL);
        must_publish(&m, id);
        managed_commit(&m, id, "b.parquet", NULL);
        publish_until(&m, id, k_rows[i].last);
        const char *old = MANIFEST("1", "01", ",\"transaction\":\"txn-1\"", FILE_OF("a.parquet"));
        const char *new =
            MANIFEST("2", "02", ",\"transaction\":\"txn-2\"", FILE_OF("a.parquet") "," FILE_OF("b.parquet"));
        expect_text(&m, "t/_transactions/txn-2.json", k_rows[i].entry ? ENTRY("2", ADD("b.parquet")) : NULL);
        expect_text(&m, "t/manifest.json", k_rows[i].manifest ? new : old);
        expect_text(&m, "t/last_committed_txn", k_rows[i].pointer ? "txn-2\n" : "txn-1\n");
        cr_expect(eq(i64, managed_published(&m, id), k_rows[i].last == TARN_STEP_RECORD ? 2 : 1));

        managed_reopen(&m);
        must_publish(&m, id);
        expect_text(&m, "t/_transactions/txn-2.json", ENTRY("2", ADD("b.parquet")));
        expect_text(&m, "t/manifest.json", new);
        expect_text(&m, "t/last_committed_txn", "txn-2\n");
        cr_expect(eq(i64, managed_published(&m, id), 2));
    }
}

Test(publish, a_crash_after_each_step_and_further_commits_end_in_the_same_documents)
{
    for (int last = TARN_STEP_SCHEMA; last <= TARN_STEP_POINTER; last++) {
        MANAGED(m);
        int64_t id = managed_table(&m, "t");
        publish_until(&m, id, (enum tarn_publish_step)last);
        managed_commit(&m, id, "a.parquet", NULL);
        publish_until(&m, id, (enum tarn_publish_step)last);
        managed_commit(&m, id, "b.parquet", "a.parquet");
        must_publish(&m, id);
        expect_text(&m, "t/_transactions/txn-1.json", ENTRY("1", ADD("a.parquet")));
        expect_text(&m, "t/_transactions/txn-2.json", ENTRY("2", REMOVE("a.parquet") "," ADD("b.parquet")));
        expect_text(&m, "t/manifest.json",
                    MANIFEST("2", "02", ",\"transaction\":\"txn-2\"", FILE_OF("b.parquet")));
        expect_text(&m, "t/last_committed_txn", "txn-2\n");
    }
}

#define SCHEMA_1 "{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"int32\",\"nullable\":true}]}"
#define SCHEMA_2 "{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"int64\",\"nullable\":true}]}"

Test(publish, schemas_are_published_with_their_history_and_before_files_of_them)
{
    MANAGED(m);
    int64_t id = managed_table(&m, "t");
    managed_schema(&m, id, SCHEMA_1);
    must_publish(&m, id);
    expect_text(&m, "t/schema.json",
                "{\"current_version\":1,\"schema\":" SCHEMA_1
                ",\"created_at\":\"2024-02-01T14:30:00Z\",\"versions\":[]}\n");
    managed_schema(&m, id, SCHEMA_2);
    managed_commit(&m, id, "a.parquet", NULL);
    publish_until(&m, id, TARN_STEP_SCHEMA);
    const char *both =
        "{\"current_version\":2,\"schema\":" SCHEMA_2 ",\"created_at\":\"2024-02-01T14:30:00Z\","
        "\"versions\":[{\"version\":1,\"schema\":" SCHEMA_1 ",\"created_at\":\"2024-02-01T14:30:00Z\"}]}\n";
    expect_text(&m, "t/schema.json", both);
    expect_text(&m, "t/_transactions", NULL);
    must_publish(&m, id);
    expect_text(&m, "t/schema.json", both);
    expect_text(&m, "t/manifest.json",
                MANIFEST("1", "01", ",\"transaction\":\"txn-1\",\"schema_version\":2", FILE_OF("a.parquet")));
}

static tarn_code count_file(void *ctx, const struct tarn_file *file, struct tarn_err *err)
{
    (void)file;
    (void)err;
    (*(int64_t *)ctx)++;
    return TARN_OK;
}

Test(publish, a_huge_commit_and_a_manifest_of_many_pages_are_streamed)
{
    enum { FILES = 20500 };
    MANAGED(m);
    int64_t id = managed_table(&m, "t");
    managed_commit(&m, id, "a.parquet", NULL);
    managed_commit_many(&m, id, 0, FILES);
    for (int again = 0; again < 2; again++) { /* the second time the entry is there already */
        publish_until(&m, id, TARN_STEP_LOG);
        TARN_AUTO(place) struct tarn_place *place = NULL;
        struct tarn_entry_head head = { 0 };
        cr_assert(eq(int, tarn_place_open_local(tarn_path(m.folder, "t"), &place, NULL), TARN_OK));
        cr_assert(eq(int,
                     tarn_entry_read_at(place, "_transactions/txn-2.json", &head, NULL, NULL, NULL, NULL),
                     TARN_OK));
        cr_expect(eq(i64, head.adds, FILES));
        cr_expect(eq(i64, head.removes, 0));
        tarn_entry_head_done(&head);
    }
    must_publish(&m, id);
    TARN_AUTO(place) struct tarn_place *place = NULL;
    struct tarn_manifest_head manifest = { 0 };
    int64_t files = 0;
    cr_assert(eq(int, tarn_place_open_local(tarn_path(m.folder, "t"), &place, NULL), TARN_OK));
    cr_assert(eq(int, tarn_manifest_read_at(place, &manifest, NULL, count_file, &files, NULL), TARN_OK));
    cr_expect(eq(i64, files, FILES + 1));
    cr_expect(eq(i64, manifest.version, 2));
    tarn_manifest_head_done(&manifest);
}

static void drop(struct tarn_table *table) { table->dropped_at = MANAGED_T0 + 5000; }
static void observe(struct tarn_table *table) { table->mode = TARN_OBSERVED; }
static void switch_off(struct tarn_table *table) { table->publish = false; }
static void await_adoption(struct tarn_table *table) { table->block = TARN_BLOCK_ADOPTION; }

Test(publish, of_a_table_that_is_dropped_observed_off_or_blocked_nothing_is_written)
{
    static const struct {
        void (*change)(struct tarn_table *table);
        tarn_code code;
    } k_rows[] = {
        { drop, TARN_OK },
        { observe, TARN_OK },
        { switch_off, TARN_OK },
        { await_adoption, TARN_ADOPTION_CONFLICT },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        MANAGED(m);
        int64_t id = managed_table(&m, "t");
        managed_change(&m, id, k_rows[i].change);
        cr_expect(eq(int, tarn_publish_table(&m.lake, id, NULL), k_rows[i].code), "row %zu", i);
        cr_expect(not(tarn_file_exists(tarn_path(m.folder, "t"))));
    }
}

Test(publish, a_folder_that_is_gone_is_an_error_and_not_made_anew)
{
    MANAGED(m);
    int64_t id = managed_table(&m, "t");
    must_publish(&m, id);
    managed_commit(&m, id, "a.parquet", NULL);
    cr_assert(eq(int, rename(tarn_path(m.folder, "t"), tarn_path(m.folder, "away")), 0));
    cr_expect(eq(int, tarn_publish_table(&m.lake, id, NULL), TARN_STORAGE_UNAVAILABLE));
    cr_expect(not(tarn_file_exists(tarn_path(m.folder, "t"))));
    cr_assert(eq(int, rename(tarn_path(m.folder, "away"), tarn_path(m.folder, "t")), 0));
    must_publish(&m, id);
    expect_text(&m, "t/last_committed_txn", "txn-1\n");
}

Test(publish, a_log_folder_that_is_a_link_is_refused)
{
    MANAGED(m);
    const char *outside = tarn_tmp();
    int64_t id = managed_table(&m, "t");
    must_publish(&m, id);
    tarn_make_link(tarn_path(m.folder, "t/_transactions"), outside);
    managed_commit(&m, id, "a.parquet", NULL);
    cr_expect(eq(int, tarn_publish_table(&m.lake, id, NULL), TARN_LOCATION_NOT_ALLOWED));
    cr_expect(eq(sz, tarn_count_entries(outside), 0));
}
