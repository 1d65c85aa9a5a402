/* iceberg_bases.c - a short list, the newest first: whoever looks for one walks it, which is nothing beside parsing. */
#include "lake/iceberg_bases.h"
#include <pthread.h>
#include <stdlib.h>

enum { COUNT_MAX = 256 };

struct base {
    struct base *older;
    int64_t table_id, revision;
    size_t bytes;
    struct tarn_iceberg_meta *meta; /* owned */
};

struct tarn_iceberg_bases {
    pthread_mutex_t lock;
    struct base *newest; /* owned list */
    size_t bytes_max;
};

struct tarn_iceberg_bases *tarn_iceberg_bases_new(size_t bytes_max)
{
    struct tarn_iceberg_bases *bases = calloc(1, sizeof *bases);

    if (bases) {
        pthread_mutex_init(&bases->lock, NULL);
        bases->bytes_max = bytes_max;
    }
    return bases;
}

static void free_list(struct base *base)
{
    while (base) {
        struct base *older = base->older;
        tarn_iceberg_free(base->meta);
        free(base);
        base = older;
    }
}

void tarn_iceberg_bases_free(struct tarn_iceberg_bases *bases)
{
    if (!bases)
        return;
    free_list(bases->newest);
    pthread_mutex_destroy(&bases->lock);
    free(bases);
}

/* With the lock held: the table's, unless it is newer than `revision`. Who reads or gives back late must not take it from the others. */
static struct base *unlink_table(struct tarn_iceberg_bases *bases, int64_t table_id, int64_t revision)
{
    for (struct base **at = &bases->newest; *at; at = &(*at)->older) {
        struct base *base = *at;
        if (base->table_id != table_id || base->revision > revision)
            continue;
        *at = base->older;
        base->older = NULL;
        return base;
    }
    return NULL;
}

/* With the lock held. */
static bool has_table(const struct tarn_iceberg_bases *bases, int64_t table_id)
{
    const struct base *base = bases->newest;

    while (base && base->table_id != table_id)
        base = base->older;
    return base;
}

/* With the lock held; the list of those that are too many. */
static struct base *cut(struct tarn_iceberg_bases *bases)
{
    size_t count = 0, bytes = 0;

    for (struct base **at = &bases->newest; *at; at = &(*at)->older) {
        count++;
        bytes += (*at)->bytes;
        if (count <= COUNT_MAX && bytes <= bases->bytes_max)
            continue;
        struct base *rest = *at;
        *at = NULL;
        return rest;
    }
    return NULL;
}

struct tarn_iceberg_meta *tarn_iceberg_bases_take(struct tarn_iceberg_bases *bases, int64_t table_id, int64_t revision,
                                                  size_t *bytes)
{
    struct tarn_iceberg_meta *meta = NULL;

    if (!bases)
        return NULL;
    pthread_mutex_lock(&bases->lock);
    struct base *base = unlink_table(bases, table_id, revision);
    pthread_mutex_unlock(&bases->lock);
    if (base && base->revision == revision) {
        meta = tarn_take(&base->meta);
        *bytes = base->bytes;
    }
    free_list(base);
    return meta;
}

void tarn_iceberg_bases_give(struct tarn_iceberg_bases *bases, int64_t table_id, int64_t revision, size_t bytes,
                             struct tarn_iceberg_meta *meta)
{
    struct base *base = bases && meta && bytes <= bases->bytes_max ? malloc(sizeof *base) : NULL;

    if (!base) {
        tarn_iceberg_free(meta);
        return;
    }
    *base = (struct base){ .table_id = table_id, .revision = revision, .bytes = bytes, .meta = meta };
    pthread_mutex_lock(&bases->lock);
    struct base *before = unlink_table(bases, table_id, revision), *rest = base;
    if (!has_table(bases, table_id)) {
        base->older = bases->newest;
        bases->newest = base;
        rest = cut(bases);
    }
    pthread_mutex_unlock(&bases->lock);
    free_list(before);
    free_list(rest);
}
