/* types.h - every row the store keeps, as plain values. Text members are owned by the
 * row (freed by tarn_<noun>_done or _free) and may be NULL only where it says so.
 * Instants are UTC ms; -1 is "none". */
#ifndef TARN_CATALOG_TYPES_H
#define TARN_CATALOG_TYPES_H
#include "base/err.h"
#include "base/own.h"
#include "catalog/ident.h"
#include <stdbool.h>
#include <stdint.h>

enum tarn_format {
    TARN_FORMAT_MANIFEST,
    TARN_FORMAT_ICEBERG,
    TARN_FORMAT_DELTA,
    TARN_FORMAT_HUDI,
    TARN_FORMAT_PARQUET
};
enum tarn_mode { TARN_MANAGED, TARN_OBSERVED };
enum tarn_enforcement { TARN_ENFORCE_OFF, TARN_ENFORCE_WARN, TARN_ENFORCE_REJECT };
enum tarn_verify { TARN_VERIFY_OFF, TARN_VERIFY_SIZE, TARN_VERIFY_FOOTER };
/* Why a managed table takes no commits; cleared by a repair. */
enum tarn_block { TARN_BLOCK_NONE, TARN_BLOCK_ADOPTION, TARN_BLOCK_FOREIGN_WRITE, TARN_BLOCK_STORAGE_AHEAD };
enum tarn_severity { TARN_SEV_OK, TARN_SEV_INFO, TARN_SEV_WARNING, TARN_SEV_ERROR, TARN_SEV_UNKNOWN };

/* Words as the wire and the database spell them; parse gives false for another word. */
const char *tarn_format_text(enum tarn_format v);
const char *tarn_mode_text(enum tarn_mode v);
const char *tarn_enforcement_text(enum tarn_enforcement v);
const char *tarn_verify_text(enum tarn_verify v);
const char *tarn_block_text(enum tarn_block v);       /* "adoption_conflict", ...; NULL for none */
const char *tarn_severity_text(enum tarn_severity v); /* "ok", "info", "warning", "error", "unknown" */
bool tarn_format_parse(const char *text, enum tarn_format *out);
bool tarn_mode_parse(const char *text, enum tarn_mode *out);
bool tarn_enforcement_parse(const char *text, enum tarn_enforcement *out);
bool tarn_verify_parse(const char *text, enum tarn_verify *out);
bool tarn_block_parse(const char *text, enum tarn_block *out);
bool tarn_severity_parse(const char *text, enum tarn_severity *out);
enum tarn_batch_status {
    TARN_BATCH_IS_RUNNING,
    TARN_BATCH_IS_COMPLETED,
    TARN_BATCH_IS_FAILED,
    TARN_BATCH_IS_ROLLED_BACK
};
const char *tarn_batch_status_text(enum tarn_batch_status v);
bool tarn_batch_status_parse(const char *text, enum tarn_batch_status *out);

struct tarn_table {
    int64_t id;
    char uuid[40];
    char *namespace_; /* canonical dotted */
    char *name;       /* raw */
    enum tarn_format format;
    enum tarn_mode mode;
    char *location;          /* canonical */
    char *metadata_location; /* NULL: not pointed */
    int64_t version;           /* counts commits; 0: none */
    int64_t published_version; /* newest version that storage shows; -1: none yet, not even version 0 (or observed) */
    int64_t oldest_version;
    int64_t first_version;     /* older ones never were here: 0, or the one adopted; older than oldest_version: expired */
    int64_t log_from;          /* the log entries below it are gone, and the commits but for their replay */
    int64_t staging;           /* version that a large commit is writing now, 0: none; see tables.stage */
    char *latest_transaction;  /* NULL: none */
    int64_t schema_version;    /* 0: no schema */
    int64_t file_count, total_bytes; /* of the newest snapshot; -1: not known (of an Iceberg table its summary may not say) */
    char *partition_keys; /* JSON array of names */
    char *properties;     /* JSON object */
    char *owner;          /* NULL: none */
    char *monitors;       /* JSON object */
    enum tarn_enforcement enforcement;
    enum tarn_verify verify;
    bool enforcement_given, verify_given; /* the table's own; else off, or what lake/inherit.h makes of it */
    bool publish;
    bool protected_;
    enum tarn_block block;
    char *block_document; /* of a foreign write: which one, relative to the location; NULL: not known, or no such block */
    int64_t created_at, committed_at; /* committed_at: last commit, or creation */
    int64_t revision;                 /* bumped by every change of the row: part of the ETag */
    int64_t dropped_at;               /* -1: live */
};
void tarn_table_free(struct tarn_table *table);
/* Are the files of `version` known though no commit made it? None
 * are at 0; those that were adopted, as long as they are kept. */
