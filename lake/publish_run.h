/* publish_run.h - one publication of one table, step by step. Only the files lake/publish_*.c and the tests
 * of publication include it. */
#ifndef TARN_LAKE_PUBLISH_RUN_H
#define TARN_LAKE_PUBLISH_RUN_H
#include "base/hash.h"
#include "base/jsonw.h"
#include "lake/lake.h"

/* In the order in which storage changes. A run may stop after any of them (a crash does): the next run does
 * the rest, and writes again what cannot be told to be there. */
enum tarn_publish_step {
    TARN_STEP_SCHEMA,
    TARN_STEP_LOG,
    TARN_STEP_MANIFEST,
    TARN_STEP_POINTER,
    TARN_STEP_LINKS,
    TARN_STEP_BATCHES,
    TARN_STEP_RECORD
};

struct tarn_publish_run {
    /* in */
    struct tarn_lake *lake;
    int64_t table_id;
    enum tarn_publish_step last_step;
    bool pausing;                 /* a version gets its log entry alone: the manifest was written just now */
    bool (*cancelled)(void *ctx); /* asked between pages; may be NULL */
    void *ctx;
    size_t held_bytes; /* of lists of files, in memory at most; 0: 16 MiB */
    bool looks_only;   /* schema_cache.json is only compared */
    /* in and out: versions up to this have their log entry (0: not known) */
    int64_t entries_done;
    char cache_key[TARN_SHA256_HEX]; /* of the schema_cache.json that lies there, "": not known */

    /* out */
    bool is_off;       /* nothing of this table is published: dropped, observed, switched off or blocked */
    int64_t published; /* version that storage shows now, -1: none */
    int64_t manifest_bytes; /* of the manifest written, 0: none was */
    struct tarn_err side; /* why checkpoints or lists of files were not written: no reason to stop commits */
    bool cache_differs; /* with looks_only */
    int64_t foreign_batches; /* checkpoints left alone because somebody else wrote there */
    char foreign_batch[TARN_BATCH_ID_MAX + 1]; /* one of them */

    /* while it runs */
    struct tarn_table *table; /* owned; the row when the run began */
    struct tarn_place *place; /* owned */
    struct tarn_publication pub;
    int64_t published_schema;
    bool wants_version, wants_schema, wants_batches;
    bool links, links_failed;      /* _symlink_format_manifest/ is wanted; and was not written */
    int64_t checkpoint;            /* the newest one's version, else the first version of the table */
    bool has_checkpoint;           /* this run wrote one, of its version */
    bool published_by_tarn;        /* the published version is a commit of Tarn's own, not adopted */
    struct tarn_commit_row commit; /* owned: of table->version; transaction NULL when there is no row of it */
};
void tarn_publish_run_done(struct tarn_publish_run *run);

#define TARN_FOREIGN_DOCUMENT "document" /* a TARN_FOREIGN_WRITE names it, relative to the location */
/* TARN_FOREIGN_WRITE: the table's block is set. TARN_RECHECK: the table changed, run again. Else storage's or
 * the store's fault: try again later. */
TARN_MUST tarn_code tarn_publish_run(struct tarn_publish_run *run, struct tarn_err *err);
/* A page of what is to be written, read in a short transaction. TARN_OVERLOADED: the server stops. */
TARN_MUST tarn_code tarn_publish_read(const struct tarn_publish_run *run, tarn_tx_fn *page, void *ctx,
                                      struct tarn_err *err);

/* --- one at a time (publish_turn.c) --- */
struct tarn_publish_turn {
    const struct tarn_lake *lake;
    int64_t table_id;
    struct tarn_publish_turn *next;
};
void tarn_publish_turn_begin(struct tarn_publish_turn *turn); /* waits until no other publishes the table */
void tarn_publish_turn_end(struct tarn_publish_turn *turn);

/* --- the steps, each in its file --- */
/* Nobody but Tarn wrote manifest.json and the pointer since the last publication (publish_owner.c). */
TARN_MUST tarn_code tarn_publish_owned(struct tarn_publish_run *run, struct tarn_err *err);
TARN_MUST tarn_code tarn_publish_manifest_owned(struct tarn_publish_run *run, struct tarn_err *err);
TARN_MUST tarn_code tarn_publish_schema(struct tarn_publish_run *run, struct tarn_err *err);
TARN_MUST tarn_code tarn_publish_log(struct tarn_publish_run *run, struct tarn_err *err);
TARN_MUST tarn_code tarn_publish_manifest(struct tarn_publish_run *run, struct tarn_err *err);
/* Are the bytes of the manifest of `commit`'s version those of a document with the
 * head `there` and the digest `sha256` (hex)? It may hold another name of the table,
 * which is not part of its history, and lack what older servers did not write. */
struct tarn_manifest_head;
TARN_MUST tarn_code tarn_publish_manifest_is(struct tarn_publish_run *run,
                                             const struct tarn_commit_row *commit,
                                             const struct tarn_manifest_head *there, const char *sha256,
                                             bool *is_so, struct tarn_err *err);
TARN_MUST tarn_code tarn_publish_pointer(struct tarn_publish_run *run, struct tarn_err *err);
/* publish_checkpoint.c: is the log to get a checkpoint with
 * this manifest? Then m->copy gets the same bytes. */
struct tarn_sink;
TARN_MUST tarn_code tarn_publish_checkpoint_begin(struct tarn_publish_run *run, struct tarn_sink *manifest,
                                                  struct tarn_err *err);
