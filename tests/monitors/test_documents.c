/* Documents, data files, staging and the place itself, over facts written down by hand. */
#include "tests/monitors/judged.h"
#include "base/own.h"
#include "base/text.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

static void add_suspects(struct tarn_suspects *list, int count)
{
    char path[32];

    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "a/%02d.parquet", i);
        cr_assert(eq(int, tarn_suspects_add(list, path, NULL, -1, -1, 0, NULL), TARN_OK));
    }
}

/* What is cut inside a character would neither be stored nor sent. */
Test(documents, a_message_that_is_cut_is_text_all_the_same)
{
    struct tarn_facts facts = plain_facts();
    struct tarn_settings settings;
    struct tarn_judging judging = { .facts = &facts, .settings = &settings, .now_ms = NOW };
    struct tarn_suspects list = { 0 };
    char path[512] = "";
    TARN_ERR(err);

    for (size_t len = 0; len + 4 < sizeof path; len += 3)
        memcpy(path + len, "\xe8\xa1\xa8", 4); /* one character of three bytes */
    for (size_t i = 0; i < 25; i++) {
        path[0] = (char)('a' + i);
        path[1] = path[2] = 'x';
        cr_assert(eq(int, tarn_suspects_add(&list, path + (i + 1) % 3, NULL, -1, -1, 0, &err), TARN_OK));
    }
    tarn_settings_resolve(NULL, NULL, &settings);
    tarn_judge_suspects(&judging, "unregistered_data_file", &list, TARN_SEV_WARNING);
    cr_assert(eq(sz, judging.out.count, 1));
    const char *message = judging.out.items[0].message;
    cr_expect(tarn_utf8_valid(message, strlen(message)), "%s", message);
    cr_expect(gt(sz, strlen(message), 300));
    tarn_judging_done(&judging);
    tarn_suspects_done(&list);
    tarn_facts_done(&facts);
}

Test(documents, each_fault_of_a_document_has_its_code)
{
    struct { struct tarn_facts facts; const char *expected; } rows[12];
    struct tarn_log_entry old = { .mtime_ms = NOW - 2 * MINUTE };
    for (size_t i = 0; i < TARN_COUNT(rows); i++)
        rows[i].facts = plain_facts();
    rows[0].expected = "";
    rows[1].facts.manifest = TARN_DOC_ABSENT, rows[1].expected = "manifest_missing manifest.json error";
    rows[2].facts.manifest = TARN_DOC_BAD, rows[2].expected = "manifest_unreadable manifest.json error";
    rows[3].facts.pointer = TARN_DOC_ABSENT, rows[3].facts.log.count = 1, rows[3].facts.log.entries = &old;
    rows[3].expected = "pointer_missing last_committed_txn warning";
    rows[4].facts.pointer = TARN_DOC_BAD, rows[4].expected = "pointer_unreadable last_committed_txn warning";
    rows[5].facts.schema = TARN_DOC_BAD, rows[5].expected = "schema_unreadable schema.json warning";
    rows[6].facts.last_updated_missing = true, rows[6].expected = "manifest_last_updated_missing manifest.json info";
    rows[7].facts.last_updated_bad = true, rows[7].expected = "implausible_timestamp manifest.json warning";
    rows[8].facts.last_updated_naive = true, rows[8].expected = "naive_timestamp manifest.json info";
    rows[9].facts.schema_not_in_history = true, rows[9].expected = "schema_version_not_in_history schema.json warning";
    rows[10].facts.managed = true, rows[10].facts.pointer_differs = true;
    rows[10].expected = "pointer_mismatch last_committed_txn warning";
    rows[11].facts.managed = true, rows[11].facts.foreign_manifest = rows[11].facts.pointer_differs = true;
    rows[11].facts.behind_since = NOW - 1000, rows[11].expected = ""; /* a publication at work */
    for (size_t i = 0; i < TARN_COUNT(rows); i++)
        cr_expect(eq(str, (char *)judged(tarn_judge_manifest_content, &rows[i].facts, NULL), (char *)rows[i].expected), "row %zu", i);
}

