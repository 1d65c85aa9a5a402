/* fileset.h - a set of paths in 24 bytes each: 128 bits of hash, a size and flags. It answers "is it in there,
 * and what do we know of it"; names come from a second pass over the document or listing they came from. */
#ifndef TARN_FORMATS_FILESET_H
#define TARN_FORMATS_FILESET_H
#include "base/err.h"
#include "base/hash.h"
#include "base/own.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TARN_FILE_LISTED = 1 << 0,   /* in the manifest, or the catalog's snapshot */
    TARN_FILE_SEEN = 1 << 1,     /* lies on storage */
    TARN_FILE_ADDED = 1 << 2,    /* a committed transaction added it */
    TARN_FILE_REMOVED = 1 << 3,  /* a committed transaction removed it */
    TARN_FILE_DECIDED = 1 << 4,  /* the newest transaction that names it was seen */
    TARN_FILE_KEPT = 1 << 5,     /* removed, but a version that is kept still has it */
    TARN_FILE_DOUBLE = 1 << 6,   /* listed more than once, and told already */
    TARN_FILE_SHOULD = 1 << 7,   /* by the log it should be listed */
    TARN_FILE_SHOULD_NOT = 1 << 8,
    TARN_FILE_WITHDRAWN = 1 << 9, /* its data was removed, not rewritten into another file */
    TARN_FILE_CERTAIN = 1 << 10   /* decided, and every newer transaction was read */
};

struct tarn_fileset_entry {
    uint64_t hi, lo;
    uint64_t size : 48; /* bytes; TARN_FILE_NO_SIZE: not known */
    uint64_t flags : 15;
    uint64_t used : 1;
};
#define TARN_FILE_FLAGS   0x7fffu
#define TARN_FILE_NO_SIZE ((UINT64_C(1) << 48) - 1)
#define TARN_FILE_MAX_SIZE (TARN_FILE_NO_SIZE - 1) /* 256 TiB: no file is that long, whatever a document says */

struct tarn_fileset {
    struct tarn_fileset_entry *slots; /* owned; a power of two of them */
    size_t cap, count;
};

void tarn_fileset_done(struct tarn_fileset *set);
void tarn_fileset_clear(struct tarn_fileset *set); /* empty, memory kept */
/* NULL: not in it. Valid until the next put. */
struct tarn_fileset_entry *tarn_fileset_find(const struct tarn_fileset *set, const char *path);
struct tarn_fileset_entry *tarn_fileset_find_hash(const struct tarn_fileset *set, struct tarn_hash128 hash);
/* The entry of `path`, made when missing (no flags, no size). NULL: out of memory. */
struct tarn_fileset_entry *tarn_fileset_put(struct tarn_fileset *set, const char *path);
struct tarn_fileset_entry *tarn_fileset_put_hash(struct tarn_fileset *set, struct tarn_hash128 hash);
/* Takes `flags` from every entry. */
void tarn_fileset_unflag(struct tarn_fileset *set, unsigned flags);
/* How many have all of `with` and none of `without`. */
size_t tarn_fileset_count(const struct tarn_fileset *set, unsigned with, unsigned without);
#endif
