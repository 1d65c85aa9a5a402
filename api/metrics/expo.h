/* expo.h - the two text forms that Prometheus reads: 0.0.4 and OpenMetrics
 * 1.0. Knows names, types and escapes, nothing of what is counted. */
#ifndef TARN_API_METRICS_EXPO_H
#define TARN_API_METRICS_EXPO_H
#include "base/buf.h"

enum tarn_metric_type { TARN_M_GAUGE, TARN_M_COUNTER, TARN_M_INFO, TARN_M_STATESET, TARN_M_HISTOGRAM };
/* How an int64_t of ours is shown. */
enum tarn_metric_unit { TARN_M_PLAIN, TARN_M_BYTES, TARN_M_MS /* as seconds */, TARN_M_US /* as seconds */ };

struct tarn_expo {
    struct tarn_buf *out;
    bool open_metrics;
};

/* One family: all of its samples follow. `name` is that of its
 * samples (a counter's ends in _total, an info's in _info). */
void tarn_expo_head(const struct tarn_expo *expo, const char *name, enum tarn_metric_type type,
                    enum tarn_metric_unit unit, const char *help);
/* `suffix` ("_bucket") and the two texts of labels (`a="x"`, without braces) may be "". */
void tarn_expo_sample(const struct tarn_expo *expo, const char *name, const char *suffix, const char *labels,
                      size_t labels_len, const char *more, enum tarn_metric_unit unit, int64_t value);
void tarn_expo_end(const struct tarn_expo *expo); /* of the whole */
/* name="value" with the value escaped. */
void tarn_expo_label(struct tarn_buf *out, const char *name, const char *value);
const char *tarn_metric_type_text(enum tarn_metric_type type, bool open_metrics);
#endif
