/* recall.h - what a scan leaves for the next one of the same table, so that it need not read again what did not change:
 * the folders with their sums, the newest files, what log and listing said. Of no worth on its own: with or without it a
 * sweep finds the same, but for files that were changed in place, which only a full sweep meets. */
#ifndef TARN_FORMATS_RECALL_H
#define TARN_FORMATS_RECALL_H
#include "formats/folders.h"
#include "formats/footers.h"

#define TARN_FOOTERS_PROBE 200  /* newest files whose footer is read */
#define TARN_FOOTERS_SWEEP 5000
#define TARN_PICKS_KEPT(footers) ((footers) + (footers) / 5) /* that are known by name: more than are read, since some will go */
#define TARN_SMALL_FILES 1000 /* a table of so few is always looked at whole */

/* What log and listing said, as long as neither changed. */
struct tarn_memo {
    uint64_t key;               /* of everything that it was made of; 0: nothing is kept */
    bool of_sweep;              /* of the whole log */
    struct tarn_facts facts;    /* only what log and listing fill in */
    struct tarn_fileset words;  /* of the log on paths */
    char *partition_keys;       /* JSON array, owned; NULL: not known */
    int64_t unread_before_ms;
};
/* The batches that the log of an observed table names. */
struct tarn_named_batches {
    struct tarn_fileset names;  /* as tarn_batch_is_named wants them */
    bool is_certain;            /* no committed entry is gone or unreadable among those read */
    int64_t since_ms;           /* older entries were not read, or are gone; INT64_MIN: all were */
};
struct tarn_recall {
    struct tarn_folders folders;
    bool is_listed;             /* the folders' `listed` are sums of a listing, this scan's or one before */
    bool has_odd_paths;         /* the catalog spells some paths otherwise than a folder does */
    int64_t walked_at_ms;       /* when all folders were read last; 0: never */
    uint64_t told_key;          /* of what explained the files that a look by name told of */
    struct tarn_picks picks;
    uint64_t notes_key;         /* of the schema that the notes of the picks were made with */
    struct tarn_memo memo;
    struct tarn_named_batches batches;
};
void tarn_memo_done(struct tarn_memo *memo);
void tarn_recall_done(struct tarn_recall *recall);
int64_t tarn_recall_files(const struct tarn_recall *recall); /* that lay there */
size_t tarn_recall_bytes(const struct tarn_recall *recall);  /* of memory, about */
#endif
