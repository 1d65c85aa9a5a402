/* footers.h - what the footers of the newest data files say: fit for reading, fit for the schema, columns without
 * values. Shared by the formats whose data files are Parquet. */
#ifndef TARN_FORMATS_FOOTERS_H
#define TARN_FORMATS_FOOTERS_H
#include "formats/facts.h"

/* The newest `max` of the files offered. */
struct tarn_pick { char *path; int64_t size, mtime_ms; unsigned behind; };
struct tarn_picks {
    struct tarn_pick *heap; /* owned; the oldest on top */
    size_t count, max;
    int64_t offered;
};
void tarn_picks_done(struct tarn_picks *picks);
/* `behind`: as tarn_schema_past_behind. */
TARN_MUST tarn_code tarn_picks_offer(struct tarn_picks *picks, const char *path, int64_t size, int64_t mtime_ms,
                                     unsigned behind, struct tarn_err *err);

/* Reads the footers of the picks, newest first, into the facts. A file that vanished is passed over.
 * `partition_keys`: JSON array or NULL. */
TARN_MUST tarn_code tarn_footers_gather(struct tarn_place *place, struct tarn_picks *picks,
                                        const struct tarn_schema_past *past, const json_t *partition_keys,
                                        struct tarn_facts *facts, struct tarn_err *err);
#endif
