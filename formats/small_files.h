/* small_files.h - folders that hold many files far below the size that readers like: told by the folders' sums. */
#ifndef TARN_FORMATS_SMALL_FILES_H
#define TARN_FORMATS_SMALL_FILES_H
#include "formats/facts.h"
#include "formats/folders.h"

#define TARN_SMALL_BYTES (INT64_C(16) << 20) /* an average below it is small: an eighth of the usual target of 128 MiB */
/* In a folder that still gets files so many times as many are fine: one every 30 s between two compactions a day apart. */
#define TARN_SMALL_IN_USE 30

/* Fills in facts->small_files and small_files_most. `is_listed`: the folders' `listed` are the table's files, else what
 * lies there. */
TARN_MUST tarn_code tarn_small_files_gather(const struct tarn_folders *folders, bool is_listed,
                                            const struct tarn_facts_options *options, struct tarn_facts *facts,
                                            struct tarn_err *err);
#endif
