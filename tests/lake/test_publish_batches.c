/* test_publish_batches.c - the checkpoints under processed/: their form (written by hand from
 * docs/FORMAT.md), their place in the order of documents, and what happens when somebody else's document or a
 * file is in their way. */
#include "lake/publish.h"
#include "lake/publish_run.h"
#include "tests/support/managed.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#define OWNER "\"catalog\":\"" MANAGED_CATALOG "\",\"table_uuid\":\"22222222-2222-4222-8222-222222222200\""
#define TIMES                                                                                                \
    "\"start_time\":\"2024-02-01T14:30:00Z\",\"end_time\":\"2024-02-01T14:30:15Z\",\"num_records\":5"
#define UPDATED ",\"updated_at\":\"2024-02-01T14:30:00Z\","
#define RUNNING(id)                                                                                          \
    "{\"batch_id\":\"" id "\",\"status\":\"running\",\"start_time\":\"2024-02-01T14:30:00Z\"" UPDATED OWNER "}\n"
#define FAILED(id) "{\"batch_id\":\"" id "\",\"status\":\"failed\"," TIMES UPDATED OWNER "}\n"
#define COMPLETED(id, transaction)                                                                           \
    "{\"batch_id\":\"" id "\",\"status\":\"completed\"," TIMES ",\"transaction\":\"" transaction "\"" UPDATED OWNER \
    "}\n"

static void expect_text(const struct managed *m, const char *path, const char *expected)
{
    bool there = tarn_file_exists(tarn_path(m->folder, path));
    cr_assert(there == (expected != NULL), "%s is %s", path, there ? "there" : "missing");
    if (!expected)
        return;
    __attribute__((cleanup(tarn_mem_freep))) char *text = tarn_read_file(tarn_path(m->folder, path), NULL);
    cr_expect(eq(str, text, (char *)expected), "%s", path);
}

/* The code of the checkpoints; the publication itself must succeed. */
static tarn_code publish_until(struct managed *m, int64_t id, enum tarn_publish_step last, int64_t *foreign)
{
    __attribute__((cleanup(tarn_publish_run_done))) struct tarn_publish_run run = { .lake = &m->lake,
                                                                                    .table_id = id,
                                                                                    .last_step = last };
    TARN_ERR(err);
    cr_assert(eq(int, tarn_publish_run(&run, &err), TARN_OK), "%s", err.detail);
    if (foreign)
        *foreign = run.foreign_batches;
    return run.side.code;
}

static void must_publish(struct managed *m, int64_t id)
{
    TARN_ERR(err);
    cr_assert(eq(int, tarn_publish_table(&m->lake, id, &err), TARN_OK), "%s", err.detail);
}

Test(publish_batches, a_checkpoint_lies_under_its_batchs_path_in_the_founding_form)
{
    static const struct {
        const char *id, *path, *text;
        enum tarn_batch_status status;
        int64_t version;
    } k_rows[] = {
        { "2024-02-01/14/batch-000123.parquet", "t/processed/2024-02-01/14/batch-000123.json",
          COMPLETED("2024-02-01/14/batch-000123.parquet", "txn-1"), TARN_BATCH_IS_COMPLETED, 1 },
        { "b", "t/processed/b.json", RUNNING("b"), TARN_BATCH_IS_RUNNING, -1 },
        { "c.json", "t/processed/c.json.json", FAILED("c.json"), TARN_BATCH_IS_FAILED, -1 },
        { "d e/\xc3\xa9.PARQUET", "t/processed/d e/\xc3\xa9.PARQUET.json", FAILED("d e/\xc3\xa9.PARQUET"),
          TARN_BATCH_IS_FAILED, -1 },
    };
    MANAGED(m);
    int64_t id = managed_table(&m, "t");
    managed_commit(&m, id, "a.parquet", NULL);
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++)
        managed_batch(&m, id, k_rows[i].id, k_rows[i].status, k_rows[i].version);
    must_publish(&m, id);
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++)
        expect_text(&m, k_rows[i].path, k_rows[i].text);
}

Test(publish_batches, a_completed_batch_is_told_after_the_pointer_to_its_commit)
{
    MANAGED(m);
    int64_t id = managed_table(&m, "t");
    must_publish(&m, id);
    managed_commit(&m, id, "a.parquet", NULL);
    managed_batch(&m, id, "a", TARN_BATCH_IS_COMPLETED, 1);
    for (int last = TARN_STEP_SCHEMA; last < TARN_STEP_BATCHES; last++) {
        cr_expect(eq(int, publish_until(&m, id, (enum tarn_publish_step)last, NULL), TARN_OK));
        expect_text(&m, "t/processed", NULL);
    }
    expect_text(&m, "t/last_committed_txn", "txn-1\n");
    cr_expect(eq(int, publish_until(&m, id, TARN_STEP_BATCHES, NULL), TARN_OK)); /* and a crash */
    expect_text(&m, "t/processed/a.json", COMPLETED("a", "txn-1"));
    managed_reopen(&m);
    must_publish(&m, id);
    expect_text(&m, "t/processed/a.json", COMPLETED("a", "txn-1"));
    cr_expect(eq(i64, managed_published(&m, id), 1));
}

