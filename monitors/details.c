/* details.c - what the `details` of a status hold: facts that are no findings. Only what the table has. */
#include "monitors/freshness.h"
#include "base/json.h"
#include <string.h>

static void put(json_t *out, const char *key, int64_t value) { json_object_set_new(out, key, json_integer(value)); }

static void put_log(json_t *out, const struct tarn_facts *facts, const struct tarn_settings *settings, int64_t now_ms)
{
    int64_t grace_ms = tarn_settings_of(settings, "uncommitted_transaction")->grace_ms;
    int64_t pending = 0, present = 0;

    for (size_t i = 0; i < facts->log.count; i++) {
        const struct tarn_log_entry *entry = &facts->log.entries[i];
        pending += !facts->managed && !entry->committed && now_ms - entry->mtime_ms <= grace_ms;
        present += !entry->absent;
    }
    if (facts->managed && !facts->publication_off)
        pending = facts->version - facts->shown_version;
    put(out, "pending_transactions", pending);
    put(out, "log_entries", present);
    if (facts->oldest_version >= 0)
        put(out, "oldest_version", facts->oldest_version);
    if (facts->life.last_commit >= 0)
        json_object_set_new(out, "last_commit", tarn_json_time(facts->life.last_commit));
    if (facts->managed && !facts->publication_off)
        put(out, "publication_lag_seconds", facts->behind_since < 0 ? 0 : (now_ms - facts->behind_since) / TARN_SECOND_MS);
}

/* Managed: versions whose log entries are gone, the newest ones first. */
static void put_missing_versions(json_t *out, const struct tarn_facts *facts)
{
    const struct tarn_log_facts *log = &facts->log;
    json_t *versions = json_array();

    for (size_t i = log->count; i > 0 && json_array_size(versions) < TARN_EXAMPLES_MAX; i--)
        if (log->entries[i - 1].absent && log->entries[i - 1].version >= 0)
            json_array_append_new(versions, json_integer(log->entries[i - 1].version));
    if (json_array_size(versions) > 0)
        json_object_set(out, "missing_versions", versions);
    json_decref(versions);
}

static void put_files(json_t *out, const struct tarn_facts *facts, int64_t now_ms)
{
    put(out, "unregistered_files", facts->unregistered.total);
    put(out, "unregistered_bytes", facts->unregistered.bytes);
    if (facts->unregistered.total > 0)
        put(out, "registration_lag_seconds", (now_ms - facts->unregistered.oldest_ms) / TARN_SECOND_MS);
    put(out, "orphan_files", facts->orphan_files);
    put(out, "orphan_bytes", facts->orphan_bytes);
    put(out, "missing_files", facts->missing.total);
    put(out, "reclaimable_files", facts->reclaimable_files);
    put(out, "reclaimable_bytes", facts->reclaimable_bytes);
}

/* Ids that are missing, over the reports of one code: one may stand for many. */
static int64_t ids_of(const struct tarn_findings *reports, const char *code)
{
    int64_t ids = 0;

    for (size_t i = 0; i < reports->count; i++) {
        if (strcmp(reports->items[i].code, code) != 0)
            continue;
        json_auto_t *evidence = reports->items[i].evidence ? json_loads(reports->items[i].evidence, 0, NULL) : NULL;
        const json_t *count = json_object_get(evidence, "count");
        ids += json_is_integer(count) ? json_integer_value(count) : 1;
    }
    return ids;
}

static void put_staging(json_t *out, const struct tarn_facts *facts, int64_t now_ms)
{
    if (facts->staging_files < 0)
        return;
    put(out, "staging_files", facts->staging_files);
    put(out, "staging_bytes", facts->staging_bytes);
    if (facts->staging_oldest_ms >= 0)
        put(out, "staging_oldest_seconds", (now_ms - facts->staging_oldest_ms) / TARN_SECOND_MS);
}

/* Of a finding that stands for many subjects, the examples. */
static void put_examples(json_t *out, const struct tarn_findings *reports)
{
    json_t *all = json_object();

    for (size_t i = 0; all && i < reports->count; i++) {
        const struct tarn_finding *report = &reports->items[i];
        json_auto_t *evidence = report->evidence ? json_loads(report->evidence, 0, NULL) : NULL;
        json_t *examples = json_object_get(evidence, "examples");
        if (strcmp(report->subject, "*") == 0 && examples)
            json_object_set(all, report->code, examples);
    }
    if (json_object_size(all) > 0)
        json_object_set(out, "examples", all);
    json_decref(all);
}

