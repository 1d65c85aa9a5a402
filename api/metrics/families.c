/* families.c - every metric on one page, in the order of the answer. docs/METRICS.md is made from it. */
#include "api/metrics/metrics.h"
#include <stddef.h>

#define ONE(n) .series = (const struct tarn_series[]) { { "", TARN_N_##n }, { NULL, 0 } }
#define SERVER(m) .write = tarn_metric_member, .member = offsetof(struct tarn_server_numbers, m)
#define GAUGE TARN_M_GAUGE, TARN_M_PLAIN
#define TOTAL TARN_M_COUNTER, TARN_M_PLAIN
#define BYTES TARN_M_GAUGE, TARN_M_BYTES
#define TIME  TARN_M_GAUGE, TARN_M_MS

static const struct tarn_series k_thresholds[] = { { "severity=\"warning\"", TARN_N_FRESH_WARNING },
                                                   { "severity=\"error\"", TARN_N_FRESH_ERROR },
                                                   { NULL, 0 } };
static const struct tarn_series k_drifts[] = { { "kind=\"missing\"", TARN_N_DRIFT_MISSING },
                                               { "kind=\"extra\"", TARN_N_DRIFT_EXTRA },
                                               { "kind=\"narrowed\"", TARN_N_DRIFT_NARROWED },
                                               { "kind=\"widened\"", TARN_N_DRIFT_WIDENED },
                                               { "kind=\"type_changed\"", TARN_N_DRIFT_TYPE_CHANGED },
                                               { "kind=\"renamed_case\"", TARN_N_DRIFT_RENAMED_CASE },
                                               { "kind=\"nullability\"", TARN_N_DRIFT_NULLABILITY },
                                               { "kind=\"timestamp_unit\"", TARN_N_DRIFT_TIMESTAMP_UNIT },
                                               { "kind=\"order\"", TARN_N_DRIFT_ORDER },
                                               { NULL, 0 } };
static const struct tarn_series k_states[] = { { "tarn_table_status=\"healthy\"", TARN_N_STATUS },
                                               { "tarn_table_status=\"degraded\"", TARN_N_STATUS },
                                               { "tarn_table_status=\"unhealthy\"", TARN_N_STATUS },
                                               { "tarn_table_status=\"unknown\"", TARN_N_STATUS },
                                               { NULL, 0 } };
static const struct tarn_series k_findings[] = { { "severity=\"error\"", TARN_N_ERRORS },
                                                 { "severity=\"warning\"", TARN_N_WARNINGS },
                                                 { "severity=\"info\"", TARN_N_INFOS },
                                                 { NULL, 0 } };

