/* iceberg.h - Iceberg documents for tests, written with single quotes, and a table that many of them start from. */
#ifndef TARN_TESTS_ICEBERG_H
#define TARN_TESTS_ICEBERG_H
#include "formats/iceberg/iceberg.h"

/* JSON whose quotes are single ones; owned. What is no JSON ends the test. */
json_t *tarn_quoted(const char *text);
/* `base` changed by the merge patch `patch` (RFC 7396; NULL: as it is); owned. */
json_t *tarn_patched(const char *base, const char *patch);
/* Ends the test when the document is refused. Owned. */
struct tarn_iceberg_meta *tarn_iceberg_of(const json_t *doc);
json_t *tarn_iceberg_doc(const struct tarn_iceberg_meta *meta);
/* A Criterion expectation: equal, or both are printed under `name`. */
void tarn_expect_same(const char *name, const json_t *found, const json_t *expected);

/* Version 2: columns id 1, at 2, tags 3 (element 4), name 5; by day of `at`; unsorted; snapshots 11 at 1000 and 12 at 2000
 * (main); property owner; changed last at 2000. */
extern const char *const k_iceberg_table;
/* A merge patch that makes it one of version 3 with next-row-id 20. */
extern const char *const k_iceberg_v3;
#endif