static json_t *seconds_or_null(bool is_known, int64_t ms) { return is_known ? json_integer(ms / TARN_SECOND_MS) : json_null(); }

static json_t *time_or_null(int64_t ms) { return ms >= 0 ? tarn_json_time(ms) : json_null(); }

/* The threshold is the longest age at which the data is in time: it holds for `next_expected` too. */
static void put_freshness(json_t *out, const struct tarn_facts *facts, const struct tarn_settings *settings, int64_t now_ms)
{
    struct tarn_freshness f = tarn_freshness_of(facts, settings, now_ms);
    bool is_due = f.due_at >= 0 && f.last_run >= 0;
    json_t *freshness = json_object();

    json_object_set_new(freshness, "age_seconds", seconds_or_null(f.last_run >= 0, f.age_ms));
    json_object_set_new(freshness, "threshold_seconds", seconds_or_null(is_due, f.due_at - f.last_run));
    json_object_set_new(freshness, "threshold_source", json_string(f.source));
    json_object_set_new(freshness, "warning_after_seconds", seconds_or_null(f.warning_ms >= 0, f.warning_ms));
    json_object_set_new(freshness, "error_after_seconds", seconds_or_null(f.error_ms >= 0, f.error_ms));
    json_object_set_new(freshness, "next_expected", time_or_null(f.due_at));
    json_object_set_new(freshness, "last_run", time_or_null(f.last_run));
    json_object_set_new(out, "freshness", freshness);
}

char *tarn_details_text(const struct tarn_facts *facts, const struct tarn_settings *settings,
                        const struct tarn_findings *reports, int64_t now_ms)
{
    json_auto_t *out = json_object();

    if (facts->state == TARN_FACTS_READ && facts->format == TARN_FORMAT_MANIFEST) {
        put_log(out, facts, settings, now_ms);
        put_missing_versions(out, facts);
        if (facts->files_known)
            put_files(out, facts, now_ms);
        put_staging(out, facts, now_ms);
        if (facts->stats_files > 0)
            put(out, "files_without_column_stats", facts->no_column_stats.total);
        put(out, "missing_log_entries", ids_of(reports, "missing_transaction_log_entry"));
        put(out, "transaction_gaps", ids_of(reports, "transaction_gap"));
    }
    if (facts->state == TARN_FACTS_READ) {
        if (facts->files_known)
            put(out, "footers_read", facts->footers_read);
        if (facts->rows >= 0)
            put(out, "rows", facts->rows);
        if (facts->newest_data_ms >= 0)
            json_object_set_new(out, "newest_data_file_at", tarn_json_time(facts->newest_data_ms));
        if (facts->last_data_commit >= 0)
            json_object_set_new(out, "last_data_commit", tarn_json_time(facts->last_data_commit));
        put_freshness(out, facts, settings, now_ms);
        put_examples(out, reports);
    }
    return out ? tarn_json_text(out) : NULL;
}

char *tarn_details_merge(const char *before, const char *now, const struct tarn_facts *facts)
{
    static const char *const k_of_files[] = { "unregistered_files", "unregistered_bytes", "registration_lag_seconds",
                                              "missing_files",      "orphan_files", "orphan_bytes", "reclaimable_files", "reclaimable_bytes",
                                              "files_without_column_stats", "newest_data_file_at", "footers_read", "rows",
                                              "examples" };
    json_auto_t *old = before ? json_loads(before, 0, NULL) : NULL, *out = json_loads(now, 0, NULL);
    bool is_partial = facts->state == TARN_FACTS_READ && (!facts->files_known || !(facts->saw & TARN_SAW_ENTRIES));

    for (size_t i = 0; i < TARN_COUNT(k_of_files) && is_partial && old && out; i++)
        if (!json_object_get(out, k_of_files[i]) && json_object_get(old, k_of_files[i]))
            json_object_set(out, k_of_files[i], json_object_get(old, k_of_files[i]));
    return out ? tarn_json_text(out) : NULL;
}
