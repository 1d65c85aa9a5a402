/* write.h - members that manifest and log entry share. Only the files of formats/manifest/ include it. */
#ifndef TARN_FORMATS_MANIFEST_WRITE_H
#define TARN_FORMATS_MANIFEST_WRITE_H
#include "catalog/types.h"

struct tarn_jsonw;
/* catalog, table_uuid: whose document this is. Not the name, which may change. */
void tarn_doc_write_owner(struct tarn_jsonw *w, const struct tarn_table *table, const char *catalog_id);
/* path, size, partitionValues, columnStats, numRecords, schemaVersion, as far as known. */
void tarn_doc_write_file_members(struct tarn_jsonw *w, const struct tarn_file *file);
#endif
