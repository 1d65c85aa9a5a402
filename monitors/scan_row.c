/* scan_row.c - the columns of a scan row that facts tell. */
#include "base/text.h"
#include "monitors/judge.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
