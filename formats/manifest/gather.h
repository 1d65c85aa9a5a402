/* gather.h - what the files of formats/manifest/facts*.c share while they gather. Nobody else includes it. */
#ifndef TARN_FORMATS_MANIFEST_GATHER_H
#define TARN_FORMATS_MANIFEST_GATHER_H
#include "formats/coverage.h"
#include "formats/facts.h"
#include "formats/footers.h"
#include "formats/manifest/manifest.h"

struct tarn_gather {
    struct tarn_place *place;
    const struct tarn_facts_options *options;
    struct tarn_facts *facts;
    struct tarn_fileset files;       /* every path that a document or the log names, as a listing gives it */
    struct tarn_fileset folders;     /* where listed files lie */
    struct tarn_fileset links;       /* symbolic links that were met */
    struct tarn_buf last_folder, room;
    struct tarn_picks picks;
    struct tarn_schema_doc doc;
    struct tarn_schema_past past;
    struct tarn_coverage *coverage;  /* of the listing at hand, NULL: nothing listed */
    json_t *partition_keys;          /* owned; NULL: not known */
    char manifest_token[TARN_TOKEN_TEXT];
    int64_t restored_version;        /* while the log is read: by the newest rollback met; -1: none */
    int64_t unread_before_ms;        /* the log before that was not read; INT64_MIN: all was */
};

/* TARN_OVERLOADED when it is time to stop; asked for each file of a long walk. */
static inline tarn_code tarn_gather_goes_on(const struct tarn_gather *g, struct tarn_err *err)
{
    if (!g->options->stops || !atomic_load_explicit(g->options->stops, memory_order_relaxed))
        return TARN_OK;
    return tarn_fail(err, TARN_OVERLOADED, "the server stops");
}

/* facts_documents.c: pointer, schema, manifest, in that order, so that the manifest is never older than the pointer. */
TARN_MUST tarn_code tarn_gather_documents(struct tarn_gather *g, struct tarn_err *err);
/* The schema's past: the catalog's, else the document's. */
const struct tarn_schema_past *tarn_gather_past(const struct tarn_gather *g);
/* facts_entries.c: each file that the manifest or the catalog's snapshot lists (a tarn_file_fn over the gathering). */
void tarn_gather_entries_begin(struct tarn_gather *g);
tarn_code tarn_gather_entry(void *ctx, const struct tarn_file *file, struct tarn_err *err);
void tarn_gather_entries_forget(struct tarn_gather *g); /* what an attempt that failed in the middle left */
TARN_MUST tarn_code tarn_gather_entries_end(struct tarn_gather *g, struct tarn_err *err);
/* Every listed file again, for names, under the path that a listing gives. */
TARN_MUST tarn_code tarn_gather_listed(struct tarn_gather *g, tarn_file_fn *fn, void *ctx, struct tarn_err *err);
/* facts_log.c */
TARN_MUST tarn_code tarn_gather_log(struct tarn_gather *g, struct tarn_err *err);
/* facts_replay.c: what the newest entries did, newest first. *renamed: an id inside is another than its file's
 * name, so that the order has to be made again. */
TARN_MUST tarn_code tarn_gather_replay(struct tarn_gather *g, bool *renamed, struct tarn_err *err);
TARN_MUST tarn_code tarn_log_rename(struct tarn_log_facts *log, struct tarn_log_entry *entry, const char *id,
                                    struct tarn_err *err);
/* facts_life.c: an entry that was read. Newest first. */
TARN_MUST tarn_code tarn_gather_life(struct tarn_gather *g, const struct tarn_log_entry *entry,
                                     const struct tarn_entry_head *head, struct tarn_err *err);
/* facts_files.c: what lies there */
TARN_MUST tarn_code tarn_gather_files(struct tarn_gather *g, struct tarn_err *err);
/* facts_staging.c */
TARN_MUST tarn_code tarn_gather_staging(struct tarn_gather *g, struct tarn_err *err);
#endif
