/* iceberg_report.c - see iceberg_report.h. Names and units of the metrics are those of the reference's ScanReport and
 * CommitReport; what is unknown is left out. */
#include "lake/iceberg_report.h"
#include "base/json.h"
#include "base/time.h"
#include "formats/iceberg/value.h"
#include <string.h>

#define OPERATION_BYTES_MAX 64

/* --- metrics to facts --- */

static const struct fact {
    const char *kind, *metric, *name;
} k_facts[] = {
    { "scan", "result-data-files", "files" },
    { "scan", "result-delete-files", "delete_files" },
    { "scan", "total-file-size-in-bytes", "bytes" },
    { "scan", "total-delete-file-size-in-bytes", "delete_bytes" },
    { "scan", "scanned-data-manifests", "manifests" },
    { "scan", "total-planning-duration", "duration_ms" },
    { "commit", "added-data-files", "files" },
    { "commit", "removed-data-files", "files_removed" },
    { "commit", "added-records", "rows" },
    { "commit", "removed-records", "rows_removed" },
    { "commit", "total-records", "rows_total" },
    { "commit", "added-files-size-bytes", "bytes" },
    { "commit", "removed-files-size-bytes", "bytes_removed" },
    { "commit", "total-files-size-bytes", "bytes_total" },
    { "commit", "attempts", "attempts" },
    { "commit", "total-duration", "duration_ms" },
};

static const struct unit {
    const char *name;
    double ms;
} k_units[] = {
    { "nanoseconds", 1e-6 }, { "microseconds", 1e-3 }, { "milliseconds", 1 }, { "seconds", 1e3 },
    { "minutes", 6e4 },      { "hours", 36e5 },        { "days", 864e5 },
};

/* A counter's value, or a timer's whole duration in milliseconds. false: neither. */
static bool read_metric(const json_t *metric, json_int_t *out)
{
    const json_t *value = json_object_get(metric, "value"), *duration = json_object_get(metric, "total-duration");
    const char *unit = json_string_value(json_object_get(metric, "time-unit"));

    *out = json_integer_value(value);
    if (json_is_integer(value))
        return true;
    for (size_t i = 0; unit && json_is_integer(duration) && i < TARN_COUNT(k_units); i++) {
        double ms = (double)json_integer_value(duration) * k_units[i].ms;
        *out = ms >= 0 && ms < 1e15 ? (json_int_t)(ms + 0.5) : 0;
        if (strcasecmp(k_units[i].name, unit) == 0)
            return true;
    }
    return false;
}

static tarn_code gather(struct tarn_iceberg_report_use *use, const json_t *metrics, struct tarn_err *err)
{
    const char *operation = json_string_value(json_object_get(use->report, "operation"));
    json_auto_t *facts = json_object();
    json_int_t value = 0;
    bool failed = !facts;

    if (operation && strlen(operation) <= OPERATION_BYTES_MAX)
        failed = json_object_set_new(facts, "operation", json_string(operation)) != 0;
    for (size_t i = 0; i < TARN_COUNT(k_facts); i++)
        if (strcmp(k_facts[i].kind, use->kind) == 0 && read_metric(json_object_get(metrics, k_facts[i].metric), &value))
            failed = json_object_set_new(facts, k_facts[i].name, json_integer(value)) != 0 || failed;
    free(use->facts);
    use->facts = failed ? NULL : tarn_json_text(facts);
    return use->facts ? TARN_OK : tarn_fail_oom(err);
}

static tarn_code read_report(struct tarn_iceberg_report_use *use, struct tarn_err *err)
{
    const char *type = NULL;
    const json_t *metrics = NULL;

    tarn_code code = tarn_iceberg_need_str(use->report, "report-type", &type, err);
    if (code != TARN_OK)
        return code;
    if (strcmp(type, "scan-report") != 0 && strcmp(type, "commit-report") != 0)
        return tarn_fail_field(err, "report-type", "Invalid report type: %.100s", type);
    snprintf(use->kind, sizeof use->kind, "%s", type[0] == 's' ? "scan" : "commit");
    code = tarn_iceberg_need_i64(use->report, "snapshot-id", &use->snapshot, err);
    if (code == TARN_OK)
        code = tarn_iceberg_need_object(use->report, "metrics", &metrics, err);
    return code == TARN_OK ? gather(use, metrics, err) : code;
}

/* --- steps --- */

static tarn_code check(struct tarn_lake *lake, void *state, struct tarn_err *err)
{
    (void)lake;
    return read_report(state, err);
}

static tarn_code change(struct tarn_tx *tx, void *state, struct tarn_err *err)
{
    struct tarn_iceberg_report_use *use = state;
    TARN_AUTO(table) struct tarn_table *table = NULL;
    const struct tarn_report_row row = { use->now_ms ? use->now_ms : tarn_now_ms(), use->kind,
                                         use->snapshot < 0 ? -1 : use->snapshot, use->facts };
    tarn_code code = tarn_iceberg_find(tx, &use->ident, &table, err);

    if (code == TARN_OK)
        code = tx->ops->reports.add(tx, table->id, &row, err);
    return code == TARN_OK ? tx->ops->reports.trim(tx, table->id, TARN_REPORTS_MAX, err) : code;
}

static void done(void *state) { free(((struct tarn_iceberg_report_use *)state)->facts); }

const struct tarn_use tarn_iceberg_report = { .name = "iceberg report",
                                              .size = sizeof(struct tarn_iceberg_report_use),
                                              .check = check,
                                              .change = change,
                                              .done = done };