Test(documents, a_publication_that_takes_too_long_is_told)
{
    struct tarn_facts facts = plain_facts();

    facts.managed = true;
    cr_expect(eq(str, (char *)judged(tarn_judge_manifest_content, &facts, NULL), ""));
    facts.behind_since = NOW - 5 * MINUTE;
    cr_expect(eq(str, (char *)judged(tarn_judge_manifest_content, &facts, NULL), ""), "not above");
    facts.behind_since = NOW - 5 * MINUTE - 1;
    cr_expect(eq(str, (char *)judged(tarn_judge_manifest_content, &facts, NULL), "publication_behind manifest.json warning"));
    cr_expect(eq(str, (char *)judged(tarn_judge_manifest_content, &facts, "{\"publication_behind\":{\"error\":\"5m\"}}"),
                 "publication_behind manifest.json error"));
    facts.block = TARN_BLOCK_FOREIGN_WRITE;
    cr_expect(eq(str, (char *)judged(tarn_judge_manifest_content, &facts, NULL), ""), "what stopped it is told");
}

Test(data_files, up_to_twenty_subjects_are_told_one_by_one_and_more_as_one)
{
    for (int count = 19; count <= 22; count++) {
        struct tarn_facts facts = plain_facts();
        add_suspects(&facts.missing, count);
        const char *text = judged(tarn_judge_data_files, &facts, NULL);
        if (count > 20)
            cr_expect(eq(str, (char *)text, "missing_data_file * error"));
        else
            cr_expect(eq(int, strncmp(text, "missing_data_file a/00.parquet error; ", 38), 0));
        tarn_facts_done(&facts);
    }
}

Test(coverage, drift_and_missing_values_are_told_by_file)
{
    struct tarn_facts facts = plain_facts();

    cr_assert(eq(int, tarn_suspects_add(&facts.partition_drift, "h=1/a", "the path says h=1, partitionValues say 2", -1, -1, -1, NULL), TARN_OK));
    cr_assert(eq(int, tarn_suspects_add(&facts.no_partition_values, "b", "without h", -1, -1, -1, NULL), TARN_OK));
    cr_expect(eq(str, (char *)judged(tarn_judge_coverage, &facts, NULL), "missing_partition_values b warning; partition_drift h=1/a warning"));
    tarn_facts_done(&facts);
}

Test(coverage, missing_statistics_are_an_info_until_a_share_is_set)
{
    static const struct { int without; int64_t files; const char *monitors, *expected; } k_rows[] = {
        { 0, 10, NULL, "" },
        { 1, 10, NULL, "missing_column_stats * info" },
        { 10, 10, NULL, "missing_column_stats * info" },
        { 1, 10, "{\"missing_column_stats\":{\"warning\":0.1}}", "missing_column_stats * info" }, /* not above */
        { 2, 10, "{\"missing_column_stats\":{\"warning\":0.1}}", "missing_column_stats * warning" },
        { 2, 10, "{\"missing_column_stats\":{\"warning\":\"10%\",\"error\":\"50%\"}}", "missing_column_stats * warning" },
        { 6, 10, "{\"missing_column_stats\":{\"warning\":\"10%\",\"error\":\"50%\"}}", "missing_column_stats * error" },
        { 1, 10, "{\"missing_column_stats\":{\"error\":0}}", "missing_column_stats * error" },
        { 1, 10, "{\"missing_column_stats\":{\"severity\":\"off\"}}", "" },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct tarn_facts facts = plain_facts();
        add_suspects(&facts.no_column_stats, k_rows[i].without);
        facts.stats_files = k_rows[i].files;
        cr_expect(eq(str, (char *)judged(tarn_judge_coverage, &facts, k_rows[i].monitors), (char *)k_rows[i].expected), "row %zu", i);
        tarn_facts_done(&facts);
    }
}

