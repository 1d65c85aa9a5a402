/* test_publish_owner.c - one owner: what somebody else wrote is never overwritten, and what is Tarn's own, or
 * the same bytes again, never stops a publication. */
#include "lake/publish.h"
#include "lake/publish_run.h"
#include "tests/support/managed.h"
#include "tests/support/support.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#define STRANGER "{\"version\":9,\"files\":[]}"

static tarn_code publish(struct managed *m, int64_t id) { return tarn_publish_table(&m->lake, id, NULL); }

/* A table at version 1, published, and version 2 to come. */
static int64_t behind(struct managed *m)
{
    int64_t id = managed_table(m, "t");
    managed_commit(m, id, "a.parquet", NULL);
    cr_assert(eq(int, publish(m, id), TARN_OK));
    managed_commit(m, id, "b.parquet", NULL);
    return id;
}

static char *text_of(const struct managed *m, const char *path)
{
    return tarn_read_file(tarn_path(m->folder, path), NULL);
}

static void expect_kept(const struct managed *m, const char *path, const char *expected)
{
    __attribute__((cleanup(tarn_mem_freep))) char *text = text_of(m, path);
    cr_expect(eq(str, text, (char *)expected), "%s", path);
}

Test(publish_owner, a_foreign_document_stops_publication_and_stays)
{
    static const struct {
        const char *path, *text;
    } k_rows[] = {
        { "t/manifest.json", STRANGER },
        { "t/manifest.json", "" },
        { "t/manifest.json",
          "{\"version\":2,\"files\":[],\"catalog\":\"" MANAGED_CATALOG "\",\"table_uuid\":\"other\"}" },
        /* of this table, but of a version that the catalog does not have */
        { "t/manifest.json", "{\"version\":3,\"files\":[],\"catalog\":\"" MANAGED_CATALOG
                             "\",\"table_uuid\":\"22222222-2222-4222-8222-222222222200\"}" },
        { "t/_transactions/txn-2.json", "{\"id\":\"txn-2\",\"operations\":[]}" },
        { "t/_transactions/txn-2.json", "" },
        { "t/last_committed_txn", "txn-77\n" },
        { "t/last_committed_txn", "not an id\n" },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        MANAGED(m);
        int64_t id = behind(&m);
        tarn_write_text(tarn_path(m.folder, k_rows[i].path), k_rows[i].text);
        cr_expect(eq(int, publish(&m, id), TARN_FOREIGN_WRITE), "%s %s", k_rows[i].path, k_rows[i].text);
        expect_kept(&m, k_rows[i].path, k_rows[i].text);
        TARN_AUTO(table) struct tarn_table *table = managed_row(&m, id);
        cr_expect(eq(int, table->block, TARN_BLOCK_FOREIGN_WRITE));
        cr_expect(eq(i64, table->published_version, 1));
        cr_expect(eq(int, publish(&m, id), TARN_FOREIGN_WRITE));
        expect_kept(&m, k_rows[i].path, k_rows[i].text);
    }
}

/* What a writer from before Tarn does: load, append, dump; all that it does not know stays as it was. */
Test(publish_owner, a_manifest_edited_in_place_is_foreign_although_it_keeps_tarn_s_ids)
{
#define EDITED(version, transaction, updated)                                                                 \
    "{\"version\":" version ",\"last_updated\":\"2024-02-01T14:30:" updated "Z\",\"table\":\"t\",\"catalog\":\"" MANAGED_CATALOG  \
    "\",\"table_uuid\":\"22222222-2222-4222-8222-222222222200\",\"transaction\":\"" transaction                  \
    "\",\"files\":[{\"path\":\"mine.parquet\"}]}"
    static const struct {
        const char *text;
        tarn_code code;
    } k_rows[] = {
        { EDITED("1", "txn-1", "01"), TARN_FOREIGN_WRITE },
        { EDITED("1", "txn-1", "09"), TARN_FOREIGN_WRITE },
        { EDITED("2", "txn-1", "01"), TARN_FOREIGN_WRITE },
        { EDITED("2", "txn-2", "09"), TARN_FOREIGN_WRITE },
        { EDITED("0", "txn-0", "00"), TARN_FOREIGN_WRITE },
        /* the manifest of version 2, as a crash may leave it */
        { EDITED("2", "txn-2", "02"), TARN_OK },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        MANAGED(m);
        int64_t id = behind(&m);
        tarn_write_text(tarn_path(m.folder, "t/manifest.json"), k_rows[i].text);
        cr_expect(eq(int, publish(&m, id), k_rows[i].code), "%s", k_rows[i].text);
        if (k_rows[i].code != TARN_OK)
            expect_kept(&m, "t/manifest.json", k_rows[i].text);
    }
#undef EDITED
}

/* --- the version once more, under another name --- */

