/* status.c - the status document and the flat row of the overview, written straight into the buffer: this is the
 * answer that dashboards ask for all day. Members and their order are the contract's. */
#include "monitors/judge.h"
#include "base/jsonw.h"
#include <string.h>

static bool is_catalogs(const struct tarn_table *table)
{
    return table->mode == TARN_MANAGED;
}

struct tarn_shown tarn_status_shown(const struct tarn_table *table, const struct tarn_scan_row *scan)
{
    bool has_keys = table->partition_keys && strcmp(table->partition_keys, "[]") != 0;

    if (is_catalogs(table))
        return (struct tarn_shown){ table->version,        table->committed_at,       table->file_count,    table->total_bytes,
                               table->schema_version, table->latest_transaction, table->partition_keys };
    struct tarn_shown shown = { -1, -1, -1, -1, -1, NULL, has_keys ? table->partition_keys : NULL };
    if (scan && scan->checked_at >= 0)
        shown = (struct tarn_shown){ scan->version,        scan->last_updated,       scan->file_count,      scan->total_bytes,
                                scan->schema_version, scan->latest_transaction, shown.partition_keys };
    if (scan && scan->checked_at >= 0 && scan->partition_keys)
        shown.partition_keys = scan->partition_keys;
    if (!table->metadata_location)
        return shown;
    shown.version = table->version; /* the catalog decides which is the newest */
    shown.last_updated = table->committed_at;
    shown.latest_transaction = table->latest_transaction;
    return shown;
}

/* A number that is not known is null. */
static void knumber(struct tarn_jsonw *w, const char *key, int64_t value)
{
    tarn_jsonw_key(w, key);
    if (value < 0)
        tarn_jsonw_null(w);
    else
        tarn_jsonw_i64(w, value);
}

static void write_table(struct tarn_jsonw *w, const struct tarn_table *table, const struct tarn_shown *shown)
{
    char dotted[TARN_DOTTED_MAX], size[TARN_TIME_TEXT];

    tarn_ident_format(table->namespace_, table->name, dotted);
    tarn_jsonw_kstr(w, "table", dotted);
    tarn_jsonw_kstr(w, "format", tarn_format_text(table->format));
    tarn_jsonw_kstr(w, "mode", tarn_mode_text(table->mode));
    knumber(w, "version", shown->version);
    tarn_jsonw_kstr(w, "latest_transaction", shown->latest_transaction);
    tarn_jsonw_ktime(w, "last_updated", shown->last_updated);
    knumber(w, "files", shown->files);
    tarn_jsonw_kstr(w, "total_size", shown->bytes < 0 ? NULL : tarn_size_format(shown->bytes, size));
    knumber(w, "total_size_bytes", shown->bytes);
}

static void write_age(struct tarn_jsonw *w, const struct tarn_scan_row *scan)
{
    char age[TARN_TIME_TEXT];
    bool is_known = scan && scan->has_manifest_age;

    tarn_jsonw_kstr(w, "manifest_age", is_known ? tarn_duration_format(scan->manifest_age_ms, age) : NULL);
    tarn_jsonw_key(w, "manifest_age_seconds");
    if (is_known)
        tarn_jsonw_i64(w, scan->manifest_age_ms / TARN_SECOND_MS);
    else
        tarn_jsonw_null(w);
}

/* The findings stand in order: severity, code, subject. */
static void write_findings(struct tarn_jsonw *w, const struct tarn_findings *findings, int64_t now_ms)
{
    tarn_jsonw_key(w, "warnings");
    tarn_jsonw_array(w);
    for (size_t i = 0; i < findings->count; i++)
        if (tarn_finding_is_open(&findings->items[i]) && !findings->items[i].accept.reason &&
            findings->items[i].severity >= TARN_SEV_WARNING)
            tarn_jsonw_str(w, findings->items[i].message);
    tarn_jsonw_array_end(w);
    tarn_jsonw_key(w, "findings");
    tarn_jsonw_array(w);
    for (size_t i = 0; i < findings->count; i++)
        if (tarn_finding_is_shown(&findings->items[i]))
            tarn_finding_write(w, &findings->items[i], false, now_ms);
    tarn_jsonw_array_end(w);
}

