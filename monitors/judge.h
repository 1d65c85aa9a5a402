/* judge.h - inside monitors/: the kinds, their settings, and what a judgement is made of. A judge is a pure function
 * of facts, settings and clock; it reports what looks wrong, and findings.c makes findings of that. */
#ifndef TARN_MONITORS_JUDGE_H
#define TARN_MONITORS_JUDGE_H
#include "base/time.h"
#include "base/zone.h"
#include "formats/facts.h"
#include "monitors/monitors.h"

/* --- kinds.c: one row a code, from which settings, documentation and defaults come --- */
enum tarn_threshold { TARN_THRESHOLD_NONE, TARN_THRESHOLD_DURATION, TARN_THRESHOLD_NUMBER, TARN_THRESHOLD_SHARE };
struct tarn_kind {
    const char *code;
    enum tarn_severity severity; /* by default */
    enum tarn_threshold threshold;
    const char *warning, *error; /* default thresholds as text, NULL: none */
    const char *grace;           /* a duration, NULL: the kind knows none */
    const char *unit;            /* of observed and expected, NULL: none */
    const char *cure;            /* repair plan of a managed table, NULL: none */
    unsigned needs;              /* TARN_SAW_...: what a scan must have seen to count as a look */
    bool is_whole;               /* always one finding, subject "*" */
    bool is_running;             /* observed counts from now: it changes with the clock */
    bool is_by_name;             /* its cure touches only files that are named: `tarn repair … --path` */
    bool is_unjudged;            /* the table's severity is unknown while it is open */
    const char *text;            /* one sentence */
};
extern const struct tarn_kind tarn_kinds[];
extern const size_t tarn_kinds_count;
#define TARN_KINDS_MAX 96
const struct tarn_kind *tarn_kind_find(const char *code); /* NULL: unknown */

/* --- settings.c --- */
#define TARN_SHARE_WHOLE INT64_C(1000000)
struct tarn_limit { bool is_set; int64_t value; /* ms, a number, or a share in millionths */ char text[TARN_TIME_TEXT]; /* as configured */ };
/* Data of that day must be there by then. */
struct tarn_deadline {
    bool is_set;
    char text[12];                /* "09:00", as configured */
    int64_t at_ms;                /* on the wall clock */
    const struct tarn_zone *zone; /* with zone_name; without: the table's */
    char zone_name[TARN_ZONE_NAME_MAX + 1];
    unsigned days;                /* bits, Monday lowest; 0: every day */
    int64_t window_ms;            /* data that came so long before it counts; -1: data of the same day */
};
struct tarn_promise { struct tarn_limit warning, error; struct tarn_deadline deadline; };
/* Beside the thresholds of the kind `freshness`. */
struct tarn_freshness_settings {
    struct tarn_deadline deadline;
    struct tarn_promise contract; /* of a data contract: counts where nothing else is set */
};
struct tarn_kind_settings {
    bool is_off;
    bool has_severity;           /* overrides whatever the judge says */
    enum tarn_severity severity;
    struct tarn_limit warning, error;
    int64_t grace_ms;
};
/* maintenance.c: wall-clock windows in which something may look wrong. */
#define TARN_WINDOWS_MAX 16
struct tarn_window {
    unsigned days;                /* on which it begins: bits, Monday lowest; 0: every day */
    int64_t from_ms, to_ms;       /* on the wall clock; to_ms at or below from_ms: on the day after */
    bool has_zone;                /* else the table's */
    const struct tarn_zone *zone;
};
struct tarn_maintenance { struct tarn_window windows[TARN_WINDOWS_MAX]; size_t count; };

struct tarn_settings {
    int64_t interval_ms, sweep_interval_ms;
    enum tarn_policy policy;
    const struct tarn_zone *zone; /* of the table; NULL: UTC */
    char zone_name[TARN_ZONE_NAME_MAX + 1];
    struct tarn_maintenance maintenance;
    struct tarn_freshness_settings freshness;
    struct tarn_kind_settings kinds[TARN_KINDS_MAX]; /* beside tarn_kinds */
};
/* A duration or a number, by the kind; a time zone. For the other files that read settings. */
TARN_MUST tarn_code tarn_settings_limit(const struct tarn_kind *kind, const char *key, const json_t *value,
                                        struct tarn_limit *out, struct tarn_err *err);
