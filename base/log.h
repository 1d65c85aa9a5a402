/* log.h - one line an event, logfmt or JSON, to standard error. Only server/ and cli/
 * and the background threads' outermost functions log. Any thread may call. */
#ifndef TARN_BASE_LOG_H
#define TARN_BASE_LOG_H
#include "base/err.h"
#include <stdint.h>

enum tarn_log_level { TARN_LOG_DEBUG, TARN_LOG_INFO, TARN_LOG_WARN, TARN_LOG_ERROR };
enum tarn_log_format { TARN_LOG_LOGFMT, TARN_LOG_JSON };

void tarn_log_setup(enum tarn_log_level least, enum tarn_log_format format);
/* Pairs of key and text end with NULL: tarn_log(TARN_LOG_INFO, "listening", "addr", a, NULL).
 * Values are escaped; a NULL value leaves the pair out. ts and level are added. */
void tarn_log(enum tarn_log_level level, const char *event, ...) __attribute__((sentinel));
/* Text of a number for tarn_log, in a ring of per-thread buffers (8 calls deep). */
const char *tarn_log_i64(int64_t value);
void tarn_log_err(enum tarn_log_level level, const char *event, const struct tarn_err *err);
#endif
