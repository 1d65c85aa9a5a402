/* gather.h - inside monitors/: the facts of a registered table. */
#ifndef TARN_MONITORS_GATHER_H
#define TARN_MONITORS_GATHER_H
#include "formats/facts.h"
#include "lake/lake.h"

struct tarn_settings;
struct tarn_gather_ask {
    const struct tarn_table *table; /* as the scan met it */
    const struct tarn_settings *settings;
    int64_t now_ms;
    const struct tarn_scan_row *before; /* what earlier scans left, NULL: nothing */
    bool sweep;
    bool full;                /* every folder is read, changed or not */
    int64_t full_interval_ms;
    int64_t files_expected;   /* of the scan before, 0: not known */
    int64_t last_data_known;  /* the same, -1 */
    const struct tarn_fileset *asked; /* of the open findings, as in tarn_facts_options */
    struct tarn_recall *recall; /* NULL: the scan begins anew */
    int64_t settled_ms;       /* as in tarn_facts_options; 0: by default */
};
/* Blocks. Storage that does not answer is a fact. TARN_TABLE_NOT_FOUND: dropped meanwhile. */
TARN_MUST tarn_code tarn_scan_gather(struct tarn_lake *lake, const struct tarn_gather_ask *ask, struct tarn_facts *facts,
                                     struct tarn_err *err);
/* batch_gather.c: batches that two commits of a managed table applied. */
TARN_MUST tarn_code tarn_batches_gather(struct tarn_lake *lake, const struct tarn_gather_ask *ask, struct tarn_facts *facts,
                                        struct tarn_err *err);
/* iceberg_gather.c: of an Iceberg table that Tarn owns. */
TARN_MUST tarn_code tarn_iceberg_gather(struct tarn_lake *lake, const struct tarn_gather_ask *ask,
                                        struct tarn_facts *facts, struct tarn_err *err);
/* iceberg_newer.c: of `table` as it was read now, the metadata files that follow its own. */
TARN_MUST tarn_code tarn_iceberg_newer(struct tarn_lake *lake, const struct tarn_gather_ask *ask, const struct tarn_table *table,
                                       struct tarn_facts *facts, struct tarn_err *err);
/* life_gather.c: what is known of the table's life besides. */
TARN_MUST tarn_code tarn_life_gather(struct tarn_lake *lake, const struct tarn_gather_ask *ask, struct tarn_facts *facts,
                                     struct tarn_err *err);
#endif
