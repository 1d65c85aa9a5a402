/* marks.h - inside monitors/: the highest that any scan of a table saw. */
#ifndef TARN_MONITORS_MARKS_H
#define TARN_MONITORS_MARKS_H
#include "monitors/judge.h"

/* After a scan: moves the marks of its row. They start anew where another table lies, and when somebody accepted a
 * regression among the live findings. */
TARN_MUST tarn_code tarn_marks_keep(struct tarn_scan_row *row, const struct tarn_facts *facts,
                                    const struct tarn_findings *live, struct tarn_err *err);
#endif