bool tarn_table_is_base(const struct tarn_table *table, int64_t version);
TARN_DEFINE_AUTO(table, struct tarn_table)

/* What the tables of a namespace, and of those inside it, inherit where they say nothing themselves. */
struct tarn_namespace {
    char *name; /* canonical dotted */
    int64_t created_at;
    char *properties;             /* JSON object; not inherited */
    char *owner;                  /* NULL: none */
    char *monitors;               /* JSON object */
    enum tarn_enforcement enforcement;
    enum tarn_verify verify;
    bool enforcement_given, verify_given;
    int64_t history_retention_ms; /* -1: none */
};
void tarn_namespace_done(struct tarn_namespace *namespace_);
/* Borrowed for the call. */
typedef tarn_code tarn_namespace_fn(void *ctx, const struct tarn_namespace *namespace_, struct tarn_err *err);

/* A live or past file of a snapshot. The text members are borrowed while a visitor runs. */
struct tarn_file {
    const char *path;
    int64_t size;
    int64_t records;              /* -1: not known */
    int64_t schema_version;       /* 0: not known */
    const char *partition_values; /* JSON object or NULL */
    const char *column_stats;     /* JSON object or NULL */
    int64_t added_version;
    int64_t removed_version;      /* -1: live */
};
/* Another code than TARN_OK stops the walk. */
typedef tarn_code tarn_file_fn(void *ctx, const struct tarn_file *file, struct tarn_err *err);

/* A file that no kept version has any more; `path` is borrowed for the call. */
struct tarn_retired_file {
    const char *path;
    int64_t size;
    int64_t removed_at; /* -1: not known */
};
typedef tarn_code tarn_retired_fn(void *ctx, const struct tarn_retired_file *file, struct tarn_err *err);

struct tarn_commit_row {
    int64_t version;
    char *transaction;
    int64_t committed_at;
    int64_t schema_version;
    char *metadata; /* commitMetadata, JSON object or NULL */
    bool data_change;
    int64_t files_added, files_removed, bytes_added, bytes_removed;
    int64_t file_count, total_bytes; /* of the snapshot after it; -1: not known */
    char body_hash[65];              /* of the canonical body, for replays; "" when adopted */
    char *batch_ids;                 /* JSON array or NULL: the batches that it applied */
    char group[40];                  /* of the request over several tables; "": it was one alone */
    bool is_rollback;                /* got, not written: it restored the snapshot of rollback_to */
    int64_t rollback_to;
};
void tarn_commit_row_done(struct tarn_commit_row *row);

/* A checkpoint: how far the merge of one staged batch is. */
struct tarn_batch {
    char *batch_id;
    enum tarn_batch_status status;
    int64_t start_time, end_time;
    int64_t num_records, size; /* -1: not told */
    int64_t version;           /* of the commit that applied it (of a rolled back one: that was undone); -1: none */
    char *transaction;         /* of that commit; NULL: none; not written */
    int64_t committed_at;      /* the same; -1: none */
    int64_t updated_at;
    int64_t shown_from;        /* its document waits until storage shows this version of the table */
    int64_t revision;          /* raised by every write */
    int64_t published;         /* the revision that its document shows; 0: there is none */
    bool foreign;              /* somebody else's document lies in its place and is left alone */
};
void tarn_batch_done(struct tarn_batch *batch);
typedef tarn_code tarn_batch_fn(void *ctx, const struct tarn_batch *batch, struct tarn_err *err);