Test(small_files, a_folder_of_many_is_an_info_until_a_number_is_set)
{
    static const struct { int64_t files, times; const char *monitors, *expected; } k_rows[] = {
        { 100, 1, NULL, "" },
        { 101, 1, NULL, "small_files d=1 info" },
        { 3000, 30, NULL, "" },
        { 3030, 30, NULL, "small_files d=1 info" },
        { 200, 1, "{\"small_files\":{\"warning\":200}}", "small_files d=1 info" },
        { 201, 1, "{\"small_files\":{\"warning\":200}}", "small_files d=1 warning" },
        { 51, 1, "{\"small_files\":{\"warning\":50}}", "small_files d=1 warning" },
        { 50, 1, "{\"small_files\":{\"warning\":50}}", "" },
        { 5001, 1, "{\"small_files\":{\"warning\":200,\"error\":5000}}", "small_files d=1 error" },
        { 6030, 30, "{\"small_files\":{\"warning\":200,\"error\":5000}}", "small_files d=1 warning" },
        { 101, 1, "{\"small_files\":{\"severity\":\"off\"}}", "" },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct tarn_facts facts = plain_facts();
        cr_assert(eq(int, tarn_suspects_add(&facts.small_files, "d=1", "1.1 MB on average", k_rows[i].files, k_rows[i].times, -1, NULL), TARN_OK));
        facts.small_files_most = k_rows[i].files / k_rows[i].times;
        cr_expect(eq(str, (char *)judged(tarn_judge_small_files, &facts, k_rows[i].monitors), (char *)k_rows[i].expected), "row %zu", i);
        tarn_facts_done(&facts);
    }
}

Test(small_files, the_lowest_number_of_all_decides_what_is_gathered)
{
    static const struct { const char *monitors; int64_t least; } k_rows[] = {
        { NULL, 100 }, { "{\"small_files\":{\"warning\":500}}", 100 }, { "{\"small_files\":{\"warning\":20,\"error\":50}}", 20 },
        { "{\"small_files\":{\"error\":0}}", 1 },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct tarn_settings settings;
        tarn_settings_resolve(NULL, k_rows[i].monitors, &settings);
        cr_expect(eq(i64, tarn_small_files_least(&settings), k_rows[i].least), "row %zu", i);
    }
}

Test(data_files, leftovers_are_always_one_finding)
{
    struct tarn_facts facts = plain_facts();

    add_suspects(&facts.leftovers, 3);
    cr_expect(eq(str, (char *)judged(tarn_judge_data_files, &facts, NULL), "leftover_temp * info"));
    tarn_facts_done(&facts);
}

Test(storage_state, what_cannot_be_judged_is_one_finding)
{
    static const struct { enum tarn_facts_state state; bool not_allowed, broke_off; const char *root, *expected; } k_rows[] = {
        { TARN_FACTS_READ, false, false, NULL, "" },
        { TARN_FACTS_UNREACHABLE, false, false, NULL, "storage_unreachable table error" },
        { TARN_FACTS_UNREACHABLE, false, false, "/lake", "storage_unreachable /lake error" },
        { TARN_FACTS_UNREACHABLE, false, true, NULL, "scan_failed table warning" },
        { TARN_FACTS_UNREACHABLE, true, false, NULL, "location_not_allowed table error" },
        { TARN_FACTS_NO_TABLE, false, false, NULL, "no_table_found table error" },
        { TARN_FACTS_UNSUPPORTED, false, false, NULL, "format_not_supported table info" },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct tarn_facts facts = plain_facts();
        facts.state = k_rows[i].state;
        facts.not_allowed = k_rows[i].not_allowed;
        facts.broke_off = k_rows[i].broke_off;
        facts.lost_root = k_rows[i].root ? strdup(k_rows[i].root) : NULL;
        cr_expect(eq(str, (char *)judged(tarn_judge_storage_state, &facts, NULL), (char *)k_rows[i].expected));
        for (size_t k = 1; k < tarn_judges_count; k++)
            if (facts.state != TARN_FACTS_READ)
                cr_expect(eq(str, (char *)judged(tarn_judges[k], &facts, NULL), ""), "judge %zu", k);
        tarn_facts_done(&facts);
    }
}

