/* iceberg_retake.h - Iceberg tables of a restored backup: commits that the backup does not know left their metadata files, each of
 * which names those before it. */
#ifndef TARN_LAKE_ICEBERG_RETAKE_H
#define TARN_LAKE_ICEBERG_RETAKE_H
#include "lake/lake.h"

/* Every table goes on to the newest metadata file that follows from its own, step by step through those between, so that its history
 * is whole again. What cannot be told (two newest ones, a file that cannot be read) is left as it is, told to the log, and counted
 * in *failed. Only when it is known that a backup was restored: else a file that nothing points at may be a commit that was
 * never made. Blocks; before anything is served. */
TARN_MUST tarn_code tarn_iceberg_retake_all(struct tarn_lake *lake, int64_t *failed, struct tarn_err *err);
#endif
