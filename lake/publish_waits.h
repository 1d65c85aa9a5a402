/* publish_waits.h - who waits for a publication, in the order in which their waits end. No thread, clock or
 * lock of its own. */
#ifndef TARN_LAKE_PUBLISH_WAITS_H
#define TARN_LAKE_PUBLISH_WAITS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tarn_publish_wait {
    int64_t table_id, version;
    int64_t deadline_ms; /* monotonic */
    void (*fn)(void *ctx, bool done);
    void *ctx;
    bool done; /* what to tell */
    struct tarn_publish_wait *next;
};
struct tarn_publish_waits {
    struct tarn_publish_wait *first,
        **end; /* owned; every wait is equally long, so the first one ends first */
};

/* Takes `wait` (from malloc) over. */
void tarn_publish_waits_add(struct tarn_publish_waits *waits, struct tarn_publish_wait *wait);
/* Unlinks those of the table that `version` satisfies, and, when nothing of it will be published, the others
 * too. */
struct tarn_publish_wait *tarn_publish_waits_of(struct tarn_publish_waits *waits, int64_t table_id,
                                                int64_t version, bool is_off);
/* Unlinks those whose time is over (INT64_MAX: all). */
struct tarn_publish_wait *tarn_publish_waits_over(struct tarn_publish_waits *waits, int64_t now_ms);
/* Calls each and frees it; outside of every lock. */
void tarn_publish_waits_tell(struct tarn_publish_wait *list);
#endif
