/* batch_write.c - the checkpoint of a staged batch under processed/: the founding text's members first, then
 * whose document it is, and the transaction that links the batch to what it brought. */
#include "formats/manifest/manifest.h"
#include "formats/manifest/write.h"
#include "base/jsonw.h"
#include "base/text.h"
#include <stdio.h>
#include <string.h>

void tarn_batch_doc_path(const char *batch_id, char out[TARN_BATCH_DOC_PATH])
{
    static const char k_staged[] = ".parquet";
    size_t len = strlen(batch_id);

    if (tarn_ends_with(batch_id, k_staged))
        len -= sizeof k_staged - 1;
    snprintf(out, TARN_BATCH_DOC_PATH, TARN_DIR_PROCESSED "/%.*s.json", (int)len, batch_id);
}

void tarn_batch_doc_write(struct tarn_jsonw *w, const struct tarn_table *table, const char *catalog_id,
                          const struct tarn_batch *batch)
{
    tarn_jsonw_object(w);
    tarn_jsonw_kstr(w, "batch_id", batch->batch_id);
    tarn_jsonw_kstr(w, "status", tarn_batch_status_text(batch->status));
    if (batch->start_time >= 0)
        tarn_jsonw_ktime(w, "start_time", batch->start_time);
    if (batch->end_time >= 0)
        tarn_jsonw_ktime(w, "end_time", batch->end_time);
    if (batch->num_records >= 0)
        tarn_jsonw_ki64(w, "num_records", batch->num_records);
    if (batch->size >= 0)
        tarn_jsonw_ki64(w, "size", batch->size);
    if (batch->transaction)
        tarn_jsonw_kstr(w, "transaction", batch->transaction);
    tarn_jsonw_ktime(w, "updated_at", batch->updated_at);
    tarn_doc_write_owner(w, table, catalog_id);
    tarn_jsonw_object_end(w);
    tarn_buf_addc(w->out, '\n');
}
