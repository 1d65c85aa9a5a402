/* entry_write.c - one log entry out: the founding text's members first, then those that Tarn adds.
 * Nothing in it may change once it is committed: no table name, which may. */
#include "formats/manifest/manifest.h"
#include "formats/manifest/write.h"
#include "base/jsonw.h"

void tarn_entry_write_head(struct tarn_jsonw *w, const struct tarn_table *table, const char *catalog_id,
                           const struct tarn_commit_row *commit)
{
    tarn_jsonw_object(w);
    tarn_jsonw_kstr(w, "id", commit->transaction);
    tarn_jsonw_ktime(w, "timestamp", commit->committed_at);
    tarn_jsonw_ki64(w, "version", commit->version);
    tarn_doc_write_owner(w, table, catalog_id);
    if (commit->group[0])
        tarn_jsonw_kstr(w, "group", commit->group);
    tarn_jsonw_ki64(w, "schema_version", commit->schema_version);
    if (commit->is_rollback)
        tarn_jsonw_ki64(w, "rollback_to", commit->rollback_to);
    if (commit->body_hash[0])
        tarn_jsonw_kstr(w, "body_sha256", commit->body_hash);
    tarn_jsonw_kbool(w, "dataChange", commit->data_change);
    tarn_jsonw_key(w, "operations");
    tarn_jsonw_array(w);
    tarn_buf_addc(w->out, '\n');
}

void tarn_entry_write_op(struct tarn_jsonw *w, const struct tarn_file *file, bool is_add, int64_t first_version)
{
    bool was_adopted = first_version > 0 && file->added_version <= first_version;

    tarn_jsonw_object(w);
    tarn_jsonw_kstr(w, "type", is_add ? "add_file" : "remove_file");
    if (is_add || was_adopted)
        tarn_doc_write_file_members(w, file);
    else
        tarn_jsonw_kstr(w, "path", file->path);
    tarn_jsonw_object_end(w);
    tarn_buf_addc(w->out, '\n');
}

void tarn_entry_write_end(struct tarn_jsonw *w, const struct tarn_commit_row *commit)
{
    tarn_jsonw_array_end(w);
    if (commit->metadata)
        tarn_jsonw_kraw(w, "commitMetadata", commit->metadata);
    if (commit->batch_ids)
        tarn_jsonw_kraw(w, "batch_ids", commit->batch_ids);
    tarn_jsonw_object_end(w);
    tarn_buf_addc(w->out, '\n');
}
