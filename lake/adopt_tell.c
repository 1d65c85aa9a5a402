/* adopt_tell.c - what is wrong with a folder that is taken over, told
 * with the answer: whoever registers sees it before the first scan does,
 * in a dry run too. Manifest and log that disagree also stop commits. */
#include "lake/adopt_run.h"
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct {
    size_t at;
    const char *code;
    enum tarn_severity severity;
    bool blocks;
} k_suspects[] = {
    { offsetof(struct tarn_facts, not_in_manifest), "committed_file_not_in_manifest", TARN_SEV_ERROR, true },
    { offsetof(struct tarn_facts, still_listed), "removed_file_in_manifest", TARN_SEV_ERROR, true },
    { offsetof(struct tarn_facts, missing), "missing_data_file", TARN_SEV_ERROR, false },
    { offsetof(struct tarn_facts, sizes), "size_mismatch", TARN_SEV_ERROR, false },
    { offsetof(struct tarn_facts, corrupt), "corrupt_data_file", TARN_SEV_ERROR, false },
    { offsetof(struct tarn_facts, unregistered), "unregistered_data_file", TARN_SEV_WARNING, false },
    { offsetof(struct tarn_facts, duplicates), "duplicate_file", TARN_SEV_WARNING, false },
};

static tarn_code tell_list(struct tarn_adoption *a, const struct tarn_suspects *list, const char *code_,
                           enum tarn_severity severity, struct tarn_err *err)
{
    char message[TARN_PATH_MAX + 128];
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < list->count && code == TARN_OK; i++) {
        snprintf(message, sizeof message, "%s: %s", code_, list->items[i].subject);
        code = tarn_adopted_remark(a->out, code_, severity, list->items[i].subject, message, err);
    }
    if (code == TARN_OK && list->total > (int64_t)list->count) {
        snprintf(message, sizeof message, "%s: %lld in all", code_, (long long)list->total);
        code = tarn_adopted_remark(a->out, code_, severity, "*", message, err);
    }
    return code;
}

static tarn_code tell_files(struct tarn_adoption *a, struct tarn_err *err)
{
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < TARN_COUNT(k_suspects) && code == TARN_OK; i++) {
        const struct tarn_suspects *list = (const void *)((const char *)&a->facts + k_suspects[i].at);
        if (k_suspects[i].blocks && list->total > 0)
            a->out->block = TARN_BLOCK_ADOPTION;
        code = tell_list(a, list, k_suspects[i].code, k_suspects[i].severity, err);
    }
    if (code == TARN_OK && a->out->block == TARN_BLOCK_ADOPTION)
        code = tarn_adopted_remark(a->out, "adoption_conflict", TARN_SEV_ERROR, TARN_DOC_MANIFEST,
                                   "manifest and log disagree: commits are refused until a repair", err);
    return code;
}

/* --- pointer and log --- */

static bool has_entry(const struct tarn_log_facts *log, const char *id)
{
    for (size_t i = 0; i < log->count; i++)
        if (!log->entries[i].absent && strcmp(tarn_log_id(log, &log->entries[i]), id) == 0)
            return true;
    return false;
}

static tarn_code tell_pointer(struct tarn_adoption *a, struct tarn_err *err)
{
    const struct tarn_facts *facts = &a->facts;
    char message[TARN_TXN_ID_MAX + 128];

    if (facts->pointer == TARN_DOC_BAD)
        return tarn_adopted_remark(a->out, "pointer_unreadable", TARN_SEV_WARNING, TARN_DOC_POINTER,
                                   facts->pointer_why, err);
    if (facts->pointer == TARN_DOC_ABSENT && facts->log.count > 0)
        return tarn_adopted_remark(a->out, "pointer_missing", TARN_SEV_WARNING, TARN_DOC_POINTER,
                                   "there is no last_committed_txn: every log entry counts as committed", err);
    if (!facts->pointer_id || facts->log.count == 0 || has_entry(&facts->log, facts->pointer_id))
        return TARN_OK;
    snprintf(message, sizeof message, "missing_transaction_log_entry: %s, which the pointer names",
             facts->pointer_id);
    return tarn_adopted_remark(a->out, "missing_transaction_log_entry", TARN_SEV_ERROR, facts->pointer_id,
                               message, err);
}

/* Entries by what is wrong with them. */
static tarn_code tell_entries(struct tarn_adoption *a, bool committed, const char *code_,
                              struct tarn_err *err)
{
    const struct tarn_log_facts *log = &a->facts.log;
    TARN_AUTO_DONE(suspects) struct tarn_suspects list = { 0 };
    tarn_code code = TARN_OK;

    for (size_t i = 0; i < log->count && code == TARN_OK; i++) {
        const struct tarn_log_entry *entry = &log->entries[i];
        if (entry->committed == committed && (!committed || entry->unreadable))
            code = tarn_suspects_add(&list, tarn_log_id(log, entry), NULL, -1, -1, entry->mtime_ms, err);
    }
    return code == TARN_OK ? tell_list(a, &list, code_, TARN_SEV_WARNING, err) : code;
}

/* More versions than entries: the log was cut, or it never told everything. */
static tarn_code tell_history(struct tarn_adoption *a, struct tarn_err *err)
{
    int64_t entries = tarn_adoption_committed(&a->facts.log);
    char message[160];

    if (a->facts.version <= entries)
        return TARN_OK;
    snprintf(message, sizeof message, "the log tells of %lld commits, the manifest of %lld", (long long)entries,
             (long long)a->facts.version);
    return tarn_adopted_remark(a->out, "history_truncated", TARN_SEV_INFO, TARN_DIR_LOG, message, err);
}

/* --- who wrote it --- */

static tarn_code tell_owner(struct tarn_adoption *a, struct tarn_err *err)
{
    const char *catalog = a->facts.manifest_catalog, *uuid = a->facts.manifest_uuid;
    char message[320];

    if (!catalog)
        return TARN_OK;
    if (strcmp(catalog, a->lake->catalog_id) != 0) {
        snprintf(message, sizeof message,
                 "the manifest was written by the catalog %.64s: if its server still manages the table, two now "
                 "write here; let it go there first", catalog);
        return tarn_adopted_remark(a->out, "managed_by_another_catalog", TARN_SEV_WARNING, TARN_DOC_MANIFEST,
                                   message, err);
    }
    if (!uuid || (a->own_uuid && strcmp(uuid, a->own_uuid) == 0))
        return TARN_OK;
    snprintf(message, sizeof message, "the manifest was written for another table of this catalog, %.64s", uuid);
    return tarn_adopted_remark(a->out, "documents_of_another_table", TARN_SEV_INFO, TARN_DOC_MANIFEST,
                               message, err);
}

tarn_code tarn_adoption_tell(struct tarn_adoption *a, struct tarn_err *err)
{
    tarn_code code = tell_owner(a, err);

    if (code == TARN_OK)
        code = tell_files(a, err);
    if (code == TARN_OK)
        code = tell_pointer(a, err);
    if (code == TARN_OK)
        code = tell_entries(a, true, "unreadable_transaction_log_entry", err);
    if (code == TARN_OK)
        code = tell_entries(a, false, "uncommitted_transaction", err);
    return code == TARN_OK ? tell_history(a, err) : code;
}
