/* examined.c - did a scan look at what a finding is judged by? What it rests on may be gone, torn, or beyond
 * what was read: then that nothing looks wrong says nothing. */
#include "monitors/judge.h"
#include <stdio.h>
#include <string.h>

typedef bool path_fn(const struct tarn_facts *facts, const struct tarn_finding *finding, const char *path);

static bool footer_was_read(const struct tarn_facts *facts, const struct tarn_finding *finding,
                            const char *path)
{
    bool is_whole = facts->footers_but_young && facts->saw & TARN_SAW_LISTING;

    (void)finding;
    return tarn_fileset_find(&facts->footer_paths, path) || (is_whole && !tarn_fileset_find(&facts->young_footers, path));
}

/* The subject of scan_incomplete is a folder, not a file in one. */
static bool folder_was_read(const struct tarn_facts *facts, const struct tarn_finding *finding,
                            const char *path)
{
    char inside[4096];

    snprintf(inside, sizeof inside, "%s%s", path, strcmp(finding->code, "scan_incomplete") == 0 ? "/" : "");
    return tarn_facts_looked_at(facts, inside);
}

/* How many files a snapshot should have is known when the word on each of them is. */
static bool word_was_read(const struct tarn_facts *facts, const struct tarn_finding *finding,
                          const char *path)
{
    return strcmp(finding->code, "snapshot_regression") != 0 && !tarn_fileset_find(&facts->undecided, path);
}

static bool marker_was_read(const struct tarn_facts *facts, const struct tarn_finding *finding,
                            const char *batch_id)
{
    (void)finding;
    return !tarn_fileset_find(&facts->unread_markers, batch_id);
}

/* --- entries of the log --- */

/* Of a managed table the catalog tells what is in them. One that is not there is told as that. */
static bool can_be_told(const struct tarn_facts *facts, const struct tarn_log_entry *entry)
{
    return entry->absent || (!entry->unreadable && (entry->read || facts->managed || !entry->committed));
}

/* By its id, its file, or the path of that. */
static bool is_named(const struct tarn_log_facts *log, const struct tarn_log_entry *entry,
                     const char *subject)
{
    const char *file = tarn_log_file(log, entry);
    size_t folder = strlen(TARN_LOG_SUBJECT "/"), len = strlen(file);
    bool is_path = strncmp(subject, TARN_LOG_SUBJECT "/", folder) == 0 &&
                   strncmp(subject + folder, file, len) == 0 && strcmp(subject + folder + len, ".json") == 0;

    return is_path || strcmp(tarn_log_id(log, entry), subject) == 0 || strcmp(file, subject) == 0;
}

/* What is held against the entry before: that one too. A copy is named in the message; all of the log is
 * `_transactions`. */
static bool concerns(const struct tarn_log_facts *log, const struct tarn_finding *finding,
                     const char *subject, size_t at)
{
    char file[TARN_TXN_ID_MAX + 8];

    if (strcmp(subject, TARN_LOG_SUBJECT) == 0 || is_named(log, &log->entries[at], subject))
        return true;
    if (at + 1 < log->count && is_named(log, &log->entries[at + 1], subject))
        return strcmp(finding->code, "transaction_version_mismatch") == 0 ||
               strcmp(finding->code, "transaction_time_regression") == 0;
    snprintf(file, sizeof file, "%s.json", tarn_log_file(log, &log->entries[at]));
    return strcmp(finding->code, "duplicate_transaction") == 0 && finding->message &&
           strstr(finding->message, file);
}

static bool entry_was_read(const struct tarn_facts *facts, const struct tarn_finding *finding,
                           const char *subject)
{
    const struct tarn_log_facts *log = &facts->log;
    bool is_told =
        strcmp(subject, "*") != 0 && !(strcmp(subject, "schema.json") == 0 && facts->schema == TARN_DOC_BAD);

    for (size_t i = 0; i < log->count && is_told; i++)
        is_told = can_be_told(facts, &log->entries[i]) || !concerns(log, finding, subject, i);
    return is_told;
}

/* Both commits of a batch that was applied twice, and every one since, which may have taken it back. */
static bool commits_were_read(const struct tarn_facts *facts, const struct tarn_finding *finding,
                              const char *subject)
{
    json_auto_t *evidence = finding->evidence ? json_loads(finding->evidence, 0, NULL) : NULL;
    const json_t *ids = json_object_get(evidence, "transactions");
    size_t known = 0;

    (void)subject;
    for (size_t i = 0; i < facts->log.count; i++)
        for (size_t k = 0; k < json_array_size(ids); k++)
            known += facts->log.entries[i].sure && strcmp(tarn_log_id(&facts->log, &facts->log.entries[i]),
                                                          json_string_value(json_array_get(ids, k))) == 0;
    return known > 0 && known >= json_array_size(ids);
}

