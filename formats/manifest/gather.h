/* gather.h - what the files of formats/manifest/facts*.c share while they gather. Nobody else includes it. */
#ifndef TARN_FORMATS_MANIFEST_GATHER_H
#define TARN_FORMATS_MANIFEST_GATHER_H
#include "formats/batch_links.h"
#include "formats/coverage.h"
#include "formats/facts.h"
#include "formats/footers.h"
#include "formats/manifest/manifest.h"
#include "formats/pathset.h"
#include "formats/recall.h"

#define TARN_GOOD_LOOKS 2 /* that a finding closes after */

struct tarn_gather {
    struct tarn_place *place;
    const struct tarn_facts_options *options;
    struct tarn_facts *facts;
    struct tarn_recall *recall;      /* its folders are filled in: what lies there by the walk, what is listed after both */
    bool has_odd_paths;
    struct tarn_folders listed;      /* sums of the listing, while the walk may be under way */
    struct tarn_fileset files;       /* every path that the log names, as a listing gives it; and those listed in suspect folders */
    struct tarn_fileset links;       /* symbolic links that were met */
    struct tarn_suspects odd_entries; /* observed: documents in the log whose names are no ids */
    struct tarn_buf room;
    struct tarn_picks picks;         /* of files that are listed and lie there */
    struct tarn_schema_doc doc;
    struct tarn_schema_past past;
    json_t *partition_keys;          /* owned; NULL: not known */
    char first_token[TARN_TOKEN_TEXT], manifest_token[TARN_TOKEN_TEXT]; /* of the manifest, before the log and when it was read */
    char schema_token[TARN_TOKEN_TEXT];
    int64_t first_mtime_ms, schema_mtime_ms, first_bytes;
    bool is_full;                    /* every folder is read */
    bool is_unknown;                 /* a probe of a table of which nothing is known: no folder is read */
    bool is_short;                   /* some of the newest files went and others are not known: all have to be read */
    struct tarn_picks known_picks;   /* of the scan before */
    struct tarn_batch_links batch_links; /* while the log is read */
    int64_t restored_version;        /* while the log is read: by the newest rollback met; -1: none */
    int64_t unread_before_ms;        /* the log before that was not read; INT64_MIN: all was */
    /* while entries are listed: */
    struct tarn_coverage *coverage;  /* NULL: nothing listed */
    bool is_document;                /* by a manifest, which may list a path twice */
    struct tarn_pathset met;         /* paths of the document so far */
    struct tarn_fileset doubles;
};

/* TARN_OVERLOADED when it is time to stop; asked for each file of a long walk. */
static inline tarn_code tarn_gather_goes_on(const struct tarn_gather *g, struct tarn_err *err)
{
    if (!g->options->stops || !atomic_load_explicit(g->options->stops, memory_order_relaxed))
        return TARN_OK;
    return tarn_fail(err, TARN_OVERLOADED, "the server stops");
}
static inline size_t tarn_gather_footers_most(const struct tarn_facts_options *options)
{
    return options->footers_most > 0 ? options->footers_most : TARN_FOOTERS_SWEEP;
}
/* What changed so shortly before it was read may change again within one tick of a clock that goes by ticks. */
static inline int64_t tarn_gather_racy_ms(const struct tarn_gather *g)
{
    return g->options->settled_ms > 0 ? g->options->settled_ms : 2000;
}
/* A suspect that a writer at work would explain: when somebody wrote meanwhile, it counts only if it was one before. As
 * tarn_suspects_add. */
TARN_MUST tarn_code tarn_gather_doubt(struct tarn_gather *g, struct tarn_suspects *list, const char *path, const char *note,
                                      int64_t observed, int64_t expected, int64_t mtime_ms, struct tarn_err *err);

/* The steps, in this order, so that what is listed is never older than what the log and the pointer say, and what lies
 * there is looked at by name after both.
 * facts_documents.c: pointer, schema; a look at the manifest. */
TARN_MUST tarn_code tarn_gather_heads(struct tarn_gather *g, struct tarn_err *err);
/* The schema's past: the catalog's, else the document's. */
const struct tarn_schema_past *tarn_gather_past(const struct tarn_gather *g);
/* facts_log.c */
TARN_MUST tarn_code tarn_gather_log(struct tarn_gather *g, struct tarn_err *err);
struct tarn_log_entry *tarn_log_add(struct tarn_log_facts *log, const char *id, struct tarn_err *err); /* NULL: no memory */
/* facts_committed.c: which entries are committed. Of an observed table, in their order; of a managed one, in any, and what has no
 * file becomes an absent entry. */
void tarn_log_mark(struct tarn_gather *g);
TARN_MUST tarn_code tarn_log_match(struct tarn_gather *g, struct tarn_err *err);
/* Managed: what the catalog knows under an id may lie there under another name after all. */
void tarn_log_join(struct tarn_log_facts *log);
/* facts_replay.c: what the newest entries did, newest first. *renamed: an id inside is another than its file's
 * name, so that the order has to be made again. */
TARN_MUST tarn_code tarn_gather_replay(struct tarn_gather *g, bool *renamed, struct tarn_err *err);
TARN_MUST tarn_code tarn_log_rename(struct tarn_log_facts *log, struct tarn_log_entry *entry, const char *id,
                                    struct tarn_err *err);