/* What happened to a table, told under the name that it had then. Borrowed while a visitor runs. */
struct tarn_event {
    int64_t sequence; /* given by the store, rising */
    const char *type; /* "table.committed", ... */
    int64_t table_id;
    const char *namespace_, *name;
    int64_t at;
    const char *data; /* JSON object */
};
typedef tarn_code tarn_event_fn(void *ctx, const struct tarn_event *event, struct tarn_err *err);

struct tarn_schema_row {
    int64_t version;
    char *schema;  /* JSON */
    char *renames; /* JSON object or NULL */
    int64_t created_at;
};
void tarn_schema_row_done(struct tarn_schema_row *row);

/* What publication left on storage last: lets the next one see a foreign write. */
struct tarn_publication {
    int64_t version;                       /* published version */
    char manifest_sha256[65];              /* "" when none was written */
    char manifest_token[96];               /* storage version token of manifest.json */
    int64_t marks; /* got: changes that the documents do not show yet; put: how many of those they show now */
    bool links;    /* _symlink_format_manifest/ shows the version too */
};

/* What the last scan saw; of an observed table this is what status shows. */
struct tarn_scan_row {
    int64_t table_id;
    int64_t checked_at;      /* last successful scan, -1: none yet */
    int64_t checked_version; /* the catalog's version at that scan */
    int64_t next_probe_at, next_sweep_at;
    int64_t failures;        /* scans failed in a row */
    int64_t first_failed_at; /* -1: the last one succeeded */
    int64_t failures_total;  /* scans failed, ever */
    int64_t duration_ms;     /* of the last successful scan, -1: not known */
    int64_t flapping;        /* suspects that looked wrong once and were fine at the next look, ever */
    /* facts, -1 or NULL when not known */
    int64_t version;
    char *latest_transaction;
    int64_t last_updated;
    int64_t file_count, total_bytes;
    int64_t schema_version;
    char *partition_keys;      /* JSON array or NULL */
    bool has_manifest_age;
    int64_t manifest_age_ms;   /* signed */
    int64_t last_data_commit;
    int64_t last_run;          /* data, or proof that the pipeline lives */
    int64_t top_version;       /* the highest that any scan saw */
    char *top_transaction;     /* the same; or NULL */
    char *top_uuid;            /* of the table that they are of; NULL: it tells none */
    int64_t top_files;         /* the most files at that version and transaction */
    char *details;             /* JSON object */
    enum tarn_severity verdict; /* TARN_SEV_UNKNOWN when it could not be judged */
    bool judged;
    int64_t verdict_since;
};
void tarn_scan_row_done(struct tarn_scan_row *row);

struct tarn_finding {
    char id[40];
    int64_t table_id;
    char *code, *subject, *message;
    enum tarn_severity severity;
    char *observed, *expected; /* JSON scalars as text, or NULL */
    char *unit;                /* or NULL */
    char *cure;                /* repair plan or NULL */
    char *evidence;            /* JSON object (count, examples, hint) or NULL */
    int64_t since;             /* first bad look of the run that opened it */
    int64_t opened_at;         /* -1: suspected only */
    int64_t closed_at;         /* -1: not closed */
    int64_t last_bad_at;
    int bad_looks, good_looks; /* in a row */
    bool baseline;
    /* What people say of it. */
    struct {
        char *by, *comment; /* by NULL: not acknowledged; comment may be NULL */
        int64_t at, until;  /* until -1: as long as it is open */
    } ack;
    struct {
        char *reason, *by; /* reason NULL: not accepted */
        int64_t at;
    } accept;
    char *suppressed_by;   /* at the last look; NULL: nothing keeps it quiet */
    int64_t told_at;       /* the newest finding.opened of it, 0: none */
    char *closed_reason;   /* "cleared", ...; NULL while it is not closed */
    bool is_news;          /* of a scan, not stored: somebody is to be told of it */
};
void tarn_finding_done(struct tarn_finding *finding);
struct tarn_findings { struct tarn_finding *items; size_t count; };
void tarn_findings_done(struct tarn_findings *findings);