Test(foreign_write, the_document_is_the_subject)
{
    struct { struct tarn_facts facts; const char *expected; } rows[10];
    for (size_t i = 0; i < TARN_COUNT(rows); i++) {
        rows[i].facts = plain_facts();
        rows[i].facts.managed = true;
    }
    rows[0].expected = "";
    rows[1].facts.foreign_manifest = true, rows[1].expected = "foreign_write manifest.json error";
    rows[2].facts.block = TARN_BLOCK_FOREIGN_WRITE, rows[2].facts.block_document = strdup("last_committed_txn");
    rows[2].expected = "foreign_write last_committed_txn error";
    rows[3].facts.foreign_schema = true, rows[3].expected = "foreign_write schema.json error";
    rows[4].facts.foreign_manifest = true, rows[4].facts.behind_since = NOW - 1000, rows[4].expected = "";
    rows[5].facts.block = TARN_BLOCK_FOREIGN_WRITE, rows[5].expected = "foreign_write manifest.json error";
    rows[6].facts.block = TARN_BLOCK_FOREIGN_WRITE, rows[6].facts.block_document = strdup("_transactions/txn-3.json");
    rows[6].expected = "foreign_write _transactions/txn-3.json error";
    rows[7].facts.block = TARN_BLOCK_FOREIGN_WRITE, rows[7].facts.block_document = strdup("schema.json");
    rows[7].facts.foreign_schema = rows[7].facts.foreign_manifest = true, rows[7].facts.behind_since = NOW - 1000;
    rows[7].expected = "foreign_write manifest.json error; foreign_write schema.json error";
    rows[8].facts.managed = false, rows[8].facts.foreign_manifest = true, rows[8].expected = "";
    rows[9].facts.state = TARN_FACTS_UNREACHABLE, rows[9].facts.block = TARN_BLOCK_FOREIGN_WRITE;
    rows[9].expected = "foreign_write manifest.json error";
    for (size_t i = 0; i < TARN_COUNT(rows); i++) {
        cr_expect(eq(str, (char *)judged(tarn_judge_foreign_write, &rows[i].facts, NULL), (char *)rows[i].expected), "row %zu", i);
        tarn_facts_done(&rows[i].facts);
    }
}

Test(storage_state, a_blocked_table_says_why)
{
    struct tarn_facts facts = plain_facts();

    facts.managed = true;
    cr_expect(eq(str, (char *)judged(tarn_judge_storage_state, &facts, NULL), ""));
    facts.block = TARN_BLOCK_ADOPTION;
    cr_expect(eq(str, (char *)judged(tarn_judge_storage_state, &facts, NULL), "adoption_conflict manifest.json error"));
    facts.block = TARN_BLOCK_STORAGE_AHEAD;
    cr_expect(eq(str, (char *)judged(tarn_judge_storage_state, &facts, NULL), "storage_ahead manifest.json error"));
}

Test(staging, a_batch_that_waits_too_long_is_a_backlog)
{
    static const struct { int64_t files, waits_ms; const char *monitors, *expected; } k_rows[] = {
        { 0, 0, NULL, "" },
        { 8, 1950000, NULL, "staging_backlog * warning" },
        { 8, 600000, NULL, "" },
        { 8, 1950000, "{\"staging_backlog\":{\"warning\":\"1h\"}}", "" },
        { 8, 1950000, "{\"staging_backlog\":{\"error\":\"30m\"}}", "staging_backlog * error" },
    };
    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct tarn_facts facts = plain_facts();
        facts.staging_files = k_rows[i].files;
        facts.staging_oldest_ms = NOW - k_rows[i].waits_ms;
        cr_expect(eq(str, (char *)judged(tarn_judge_staging, &facts, k_rows[i].monitors), (char *)k_rows[i].expected), "row %zu", i);
    }
}
