/* coverage.h - what the listed files' own entries say of partitions and statistics: values against folders, keys
 * against those of the rest, statistics against the schema. Files are folded by their shape, so that a million of them
 * cost what their few shapes do; what is unusual is known at the end, when all were seen. */
#ifndef TARN_FORMATS_COVERAGE_H
#define TARN_FORMATS_COVERAGE_H
#include "formats/facts.h"

struct tarn_coverage;
/* `keys`: the table's partition keys (a JSON array); NULL or empty: those that most files have. `past`: NULL, or
 * without a current schema: statistics are not judged. Both are borrowed. NULL: out of memory. */
struct tarn_coverage *tarn_coverage_new(const json_t *keys, const struct tarn_schema_past *past);
void tarn_coverage_free(struct tarn_coverage *coverage);
TARN_DEFINE_AUTO(coverage, struct tarn_coverage)
/* One live file. Its path, partition_values, column_stats and records are read. */
TARN_MUST tarn_code tarn_coverage_note(struct tarn_coverage *coverage, const struct tarn_file *file, struct tarn_err *err);
/* Fills in facts->partition_drift, no_partition_values, no_column_stats and stats_files. *keys: owned, the partition
 * keys as given, else as most files have them; *told (may be NULL): the same, but only those that partitionValues name. */
TARN_MUST tarn_code tarn_coverage_end(struct tarn_coverage *coverage, struct tarn_facts *facts, json_t **keys,
                                      json_t **told, struct tarn_err *err);

/* --- inside: coverage_stats.c --- */
struct tarn_stats_coverage;
struct tarn_stats_coverage *tarn_stats_coverage_new(const struct tarn_schema_past *past);
void tarn_stats_coverage_free(struct tarn_stats_coverage *stats);
TARN_MUST tarn_code tarn_stats_coverage_note(struct tarn_stats_coverage *stats, const struct tarn_file *file,
                                             struct tarn_err *err);
TARN_MUST tarn_code tarn_stats_coverage_end(struct tarn_stats_coverage *stats, const json_t *keys,
                                            struct tarn_facts *facts, struct tarn_err *err);
#endif
