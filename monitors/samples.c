/* samples.c - see samples.h. The metrics in one table: name, number, form. What is stored of a scan is a JSON array in the
 * order of that table, so rows are only ever added at its end; ages are kept as the instants that they count from, so that
 * scans between which nothing happened leave the same numbers. */
#include "monitors/samples.h"
#include "base/json.h"
#include "base/time.h"
#include "monitors/judge.h"
#include "monitors/numbers.h"
#include <string.h>

enum form { COUNT, SECONDS /* a span */, AGE /* an instant, told as seconds since */ };

static const struct {
    const char *name;
    enum tarn_number number;
    enum form form;
} k_metrics[] = {
    { "files", TARN_N_FILES, COUNT },
    { "total_size_bytes", TARN_N_BYTES, COUNT },
    { "rows", TARN_N_ROWS, COUNT },
    { "version", TARN_N_VERSION, COUNT },
    { "published_version", TARN_N_PUBLISHED_VERSION, COUNT },
    { "schema_version", TARN_N_SCHEMA_VERSION, COUNT },
    { "manifest_age_seconds", TARN_N_MANIFEST_AGE, SECONDS },
    { "freshness_age_seconds", TARN_N_LAST_RUN, AGE },
    { "status_code", TARN_N_STATUS, COUNT },
    { "errors", TARN_N_ERRORS, COUNT },
    { "warnings", TARN_N_WARNINGS, COUNT },
    { "unregistered_files", TARN_N_UNREGISTERED_FILES, COUNT },
    { "unregistered_bytes", TARN_N_UNREGISTERED_BYTES, COUNT },
    { "missing_files", TARN_N_MISSING_FILES, COUNT },
    { "missing_log_entries", TARN_N_MISSING_ENTRIES, COUNT },
    { "transaction_gaps", TARN_N_GAPS, COUNT },
    { "pending_transactions", TARN_N_PENDING, COUNT },
    { "orphan_files", TARN_N_ORPHAN_FILES, COUNT },
    { "reclaimable_bytes", TARN_N_RECLAIMABLE_BYTES, COUNT },
    { "staging_files", TARN_N_STAGING_FILES, COUNT },
    { "staging_bytes", TARN_N_STAGING_BYTES, COUNT },
    { "staging_oldest_seconds", TARN_N_STAGING_OLDEST, AGE },
    { "flapping", TARN_N_FLAPPING, COUNT },
};
_Static_assert(TARN_COUNT(k_metrics) <= 64, "a bit for each");

/* --- which --- */

static bool add_metric(const char *name, size_t len, tarn_metrics *out)
{
    for (size_t i = 0; i < TARN_COUNT(k_metrics); i++) {
        if (strlen(k_metrics[i].name) != len || strncmp(k_metrics[i].name, name, len) != 0)
            continue;
        *out |= UINT64_C(1) << i;
        return true;
    }
    return false;
}

tarn_code tarn_metrics_parse(const char *list, const char *field, tarn_metrics *out, struct tarn_err *err)
{
    tarn_metrics metrics = list ? 0 : UINT64_MAX;

    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        size_t len = strcspn(at, ",");
        if (!add_metric(at, len, &metrics))
            return tarn_fail_field(err, field, "'%.*s' is no metric; some of them: files, total_size_bytes, "
                                   "manifest_age_seconds, freshness_age_seconds, unregistered_files, staging_files",
                                   len < 64 ? (int)len : 64, at);
    }
    *out = metrics;
    return TARN_OK;
}

/* --- telling --- */

static void write_value(struct tarn_jsonw *w, const json_t *value, enum form form, int64_t at_ms)
{
    if (!json_is_integer(value)) {
        tarn_jsonw_null(w);
        return;
    }
    int64_t number = json_integer_value(value);
    tarn_jsonw_i64(w, form == COUNT ? number : (form == AGE ? at_ms - number : number) / TARN_SECOND_MS);
}

void tarn_sample_write(struct tarn_jsonw *w, tarn_metrics metrics, const char *numbers, int64_t at_ms)
{
    json_auto_t *values = json_loads(numbers, 0, NULL);

    tarn_jsonw_object(w);
    tarn_jsonw_ktime(w, "at", at_ms);
    for (size_t i = 0; i < TARN_COUNT(k_metrics); i++) {
        if ((metrics >> i & 1) == 0)
            continue;
        tarn_jsonw_key(w, k_metrics[i].name);
        write_value(w, json_array_get(values, i), k_metrics[i].form, at_ms); /* NULL: from before there was such a metric */
    }
    tarn_jsonw_object_end(w);
}

/* --- taking --- */

static char *numbers_text(const int64_t numbers[TARN_NUMBERS])
{
    json_auto_t *array = json_array();
    size_t given = 0;

    for (size_t i = 0; i < TARN_COUNT(k_metrics); i++) {
        int64_t value = numbers[k_metrics[i].number];
        given += json_array_append_new(array, value == TARN_NUMBER_NONE ? json_null() : json_integer(value)) == 0;
    }
    return given == TARN_COUNT(k_metrics) ? tarn_json_text(array) : NULL;
}

tarn_code tarn_sample_take(struct tarn_tx *tx, const struct tarn_table *table, const struct tarn_scan_row *scan,
                           const struct tarn_findings *findings, const struct tarn_monitor_defaults *defaults,
                           int64_t now_ms, struct tarn_err *err)
{
    struct tarn_status_row row = { .table = table, .scan = scan };
    int64_t numbers[TARN_NUMBERS];

    for (size_t i = 0; i < findings->count; i++) {
        const struct tarn_finding *finding = &findings->items[i];
        if (!tarn_finding_is_open(finding) || finding->accept.reason)
            continue;
        row.open_errors += finding->severity == TARN_SEV_ERROR;
        row.open_warnings += finding->severity == TARN_SEV_WARNING;
    }
    tarn_numbers_of(&row, defaults, now_ms, numbers);
    TARN_AUTO(mem) char *text = numbers_text(numbers);
    return text ? tx->ops->samples.put(tx, table->id, now_ms, text, err) : tarn_fail_oom(err);
}