Test(publish_batches, a_checkpoint_follows_each_change_without_a_commit)
{
    MANAGED(m);
    int64_t id = managed_table(&m, "t");
    must_publish(&m, id);
    managed_batch(&m, id, "a", TARN_BATCH_IS_RUNNING, -1);
    must_publish(&m, id);
    expect_text(&m, "t/processed/a.json", RUNNING("a"));
    managed_batch(&m, id, "a", TARN_BATCH_IS_FAILED, -1);
    managed_batch(&m, id, "b", TARN_BATCH_IS_RUNNING, -1);
    must_publish(&m, id);
    expect_text(&m, "t/processed/a.json", FAILED("a"));
    expect_text(&m, "t/processed/b.json", RUNNING("b"));
    cr_expect(eq(i64, managed_published(&m, id), 0));
    /* Somebody tidied up: a checkpoint that has not changed is not written again. */
    tarn_remove_tree(tarn_path(m.folder, "t/processed"));
    must_publish(&m, id);
    expect_text(&m, "t/processed", NULL);
}

Test(publish_batches, a_document_of_somebody_else_is_left_alone)
{
    static char large[70000];
    memset(large, ' ', sizeof large - 1);
    static const char *const k_theirs[] = {
        "{\"batch_id\":\"a\",\"status\":\"completed\",\"num_records\":9}", /* a merge engine's own */
        "{\"batch_id\":\"b\",\"status\":\"running\"," OWNER "}",           /* of another batch */
        "{\"batch_id\":\"a\",\"catalog\":\"" MANAGED_CATALOG "\",\"table_uuid\":\"other\"}",
        "[]",
        "not JSON",
        "",
        large,
    };
    for (size_t i = 0; i < TARN_COUNT(k_theirs); i++) {
        MANAGED(m);
        int64_t id = managed_table(&m, "t"), foreign = 0;
        must_publish(&m, id);
        tarn_write_text(tarn_path(m.folder, "t/processed/a.json"), k_theirs[i]);
        managed_batch(&m, id, "a", TARN_BATCH_IS_RUNNING, -1);
        managed_commit(&m, id, "a.parquet", NULL);
        cr_expect(eq(int, publish_until(&m, id, TARN_STEP_RECORD, &foreign), TARN_OK));
        cr_expect(eq(i64, foreign, 1), "row %zu", i);
        expect_text(&m, "t/processed/a.json", k_theirs[i]);
        cr_expect(eq(i64, managed_published(&m, id), 1)); /* commits go on */
        must_publish(&m, id);                             /* and nothing is left to do */

        tarn_remove_tree(tarn_path(m.folder, "t/processed/a.json"));
        managed_batch(&m, id, "a", TARN_BATCH_IS_FAILED, -1);
        must_publish(&m, id);
        expect_text(&m, "t/processed/a.json", FAILED("a"));
    }
}

Test(publish_batches, a_folder_that_cannot_be_written_does_not_hold_up_commits)
{
    MANAGED(m);
    int64_t id = managed_table(&m, "t");
    must_publish(&m, id);
    tarn_write_text(tarn_path(m.folder, "t/processed"), "a file");
    managed_commit(&m, id, "a.parquet", NULL);
    managed_batch(&m, id, "a", TARN_BATCH_IS_COMPLETED, 1);
    cr_expect(publish_until(&m, id, TARN_STEP_RECORD, NULL) != TARN_OK);
    cr_expect(eq(i64, managed_published(&m, id), 1));
    expect_text(&m, "t/last_committed_txn", "txn-1\n");
    TARN_ERR(err);
    cr_expect(tarn_publish_table(&m.lake, id, &err) != TARN_OK);
    cr_expect(err.detail[0] != '\0');
    tarn_remove_tree(tarn_path(m.folder, "t/processed"));
    must_publish(&m, id);
    expect_text(&m, "t/processed/a.json", COMPLETED("a", "txn-1"));
}

Test(publish_batches, many_batches_in_many_folders_are_all_written)
{
    enum { COUNT = 150 };
    MANAGED(m);
    int64_t id = managed_table(&m, "t");
    for (int i = 0; i < COUNT; i++) {
        char batch_id[64];
        snprintf(batch_id, sizeof batch_id, "%02d/batch-%06d.parquet", i % 7, i);
        managed_batch(&m, id, batch_id, TARN_BATCH_IS_RUNNING, -1);
    }
    must_publish(&m, id);
    size_t found = 0;
    for (int i = 0; i < 7; i++) {
        char folder[64];
        snprintf(folder, sizeof folder, "t/processed/%02d", i);
        found += tarn_count_entries(tarn_path(m.folder, folder));
    }
    cr_expect(eq(sz, found, COUNT));
}

static void drop(struct tarn_table *table) { table->dropped_at = MANAGED_T0; }
static void switch_off(struct tarn_table *table) { table->publish = false; }
static void give_away(struct tarn_table *table) { table->mode = TARN_OBSERVED; }

Test(publish_batches, nothing_is_written_for_a_table_that_is_not_published)
{
    static void (*const k_changes[])(struct tarn_table *) = { drop, switch_off, give_away };
    for (size_t i = 0; i < TARN_COUNT(k_changes); i++) {
        MANAGED(m);
        int64_t id = managed_table(&m, "t");
        must_publish(&m, id);
        managed_batch(&m, id, "a", TARN_BATCH_IS_RUNNING, -1);
        managed_change(&m, id, k_changes[i]);
        must_publish(&m, id);
        expect_text(&m, "t/processed", NULL);
    }
}
