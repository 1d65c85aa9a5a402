/* repair_mend.h - a walk over the documents of one table: each is held against what the catalog
 * says, and, when it applies, what is missing or damaged is written again and what somebody else
 * wrote is put aside. It holds the table's turn of publication, so that no publisher works beside
 * it. manifest.json alone is left to the publisher: the decision says that what lies there now
 * may be written over. Shared by repair_republish.c, repair_adopt.c and repair_mend_*.c. */
#ifndef TARN_LAKE_REPAIR_MEND_H
#define TARN_LAKE_REPAIR_MEND_H
#include "lake/publish_run.h"
#include "lake/repair_run.h"

struct tarn_mend {
    struct tarn_repair_run *r;
    bool applies;             /* else it is only told */
    bool keeps_foreign;       /* log entries of others stay in the log until the decision */
    struct tarn_publish_run run;
    struct tarn_fileset ids;  /* transactions that the catalog knows; TARN_FILE_SEEN: a readable entry lies there */
    int64_t adopted;          /* how many of them are from before Tarn */
    int64_t log_begin;        /* entries below it are gone or about to go: none is written again */
    int64_t lost_version;     /* newest commit whose entry is gone and cannot be made again, -1: none */
    int64_t good_checkpoint;  /* version of the newest one that is as it should be, -1: none */
    struct tarn_buf entries, checkpoints; /* names in the log that the catalog does not tell at once, each with its NUL */
    struct tarn_buf foreign;  /* log entries that others wrote: path and token of each, each with its NUL */
    bool foreign_manifest;    /* manifest.json is not Tarn's */
};
void tarn_mend_done(struct tarn_mend *mend);
/* Everything, in the order in which storage may change. `mend` is zeroed but for r, applies and
 * keeps_foreign. TARN_STORAGE_AHEAD when the log holds commits of this very table that the catalog lost. */
TARN_MUST tarn_code tarn_mend_all(struct tarn_mend *mend, struct tarn_err *err);

/* The commit of a version, or what the table's row tells of the one
 * it was adopted with; *out is empty when nobody knows of one. */
TARN_MUST tarn_code tarn_mend_commit(struct tarn_mend *mend, int64_t version, struct tarn_commit_row *out,
                                     struct tarn_err *err);

/* --- the steps, each in its file --- */
/* First: what is no file and lies in a document's place. */
TARN_MUST tarn_code tarn_mend_way(struct tarn_mend *mend, struct tarn_err *err);
TARN_MUST tarn_code tarn_mend_schema(struct tarn_mend *mend, struct tarn_err *err);
TARN_MUST tarn_code tarn_mend_manifest(struct tarn_mend *mend, struct tarn_err *err);
TARN_MUST tarn_code tarn_mend_pointer(struct tarn_mend *mend, struct tarn_err *err);
TARN_MUST tarn_code tarn_mend_log(struct tarn_mend *mend, struct tarn_err *err);
TARN_MUST tarn_code tarn_mend_checkpoints(struct tarn_mend *mend, struct tarn_err *err);
TARN_MUST tarn_code tarn_mend_batches(struct tarn_mend *mend, struct tarn_err *err);

/* repair_aside.c: tells that the document goes to _conflicts/<time>/, and, when
 * the walk applies, copies it there whole; then it may be overwritten. *digest and
 * *token (may be NULL) are those of what was copied. One that vanished is fine. */
TARN_MUST tarn_code tarn_mend_aside(struct tarn_mend *mend, const char *path, char digest[TARN_SHA256_HEX],
                                    char token[TARN_TOKEN_TEXT], struct tarn_err *err);
/* The same, and it leaves its place. */
TARN_MUST tarn_code tarn_mend_away(struct tarn_mend *mend, const char *path, struct tarn_err *err);
/* Tells of a document and, when the walk applies, puts it there. */
TARN_MUST tarn_code tarn_mend_put(struct tarn_mend *mend, const char *path, const char *text, size_t len,
                                  struct tarn_err *err);
#endif
