/* log_ids.c - which id of pointer or manifest stands where in the log. */
#include "monitors/judge.h"
#include <string.h>

static int64_t number_of(const struct tarn_log_facts *log, const char *id)
{
    size_t prefix_len;
    int64_t number;

    if (!id || !tarn_txn_id_number(id, &prefix_len, &number))
        return -1;
    bool is_same = log->count > 0 && (strlen(log->prefix) == prefix_len && strncmp(log->prefix, id, prefix_len) == 0);
    return is_same ? number : -1;
}

int64_t tarn_log_pointer_number(const struct tarn_facts *facts) { return number_of(&facts->log, facts->pointer_id); }

int64_t tarn_log_manifest_number(const struct tarn_facts *facts)
{
    return facts->log.numbered ? number_of(&facts->log, facts->manifest_transaction) : -1;
}

int64_t tarn_log_committed_number(const struct tarn_facts *facts, int64_t *proof_ms)
{
    int64_t pointer = tarn_log_pointer_number(facts), manifest = tarn_log_manifest_number(facts);

    *proof_ms = manifest > pointer ? facts->manifest_mtime_ms : facts->pointer_mtime_ms;
    return manifest > pointer ? manifest : pointer;
}
