/* cure.h - inside api/native/: a repair or a recovery is followed by a
 * scan, so that its answer tells how the table is now. The cure is done
 * whether or not it can be judged at once: else the next scan judges it. */
#ifndef TARN_API_NATIVE_CURE_H
#define TARN_API_NATIVE_CURE_H
#include "api/http.h"
#include "monitors/monitors.h"

struct tarn_cure {
    struct tarn_scan_use scan; /* defaults: before the judgement; the rest is tarn_scan.done's */
    bool is_judged;
};
void tarn_cure_judge(struct tarn_cure *cure, struct tarn_lake *lake, int64_t table_id);
/* The member `status`, null when it could not be judged. */
void tarn_cure_write(const struct tarn_cure *cure, struct tarn_jsonw *w);
#endif
