/* kinds.c - every code that a finding can have, on one page. */
#include "monitors/judge.h"
#include <string.h>

#define DOCS TARN_SAW_DOCUMENTS
#define LOG TARN_SAW_LOG
#define LISTING TARN_SAW_LISTING
#define MANIFEST (TARN_SAW_DOCUMENTS | TARN_SAW_MANIFEST)
#define WORDS (MANIFEST | LOG | TARN_SAW_WORDS)
#define TEXTS (LOG | TARN_SAW_TEXTS)
#define MARK (LOG | TARN_SAW_COMMITTED)
#define LIFE (TARN_SAW_STORAGE | TARN_SAW_LIFE)
#define FOOTERS (TARN_SAW_FOOTERS | TARN_SAW_MANIFEST)
#define DRIFT (FOOTERS | TARN_SAW_SCHEMA)
#define STORAGE TARN_SAW_STORAGE
#define ENTRIES TARN_SAW_ENTRIES
#define DURATION .threshold = TARN_THRESHOLD_DURATION
#define SHARE .threshold = TARN_THRESHOLD_SHARE
#define NUMBER .threshold = TARN_THRESHOLD_NUMBER

const struct tarn_kind tarn_kinds[] = {
    /* the place */
    { "storage_unreachable", TARN_SEV_ERROR, .is_unjudged = true,
      .text = "The table's folder is missing or storage does not answer; nothing else is judged." },
    { "scan_failed", TARN_SEV_WARNING, .needs = STORAGE,
      .text = "The folder is there, but reading it failed: what the last scan said stands, until it counts as "
              "too old." },
    { "no_table_found", TARN_SEV_ERROR, .needs = STORAGE, .is_unjudged = true,
      .text = "The folder is there, but holds no table." },
    { "format_not_supported", TARN_SEV_INFO, .needs = STORAGE, .is_unjudged = true,
      .text = "The table is of a format that is not judged." },
    { "location_not_allowed", TARN_SEV_ERROR, .is_unjudged = true,
      .text = "The location no longer lies under a storage root; its storage is not touched." },
    { "scan_incomplete", TARN_SEV_INFO, .needs = LISTING,
      .text = "A folder could not be read to its end: nothing that lies in it is judged, and nothing is taken "
              "for missing." },
    { "symlink_skipped", TARN_SEV_INFO, .needs = LISTING, .is_whole = true,
      .text = "Symbolic links below the table's folder are not followed." },

    /* freshness of the manifest */
    { "manifest_age", TARN_SEV_WARNING, DURATION, .warning = "1m", .grace = "1m", .unit = "seconds",
      .cure = "register", .needs = MANIFEST | LISTING,
      .text = "The newest data file is younger than the manifest by more than the threshold." },
    { "unregistered_data_file", TARN_SEV_WARNING, .grace = "15m", .cure = "register",
      .needs = MANIFEST | LOG | LISTING,
      .text = "A data file is in neither the manifest nor a committed transaction, so no reader sees it." },

    /* the log */
    { "missing_transaction_log_entry", TARN_SEV_WARNING, .grace = "1m", .cure = "republish", .needs = MARK,
      .text = "A committed transaction has no log entry; an error when it is the newest one." },
    { "unreadable_transaction_log_entry", TARN_SEV_WARNING, .grace = "1m", .cure = "republish", .needs = LOG,
      .text = "A committed log entry cannot be read; an error when it is the newest one." },
    { "transaction_gap", TARN_SEV_WARNING, .grace = "1m", .needs = MARK,
      .text = "A number is missing in the sequence of transactions: a batch was left out." },
    { "uncommitted_transaction", TARN_SEV_WARNING, .grace = "15m", .needs = MARK,
      .text = "A log entry above the pointer was never committed." },
    { "transaction_id_mismatch", TARN_SEV_WARNING, .cure = "republish", .needs = TEXTS,
      .text = "The id inside a log entry is another than its file's name; the id inside counts." },
    { "duplicate_transaction", TARN_SEV_WARNING, .cure = "republish", .needs = TEXTS,
      .text = "Two log entries have the same transaction id: readers may apply either." },
    { "transaction_version_mismatch", TARN_SEV_WARNING, .unit = "versions", .needs = TEXTS,
      .text = "A log entry's version is not above that of the entry before it, so that a replay by version "
              "goes wrong." },
    { "transaction_time_regression", TARN_SEV_WARNING, DURATION, .warning = "1m", .unit = "seconds",
      .needs = TEXTS,
      .text = "A log entry is dated before the one before it, so that time travel by instant goes wrong." },
    { "transaction_of_another_table", TARN_SEV_WARNING, .needs = TEXTS | TARN_SAW_MANIFEST,
      .text = "A committed log entry names another table than the manifest: it was copied here." },
    { "gap_check_disabled", TARN_SEV_INFO, .needs = LOG,
      .text = "The transaction ids do not run by number, so that gaps cannot be seen." },
    { "history_truncated", TARN_SEV_INFO, .needs = LOG,
      .text = "The oldest log entries are gone; the present state is not affected." },
    { "pointer_missing", TARN_SEV_WARNING, .grace = "1m", .cure = "republish", .needs = DOCS,
      .text = "There is a log but no last_committed_txn." },
    { "pointer_unreadable", TARN_SEV_WARNING, .cure = "republish", .needs = DOCS,
      .text = "last_committed_txn does not hold a transaction id." },
    { "pointer_mismatch", TARN_SEV_WARNING, .grace = "1m", .cure = "republish",
      .needs = MANIFEST | TARN_SAW_POINTER,
      .text = "last_committed_txn names another transaction than the catalog, or than the manifest says it "
              "contains." },

    /* the manifest */
    { "manifest_missing", TARN_SEV_ERROR, .cure = "republish", .needs = DOCS,
      .text = "There is no manifest.json, so that readers find nothing." },
    { "manifest_unreadable", TARN_SEV_ERROR, .cure = "republish", .needs = DOCS,
      .text = "manifest.json cannot be read." },
    { "committed_file_not_in_manifest", TARN_SEV_ERROR, .cure = "adopt", .needs = WORDS,
      .text = "A committed transaction added a file that the manifest lacks: an update was lost." },
    { "removed_file_in_manifest", TARN_SEV_ERROR, .cure = "adopt", .needs = WORDS,
      .text = "A committed transaction removed a file that the manifest still lists." },
    { "duplicate_file", TARN_SEV_WARNING, .unit = "entries", .cure = "republish", .needs = MANIFEST,
      .text = "The manifest lists a file more than once, so that its rows count twice." },
    { "manifest_last_updated_missing", TARN_SEV_INFO, .cure = "republish", .needs = MANIFEST,
      .text = "The manifest has no last_updated; its modification time stands in." },
    { "naive_timestamp", TARN_SEV_INFO, .cure = "republish", .needs = MANIFEST | TARN_SAW_TEXTS,
      .text = "An instant has no zone; UTC is assumed." },
    { "implausible_timestamp", TARN_SEV_WARNING, .cure = "republish", .needs = MANIFEST | TARN_SAW_TEXTS,
      .text = "An instant is none between 2000 and 2100; the modification time stands in." },
    { "clock_skew", TARN_SEV_WARNING, DURATION, .warning = "1m", .unit = "seconds", .is_running = true,
      .needs = MANIFEST | LISTING | TARN_SAW_TEXTS,
      .text = "A data file, the manifest, a log entry or the catalog's newest commit is dated in the future: "
              "until then it hides how old things are." },
    { "version_regression", TARN_SEV_ERROR, .unit = "versions", .needs = MANIFEST,
      .text = "The version went back: a commit that was there is gone. Told until the table is past it again "
              "or the finding is accepted." },
    { "transaction_regression", TARN_SEV_ERROR, .needs = MANIFEST | LOG | TARN_SAW_POINTER,
      .text = "The newest committed transaction went back although the version did not. Told until the table "
              "is past it again or the finding is accepted." },
    { "snapshot_regression", TARN_SEV_ERROR, .needs = WORDS,
      .text = "The manifest lists fewer files than before although no commit came between." },
    { "foreign_write", TARN_SEV_ERROR, .cure = "republish", .needs = DOCS | TARN_SAW_TEXTS,
      .text = "Someone else wrote a document of a managed table; the subject says which." },
    { "freshness", TARN_SEV_WARNING, DURATION, .grace = "0s", .unit = "seconds", .is_running = true,
      .needs = LIFE,
      .text = "The newest data is older than the threshold, the deadline or the contract allows, or than the "
              "table's own habit lets expect (then never more than a warning)." },
    { "commits_without_data", TARN_SEV_WARNING, DURATION, .warning = "2h", .unit = "seconds",
      .is_running = true, .needs = LIFE,
      .text = "Commits go on, but for longer than the threshold none brought data to a table that used to get "
              "some." },
    { "commits_stopped", TARN_SEV_WARNING, .unit = "seconds", .is_running = true,
      .needs = LIFE | TARN_SAW_STAGING,
      .text = "Batches wait in staging, and no commit came for longer than the last fifteen took together." },
    { "publication_behind", TARN_SEV_WARNING, DURATION, .warning = "5m", .unit = "seconds", .is_running = true,
      .needs = STORAGE,
      .text = "Storage does not show a commit for longer than the threshold." },
    { "adoption_conflict", TARN_SEV_ERROR, .cure = "adopt", .needs = STORAGE,
      .text = "Manifest and log disagreed when the table was adopted; commits wait for a repair." },
    { "storage_ahead", TARN_SEV_ERROR, .cure = "recover", .needs = STORAGE,
      .text = "Storage knows commits that the catalog lost; commits wait for a recovery." },

    /* the schema */
    { "schema_missing", TARN_SEV_WARNING, .cure = "republish", .needs = DOCS,
      .text = "A managed table has a schema, but its schema.json is gone." },
    { "schema_unreadable", TARN_SEV_WARNING, .cure = "republish", .needs = DOCS,
      .text = "schema.json cannot be read, so that drift is not judged." },
    { "schema_version_not_in_history", TARN_SEV_WARNING, .cure = "republish", .needs = DOCS | TARN_SAW_SCHEMA,
      .text = "schema.json names a current version that it does not hold." },
    { "schema_drift.extra_column", TARN_SEV_WARNING, .unit = "files", .needs = DRIFT,
      .text = "Files hold a column that the schema lacks: its data is never visible." },
    { "schema_drift.missing_column", TARN_SEV_WARNING, .unit = "files", .needs = DRIFT,
      .text = "Files lack a column: it reads as null. Info for files older than the column (unless they may "
              "hold it under another name), an error when it is required." },
    { "schema_drift.renamed_case", TARN_SEV_WARNING, .unit = "files", .needs = DRIFT,
      .text = "A column differs from the schema only by case." },
    { "schema_drift.narrowed", TARN_SEV_ERROR, .unit = "files", .needs = DRIFT,
      .text = "Files hold a wider type than the schema: values may be read wrong." },
    { "schema_drift.type_changed", TARN_SEV_ERROR, .unit = "files", .needs = DRIFT,
      .text = "Files hold another type than the schema." },
    { "schema_drift.null_in_required", TARN_SEV_ERROR, .unit = "files", .needs = DRIFT,
      .text = "A column that must not be null holds nulls." },
    { "schema_drift.widened", TARN_SEV_INFO, .unit = "files", .needs = DRIFT,
      .text = "Files hold a narrower type than the schema, which readers widen." },
    { "schema_drift.timestamp_unit", TARN_SEV_INFO, .unit = "files", .needs = DRIFT,
      .text = "Files hold instants of another unit; a warning when readers cannot convert it." },
    { "schema_drift.nulls_unknown", TARN_SEV_INFO, .unit = "files", .needs = DRIFT,
      .text = "A column that must not be null is optional in files that do not count nulls." },
    { "schema_drift.reordered", TARN_SEV_INFO, .unit = "files", .needs = DRIFT,
      .text = "Files hold the columns in another order." },
    { "partition_column_in_file", TARN_SEV_INFO, .unit = "files", .needs = FOOTERS,
      .text = "Files also store a partition column; a warning when its value contradicts the path." },
    { "column_all_null", TARN_SEV_WARNING, .unit = "files", .needs = FOOTERS,
      .text = "A column has no value at all in the newest files." },

    /* the data files */
    { "missing_metadata_file", TARN_SEV_ERROR, .cure = "republish", .needs = DOCS,
      .text = "A metadata file of an Iceberg table is not there, or a manifest list, which no plan writes "
              "again: readers cannot open the table, or a snapshot of it." },
    { "newer_metadata_file", TARN_SEV_WARNING, .grace = "15m", .needs = DOCS | LISTING,
      .text = "A metadata file that follows the catalog's newest one lies in an Iceberg table's folder: "
              "commits that the catalog does not know, or one that never was." },
    { "missing_data_file", TARN_SEV_ERROR, .unit = "bytes", .cure = "forget", .needs = MANIFEST | LISTING,
      .text = "A listed file is not there: reads fail." },
    { "size_mismatch", TARN_SEV_ERROR, .unit = "bytes", .cure = "register", .is_by_name = true,
      .needs = MANIFEST | LISTING,
      .text = "A file has another size than listed." },
    { "corrupt_data_file", TARN_SEV_ERROR, .grace = "1m", .cure = "forget", .is_by_name = true,
      .needs = FOOTERS,
      .text = "A file is no readable Parquet file." },
    { "encrypted", TARN_SEV_INFO, .needs = FOOTERS,
      .text = "A file's footer is encrypted and not judged." },
    { "footer_too_large", TARN_SEV_INFO, .needs = FOOTERS,
      .text = "A file's footer is too large to be judged." },
    { "unexpected_file_format", TARN_SEV_WARNING, .grace = "15m", .needs = DOCS | ENTRIES | LISTING,
      .text = "A file of another format is listed as data, or lies among the data, where readers by folder "
              "meet it." },
    { "invalid_data_path", TARN_SEV_WARNING, .needs = ENTRIES,
      .text = "A listed path leads out of the table, or to staging, a hidden name or a document; one that "
              "leads out is never followed." },
    { "leftover_temp", TARN_SEV_INFO, .grace = "1m", .unit = "files", .needs = LISTING, .is_whole = true,
      .text = "Temporary or empty files were left behind; no reader sees them." },

    /* what is told of the data files */
    { "missing_partition_values", TARN_SEV_WARNING, .needs = ENTRIES,
      .text = "A file of a partitioned table has no value for a partition key, neither in partitionValues nor "
              "in its path: no reader can place or skip it." },
    { "partition_drift", TARN_SEV_WARNING, .cure = "register", .is_by_name = true, .needs = ENTRIES,
      .text = "A file's partition values contradict its path, or its keys are not those of the table." },
    { "missing_column_stats", TARN_SEV_INFO, SHARE, .unit = "files", .cure = "register", .is_by_name = true,
      .needs = ENTRIES | TARN_SAW_SCHEMA, .is_whole = true,
      .text = "Files have no columnStats of the schema's columns, or lack those that most files have: no "
              "reader can skip them. The thresholds are shares of the files (0.2 or \"20%\")." },

    { "small_files", TARN_SEV_INFO, NUMBER, .grace = "1d", .unit = "files", .needs = DOCS | LISTING | ENTRIES,
      .text = "A folder holds more than 100 data files that average below 16 MiB: each costs every reader a "
              "request. In a folder that got a file within the grace time it takes 30 times as many. The "
              "thresholds are numbers of files." },

    /* staging */
    { "staging_backlog", TARN_SEV_WARNING, DURATION, .warning = "10m", .unit = "seconds", .is_running = true,
      .needs = TARN_SAW_STAGING, .is_whole = true,
      .text = "A staged batch waits for its merge longer than the threshold." },
    { "merge_stuck", TARN_SEV_WARNING, DURATION, .warning = "15m", .unit = "seconds", .is_running = true,
      .needs = TARN_SAW_STAGING,
      .text = "A batch is marked as running for longer than the threshold." },
    { "processed_without_result", TARN_SEV_INFO, .grace = "15m", .unit = "batches", .needs = TARN_SAW_STAGING,
      .is_whole = true,
      .text = "Batches are marked as completed, but no transaction names them. A warning where other batches "
              "are named by their commits: their data is lost." },
    { "duplicate_batch", TARN_SEV_WARNING, .unit = "commits", .needs = TARN_SAW_BATCHES,
      .text = "Two commits that both count applied the same batch, so that its rows count twice." },
};
const size_t tarn_kinds_count = TARN_COUNT(tarn_kinds);
_Static_assert(TARN_COUNT(tarn_kinds) <= TARN_KINDS_MAX, "room in the settings");

const struct tarn_kind *tarn_kind_find(const char *code)
{
    for (size_t i = 0; i < tarn_kinds_count; i++)
        if (strcmp(tarn_kinds[i].code, code) == 0)
            return &tarn_kinds[i];
    return NULL;
}

bool tarn_cure_is_by_name(const char *code)
{
    const struct tarn_kind *kind = tarn_kind_find(code);

    return kind && kind->is_by_name;
}

/* The place first: when it cannot be read, the others find nothing to say. */
tarn_judge_fn *const tarn_judges[] = {
    tarn_judge_storage_state, tarn_judge_freshness, tarn_judge_stalls, tarn_judge_regressions,
    tarn_judge_clocks, tarn_judge_manifest_age, tarn_judge_transaction_gaps, tarn_judge_manifest_content,
    tarn_judge_unregistered, tarn_judge_schema_drift, tarn_judge_data_files, tarn_judge_coverage,
    tarn_judge_log_order, tarn_judge_foreign_write, tarn_judge_small_files, tarn_judge_staging,
};
const size_t tarn_judges_count = TARN_COUNT(tarn_judges);
