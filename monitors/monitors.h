/* monitors.h - what the rest of the house asks of the monitors. Inside: facts.h of formats/ in, one file a
 * kind (a pure judgement of facts, parameters and clock), findings.c (identity, looks, since), status.c (the
 * status document), scan.c (gather, judge, store as a use case), runner.c (when). */
#ifndef TARN_MONITORS_MONITORS_H
#define TARN_MONITORS_MONITORS_H
#include "base/buf.h"
#include "base/jsonw.h"
#include "lake/lake.h"
#include <jansson.h>

/* --- what scans of large tables leave for the next ones, in memory and bounded. Any thread. --- */
struct tarn_recalls;
TARN_MUST tarn_code tarn_recalls_new(int64_t bytes_max, struct tarn_recalls **out, struct tarn_err *err);
void tarn_recalls_free(struct tarn_recalls *recalls); /* when no scan runs any more; NULL is fine */

/* --- settings: `monitors` of a table, a namespace, the server; the nearest wins --- */
enum tarn_policy { TARN_POLICY_DEFAULT, TARN_POLICY_STRICT };
struct tarn_monitor_defaults {      /* from the configuration */
    int64_t interval_ms;            /* scan.interval, 60 s */
    int64_t sweep_interval_ms;      /* scan.sweep_interval, 10 min */
    enum tarn_policy policy;        /* status_policy */
    const json_t *monitors;         /* monitors.*: object or NULL */
    int64_t full_interval_ms;       /* scan.full_interval, 1 h */
    struct tarn_recalls *recalls;   /* what scans leave for the next ones; NULL: every scan begins anew */
};
/* Is this a valid `monitors` object? TARN_INVALID naming the member (monitors.manifest_age.warning). */
TARN_MUST tarn_code tarn_monitors_check(const json_t *monitors, const char *field, struct tarn_err *err);

/* The grace time of a code for a table whose `monitors` (as text) hold. */
int64_t tarn_monitors_grace_ms(const struct tarn_monitor_defaults *defaults, const char *monitors, const char *code);

void tarn_monitors_markdown(struct tarn_buf *out); /* docs/MONITORS.md */
/* The heads of the pages in docs/findings/, each after a line "== code". */
void tarn_finding_heads(struct tarn_buf *out);

/* --- the status document --- */
/* Everything in it, at the moment of the answer. scan may be NULL (never scanned). Findings: the live ones. */
void tarn_status_write(struct tarn_buf *out, const struct tarn_table *table, const struct tarn_scan_row *scan,
                       const struct tarn_findings *findings, const struct tarn_monitor_defaults *defaults,
                       int64_t now_ms);
/* Until when the document stays as it was written at now_ms, as far as the clock alone decides; INT64_MAX: for good. */
int64_t tarn_status_holds_until(const struct tarn_table *table, const struct tarn_scan_row *scan,
                                const struct tarn_findings *findings, const struct tarn_monitor_defaults *defaults,
                                int64_t now_ms);
/* One flat row of GET /api/status (an object). */
void tarn_status_row_write(struct tarn_buf *out, const struct tarn_status_row *row,
                           const struct tarn_monitor_defaults *defaults, int64_t now_ms);

/* Its words of `status` and `severity`, static: for filters. */
void tarn_status_row_words(const struct tarn_status_row *row, const struct tarn_monitor_defaults *defaults,
                           int64_t now_ms, const char **status, const char **severity);

/* --- findings --- */
bool tarn_code_is_unjudged(const char *code); /* while one of it is open the table is unknown */
bool tarn_finding_is_open(const struct tarn_finding *finding);
/* Does anybody see it? A suspect is shown only while a window keeps it from opening. */
bool tarn_finding_is_shown(const struct tarn_finding *finding);
bool tarn_finding_is_acknowledged(const struct tarn_finding *finding, int64_t now_ms);
/* One object; in full: with evidence, state and past. */
void tarn_finding_write(struct tarn_jsonw *w, const struct tarn_finding *finding, bool in_full, int64_t now_ms);

/* Are these the matchers of a silence? TARN_INVALID naming the member (matchers[0].name). */
TARN_MUST tarn_code tarn_silence_check(const json_t *matchers, struct tarn_err *err);
/* Reads what keeps the findings of the table quiet now and marks them; `table` with what it inherits. *until_ms: how long
 * the marks hold, as far as the clock alone decides. */
TARN_MUST tarn_code tarn_findings_mark(struct tarn_tx *tx, const struct tarn_table *table,
                                       const struct tarn_monitor_defaults *defaults, int64_t now_ms,
                                       struct tarn_findings *findings, int64_t *until_ms, struct tarn_err *err);

/* What somebody says of an open finding. */
enum tarn_say {
    TARN_SAY_ACKNOWLEDGED, TARN_SAY_NOT_ACKNOWLEDGED, /* by, text: the comment, until */
    TARN_SAY_ACCEPTED, TARN_SAY_NOT_ACCEPTED          /* by, text: the reason */
};
struct tarn_finding_use {
    /* in, texts borrowed; to take something back they are NULL */
    struct tarn_ident ident;
    const char *id;
    enum tarn_say what;
    const char *by, *text;
    int64_t until; /* -1: as long as it is open */
    int64_t now_ms;
    /* out, owned */
    struct tarn_finding finding;
};
extern const struct tarn_use tarn_finding_say; /* TARN_NOT_FOUND; TARN_INVALID: it is closed */

/* --- one scan as a use case (POST .../check and the runner) --- */
struct tarn_scan_use {
    /* in */
    int64_t table_id;     /* or, when 0, by name: */
    struct tarn_ident ident;
    bool sweep;           /* depth */
    bool confirm;         /* look twice at suspects within the scan: check, first scan */
    const struct tarn_monitor_defaults *defaults;
    int64_t (*now)(void); /* NULL: tarn_now_ms */
    /* out, owned */
    struct tarn_table *table;
    struct tarn_scan_row scan;
    struct tarn_findings findings;
    void *private_;
};
extern const struct tarn_use tarn_scan;

/* --- background --- */
struct tarn_runner;
/* Scans what is due, jittered, at most `threads` at once. `lake` and `defaults` are borrowed. */
TARN_MUST tarn_code tarn_runner_start(struct tarn_lake *lake, const struct tarn_monitor_defaults *defaults,
                                      unsigned threads, struct tarn_runner **out, struct tarn_err *err);
void tarn_runner_nudge(struct tarn_runner *runner); /* something became due (a registration) */
/* For metrics: scans running now, and ended since the start. Any thread. */
void tarn_runner_meters_read(struct tarn_runner *runner, int64_t *running, int64_t *ended);
void tarn_runner_stop(struct tarn_runner *runner);  /* finishes running scans; NULL is fine */

/* Does the cure of that finding touch only files that are named? */
bool tarn_cure_is_by_name(const char *code);

/* --- tarn check: a folder, no server, no database --- */
struct tarn_check_options {
    const char *location;
    int format;             /* enum tarn_format, -1: auto */
    int64_t now_ms;
    const char *schema_text;    /* a schema.json or a bare struct; NULL: the table's own */
    const char *partition_keys; /* a JSON list; NULL: as found */
};
char *tarn_check_folder_name(const char *location); /* "." has a name too; owned, NULL: no memory */
/* The status document (owned tree) and its severity. Never fails for the table's sake. */
TARN_MUST tarn_code tarn_check_run(const struct tarn_check_options *options, json_t **status,
                                   enum tarn_severity *severity, struct tarn_err *err);
#endif