/* Does it hold for all that the evidence names, or the subject? */
static bool holds_for_all(const struct tarn_finding *finding, const struct tarn_facts *facts, path_fn *holds)
{
    json_auto_t *evidence = finding->evidence ? json_loads(finding->evidence, 0, NULL) : NULL;
    const json_t *examples = json_object_get(evidence, "examples");
    size_t index;
    json_t *path;

    if (!json_is_array(examples))
        return holds(facts, finding, finding->subject);
    json_array_foreach (examples, index, path) {
        if (!holds(facts, finding, json_string_value(path)))
            return false;
    }
    return true;
}

/* What may be looked at in part: then by what the finding names. */
bool tarn_finding_is_examined(const struct tarn_finding *finding, const struct tarn_facts *facts)
{
    static const struct {
        unsigned part;
        path_fn *holds;
    } k_parts[] = {
        { TARN_SAW_FOOTERS, footer_was_read },   { TARN_SAW_LISTING, folder_was_read },
        { TARN_SAW_WORDS, word_was_read },       { TARN_SAW_TEXTS, entry_was_read },
        { TARN_SAW_BATCHES, commits_were_read }, { TARN_SAW_STAGING, marker_was_read },
    };
    const struct tarn_kind *kind = tarn_kind_find(finding->code);
    unsigned needs = kind ? kind->needs : 0;

    if (tarn_facts_are_of_old_catalog(facts) && needs & ~(unsigned)TARN_SAW_STORAGE)
        return false;
    unsigned missing = needs & ~facts->saw;

    for (size_t i = 0; i < TARN_COUNT(k_parts); i++)
        if (missing & k_parts[i].part && holds_for_all(finding, facts, k_parts[i].holds))
            missing &= ~k_parts[i].part;
    return missing == 0;
}

/* --- what is open says it already --- */

/* What is committed is told by pointer and manifest together: with one of them torn the other makes another
 * fault of the same. */
bool tarn_finding_is_told(const struct tarn_findings *before, const struct tarn_finding *report,
                          const struct tarn_facts *facts)
{
    static const struct {
        const char *code, *open;
        unsigned unseen;
        bool is_same;
    } k_rows[] = {
        { "uncommitted_transaction", "pointer_mismatch", TARN_SAW_MANIFEST, false },
        { "missing_transaction_log_entry", "transaction_gap", TARN_SAW_COMMITTED, true },
        { "unregistered_data_file", "committed_file_not_in_manifest", TARN_SAW_WORDS, true },
    };

    for (size_t i = 0; i < TARN_COUNT(k_rows); i++) {
        if (facts->saw & k_rows[i].unseen || strcmp(report->code, k_rows[i].code) != 0)
            continue;
        for (size_t k = 0; k < before->count; k++)
            if (strcmp(before->items[k].code, k_rows[i].open) == 0 &&
                (!k_rows[i].is_same || strcmp(before->items[k].subject, report->subject) == 0))
                return true;
    }
    return false;
}

/* --- the files that findings are told of --- */

static bool ask(struct tarn_fileset *asked, const char *path, unsigned word)
{
    struct tarn_fileset_entry *entry = path ? tarn_fileset_put(asked, path) : NULL;

    if (entry)
        entry->flags = word & TARN_FILE_FLAGS;
    return entry || !path;
}

tarn_code tarn_findings_ask(const struct tarn_findings *open, struct tarn_fileset *asked,
                            struct tarn_err *err)
{
    bool is_asked = true;

    for (size_t i = 0; i < open->count && is_asked; i++) {
        const struct tarn_finding *finding = &open->items[i];
        bool is_lacking = strcmp(finding->code, "committed_file_not_in_manifest") == 0;
        unsigned word = is_lacking ? TARN_FILE_ADDED : TARN_FILE_REMOVED;
        if (!is_lacking && strcmp(finding->code, "removed_file_in_manifest") != 0)
            continue;
        json_auto_t *evidence = finding->evidence ? json_loads(finding->evidence, 0, NULL) : NULL;
        const json_t *examples = json_object_get(evidence, "examples");
        is_asked = json_array_size(examples) > 0 || ask(asked, finding->subject, word);
        for (size_t k = 0; k < json_array_size(examples) && is_asked; k++)
            is_asked = ask(asked, json_string_value(json_array_get(examples, k)), word);
    }
    return is_asked ? TARN_OK : tarn_fail_oom(err);
}