static enum tarn_severity severity_of(const struct tarn_scan_row *scan, const struct tarn_findings *findings,
                                      int64_t interval_ms, int64_t now_ms)
{
    if (tarn_scan_is_lost(scan, interval_ms, now_ms) || scan->verdict == TARN_SEV_UNKNOWN)
        return TARN_SEV_UNKNOWN;
    return tarn_verdict_of(findings);
}

void tarn_status_write(struct tarn_buf *out, const struct tarn_table *table, const struct tarn_scan_row *scan,
                       const struct tarn_findings *findings, const struct tarn_monitor_defaults *defaults,
                       int64_t now_ms)
{
    struct tarn_jsonw w = tarn_jsonw_to(out);
    struct tarn_shown shown = tarn_status_shown(table, scan);
    int64_t interval_ms;
    enum tarn_policy policy;

    tarn_settings_glance(defaults, table->monitors, &interval_ms, &policy);
    enum tarn_severity severity = severity_of(scan, findings, interval_ms, now_ms);
    tarn_jsonw_object(&w);
    write_table(&w, table, &shown);
    write_age(&w, scan);
    tarn_jsonw_key(&w, "schema_version");
    if (shown.schema_version > 0 || (shown.schema_version == 0 && table->format == TARN_FORMAT_ICEBERG && table->mode == TARN_MANAGED))
        tarn_jsonw_i64(&w, shown.schema_version); /* ids of Iceberg schemas begin with 0 */
    else
        tarn_jsonw_null(&w);
    tarn_jsonw_kraw(&w, "partition_keys", shown.partition_keys);
    tarn_jsonw_kstr(&w, "status", tarn_status_text(severity, policy, NULL));
    tarn_jsonw_kstr(&w, "severity", tarn_severity_text(severity));
    write_findings(&w, findings, now_ms);
    tarn_jsonw_kraw(&w, "details", scan && scan->details ? scan->details : "{}");
    knumber(&w, "checked_version", scan ? scan->checked_version : -1);
    tarn_jsonw_ktime(&w, "checked_at", scan ? scan->checked_at : -1);
    tarn_jsonw_kbool(&w, "stale", tarn_scan_is_stale(scan, interval_ms, now_ms));
    tarn_jsonw_object_end(&w);
}

/* When the next acknowledgement ends. */
static int64_t acks_hold_until(const struct tarn_findings *findings, int64_t now_ms)
{
    int64_t until = INT64_MAX;

    for (size_t i = 0; i < findings->count; i++) {
        const struct tarn_finding *finding = &findings->items[i];
        if (tarn_finding_is_acknowledged(finding, now_ms) && finding->ack.until >= 0 && finding->ack.until < until)
            until = finding->ack.until;
    }
    return until;
}

int64_t tarn_status_holds_until(const struct tarn_table *table, const struct tarn_scan_row *scan,
                                const struct tarn_findings *findings, const struct tarn_monitor_defaults *defaults,
                                int64_t now_ms)
{
    int64_t interval_ms, until = acks_hold_until(findings, now_ms);
    enum tarn_policy policy;

    tarn_settings_glance(defaults, table->monitors, &interval_ms, &policy);
    if (tarn_scan_is_lost(scan, interval_ms, now_ms))
        return until;
    int64_t turns_ms = scan->checked_at + TARN_STALE_INTERVALS * interval_ms + 1;
    if (now_ms >= turns_ms) /* that is never after the scan counts as lost */
        turns_ms = scan->checked_at + tarn_scan_patience_ms(interval_ms) + 1;
    return turns_ms < until ? turns_ms : until;
}

static enum tarn_severity row_severity(const struct tarn_status_row *row, int64_t interval_ms, int64_t now_ms)
{
    if (tarn_scan_is_lost(row->scan, interval_ms, now_ms) || row->scan->verdict == TARN_SEV_UNKNOWN)
        return TARN_SEV_UNKNOWN;
    return row->open_errors > 0 ? TARN_SEV_ERROR : row->open_warnings > 0 ? TARN_SEV_WARNING : TARN_SEV_OK;
}

