/* recalls.c - a list with a bound on its bytes; there are few entries, since only large tables have one. */
#include "monitors/recalls.h"
#include <pthread.h>
#include <string.h>

struct kept {
    struct kept *next;
    int64_t table_id;
    char *place;                /* owned */
    struct tarn_recall *recall; /* owned */
    size_t bytes;
};
struct tarn_recalls {
    pthread_mutex_t lock;  /* guards what follows */
    struct kept *first;    /* owned; used last comes first */
    size_t bytes, bytes_max;
};

void tarn_recall_free(struct tarn_recall *recall)
{
    if (recall)
        tarn_recall_done(recall);
    free(recall);
}

static void kept_free(struct kept *kept)
{
    if (!kept)
        return;
    tarn_recall_free(kept->recall);
    free(kept->place);
    free(kept);
}

tarn_code tarn_recalls_new(int64_t bytes_max, struct tarn_recalls **out, struct tarn_err *err)
{
    struct tarn_recalls *recalls = calloc(1, sizeof *recalls);

    if (!recalls)
        return tarn_fail_oom(err);
    pthread_mutex_init(&recalls->lock, NULL);
    recalls->bytes_max = (size_t)bytes_max;
    *out = recalls;
    return TARN_OK;
}

void tarn_recalls_free(struct tarn_recalls *recalls)
{
    if (!recalls)
        return;
    while (recalls->first) {
        struct kept *next = recalls->first->next;
        kept_free(recalls->first);
        recalls->first = next;
    }
    pthread_mutex_destroy(&recalls->lock);
    free(recalls);
}

/* With the lock held: takes it out of the list. NULL: it is not in it. */
static struct kept *take_out(struct tarn_recalls *recalls, int64_t table_id)
{
    for (struct kept **at = &recalls->first; *at; at = &(*at)->next) {
        struct kept *kept = *at;
        if (kept->table_id != table_id)
            continue;
        *at = kept->next;
        recalls->bytes -= kept->bytes;
        return kept;
    }
    return NULL;
}

struct tarn_recall *tarn_recalls_take(struct tarn_recalls *recalls, int64_t table_id, const char *place)
{
    struct tarn_recall *recall = NULL;

    pthread_mutex_lock(&recalls->lock);
    struct kept *kept = take_out(recalls, table_id);
    pthread_mutex_unlock(&recalls->lock);
    if (kept && strcmp(kept->place, place) == 0)
        recall = tarn_take(&kept->recall);
    kept_free(kept);
    return recall ? recall : calloc(1, sizeof *recall);
}

/* With the lock held: the longest unused one that is too much, out of the list; NULL: all fit. */
static struct kept *take_last(struct tarn_recalls *recalls)
{
    const struct kept *last = recalls->first;

    if (recalls->bytes <= recalls->bytes_max || !last)
        return NULL;
    while (last->next)
        last = last->next;
    return take_out(recalls, last->table_id);
}

void tarn_recalls_give(struct tarn_recalls *recalls, int64_t table_id, const char *place, struct tarn_recall *recall)
{
    bool is_small = !recall || tarn_recall_files(recall) <= TARN_SMALL_FILES;
    struct kept *kept = is_small ? NULL : calloc(1, sizeof *kept), *gone;
    char *copy = kept ? strdup(place) : NULL;

    if (!copy) {
        free(kept);
        tarn_recall_free(recall);
        return;
    }
    *kept = (struct kept){ .table_id = table_id, .place = copy, .recall = recall, .bytes = tarn_recall_bytes(recall) };
    pthread_mutex_lock(&recalls->lock);
    struct kept *other = take_out(recalls, table_id); /* of a scan that ran beside this one */
    kept->next = recalls->first;
    recalls->first = kept;
    recalls->bytes += kept->bytes;
    pthread_mutex_unlock(&recalls->lock);
    kept_free(other);
    do {
        pthread_mutex_lock(&recalls->lock);
        gone = take_last(recalls);
        pthread_mutex_unlock(&recalls->lock);
        kept_free(gone);
    } while (gone);
}
