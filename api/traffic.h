/* traffic.h - what the server answered since it started, counted by route: told by server/, shown by
 * /metrics. Any thread; each counts in a shard of its own, so that telling costs some nanoseconds. */
#ifndef TARN_API_TRAFFIC_H
#define TARN_API_TRAFFIC_H
#include "api/http.h"

#define TARN_TRAFFIC_CLASSES 5   /* 1xx to 5xx */
#define TARN_TRAFFIC_BUCKETS 13  /* the last one has no upper end */
extern const struct tarn_traffic_bound {
    int64_t us;
    const char *text;
} tarn_traffic_bounds[TARN_TRAFFIC_BUCKETS];

struct tarn_traffic_sum {
    int64_t answers[TARN_TRAFFIC_CLASSES];
    int64_t buckets[TARN_TRAFFIC_BUCKETS]; /* by how long it took; each answer counts in one */
    int64_t us;                            /* of all together */
};

struct tarn_traffic;
TARN_MUST tarn_code tarn_traffic_new(struct tarn_traffic **out, struct tarn_err *err);
void tarn_traffic_free(struct tarn_traffic *traffic); /* NULL is fine */
/* An answer went out. `route` NULL: the address is none of ours;
 * `code` TARN_OK: no error. A NULL `traffic` counts nothing. */
void tarn_traffic_note(struct tarn_traffic *traffic, const struct tarn_route *route, unsigned status,
                       tarn_code code, int64_t us);
void tarn_traffic_connected(struct tarn_traffic *traffic, int change); /* +1 or -1 */

/* Memory that answers of /metrics hold while they are made, all together. */
#define TARN_SCRAPES_BYTES (256u << 20)
void tarn_traffic_hold(struct tarn_traffic *traffic, int64_t change);
int64_t tarn_traffic_held(const struct tarn_traffic *traffic); /* 0 without one */

/* `route`: an index of tarn_routes; tarn_routes_count: no route of ours. */
void tarn_traffic_read(const struct tarn_traffic *traffic, size_t route, struct tarn_traffic_sum *out);
int64_t tarn_traffic_errors(const struct tarn_traffic *traffic, tarn_code code);
int64_t tarn_traffic_connections(const struct tarn_traffic *traffic);
int64_t tarn_traffic_since(const struct tarn_traffic *traffic); /* when it began to count */
#endif
