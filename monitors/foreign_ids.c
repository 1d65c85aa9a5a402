/* foreign_ids.c - entries that somebody else wrote into a managed table's log: an entry is created, never overwritten, so
 * no commit may take their ids from now on. */
#include "monitors/judge.h"
#include "catalog/store.h"

enum { IDS_MAX = 1000 }; /* of one scan */

tarn_code tarn_foreign_ids_take(struct tarn_tx *tx, const struct tarn_log_facts *log, int64_t table_id,
                                struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    for (size_t i = 0, taken = 0; i < log->count && taken < IDS_MAX && code == TARN_OK; i++) {
        if (!log->entries[i].foreign)
            continue;
        code = tx->ops->commits.take_id(tx, table_id, tarn_log_file(log, &log->entries[i]), err);
        taken++;
    }
    return code;
}
