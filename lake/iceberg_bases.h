/* iceberg_bases.h - metadata of the Iceberg tables committed to lately, parsed, so that the next commit need not read and parse
 * it. A base is known by the revision of its table's row: each change of the document raises it. Any thread. */
#ifndef TARN_LAKE_ICEBERG_BASES_H
#define TARN_LAKE_ICEBERG_BASES_H
#include "formats/iceberg/iceberg.h"

struct tarn_iceberg_bases;
/* Those given last are kept, as long as they take no more than about `bytes_max` together. NULL: no memory. */
struct tarn_iceberg_bases *tarn_iceberg_bases_new(size_t bytes_max);
void tarn_iceberg_bases_free(struct tarn_iceberg_bases *bases);
/* It is the caller's then, to change, free or give back with its *bytes; NULL: there is none of that revision. An older one goes, a newer one
 * stays. `bases` may be NULL. */
struct tarn_iceberg_meta *tarn_iceberg_bases_take(struct tarn_iceberg_bases *bases, int64_t table_id, int64_t revision,
                                                  size_t *bytes);
/* Takes `meta` over, which takes `bytes` of memory; frees it when it is not to be kept, or a newer one is there. `bases` may be NULL. */
void tarn_iceberg_bases_give(struct tarn_iceberg_bases *bases, int64_t table_id, int64_t revision, size_t bytes,
                             struct tarn_iceberg_meta *meta);
#endif
