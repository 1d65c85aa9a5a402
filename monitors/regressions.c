/* regressions.c - what an observed table has lost since it was seen: versions, transactions, files without a commit. Held
 * against the highest that any scan saw, so that it stays told until the table is past it, or somebody accepts that it went
 * back. A managed table's history is the catalog's. */
#include "base/text.h"
#include "monitors/marks.h"
#include <stdio.h>
#include <string.h>

/* Below the other one, as far as both run by the same number. */
static bool is_older(const char *id, const char *than)
{
    int64_t number, other;

    return id && than && tarn_txn_id_pair(id, than, &number, &other) && number < other;
}

static bool is_same(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

/* Another table lies where the one was that the marks are of. */
static bool is_another(const struct tarn_scan_row *before, const struct tarn_facts *facts)
{
    return before->top_uuid && facts->manifest_uuid && strcmp(before->top_uuid, facts->manifest_uuid) != 0;
}

/* What the manifest lists and should: what it lists in error may go without a commit. */
static int64_t files_of(const struct tarn_facts *facts)
{
    int64_t wrong = facts->still_listed.total + facts->undecided_listed + facts->invalid_paths.total;

    return facts->file_count < wrong ? facts->file_count : facts->file_count - wrong;
}

static void judge_version(struct tarn_judging *j, const struct tarn_scan_row *before)
{
    tarn_judge_report(j, "version_regression",
                      &(struct tarn_report){ .subject = "manifest.json",
                                             .observed = tarn_judge_number(j->facts->version),
                                             .expected = tarn_judge_number(before->top_version) });
}

static void judge_transaction(struct tarn_judging *j, const struct tarn_scan_row *before)
{
    char message[2 * TARN_TXN_ID_MAX + 96], observed[TARN_TXN_ID_MAX + 3], expected[TARN_TXN_ID_MAX + 3];

    snprintf(message, sizeof message, "transaction_regression: %s after %s", j->facts->latest_transaction, before->top_transaction);
    snprintf(observed, sizeof observed, "\"%s\"", j->facts->latest_transaction);
    snprintf(expected, sizeof expected, "\"%s\"", before->top_transaction);
    tarn_judge_report(j, "transaction_regression",
                      &(struct tarn_report){ .subject = "last_committed_txn",
                                             .message = message,
                                             .observed = observed,
                                             .expected = expected });
}

static void judge_files(struct tarn_judging *j, const struct tarn_scan_row *before)
{
    char message[96];

    snprintf(message, sizeof message, "snapshot_regression: %s files, %s before, and no commit between",
             tarn_judge_number(files_of(j->facts)), tarn_judge_number(before->top_files));
    tarn_judge_report(j, "snapshot_regression",
                      &(struct tarn_report){ .subject = "manifest.json",
                                             .message = message,
                                             .observed = tarn_judge_number(files_of(j->facts)),
                                             .expected = tarn_judge_number(before->top_files) });
}

void tarn_judge_regressions(struct tarn_judging *j)
{
    const struct tarn_facts *f = j->facts;
    const struct tarn_scan_row *before = f->before;

    if (f->state != TARN_FACTS_READ || f->format != TARN_FORMAT_MANIFEST || f->managed || !before ||
        f->manifest != TARN_DOC_READ || is_another(before, f))
        return;
    bool is_same_version = f->version >= 0 && f->version == before->top_version;
    if (f->version >= 0 && f->version < before->top_version)
        judge_version(j, before);
    else if (f->pointer == TARN_DOC_READ && is_older(f->latest_transaction, before->top_transaction))
        judge_transaction(j, before);
    else if (is_same_version && f->pointer_id && is_same(f->latest_transaction, before->top_transaction) &&
             files_of(f) < before->top_files && f->not_in_manifest.total == 0 && f->undecided.count == 0)
        judge_files(j, before);
}

/* --- the marks --- */

static bool is_regression(const char *code)
{
    return strcmp(code, "version_regression") == 0 || strcmp(code, "transaction_regression") == 0 ||
           strcmp(code, "snapshot_regression") == 0;
}

static bool is_accepted(const struct tarn_findings *live)
{
    for (size_t i = 0; i < live->count; i++)
        if (live->items[i].accept.reason && is_regression(live->items[i].code))
            return true;
    return false;
}

tarn_code tarn_marks_keep(struct tarn_scan_row *row, const struct tarn_facts *facts, const struct tarn_findings *live,
                          struct tarn_err *err)
{
    bool starts = is_another(row, facts) || is_accepted(live);
    bool is_read = facts->state == TARN_FACTS_READ && (facts->managed || facts->manifest == TARN_DOC_READ);
    bool moves = starts || facts->version > row->top_version;
    /* Without the pointer the newest entry stands for it: of a folder that is just being written again that says nothing. */
    bool is_told = starts || facts->managed || facts->pointer == TARN_DOC_READ;

    if (!is_read)
        return TARN_OK;
    if (is_told && (starts || !is_older(facts->latest_transaction, row->top_transaction))) {
        moves |= !is_same(facts->latest_transaction, row->top_transaction);
        if (!tarn_text_set(&row->top_transaction, facts->latest_transaction))
            return tarn_fail_oom(err);
    }
    if (moves || files_of(facts) > row->top_files)
        row->top_files = files_of(facts);
    if (starts || facts->version > row->top_version)
        row->top_version = facts->version;
    if (facts->manifest_uuid && !tarn_text_set(&row->top_uuid, facts->manifest_uuid))
        return tarn_fail_oom(err);
    return TARN_OK;
}
