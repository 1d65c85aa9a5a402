/* publish_queue.h - which table is published next: one job a table, the earliest due first, a table never in
 * two hands at once. No thread, no clock and no lock of its own: the publisher has them. */
#ifndef TARN_LAKE_PUBLISH_QUEUE_H
#define TARN_LAKE_PUBLISH_QUEUE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Jobs live as long as the queue: what they remember spares work at the next publication. */
struct tarn_publish_job {
    int64_t table_id;
    int64_t due_ms;                /* monotonic */
    bool running, again;           /* again: nudged while it ran */
    size_t slot;                   /* in the heap, SIZE_MAX: not waiting */
    struct tarn_publish_job *next; /* of the same bucket */
    /* the publisher's memory */
    unsigned failures, side_failures;
    bool tidied; /* leftovers of killed writers were looked for */
    int64_t entries_done;
    char cache_key[65]; /* of the last schema_cache.json */
    int64_t manifest_ms, manifest_bytes; /* the last manifest: when (monotonic), how long */
};

struct tarn_publish_queue {
    struct tarn_publish_job **heap; /* owned array: waiting jobs, earliest first */
    size_t waiting, heap_cap;
    struct tarn_publish_job **buckets; /* owned array of owned chains */
    size_t bucket_count, jobs;
};
void tarn_publish_queue_done(struct tarn_publish_queue *queue);

/* The table has something to do at `due_ms`; an earlier time stands, and so does the pause of a job that
 * failed. False: no memory, nothing changed. */
bool tarn_publish_queue_nudge(struct tarn_publish_queue *queue, int64_t table_id, int64_t due_ms);
/* The job that is due, now running; NULL when none is. With `impatient` (a drain) jobs that only pause are
 * due too, those that failed never. */
struct tarn_publish_job *tarn_publish_queue_take(struct tarn_publish_queue *queue, int64_t now_ms,
                                                 bool impatient);
/* The job ended: it waits again when it was nudged meanwhile (due now) or `due_ms` is not negative. Never
 * fails. */
void tarn_publish_queue_finish(struct tarn_publish_queue *queue, struct tarn_publish_job *job, int64_t now_ms,
                               int64_t due_ms);
int64_t tarn_publish_queue_next(const struct tarn_publish_queue *queue); /* INT64_MAX: nothing waits */
#endif
