/* scan_row.c - a scan's row: what is kept of the scans before, and the columns that facts tell. */
#include "base/text.h"
#include "monitors/judge.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

tarn_code tarn_scan_row_read(struct tarn_tx *tx, int64_t table_id, struct tarn_scan_row *row, bool *scanned,
                             struct tarn_err *err)
{
    TARN_ERR(fault);

    tarn_scan_row_done(row);
    *row = (struct tarn_scan_row){ .checked_at = -1, .checked_version = -1, .first_failed_at = -1, .version = -1,
                                   .last_updated = -1, .file_count = -1, .total_bytes = -1, .schema_version = -1,
                                   .last_data_commit = -1, .last_run = -1, .top_version = -1, .top_files = -1, .duration_ms = -1,
                                   .verdict = TARN_SEV_UNKNOWN };
    tarn_code code = tx->ops->monitors.get(tx, table_id, row, &fault);
    *scanned = code == TARN_OK;
    return code == TARN_OK || code == TARN_NOT_FOUND ? TARN_OK : tarn_err_move(err, &fault);
}

tarn_code tarn_scan_row_fill(struct tarn_scan_row *row, const struct tarn_facts *facts, struct tarn_err *err)
{
    if (!tarn_text_set(&row->latest_transaction, facts->latest_transaction) ||
        !tarn_text_set(&row->partition_keys, facts->partition_keys))
        return tarn_fail_oom(err);
    row->version = facts->version;
    row->last_updated = facts->last_updated;
    row->file_count = facts->file_count;
    row->total_bytes = facts->total_bytes;
    row->schema_version = facts->schema_version;
    bool has_age = facts->format == TARN_FORMAT_MANIFEST && facts->newest_data_ms >= 0 && facts->last_updated >= 0;
    bool is_unseen = facts->state == TARN_FACTS_READ && !facts->files_known && !has_age; /* what was known holds on */
    if (!is_unseen) {
        row->has_manifest_age = has_age;
        row->manifest_age_ms = has_age ? facts->newest_data_ms - facts->last_updated : 0;
    }
    row->last_data_commit = facts->last_data_commit;
    row->last_run = tarn_life_last(&facts->life);
    return TARN_OK;
}

char *tarn_details_with_flapping(const char *details, int64_t flapping)
{
    size_t len = strlen(details);
    char *out = NULL;

    if (flapping == 0 || len < 2)
        return strdup(details);
    if (asprintf(&out, "%.*s%s\"flapping\":%" PRId64 "}", (int)len - 1, details, len > 2 ? "," : "", flapping) < 0)
        return NULL;
    return out;
}
