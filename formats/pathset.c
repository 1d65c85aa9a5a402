/* pathset.c - open addressing with linear probing over bare hashes, filled to nine tenths and grown by half. */
#include "formats/pathset.h"
#include <stdlib.h>

void tarn_pathset_done(struct tarn_pathset *set)
{
    free(set->slots);
    *set = (struct tarn_pathset){ 0 };
}

/* The slot that holds the hash, or the free one where it belongs. The upper half of a product spreads over any size. */
static uint64_t *slot_of(uint64_t *slots, size_t cap, uint64_t hash)
{
    __extension__ typedef unsigned __int128 wide;
    size_t at = (size_t)((wide)hash * cap >> 64);

    while (slots[at] != 0 && slots[at] != hash)
        at = at + 1 == cap ? 0 : at + 1;
    return &slots[at];
}

static bool grow_to(struct tarn_pathset *set, size_t cap)
{
    uint64_t *slots = calloc(cap, sizeof *slots);

    if (!slots)
        return false;
    for (size_t i = 0; i < set->cap; i++)
        if (set->slots[i] != 0)
            *slot_of(slots, cap, set->slots[i]) = set->slots[i];
    free(set->slots);
    set->slots = slots;
    set->cap = cap;
    return true;
}

void tarn_pathset_expect(struct tarn_pathset *set, size_t count)
{
    if (count / 9 * 10 > set->cap)
        (void)grow_to(set, count / 9 * 10);
}

tarn_code tarn_pathset_add(struct tarn_pathset *set, struct tarn_hash128 hash, bool *met, struct tarn_err *err)
{
    bool is_full = 10 * (set->count + 1) > 9 * set->cap;

    if (is_full && !grow_to(set, set->cap ? set->cap + set->cap / 2 : 1024))
        return tarn_fail_oom(err);
    uint64_t key = hash.lo ? hash.lo : 1;
    uint64_t *slot = slot_of(set->slots, set->cap, key);
    *met = *slot == key;
    set->count += !*met;
    *slot = key;
    return TARN_OK;
}