TARN_MUST tarn_code tarn_settings_zone(const char *key, const json_t *value, const struct tarn_zone **out,
                                       struct tarn_err *err);
TARN_MUST tarn_code tarn_settings_days(const json_t *value, unsigned *out, struct tarn_err *err); /* bits, Monday lowest */
bool tarn_settings_clock(const char *text, int64_t *out); /* "09:00" or "09:00:30" in ms of the day */
/* `monitors`: the table's object as text, NULL or "{}": none. What is stored was checked; a member that is not
 * valid any more counts as not given. */
void tarn_settings_resolve(const struct tarn_monitor_defaults *defaults, const char *monitors,
                           struct tarn_settings *out);
/* Of that only the windows and the table's zone. */
void tarn_settings_windows(const struct tarn_monitor_defaults *defaults, const char *monitors,
                           struct tarn_maintenance *out, const struct tarn_zone **zone);
TARN_MUST tarn_code tarn_maintenance_read(const json_t *list, struct tarn_maintenance *out, struct tarn_err *err);
/* Lies the instant in a window? *edge_ms (may be NULL): the next instant at which that turns, at most some days ahead. */
/* How much of the time from `from` up to `to` lies in windows; of more than 60 days the last ones count. */
int64_t tarn_maintenance_overlap(const struct tarn_maintenance *maintenance, const struct tarn_zone *zone, int64_t from,
                                 int64_t to);
bool tarn_maintenance_covers(const struct tarn_maintenance *maintenance, const struct tarn_zone *zone, int64_t at_ms,
                             int64_t *edge_ms);
/* Only what a status answer needs: quick, for the hot path. */
void tarn_settings_glance(const struct tarn_monitor_defaults *defaults, const char *monitors, int64_t *interval_ms,
                          enum tarn_policy *policy);
const struct tarn_kind_settings *tarn_settings_of(const struct tarn_settings *settings, const char *code);

/* --- judging --- */
/* The catalog lost commits that storage knows: whatever it says of the table, storage differs from it, and only that is told. */
static inline bool tarn_facts_are_of_old_catalog(const struct tarn_facts *facts)
{
    return facts->block == TARN_BLOCK_STORAGE_AHEAD && facts->state == TARN_FACTS_READ;
}
#define TARN_LOG_SUBJECT "_transactions"
struct tarn_judging {
    const struct tarn_facts *facts;
    const struct tarn_settings *settings;
    int64_t now_ms;
    struct tarn_findings out;    /* what looks wrong: code, subject, severity, message, ...; no identity yet */
    size_t cap;
    bool failed;                 /* out of memory */
};
struct tarn_report {
    enum tarn_severity severity; /* TARN_SEV_OK: the kind's own */
    enum tarn_severity ceiling;  /* never above it, whatever is set; TARN_SEV_OK: none */
    const char *subject;
    const char *message;         /* NULL: "code: subject" */
    const char *observed, *expected; /* JSON scalars, NULL: none */
    const char *unit;            /* NULL: the kind's own */
    const char *cure;            /* NULL: the kind's own */
    bool is_incurable;           /* the kind's own does not cure this one */
    json_t *evidence;            /* stolen, NULL: none */
};
typedef void tarn_judge_fn(struct tarn_judging *judging);
extern tarn_judge_fn *const tarn_judges[];
extern const size_t tarn_judges_count;
/* All judges over the facts. TARN_INTERNAL: out of memory. */
TARN_MUST tarn_code tarn_judge_all(struct tarn_judging *judging, struct tarn_err *err);
void tarn_judging_done(struct tarn_judging *judging);

void tarn_judge_report(struct tarn_judging *judging, const char *code, const struct tarn_report *report);
/* One report a suspect; above 20 (or when the kind is whole) one with subject "*", the count and examples. */
void tarn_judge_suspects(struct tarn_judging *judging, const char *code, const struct tarn_suspects *suspects,
                         enum tarn_severity severity);
