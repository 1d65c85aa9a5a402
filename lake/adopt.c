/* adopt.c - a folder that holds a table of the manifest format becomes Tarn's: what it is at is read from its
 * documents, what is wrong with it is told. Manifest and log that disagree are taken over too, but commits
 * wait for a repair. */
#include "base/time.h"
#include "lake/adopt_run.h"
#include <stdio.h>
#include <string.h>

#define VERSION_MAX (INT64_MAX / 2) /* above, a manifest's version leaves no room to count on */
#define GRACE_MS (15 * TARN_MINUTE_MS) /* a younger file may still be registered by whoever wrote it */

void tarn_adoption_done(struct tarn_adoption *a)
{
    tarn_stage_free(a->stage);
    tarn_facts_done(&a->facts);
    tarn_fileset_done(&a->files);
    tarn_fileset_done(&a->ids);
}

static tarn_code refuse(const char *document, const char *why, struct tarn_err *err)
{
    tarn_fail_code_field(err, TARN_LOCATION_UNREACHABLE, "location", "%s cannot be read: %s", document, why);
    return tarn_err_add(err, "document", json_string(document));
}

static tarn_code judge_documents(const struct tarn_facts *facts, struct tarn_err *err)
{
    if (facts->state != TARN_FACTS_READ)
        return refuse(TARN_DOC_MANIFEST, facts->why, err);
    if (facts->manifest == TARN_DOC_BAD)
        return refuse(TARN_DOC_MANIFEST, facts->manifest_why, err);
    if (facts->manifest == TARN_DOC_ABSENT)
        return refuse(TARN_DOC_MANIFEST, "it is gone", err);
    if (facts->schema == TARN_DOC_BAD)
        return refuse(TARN_DOC_SCHEMA, facts->schema_why, err);
    if (facts->schema == TARN_DOC_READ && facts->schema_not_in_history)
        return refuse(TARN_DOC_SCHEMA, "its current version is not in it", err);
    return TARN_OK;
}

int64_t tarn_adoption_committed(const struct tarn_log_facts *log)
{
    int64_t count = 0;

    for (size_t i = 0; i < log->count; i++)
        count += log->entries[i].committed && !log->entries[i].absent;
    return count;
}

static tarn_code take_version(struct tarn_adoption *a, struct tarn_err *err)
{
    char message[160];
    int64_t entries = tarn_adoption_committed(&a->facts.log), version = a->facts.version;
    bool counts = version >= entries && version <= VERSION_MAX;

    a->out->version = version;
    if (counts && (version > 0 || a->facts.file_count == 0))
        return TARN_OK;
    a->out->version = entries > 0 ? entries : a->facts.file_count > 0 ? 1 : 0;
    if (version < 0)
        snprintf(message, sizeof message, "the manifest tells no version: %lld is taken", (long long)a->out->version);
    else
        snprintf(message, sizeof message, "the manifest's version %lld is %s: %lld is taken", (long long)version,
                 version > VERSION_MAX ? "no count of commits" : "below the number of log entries",
                 (long long)a->out->version);
    return tarn_adopted_remark(a->out, "manifest_version_not_a_counter", TARN_SEV_INFO, TARN_DOC_MANIFEST,
                               message, err);
}

static char *newest_committed(const struct tarn_log_facts *log)
{
    for (size_t i = log->count; i > 0; i--)
        if (log->entries[i - 1].committed)
            return strdup(tarn_log_id(log, &log->entries[i - 1]));
    return NULL;
}

static tarn_code take_heads(struct tarn_adoption *a, struct tarn_err *err)
{
    struct tarn_facts *facts = &a->facts;
    int64_t now = facts->gathered_at;

    a->out->transaction = facts->pointer_id ? strdup(facts->pointer_id) : newest_committed(&facts->log);
    if (facts->pointer_id && !a->out->transaction)
        return tarn_fail_oom(err);
    a->out->partition_keys = tarn_take(&facts->partition_keys);
    a->out->committed_at = facts->last_updated < now ? facts->last_updated : now;
    return TARN_OK;
}

tarn_code tarn_adoption_begin(struct tarn_adoption *a, struct tarn_err *err)
{
    struct tarn_facts_options options = { .now_ms = tarn_now_ms(),
                                          .sweep = true,
                                          .unregistered_grace_ms = GRACE_MS,
                                          .leftover_grace_ms = GRACE_MS,
                                          .stops = &a->lake->stopping };

    tarn_facts_init(&a->facts);
    tarn_code code = tarn_manifest_facts(a->place, &options, &a->facts, err);
    a->facts.gathered_at = options.now_ms;
    if (code == TARN_OK)
        code = judge_documents(&a->facts, err);
    if (code == TARN_OK)
        code = take_version(a, err);
    if (code == TARN_OK)
        code = take_heads(a, err);
    return code == TARN_OK ? tarn_adoption_tell(a, err) : code;
}

tarn_code tarn_adopt(struct tarn_lake *lake, struct tarn_place *place, bool dry_run,
                     struct tarn_adopted *adopted, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_adoption_done))) struct tarn_adoption a = { .lake = lake,
                                                                            .place = place,
                                                                            .out = adopted };
    tarn_code code = tarn_adoption_begin(&a, err);

    if (code == TARN_OK)
        code = tarn_stage_new(lake, dry_run, &a.stage, err);
    if (code == TARN_OK)
        code = tarn_adoption_schemas(&a, err);
    if (code == TARN_OK)
        code = tarn_adoption_entries(&a, err);
    if (code == TARN_OK)
        code = tarn_adoption_ids(&a, err);
    if (code == TARN_OK)
        code = tarn_adoption_files(&a, err);
    return code == TARN_OK ? tarn_stage_end(a.stage, &adopted->id, err) : code;
}