void tarn_status_row_words(const struct tarn_status_row *row, const struct tarn_monitor_defaults *defaults,
                           int64_t now_ms, const char **status, const char **severity)
{
    int64_t interval_ms;
    enum tarn_policy policy;

    tarn_settings_glance(defaults, row->table->monitors, &interval_ms, &policy);
    enum tarn_severity found = row_severity(row, interval_ms, now_ms);
    *status = tarn_status_text(found, policy, NULL);
    *severity = tarn_severity_text(found);
}

/* Managed or observed, the newest commit that brought data. */
int64_t tarn_status_row_data_commit(const struct tarn_status_row *row)
{
    if (row->scan && row->scan->last_data_commit >= 0)
        return row->scan->last_data_commit;
    return -1;
}

static void write_row_verdict(struct tarn_jsonw *w, const struct tarn_status_row *row,
                              const struct tarn_monitor_defaults *defaults, int64_t now_ms)
{
    int64_t interval_ms;
    enum tarn_policy policy;
    int status_code;

    tarn_settings_glance(defaults, row->table->monitors, &interval_ms, &policy);
    enum tarn_severity severity = row_severity(row, interval_ms, now_ms);
    tarn_jsonw_kstr(w, "status", tarn_status_text(severity, policy, &status_code));
    tarn_jsonw_ki64(w, "status_code", status_code);
    tarn_jsonw_kstr(w, "severity", tarn_severity_text(severity));
    tarn_jsonw_ktime(w, "since", row->scan ? row->scan->verdict_since : -1);
}

static void write_row_tail(struct tarn_jsonw *w, const struct tarn_status_row *row, int64_t interval_ms, int64_t now_ms)
{
    int64_t data_commit = tarn_status_row_data_commit(row);
    bool has_age = row->scan && row->scan->has_manifest_age;

    tarn_jsonw_key(w, "manifest_age_seconds");
    if (has_age)
        tarn_jsonw_i64(w, row->scan->manifest_age_ms / TARN_SECOND_MS);
    else
        tarn_jsonw_null(w);
    int64_t last_run = row->scan ? row->scan->last_run : -1;
    tarn_jsonw_key(w, "freshness_age_seconds"); /* signed: a commit may be dated in the future */
    if (last_run >= 0)
        tarn_jsonw_i64(w, (now_ms - last_run) / TARN_SECOND_MS);
    else
        tarn_jsonw_null(w);
    tarn_jsonw_ktime(w, "last_data_commit", data_commit);
    tarn_jsonw_ki64(w, "errors", row->open_errors);
    tarn_jsonw_ki64(w, "warnings", row->open_warnings);
    tarn_jsonw_kstr(w, "worst_code", row->worst ? row->worst->code : NULL);
    tarn_jsonw_kstr(w, "worst_message", row->worst ? row->worst->message : NULL);
    tarn_jsonw_ktime(w, "checked_at", row->scan ? row->scan->checked_at : -1);
    tarn_jsonw_kbool(w, "stale", tarn_scan_is_stale(row->scan, interval_ms, now_ms));
}

void tarn_status_row_write(struct tarn_buf *out, const struct tarn_status_row *row,
                           const struct tarn_monitor_defaults *defaults, int64_t now_ms)
{
    struct tarn_jsonw w = tarn_jsonw_to(out);
    const struct tarn_table *table = row->table;
    struct tarn_shown shown = tarn_status_shown(table, row->scan);
    char dotted[TARN_DOTTED_MAX];
    int64_t interval_ms;
    enum tarn_policy policy;

    tarn_settings_glance(defaults, table->monitors, &interval_ms, &policy);
    tarn_ident_format(table->namespace_, table->name, dotted);
    tarn_jsonw_object(&w);
    tarn_jsonw_kstr(&w, "table", dotted);
    tarn_jsonw_kstr(&w, "namespace", table->namespace_);
    tarn_jsonw_kstr(&w, "format", tarn_format_text(table->format));
    tarn_jsonw_kstr(&w, "mode", tarn_mode_text(table->mode));
    tarn_jsonw_kstr(&w, "owner", table->owner);
    write_row_verdict(&w, row, defaults, now_ms);
    knumber(&w, "version", shown.version);
    knumber(&w, "published_version", is_catalogs(table) ? table->published_version : -1);
    knumber(&w, "files", shown.files);
    knumber(&w, "total_size_bytes", shown.bytes);
    write_row_tail(&w, row, interval_ms, now_ms);
    tarn_jsonw_object_end(&w);
}
