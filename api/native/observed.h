/* observed.h - files and manifest of an observed table of the manifest format, for
 * files.c and manifest.c, which answer those of managed ones from the catalog. */
#ifndef TARN_API_NATIVE_OBSERVED_H
#define TARN_API_NATIVE_OBSERVED_H
#include "api/native/list.h"
#include "api/native/native.h"

bool tarn_native_is_observed(const struct tarn_table *table);
TARN_MUST tarn_code tarn_native_observed_files(const struct tarn_request *req, struct tarn_table_seen *seen,
                                               struct tarn_reply *reply, struct tarn_err *err);
TARN_MUST tarn_code tarn_native_observed_manifest(const struct tarn_request *req,
                                                  const struct tarn_table *table, struct tarn_reply *reply,
                                                  struct tarn_err *err);

/* files.c: the form that `Accept` asks for; *type untouched for JSON. */
void tarn_native_files_form(const struct tarn_request *req, enum tarn_list_form *form, const char **type);
/* One file in the list's form. */
void tarn_native_file_write(struct tarn_list *list, const char *location, const struct tarn_file *file);
#endif
