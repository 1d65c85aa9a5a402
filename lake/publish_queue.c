/* publish_queue.c - a binary heap by due time, and a hash table that finds a table's job. The heap has room
 * for every job from the moment the job is made, so that putting one back cannot fail. */
#include "lake/publish_queue.h"
#include <stdlib.h>

enum { BUCKETS_AT_FIRST = 64 };

/* --- heap --- */

static void place(struct tarn_publish_queue *q, size_t slot, struct tarn_publish_job *job)
{
    q->heap[slot] = job;
    job->slot = slot;
}

static void sift_up(struct tarn_publish_queue *q, size_t slot)
{
    struct tarn_publish_job *job = q->heap[slot];
    while (slot > 0 && q->heap[(slot - 1) / 2]->due_ms > job->due_ms) {
        place(q, slot, q->heap[(slot - 1) / 2]);
        slot = (slot - 1) / 2;
    }
    place(q, slot, job);
}

static void sift_down(struct tarn_publish_queue *q, size_t slot)
{
    struct tarn_publish_job *job = q->heap[slot];
    for (;;) {
        size_t child = 2 * slot + 1;
        if (child >= q->waiting)
            break;
        if (child + 1 < q->waiting && q->heap[child + 1]->due_ms < q->heap[child]->due_ms)
            child++;
        if (q->heap[child]->due_ms >= job->due_ms)
            break;
        place(q, slot, q->heap[child]);
        slot = child;
    }
    place(q, slot, job);
}

static void wait_until(struct tarn_publish_queue *q, struct tarn_publish_job *job, int64_t due_ms)
{
    job->due_ms = due_ms;
    if (job->slot == SIZE_MAX)
        place(q, q->waiting++, job);
    sift_up(q, job->slot);
}

static void leave(struct tarn_publish_queue *q, struct tarn_publish_job *job)
{
    size_t slot = job->slot;
    struct tarn_publish_job *last = q->heap[--q->waiting];
    job->slot = SIZE_MAX;
    if (last == job)
        return;
    place(q, slot, last);
    sift_down(q, slot);
    sift_up(q, last->slot);
}

/* --- hash --- */

static size_t bucket_of(int64_t table_id, size_t count)
{
    return (size_t)((uint64_t)table_id * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (count - 1);
}

static bool grow_buckets(struct tarn_publish_queue *q)
{
    size_t count = q->bucket_count ? 2 * q->bucket_count : BUCKETS_AT_FIRST;
    struct tarn_publish_job **buckets = calloc(count, sizeof(*buckets));
    if (!buckets)
        return false;
    for (size_t i = 0; i < q->bucket_count; i++) {
        struct tarn_publish_job *job = q->buckets[i];
        while (job) {
            struct tarn_publish_job *next = job->next;
            size_t b = bucket_of(job->table_id, count);
            job->next = buckets[b];
            buckets[b] = job;
            job = next;
        }
    }
    free(q->buckets);
    q->buckets = buckets;
    q->bucket_count = count;
    return true;
}

static bool make_room(struct tarn_publish_queue *q)
{
    if (q->jobs >= q->bucket_count && !grow_buckets(q))
        return false;
    if (q->jobs < q->heap_cap)
        return true;
    size_t cap = q->heap_cap ? 2 * q->heap_cap : BUCKETS_AT_FIRST;
    struct tarn_publish_job **heap = realloc(q->heap, cap * sizeof(*heap));
    if (!heap)
        return false;
    q->heap = heap;
    q->heap_cap = cap;
    return true;
}

static struct tarn_publish_job *find(const struct tarn_publish_queue *q, int64_t table_id)
{
    if (q->bucket_count == 0)
        return NULL;
    struct tarn_publish_job *job = q->buckets[bucket_of(table_id, q->bucket_count)];
    while (job && job->table_id != table_id)
        job = job->next;
    return job;
}

static struct tarn_publish_job *find_or_make(struct tarn_publish_queue *q, int64_t table_id)
{
    struct tarn_publish_job *job = find(q, table_id);
    if (job || !make_room(q))
        return job;
    job = calloc(1, sizeof *job);
    if (!job)
        return NULL;
    size_t b = bucket_of(table_id, q->bucket_count);
    *job = (struct tarn_publish_job){ .table_id = table_id, .slot = SIZE_MAX, .next = q->buckets[b] };
    q->buckets[b] = job;
    q->jobs++;
    return job;
}

/* --- the queue --- */

void tarn_publish_queue_done(struct tarn_publish_queue *queue)
{
    for (size_t i = 0; i < queue->bucket_count; i++) {
        struct tarn_publish_job *job = queue->buckets[i];
        while (job) {
            struct tarn_publish_job *next = job->next;
            free(job);
            job = next;
        }
    }
    free(queue->buckets);
    free(queue->heap);
    *queue = (struct tarn_publish_queue){ 0 };
}

bool tarn_publish_queue_nudge(struct tarn_publish_queue *queue, int64_t table_id, int64_t due_ms)
{
    struct tarn_publish_job *job = find_or_make(queue, table_id);
    if (!job)
        return false;
    if (job->running)
        job->again = true;
    else if (job->slot == SIZE_MAX || (due_ms < job->due_ms && job->failures == 0))
        wait_until(queue, job, due_ms);
    return true;
}

static struct tarn_publish_job *first_sound(const struct tarn_publish_queue *q)
{
    for (size_t i = 0; i < q->waiting; i++) {
        if (q->heap[i]->failures == 0)
            return q->heap[i];
    }
    return NULL;
}

struct tarn_publish_job *tarn_publish_queue_take(struct tarn_publish_queue *queue, int64_t now_ms,
                                                 bool impatient)
{
    struct tarn_publish_job *job = queue->waiting > 0 ? queue->heap[0] : NULL;
    if (impatient)
        job = first_sound(queue);
    else if (job && job->due_ms > now_ms)
        job = NULL;
    if (!job)
        return NULL;
    leave(queue, job);
    job->running = true;
    job->again = false;
    return job;
}

void tarn_publish_queue_finish(struct tarn_publish_queue *queue, struct tarn_publish_job *job, int64_t now_ms,
                               int64_t due_ms)
{
    job->running = false;
    bool failed = job->failures > 0;
    if (job->again && !failed)
        due_ms = now_ms;
    if (due_ms >= 0)
        wait_until(queue, job, due_ms);
    job->again = false;
}

int64_t tarn_publish_queue_next(const struct tarn_publish_queue *queue)
{
    return queue->waiting > 0 ? queue->heap[0]->due_ms : INT64_MAX;
}
