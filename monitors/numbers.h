/* numbers.h - a table in numbers: what the catalog's row, the last scan and the open findings say, at one place for whatever
 * exports them. */
#ifndef TARN_MONITORS_NUMBERS_H
#define TARN_MONITORS_NUMBERS_H
#include "monitors/monitors.h"

/* Instants and spans are ms. */
enum tarn_number {
    TARN_N_LAST_COMMIT,   /* instant */
    TARN_N_MANIFEST_TIME, /* instant */
    TARN_N_DATA_TIME,     /* instant: the newest data file's modification */
    TARN_N_MANIFEST_AGE,  /* span, signed */
    TARN_N_FRESH_WARNING, /* span */
    TARN_N_FRESH_ERROR,   /* span */
    TARN_N_VERSION,
    TARN_N_PUBLISHED_VERSION,
    TARN_N_SCHEMA_VERSION,
    TARN_N_FILES,
    TARN_N_BYTES,
    TARN_N_ROWS,
    TARN_N_GAPS,
    TARN_N_MISSING_ENTRIES,
    TARN_N_PENDING,
    TARN_N_PUBLICATION_LAG, /* span */
    TARN_N_MISSING_FILES,
    TARN_N_UNREGISTERED_FILES,
    TARN_N_UNREGISTERED_BYTES,
    TARN_N_REGISTRATION_LAG, /* span */
    TARN_N_ORPHAN_FILES,
    TARN_N_ORPHAN_BYTES,
    TARN_N_RECLAIMABLE_FILES,
    TARN_N_RECLAIMABLE_BYTES,
    TARN_N_DRIFT_MISSING,
    TARN_N_DRIFT_EXTRA,
    TARN_N_DRIFT_NARROWED,
    TARN_N_DRIFT_WIDENED,
    TARN_N_DRIFT_TYPE_CHANGED,
    TARN_N_DRIFT_RENAMED_CASE,
    TARN_N_DRIFT_NULLABILITY,
    TARN_N_DRIFT_TIMESTAMP_UNIT,
    TARN_N_DRIFT_ORDER,
    TARN_N_STAGING_FILES,
    TARN_N_STAGING_BYTES,
    TARN_N_STAGING_OLDEST, /* instant */
    TARN_N_STATUS,         /* 0 healthy, 1 degraded, 2 unhealthy, 3 unknown */
    TARN_N_ERRORS,         /* open findings */
    TARN_N_WARNINGS,
    TARN_N_INFOS,
    TARN_N_SCAN_SUCCESS,   /* instant */
    TARN_N_SCAN_DURATION,  /* span */
    TARN_N_SCAN_FAILURES,  /* ever */
    TARN_N_LAST_RUN,       /* instant: data, or proof that the pipeline lives */
    TARN_N_FLAPPING,       /* suspects, ever */
    TARN_NUMBERS
};
#define TARN_NUMBER_NONE INT64_MIN /* not known, or the table has no such thing */

/* `row->table` with what it inherits in place. Without memory the facts of the scan are left out. */
void tarn_numbers_of(const struct tarn_status_row *row, const struct tarn_monitor_defaults *defaults, int64_t now_ms,
                     int64_t out[TARN_NUMBERS]);
/* Codes of findings by their place in the table of kinds: a small number for each. */
int tarn_code_number(const char *code); /* -1: this version does not know it */
const char *tarn_code_text(int number);
#endif