static tarn_code mark_tx(struct tarn_tx *tx, void *ctx, struct tarn_err *err)
{
    return tx->ops->publications.mark(tx, *(int64_t *)ctx, err);
}
static void rename_it(struct tarn_table *table)
{
    free(table->name);
    table->name = strdup("renamed");
}
static void rename_again(struct tarn_table *table)
{
    free(table->name);
    table->name = strdup("again");
}
static void mark(struct managed *m, int64_t id)
{
    cr_assert(eq(int, tarn_store_write(m->lake.store, mark_tx, &id, NULL), TARN_OK));
}
static void publish_up_to(struct managed *m, int64_t id, enum tarn_publish_step last)
{
    __attribute__((cleanup(tarn_publish_run_done))) struct tarn_publish_run run = { .lake = &m->lake,
                                                                                    .table_id = id,
                                                                                    .last_step = last };
    cr_assert(eq(int, tarn_publish_run(&run, NULL), TARN_OK));
}

Test(publish_owner, a_crash_after_the_manifest_of_a_renamed_table_is_no_foreign_write)
{
    static const struct {
        int commits, more; /* before the rename; after the crash */
        bool again;        /* renamed once more before the next publication */
    } k_rows[] = { { 2, 0, false }, { 2, 1, false }, { 2, 0, true }, { 2, 1, true }, { 0, 0, false }, { 0, 0, true } };

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        MANAGED(m);
        int64_t id = managed_table(&m, "t");
        for (int n = 0; n < k_rows[i].commits; n++)
            managed_commit(&m, id, n ? "b.parquet" : "a.parquet", NULL);
        cr_assert(eq(int, publish(&m, id), TARN_OK));
        managed_change(&m, id, rename_it);
        mark(&m, id);
        publish_up_to(&m, id, TARN_STEP_MANIFEST);
        for (int n = 0; n < k_rows[i].more; n++)
            managed_commit(&m, id, "c.parquet", NULL);
        if (k_rows[i].again)
            managed_change(&m, id, rename_again);
        cr_expect(eq(int, publish(&m, id), TARN_OK), "row %zu", i);
        __attribute__((cleanup(tarn_mem_freep))) char *text = text_of(&m, "t/manifest.json");
        cr_expect(strstr(text, k_rows[i].again ? "\"again\"" : "\"renamed\"") != NULL, "row %zu: %s", i, text);
    }
}

Test(publish_owner, who_edits_that_manifest_in_place_is_found_out)
{
    MANAGED(m);
    int64_t id = managed_table(&m, "t");
    managed_commit(&m, id, "a.parquet", NULL);
    cr_assert(eq(int, publish(&m, id), TARN_OK));
    managed_change(&m, id, rename_it);
    mark(&m, id);
    publish_up_to(&m, id, TARN_STEP_MANIFEST);
    __attribute__((cleanup(tarn_mem_freep))) char *text = text_of(&m, "t/manifest.json");
    char *size = strstr(text, "\"size\":10");
    cr_assert(size != NULL);
    size[strlen("\"size\":")] = '9';
    tarn_write_text(tarn_path(m.folder, "t/manifest.json"), text);
    cr_expect(eq(int, publish(&m, id), TARN_FOREIGN_WRITE));
    expect_kept(&m, "t/manifest.json", text);
}

Test(publish_owner, the_detail_names_the_document)
{
    MANAGED(m);
    TARN_ERR(err);
    int64_t id = behind(&m);
    tarn_write_text(tarn_path(m.folder, "t/manifest.json"), STRANGER);
    cr_expect(eq(int, tarn_publish_table(&m.lake, id, &err), TARN_FOREIGN_WRITE));
    cr_expect(strstr(err.detail, tarn_path(m.folder, "t/manifest.json")) != NULL, "%s", err.detail);
}

static void unblock(struct tarn_table *table) { table->block = TARN_BLOCK_NONE; }

Test(publish_owner, after_the_stranger_is_gone_and_the_block_cleared_it_goes_on)
{
    MANAGED(m);
    int64_t id = behind(&m);
    __attribute__((cleanup(tarn_mem_freep))) char *ours = text_of(&m, "t/manifest.json");
    tarn_write_text(tarn_path(m.folder, "t/manifest.json"), STRANGER);
    cr_expect(eq(int, publish(&m, id), TARN_FOREIGN_WRITE));
    tarn_write_text(tarn_path(m.folder, "t/manifest.json"), ours);
    managed_change(&m, id, unblock);
    cr_expect(eq(int, publish(&m, id), TARN_OK));
    cr_expect(eq(i64, managed_published(&m, id), 2));
}

Test(publish_owner, the_same_bytes_in_another_file_are_still_ours)
{
    MANAGED(m);
    int64_t id = behind(&m);
    const char *path = tarn_path(m.folder, "t/manifest.json");
    __attribute__((cleanup(tarn_mem_freep))) char *text = tarn_read_file(path, NULL);
    tarn_remove_tree(path);
    tarn_write_text(path, text);
    cr_expect(eq(int, publish(&m, id), TARN_OK));
}

