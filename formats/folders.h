/* folders.h - the folders of a table in some 250 bytes each, whatever they hold: what lies in one and what is listed of it
 * as sums over hashes, so that the two can be compared without a name. Where the sums agree, every file is there with
 * its size and nothing else lies there; only where they differ names are needed. Of a million files in ten thousand
 * folders that is a few megabytes. */
#ifndef TARN_FORMATS_FOLDERS_H
#define TARN_FORMATS_FOLDERS_H
#include "base/buf.h"
#include "base/hash.h"
#include "storage/storage.h"

/* A set of files, told by sums: equal sums mean equal sets (by chance otherwise: below 10^-19). A path counted twice makes
 * another sum than one counted once. */
struct tarn_tally {
    uint64_t names_hi, names_lo; /* over the hashes of the paths */
    uint64_t sizes;              /* over the hashes of path and size */
    int64_t count, bytes;
    int64_t unsized;             /* files whose size is not known */
};
/* `hash`: of the path. size -1: not known. */
void tarn_tally_add(struct tarn_tally *tally, struct tarn_hash128 hash, int64_t size);
bool tarn_tally_same(const struct tarn_tally *a, const struct tarn_tally *b); /* the very same sums */
/* Is what lies there what is listed? Sizes that are listed nowhere are not compared; when only some are, the answer is no. */
bool tarn_tally_fits(const struct tarn_tally *lying, const struct tarn_tally *listed);

enum {
    TARN_FOLDER_FOUND = 1 << 0,   /* lies there: met by name in its parent, in this scan or an earlier one */
    TARN_FOLDER_READ = 1 << 1,    /* `lying` is what lay there at `state` */
    TARN_FOLDER_SETTLED = 1 << 2, /* any change since then moves its state */
    TARN_FOLDER_ODD = 1 << 3,     /* holds what has to be looked at by name each time: links, leftovers */
    TARN_FOLDER_OFFERED = 1 << 4, /* all that lay there was listed, and offered to the picks */
    /* of one scan: */
    TARN_FOLDER_MET = 1 << 8,     /* its parent was read and had it */
    TARN_FOLDER_CHOSEN = 1 << 9,  /* a probe visits it */
    TARN_FOLDER_LISTED = 1 << 10, /* its names were read */
    TARN_FOLDER_LOOKED = 1 << 11, /* its names were read, or are known to be what they were */
    TARN_FOLDER_UNREAD = 1 << 12, /* it could not be read to its end */
    TARN_FOLDER_SUSPECT = 1 << 13, /* to be looked at by name */
    TARN_FOLDER_NEWEST = 1 << 14, /* a probe reads it whether it changed or not */
    TARN_FOLDER_OF_SCAN = 0xff00
};

/* What a look by name made of a folder whose sums differ, while sums and the rest of the table stay: no suspects, but
 * files that a commit removed. */
struct tarn_told {
    bool is_known;
    struct tarn_tally lying, listed;
    int64_t reclaimable_files, reclaimable_bytes;
    int64_t newest_listed_ms;
};
#define TARN_NO_NAME SIZE_MAX

struct tarn_folder {
    struct tarn_hash128 key;        /* of its path */
    size_t path_at;                 /* in tarn_folders.paths */
    unsigned flags;                 /* TARN_FOLDER_... */
    struct tarn_folder_state state;
    struct tarn_tally lying, listed;
    struct tarn_told told;
    int64_t newest_ms;              /* of its data files, INT64_MIN: it has none */
    unsigned watch;                 /* looks that probes still take: something may look otherwise by the next one, or just did */
    size_t newest_at;               /* the name of that file, in tarn_folders.paths; TARN_NO_NAME: none */
};

/* In the order in which they were met. Pointers are good until the next put. */
struct tarn_folders {
    struct tarn_folder *items; /* owned */
    size_t count, cap;
    uint32_t *index;           /* owned; a power of two of places, 0: free, else 1 + the item's */
    size_t index_cap;
    struct tarn_buf paths;     /* NUL-terminated, one after the other */
    size_t last;               /* the one asked for last: neighbours come together */
};
#define TARN_FOLDERS_MAX 4000000 /* of one table */

void tarn_folders_done(struct tarn_folders *folders);
const char *tarn_folder_path(const struct tarn_folders *folders, const struct tarn_folder *folder);
/* NULL: not known. `path` need not end at `len`. */
struct tarn_folder *tarn_folders_find(struct tarn_folders *folders, const char *path, size_t len);
/* Made when missing. NULL: out of memory, or too many. */
struct tarn_folder *tarn_folders_put(struct tarn_folders *folders, const char *path, size_t len);
/* The newest file there, by name; NULL: none. TARN_INTERNAL: out of memory. */
const char *tarn_folder_newest(const struct tarn_folders *folders, const struct tarn_folder *folder);
TARN_MUST tarn_code tarn_folder_set_newest(struct tarn_folders *folders, struct tarn_folder *folder, int64_t newest_ms,
                                           const char *name, struct tarn_err *err);
/* How long the folder's part of a file's path is. */
size_t tarn_folder_len(const char *file_path);
/* Takes away what is neither found nor listed, and all marks of the scan. */
TARN_MUST tarn_code tarn_folders_settle(struct tarn_folders *folders, struct tarn_err *err);
size_t tarn_folders_bytes(const struct tarn_folders *folders);
#endif