/* A run of scans that saw the same. Borrowed for the call. */
struct tarn_sample {
    int64_t at, until;   /* the first scan of the run, the last one */
    const char *numbers; /* JSON array */
};
typedef tarn_code tarn_sample_fn(void *ctx, const struct tarn_sample *sample, struct tarn_err *err);

/* Findings that nobody wants to hear of from `starts_at` up to `ends_at`. */
struct tarn_silence {
    char id[40];
    char *matchers;   /* JSON array of {name, value, isRegex, isEqual}; all must fit */
    char *tables;     /* glob on dotted names that it reaches at most, NULL: all */
    int64_t starts_at, ends_at;
    char *created_by;
    char *comment;    /* NULL: none */
    int64_t created_at;
};
void tarn_silence_done(struct tarn_silence *silence);
struct tarn_silences { struct tarn_silence *items; size_t count; };
void tarn_silences_done(struct tarn_silences *silences);
/* Borrowed for the call. */
typedef tarn_code tarn_silence_fn(void *ctx, const struct tarn_silence *silence, struct tarn_err *err);

/* A view of the Iceberg face. */
struct tarn_view {
    int64_t id;
    char uuid[40];
    char *namespace_; /* canonical dotted */
    char *name;       /* raw */
    char *location, *metadata_location;
    char *metadata;   /* the document */
    int64_t revision; /* raised by every change */
    int64_t created_at, changed_at;
};
void tarn_view_free(struct tarn_view *view);
TARN_DEFINE_AUTO(view, struct tarn_view)
/* Borrowed for the call; `metadata` may be NULL in a list. */
typedef tarn_code tarn_view_fn(void *ctx, const struct tarn_view *view, struct tarn_err *err);

/* The answer to a request that may be asked again under its key. */
struct tarn_answered {
    char fingerprint[65]; /* of method, path and body */
    int64_t status;
    char *body;           /* owned; "": to be read anew */
};
void tarn_answered_done(struct tarn_answered *row);

/* A table or view that was dropped with its files, which are still to go. */
struct tarn_purge {
    int64_t id;
    char *name, *location, *metadata_location, *metadata; /* owned */
    int64_t created_at, due_at, failures;
};
void tarn_purge_done(struct tarn_purge *purge);

/* What an engine told of a scan or a commit. */
struct tarn_report_row {
    int64_t at;
    const char *kind;   /* "scan", "commit" */
    int64_t snapshot;   /* -1: none */
    const char *report; /* JSON object */
};
typedef tarn_code tarn_report_row_fn(void *ctx, const struct tarn_report_row *report, struct tarn_err *err);

/* Scope bits; each includes those below it. */
enum tarn_scope {
    TARN_SCOPE_NONE = 0,
    TARN_SCOPE_STATUS = 1,
    TARN_SCOPE_READ = 2,
    TARN_SCOPE_WRITE = 3,
    TARN_SCOPE_ADMIN = 4
};
const char *tarn_scope_text(enum tarn_scope scope); /* "status:read", ... */
bool tarn_scope_parse(const char *text, enum tarn_scope *out);

struct tarn_token {
    char *name;
    char hash[65];  /* SHA-256 of the secret, hex */
    enum tarn_scope scope;
    char *tables;   /* glob on dotted names, NULL: all */
    char *roots;    /* glob on locations, NULL: all */
    int64_t created_at, expires_at, revoked_at; /* -1: none */
};
void tarn_token_done(struct tarn_token *token);
struct tarn_tokens { struct tarn_token *items; size_t count; };
void tarn_tokens_done(struct tarn_tokens *tokens);
#endif
