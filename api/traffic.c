/* traffic.c - see traffic.h. */
#include "api/traffic.h"
#include "base/time.h"
#include <stdatomic.h>
#include <stdlib.h>

#define SHARDS 8

const struct tarn_traffic_bound tarn_traffic_bounds[TARN_TRAFFIC_BUCKETS] = {
    { 500, "0.0005" },   { 1000, "0.001" },   { 2500, "0.0025" }, { 5000, "0.005" },  { 10000, "0.01" },
    { 25000, "0.025" },  { 50000, "0.05" },   { 100000, "0.1" },  { 250000, "0.25" }, { 1000000, "1.0" },
    { 5000000, "5.0" },  { 30000000, "30.0" }, { INT64_MAX, "+Inf" },
};

struct cell {
    _Atomic int64_t answers[TARN_TRAFFIC_CLASSES], buckets[TARN_TRAFFIC_BUCKETS], us;
};

struct tarn_traffic {
    int64_t since_ms;
    atomic_int connections;
    _Atomic int64_t held; /* bytes */
    _Atomic int64_t errors[TARN_CODES_END];
    size_t cell_count; /* of a shard */
    struct cell cells[]; /* shard after shard */
};

tarn_code tarn_traffic_new(struct tarn_traffic **out, struct tarn_err *err)
{
    size_t count = tarn_routes_count + 1;
    struct tarn_traffic *traffic = calloc(1, sizeof *traffic + SHARDS * count * sizeof traffic->cells[0]);

    if (!traffic)
        return tarn_fail_oom(err);
    traffic->cell_count = count;
    traffic->since_ms = tarn_now_ms();
    *out = traffic;
    return TARN_OK;
}

void tarn_traffic_free(struct tarn_traffic *traffic) { free(traffic); }

static void count(_Atomic int64_t *counter, int64_t by)
{
    atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

/* Threads take turns; two of one shard only wait for each other's cache line. */
static size_t shard_of_thread(void)
{
    static atomic_uint s_next;
    static _Thread_local unsigned shard; /* from 1 on */

    if (shard == 0)
        shard = 1 + atomic_fetch_add_explicit(&s_next, 1, memory_order_relaxed) % SHARDS;
    return shard - 1;
}

void tarn_traffic_note(struct tarn_traffic *traffic, const struct tarn_route *route, unsigned status,
                       tarn_code code, int64_t us)
{
    size_t bucket = 0, class_ = status / 100;

    if (!traffic || class_ < 1 || class_ > TARN_TRAFFIC_CLASSES)
        return;
    size_t at = route ? (size_t)(route - tarn_routes) : tarn_routes_count;
    struct cell *cell = &traffic->cells[shard_of_thread() * traffic->cell_count + at];
    while (us > tarn_traffic_bounds[bucket].us)
        bucket++;
    count(&cell->answers[class_ - 1], 1);
    count(&cell->buckets[bucket], 1);
    count(&cell->us, us);
    if (code != TARN_OK)
        count(&traffic->errors[code], 1);
}

void tarn_traffic_connected(struct tarn_traffic *traffic, int change)
{
    if (traffic)
        atomic_fetch_add_explicit(&traffic->connections, change, memory_order_relaxed);
}

void tarn_traffic_hold(struct tarn_traffic *traffic, int64_t change)
{
    if (traffic)
        count(&traffic->held, change);
}

int64_t tarn_traffic_held(const struct tarn_traffic *traffic)
{
    return traffic ? atomic_load(&traffic->held) : 0;
}

void tarn_traffic_read(const struct tarn_traffic *traffic, size_t route, struct tarn_traffic_sum *out)
{
    *out = (struct tarn_traffic_sum){ .us = 0 };
    for (size_t shard = 0; shard < SHARDS; shard++) {
        const struct cell *cell = &traffic->cells[shard * traffic->cell_count + route];
        for (size_t i = 0; i < TARN_TRAFFIC_CLASSES; i++)
            out->answers[i] += atomic_load_explicit(&cell->answers[i], memory_order_relaxed);
        for (size_t i = 0; i < TARN_TRAFFIC_BUCKETS; i++)
            out->buckets[i] += atomic_load_explicit(&cell->buckets[i], memory_order_relaxed);
        out->us += atomic_load_explicit(&cell->us, memory_order_relaxed);
    }
}

int64_t tarn_traffic_errors(const struct tarn_traffic *traffic, tarn_code code)
{
    return atomic_load_explicit(&traffic->errors[code], memory_order_relaxed);
}

int64_t tarn_traffic_connections(const struct tarn_traffic *traffic)
{
    return atomic_load(&traffic->connections);
}

int64_t tarn_traffic_since(const struct tarn_traffic *traffic) { return traffic->since_ms; }