/* After tarn_sink_end and before the manifest itself appears. */
TARN_MUST tarn_code tarn_publish_checkpoint_end(struct tarn_publish_run *run, struct tarn_sink *manifest,
                                                struct tarn_err *err);
/* Of these two a fault is told by run->side, not by the code. */
TARN_MUST tarn_code tarn_publish_links(struct tarn_publish_run *run, struct tarn_err *err);
TARN_MUST tarn_code tarn_publish_batches(struct tarn_publish_run *run, struct tarn_err *err);

/* publish_huge.c: one entry that does not fit into memory; with TARN_PUT_CREATE it may be there already. */
TARN_MUST tarn_code tarn_publish_huge(struct tarn_publish_run *run, const struct tarn_commit_row *row,
                                      enum tarn_put put, struct tarn_err *err);
tarn_code tarn_publish_foreign_entry(const struct tarn_publish_run *run, const char *path,
                                     struct tarn_err *err);

/* --- for a repair, which looks at all documents (lake/repair_mend*.c) --- */
/* Reads the row and what was published, and opens the place; nothing is written. */
TARN_MUST tarn_code tarn_publish_begin(struct tarn_publish_run *run, struct tarn_err *err);
/* publish_log.c: the entries that the log must hold, of versions from `from` up to the newest. */
struct tarn_publish_entry {
    const char *transaction;
    int64_t version;
    const char *text; /* NULL: */
    size_t len;
    const struct tarn_commit_row *huge; /* too large for memory: its commit; NULL too: nothing is known of it */
    bool is_whole; /* else older file rows are gone, and with them some operations; or they are another's, a snapshot's */
};
/* Some at a time, at most TARN_PUBLISH_ENTRIES; a huge one alone. */
#define TARN_PUBLISH_ENTRIES 64
typedef tarn_code tarn_publish_entries_fn(void *ctx, const struct tarn_publish_entry *entries, size_t count,
                                          struct tarn_err *err);
TARN_MUST tarn_code tarn_publish_entries(struct tarn_publish_run *run, int64_t from,
                                         tarn_publish_entries_fn *fn, void *ctx, struct tarn_err *err);
/* Does an entry of Tarn's own lie there, of that version of the table? *head is the caller's to free. */
struct tarn_entry_head;
TARN_MUST tarn_code tarn_publish_own_entry(struct tarn_publish_run *run, const char *path, int64_t version,
                                           struct tarn_entry_head *head, bool *there, bool *own,
                                           struct tarn_err *err);
/* The entry of that commit, appended; *is_whole false: older file rows are gone, and with them some operations. */
TARN_MUST tarn_code tarn_publish_render(struct tarn_tx *tx, const struct tarn_table *table, const char *catalog_id,
                                        const struct tarn_commit_row *row, struct tarn_buf *text, bool *is_whole,
                                        struct tarn_err *err);
/* Does what lies there say the same, by a server of whatever age? */
bool tarn_publish_same_entry(const struct tarn_buf *there, const char *text, size_t len);
enum tarn_publish_found { TARN_FOUND_NOTHING, TARN_FOUND_SAME, TARN_FOUND_OTHER };
/* Does the object there say the same as the entry `text`? */
TARN_MUST tarn_code tarn_publish_compare(struct tarn_publish_run *run, const char *path, const char *text,
                                         size_t len, enum tarn_publish_found *out, struct tarn_err *err);
/* publish_checkpoint.c: the snapshot of `commit` beside the log, over whatever lies there. */
TARN_MUST tarn_code tarn_publish_checkpoint_write(struct tarn_publish_run *run,
                                                  const struct tarn_commit_row *commit, struct tarn_err *err);
/* publish_schema.c: is schema.json another one than the catalog's; and is it
 * somebody else's? Then *text is to be there; empty: the table has no schema. */
TARN_MUST tarn_code tarn_publish_schema_look(struct tarn_publish_run *run, struct tarn_buf *text,
                                             enum tarn_publish_found *found, bool *is_foreign,
                                             struct tarn_err *err);

/* --- what manifest and huge entries share (publish_sink.c) --- */
/* A document on its way to storage: written in pieces, hashed and counted. */
struct tarn_sink {
    struct tarn_writer *writer; /* owned */
    struct tarn_writer *copy;   /* owned: gets the same bytes; NULL: nobody does */
    struct tarn_sha256 *sha256; /* owned */
    struct tarn_buf buf;        /* the next piece */
    struct tarn_jsonw w;        /* into buf */
    int64_t bytes;
    char digest[TARN_SHA256_HEX]; /* after tarn_sink_end */
};
/* `place` NULL: it is only hashed and counted. */
TARN_MUST tarn_code tarn_sink_open(struct tarn_sink *sink, struct tarn_place *place, const char *path,
                                   struct tarn_err *err);
TARN_MUST tarn_code tarn_sink_flush(struct tarn_sink *sink, struct tarn_err *err);
/* Flushes and closes the digest; the document is not there before tarn_writer_commit of its writer. */
TARN_MUST tarn_code tarn_sink_end(struct tarn_sink *sink, struct tarn_err *err);
void tarn_sink_done(struct tarn_sink *sink);
/* Writes one file of a page, or leaves it out. */
typedef void tarn_sink_file_fn(struct tarn_sink *sink, const struct tarn_file *file, int64_t version);
/* The snapshot at `version` through `fn`, page by page, each its own short read transaction. */
TARN_MUST tarn_code tarn_sink_snapshot(struct tarn_sink *sink, struct tarn_publish_run *run, int64_t version,
                                       tarn_sink_file_fn *fn, struct tarn_err *err);
#endif