/* clang-format off */
const struct tarn_family tarn_families[] = {
    /* the server; process_* are the names that every exporter uses */
    { "tarn_build_info", TARN_M_INFO, TARN_M_PLAIN, "version revision",
      "The program; always 1.", .write = tarn_metric_build },
    { "process_start_time_seconds", TIME, "", "When the server started.", SERVER(started_ms) },
    { "process_cpu_seconds_total", TARN_M_COUNTER, TARN_M_MS, "",
      "Processor time used, user and system.", SERVER(process.cpu_ms) },
    { "process_resident_memory_bytes", BYTES, "",
      "Memory that is resident, mapped pages of the database among it.", SERVER(process.resident_bytes) },
    { "process_virtual_memory_bytes", BYTES, "", "Address space.", SERVER(process.virtual_bytes) },
    { "process_threads", GAUGE, "", "Threads.", SERVER(process.threads) },
    { "process_open_fds", GAUGE, "",
      "Open file descriptors, connections among them.", SERVER(process.open_fds) },
    { "process_max_fds", GAUGE, "", "File descriptors that may be open.", SERVER(process.max_fds) },
    { "tarn_http_connections", GAUGE, "", "Connections open now.", SERVER(connections) },
    { "tarn_http_requests_total", TOTAL, "method route status",
      "Requests answered, by route and class of status; an empty route stands for all addresses that do not "
      "exist.",
      .write = tarn_metric_answers },
    { "tarn_http_request_duration_seconds", TARN_M_HISTOGRAM, TARN_M_US, "method route le",
      "From the headers of a request to the last byte of its answer.", .write = tarn_metric_durations },
    { "tarn_http_errors_total", TOTAL, "code",
      "Answers that were an error, by its code.", .write = tarn_metric_errors },
    { "tarn_commits_total", TOTAL, "",
      "Versions of tables that became durable: commits, rollbacks, repairs.", SERVER(store.commits) },
    { "tarn_commit_conflicts_total", TOTAL, "code",
      "Requests refused because another commit came first (version_conflict) or a file was not in the state "
      "that they need (file_conflict).",
      .write = tarn_metric_conflicts },
    { "tarn_publication_queue_tables", GAUGE, "",
      "Tables with something to publish: waiting, pausing after a fault or between two long manifests, or in "
      "hand.",
      SERVER(publisher.tables) },
    { "tarn_publications_total", TOTAL, "",
      "Publications that ended well; one may show several versions.", SERVER(publisher.published) },
    { "tarn_publication_failures_total", TOTAL, "",
      "Publications that failed and are tried again.", SERVER(publisher.failed) },
    { "tarn_scans_running", GAUGE, "", "Scans in the background now.", SERVER(scans_running) },
    { "tarn_scans_total", TOTAL, "", "Scans in the background that ended.", SERVER(scans_ended) },
    { "tarn_store_queue_transactions", GAUGE, "",
      "Transactions that wait for the writer.", SERVER(store.waiting) },
    { "tarn_store_group_transactions", TARN_M_HISTOGRAM, TARN_M_PLAIN, "le",
      "Transactions that were made durable by one sync.", .write = tarn_metric_groups },
    { "tarn_store_database_bytes", BYTES, "", "Size of the database file.", SERVER(store.database_bytes) },
    { "tarn_store_wal_bytes", BYTES, "", "Size of the database's write-ahead log.", SERVER(store.log_bytes) },
    { "tarn_tables", GAUGE, "", "Tables in this answer: those that the token sees.", SERVER(tables) },
    { "tarn_metrics_gathering_seconds", TARN_M_GAUGE, TARN_M_US, "",
      "How long reading the tables for this answer took.", SERVER(gathering_us) },

    /* what a table is */
    { "tarn_table_info", TARN_M_INFO, TARN_M_PLAIN, "table format mode location_scheme owner",
      "A table that is known; always 1.", .each = tarn_metric_info },
    { "tarn_table_version", GAUGE, "table", "Version of the newest snapshot.", ONE(VERSION) },
    { "tarn_table_published_version", GAUGE, "table",
      "Version that storage shows, of a managed table.", ONE(PUBLISHED_VERSION) },
    { "tarn_table_schema_version", GAUGE, "table",
      "Version of the current schema, of a table that has one.", ONE(SCHEMA_VERSION) },
    { "tarn_table_files", GAUGE, "table", "Files of the newest snapshot.", ONE(FILES) },
    { "tarn_table_size_bytes", BYTES, "table", "Bytes of the newest snapshot.", ONE(BYTES) },
    { "tarn_table_rows", GAUGE, "table", "Rows of the newest snapshot, where every file tells.", ONE(ROWS) },

    /* how fresh */
    { "tarn_table_last_commit_timestamp_seconds", TIME, "table",
      "Time of the newest data-changing commit.", ONE(LAST_COMMIT) },
    { "tarn_table_last_run_timestamp_seconds", TIME, "table",
      "Newest sign of life of what writes the table: data, or a completed batch of no records; as of the last "
      "scan.",
      ONE(LAST_RUN) },
    { "tarn_table_manifest_last_updated_timestamp_seconds", TIME, "table",
      "last_updated of the manifest, as of the last scan.", ONE(MANIFEST_TIME) },
    { "tarn_table_latest_data_file_timestamp_seconds", TIME, "table",
      "Modification time of the newest data file, as of the last scan.", ONE(DATA_TIME) },
    { "tarn_table_manifest_age_seconds", TIME, "table",
      "Newest data file's modification time minus the manifest's last_updated; negative when the manifest is "
      "newer.",
      ONE(MANIFEST_AGE) },
    { "tarn_table_freshness_threshold_seconds", TIME, "table severity",
      "Time since the newest data-changing commit above which the table counts as stale.",
      .series = k_thresholds },

    /* what the last scan saw */
    { "tarn_table_transaction_gaps", GAUGE, "table",
      "Numbers missing in the sequence of transactions, as of the last scan.", ONE(GAPS) },
    { "tarn_table_missing_log_entries", GAUGE, "table",
      "Committed transactions without a log entry, as of the last scan.", ONE(MISSING_ENTRIES) },
    { "tarn_table_pending_transactions", GAUGE, "table",
      "Transactions that storage does not show yet, as of the last scan.", ONE(PENDING) },
    { "tarn_table_publication_lag_seconds", TIME, "table",
      "For how long the oldest commit that storage does not show was waiting at the last scan, of a managed "
      "table.",
      ONE(PUBLICATION_LAG) },
    { "tarn_table_missing_files", GAUGE, "table",
      "Listed data files that are not there, as of the last scan.", ONE(MISSING_FILES) },
    { "tarn_table_unregistered_files", GAUGE, "table",
      "Data files that no snapshot ever listed, older than their grace time, as of the last scan.",
      ONE(UNREGISTERED_FILES) },
    { "tarn_table_unregistered_bytes", BYTES, "table",
      "Bytes of the unregistered files.", ONE(UNREGISTERED_BYTES) },
    { "tarn_table_registration_lag_seconds", TIME, "table",
      "Age of the oldest unregistered file at the last scan.", ONE(REGISTRATION_LAG) },
    { "tarn_table_orphan_files", GAUGE, "table",
      "Files that nothing refers to any more, as of the last scan.", ONE(ORPHAN_FILES) },
    { "tarn_table_orphan_bytes", BYTES, "table", "Bytes of the orphan files.", ONE(ORPHAN_BYTES) },
    { "tarn_table_reclaimable_files", GAUGE, "table",
      "Files that a commit removed and that still lie there, as of the last scan.", ONE(RECLAIMABLE_FILES) },
    { "tarn_table_reclaimable_bytes", BYTES, "table",
      "Bytes of the reclaimable files.", ONE(RECLAIMABLE_BYTES) },
    { "tarn_table_schema_drift_columns", GAUGE, "table kind",
      "Columns in which files differ from the schema: open findings schema_drift.*.", .series = k_drifts },
    { "tarn_table_staging_files", GAUGE, "table",
      "Staged files that are not merged, as of the last scan.", ONE(STAGING_FILES) },
    { "tarn_table_staging_bytes", BYTES, "table", "Bytes of the staged files.", ONE(STAGING_BYTES) },
    { "tarn_table_staging_oldest_timestamp_seconds", TIME, "table",
      "Modification time of the oldest staged file.", ONE(STAGING_OLDEST) },

    /* the verdict */
    { "tarn_table_status", TARN_M_STATESET, TARN_M_PLAIN, "table tarn_table_status",
      "Health of the table: 1 for the state that holds, 0 for the others.", .series = k_states },
    { "tarn_table_findings", GAUGE, "table severity", "Open findings.", .series = k_findings },
    { "tarn_table_finding_active", GAUGE, "table code severity",
      "1 while findings of that code and severity are open.", .each = tarn_metric_active },
    { "tarn_table_finding_suppressed", GAUGE, "table code severity",
      "1 while something keeps all findings of that code and severity quiet: a silence, a maintenance window, "
      "a lost storage root. What began in a window is not active either.",
      .each = tarn_metric_quiet },
    { "tarn_table_scan_last_success_timestamp_seconds", TIME, "table",
      "Time of the last scan that could be made.", ONE(SCAN_SUCCESS) },
    { "tarn_table_scan_duration_seconds", TIME, "table", "How long that scan took.", ONE(SCAN_DURATION) },
    { "tarn_table_flaps_total", TARN_M_COUNTER, TARN_M_PLAIN, "table",
      "Suspects that looked wrong once and were fine at the next look.", ONE(FLAPPING) },
    { "tarn_table_scan_failures_total", TARN_M_COUNTER, TARN_M_PLAIN, "table",
      "Scans that could not be made because storage did not answer.", ONE(SCAN_FAILURES) },
};
/* clang-format on */
const size_t tarn_families_count = TARN_COUNT(tarn_families);
