/* iceberg_report.h - what engines tell of their scans and commits, kept as facts of the table: files, rows, bytes, duration. The
 * newest ones of a table, and none for longer than samples are kept. */
#ifndef TARN_LAKE_ICEBERG_REPORT_H
#define TARN_LAKE_ICEBERG_REPORT_H
#include "lake/iceberg.h"

#define TARN_REPORTS_MAX 1000 /* of one table */

struct tarn_iceberg_report_use {
    struct tarn_ident ident;
    const json_t *report; /* borrowed: ReportMetricsRequest of the specification */
    int64_t now_ms;       /* 0: the clock */
    char kind[8];         /* inside: scan, commit */
    char *facts;          /* inside, owned: JSON */
    int64_t snapshot;     /* inside */
};
/* TARN_TABLE_NOT_FOUND; TARN_INVALID: no such type of report, or one that cannot be read. */
extern const struct tarn_use tarn_iceberg_report;
#endif
