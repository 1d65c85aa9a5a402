/* adopt_stage.c - the passes of an adoption over the documents: each streams, each row goes straight to the
 * stage. */
#include "lake/adopt_run.h"
#include "lake/source.h"
#include <stdio.h>

/* --- files --- */

static tarn_code settle_size(struct tarn_adoption *a, struct tarn_file *file, struct tarn_err *err)
{
    struct tarn_object object = { 0 };
    TARN_ERR(fault);

    if (file->size >= 0)
        return TARN_OK;
    tarn_code code = tarn_place_stat(a->place, file->path, &object, &fault);
    file->size = code == TARN_OK ? object.size : 0;
    return code == TARN_OK || code == TARN_NOT_FOUND ? TARN_OK : tarn_err_move(err, &fault);
}

static tarn_code take_file(void *ctx, const struct tarn_file *listed, struct tarn_err *err)
{
    struct tarn_adoption *a = ctx;
    struct tarn_file file = *listed;
    tarn_code code = tarn_data_path_check(file.path, "path", err);

    if (code != TARN_OK) {
        (void)tarn_err_prefix(err, "files[%lld]", (long long)a->count);
        return code;
    }
    a->count++;
    struct tarn_fileset_entry *known = tarn_fileset_put(&a->files, file.path);
    if (!known)
        return tarn_fail_oom(err);
    if (known->flags & TARN_FILE_LISTED)
        return TARN_OK; /* listed twice: told already */
    known->flags = TARN_FILE_LISTED;
    code = settle_size(a, &file, err);
    known->size = (uint64_t)file.size & TARN_FILE_NO_SIZE;
    if (code == TARN_OK && __builtin_add_overflow(a->out->total_bytes, file.size, &a->out->total_bytes))
        code = tarn_fail_field(err, "files", "the sum of sizes is out of range");
    if (code != TARN_OK)
        return code;
    a->out->file_count++;
    /* Until now it was read as the current version: a later rename must still find its columns. */
    if (file.schema_version == 0)
        file.schema_version = a->out->schema_version;
    return tarn_stage_file(a->stage, a->out->version, &file, err);
}

static tarn_code refuse_manifest(struct tarn_err *fault, struct tarn_err *err)
{
    tarn_fail_code_field(err, TARN_LOCATION_UNREACHABLE, "location", "%s cannot be taken over: %s%s%s",
                         TARN_DOC_MANIFEST, fault->field, fault->field[0] ? ": " : "", fault->detail);
    return tarn_err_add(err, "document", json_string(TARN_DOC_MANIFEST));
}

tarn_code tarn_adoption_files(struct tarn_adoption *a, struct tarn_err *err)
{
    TARN_AUTO(hashed) struct tarn_hashed *source = NULL;
    __attribute__((cleanup(tarn_manifest_head_done))) struct tarn_manifest_head head = { .version = -1 };
    struct tarn_object object = { 0 };
    TARN_ERR(fault);

    a->count = a->out->file_count = a->out->total_bytes = 0;
    tarn_fileset_clear(&a->files);
    tarn_code code = tarn_hashed_open(a->place, TARN_DOC_MANIFEST, &source, &object, &fault);
    if (code == TARN_OK)
        code = tarn_manifest_read(tarn_hashed_fill, source, &head, take_file, a, &fault);
    if (code == TARN_INVALID || code == TARN_NOT_FOUND)
        return refuse_manifest(&fault, err);
    if (code == TARN_OK)
        code = tarn_hashed_end(source, a->out->publication.manifest_sha256, &fault);
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    if (head.version != a->facts.version)
        return tarn_fail_code_field(err, TARN_LOCATION_UNREACHABLE, "location",
                                    "%s changed while it was read: stop its writer first", TARN_DOC_MANIFEST);
    a->out->publication.version = a->out->version;
    snprintf(a->out->publication.manifest_token, sizeof a->out->publication.manifest_token, "%s",
             object.token);
    a->out->has_publication = true;
    return TARN_OK;
}

/* --- log entries --- */

static tarn_code take_entry(struct tarn_adoption *a, const struct tarn_log_entry *entry, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_entry_head_done))) struct tarn_entry_head head = { .version = -1,
                                                                                   .timestamp = -1 };
    const char *id = tarn_log_id(&a->facts.log, entry);
    char path[TARN_TXN_ID_MAX + 32];
    TARN_ERR(fault);

    struct tarn_fileset_entry *known = tarn_fileset_put(&a->ids, id);
    if (!known)
        return tarn_fail_oom(err);
    if (known->flags || tarn_txn_id_check(id, "id", &fault) != TARN_OK)
        return TARN_OK;
    snprintf(path, sizeof path, TARN_DIR_LOG "/%s.json", tarn_log_file(&a->facts.log, entry));
    tarn_code code = tarn_entry_read_at(a->place, path, &head, NULL, NULL, NULL, &fault);
    if (code == TARN_INVALID || code == TARN_NOT_FOUND)
        return TARN_OK; /* the monitors tell of it */
    if (code != TARN_OK)
        return tarn_err_move(err, &fault);
    known->flags = TARN_FILE_SEEN;
    return tarn_stage_entry(a->stage, ++a->out->entries, id, &head, entry->mtime_ms, err);
}

tarn_code tarn_adoption_entries(struct tarn_adoption *a, struct tarn_err *err)
{
    const struct tarn_log_facts *log = &a->facts.log;
    tarn_code code = TARN_OK;

    a->out->entries = 0;
    for (size_t i = 0; i < log->count && code == TARN_OK; i++)
        if (log->entries[i].committed && !log->entries[i].absent && !log->entries[i].unreadable)
            code = take_entry(a, &log->entries[i], err);
    return code;
}

/* --- schemas --- */

tarn_code tarn_adoption_schemas(struct tarn_adoption *a, struct tarn_err *err)
{
    __attribute__((cleanup(tarn_schema_doc_done))) struct tarn_schema_doc doc = { 0 };
    struct tarn_object object = { .mtime_ms = -1 };

    if (a->facts.schema != TARN_DOC_READ)
        return TARN_OK;
    tarn_code code = tarn_schema_doc_read_at(a->place, &doc, &object, err);
    for (size_t i = 0; i < doc.count && code == TARN_OK; i++)
        if (doc.versions[i].version <= doc.current_version)
            code = tarn_adopted_schema(a->out, doc.versions[i].version, doc.versions[i].json,
                                       doc.versions[i].renames,
                                       doc.versions[i].created_at >= 0 ? doc.versions[i].created_at
                                                                       : object.mtime_ms,
                                       err);
    if (code == TARN_OK)
        a->out->schema_version = a->out->published_schema = doc.current_version;
    return code;
}
