/* files.h - files that the command line reads, and folders that it names. */
#ifndef TARN_CLI_FILES_H
#define TARN_CLI_FILES_H
#include "base/buf.h"

/* A JSON file, "-": standard input. At most 64 MiB. The tree is owned. TARN_INVALID names file and place. */
TARN_MUST tarn_code tarn_read_json_file(const char *file, json_t **out, struct tarn_err *err);
/* Any file, "-": standard input, into the empty *out. At most 64 MiB. */
TARN_MUST tarn_code tarn_read_text_file(const char *file, struct tarn_buf *out, struct tarn_err *err);
/* A location as an argument gives it: a relative folder counts from the
 * working folder, the server having another one. Owned; NULL: no memory. */
json_t *tarn_location_arg(const char *text);
#endif