/* facts_own.c: does it name this table of this catalog? */
bool tarn_gather_names_table(const struct tarn_facts_catalog *catalog, const struct tarn_entry_head *head);
/* Of a managed table, an entry of its own: is it looked at (`newer`: how many were met before), and the look. */
bool tarn_gather_own_is_suspect(const struct tarn_gather *g, const struct tarn_log_entry *entry, size_t newer);
TARN_MUST tarn_code tarn_gather_own_entry(struct tarn_gather *g, struct tarn_log_entry *entry, struct tarn_err *err);
/* facts_life.c: an entry that was read. Newest first. `brings`: it added data that no later entry removed again. */
TARN_MUST tarn_code tarn_gather_life(struct tarn_gather *g, const struct tarn_log_entry *entry,
                                     const struct tarn_entry_head *head, bool brings, struct tarn_err *err);
/* facts_documents.c: manifest, or the catalog's snapshot. The first part of the latter: the manifest that Tarn wrote. */
TARN_MUST tarn_code tarn_gather_own_manifest(struct tarn_gather *g, bool *ours, struct tarn_err *err);
TARN_MUST tarn_code tarn_gather_listing(struct tarn_gather *g, struct tarn_err *err);
/* facts_entries.c: each file that it lists (a tarn_file_fn over the gathering). */
void tarn_gather_entries_begin(struct tarn_gather *g);
tarn_code tarn_gather_entry(void *ctx, const struct tarn_file *file, struct tarn_err *err);
void tarn_gather_entries_forget(struct tarn_gather *g); /* what an attempt that failed in the middle left */
TARN_MUST tarn_code tarn_gather_entries_end(struct tarn_gather *g, struct tarn_err *err);
/* Every listed file again, for names, under the path that a listing gives. */
TARN_MUST tarn_code tarn_gather_listed(struct tarn_gather *g, tarn_file_fn *fn, void *ctx, struct tarn_err *err);
/* The same, at least of the suspect folders. */
TARN_MUST tarn_code tarn_gather_listed_there(struct tarn_gather *g, tarn_file_fn *fn, void *ctx, struct tarn_err *err);
/* The same of one file, when it is listed; only of a catalog. */
TARN_MUST tarn_code tarn_gather_listed_file(struct tarn_gather *g, const char *path, tarn_file_fn *fn, void *ctx,
                                            struct tarn_err *err);
/* facts_probe.c: of a catalog, the sums of those folders alone that a probe has to compare; what is told of each listed file is
 * left to the sweep. *done false: it takes a whole pass. */
TARN_MUST tarn_code tarn_gather_probe(struct tarn_gather *g, bool *done, struct tarn_err *err);
/* facts_replay.c: where the log contradicts it. */
TARN_MUST tarn_code tarn_gather_contradictions(struct tarn_gather *g, struct tarn_err *err);
/* facts_undecided.c: the files of open findings; before the log, and which of them have a word that cannot be read. */
TARN_MUST tarn_code tarn_gather_asked(struct tarn_gather *g, struct tarn_err *err);
TARN_MUST tarn_code tarn_gather_undecided(struct tarn_gather *g, struct tarn_err *err);
/* facts_memo.c: instead of the log and all that follows up to here, what they said last time, when nothing that they are
 * made of has changed. *key: of that, 0: it cannot be told. */
TARN_MUST tarn_code tarn_gather_key(struct tarn_gather *g, uint64_t *key, struct tarn_err *err);
TARN_MUST tarn_code tarn_gather_tell_again(struct tarn_gather *g, uint64_t key, bool *told, struct tarn_err *err);
TARN_MUST tarn_code tarn_gather_keep(struct tarn_gather *g, uint64_t key, struct tarn_err *err);
/* facts_walk.c: the sums of what lies in each folder. Before anything else: what is known, and what therefore is read. */
TARN_MUST tarn_code tarn_gather_remember(struct tarn_gather *g, struct tarn_err *err);
TARN_MUST tarn_code tarn_gather_walk(struct tarn_gather *g, struct tarn_err *err);
/* facts_suspects.c: where they differ from what is listed, names; then all folders together. */
TARN_MUST tarn_code tarn_gather_files(struct tarn_gather *g, struct tarn_err *err);
/* The folder, or a part of it, could not be read: it is told, and what is listed of it not taken for missing. */
TARN_MUST tarn_code tarn_gather_unread(struct tarn_gather *g, struct tarn_folder *folder, const char *why, struct tarn_err *err);
/* facts_files.c: one suspect folder by name; and a listed file that none of them met (a tarn_file_fn). */
TARN_MUST tarn_code tarn_gather_names(struct tarn_gather *g, struct tarn_folder *folder, struct tarn_err *err);
tarn_code tarn_gather_missing(void *ctx, const struct tarn_file *file, struct tarn_err *err);
/* facts_picks.c: the footers of the newest files. */
TARN_MUST tarn_code tarn_gather_footers(struct tarn_gather *g, struct tarn_err *err);
/* facts_staging.c */
TARN_MUST tarn_code tarn_gather_staging(struct tarn_gather *g, struct tarn_err *err);
#endif
