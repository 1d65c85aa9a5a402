/* log_order.c - entries against each other: ids that come twice, versions and instants that go back, entries of another
 * table. Of a managed table the catalog says all that, so that only an observed one's log is judged. */
#include "monitors/judge.h"
#include <inttypes.h>
#include <stdio.h>

/* Entries whose version can be told, in the log's order. */
static const struct tarn_log_entry *next_with_version(const struct tarn_log_facts *log, size_t *at)
{
    while (*at < log->count) {
        const struct tarn_log_entry *entry = &log->entries[(*at)++];
        if (entry->read && entry->committed && entry->version >= 0)
            return entry;
    }
    return NULL;
}

static void report_version(struct tarn_judging *j, const struct tarn_log_entry *before, const struct tarn_log_entry *entry)
{
    const struct tarn_log_facts *log = &j->facts->log;
    char message[2 * TARN_TXN_ID_MAX + 128];

    snprintf(message, sizeof message, "transaction_version_mismatch: %s has version %" PRId64 ", %s before it %" PRId64,
             tarn_log_id(log, entry), entry->version, tarn_log_id(log, before), before->version);
    tarn_judge_report(j, "transaction_version_mismatch",
                      &(struct tarn_report){ .subject = tarn_log_id(log, entry),
                                             .message = message,
                                             .observed = tarn_judge_number(entry->version),
                                             .expected = tarn_judge_number(before->version + 1) });
}

static void judge_versions(struct tarn_judging *j)
{
    const struct tarn_log_facts *log = &j->facts->log;
    size_t at = 0;

    for (const struct tarn_log_entry *before = next_with_version(log, &at), *entry; before; before = entry) {
        entry = next_with_version(log, &at);
        bool is_copy = entry && tarn_txn_id_same(tarn_log_id(log, before), tarn_log_id(log, entry));
        if (entry && entry->version <= before->version && !is_copy)
            report_version(j, before, entry);
    }
}

static void report_time(struct tarn_judging *j, const struct tarn_log_entry *before, const struct tarn_log_entry *entry,
                        const struct tarn_limit *limit, enum tarn_severity severity)
{
    const struct tarn_log_facts *log = &j->facts->log;
    int64_t back_ms = before->timestamp - entry->timestamp;
    char message[2 * TARN_TXN_ID_MAX + 128], back[TARN_TIME_TEXT];

    (void)tarn_duration_format(back_ms, back);
    snprintf(message, sizeof message, "transaction_time_regression: %s is dated %s before %s", tarn_log_id(log, entry),
             back, tarn_log_id(log, before));
    tarn_judge_report(j, "transaction_time_regression",
                      &(struct tarn_report){ .severity = severity,
                                             .subject = tarn_log_id(log, entry),
                                             .message = message,
                                             .observed = tarn_judge_number(back_ms / TARN_SECOND_MS),
                                             .expected = tarn_judge_number(limit->value / TARN_SECOND_MS) });
}

/* Each against the one before it: an entry that is dated wrongly is told once, not by all that follow. */
static void judge_times(struct tarn_judging *j)
{
    const struct tarn_log_facts *log = &j->facts->log;
    const struct tarn_kind_settings *settings = tarn_settings_of(j->settings, "transaction_time_regression");

    for (size_t i = 1; i < log->count && log->numbered; i++) {
        const struct tarn_log_entry *before = &log->entries[i - 1], *entry = &log->entries[i];
        const struct tarn_limit *limit = NULL;
        if (before->timestamp < 0 || entry->timestamp < 0 || !entry->committed)
            continue;
        enum tarn_severity severity = tarn_judge_over(settings, before->timestamp - entry->timestamp, &limit);
        if (severity != TARN_SEV_OK)
            report_time(j, before, entry, limit, severity);
    }
}

/* A table that was taken over by another catalog has another uuid from then on: only what comes after its own is odd. */
static void judge_tables(struct tarn_judging *j)
{
    const struct tarn_log_facts *log = &j->facts->log;
    struct tarn_suspects odd = { 0 };
    bool has_own = false;

    for (size_t i = 0; i < log->count; i++) {
        const struct tarn_log_entry *entry = &log->entries[i];
        has_own |= entry->own_table;
        if (has_own && entry->other_table && entry->committed)
            j->failed |= tarn_suspects_add(&odd, tarn_log_id(log, entry), NULL, -1, -1, entry->mtime_ms, NULL) != TARN_OK;
    }
    tarn_judge_suspects(j, "transaction_of_another_table", &odd, TARN_SEV_OK);
    tarn_suspects_done(&odd);
}

void tarn_judge_log_order(struct tarn_judging *j)
{
    const struct tarn_facts *facts = j->facts;

    if (facts->state != TARN_FACTS_READ || facts->format != TARN_FORMAT_MANIFEST || facts->publication_off)
        return;
    tarn_judge_suspects(j, "transaction_id_mismatch", &facts->log.misnamed, TARN_SEV_OK);
    tarn_judge_suspects(j, "duplicate_transaction", &facts->log.twice, TARN_SEV_OK);
    if (facts->managed)
        return;
    if (facts->log.numbered)
        judge_versions(j);
    judge_times(j);
    judge_tables(j);
}
