/* manifest_write.c - manifest.json out, piece by piece: head, files, end. One file a line, so that people can
 * grep and diff it. What does not apply to a table or a file is left out. The text of a version is always the
 * same. */
#include "formats/manifest/manifest.h"
#include "formats/manifest/write.h"
#include "base/jsonw.h"
#include <string.h>

void tarn_doc_write_owner(struct tarn_jsonw *w, const struct tarn_table *table, const char *catalog_id)
{
    tarn_jsonw_kstr(w, "catalog", catalog_id);
    tarn_jsonw_kstr(w, "table_uuid", table->uuid);
}

void tarn_doc_write_file_members(struct tarn_jsonw *w, const struct tarn_file *file)
{
    tarn_jsonw_kstr(w, "path", file->path);
    if (file->size >= 0)
        tarn_jsonw_ki64(w, "size", file->size);
    if (file->partition_values)
        tarn_jsonw_kraw(w, "partitionValues", file->partition_values);
    if (file->column_stats)
        tarn_jsonw_kraw(w, "columnStats", file->column_stats);
    if (file->records >= 0)
        tarn_jsonw_ki64(w, "numRecords", file->records);
    if (file->schema_version > 0)
        tarn_jsonw_ki64(w, "schemaVersion", file->schema_version);
}

void tarn_manifest_write_head(struct tarn_jsonw *w, const struct tarn_table *table, const char *catalog_id,
                              int64_t version, const char *transaction, int64_t last_updated,
                              int64_t schema_version)
{
    char name[TARN_DOTTED_MAX];
    tarn_ident_format(table->namespace_, table->name, name);
    tarn_jsonw_object(w);
    tarn_jsonw_ki64(w, "version", version);
    tarn_jsonw_ktime(w, "last_updated", last_updated);
    tarn_jsonw_kstr(w, "table", name);
    tarn_doc_write_owner(w, table, catalog_id);
    if (transaction)
        tarn_jsonw_kstr(w, "transaction", transaction);
    if (schema_version > 0)
        tarn_jsonw_ki64(w, "schema_version", schema_version);
    if (table->partition_keys && strcmp(table->partition_keys, "[]") != 0)
        tarn_jsonw_kraw(w, "partition_keys", table->partition_keys);
    if (table->created_at > 0)
        tarn_jsonw_ktime(w, "created_at", table->created_at);
    if (table->first_version > 0)
        tarn_jsonw_ki64(w, "first_version", table->first_version);
    tarn_jsonw_key(w, "files");
    tarn_jsonw_array(w);
    tarn_buf_addc(w->out, '\n');
}

void tarn_manifest_write_file(struct tarn_jsonw *w, const struct tarn_file *file)
{
    tarn_jsonw_object(w);
    tarn_doc_write_file_members(w, file);
    tarn_jsonw_object_end(w);
    tarn_buf_addc(w->out, '\n');
}

void tarn_manifest_write_end(struct tarn_jsonw *w)
{
    tarn_jsonw_array_end(w);
    tarn_jsonw_object_end(w);
    tarn_buf_addc(w->out, '\n');
}