/* The same of what no plan cures, whatever cures others of the kind. */
void tarn_judge_incurable(struct tarn_judging *judging, const char *code, const struct tarn_suspects *suspects);
/* {"count": of all, "examples": [paths]}: owned. */
json_t *tarn_judge_examples(const struct tarn_suspects *list);
/* A number as JSON text, in a ring of buffers good for eight calls on this thread. */
const char *tarn_judge_number(int64_t value);
/* TARN_SEV_ERROR, TARN_SEV_WARNING by thresholds (strictly greater, error first), TARN_SEV_OK below; *limit the one. */
enum tarn_severity tarn_judge_over(const struct tarn_kind_settings *settings, int64_t value,
                                   const struct tarn_limit **limit);

tarn_judge_fn tarn_judge_freshness, tarn_judge_regressions, tarn_judge_clocks, tarn_judge_stalls, tarn_judge_manifest_age,
    tarn_judge_transaction_gaps, tarn_judge_schema_drift, tarn_judge_unregistered,
    tarn_judge_manifest_content, tarn_judge_data_files, tarn_judge_storage_state, tarn_judge_staging,
    tarn_judge_coverage, tarn_judge_log_order, tarn_judge_foreign_write, tarn_judge_small_files;

/* --- small_files.c --- */
int64_t tarn_small_files_least(const struct tarn_settings *settings); /* that a folder must exceed to be told */

/* --- log_ids.c: the ids of a log and its pointer --- */
/* The pointer's number when it belongs to the log's sequence, else -1. */
int64_t tarn_log_pointer_number(const struct tarn_facts *facts);
/* The number of the manifest's own newest transaction in the log's sequence, else -1. */
int64_t tarn_log_manifest_number(const struct tarn_facts *facts);
/* Of the newest transaction that either of them says is committed, -1: neither; *proof_ms: when that was said. */
int64_t tarn_log_committed_number(const struct tarn_facts *facts, int64_t *proof_ms);

struct tarn_tx;

/* --- details.c, scan_row.c: facts that are no findings --- */
/* The row as it stands, or the empty one of a table never scanned. */
TARN_MUST tarn_code tarn_scan_row_read(struct tarn_tx *tx, int64_t table_id, struct tarn_scan_row *row, bool *scanned,
                                       struct tarn_err *err);
char *tarn_details_text(const struct tarn_facts *facts, const struct tarn_settings *settings,
                        const struct tarn_findings *reports, int64_t now_ms); /* owned; NULL: out of memory */
/* `now` with those of `before` that the scan did not look for; owned; NULL: out of memory. */
char *tarn_details_merge(const char *before, const char *now, const struct tarn_facts *facts);
/* With the one detail that no single scan knows, when there is something to count; owned, NULL: out of memory. */
char *tarn_details_with_flapping(const char *details, int64_t flapping);
/* The columns of the scan row that facts tell. */
TARN_MUST tarn_code tarn_scan_row_fill(struct tarn_scan_row *row, const struct tarn_facts *facts,
                                       struct tarn_err *err);

/* --- foreign_ids.c --- */
TARN_MUST tarn_code tarn_foreign_ids_take(struct tarn_tx *tx, const struct tarn_log_facts *log, int64_t table_id,
                                          struct tarn_err *err);
/* Fills log->taken, as far as holes in the numbers ask for it. */
struct tarn_store;
TARN_MUST tarn_code tarn_taken_ids_read(struct tarn_store *store, struct tarn_log_facts *log, int64_t table_id,
                                        struct tarn_err *err);

/* --- quiet.c --- */
#define TARN_SUPPRESSED_BY_ROOT "storage_root" /* its root is lost, and the finding of another table told so */
struct tarn_quiet {
    const struct tarn_table *table;              /* with what it inherits */
    const struct tarn_maintenance *maintenance;  /* NULL: none */
    const struct tarn_zone *zone;                /* of the table */
    const struct tarn_silences *silences;        /* NULL: none; those that begin later too */
};
/* Sets suppressed_by of each as it holds at now_ms; *until_ms: when that may turn, INT64_MAX: never by itself. What a
 * lost root suppresses stays so. */
