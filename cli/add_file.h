/* add_file.h - the add_file operation of a data file that lies in a table's folder. */
#ifndef TARN_CLI_ADD_FILE_H
#define TARN_CLI_ADD_FILE_H
#include "storage/storage.h"

/* Size from storage, rows and statistics from the Parquet footer, partition values from the path.
 * *out owned. TARN_INVALID names the file: it is missing, or no Parquet file that can be read. */
TARN_MUST tarn_code tarn_add_file_op(struct tarn_place *place, const char *path, json_t **out,
                                     struct tarn_err *err);
#endif
