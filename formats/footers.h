/* footers.h - what the footers of the newest data files say: fit for reading, fit for the schema, columns without
 * values. Shared by the formats whose data files are Parquet. */
#ifndef TARN_FORMATS_FOOTERS_H
#define TARN_FORMATS_FOOTERS_H
#include "formats/facts.h"

/* The newest `max` of the files offered. Of two of one time the one whose path comes first is the newer. */
#define TARN_BEHIND_UNKNOWN 0xffffu
struct tarn_footer_note;
struct tarn_pick {
    char *path;                    /* owned */
    int64_t size, mtime_ms;
    unsigned behind;
    struct tarn_footer_note *note; /* held; NULL: its footer was not read yet */
};
void tarn_pick_done(struct tarn_pick *pick);
struct tarn_picks {
    struct tarn_pick *heap;  /* owned; the oldest on top */
    size_t count, max;
    int64_t offered;
    struct tarn_pick passed; /* the newest that was offered and is not kept; path NULL: all are kept */
};
void tarn_picks_done(struct tarn_picks *picks);
/* `behind`: as tarn_schema_past_behind. */
TARN_MUST tarn_code tarn_picks_offer(struct tarn_picks *picks, const char *path, int64_t size, int64_t mtime_ms,
                                     unsigned behind, struct tarn_err *err);
/* Would a file of that time change anything? Quick. */
bool tarn_picks_wants(const struct tarn_picks *picks, int64_t mtime_ms);
/* The same as an offer that is not counted; *pick is taken over. */
TARN_MUST tarn_code tarn_picks_take(struct tarn_picks *picks, struct tarn_pick *pick, struct tarn_err *err);
void tarn_picks_sort(struct tarn_picks *picks); /* newest first; no heap any more: nothing is offered afterwards */
/* How many of the picks are newer than all that was not kept, now or when some of them went. */
size_t tarn_picks_certain(const struct tarn_picks *picks);

/* Reads the footers of the newest `most` picks, but of those that have a note, and tells the facts what they say, newest
 * first; picks->offered is the number of files that have one. A file that vanished is passed over, one that cannot be read
 * is told; one that is no Parquet file and younger than options->corrupt_grace_ms may be in the middle of being written, and counts
 * as not read. The picks are sorted.
 * `partition_keys`: JSON array or NULL. */
TARN_MUST tarn_code tarn_footers_gather(struct tarn_place *place, struct tarn_picks *picks, size_t most,
                                        const struct tarn_schema_past *past, const json_t *partition_keys,
                                        const struct tarn_facts_options *options, struct tarn_facts *facts,
                                        struct tarn_err *err);
#endif
