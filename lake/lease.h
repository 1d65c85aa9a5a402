/* lease.h - a commit of more rows than one transaction may write. Its rows are written in
 * steps under the version to come, which nobody reads yet; one short transaction then makes
 * the version. Meanwhile the table takes no other commit (tables.staging names the version,
 * and a claim in memory who writes it). What a refusal or a crash leaves is undone step by
 * step, by whoever holds the claim or by the sweeper, and then the table goes on. */
#ifndef TARN_LAKE_LEASE_H
#define TARN_LAKE_LEASE_H
#include "lake/lake.h"

/* Who writes or undoes rows of which table now; lake->leases. Any thread. */
struct tarn_leases;
struct tarn_leases *tarn_leases_new(void); /* NULL: out of memory */
void tarn_leases_free(struct tarn_leases *leases);
/* False: somebody has it, or there is no memory. */
bool tarn_lease_claim(struct tarn_leases *leases, int64_t table_id);
void tarn_lease_release(struct tarn_leases *leases, int64_t table_id);
bool tarn_lease_is_claimed(struct tarn_leases *leases, int64_t table_id);

/* With the claim: takes back what is staged of the table, if anything, and clears its mark. Blocks. */
TARN_MUST tarn_code tarn_lease_undo(struct tarn_lake *lake, int64_t table_id, struct tarn_err *err);
/* Undoes what nobody claims. Blocks; the sweeper's. */
TARN_MUST tarn_code tarn_leases_sweep(struct tarn_lake *lake, struct tarn_err *err);
/* TARN_OVERLOADED while a large commit to the table is under way. */
TARN_MUST tarn_code tarn_staging_check(const struct tarn_table *table, struct tarn_err *err);
/* TARN_OVERLOADED when the server stops: long work ends between two steps. */
TARN_MUST tarn_code tarn_lake_goes_on(const struct tarn_lake *lake, struct tarn_err *err);
#endif
