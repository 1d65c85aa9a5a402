/* prune.h - may a file hold a row that a query asks for? Judged by its partition values and
 * statistics alone: a file is left out only when they prove that no row of it can match. A file
 * kept for nothing costs a reader some time, a file left out wrongly costs it rows. Pure. */
#ifndef TARN_CATALOG_PRUNE_H
#define TARN_CATALOG_PRUNE_H
#include "catalog/types.h"

enum tarn_prune_op { TARN_PRUNE_AT_LEAST, TARN_PRUNE_AT_MOST, TARN_PRUNE_EQUALS };

struct tarn_prune_term {
    enum tarn_prune_op op;
    const char *column; /* borrowed: as columnStats and partitionValues name it, nested ones dotted */
    const char *value;  /* borrowed: text of a query */
};

/* False: no row of the file matches all terms. A partition value is exact; of statistics `min`, `max` and `nullCount`
 * count, as far as they are there. A null matches nothing, and neither does a NaN, which bounds do not cover.
 *
 * The value is text, so it is read in each way that it and a bound allow: whole numbers exactly (beyond 2^53 too),
 * other numbers as doubles with the slack of a float, instants and dates in time, true and false, and texts by their
 * bytes. A bound decides only when all these readings agree. */
bool tarn_prune_may_match(const struct tarn_prune_term *terms, size_t count, const struct tarn_file *file);

/* The same over files of all schema versions: terms name columns of the newest one, and
 * statistics of a file are looked up under the name that its version has for the column. A file
 * whose version has no such column, or one of a type that was not merely narrower, is kept. */
struct tarn_prune;
/* `terms` and their texts are borrowed for the life of *out,
 * `rows` (oldest first, may be none) for the call. */
TARN_MUST tarn_code tarn_prune_new(const struct tarn_prune_term *terms, size_t count,
                                   const struct tarn_schema_row *rows, size_t row_count,
                                   struct tarn_prune **out, struct tarn_err *err);
bool tarn_prune_keeps(const struct tarn_prune *prune, const struct tarn_file *file);
void tarn_prune_free(struct tarn_prune *prune);
TARN_DEFINE_AUTO(prune, struct tarn_prune)
#endif
