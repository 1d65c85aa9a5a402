/* pathset.h - which paths were met already, in some ten bytes each: for a pass over a million entries that asks nothing
 * else. Two paths of one hash are taken for one: among a million the odds are below 10^-7. */
#ifndef TARN_FORMATS_PATHSET_H
#define TARN_FORMATS_PATHSET_H
#include "base/hash.h"

struct tarn_pathset {
    uint64_t *slots; /* owned; 0: free */
    size_t cap, count;
};
void tarn_pathset_done(struct tarn_pathset *set);
/* Room for so many, as a guess: what comes above that makes room as it comes. */
void tarn_pathset_expect(struct tarn_pathset *set, size_t count);
/* *met: it was in there. TARN_INTERNAL: out of memory. */
TARN_MUST tarn_code tarn_pathset_add(struct tarn_pathset *set, struct tarn_hash128 hash, bool *met, struct tarn_err *err);
#endif