Test(publish_owner, what_is_missing_is_written_again)
{
    static const char *const k_paths[] = { "t/manifest.json", "t/last_committed_txn", "t/_transactions" };
    for (size_t i = 0; i < TARN_COUNT(k_paths); i++) {
        MANAGED(m);
        int64_t id = behind(&m);
        tarn_remove_tree(tarn_path(m.folder, k_paths[i]));
        cr_expect(eq(int, publish(&m, id), TARN_OK), "%s", k_paths[i]);
        cr_expect(tarn_file_exists(tarn_path(m.folder, k_paths[i])));
    }
}

Test(publish_owner, an_entry_in_other_words_is_ours_when_it_says_the_same)
{
    MANAGED(m);
    int64_t id = behind(&m);
    tarn_write_text(
        tarn_path(m.folder, "t/_transactions/txn-2.json"),
        "{ \"operations\": [ {\"path\":\"b.parquet\", \"size\":10, \"type\":\"add_file\"} ],\n"
        "  \"table_uuid\":\"22222222-2222-4222-8222-222222222200\", \"catalog\":\"" MANAGED_CATALOG "\",\n"
        "  \"dataChange\":true, \"version\":2, \"timestamp\":\"2024-02-01T14:30:02Z\", \"id\":\"txn-2\" }");
    cr_expect(eq(int, publish(&m, id), TARN_OK));
}

/* --- adopted --- */

#define ADOPTED "{\"version\":5,\"files\":[]}"

Test(publish_owner, an_adopted_manifest_and_pointer_are_tarn_s_to_replace)
{
    MANAGED(m);
    tarn_write_text(tarn_path(m.folder, "t/manifest.json"), ADOPTED);
    tarn_write_text(tarn_path(m.folder, "t/last_committed_txn"), "\xef\xbb\xbfload-17\r\n");
    int64_t id = managed_adopted(&m, "t", 5, "load-17");
    cr_expect(eq(int, publish(&m, id), TARN_OK));
    expect_kept(&m, "t/manifest.json", ADOPTED);
    managed_commit(&m, id, "a.parquet", NULL);
    cr_expect(eq(int, publish(&m, id), TARN_OK));
    expect_kept(&m, "t/last_committed_txn", "txn-6\n");
    cr_expect(eq(sz, tarn_count_entries(tarn_path(m.folder, "t/_transactions")), 1));
}

Test(publish_owner, an_adopted_manifest_that_changed_since_is_foreign)
{
    MANAGED(m);
    tarn_write_text(tarn_path(m.folder, "t/manifest.json"), ADOPTED);
    int64_t id = managed_adopted(&m, "t", 5, NULL);
    tarn_write_text(tarn_path(m.folder, "t/manifest.json"), STRANGER);
    managed_commit(&m, id, "a.parquet", NULL);
    cr_expect(eq(int, publish(&m, id), TARN_FOREIGN_WRITE));
    expect_kept(&m, "t/manifest.json", STRANGER);
}

Test(publish_owner, a_manifest_in_the_folder_of_a_new_table_is_foreign)
{
    MANAGED(m);
    int64_t id = managed_table(&m, "t");
    tarn_write_text(tarn_path(m.folder, "t/manifest.json"), STRANGER);
    cr_expect(eq(int, publish(&m, id), TARN_FOREIGN_WRITE));
    expect_kept(&m, "t/manifest.json", STRANGER);
}

/* --- schema --- */

#define SCHEMA(type)                                                                                         \
    "{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"" type "\",\"nullable\":true}]}"

Test(publish_owner, a_schema_document_is_replaced_when_the_catalog_knows_all_it_holds)
{
    static const struct {
        const char *text;
        tarn_code code;
    } k_rows[] = {
        { "{\"current_version\":1,\"schema\":" SCHEMA("int32") "}", TARN_OK },
        { "{\"current_version\":1,\"schema\":" SCHEMA("integer") ",\"by\":\"hand\"}", TARN_OK },
        { SCHEMA("int32"), TARN_OK },
        { "{\"current_version\":1,\"schema\":" SCHEMA("string") "}", TARN_FOREIGN_WRITE },
        { "{\"current_version\":7,\"schema\":" SCHEMA("int32") "}", TARN_FOREIGN_WRITE },
        { "{", TARN_FOREIGN_WRITE },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        MANAGED(m);
        int64_t id = managed_table(&m, "t");
        managed_schema(&m, id, SCHEMA("int32"));
        tarn_write_text(tarn_path(m.folder, "t/schema.json"), k_rows[i].text);
        cr_expect(eq(int, publish(&m, id), k_rows[i].code), "%s", k_rows[i].text);
        if (k_rows[i].code != TARN_OK)
            expect_kept(&m, "t/schema.json", k_rows[i].text);
    }
}