TARN_MUST tarn_code tarn_quiet_mark(struct tarn_findings *findings, const struct tarn_quiet *quiet, int64_t now_ms,
                                    int64_t *until_ms, struct tarn_err *err);

/* --- examined.c --- */
/* Was all that the finding is judged by looked at? */
bool tarn_finding_is_examined(const struct tarn_finding *finding, const struct tarn_facts *facts);
/* Does an open finding say what this report says, in other words because of what cannot be read? */
bool tarn_finding_is_told(const struct tarn_findings *before, const struct tarn_finding *report, const struct tarn_facts *facts);
/* tarn_facts_options.asked of the open findings. */
TARN_MUST tarn_code tarn_findings_ask(const struct tarn_findings *open, struct tarn_fileset *asked, struct tarn_err *err);

/* --- merge.c, findings.c --- */
#define TARN_LOOKS 2 /* bad ones in a row open a finding, good ones close it */
struct tarn_merge {
    const struct tarn_findings *before;  /* the live ones in the store */
    const struct tarn_findings *reports; /* of this scan */
    const struct tarn_findings *unsure;  /* looked wrong in one of its two looks only; NULL: it looked once */
    const struct tarn_facts *facts;      /* what was looked at */
    unsigned missed;                     /* TARN_SAW_... that one of two looks did not see */
    int64_t table_id, now_ms;
    int weight;       /* looks that this scan counts for: 2 when suspects were looked at twice */
    bool baseline;    /* the first scan of the table */
};
/* The live ones after the scan, and with closed_at set those that close now; ids of suspects that are forgotten. */
struct tarn_merged {
    struct tarn_findings live, closed;
    char (*forgotten)[40];
    size_t forgotten_count;
    int flapped; /* of those: looked wrong once and good at the next look */
};
TARN_MUST tarn_code tarn_findings_merge(const struct tarn_merge *merge, struct tarn_merged *out, struct tarn_err *err);
void tarn_merged_done(struct tarn_merged *merged);
/* merged_store.c: writes it, with the events that tell of it. What comes back soon after it closed is itself again. */
TARN_MUST tarn_code tarn_merged_store(struct tarn_tx *tx, const struct tarn_table *table, struct tarn_merged *merged,
                                      int64_t now_ms, struct tarn_err *err);
TARN_MUST tarn_code tarn_finding_copy(struct tarn_finding *to, const struct tarn_finding *from, struct tarn_err *err);
/* Adds *item (taken over) to the list. */
TARN_MUST tarn_code tarn_findings_add(struct tarn_findings *list, struct tarn_finding *item, struct tarn_err *err);
int tarn_finding_order(const void *a, const void *b); /* severity (worst first), code, subject */

/* --- status.c: what a status is made of, from the catalog (managed) or the last scan (observed) --- */
struct tarn_shown {
    int64_t version, last_updated, files, bytes, schema_version; /* -1: not known */
    const char *latest_transaction, *partition_keys;             /* borrowed */
};
struct tarn_shown tarn_status_shown(const struct tarn_table *table, const struct tarn_scan_row *scan);
int64_t tarn_status_row_data_commit(const struct tarn_status_row *row); /* the newest commit that brought data; -1: not known */

/* --- verdict.c --- */
/* The table's severity as findings and scan say, at `now`. */
enum tarn_severity tarn_verdict_of(const struct tarn_findings *findings);
/* Sets the row's verdict, and since when it is so, by the live findings. */
void tarn_scan_row_judge(struct tarn_scan_row *row, const struct tarn_findings *live, int64_t now_ms);
#define TARN_STALE_INTERVALS 3 /* without a successful scan */
int64_t tarn_scan_patience_ms(int64_t interval_ms); /* after so long without one a table is unknown */
bool tarn_scan_is_stale(const struct tarn_scan_row *scan, int64_t interval_ms, int64_t now_ms);
bool tarn_scan_is_lost(const struct tarn_scan_row *scan, int64_t interval_ms, int64_t now_ms);
const char *tarn_status_text(enum tarn_severity severity, enum tarn_policy policy, int *status_code);
#endif
