/* numbers.c - see numbers.h. The one reader of the `details` that a scan left: whatever a monitor adds there and wants
 * exported gets a row in k_details. */
#include "monitors/numbers.h"
#include "base/time.h"
#include "monitors/judge.h"
#include <stdio.h>
#include <string.h>

enum detail_form { COUNT, SECONDS, INSTANT, AGE /* seconds before the scan, kept as an instant */ };

static const struct {
    const char *key; /* a dot leads into an object */
    enum tarn_number number;
    enum detail_form form;
} k_details[] = {
    { "newest_data_file_at", TARN_N_DATA_TIME, INSTANT },
    { "rows", TARN_N_ROWS, COUNT },
    { "transaction_gaps", TARN_N_GAPS, COUNT },
    { "missing_log_entries", TARN_N_MISSING_ENTRIES, COUNT },
    { "pending_transactions", TARN_N_PENDING, COUNT },
    { "publication_lag_seconds", TARN_N_PUBLICATION_LAG, SECONDS },
    { "missing_files", TARN_N_MISSING_FILES, COUNT },
    { "unregistered_files", TARN_N_UNREGISTERED_FILES, COUNT },
    { "unregistered_bytes", TARN_N_UNREGISTERED_BYTES, COUNT },
    { "registration_lag_seconds", TARN_N_REGISTRATION_LAG, SECONDS },
    { "orphan_files", TARN_N_ORPHAN_FILES, COUNT },
    { "orphan_bytes", TARN_N_ORPHAN_BYTES, COUNT },
    { "reclaimable_files", TARN_N_RECLAIMABLE_FILES, COUNT },
    { "reclaimable_bytes", TARN_N_RECLAIMABLE_BYTES, COUNT },
    { "freshness.warning_after_seconds", TARN_N_FRESH_WARNING, SECONDS },
    { "freshness.error_after_seconds", TARN_N_FRESH_ERROR, SECONDS },
    { "staging_files", TARN_N_STAGING_FILES, COUNT },
    { "staging_bytes", TARN_N_STAGING_BYTES, COUNT },
    { "staging_oldest_seconds", TARN_N_STAGING_OLDEST, AGE },
};

static const struct {
    const char *code;
    enum tarn_number number;
} k_drift[] = {
    { "schema_drift.missing_column", TARN_N_DRIFT_MISSING },
    { "schema_drift.extra_column", TARN_N_DRIFT_EXTRA },
    { "schema_drift.narrowed", TARN_N_DRIFT_NARROWED },
    { "schema_drift.widened", TARN_N_DRIFT_WIDENED },
    { "schema_drift.type_changed", TARN_N_DRIFT_TYPE_CHANGED },
    { "schema_drift.renamed_case", TARN_N_DRIFT_RENAMED_CASE },
    { "schema_drift.null_in_required", TARN_N_DRIFT_NULLABILITY },
    { "schema_drift.nulls_unknown", TARN_N_DRIFT_NULLABILITY },
    { "schema_drift.timestamp_unit", TARN_N_DRIFT_TIMESTAMP_UNIT },
    { "schema_drift.reordered", TARN_N_DRIFT_ORDER },
};

static int64_t known(int64_t value) { return value < 0 ? TARN_NUMBER_NONE : value; }

/* --- details --- */

static int64_t detail_value(const json_t *value, enum detail_form form, int64_t checked_at)
{
    int64_t ms;

    if (form == INSTANT)
        return json_is_string(value) && tarn_time_parse(json_string_value(value), &ms, NULL, NULL) == TARN_OK
                   ? ms
                   : TARN_NUMBER_NONE;
    if (!json_is_integer(value))
        return TARN_NUMBER_NONE;
    int64_t number = json_integer_value(value);
    if (form == COUNT)
        return number;
    if (number > INT64_MAX / TARN_SECOND_MS || number < INT64_MIN / TARN_SECOND_MS)
        return TARN_NUMBER_NONE;
    return form == SECONDS ? number * TARN_SECOND_MS : checked_at - number * TARN_SECOND_MS;
}

