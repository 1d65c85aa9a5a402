/* samples.h - a table's metrics over time: what a scan leaves, and how it is told. */
#ifndef TARN_MONITORS_SAMPLES_H
#define TARN_MONITORS_SAMPLES_H
#include "monitors/monitors.h"

/* Which metrics: bits by their place in the table of metrics. */
typedef uint64_t tarn_metrics;
/* "files,total_size_bytes"; NULL: all. TARN_INVALID naming `field`. */
TARN_MUST tarn_code tarn_metrics_parse(const char *list, const char *field, tarn_metrics *out, struct tarn_err *err);

/* One object: `at` and the metrics as a scan at `at_ms` found them, or would have. */
void tarn_sample_write(struct tarn_jsonw *w, tarn_metrics metrics, const char *numbers, int64_t at_ms);

/* After a scan, in its transaction: `table` with what it inherits, the row and the findings as they are stored now. */
TARN_MUST tarn_code tarn_sample_take(struct tarn_tx *tx, const struct tarn_table *table, const struct tarn_scan_row *scan,
                                     const struct tarn_findings *findings, const struct tarn_monitor_defaults *defaults,
                                     int64_t now_ms, struct tarn_err *err);
#endif
