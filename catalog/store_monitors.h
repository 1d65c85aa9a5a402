/* store_monitors.h - the part of the store that the monitors keep: scans
 * with their findings and numbers, and silences. As in store_ops.h. */
#ifndef TARN_CATALOG_STORE_MONITORS_H
#define TARN_CATALOG_STORE_MONITORS_H
#include "base/err.h"
#include "catalog/types.h"

struct tarn_tx;
struct tarn_table_filter;

/* The findings of a table that share a code and a severity: those that are
 * open, and those that would be, were they not kept quiet from the start. */
struct tarn_open_code {
    char code[64];
    enum tarn_severity severity;
    int64_t count; /* open */
    int64_t quiet; /* open or not, something keeps it quiet: a silence, a maintenance window, a lost root */
    int64_t heard; /* open, and nothing does */
};
#define TARN_OPEN_CODES_MAX 128

/* One row of GET /api/status: a table with its scan and the count of its open findings. */
struct tarn_status_row {
    const struct tarn_table *table;
    const struct tarn_scan_row *scan;     /* NULL: never scanned */
    int64_t open_errors, open_warnings, open_infos; /* but those that are accepted */
    const struct tarn_open_code *codes;   /* by code, at most TARN_OPEN_CODES_MAX; borrowed */
    size_t code_count;
    const struct tarn_finding *worst;     /* NULL: none of those open; the filter may say what comes first */
};
typedef tarn_code tarn_status_fn(void *ctx, const struct tarn_status_row *row, struct tarn_err *err);

/* --- scans and findings --- */
struct tarn_monitor_ops {
    /* Ids of live tables whose probe is due at now, earliest first. */
    tarn_code (*due)(struct tarn_tx *tx, int64_t now_ms, int64_t limit, int64_t *ids, int64_t *count,
                     int64_t *next_due, struct tarn_err *err); /* *next_due: INT64_MAX when nothing waits */
    tarn_code (*get)(struct tarn_tx *tx, int64_t table_id, struct tarn_scan_row *out, struct tarn_err *err); /* TARN_NOT_FOUND */
    tarn_code (*put)(struct tarn_tx *tx, const struct tarn_scan_row *row, struct tarn_err *err);
    /* Its next probe is due at once. */
    tarn_code (*hurry)(struct tarn_tx *tx, int64_t table_id, struct tarn_err *err);
    /* The live table and its scan row by one read, for the hot answers; *scanned false: never scanned, *scan
     * untouched. TARN_TABLE_NOT_FOUND. */
    tarn_code (*look)(struct tarn_tx *tx, const char *namespace_, const char *name, struct tarn_table **table,
                      struct tarn_scan_row *scan, bool *scanned, struct tarn_err *err);
    /* Live (not closed) findings of a table, suspects too,
     * ordered by severity (worst first), code, subject. */
    tarn_code (*findings)(struct tarn_tx *tx, int64_t table_id, struct tarn_findings *out,
                          struct tarn_err *err);
    /* Newest closed one of that identity that closed at or after `since`; TARN_NOT_FOUND. */
    tarn_code (*reopenable)(struct tarn_tx *tx, int64_t table_id, const char *code, const char *subject,
                            int64_t since, struct tarn_finding *out, struct tarn_err *err);
    /* The closed ones, newest first (then by id), at most `limit`: those that closed at `at` with an id above
     * `after_id`, and those that closed before. From the start: INT64_MAX and "". */
    tarn_code (*closed)(struct tarn_tx *tx, int64_t table_id, int64_t at, const char *after_id, int64_t limit,
                        struct tarn_findings *out, struct tarn_err *err);
    /* When findings of that code were open and closed again at
     * or after `since`: the newest ones, at most `limit`. */
    tarn_code (*spans)(struct tarn_tx *tx, int64_t table_id, const char *code, int64_t since, size_t limit,
                       struct tarn_span *out, size_t *count, struct tarn_err *err);
    /* One of the table, live or closed, suspects too; *out owned; TARN_NOT_FOUND. */
    tarn_code (*get_finding)(struct tarn_tx *tx, int64_t table_id, const char *id, struct tarn_finding *out,
                             struct tarn_err *err);
    /* Is a storage_unreachable with that root as its subject open at another live table, and was it told? */
    tarn_code (*root_told)(struct tarn_tx *tx, const char *root, int64_t table_id, bool *told,
                           struct tarn_err *err);
    /* Those that closed before `before` go, at most `limit` a call. */
    tarn_code (*expire_findings)(struct tarn_tx *tx, int64_t before, int64_t limit, bool *left,
                                 struct tarn_err *err);
    tarn_code (*put_finding)(struct tarn_tx *tx, const struct tarn_finding *finding, struct tarn_err *err);
    tarn_code (*delete_finding)(struct tarn_tx *tx, const char *id, struct tarn_err *err);
    /* Rows of GET /api/status in table order, as filter pages. */
    tarn_code (*status)(struct tarn_tx *tx, const struct tarn_table_filter *filter, tarn_status_fn *fn,
                        void *ctx, struct tarn_err *err);
};

/* --- what each scan saw, in numbers --- */
struct tarn_thinning {
    int64_t table_id;                   /* 0: from the start */
    int64_t expired_before;             /* runs that ended before it go */
    int64_t hourly_from, hourly_before; /* of the runs between that lie within one hour the last one stays */
};

struct tarn_sample_ops {
    /* A scan at `at` saw these numbers: the newest run goes on, or another
     * begins. At or before the end of the newest one nothing is written. */
    tarn_code (*put)(struct tarn_tx *tx, int64_t table_id, int64_t at, const char *numbers,
                     struct tarn_err *err);
    /* By time: the run that begins last at or before `from`
     * (it may have ended), and those that begin up to `to`. */
    tarn_code (*list)(struct tarn_tx *tx, int64_t table_id, int64_t from, int64_t to, int64_t limit,
                      tarn_sample_fn *fn, void *ctx, struct tarn_err *err);
    /* What is too old goes, table by table: begins or goes on at *thinning; at most `limit` rows a call. */
    tarn_code (*thin)(struct tarn_tx *tx, struct tarn_thinning *thinning, int64_t limit, bool *left,
                      struct tarn_err *err);
};

/* --- what nobody wants to hear of --- */
struct tarn_silence_ops {
    tarn_code (*insert)(struct tarn_tx *tx, const struct tarn_silence *row, struct tarn_err *err);
    /* *out owned; TARN_NOT_FOUND. */
    tarn_code (*get)(struct tarn_tx *tx, const char *id, struct tarn_silence *out, struct tarn_err *err);
    /* Newest first (then by id), at most `limit`: those made at `at` with an id
     * above `after_id`, and those made before. From the start: INT64_MAX and "". */
    tarn_code (*list)(struct tarn_tx *tx, int64_t at, const char *after_id, int64_t limit,
                      tarn_silence_fn *fn, void *ctx, struct tarn_err *err);
    /* Those that end after now_ms, begun or not; owned. Quick where there are few: status answers ask it. */
    tarn_code (*from)(struct tarn_tx *tx, int64_t now_ms, struct tarn_silences *out, struct tarn_err *err);
    tarn_code (*remove)(struct tarn_tx *tx, const char *id, struct tarn_err *err); /* TARN_NOT_FOUND */
    /* Those that ended before `before` go, at most `limit` a call. */
    tarn_code (*expire)(struct tarn_tx *tx, int64_t before, int64_t limit, bool *left, struct tarn_err *err);
};
#endif
