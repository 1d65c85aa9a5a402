/* publish_waits.c - a list is enough: there are at most as many waits as connections. */
#include "lake/publish_waits.h"
#include <stdlib.h>

void tarn_publish_waits_add(struct tarn_publish_waits *waits, struct tarn_publish_wait *wait)
{
    if (!waits->first)
        waits->end = &waits->first;
    wait->next = NULL;
    *waits->end = wait;
    waits->end = &wait->next;
}

/* Moves what `judge` takes to a list of its own. */
static struct tarn_publish_wait *split(struct tarn_publish_waits *waits,
                                       bool (*judge)(struct tarn_publish_wait *wait, const int64_t *args),
                                       const int64_t *args)
{
    struct tarn_publish_wait *taken = NULL, **taken_end = &taken, **at = &waits->first;
    while (*at) {
        struct tarn_publish_wait *wait = *at;
        if (!judge(wait, args)) {
            at = &wait->next;
            continue;
        }
        *at = wait->next;
        wait->next = NULL;
        *taken_end = wait;
        taken_end = &wait->next;
    }
    waits->end = at;
    return taken;
}

static bool is_of(struct tarn_publish_wait *wait, const int64_t *args)
{
    if (wait->table_id != args[0])
        return false;
    wait->done = wait->version <= args[1];
    return wait->done || args[2] != 0;
}

struct tarn_publish_wait *tarn_publish_waits_of(struct tarn_publish_waits *waits, int64_t table_id,
                                                int64_t version, bool is_off)
{
    const int64_t args[] = { table_id, version, is_off };
    return split(waits, is_of, args);
}

static bool is_over(struct tarn_publish_wait *wait, const int64_t *args)
{
    wait->done = false;
    return wait->deadline_ms <= args[0];
}

struct tarn_publish_wait *tarn_publish_waits_over(struct tarn_publish_waits *waits, int64_t now_ms)
{
    return split(waits, is_over, &now_ms);
}

void tarn_publish_waits_tell(struct tarn_publish_wait *list)
{
    while (list) {
        struct tarn_publish_wait *wait = list;
        list = wait->next;
        wait->fn(wait->ctx, wait->done);
        free(wait);
    }
}
