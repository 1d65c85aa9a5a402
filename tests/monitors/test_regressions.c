/* What a table has lost since it was seen, over facts written down by hand. */
#include "tests/monitors/judged.h"
#include "base/own.h"
#include "monitors/marks.h"
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define S(text) ((char *)(uintptr_t)(text))

static const struct { int64_t version; const char *transaction, *uuid; int64_t files; const char *expected; } k_rows[] = {
    { 5, "txn-5", "u", 10, "" },
    { 6, "txn-6", "u", 11, "" },
    { 6, "txn-6", "u", 2, "" }, /* a commit may remove */
    { 4, "txn-4", "u", 9, "version_regression manifest.json error" },
    { 5, "txn-4", "u", 10, "transaction_regression last_committed_txn error" },
    { 6, "txn-4", "u", 10, "transaction_regression last_committed_txn error" },
    { -1, "txn-4", "u", 10, "transaction_regression last_committed_txn error" },
    { -1, "other-4", "u", 10, "" }, /* runs by another number */
    { 5, "txn-05", "u", 10, "" },
    { 5, "txn-5", "u", 9, "snapshot_regression manifest.json error" },
    { 1, "txn-1", "v", 1, "" }, /* another table lies there */
    { 1, "txn-1", NULL, 1, "version_regression manifest.json error" },
};

Test(regressions, what_lies_below_the_highest_that_was_seen_went_back)
{
    const struct tarn_scan_row before = { .top_version = 5, .top_transaction = S("txn-5"), .top_uuid = S("u"), .top_files = 10 };

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        struct tarn_facts facts = plain_facts();
        facts.before = &before;
        facts.version = k_rows[i].version;
        facts.latest_transaction = facts.pointer_id = S(k_rows[i].transaction);
        facts.manifest_uuid = S(k_rows[i].uuid);
        facts.file_count = k_rows[i].files;
        cr_expect(eq(str, S(judged(tarn_judge_regressions, &facts, NULL)), S(k_rows[i].expected)), "row %zu", i);
        facts.managed = true; /* the catalog's history does not go back */
        cr_expect(eq(str, S(judged(tarn_judge_regressions, &facts, NULL)), S("")), "row %zu", i);
    }
    struct tarn_facts facts = plain_facts();
    facts.version = 1;
    cr_expect(eq(str, S(judged(tarn_judge_regressions, &facts, NULL)), S("")), "nothing was seen before");
}

static void see_with(enum tarn_doc_state pointer, struct tarn_scan_row *row, int64_t version, const char *transaction,
                     int64_t files, const struct tarn_findings *live)
{
    static const struct tarn_findings k_none;
    struct tarn_facts facts = plain_facts();
    TARN_ERR(err);

    facts.pointer = pointer;
    facts.version = version;
    facts.latest_transaction = S(transaction);
    facts.file_count = files;
    cr_assert(eq(int, tarn_marks_keep(row, &facts, live ? live : &k_none, &err), TARN_OK));
}

static void see(struct tarn_scan_row *row, int64_t version, const char *transaction, int64_t files, const struct tarn_findings *live)
{
    see_with(TARN_DOC_READ, row, version, transaction, files, live);
}

static void expect_marks(const struct tarn_scan_row *row, int64_t version, const char *transaction, int64_t files)
{
    cr_expect(eq(i64, row->top_version, version));
    cr_expect(eq(str, row->top_transaction, S(transaction)));
    cr_expect(eq(i64, row->top_files, files));
}

Test(regressions, the_marks_stay_until_the_table_is_past_them_or_somebody_accepts)
{
    struct tarn_finding accepted = { .code = S("version_regression"), .accept = { .reason = S("restored"), .by = S("anna") } };
    const struct tarn_findings live = { &accepted, 1 };
    struct tarn_scan_row row = { .top_version = -1, .top_files = -1 };

    see(&row, 5, "txn-5", 10, NULL);
    expect_marks(&row, 5, "txn-5", 10);
    see(&row, 3, "txn-3", 8, NULL);
    expect_marks(&row, 5, "txn-5", 10);
    see(&row, 6, "txn-6", 4, NULL);
    expect_marks(&row, 6, "txn-6", 4);
    see(&row, 6, "txn-6", 3, NULL);
    expect_marks(&row, 6, "txn-6", 4);
    see(&row, 4, "txn-4", 2, &live);
    expect_marks(&row, 4, "txn-4", 2);
    tarn_scan_row_done(&row);
}

/* As a scan sees a folder that is being put back from a backup: the log is not there yet or in part, the manifest already. */
Test(regressions, a_look_without_the_pointer_moves_no_mark_down)
{
    static const enum tarn_doc_state k_states[] = { TARN_DOC_ABSENT, TARN_DOC_BAD };
    static const char *const k_latest[] = { NULL, "txn-3", "txn-5", "other", "txn-9" };

    for (size_t s = 0; s < TARN_COUNT(k_states); s++)
        for (size_t i = 0; i < TARN_COUNT(k_latest); i++) {
            struct tarn_scan_row row = { .top_version = -1, .top_files = -1 };
            see(&row, 5, "txn-5", 10, NULL);
            see_with(k_states[s], &row, 5, k_latest[i], 9, NULL);
            expect_marks(&row, 5, "txn-5", 10);
            see(&row, 5, "txn-5", 9, NULL);
            expect_marks(&row, 5, "txn-5", 10);
            tarn_scan_row_done(&row);
        }
}
