/* manifest_content.c - what the documents say against each other and against the catalog. */
#include "monitors/judge.h"
#include <stdio.h>

static void report_doc(struct tarn_judging *j, const char *code, const char *subject, const char *why)
{
    char message[600];

    snprintf(message, sizeof message, "%s: %s", code, why[0] ? why : subject);
    tarn_judge_report(j, code, &(struct tarn_report){ .subject = subject, .message = message });
}

/* A version that is on its way is no fault until it takes too long. */
static void judge_behind(struct tarn_judging *j)
{
    const struct tarn_limit *limit = NULL;
    int64_t lag_ms = j->facts->behind_since < 0 ? 0 : j->now_ms - j->facts->behind_since;
    enum tarn_severity severity = tarn_judge_over(tarn_settings_of(j->settings, "publication_behind"), lag_ms, &limit);
    char message[64];

    if (severity == TARN_SEV_OK || j->facts->block != TARN_BLOCK_NONE) /* what stopped it is told */
        return;
    snprintf(message, sizeof message, "publication_behind > %s", limit->text);
    tarn_judge_report(j, "publication_behind",
                      &(struct tarn_report){ .severity = severity,
                                             .subject = "manifest.json",
                                             .message = message,
                                             .observed = tarn_judge_number(lag_ms / TARN_SECOND_MS),
                                             .expected = tarn_judge_number(limit->value / TARN_SECOND_MS) });
}

/* Observed: a manifest that tells its newest transaction comes right before the pointer. When it is the manifest that is
 * behind, the files that it lacks are told instead. */
static bool pointer_is_not_manifests(const struct tarn_judging *j)
{
    const struct tarn_facts *f = j->facts;
    int64_t grace_ms = tarn_settings_of(j->settings, "pointer_mismatch")->grace_ms;
    int64_t newest_ms = f->manifest_mtime_ms > f->pointer_mtime_ms ? f->manifest_mtime_ms : f->pointer_mtime_ms;
    bool is_manifest_behind = f->not_in_manifest.total + f->still_listed.total > 0 &&
                              tarn_log_manifest_number(f) <= tarn_log_pointer_number(f);

    if (f->managed || f->manifest != TARN_DOC_READ || !f->manifest_transaction || !f->pointer_id)
        return false;
    return !tarn_txn_id_same(f->manifest_transaction, f->pointer_id) && j->now_ms - newest_ms > grace_ms &&
           !is_manifest_behind;
}

/* Of an observed table without a pointer: the very first commit may be on its way. */
static bool has_settled_entry(const struct tarn_judging *j)
{
    const struct tarn_log_facts *log = &j->facts->log;

    return log->count > 0 &&
           j->now_ms - log->entries[0].mtime_ms > tarn_settings_of(j->settings, "pointer_missing")->grace_ms;
}

static void judge_states(struct tarn_judging *j)
{
    const struct tarn_facts *f = j->facts;
    bool settled = f->behind_since < 0;
    bool is_pointer_due = f->managed ? f->pointer_differs : has_settled_entry(j);
    const struct { bool is_so; const char *code, *subject, *why; } k_rows[] = {
        { f->manifest == TARN_DOC_ABSENT, "manifest_missing", "manifest.json", "" },
        { f->manifest == TARN_DOC_BAD, "manifest_unreadable", "manifest.json", f->manifest_why },
        { f->pointer == TARN_DOC_ABSENT && is_pointer_due, "pointer_missing", "last_committed_txn", "" },
        { f->pointer == TARN_DOC_BAD, "pointer_unreadable", "last_committed_txn", f->pointer_why },
        { settled && f->pointer == TARN_DOC_READ && (f->pointer_differs || pointer_is_not_manifests(j)), "pointer_mismatch",
          "last_committed_txn", "" },
        { f->schema_lost, "schema_missing", "schema.json", "" },
        { f->schema == TARN_DOC_BAD, "schema_unreadable", "schema.json", f->schema_why },
        { f->schema_not_in_history, "schema_version_not_in_history", "schema.json", "" },
    };

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++)
        if (k_rows[i].is_so)
            report_doc(j, k_rows[i].code, k_rows[i].subject, k_rows[i].why);
}

static void judge_times(struct tarn_judging *j)
{
    const struct tarn_facts *f = j->facts;
    const struct { bool is_so; const char *code; } k_rows[] = {
        { f->last_updated_missing, "manifest_last_updated_missing" },
        { f->last_updated_naive, "naive_timestamp" },
        { f->last_updated_bad, "implausible_timestamp" },
    };

    for (size_t i = 0; i < TARN_COUNT(k_rows) && f->manifest == TARN_DOC_READ; i++)
        if (k_rows[i].is_so)
            report_doc(j, k_rows[i].code, "manifest.json", f->last_updated_text ? f->last_updated_text : "");
}

void tarn_judge_manifest_content(struct tarn_judging *j)
{
    const struct tarn_facts *f = j->facts;

    if (f->state != TARN_FACTS_READ || f->format != TARN_FORMAT_MANIFEST)
        return;
    judge_behind(j);
    if (f->publication_off)
        return;
    judge_states(j);
    judge_times(j);
    tarn_judge_suspects(j, "duplicate_file", &f->duplicates, TARN_SEV_OK);
    tarn_judge_suspects(j, "committed_file_not_in_manifest", &f->not_in_manifest, TARN_SEV_OK);
    tarn_judge_suspects(j, "removed_file_in_manifest", &f->still_listed, TARN_SEV_OK);
}