static const json_t *member(const json_t *details, const char *key)
{
    const char *dot = strchr(key, '.');
    char outer[32];

    if (!dot)
        return json_object_get(details, key);
    snprintf(outer, sizeof outer, "%.*s", (int)(dot - key), key);
    return json_object_get(json_object_get(details, outer), dot + 1);
}

static void read_details(const struct tarn_scan_row *scan, int64_t out[TARN_NUMBERS])
{
    if (!scan->details || strcmp(scan->details, "{}") == 0)
        return;
    json_auto_t *details = json_loads(scan->details, 0, NULL);
    for (size_t i = 0; i < TARN_COUNT(k_details); i++)
        out[k_details[i].number] =
            detail_value(member(details, k_details[i].key), k_details[i].form, scan->checked_at);
}

/* --- findings --- */

static void count_drift(const struct tarn_status_row *row, int64_t out[TARN_NUMBERS])
{
    for (size_t i = 0; i < TARN_COUNT(k_drift); i++)
        out[k_drift[i].number] = 0;
    for (size_t i = 0; i < row->code_count; i++)
        for (size_t k = 0; k < TARN_COUNT(k_drift); k++)
            if (strcmp(row->codes[i].code, k_drift[k].code) == 0)
                out[k_drift[k].number] += row->codes[i].count;
}

/* --- the whole --- */

static int64_t status_of(const struct tarn_status_row *row, const struct tarn_monitor_defaults *defaults, int64_t now_ms)
{
    static const char *const k_words[] = { "healthy", "degraded", "unhealthy", "unknown" };
    const char *status, *severity;

    tarn_status_row_words(row, defaults, now_ms, &status, &severity);
    for (int64_t i = 0; i < (int64_t)TARN_COUNT(k_words); i++)
        if (strcmp(k_words[i], status) == 0)
            return i;
    return TARN_NUMBER_NONE;
}

static void fill_scan(const struct tarn_scan_row *scan, int64_t out[TARN_NUMBERS])
{
    out[TARN_N_SCAN_FAILURES] = scan->failures_total;
    out[TARN_N_SCAN_SUCCESS] = known(scan->checked_at);
    if (scan->checked_at < 0)
        return;
    out[TARN_N_SCAN_DURATION] = known(scan->duration_ms);
    out[TARN_N_LAST_RUN] = known(scan->last_run);
    out[TARN_N_FLAPPING] = scan->flapping;
    out[TARN_N_MANIFEST_TIME] = known(scan->last_updated);
    if (scan->has_manifest_age)
        out[TARN_N_MANIFEST_AGE] = scan->manifest_age_ms;
    read_details(scan, out);
}

void tarn_numbers_of(const struct tarn_status_row *row, const struct tarn_monitor_defaults *defaults, int64_t now_ms,
                     int64_t out[TARN_NUMBERS])
{
    const struct tarn_shown shown = tarn_status_shown(row->table, row->scan);

    for (size_t i = 0; i < TARN_NUMBERS; i++)
        out[i] = TARN_NUMBER_NONE;
    out[TARN_N_LAST_COMMIT] = known(tarn_status_row_data_commit(row));
    out[TARN_N_VERSION] = known(shown.version);
    out[TARN_N_PUBLISHED_VERSION] = row->table->mode == TARN_MANAGED ? known(row->table->published_version) : TARN_NUMBER_NONE;
    out[TARN_N_SCHEMA_VERSION] = shown.schema_version > 0 ? shown.schema_version : TARN_NUMBER_NONE;
    out[TARN_N_FILES] = known(shown.files);
    out[TARN_N_BYTES] = known(shown.bytes);
    out[TARN_N_STATUS] = status_of(row, defaults, now_ms);
    out[TARN_N_ERRORS] = row->open_errors;
    out[TARN_N_WARNINGS] = row->open_warnings;
    out[TARN_N_INFOS] = row->open_infos;
    if (row->scan)
        fill_scan(row->scan, out);
    if (row->scan && row->scan->checked_at >= 0)
        count_drift(row, out);
}

int tarn_code_number(const char *code)
{
    const struct tarn_kind *kind = tarn_kind_find(code);

    return kind ? (int)(kind - tarn_kinds) : -1;
}

const char *tarn_code_text(int number) { return tarn_kinds[number].code; }
