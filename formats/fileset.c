/* fileset.c - open addressing with linear probing. A scan of a million files must fit in some tens of megabytes, and
 * names are the greater part of a listing, so the set keeps none. Two paths with one 128-bit hash are taken for one:
 * among a million files the odds are below 10^-26. */
#include "formats/fileset.h"
#include <string.h>

void tarn_fileset_done(struct tarn_fileset *set)
{
    free(set->slots);
    *set = (struct tarn_fileset){ 0 };
}

void tarn_fileset_clear(struct tarn_fileset *set)
{
    if (set->slots)
        memset(set->slots, 0, set->cap * sizeof *set->slots);
    set->count = 0;
}

/* The slot that holds the hash, or the free one where it belongs. */
static struct tarn_fileset_entry *slot_of(struct tarn_fileset_entry *slots, size_t cap, struct tarn_hash128 hash)
{
    size_t at = (size_t)hash.lo & (cap - 1);

    while (slots[at].used && (slots[at].lo != hash.lo || slots[at].hi != hash.hi))
        at = (at + 1) & (cap - 1);
    return &slots[at];
}

static bool grow(struct tarn_fileset *set)
{
    size_t cap = set->cap ? 2 * set->cap : 256;
    struct tarn_fileset_entry *slots = calloc(cap, sizeof *slots);

    if (!slots)
        return false;
    for (size_t i = 0; i < set->cap; i++) {
        struct tarn_hash128 hash = { .hi = set->slots[i].hi, .lo = set->slots[i].lo };
        if (set->slots[i].used)
            *slot_of(slots, cap, hash) = set->slots[i];
    }
    free(set->slots);
    set->slots = slots;
    set->cap = cap;
    return true;
}

struct tarn_fileset_entry *tarn_fileset_find_hash(const struct tarn_fileset *set, struct tarn_hash128 hash)
{
    if (set->count == 0)
        return NULL;
    struct tarn_fileset_entry *slot = slot_of(set->slots, set->cap, hash);
    return slot->used ? slot : NULL;
}

struct tarn_fileset_entry *tarn_fileset_find(const struct tarn_fileset *set, const char *path)
{
    return set->count == 0 ? NULL : tarn_fileset_find_hash(set, tarn_hash128(path, strlen(path)));
}

struct tarn_fileset_entry *tarn_fileset_put(struct tarn_fileset *set, const char *path)
{
    return tarn_fileset_put_hash(set, tarn_hash128(path, strlen(path)));
}

struct tarn_fileset_entry *tarn_fileset_put_hash(struct tarn_fileset *set, struct tarn_hash128 hash)
{
    if (4 * (set->count + 1) > 3 * set->cap && !grow(set))
        return NULL;
    struct tarn_fileset_entry *slot = slot_of(set->slots, set->cap, hash);
    if (!slot->used) {
        *slot = (struct tarn_fileset_entry){ .hi = hash.hi, .lo = hash.lo, .size = TARN_FILE_NO_SIZE, .used = 1 };
        set->count++;
    }
    return slot;
}

void tarn_fileset_unflag(struct tarn_fileset *set, unsigned flags)
{
    for (size_t i = 0; i < set->cap; i++)
        set->slots[i].flags = (set->slots[i].flags & ~flags) & TARN_FILE_FLAGS;
}

size_t tarn_fileset_count(const struct tarn_fileset *set, unsigned with, unsigned without)
{
    size_t count = 0;

    for (size_t i = 0; i < set->cap; i++)
        if (set->slots[i].used && (set->slots[i].flags & with) == with && !(set->slots[i].flags & without))
            count++;
    return count;
}
